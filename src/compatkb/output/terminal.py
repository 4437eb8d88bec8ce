"""Lines on a terminal, with colour and weight; through a pipe they are plain text, and rich is not imported."""

import os
import sys
from collections.abc import Sequence
from typing import TextIO

from compatkb.output.screen import Line, text_of

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
    "-": "red",
    "+": "green",
}
_LABEL = 12
"""Columns of a label and its indentation."""
_PLAIN = str.maketrans({"✓": "+", "✗": "x", "·": "-", "–": "-", "│": "|", "…": "~"})


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
    from rich.text import Text

    console = Console(file=out, highlight=False, soft_wrap=True, force_terminal=True)
    for line in lines:
        content = Text(printable(line.text.rstrip(), out.encoding))
        if line.style == "label":
            content.stylize("bold", 0, _LABEL)
        elif line.style in ("works", "likely", "unknown", "does-not-work"):
            content.stylize(_STYLES[line.style], 0, max(line.text.find("   "), 0) or None)
        elif style := _STYLES.get(line.style):
            content.stylize(style)
        if line.underlined != (0, 0):
            content.stylize("underline", *line.underlined)
        console.print(content)
