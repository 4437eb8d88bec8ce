"""Markdown: tables whose cells say exactly what they are given, and fenced blocks."""

import re
from collections.abc import Iterable, Sequence

_MARKUP = re.compile(r"[\\`*\[\]~$]|(?<![^\W_])_|_(?![^\W_])")
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "|": "&#124;"}


def cell(text: str) -> str:
    """Return `text` as a table cell that shows it literally: markup escaped, line ends as `<br>`, control characters dropped.

    A pipe is written as an entity, since readers of Markdown differ about escaped pipes.
    """
    lines = [" ".join(_printable(line).split()) for line in text.strip().splitlines()]
    return "<br>".join(_escaped(line) for line in lines)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table with these cells, escaped; every row has as many as the head."""
    lines = [_row(head), "|" + "---|" * len(head)]
    for row in rows:
        if len(row) != len(head):
            raise ValueError(f"{len(row)} cells in a table of {len(head)} columns")
        lines.append(_row(row))
    return "\n".join(lines) + "\n"


def fence(text: str, language: str) -> str:
    """Return `text` as a fenced block; the fence is longer than every run of backticks inside."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    mark = "`" * max(3, longest + 1)
    return f"{mark}{language}\n{text.rstrip()}\n{mark}\n"


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell(text) for text in cells) + " |"


def _escaped(line: str) -> str:
    marked = _MARKUP.sub(lambda match: "\\" + match[0], line)
    return re.sub(r"[&<>|]", lambda match: _ENTITIES[match[0]], marked)


def _printable(line: str) -> str:
    return "".join(mark if mark.isprintable() or mark.isspace() else "" for mark in line)
