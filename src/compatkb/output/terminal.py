"""Lines on a terminal, with colour and weight; through a pipe they are plain text, and rich is not imported."""

import os
import re
import sys
from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING, TextIO

from compatkb.core.foreign import lines_shown
from compatkb.output.screen import HEAD, MORE, Line, laid_out, text_of

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
_LABEL = 16
"""Columns of a label and its indentation."""
_BETWEEN, _WRAPPED, _COLUMNS = 3, 20, 8
"""Columns of a table's cell beside its text; the least that the widest column gets; cells that a row has in words, too."""
_WIDEST = 120
"""Columns that a text has at most: longer lines are hard to read."""
_HANGING = 4
"""Columns that further lines of a text are indented by."""
_WHOLE = re.compile(r" *(\$|run:|source:) ")
_PLAIN = str.maketrans({"✓": "+", "✗": "x", "·": "-", "–": "-", "│": "|", "…": "~"})


def as_text(output: str | Sequence[Line]) -> str:
    """Return a form of output as plain text."""
    return output if isinstance(output, str) else text_of(output)


def show(output: str | Sequence[Line]) -> None:
    """Print a form of output on standard output."""
    if isinstance(output, str):
        sys.stdout.write(lines_shown(output) if sys.stdout.isatty() else output)
    else:
        print_lines(output)


def show_text(output: str | Sequence[Line]) -> None:
    """Print text on standard output, its lines wrapped at words on a narrower terminal; commands and links stay whole."""
    lines = [Line(line) for line in output.splitlines()] if isinstance(output, str) else output
    print_lines([line._replace(style=line.style or "whole") if _WHOLE.match(line.text) else line for line in lines])


def print_lines(lines: Sequence[Line], stream: TextIO | None = None, *, colour: bool | None = None) -> None:
    """Print lines as on a terminal or not, as `colour` decides; None leaves that to the stream, and colours to NO_COLOR."""
    out = stream or sys.stdout
    if out.isatty() if colour is None else colour:
        _print_rich(lines, out, plain=colour is None and bool(os.environ.get("NO_COLOR")))
    else:
        out.write(printable(text_of(lines), out.encoding))


def printable(text: str, encoding: str | None) -> str:
    """Return a text with signs that an encoding has, and none that a terminal obeys."""
    text = lines_shown(text)
    try:
        text.encode(encoding or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return text.translate(_PLAIN)
    return text


def _print_rich(lines: Sequence[Line], out: TextIO, *, plain: bool) -> None:
    from rich.console import Console

    console = Console(file=out, highlight=False, soft_wrap=True, force_terminal=True, color_system=None if plain else "auto")
    for is_row, group in groupby(lines, lambda line: bool(line.cells)):
        if is_row:
            _print_table(list(group), console)
            continue
        for line in group:
            for number, part in enumerate(_within(line, console.width)):
                console.print(_styled(line, part, out.encoding, goes_on=number > 0))


def _within(line: Line, width: int) -> list[str]:
    """Return a line in lines that fit a terminal, at words; commands and quoted lines stay whole."""
    if line.hang is not None:
        return laid_out(line, min(width, _WIDEST))
    if len(line.text) <= width or line.style in ("command", "whole") or line.underlined != (0, 0) or " │ " in line.text:
        return [line.text]
    indent = len(line.text) - len(line.text.lstrip())
    return laid_out(line._replace(hang=" " * (indent + _HANGING), start=indent), width)


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
        return
    names = names if heads else rows[0].cells
    for row in rows:  # words would be cut
        if row.style == HEAD or (len(names) > _COLUMNS and row.cells == names):
            continue
        shown = Line(f"{row.cells[0]}  {_runs(names, row.cells)}") if len(names) > _COLUMNS else row
        for part in _within(shown, console.width):
            console.print(Text(printable(part, console.encoding)))


def _runs(names: Sequence[str], cells: Sequence[str]) -> str:
    """Return the cells of a wide row in words, those that are alike beside each other as one: `3.10–3.13 yes`."""
    runs = []
    for cell, group in groupby(zip(names[1:], cells[1:], strict=False), lambda pair: pair[1]):
        first, *rest = [name for name, _ in group]
        runs.append(f"{first}–{rest[-1]} {cell}" if rest else f"{first} {cell}")
    return "; ".join(runs)


def _styled(line: Line, part: str, encoding: str, *, goes_on: bool) -> "Text":
    """Return a part of a line with the weight and colour of its kind."""
    from rich.text import Text

    content = Text(printable(part.rstrip(), encoding))
    if goes_on and line.style not in ("dim", "heading"):
        return content
    if line.style == "label":
        content.stylize("bold", 0, _LABEL)
    elif line.style in ("works", "likely", "unknown", "does-not-work"):
        content.stylize(_STYLES[line.style], 0, max(part.find("   "), 0) or None)
    elif line.style in ("error", "warning", "info"):
        content.stylize(_STYLES[line.style], 0, part.find(f" {line.style}: ") + len(line.style) + 2)
    elif style := _STYLES.get(line.style):
        content.stylize(style)
    if line.underlined != (0, 0):
        content.stylize("underline", *line.underlined)
    return content
