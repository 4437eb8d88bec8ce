"""Jupyter notebooks: the shell lines of their code cells."""

import re
from itertools import pairwise

from compatkb.reading.asked import Scope
from compatkb.reading.installers import read_shell
from compatkb.reading.nodes import Node, TreeError, json_tree
from compatkb.reading.source import MOST_SHELL, Fragment, Piece, Source
from compatkb.reading.statement import Reading

_MAGIC = re.compile(r"\s*(?:!|%(?:pip|conda|mamba|uv|sx|system)\b)")
_SHELL_CELL = re.compile(r"\s*%%(?:bash|sh|script\s+bash|!|system)\b")


def read_notebook(source: Source, reading: Reading) -> None:
    """Add what the cells of a notebook install; they run in the order in which they stand."""
    try:
        tree = json_tree(source)
    except TreeError as error:
        reading.problem(error.place, str(error))
        return
    cells = tree.get("cells") if tree else None
    scope = Scope(reading)
    left = MOST_SHELL
    for cell in cells.items if cells else []:
        kind, text = cell.get("cell_type"), cell.get("source")
        if kind is None or kind.text != "code" or text is None:
            continue
        joined = _joined(source, text)
        left -= len(joined.text)
        if left < 0:
            reading.problem(cell.place, "is too long to be read on")
            return
        for part in _parts(joined):
            read_shell(part, scope)


def _joined(source: Source, node: Node) -> Fragment:
    """Return the text of a cell, which is one string or a list of lines."""
    pieces: list[Piece] = []
    for item in node.items if node.kind == "list" else [node]:
        fragment = item.fragment()
        bounds = [*fragment.bounds(), len(fragment.text)]
        pieces += [Piece(fragment.text[a:b], fragment.origin(a)) for a, b in pairwise(bounds)]
    return Fragment(source, pieces)


def _parts(cell: Fragment) -> list[Fragment]:
    """Return the stretches of a cell that a shell runs."""
    if _SHELL_CELL.match(cell.text):
        end = cell.text.find("\n")
        return [cell.cut(end + 1)] if end >= 0 else []
    found = []
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
            found.append(cell.cut(at, end))
        at = end + 1
    return found
