"""Cuts shell text into commands: words with positions, known variables substituted, branches kept apart.

Only as much of a shell as version statements need. What a run alone would tell (command substitution, positional
parameters) makes a word `open`; each branch of an `if` or `case`, and each function, is a group of its own.
"""

import re
from collections.abc import Iterator, Mapping

from compatkb.core.record import NamedTuple
from compatkb.core.text_position import Place
from compatkb.parsers.source import Fragment, Segment
from compatkb.parsers.statement import MAIN, Group, Word

_GAP = re.compile(r"(?:[ \t]|\\\n|`\n)+")
_OPERATOR = re.compile(r"\n|;;&?|;&|;|\|\||\|&?|&&|&(?!>)|\(|\)")
_REDIRECTION = re.compile(r"(?:\d*|&)(<<<|<<-?|>>|>\||>&|<&|<>|>|<)")
_PLAIN = re.compile(r"[^\s\\'\"$`;&|()<>]+")
_SINGLE = re.compile(r"'[^']*'?")
_TEMPLATE = re.compile(r"\$\{\{\s*(.*?)\s*\}\}|\$\(([A-Za-z_][\w.]*)\)|\$\[\[\s*(.*?)\s*\]\]")
_NAMED = re.compile(r"\$([A-Za-z_]\w*)|\$\{([A-Za-z_]\w*)(?::?[-=]([^{}$`]*))?\}")
_BRACED = re.compile(r"\$\{[^}\n]*\}?")
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)(\+?=)")
_MOST_WORDS = 200_000
_MOST_DEPTH = 60
_MOST_LETTERS = 4000
_MOST_VARIABLES = 500


class Command(NamedTuple):
    """A simple command in the group of its branch."""

    words: tuple[Word, ...]
    group: str
    settings: Mapping[str, Word]  # variables for this command alone


Variables = dict[str, str | None]
"""Values by name; None for a variable whose value is not known."""


class _Frame:
    def __init__(self, kind: str, outer: str, variables: Variables) -> None:
        self.kind = kind  # if, case, function, loop, brace
        self.outer, self.variables = outer, variables
        self.alternative = 0
        self.patterns = False
        self.holds: bool | None = None  # the condition of an `if`, where a matrix tells; true from the first that does on
        self.tests = kind == "if"  # it reads its condition


def _holds(words: list[Word]) -> bool | None:
    """Return whether a comparison with a value of a matrix holds, None for other conditions."""
    inner = [word for word in words if word.value not in ("[", "[[", "test", "]", "]]")]
    if len(inner) != 3 or inner[1].value not in ("=", "==", "!=") or any(word.open for word in inner):
        return None
    is_known = any("matrix." in word.raw for word in inner)
    return (inner[0].value == inner[2].value) == (inner[1].value != "!=") if is_known else None


class Shell:
    """Reads one fragment; `groups` has the branches that it found."""

    def __init__(self, fragment: Fragment, variables: Variables | None = None, group: str = MAIN) -> None:
        self.fragment, self.text = fragment, fragment.text
        self.variables: Variables = {} if variables is None else variables
        self.group = group
        self.groups: list[Group] = []
        self.heredocs: list[tuple[Word, Fragment]] = []
        self._frames: list[_Frame] = []
        self._waiting: list[tuple[str, bool]] = []
        self._at = 0
        self._opener = Word("", "", Place(1, 1))
        self._count = 0

    def commands(self) -> Iterator[Command]:
        """Yield the commands in their order."""
        words: list[Word] = []
        alone = False
        while self._at < len(self.text) and self._count < _MOST_WORDS:
            before = self._at
            self._skip_gap()
            if self._at >= len(self.text):
                break
            character = self.text[self._at]
            if character == "#" and (self._at == 0 or self.text[self._at - 1] in " \t\n;&|("):
                end = self.text.find("\n", self._at)
                self._at = len(self.text) if end < 0 else end
            elif (operator := _OPERATOR.match(self.text, self._at)) is not None:
                yield from self._ended(words, alone=alone)
                words = self._operator(operator[0], words)
                alone = operator[0] == "||"
            elif (redirection := _REDIRECTION.match(self.text, self._at)) is not None:
                self._redirect(redirection, words)
            else:
                word = self._word()
                self._count += 1
                if words or _ASSIGNMENT.match(word.raw) or not self._keyword(word):
                    words.append(word)
            if self._at <= before:
                self._at = before + 1
        yield from self._ended(words, alone=alone)

    def _skip_gap(self) -> None:
        if gap := _GAP.match(self.text, self._at):
            self._at = gap.end()

    def _ended(self, words: list[Word], *, alone: bool) -> Iterator[Command]:
        """Yield the command that ends here; what runs only when another one failed belongs to nothing else."""
        if words and self._frames and self._frames[-1].tests:
            self._frames[-1].tests, self._frames[-1].holds = False, _holds(words)
        settings: dict[str, Word] = {}
        rest = list(words)
        while rest and (match := _ASSIGNMENT.match(rest[0].raw)):
            word = rest.pop(0)
            value = word.value[len(match[0]) :] if word.value.startswith(match[0]) else ""
            settings[match[1]] = Word(value, word.raw, word.place, word.open, word.derived)
        if rest and rest[0].value in ("export", "declare", "readonly", "local", "set", "setx") and not rest[0].open:
            for word in rest[1:]:
                if match := _ASSIGNMENT.match(word.raw):
                    settings[match[1]] = Word(word.value[len(match[0]) :], word.raw, word.place, word.open, word.derived)
            self._set(settings)
            yield Command((), self.group, settings)
            return
        if not rest:
            if settings:
                self._set(settings)
                yield Command((), self.group, settings)
            return
        group = self.group
        if alone:
            group = self._new_group("branch", rest[0].place, ())
        yield Command(tuple(rest), group, settings)

    def _set(self, settings: Mapping[str, Word]) -> None:
        for name, word in settings.items():
            if name in self.variables or len(self.variables) < _MOST_VARIABLES:
                self.variables[name] = None if word.open else word.value

    def _new_group(self, kind: str, place: Place, based_on: tuple[str, ...]) -> str:
        name = f"{self.group}/{kind}-{place.line}.{place.column}"
        self.groups.append(Group(name, "branch", f"the {kind} at line {place.line}", based_on))
        return name

    # structure

    def _operator(self, operator: str, words: list[Word]) -> list[Word]:
        self._at += len(operator)
        frame = self._frames[-1] if self._frames else None
        if operator == "\n" and self._waiting:
            self._take_heredocs()
        elif operator == "(" and len(words) == 1 and self.text.startswith(")", self._at):
            self._at += 1
            self._enter("function", words[0].place)
            return []
        elif operator == ")" and frame and frame.kind == "case" and frame.patterns:
            self._arm(frame)
        elif operator.startswith(";") and len(operator) > 1 and frame and frame.kind == "case":
            self.group, frame.patterns = frame.outer, True
        return []

    def _arm(self, frame: _Frame) -> None:
        frame.patterns = False
        self.group = frame.outer
        self.group = self._new_group("case", self.fragment.place(self._at - 1), (frame.outer,))
        self._restore(frame)

    def _enter(self, kind: str, place: Place) -> None:
        if len(self._frames) >= _MOST_DEPTH:
            return
        self._frames.append(_Frame(kind, self.group, dict(self.variables)))
        if kind == "function":
            self.group = self._new_group(kind, place, (self.group,))

    def _restore(self, frame: _Frame) -> None:
        """Forget what a branch has set; what it changed is not known any more."""
        for name, value in list(self.variables.items()):
            if frame.variables.get(name) != value:
                self.variables[name] = None
        for name, value in frame.variables.items():
            self.variables.setdefault(name, value)

    def _leave(self, *kinds: str) -> None:
        if self._frames and self._frames[-1].kind in kinds:
            frame = self._frames.pop()
            self.group = frame.outer
            self._restore(frame)

    def _keyword(self, word: Word) -> bool:
        """Act on a reserved word at the start of a command; return whether it was one."""
        frame = self._frames[-1] if self._frames else None
        raw = word.raw
        if frame and frame.kind == "case" and frame.patterns:
            if raw == "esac":
                self._leave("case")
            return True
        if raw in ("if", "while", "until", "for", "select", "case"):
            self._enter({"if": "if", "case": "case"}.get(raw, "loop"), word.place)
            if raw in ("for", "case", "select"):
                self._heading(raw)
        elif raw in ("then", "else") and frame and frame.kind == "if":
            self.group = frame.outer
            is_dead = frame.holds is (raw == "else") or frame.alternative > 0
            self.group = self._new_group(raw, word.place, () if is_dead else (frame.outer,))
            self._restore(frame)
        elif raw == "elif" and frame and frame.kind == "if":
            self.group = frame.outer
            frame.alternative += frame.holds is True
            frame.tests, frame.holds = True, None
        elif raw == "fi":
            self._leave("if")
        elif raw == "esac":
            self._leave("case")
        elif raw == "done":
            self._leave("loop")
        elif raw == "{":
            if not (frame and frame.kind == "function" and frame.alternative == 0):
                self._enter("brace", word.place)
            else:
                frame.alternative = 1
        elif raw == "}":
            self._leave("function", "brace")
        elif raw not in ("do", "then", "else", "elif", "function", "time", "!", "[[", "in"):
            return False
        return True

    def _heading(self, kind: str) -> None:
        """Skip what stands between `for` and `do`, or between `case` and `in`; a loop's variable is not known."""
        names = []
        while self._at < len(self.text):
            self._skip_gap()
            if self._at >= len(self.text) or _OPERATOR.match(self.text, self._at):
                break
            before = self._at
            names.append(self._word().raw)
            self._at = max(self._at, before + 1)
            if kind == "case" and names[-1] == "in":
                break
        if kind == "case" and self._frames:
            self._frames[-1].patterns = True
        elif names and len(self.variables) < _MOST_VARIABLES:
            self.variables[names[0]] = None

    # words

    def _word(self) -> Word:
        start = self._at
        value: list[str] = []
        state = [False, False]  # open, derived
        quoted = False
        while self._at < len(self.text):
            character = self.text[self._at]
            if character == '"':
                self._at += 1
                quoted = not quoted
            elif character == "'" and not quoted and (match := _SINGLE.match(self.text, self._at)):
                value.append(match[0].strip("'"))
                self._at = match.end()
            elif character == "\\":
                following = self.text[self._at + 1 : self._at + 2]
                if following != "\n":
                    value.append(following if not quoted or following in '"\\$`' else "\\" + following)
                self._at += 2
            elif character in "$`":
                if not quoted and self.text.startswith("`\n", self._at):
                    break
                value.append(self._expansion(state))
            elif quoted:
                end = re.compile(r'[^"\\$`]+').match(self.text, self._at)
                value.append(end[0] if end else character)
                self._at = end.end() if end else self._at + 1
            elif match := _PLAIN.match(self.text, self._at):
                value.append(match[0])
                self._at = match.end()
            else:
                break
        raw = self.text[start : self._at]
        text = "".join(value)
        if len(text) > _MOST_LETTERS:
            text, state[0] = "", True
        inside = self.fragment.place(start + 1) if raw[:1] in ("'", '"') else None
        return Word(text, raw, self.fragment.place(start), state[0], state[1], inside)

    def _expansion(self, state: list[bool]) -> str:
        """Return the value of what starts at `$` or a backtick, and step over it."""
        state[1] = True
        start = self._at
        if match := _TEMPLATE.match(self.text, start):
            self._at = match.end()
            return self._value(match[1] or match[2] or match[3] or "", None, state)
        if match := _NAMED.match(self.text, start):
            self._at = match.end()
            return self._value(match[1] or match[2], match[3], state)
        if self.text.startswith("$(", start):
            self._at = self._closing(start + 2)
        elif match := _BRACED.match(self.text, start):
            self._at = match.end()
        elif self.text[start] == "`":
            end = self.text.find("`", start + 1)
            self._at = len(self.text) if end < 0 else end + 1
        elif self.text.startswith(("$'", '$"'), start):
            self._at += 1
            state[1] = False
            return ""
        else:
            following = self.text[start + 1 : start + 2]
            self._at += 2 if following and following in "@*#?!-$0123456789" else 1
            if self._at == start + 1:
                return "$"
        state[0] = True
        return ""

    def _value(self, name: str, default: str | None, state: list[bool]) -> str:
        value = self.variables.get(name)
        if value is None and name not in self.variables:
            value = default
        if value is None:
            state[0] = True
            return ""
        return value

    def _closing(self, at: int) -> int:
        """Return the offset behind the parenthesis that closes a command substitution."""
        depth = 1
        for match in re.compile(r"\\.|'[^']*'|[()]").finditer(self.text, at):
            depth += {"(": 1, ")": -1}.get(match[0], 0)
            if depth == 0:
                return match.end()
        return len(self.text)

    # redirections and here-documents

    def _redirect(self, match: re.Match[str], words: list[Word]) -> None:
        touches = words and self._at > 0 and self.text[self._at - 1] not in " \t\n"
        self._at = match.end()
        self._skip_gap()
        target = self._word() if self._at < len(self.text) and not _OPERATOR.match(self.text, self._at) else None
        if match[1] in ("<<", "<<-") and target:
            self._waiting.append((target.value, match[1] == "<<-"))
            self._opener = words[0] if words else target
        elif touches and target and match[0] in (">", "<") and re.match(r"=?\d", target.value):
            last = words[-1]
            words[-1] = last._replace(redirected=f"{last.redirected or ''}{match[0]}{target.value}")

    def _take_heredocs(self) -> None:
        for end, stripped in self._waiting:
            pieces = []
            while self._at < len(self.text):
                stop = self.text.find("\n", self._at)
                stop = len(self.text) if stop < 0 else stop + 1
                line = self.text[self._at : stop]
                start, self._at = self._at, stop
                if (line.strip("\t\n") if stripped else line.rstrip("\n")) == end:
                    break
                pieces.append(Segment(line, self.fragment.origin(start)))
            self.heredocs.append((self._opener, Fragment(self.fragment.source, pieces)))
        self._waiting = []


def words_of(fragment: Fragment, variables: Variables) -> list[Word]:
    """Return all words of a piece of text, settings first in each command."""
    commands = Shell(fragment, dict(variables)).commands()
    return [word for command in commands for word in (*command.settings.values(), *command.words)]
