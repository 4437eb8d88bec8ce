"""Converts reStructuredText to equivalent Markdown (tables, headings, links, code); every character keeps its position.

docutils tells the line of a cell at best, not its column, and runs directives; here only what the checker reads is turned.
"""

import csv
import re
from collections.abc import Callable, Iterator
from itertools import pairwise

from compatkb.core.text_position import SourceText
from compatkb.parsers.source import Segment

_UNDERLINE = re.compile(r"([=\-`:.'\"~^_*+#])\1+\s*")
_DIRECTIVE = re.compile(r"(\s*)\.\.\s+([\w:-]+)::[ \t]*(.*)")
_CODE = ("code-block", "code", "sourcecode", "highlight", "prompt", "parsed-literal")
_GRID = re.compile(r"\s*\+(?:[-=]+\+)+\s*")
_SIMPLE = re.compile(r"\s*=+(?:\s+=+)+\s*")
_BULLET = re.compile(r"[ \t]*+[*-][ \t]++")
_INLINE = re.compile(
    r"``(?P<code>[^`\n]+)``|(?::[\w:+.-]{1,40}:)?`(?P<text>[^`<\n]+?)\s*<(?P<url>[^>`\n]+)>`_{0,2}"
    r"|(?::[\w:+.-]{1,40}:)?`(?P<name>[^`\n]+)`_{0,2}"
)
_FIELD = re.compile(r"\s*:[\w -]+:")


_Cell = list[tuple[int, int, int | None]]
"""The stretches of lines that a cell has: number, start and end, the end of the line where None."""
_Rows = list[list[_Cell]]


class _RestReader:
    def __init__(self, source: SourceText) -> None:
        self.source = source
        self.lines = [source.line(n) for n in range(1, len(source.starts) + 1)]
        self.at = 0

    def pieces(self) -> Iterator[Segment]:
        while self.at < len(self.lines):
            line = self.lines[self.at]
            directive = _DIRECTIVE.fullmatch(line)
            if directive and directive[2] in _CODE:
                yield from self._code(len(directive[1]), directive[3].strip())
            elif directive and directive[2] == "list-table":
                yield from self._directive_table(len(directive[1]), _add_item)
            elif directive and directive[2] == "csv-table":
                yield from self._directive_table(len(directive[1]), _add_record)
            elif line.lstrip().startswith(".. ") and not directive:
                self.at += 1  # a comment, a target of a link
            elif _GRID.fullmatch(line):
                yield from self._grid()
            elif _SIMPLE.fullmatch(line):
                yield from self._simple()
            else:
                yield from self._text(line)

    def _text(self, line: str) -> Iterator[Segment]:
        start = self.source.starts[self.at]
        below = self.lines[self.at + 1] if self.at + 1 < len(self.lines) else ""
        if line.strip() and _UNDERLINE.fullmatch(below) and len(below.rstrip()) + 1 >= len(line.rstrip()):
            yield Segment("\n# ", start)
            yield from _inline(line.strip(), start + len(line) - len(line.lstrip()))
            yield Segment("\n\n", start + len(line))
            self.at += 2
            return
        self.at += 1
        if _UNDERLINE.fullmatch(line):
            return
        literal = line.rstrip().endswith("::")
        bullet = _BULLET.match(line)
        lead, body = ("- ", line[bullet.end() :]) if bullet else ("", line.strip())
        yield Segment(lead, start)
        yield from _inline(body.strip(), start + (line.find(body.strip()) if body.strip() else 0))
        yield Segment("\n", start + len(line))
        if literal:
            yield from self._code(len(line) - len(line.lstrip()), "", opened=True)

    def _block(self, indent: int) -> list[int]:
        """Return the lines that are indented by more, and stand behind them."""
        numbers = []
        while self.at < len(self.lines):
            line = self.lines[self.at]
            if line.strip() and len(line) - len(line.lstrip()) <= indent:
                break
            numbers.append(self.at)
            self.at += 1
        return numbers

    def _code(self, indent: int, language: str, *, opened: bool = False) -> Iterator[Segment]:
        first = self.source.starts[self.at - opened]
        self.at += not opened
        numbers = self._block(indent)
        if not opened:
            while numbers and _FIELD.match(self.lines[numbers[0]]):
                numbers = numbers[1:]
        margin = min((len(t) - len(t.lstrip()) for n in numbers if (t := self.lines[n]).strip()), default=0)
        named = "sh" if language in ("bash", "console", "default", "none") else language.partition(" ")[0]
        yield Segment(f"\n```{named}\n", first)
        for number in numbers:
            yield Segment(
                f"{self.lines[number][margin:]}\n", self.source.starts[number] + min(margin, len(self.lines[number]))
            )
        yield Segment("```\n\n", first)

    def _cell(self, number: int, start: int, end: int | None = None) -> Iterator[Segment]:
        text = self.lines[number][start:end]
        bare = text.strip()
        yield from _inline(bare, self.source.starts[number] + start + len(text) - len(text.lstrip()), in_cell=True)

    def _rows(self, rows: _Rows) -> Iterator[Segment]:
        """Yield rows of cells, each the stretches of lines that it has, as a table of Markdown."""
        for count, row in enumerate(rows):
            first = self.source.starts[row[0][0][0]] if row and row[0] else 0
            yield Segment("\n|" if count else "\n\n|", first)
            for cell in row:
                for number, start, end in cell:
                    yield Segment(" ", self.source.starts[number] + min(start, len(self.lines[number])))
                    yield from self._cell(number, start, end)
                yield Segment(" |", first)
            if not count:
                yield Segment(f"\n|{'---|' * len(row)}", first)
        yield Segment("\n\n", self.source.starts[min(self.at, len(self.lines) - 1)])

    def _grid(self) -> Iterator[Segment]:
        border = self.lines[self.at]
        columns = [match.start() for match in re.finditer(r"\+", border)]
        spans = [(a + 1, b) for a, b in pairwise(columns)]
        rows: _Rows = []
        open_row = False
        while self.at < len(self.lines) and self.lines[self.at].lstrip()[:1] in ("+", "|") and self.lines[self.at].strip():
            if self.lines[self.at].lstrip().startswith("+"):
                open_row = False
            else:
                if not open_row:
                    rows.append([[] for _ in spans])
                    open_row = True
                for cell, (start, end) in zip(rows[-1], spans, strict=True):
                    if self.lines[self.at][start:end].strip():
                        cell.append((self.at, start, end))
            self.at += 1
        yield from self._rows(rows)

    def _simple(self) -> Iterator[Segment]:
        border = self.lines[self.at]
        starts = [match.start() for match in re.finditer(r"=+", border)]
        spans = list(zip(starts, [*starts[1:], None], strict=True))
        rows: _Rows = []
        borders = 1
        self.at += 1
        while self.at < len(self.lines) and borders < 3:
            line = self.lines[self.at]
            if _SIMPLE.fullmatch(line):
                borders += 1
            elif not line.strip() and borders > 1 and not _ends_below(self.lines, self.at):
                break
            elif line.strip() and not set(line.strip()) <= set("- "):
                cells = [[(self.at, start, end)] if line[start:end].strip() else [] for start, end in spans]
                if rows and not cells[0]:
                    for cell, more in zip(rows[-1], cells, strict=True):
                        cell += more
                else:
                    rows.append(cells)
            self.at += 1
        yield from self._rows(rows)

    def _directive_table(self, indent: int, add: Callable[[_Rows, int, str], None]) -> Iterator[Segment]:
        self.at += 1
        rows: _Rows = []
        for number in self._block(indent):
            add(rows, number, self.lines[number])
        yield from self._rows(rows)


def _add_item(rows: _Rows, number: int, line: str) -> None:
    """Add a line of a list-table: an item of its list of lists, or more of the item before."""
    bare = line.lstrip()
    at = len(line) - len(bare)
    if match := re.match(r"\*\s+-\s*", bare):
        rows.append([[(number, at + match.end(), None)]])
    elif rows and (match := re.match(r"-(?:\s+|$)", bare)):
        rows[-1].append([(number, at + match.end(), None)] if bare[match.end() :] else [])
    elif rows and bare and not _FIELD.match(line):
        rows[-1][-1].append((number, at, None))


def _add_record(rows: _Rows, number: int, line: str) -> None:
    """Add a line of a csv-table, or its header."""
    field = re.match(r"\s*:([\w-]+):[ \t]*", line)
    if not line.strip() or (field and field[1] != "header"):
        return
    start = field.end() if field else 0
    cells: list[_Cell] = []
    for value in next(csv.reader([line[start:]], skipinitialspace=True), []):
        at = line.find(value.strip(), start)
        cells.append([(number, at, at + len(value.strip()))] if at >= 0 and value.strip() else [])
        start = max(at, start) + len(value)
    rows.append(cells)


def _ends_below(lines: list[str], at: int) -> bool:
    """Return whether a table goes on behind an empty line."""
    return any(_SIMPLE.fullmatch(line) for line in lines[at + 1 : at + 40] if line.strip())


def _inline(text: str, start: int, *, in_cell: bool = False) -> Iterator[Segment]:
    """Yield a stretch of one line with its literals and links as Markdown has them."""
    plain: Callable[[str], str] = (lambda piece: re.sub(r"[|<`]", r"\\\g<0>", piece)) if in_cell else (lambda piece: piece)
    at = 0
    for match in _INLINE.finditer(text):
        yield from _escaped(text[at : match.start()], start + at, plain)
        at = match.end()
        if match["code"]:
            yield Segment("`", start + match.start())
            yield Segment(match["code"], start + match.start("code"))
            yield Segment("`", start + match.end("code"))
        elif match["url"]:
            yield Segment("[", start + match.start())
            yield from _escaped(match["text"], start + match.start("text"), plain)
            yield Segment(f"](<{match['url']}>)", start + match.end("text"))
        else:
            yield from _escaped(match["name"], start + match.start("name"), plain)
    yield from _escaped(text[at:], start + at, plain)


def _escaped(text: str, start: int, plain: Callable[[str], str]) -> Iterator[Segment]:
    for match in re.finditer(r"[|<`]|[^|<`]+", text):
        yield Segment(plain(match[0]), start + match.start())


def markdown_of_rst(source: SourceText) -> Iterator[Segment]:
    """Yield a text as Markdown."""
    yield from _RestReader(source).pieces()
