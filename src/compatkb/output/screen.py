"""Text for a terminal of 80 columns: lines with a style, wrapped and labelled text, and what is left out of long ones."""

import re
import textwrap
from collections.abc import Iterable, Sequence

from compatkb.core.record import NamedTuple

WIDTH = 80
HEIGHT = 24
"""Lines of the first screen of an answer."""
TIED = "\N{NO-BREAK SPACE}"
_VERSION = re.compile(r"(?<=\w) (?=v?\d[\w.+!–-]*)")
_QUOTED = re.compile(r"`[^`]+`")
_HANGING = 4
"""Columns that further lines of a narrow screen are indented by."""
_LABEL = 14
"""So wide is the longest label."""


class Line(NamedTuple):
    """A line and what it is, which decides its colour on a terminal: a verdict, level, command, label, heading, or dim."""

    text: str
    style: str = ""
    underlined: tuple[int, int] = (0, 0)  # from column to column
    hang: str | None = None  # what further lines begin with where the text is too wide; None for one that is never broken
    start: int = 0  # where the text begins that may be broken


class Block(NamedTuple):
    """Lines that stay or go together; of the blocks that may go, the one with the highest number goes first."""

    lines: list[Line]
    weight: float = 0


Row = tuple[str, str | None, float]
"""A label, a text, and the weight of the block that they make."""
BLANK = Line("")
_GAP = 2
"""Blanks between columns."""


def laid_out(line: Line, width: int = WIDTH) -> list[str]:
    """Return a line as a screen of so many columns shows it; names stay beside their versions, and no word is broken."""
    if line.hang is None:
        return [line.text]
    start, hang = line.start, line.hang
    if line.start * 3 > width * 2:  # no room is left beside it
        start = len(line.text) - len(line.text.lstrip())
        hang = " " * (start + _HANGING)
    tied = _QUOTED.sub(lambda match: match[0].replace(" ", TIED), _VERSION.sub(TIED, line.text[start:]))
    parts = textwrap.wrap(
        tied, width, initial_indent=line.text[:start], subsequent_indent=hang, break_long_words=False,
        break_on_hyphens=False,
    )  # fmt: skip
    return [part.replace(TIED, " ") for part in parts]


def height_of(lines: Iterable[Line]) -> int:
    """Return how many lines of a screen of the usual width these take."""
    return sum(len(laid_out(line)) for line in lines)


def text_of(lines: Iterable[Line]) -> str:
    """Return lines as plain text."""
    return "".join(f"{part.rstrip()}\n" for line in lines for part in laid_out(line))


def columns(rows: Iterable[Sequence[str]], names: Sequence[str] = (), indent: int = 2) -> list[Line]:
    """Return rows in columns, below their names where they have any; the last one is wrapped where it is too wide."""
    cells = [tuple(row) for row in ([names, *rows] if names else rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)][:-1]
    lines = []
    for number, row in enumerate(cells):
        head = " " * indent + "".join(f"{cell:<{width + _GAP}}" for cell, width in zip(row, widths, strict=False) if width)
        style = "heading" if names and not number else ""
        lines += wrapped(row[-1], head, " " * len(head), style) or [Line(head.rstrip(), style)]
    return lines


def fitted(blocks: Sequence[Block], height: int = HEIGHT) -> list[Line]:
    """Return the lines of blocks, without those of least weight as far as `height` asks for it; a label that goes is kept."""
    kept, lines, head = {id(block) for block in fit(blocks, height)}, list[Line](), ""
    for block in blocks:
        first = block.lines[0] if block.lines else Line("")
        own = first.text[: _LABEL + 3] if first.style == "label" else ""
        head = own if own.strip() or not own else head
        if id(block) not in kept:
            continue
        lines += [first._replace(text=head + first.text[len(own) :]), *block.lines[1:]] if own and head else block.lines
        head = ""
    return lines


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


def labelled_rows(rows: Iterable[Row]) -> list[Block]:
    """Return texts behind their labels as blocks, a label once for texts that follow each other; none for no text."""
    told = [row for row in rows if row[1]]
    before = ["", *(label for label, _, _ in told)]
    return [
        Block(labelled("" if label == last else label, text), weight)
        for (label, text, weight), last in zip(told, before, strict=False)
        if text
    ]


def command(text: str, indent: int = 4) -> Line:
    """Return a command, which is never broken."""
    return Line(" " * indent + text, "command")
