"""Parser of Dockerfiles and Containerfiles: stages, arguments with defaults, and what RUN lines install.

Parsers that exist drop either the column or here-documents, so instructions are cut here, and RUN goes to the shell reader.
"""

import re
from collections.abc import Iterator

from compatkb.core.text_position import Place
from compatkb.parsers.commands.dispatch import read_shell
from compatkb.parsers.commands.model import CommandScope, add_settings
from compatkb.parsers.shell import Shell, Variables, words_of
from compatkb.parsers.source import Fragment, Segment, SourceFile
from compatkb.parsers.statement import Action, Group, ParsedFile, Word, image_use

_INSTRUCTION = re.compile(r"\s*([A-Za-z]+)(?:[ \t]+|$)")
_ESCAPE = re.compile(r"#\s*escape\s*=\s*(\S)", re.IGNORECASE)
_HEREDOC = re.compile(r"<<-?\s*([\"']?)([A-Za-z_]\w*)\1")
_FLAG = re.compile(r"--[a-z][\w.-]*(?:=\S*)?[ \t]*")


def read_dockerfile(source: SourceFile, reading: ParsedFile) -> None:
    """Add what the stages of a Dockerfile install; each stage is a group, based on the stage that it starts from."""
    reader = _Dockerfile(reading)
    for name, rest in instructions(source):
        reader.take(name, rest)


def instructions(source: SourceFile) -> Iterator[tuple[str, Fragment]]:
    """Yield instructions and what follows their name; lines of comment within them are left out."""
    first = source.text.split("\n", 1)[0]
    escape = match[1] if (match := _ESCAPE.match(first)) and match[1] in "\\`" else "\\"
    pieces: list[Segment] = []
    number, count = 0, len(source.starts)
    while number < count:
        start = source.starts[number]
        end = source.starts[number + 1] - 1 if number + 1 < count else len(source.text)
        line = source.text[start:end]
        number += 1
        if line.lstrip().startswith("#") or (pieces and not line.strip()):
            continue
        bare = line.rstrip()
        if bare.endswith(escape):
            pieces.append(Segment(f"{bare[:-1]} ", start))
            continue
        pieces.append(Segment(line, start))
        fragment = Fragment(source, pieces)
        pieces = []
        match = _INSTRUCTION.match(fragment.text)
        if not match:
            continue
        ends = (
            [heredoc[2] for heredoc in _HEREDOC.finditer(fragment.text)] if match[1].upper() in ("RUN", "COPY", "ADD") else []
        )
        inner = []
        for stop in ends[:5]:
            while number < count:
                begin = source.starts[number]
                finish = source.starts[number + 1] if number + 1 < count else len(source.text)
                number += 1
                if source.text[begin:finish].strip("\t\n") == stop:
                    break
                inner.append(Segment(source.text[begin:finish], begin))
        if inner and match[1].upper() == "RUN":
            yield "RUN", Fragment(source, inner)
        else:
            yield match[1].upper(), fragment.cut(match.end())
    if pieces:
        fragment = Fragment(source, pieces)
        if match := _INSTRUCTION.match(fragment.text):
            yield match[1].upper(), fragment.cut(match.end())


class _Dockerfile:
    def __init__(self, reading: ParsedFile) -> None:
        self.reading = reading
        self.globals: Variables = {}
        self.variables: Variables = self.globals
        self.stages: dict[str, str] = {}
        self.settings: dict[str, Variables] = {}
        self.group = ""
        self.scope = CommandScope(reading, self.variables)

    def take(self, name: str, rest: Fragment) -> None:
        if name == "FROM":
            self._from(rest)
        elif name == "ARG":
            self._arguments(rest)
        elif name == "ENV":
            self._environment(rest)
        elif name == "RUN":
            self._run(rest)
        elif name in ("COPY", "ADD"):
            self._copy(rest)
        elif name in ("CMD", "ENTRYPOINT"):
            self.reading.call(words_of(_exec_form(rest, 0) or rest, self.variables))

    def _from(self, rest: Fragment) -> None:
        words = [word for command in Shell(rest, self.globals).commands() for word in command.words]
        words = [word for word in words if not word.raw.startswith("--")]
        number = len(self.settings)
        if not words:
            return
        image = words[0]
        alias = words[2].value.lower() if len(words) > 2 and words[1].value.lower() == "as" else ""
        group = f"stage:{alias or number}"
        while group in self.reading.groups:
            group += "'"
        base = self.stages.get(image.value.lower()) if not image.open else None
        label = f"the stage {alias}" if alias else "the image"
        self.reading.groups[group] = Group(group, "stage", label, (base,) if base else ())
        self.variables = dict(self.settings.get(base, {})) if base else {}
        self.settings[group] = self.variables
        for name in (alias, str(number)):
            if name:
                self.stages[name] = group
        self.group = group
        self.scope = CommandScope(self.reading, self.variables, group, step=self.scope.step + 1)
        if base is None and image.value != "scratch":
            use = image_use(
                image.value, image.place, image.raw, group, unknown=image.open, derived=image.derived, step=self.scope.step
            )
            if use:
                self.reading.add(use)

    def _arguments(self, rest: Fragment) -> None:
        shell = Shell(rest, dict(self.variables))
        for command in shell.commands():
            for name, word in command.settings.items():
                self.variables[name] = None if word.open else word.value
            for word in command.words:
                name, equals, value = word.value.partition("=")
                if equals:
                    self.variables[name] = value
                elif self.variables is not self.globals:
                    self.variables.setdefault(name, self.globals.get(name))

    def _environment(self, rest: Fragment) -> None:
        for command in Shell(rest, dict(self.variables)).commands():
            settings = dict(command.settings)
            words = list(command.words)
            if words and not settings and "=" not in words[0].value and len(words) > 1:  # the old form: ENV NAME value
                settings[words[0].value] = words[1]
            for word in words:
                name, equals, value = word.value.partition("=")
                if equals:
                    settings[name] = Word(value, word.raw, word.place, word.open, word.derived)
            for name, word in settings.items():
                self.variables[name] = None if word.open else word.value
                add_settings(self.scope, name, word, self.group)

    def _run(self, rest: Fragment) -> None:
        at = 0
        while match := _FLAG.match(rest.text, at):
            self._mount(match[0], rest.place(at))
            at = match.end()
        if rest.text[at : at + 1] == "[":
            inner = _exec_form(rest, at)
            if inner is not None:
                read_shell(inner, self.scope)
            return
        read_shell(rest.cut(at), self.scope)

    def _mount(self, flag: str, place: Place) -> None:
        """Note a file that a bind mount brings for one step, which is as good as a copy of it."""
        parts = dict(part.partition("=")[::2] for part in flag.strip().partition("=")[2].split(","))
        source = parts.get("source") or parts.get("src") or parts.get("target") or "."
        if flag.startswith("--mount=") and parts.get("type", "bind") == "bind":
            words = (source, parts.get("target", source))
            self.reading.add(Action(place, "", "copy", self.group, self.scope.next_step(), words=words))

    def _copy(self, rest: Fragment) -> None:
        words = words_of(rest, self.variables)
        flags = [word.value for word in words if word.value.startswith("--")]
        paths = tuple(word.value for word in words if not word.value.startswith("--") and not word.open)
        source = next((flag.partition("=")[2].lower() for flag in flags if flag.startswith("--from=")), "")
        place = words[0].place if words else rest.place(0)
        if source and source not in self.stages:
            word = next(word for word in words if word.value.startswith("--from="))
            if use := image_use(source, word.place, word.raw, self.group, unknown=word.open, derived=True):
                self.reading.groups.setdefault(f"from:{source}", Group(f"from:{source}", "stage", f"the image {source}"))
                self.reading.add(use._replace(group=f"from:{source}"))
        self.reading.add(Action(place, "", "copy", self.group, self.scope.next_step(), words=paths, tool=source))


def _exec_form(rest: Fragment, at: int) -> Fragment | None:
    """Return the command of a list of quoted words; a shell among them runs its last word."""
    words = list(re.finditer(r'"((?:[^"\\]|\\.)*)"', rest.text[at:]))
    if not words:
        return None
    if len(words) > 2 and words[1][1] in ("-c", "-lc", "-ec"):
        words = words[2:3]
    pieces: list[Segment] = []
    for word in words:
        pieces += [
            Segment(word[1].replace('\\"', '"'), rest.origin(at + word.start(1))),
            Segment(" ", rest.origin(at + word.end())),
        ]
    return Fragment(rest.source, pieces)
