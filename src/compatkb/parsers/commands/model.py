"""Words of install commands, turned into statements; what every command of one script shares."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from compatkb.core.text_position import Place
from compatkb.parsers.requirement import from_conda, is_name, normal, of_file, statement
from compatkb.parsers.shell import Variables
from compatkb.parsers.statement import (
    MAIN,
    Group,
    Include,
    IndexUse,
    ParsedFile,
    PythonUse,
    Requirement,
    RequirementRole,
    Statement,
    Word,
)

_VALUED = (
    "-r", "--requirement", "--requirements", "-c", "--constraint", "--constraints", "-e", "--editable", "-i",
    "--index-url", "--extra-index-url", "--pypi-url", "-f", "--find-links", "-t", "--target", "--platform",
    "--python-version", "--python-platform", "--prefix", "--root", "--src", "--upgrade-strategy", "--no-binary",
    "--only-binary", "--progress-bar", "--global-option", "--config-settings", "--config-setting", "-C", "--proxy",
    "--retries", "--timeout", "--trusted-host", "--cert", "--client-cert", "--cache-dir", "--log", "--exists-action",
    "--report", "--implementation", "--abi", "--index-strategy", "--index", "--default-index", "--torch-backend",
    "--group", "--extra", "--override", "--overrides", "--prerelease", "--resolution", "--exclude-newer",
    "--keyring-provider", "-p", "--python", "-d", "--dest", "-w", "--wheel-dir", "-b", "--build", "--no-build-package",
    "--no-binary-package", "--reinstall-package", "--refresh-package", "-P", "--upgrade-package", "--link-mode",
    "--allow-insecure-host", "--build-constraint", "--build-constraints", "--rev", "--tag", "--branch", "--source", "-G",
    "--with", "--without", "-n", "--name", "--channel", "--file", "--user-agent", "--use-feature", "--use-deprecated",
    "--no-build-isolation-package", "--directory", "--project", "--config-file", "--color", "--optional",
)  # fmt: skip
PYTHON = re.compile(r"(?:.*[/\\])?(?:python(\d(?:\.\d+)?t?)?|py)(?:\.exe)?|\{sys\.executable\}")
INDEXES = {"-i": "index-url", "--index-url": "index-url", "--pypi-url": "index-url", "--default-index": "index-url"}
INDEXES |= {"--extra-index-url": "extra-index-url", "--index": "extra-index-url"}
INDEXES |= {"-f": "find-links", "--find-links": "find-links"}
FILES = {"-r": RequirementRole.INSTALL, "--requirement": RequirementRole.INSTALL, "--requirements": RequirementRole.INSTALL}
FILES |= {
    "-c": RequirementRole.CONSTRAINT,
    "--constraint": RequirementRole.CONSTRAINT,
    "--constraints": RequirementRole.CONSTRAINT,
}


class CommandScope:
    """Where commands are read: what they add to, the variables, and the environment that is active."""

    def __init__(
        self, reading: ParsedFile, variables: Variables | None = None, group: str = MAIN, step: int = 0, active: str = ""
    ) -> None:
        self.reading = reading
        self.variables: Variables = {} if variables is None else variables
        self.group, self.step = group, step
        self.active = active  # the environment that was activated last

    def changed(self, *, group: str | None = None, active: str | None = None) -> "CommandScope":
        """Return the scope of another group or environment, with its own steps from the same number on."""
        chosen = self.group if group is None else group
        return CommandScope(self.reading, self.variables, chosen, self.step, self.active if active is None else active)

    def next_step(self) -> int:
        """Return the number of a new step."""
        self.step += 1
        return self.step


def active(scope: CommandScope, group: str) -> str:
    """Return the group of what is installed now: the branch, within the active environment."""
    if not scope.active:
        return group
    name = f"{group}#{scope.active}"
    if name not in scope.reading.groups:
        scope.reading.groups[name] = Group(name, "environment", f"the environment {scope.active}")
    return name


class Invocation(NamedTuple):
    """One command with its scope: what every statement of it shares."""

    scope: CommandScope
    group: str
    step: int
    tool: str

    def add(self, *found: Statement | None) -> None:
        """Add what was found to the reading; None is nothing."""
        for one in found:
            if one is not None:
                self.scope.reading.statements.append(one)


class CommandOptions:
    """The words of a command sorted: options with values, flags, the rest."""

    def __init__(self) -> None:
        self.valued: list[tuple[str, Word]] = []
        self.flags: list[str] = []
        self.rest: list[Word] = []

    @property
    def given(self) -> tuple[str, ...]:
        """Return the flags and options in one sorted tuple."""
        return tuple(sorted({*self.flags, *(f"{name}={word.value}" for name, word in self.valued if name not in FILES)}))


def sort_words(words: Sequence[Word]) -> CommandOptions:
    """Return the words of a command sorted into options, flags and the rest."""
    found = CommandOptions()
    at = 0
    while at < len(words):
        word = words[at]
        at += 1
        name, equals, value = word.value.partition("=")
        if word.value == "--":
            continue
        if not word.raw.lstrip("\"'").startswith("-") or word.value in ("-", ""):
            found.rest.append(word)
        elif equals and name.startswith("--"):
            found.valued.append((name, word._replace(value=value)))
        elif name in _VALUED and at < len(words):
            found.valued.append((name, words[at]))
            at += 1
        elif re.match(r"-[ricfe].", name) and not name.startswith("--"):
            found.valued.append((name[:2], word._replace(value=word.value[2:])))
        else:
            found.flags.append(name)
    return found


def installed(run: Invocation, options: CommandOptions, rest: Sequence[Word], *, files: bool = False) -> None:
    """Add what an install command asks for: its indexes, files, Pythons and requirements."""
    for name, word in options.valued:
        if name in INDEXES and not word.open:
            for url in word.value.split():
                run.add(index_use(run, INDEXES[name], word._replace(value=url)))
        elif name in FILES:
            run.add(include(run, word, FILES[name]))
        elif name in ("--python", "-p", "--python-version"):
            run.add(python_use(run, word))
    if not {"-h", "--help"} & set(options.flags):
        for word in rest:
            run.add(include(run, word, RequirementRole.INSTALL) if files else requirement(word, run.group, run.step, run.tool))


def index_use(run: Invocation, style: str, word: Word) -> IndexUse | None:
    """Return the index that an option names, None where only a run would tell."""
    url = re.sub(r"^[\w-]+=(?=https?:)", "", word.value)
    if not url or word.open:
        return None
    return IndexUse(
        place=word.place, text=word.raw, url=url, style=style, group=run.group, step=run.step, derived=word.derived
    )


def include(run: Invocation, word: Word, role: RequirementRole) -> Include | None:
    """Return the file that a command reads, None where only a run would tell."""
    if word.open or not word.value:
        return None
    return Include(
        place=word.place, text=word.raw, path=word.value, role=role, group=run.group, step=run.step, derived=word.derived
    )


def python_use(run: Invocation, word: Word) -> PythonUse | None:
    """Return the Python that an option names, None for a path or a name."""
    version = re.fullmatch(r"(?:cpython-?|python)?(\d+\.\d+(?:\.\d+)?)t?", word.value)
    if not version or word.open:
        return None
    return PythonUse(
        place=word.place, text=word.raw, specifier=python_specifier(version[1]), runs=True, group=run.group, step=run.step
    )


def python_specifier(version: str) -> str:
    """Return the specifier of a Python that is named by its minor or patch version."""
    return f"=={version}" if version.count(".") > 1 else f"=={version}.*"


def names(words: Sequence[Word]) -> tuple[str, ...]:
    """Return the names of packages among some words, normalised."""
    return tuple(normal(word.value) for word in words if is_name(word.value))


def requirement(word: Word, group: str, step: int, tool: str) -> Requirement | None:
    """Return the requirement that a word of an install command states, None for a path or anything else."""
    text = word.value.strip()
    more = {"group": group, "step": step, "tool": tool, "derived": word.derived}
    place = word.inside or word.place
    written = word.raw.strip("\"'")
    if word.open:
        name = re.split(r"[\[<>=!~@;\s]", text, maxsplit=1)[0]
        if not is_name(name) or (name == text and not re.search(r"[<>=~]", word.raw)):
            return None
        return Requirement(
            place=place, text=written, name=normal(name), unknown=True, group=group, step=step, tool=tool, derived=True
        )
    if named := of_file(text):
        return Requirement(
            place=place, text=written, name=named[0], specifier=named[1], url=text, group=group, step=step, tool=tool,
            derived=word.derived,
        )  # fmt: skip
    if re.match(r"[./~\\]|[A-Za-z][A-Za-z+.-]*:", text) or text.endswith((".txt", ".zip", ".gz")):
        return None
    found = statement(text, place, **more)
    if found is None:
        return None
    return found._replace(text=written, lost=word.redirected)


def conda_requirement(
    text: str, place: Place, written: str, group: str, step: int, *, unknown: bool = False
) -> Requirement | PythonUse | None:
    """Return what a conda match specification asks for, None for what is none."""
    text = text.strip().rpartition("::")[2]
    match = re.match(r"([A-Za-z0-9_][A-Za-z0-9._-]*)\s*(\[[^\]]*\]|.*)", text, re.DOTALL)
    if not match or not is_name(match[1]):
        return None
    inner = match[2].strip()
    if inner.startswith("["):
        version = re.search(r"version\s*=\s*['\"]?([^'\",\]]+)", inner)
        inner = version[1] if version else ""
    specifier = "" if unknown else from_conda(inner)
    name = normal(match[1])
    if name == "python":
        if not specifier:
            return None
        return PythonUse(place=place, text=written, specifier=specifier, runs=True, group=group, step=step)
    return Requirement(
        place=place, text=written, name=name, specifier=specifier or "", unknown=specifier is None or unknown, tool="conda",
        group=group, step=step, derived=unknown,
    )  # fmt: skip
