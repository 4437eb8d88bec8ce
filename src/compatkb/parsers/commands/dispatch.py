"""Finds the tools that shell text runs, with their variables and environments, and parses what each installs."""

import re
from collections.abc import Callable, Sequence
from itertools import pairwise

from compatkb.core.text_position import SourceText
from compatkb.parsers.commands import tools
from compatkb.parsers.commands.model import PYTHON, CommandScope, Invocation, active, add_settings, environment_of
from compatkb.parsers.shell import Shell
from compatkb.parsers.source import Fragment, Segment, SourceFile
from compatkb.parsers.statement import Group, ParsedFile, SystemUse, Word

_PREFIXES = {"sudo", "env", "time", "nice", "exec", "command", "nohup", "xargs", "then", "do", "eval", "call", "&", "!", "%"}
_PIP = re.compile(r"(?:.*/)?pip(?:\d(?:\.\d+)?)?(?:\.exe)?")
_COMMAND_OF_VARIABLE = re.compile(r"\w+=([\"'])((?:\S*python\S* -m )?pip[\d.]* install [^\"'`$]*)\1$")
_OF_ENVIRONMENT = re.compile(r"(?!/usr/|/opt/conda/bin/|/bin/).+/(?:bin|Scripts)/(?:pip|python)[^/]*$")
_CONDA = re.compile(r"(?:.*/)?(?:conda|mamba|micromamba)")
_APT_SOURCE = re.compile(r"deb (?:\[[^\]]*\] )?https?://\S*/ubuntu/? ([a-z]+)\b")
_SYSTEM = {"zypper": "zypper", "apk": "apk"}
_SYSTEM |= dict.fromkeys(("apt", "apt-get", "aptitude"), "apt") | dict.fromkeys(("dnf", "yum", "microdnf"), "dnf")


def read_script(source: SourceFile, reading: ParsedFile) -> None:
    """Add what a shell script installs."""
    read_shell(source.whole(), CommandScope(reading))


def read_shell(fragment: Fragment, scope: CommandScope) -> None:
    """Add what a piece of shell text installs, in order; `scope` carries variables and steps to the next piece."""
    shell = Shell(fragment, scope.variables, scope.group)
    known = 0
    for command in shell.commands():
        for group in shell.groups[known:]:
            scope.reading.groups[group.name] = group
        known = len(shell.groups)
        for name, word in command.settings.items():
            add_settings(scope, name, word, active(scope, command.group))
            if not command.words and (match := _COMMAND_OF_VARIABLE.match(word.raw)):
                _read_value(fragment.source, match, name, word, scope)
        if command.words:
            scope.reading.call(command.words)
            _source_of_packages(command.words, active(scope, command.group), scope.reading)
            own = command.settings.get("VIRTUAL_ENV")
            read_command(command.words, scope, command.group, own.value if own else "")
    for opener, inner in shell.heredocs:
        if re.fullmatch(r"(?:.*/)?(?:(?:ba|z|da)?sh|ssh)", opener.value):
            read_shell(inner, scope.changed(group=shell.group))


def _source_of_packages(words: Sequence[Word], group: str, reading: ParsedFile) -> None:
    """Add the release of Ubuntu that a line for a list of apt names, as installers of drivers write it."""
    for word in words[1:] if words[0].value == "echo" else ():
        if match := _APT_SOURCE.match(word.value):
            reading.add(SystemUse(word.place, word.raw, match[1], group, derived=True))


def _read_value(source: SourceText, match: re.Match[str], name: str, word: Word, scope: CommandScope) -> None:
    """Add what a variable installs whose value is a command that another program runs, as an environment of its own."""
    start = source.offset(*word.place)
    is_run_here = re.search(rf"\$\{{?{name}\b", source.text) is not None
    if not is_run_here and source.text.startswith(word.raw, start):
        group = f"variable:{word.place.line}"
        scope.reading.groups[group] = Group(group, "block", f"the command in {name}")
        read_shell(Fragment(source, [Segment(match[2], start + match.start(2))]), scope.changed(group=group))


def read_command(words: Sequence[Word], scope: CommandScope, group: str, environment: str = "") -> None:
    """Add what one command says, in an environment that it is given; words that say nothing of versions are passed over."""
    words = without_prefix(words)
    outer = words
    for _ in range(3):  # conda run, uv run
        if not words:
            return
        inner = _inner(words)
        if inner is None:
            break
        words = without_prefix(inner)
    if not words:
        return
    head = words[0].value
    if _activates(words, scope):
        return
    reader, rest, tool = _reader(head, words)
    if reader:
        run = Invocation(scope, active(scope, group), scope.next_step(), tool)
        inside = environment_of(head) if _OF_ENVIRONMENT.match(head) else _named(outer, words) or environment
        reader(run.inside(inside) if inside else run, rest, words)


def without_prefix(words: Sequence[Word]) -> Sequence[Word]:
    """Return a command without `sudo`, `env` and the like, and without the mark of a notebook."""
    at = 0
    while at < len(words) and (
        words[at].value.lower().lstrip("!%@") in ("", *_PREFIXES)
        or (
            at and (words[at].raw.startswith("-") or re.match(r"[A-Za-z_]\w*=", words[at].raw)) and words[0].value in _PREFIXES
        )
    ):
        at += 1
    words = words[at:]
    if words and words[0].value[:1] in ("!", "%") and len(words[0].value) > 1:  # notebooks: !pip, %pip
        first = words[0]
        words = [first._replace(value=first.value.lstrip("!%")), *words[1:]]
    return words


def _inner(words: Sequence[Word]) -> Sequence[Word] | None:
    """Return the command that a wrapper runs."""
    values = [word.value for word in words[:2]]
    is_wrapper = _CONDA.fullmatch(values[0]) or values[0] in ("uv", "poetry", "pdm", "hatch", "pipenv")
    if is_wrapper and values[1:] == ["run"]:
        at = 2
        while at < len(words) and words[at].value.startswith("-"):
            at += 2 if words[at].value in ("-n", "--name", "-p", "--prefix", "--python", "--with", "--extra", "--group") else 1
        return words[at:]
    return None


def _named(outer: Sequence[Word], words: Sequence[Word]) -> str:
    """Return the environment of conda that a wrapper names, empty where there is none."""
    before = [word.value for word in outer[: len(outer) - len(words)]]
    return next((after for name, after in pairwise(before) if name in ("-n", "--name", "-p", "--prefix")), "")


def _activates(words: Sequence[Word], scope: CommandScope) -> bool:
    values = [word.value for word in words[:3]]
    if len(values) > 1 and _CONDA.fullmatch(values[0]) and values[1] in ("activate", "deactivate"):
        scope.active = values[2] if values[1] == "activate" and len(values) > 2 else ""
        return True
    if values[0] in ("source", ".") and len(values) > 1 and values[1].endswith("/activate"):
        scope.active = environment_of(values[1])
        return True
    if values[0] == "deactivate":
        scope.active = ""
        return True
    return False


_Reader = Callable[[Invocation, Sequence[Word], Sequence[Word]], None]


def _reader(head: str, words: Sequence[Word]) -> tuple[_Reader | None, Sequence[Word], str]:
    """Return what reads a command, the words that it has to read, and the name of the tool."""
    values = [word.value for word in words[:4]]
    is_python = PYTHON.fullmatch(head)
    at = values.index("-m") + 1 if "-m" in values[: 3 if is_python else 2] else len(values)  # it may be an unset variable
    if at < len(values) and values[at] in ("pip", "uv", "conda"):
        return _reader(values[at], words[at:])
    if is_python:
        return tools.ran, words, "python"
    if _PIP.fullmatch(head):
        return tools.pip, words[1:], "pip"
    if head == "uv" or head.endswith("/uv"):
        if values[1:2] == ["pip"]:
            return tools.pip, words[2:], "uv"
        return tools.uv, words[1:], "uv"
    if _CONDA.fullmatch(head):
        return tools.conda, words[1:], "conda"
    if head in ("poetry", "pdm", "pipenv", "pipx"):
        return tools.project, words[1:], head
    if head == "virtualenv" or values[1:3] == ["-m", "virtualenv"]:
        return tools.virtualenv, words[1:], head
    if head in _SYSTEM:
        return tools.system, words[1:], _SYSTEM[head]
    if head in tools.CONTAINER_TOOLS:
        return tools.container, words[1:], head
    return None, words, head
