"""Parser of Jupyter notebooks: the shell lines of their code cells."""

import re
from collections.abc import Iterator

from compatkb.parsers.commands.dispatch import read_shell
from compatkb.parsers.commands.model import CommandScope
from compatkb.parsers.positioned_yaml import json_tree
from compatkb.parsers.source import MOST_SHELL, Fragment, SourceFile, TreeError
from compatkb.parsers.statement import ParsedFile

_MAGIC = re.compile(r"\s*(?:!|%(?:pip|conda|mamba|uv|sx|system)\b)")
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
            parts.append(cell.cut(at, end))
        at = end + 1
    return parts
