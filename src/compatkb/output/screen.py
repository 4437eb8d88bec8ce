"""Text for a terminal of 80 columns: lines with a style, wrapped and labelled text, and what is left out of long ones."""

import re
import textwrap
from collections.abc import Iterable, Sequence
from typing import NamedTuple

WIDTH = 80
HEIGHT = 24
"""Lines of the first screen of an answer."""
TIED = "\N{NO-BREAK SPACE}"
_VERSION = re.compile(r"(?<=\w) (?=v?\d[\w.+!–-]*)")
_QUOTED = re.compile(r"`[^`]+`")
_LABEL = 14
"""So wide is the longest label."""


class Line(NamedTuple):
    """A line and what it is, which decides its colour on a terminal: a verdict, level, command, label, heading, or dim."""

    text: str
    style: str = ""
    underlined: tuple[int, int] = (0, 0)  # from column to column
    cells: tuple[str, ...] = ()  # of a row of a table, which a terminal shows in their place; a heading has no text
    hang: str | None = None  # what further lines begin with where the text is too wide; None for one that is never broken
    start: int = 0  # where the text begins that may be broken


class Block(NamedTuple):
    """Lines that stay or go together; of the blocks that may go, the one with the highest number goes first."""

    lines: list[Line]
    weight: float = 0


BLANK = Line("")
HEAD, MORE = "head", "more"
"""Rows of tables: the names of the columns, and what continues the text of a row."""


def laid_out(line: Line, width: int = WIDTH) -> list[str]:
    """Return a line as a screen of so many columns shows it; names stay beside their versions, and no word is broken."""
    if line.hang is None:
        return [line.text]
    tied = _QUOTED.sub(lambda match: match[0].replace(" ", TIED), _VERSION.sub(TIED, line.text[line.start :]))
    parts = textwrap.wrap(
        tied, width, initial_indent=line.text[: line.start], subsequent_indent=line.hang, break_long_words=False,
        break_on_hyphens=False,
    )  # fmt: skip
    return [part.replace(TIED, " ") for part in parts]


def height_of(lines: Iterable[Line]) -> int:
    """Return how many lines of a screen of the usual width these take."""
    return sum(len(laid_out(line)) for line in lines)


def text_of(lines: Iterable[Line]) -> str:
    """Return lines as plain text."""
    return "".join(f"{part.rstrip()}\n" for line in lines if line.style != HEAD for part in laid_out(line))


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
    dropped, lines = set(), sum(height_of(block.lines) for block in blocks)
    for block in sorted(blocks, key=lambda block: -block.weight):
        if lines <= height or not block.weight:
            break
        dropped.add(id(block))
        lines -= height_of(block.lines)
    return [block for block in blocks if id(block) not in dropped]


def wrapped(text: str, indent: str = "", hang: str | None = None, style: str = "") -> list[Line]:
    """Return a text as a line that is broken where it is too wide; none where there is no text."""
    return [Line(indent + text, style, hang=indent if hang is None else hang, start=len(indent))] if text.strip() else []


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
