"""Lines on a terminal, with colour and weight; through a pipe they are plain text, and rich is not imported."""

import os
import sys
import textwrap
from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING, TextIO

from compatkb.output.screen import HEAD, MORE, Line, rewrapped, text_of

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

_STYLES = {
    "works": "bold green",
    "likely": "bold yellow",
    "unknown": "bold magenta",
    "does-not-work": "bold red",
    "command": "bold",
    "heading": "bold",
    "dim": "dim",
    "error": "bold red",
    "warning": "bold yellow",
    "info": "bold blue",
    "carets": "bold red",
    "-": "red",
    "+": "green",
}
_LABEL = 12
"""Columns of a label and its indentation."""
_BETWEEN, _WRAPPED = 3, 20
"""Columns of a table's cell beside its text; the least that the widest column gets."""
_PLAIN = str.maketrans({"✓": "+", "✗": "x", "·": "-", "–": "-", "│": "|", "…": "~"})


def as_text(output: str | Sequence[Line]) -> str:
    """Return a form of output as plain text."""
    return output if isinstance(output, str) else text_of(output)


def show(output: str | Sequence[Line]) -> None:
    """Print a form of output on standard output."""
    if isinstance(output, str):
        sys.stdout.write(output)
    else:
        print_lines(output)


def print_lines(lines: Sequence[Line], stream: TextIO | None = None, *, colour: bool | None = None) -> None:
    """Print lines; `colour` decides for or against it, None leaves that to the stream and to NO_COLOR."""
    out = stream or sys.stdout
    if colour is None:
        colour = out.isatty() and not os.environ.get("NO_COLOR")
    if colour:
        _print_rich(lines, out)
    else:
        out.write(printable(text_of(lines), out.encoding))


def printable(text: str, encoding: str | None) -> str:
    """Return a text with signs that an encoding has."""
    try:
        text.encode(encoding or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return text.translate(_PLAIN)
    return text


def _print_rich(lines: Sequence[Line], out: TextIO) -> None:
    from rich.console import Console

    console = Console(file=out, highlight=False, soft_wrap=True, force_terminal=True)
    for is_row, group in groupby(lines, lambda line: bool(line.cells)):
        if is_row:
            _print_table(list(group), console)
            continue
        for line in rewrapped(list(group), console.width):
            for part in _within(line, console.width):
                console.print(_styled(part, out.encoding))


def _within(line: Line, width: int) -> list[Line]:
    """Return a line in lines that fit a narrow terminal, at words; commands and quoted lines stay whole."""
    if len(line.text) <= width or line.hang is not None or line.style in ("command", "dim") or line.underlined != (0, 0):
        return [line]
    indent = len(line.text) - len(line.text.lstrip())
    first, *rest = textwrap.wrap(
        line.text, width, drop_whitespace=True, subsequent_indent=" " * indent, break_long_words=False, break_on_hyphens=False
    )
    return [line._replace(text=first), *(Line(text) for text in rest)]


def _print_table(rows: list[Line], console: "Console") -> None:
    """Print rows below their heads; as lines where the terminal is too narrow for the columns."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    heads = [row for row in rows if row.style == HEAD]
    names = heads[0].cells if heads else ("",) * max(len(row.cells) for row in rows)
    table = Table(*names, box=box.SIMPLE_HEAD, show_header=bool(heads), pad_edge=False)
    widths = [max(len(row.cells[n]) for row in rows if n < len(row.cells)) for n in range(len(table.columns))]
    for column, width in zip(table.columns, widths, strict=True):
        column.min_width = min(width, _WRAPPED) if width == max(widths) else width  # the widest wraps, names stay whole
    for row in rows:
        if row.style not in (HEAD, MORE):
            table.add_row(*(Text(printable(cell, console.encoding)) for cell in row.cells))
    if sum((column.min_width or 0) + _BETWEEN for column in table.columns) <= console.width:
        console.print(table, soft_wrap=False)
    else:  # words would be cut
        console.print(Text(printable(text_of(rows), console.encoding)), end="")


def _styled(line: Line, encoding: str) -> "Text":
    """Return a line with the weight and colour of its kind."""
    from rich.text import Text

    content = Text(printable(line.text.rstrip(), encoding))
    if line.goes_on and line.style not in ("dim", "heading"):
        return content
    if line.style == "label":
        content.stylize("bold", 0, _LABEL)
    elif line.style in ("works", "likely", "unknown", "does-not-work"):
        content.stylize(_STYLES[line.style], 0, max(line.text.find("   "), 0) or None)
    elif line.style in ("error", "warning", "info"):
        content.stylize(_STYLES[line.style], 0, line.text.find(f" {line.style}: ") + len(line.style) + 2)
    elif style := _STYLES.get(line.style):
        content.stylize(style)
    if line.underlined != (0, 0):
        content.stylize("underline", *line.underlined)
    return content
