"""Text for a terminal of 80 columns: lines with a style, wrapped and labelled text, and what is left out of long ones."""

import re
import textwrap
from collections.abc import Sequence
from typing import NamedTuple

WIDTH = 80
HEIGHT = 24
"""Lines of the first screen of an answer."""
TIED = "\N{NO-BREAK SPACE}"
_VERSION = re.compile(r"(?<=\w) (?=v?\d[\w.+!–-]*)")
_MARK = re.compile(r" (?=\[\d+\])")
_QUOTED = re.compile(r"`[^`]+`")
_LABEL = 10


class Line(NamedTuple):
    """A line and what it is, which decides its colour on a terminal: a verdict, level, command, label, heading, or dim."""

    text: str
    style: str = ""
    underlined: tuple[int, int] = (0, 0)  # from column to column
    cells: tuple[str, ...] = ()  # of a row of a table, which a terminal shows in their place; a heading has no text
    hang: str | None = None  # what further lines of the same text begin with; None for a line that is one as it is
    goes_on: bool = False  # whether it is such a further line


class Block(NamedTuple):
    """Lines that stay or go together; of the blocks that may go, the one with the highest number goes first."""

    lines: list[Line]
    weight: float = 0


BLANK = Line("")
HEAD, MORE = "head", "more"
"""Rows of tables: the names of the columns, and what continues the text of a row."""


def text_of(lines: Sequence[Line]) -> str:
    """Return lines as plain text."""
    return "".join(f"{line.text.rstrip()}\n" for line in lines if line.style != HEAD)


def heads(*names: str) -> Line:
    """Return the names of the columns of a table, which only a terminal shows."""
    return Line("", HEAD, cells=names)


def row(lines: Sequence[Line], *cells: str) -> list[Line]:
    """Return lines as one row of a table: the first stands for it on a terminal, where the others are left out."""
    return [line._replace(cells=cells, style=line.style if n == 0 else MORE) for n, line in enumerate(lines)]


def fitted(blocks: Sequence[Block], height: int = HEIGHT) -> list[Line]:
    """Return the lines of blocks, without those of least weight as far as `height` asks for it."""
    return [line for block in fit(blocks, height) for line in block.lines]


def fit(blocks: Sequence[Block], height: int = HEIGHT) -> list[Block]:
    """Return the blocks that stay where there are `height` lines."""
    dropped, lines = set(), sum(len(block.lines) for block in blocks)
    for block in sorted(blocks, key=lambda block: -block.weight):
        if lines <= height or not block.weight:
            break
        dropped.add(id(block))
        lines -= len(block.lines)
    return [block for block in blocks if id(block) not in dropped]


def wrapped(text: str, indent: str = "", hang: str | None = None, style: str = "", width: int = WIDTH) -> list[Line]:
    """Return a text in lines that fit; names stay beside their versions, and no word is broken."""
    hanging = indent if hang is None else hang
    tied = _QUOTED.sub(lambda match: match[0].replace(" ", TIED), _VERSION.sub(TIED, text))
    lines = textwrap.wrap(
        tied, width, initial_indent=indent, subsequent_indent=hanging, break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip
    return [Line(line.replace(TIED, " "), style, hang=hanging, goes_on=n > 0) for n, line in enumerate(lines)]


def rewrapped(lines: Sequence[Line], width: int) -> list[Line]:
    """Return lines in as many as a screen of another width needs; a text that was wrapped is wrapped anew, as a whole."""
    texts: list[Line] = []
    for line in lines:
        if line.goes_on and texts:
            texts[-1] = texts[-1]._replace(text=f"{texts[-1].text.rstrip()} {line.text.strip()}")
        else:
            texts.append(line)
    return [narrow for text in texts for narrow in _narrowed(text, width)]


def _narrowed(line: Line, width: int) -> list[Line]:
    if line.hang is None or len(line.text) <= width:
        return [line]
    body = _MARK.sub(TIED, line.text.lstrip())
    return wrapped(body, line.text[: len(line.text) - len(body)], line.hang, line.style, width)


def labelled(label: str, text: str) -> list[Line]:
    """Return a text behind its label; further lines hang under the text."""
    head = f"  {label:<{_LABEL}} "
    return wrapped(text, head, " " * len(head), "label")


def labelled_block(label: str, text: str | None, weight: float = 0) -> list[Block]:
    """Return a text behind its label as a block; no block where there is no text."""
    return [Block(labelled(label, text), weight)] if text else []


def command(text: str, indent: int = 4) -> Line:
    """Return a command, which is never broken."""
    return Line(" " * indent + text, "command")
