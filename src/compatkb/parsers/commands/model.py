"""Turns the words of install commands into statements; holds what all commands of one script share."""

import re
from collections.abc import Sequence
from typing import Any

from compatkb.core.names import normal
from compatkb.core.record import NamedTuple
from compatkb.parsers.requirement import from_conda, is_name, of_file, of_repository, refusal, statement
from compatkb.parsers.shell import Variables
from compatkb.parsers.statement import (
    MAIN,
    Action,
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
SETTINGS = {
    "PIP_INDEX_URL": "index-url",
    "PIP_EXTRA_INDEX_URL": "extra-index-url",
    "PIP_FIND_LINKS": "find-links",
    "UV_INDEX_URL": "index-url",
    "UV_DEFAULT_INDEX": "index-url",
    "UV_EXTRA_INDEX_URL": "extra-index-url",
    "UV_INDEX": "extra-index-url",
    "UV_FIND_LINKS": "find-links",
    "UV_TORCH_BACKEND": "extra-index-url",  # which index that is, uv decides
}
"""Variables that name indexes, with the option that each stands for."""
PYTHON = re.compile(r"(?:.*[/\\])?(?:python(\d(?:\.\d+)?t?)?|py)(?:\.exe)?|\{sys\.executable\}")
INDEXES = {"-i": "index-url", "--index-url": "index-url", "--pypi-url": "index-url", "--default-index": "index-url"}
INDEXES |= {"--extra-index-url": "extra-index-url", "--index": "extra-index-url"}
INDEXES |= {"-f": "find-links", "--find-links": "find-links"}
FILES = dict.fromkeys(("-r", "--requirement", "--requirements"), RequirementRole.INSTALL)
FILES |= dict.fromkeys(("-c", "--constraint", "--constraints"), RequirementRole.CONSTRAINT)
FILES |= dict.fromkeys(("--override", "--overrides"), RequirementRole.OVERRIDE)
_OF_PIP = (
    "--index-url", "--pypi-url", "--extra-index-url", "--find-links", "--no-index", "--requirement", "--constraint",
    "--editable", "--no-deps", "--no-dependencies", "--no-build-isolation", "--target", "--trusted-host",
)  # fmt: skip
"""Options that pip takes by their beginnings, too."""
_SHORTEST = len("--xyz")


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


def environment_of(path: str) -> str:
    """Return the environment that a path of its Python or of a program in it means."""
    return re.sub(r"^\./|/(?:bin|Scripts)(?:/[^/]*)?$", "", path)


class Invocation(NamedTuple):
    """One command with its scope: what every statement of it shares."""

    scope: CommandScope
    group: str
    step: int
    tool: str

    def inside(self, environment: str) -> "Invocation":
        """Return the command as one of another environment."""
        return self._replace(group=active(self.scope.changed(active=environment), self.group.partition("#")[0]))

    def state(self, kind: type[Statement], word: Word, **fields: Any) -> None:
        """Add a statement of a kind that a word makes."""
        common = {"place": word.place, "text": word.raw, "group": self.group, "step": self.step, "derived": word.derived}
        self.scope.reading.add(kind(**{**common, **fields}))

    def act(self, word: Word, verb: str, words: tuple[str, ...]) -> None:
        """Add an action, at the first word of its command."""
        self.state(Action, word, text="", verb=verb, words=words, tool=self.tool, derived=False)


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


def spelled(name: str, tool: str = "pip") -> str:
    """Return an option as it is usually spelled: pip has two names for some, and takes what begins like no other one."""
    if tool == "pip" and len(name) >= _SHORTEST:
        name = next((whole for whole in _OF_PIP if whole.startswith(name)), name)
    return "--no-deps" if name == "--no-dependencies" else name


def sort_words(words: Sequence[Word], tool: str = "") -> CommandOptions:
    """Return the words of a command sorted into options, flags and the rest."""
    options = CommandOptions()
    at = 0
    while at < len(words):
        word = words[at]
        at += 1
        name, equals, value = word.value.partition("=")
        name = spelled(name, tool)
        if word.value == "--":
            continue
        if not word.raw.lstrip("\"'").startswith("-") or word.value in ("-", ""):
            options.rest.append(word)
        elif equals and name.startswith("--"):
            options.valued.append((name, word._replace(value=value)))
        elif name in _VALUED and at < len(words):
            options.valued.append((name, words[at]))
            at += 1
        elif re.match(r"-[ricfe].", name) and not name.startswith("--"):
            options.valued.append((name[:2], word._replace(value=word.value[2:])))
        else:
            options.flags.append(name)
    return options


def installed(run: Invocation, options: CommandOptions, rest: Sequence[Word], *, files: bool = False) -> None:
    """Add what an install command asks for: its indexes, files, Pythons and requirements."""
    for name, word in options.valued:
        if name in INDEXES:
            for url in word.value.split() or [""]:
                add_index(run, INDEXES[name], word._replace(value=url))
        elif name in FILES:
            add_include(run, word, FILES[name])
        elif name in ("--python", "-p", "--python-version"):
            add_python(run, word)
    for word in () if {"-h", "--help"} & set(options.flags) else rest:
        if files:
            add_include(run, word, RequirementRole.INSTALL)
        else:
            add_requirement(run, word)


def add_index(run: Invocation, style: str, word: Word) -> None:
    """Add the index that an option names; where only a run would tell which, as it is written."""
    url = word.raw if word.open else re.sub(r"^[\w-]+=(?=https?:)", "", word.value)
    if url:
        run.state(IndexUse, word, url=url, style=style)


def add_include(run: Invocation, word: Word, role: RequirementRole) -> None:
    """Add the file that a command reads; where only a run would tell which, as it is written."""
    if path := word.raw if word.open else word.value:
        run.state(Include, word, path=path, role=role)


def add_python(run: Invocation, word: Word) -> None:
    """Add the Python that an option names, unless that is a path or a name."""
    version = re.fullmatch(r"(?:cpython-?|python)?(\d+\.\d+(?:\.\d+)?)t?", word.value)
    if version and not word.open:
        run.state(PythonUse, word, specifier=python_specifier(version[1]), runs=True)


def add_runner(run: Invocation, words: Sequence[Word]) -> None:
    """Add the Python that a command is run by, as its name has it (python3.12, pip3.12) or its first option (py -3.12)."""
    for word in words[:2]:
        version = re.fullmatch(r"(?:.*[/\\])?(?:python|pip)(\d\.\d+)t?(?:\.exe)?|-(\d\.\d+)(?:-\d+)?", word.value)
        if version and not word.open and (version[1] or words[0].value == "py"):
            run.state(PythonUse, word, specifier=python_specifier(version[1] or version[2]), runs=True)
            return


def add_requirement(run: Invocation, word: Word) -> None:
    """Add the requirement that a word of an install command states, unless it is a path or anything else."""
    text = word.value.strip()
    where: dict[str, Any] = {"place": word.inside or word.place, "text": word.raw.strip("\"'"), "tool": run.tool}
    if word.open:
        name = re.split(r"[\[<>=!~@;\s]", text, maxsplit=1)[0]
        if is_name(name) and (name != text or re.search(r"[<>=~]", word.raw)):
            run.state(Requirement, word, **where, name=normal(name), unknown=True)
    elif named := of_file(text):
        run.state(Requirement, word, **where, name=named[0], specifier=named[1], url=text)
    elif name := of_repository(text):
        run.state(Requirement, word, **where, name=name, url=text)
    elif not re.match(r"[./~\\]|[A-Za-z][A-Za-z+.-]*:", text) and not text.endswith((".txt", ".zip", ".gz")):
        common = {"group": run.group, "step": run.step, "tool": run.tool, "derived": word.derived}
        if requirement := statement(text, word.inside or word.place, lost=word.redirected, **common):
            run.scope.reading.add(requirement._replace(text=where["text"]))
        elif run.tool in ("pip", "uv") and (why := refusal(text)):
            run.scope.reading.invalid(word.place, text, why)


def add_settings(scope: CommandScope, name: str, word: Word, group: str) -> None:
    """Add the indexes that a variable names."""
    style = SETTINGS.get(name)
    for url in (word.raw if word.open else word.value).split() if style else ():
        url = re.sub(r"^[\w-]+=(?=https?:)", "", url)
        use = IndexUse(place=word.place, text=word.raw, url=url, style=style or "", group=group, step=scope.step)
        scope.reading.add(use._replace(of_tool=name.partition("_")[0].lower()))


def python_specifier(version: str) -> str:
    """Return the specifier of a Python that is named by its minor or patch version."""
    return f"=={version}" if version.count(".") > 1 else f"=={version}.*"


def names(words: Sequence[Word]) -> tuple[str, ...]:
    """Return the names of packages among some words, normalised."""
    return tuple(normal(word.value) for word in words if is_name(word.value))


def conda_requirement(text: str, word: Word) -> Requirement | PythonUse | None:
    """Return what a conda match specification asks for, at the place of a word; None for what is none."""
    channel, _, text = text.strip().rpartition("::")
    if "::" in channel:
        return None
    match = re.match(r"([A-Za-z0-9_][A-Za-z0-9._-]*)\s*(\[[^\]]*\]|.*)", text, re.DOTALL)
    if not match or not is_name(match[1]):
        return None
    inner = match[2].strip()
    if inner.startswith("["):
        version = re.search(r"version\s*=\s*['\"]?([^'\",\]]+)", inner)
        inner = version[1] if version else ""
    specifier = "" if word.open else from_conda(inner)
    name = normal(match[1])
    if name == "python":
        return PythonUse(place=word.place, text=word.raw, specifier=specifier, runs=True) if specifier else None
    return Requirement(
        place=word.place, text=word.raw, name=name, specifier=specifier or "", unknown=specifier is None or word.open,
        tool="conda", derived=word.open, lost=word.redirected,
    )  # fmt: skip
