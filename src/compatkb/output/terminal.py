"""Lines on a terminal, with colour and weight; through a pipe they are plain text, and rich is not imported."""

import os
import re
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, TextIO

from compatkb.core.foreign import lines_shown
from compatkb.output.screen import Line, laid_out, text_of

if TYPE_CHECKING:
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
_WIDEST = 120
"""Columns that a text has at most: longer lines are hard to read."""
_HANGING = 4
"""Columns that further lines of a text are indented by."""
_WHOLE = re.compile(r" *(\$|run:|source:) ")
_PLAIN = str.maketrans({"✓": "+", "✗": "x", "·": "-", "–": "-", "│": "|", "…": "~"})


FORCED = "FORCE_COLOR"
"""The variable by which many programs are asked for colours where there is no terminal (force-color.org)."""
is_brief = False
"""Whether a screen is its headline and its commands only."""


def is_forced() -> bool:
    """Return whether colours are asked for wherever output goes; that none are (NO_COLOR) counts more."""
    return bool(os.environ.get(FORCED)) and not os.environ.get("NO_COLOR")


def as_text(output: str | Sequence[Line]) -> str:
    """Return a form of output as plain text."""
    return output if isinstance(output, str) else text_of(output)


def show(output: str | Sequence[Line]) -> None:
    """Print a form of output on standard output."""
    if is_brief and not isinstance(output, str):
        output = _brief(output)
    if isinstance(output, str):
        sys.stdout.write(lines_shown(output) if sys.stdout.isatty() else output)
    else:
        print_lines(output)


def _brief(lines: Sequence[Line]) -> list[Line]:
    """Return the headline of a screen and its commands."""
    end = next((number for number, line in enumerate(lines) if not line.text), len(lines))
    return [*lines[:end], *(line for line in lines[end:] if line.style == "command")]


def show_text(output: str | Sequence[Line]) -> None:
    """Print text on standard output, its lines wrapped at words on a narrower terminal; commands and links stay whole."""
    lines = [Line(line) for line in output.splitlines()] if isinstance(output, str) else output
    print_lines([line._replace(style=line.style or "whole") if _WHOLE.match(line.text) else line for line in lines])


def print_lines(lines: Sequence[Line], stream: TextIO | None = None) -> None:
    """Print lines as on a terminal or not, as the stream, NO_COLOR and FORCE_COLOR decide."""
    out = stream or sys.stdout
    if out.isatty() or is_forced():
        _print_rich(lines, out, plain=bool(os.environ.get("NO_COLOR")))
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

    system: Literal["auto", "standard"] = "standard" if is_forced() else "auto"
    console = Console(file=out, highlight=False, soft_wrap=True, force_terminal=True, color_system=None if plain else system)
    for line in lines:
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
