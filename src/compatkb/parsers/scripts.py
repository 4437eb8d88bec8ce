"""Parsers of Makefiles, batch files and notebooks: their lines as shell text, with their own variables substituted."""

import re
from collections.abc import Iterator

from compatkb.parsers.commands.dispatch import read_shell
from compatkb.parsers.commands.model import CommandScope
from compatkb.parsers.positioned_yaml import json_tree
from compatkb.parsers.source import MOST_SHELL, Fragment, Segment, SourceFile, TreeError
from compatkb.parsers.statement import MAIN, Group, ParsedFile

_VARIABLE = re.compile(r"(?:export[ \t]+|override[ \t]+)*([A-Za-z_][\w.-]*)[ \t]*(?:[?+:]|::)?=[ \t]*(.*)")
_TARGET = re.compile(r"([^\s:#=][^:#=]*):(?!=)")
_OF_MAKE = re.compile(r"\$(?:\$|\(([A-Za-z_][\w.-]*)\)|\{([A-Za-z_][\w.-]*)\})")
_OF_BATCH = re.compile(r"%([A-Za-z_]\w*)%")
_SET = re.compile(r"@?set[ \t]+\"?([A-Za-z_]\w*)=([^\"]*)\"?[ \t]*", re.IGNORECASE)
_REMARK = re.compile(r"@?rem(?:\s|$)|::|#", re.IGNORECASE)
_LABEL = re.compile(r":([A-Za-z_]\w*)\s*")
_CONDITION = re.compile(r"@?(?:if|for|else|elseif|foreach|function|switch|try|catch)\b|[)}]", re.IGNORECASE)
_RUNS = re.compile(r"(?<![\w./:%-])(?:[\w./:%-]{0,200}/)?(?:pip3?|python3?|py|uv|conda|mamba)(?:\.exe)?[ \t]", re.IGNORECASE)
_MOST_LETTERS = 2000  # of a value
_MOST_VARIABLES = 500


def read_makefile(source: SourceFile, reading: ParsedFile) -> None:
    """Add what the recipes of a Makefile install; each rule is a group."""
    variables: dict[str, str] = {}
    scope = CommandScope(reading)
    for start, line in _logical(source, "\\"):
        if line.startswith("\t"):
            skipped = len(line) - len(line.lstrip("\t @+-"))
            _read(source, _filled(source, line[skipped:], start + skipped, _OF_MAKE, variables, "$"), scope)
        elif match := _VARIABLE.match(line):
            _set(variables, match[1], _expanded(match[2].partition("#")[0].strip(), _OF_MAKE, variables, "$"))
        elif match := _TARGET.match(line):
            number = source.place(start).line
            group = f"rule:{number}"
            reading.groups[group] = Group(group, "environment", f"the rule {match[1].strip()[:60]}")
            scope = CommandScope(reading, group=group)


def read_batch(source: SourceFile, reading: ParsedFile) -> None:
    """Add what a batch file or one of PowerShell installs; what stands behind a label, or in parentheses, is a branch."""
    variables: dict[str, str] = {}
    scope = outer = CommandScope(reading)
    for start, line in _logical(source, "`" if source.path.endswith(".ps1") else "^"):
        text = line.replace("\\", "/")
        bare = text.strip()
        if not bare or _REMARK.match(bare):
            continue
        if match := _LABEL.fullmatch(bare):
            scope = outer = _branch(source, reading, start, f"the label {match[1]}")
        elif match := _SET.fullmatch(bare):
            _set(variables, match[1], _expanded(match[2], _OF_BATCH, variables, ""))
        else:
            here = _branch(source, reading, start, "a branch") if _CONDITION.match(bare) else scope
            begin = _RUNS.search(text)
            if begin:
                command = text[begin.start() :].rstrip()
                command = command[:-1] if command.endswith(")") and "(" not in command else command
                fragment = _filled(source, command, start + begin.start(), _OF_BATCH, variables, "")
                _read(source, fragment, here.changed(group=here.group))
                outer.step += MOST_STEPS
                scope.step = here.step = outer.step
            if bare.endswith(("(", "{")):
                scope = here
            elif bare.startswith((")", "}")):
                scope = outer


MOST_STEPS = 100
"""Commands of one line of a batch file whose steps stay in order."""


def _read(source: SourceFile, fragment: Fragment, scope: CommandScope) -> None:
    """Read shell text, and note of each statement whether variables took part in it."""
    statements = scope.reading.statements
    known = len(statements)
    read_shell(fragment, scope)
    for number in range(known, len(statements)):
        statement = statements[number]
        if not source.text.startswith(statement.text, source.offset(*statement.place)):
            statements[number] = statement._replace(derived=True)


def _branch(source: SourceFile, reading: ParsedFile, start: int, label: str) -> CommandScope:
    group = f"branch:{source.place(start).line}"
    reading.groups[group] = Group(group, "branch", label, (MAIN,))
    return CommandScope(reading, group=group)


def _logical(source: SourceFile, continues: str) -> Iterator[tuple[int, str]]:
    """Yield where each line begins and its text, with what continues it; a mark of continuation becomes a space."""
    number, count = 0, len(source.starts)
    while number < count:
        start = source.starts[number]
        parts = [source.line(number + 1)]
        while parts[-1].endswith(continues) and number + 1 < count:
            parts[-1] = f"{parts[-1][:-1]} "
            number += 1
            parts.append(source.line(number + 1))
        number += 1
        yield start, " ".join(parts)


def _filled(
    source: SourceFile, text: str, start: int, pattern: re.Pattern[str], variables: dict[str, str], mark: str
) -> Fragment:
    """Return a text with its variables filled in; each letter of a value stands where its variable does."""
    pieces = []
    at = 0
    for match in pattern.finditer(text):
        value = _value(match, variables, mark)
        if value is not None:
            pieces += [Segment(text[at : match.start()], start + at), *(Segment(c, start + match.start()) for c in value)]
            at = match.end()
    return Fragment(source, [*pieces, Segment(text[at:], start + at)])


def _expanded(text: str, pattern: re.Pattern[str], variables: dict[str, str], mark: str) -> str:
    def value(match: re.Match[str]) -> str:
        expansion = _value(match, variables, mark)
        return match[0] if expansion is None else expansion

    return pattern.sub(value, text)


def _value(match: re.Match[str], variables: dict[str, str], mark: str) -> str | None:
    name = next(filter(None, match.groups()), None)
    return variables.get(name) if name else mark


def _set(variables: dict[str, str], name: str, value: str) -> None:
    if len(value) <= _MOST_LETTERS and len(variables) < _MOST_VARIABLES:
        variables[name] = value
    else:
        variables.pop(name, None)


_MAGIC = re.compile(r"\s*(?:!|%(?:pip|conda|mamba|uv|sx|system)\b|(?=pip3? install\s))")
_INTERPOLATION = re.compile(r"(?<![${\\])\{[A-Za-z_]\w*\}")
_SHELL_CELL = re.compile(r"\s*%%(?:bash|sh|script\s+bash|!|system)\b")


def read_notebook(source: SourceFile, reading: ParsedFile) -> None:
    """Add what the cells of a notebook install; they run in the order in which they stand."""
    scope = CommandScope(reading)
    left = MOST_SHELL
    try:
        for cell in cells(source):
            left -= len(cell.text)
            if left < 0:
                reading.problem(cell.place(0), "is too long to be read on")
                return
            for part in _parts(cell):
                read_shell(part, scope)
    except TreeError as error:
        reading.problem(error.place, str(error))


def cells(source: SourceFile, kind: str = "code") -> Iterator[Fragment]:
    """Yield the text of each cell of a kind, code or markdown; raises TreeError where the file is no JSON."""
    tree = json_tree(source)
    for cell in tree.rows("cells") if tree else ():
        own, text = cell.get("cell_type"), cell.get("source")
        if own is not None and own.text == kind and text is not None:
            lines = text.items if text.kind == "list" else [text]
            yield Fragment(source, [piece for line in lines for piece in line.fragment().segments()])


def _parts(cell: Fragment) -> list[Fragment]:
    """Return the stretches of a cell that a shell runs."""
    if _SHELL_CELL.match(cell.text):
        end = cell.text.find("\n")
        return [cell.cut(end + 1)] if end >= 0 else []
    parts = []
    at = 0
    while at < len(cell.text):
        end = at
        while True:
            stop = cell.text.find("\n", end)
            end = len(cell.text) if stop < 0 else stop
            if stop < 0 or end == at or cell.text[end - 1] != "\\":
                break
            end += 1
        if _MAGIC.match(cell.text, at):
            parts.append(_interpolated(cell.cut(at, end)))
        at = end + 1
    return parts


def _interpolated(line: Fragment) -> Fragment:
    """Return a line with what IPython fills in, `{name}`, written as a shell's variable."""
    pieces: list[Segment] = []
    at = 0
    for match in _INTERPOLATION.finditer(line.text):
        pieces += [*line.cut(at, match.start()).segments(), Segment("$", line.origin(match.start()))]
        at = match.start()
    return Fragment(line.source, [*pieces, *line.cut(at).segments()]) if pieces else line
