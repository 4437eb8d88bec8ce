"""Converts HTML to equivalent Markdown (tables, headings, links, code); every character keeps its position."""

import re
from collections.abc import Iterable
from html import unescape
from html.parser import HTMLParser
from urllib.parse import quote

from compatkb.core.text_position import SourceText
from compatkb.parsers.source import Segment

_DROPPED = ("script", "style", "template", "svg", "noscript")
_BLOCKS = (
    "p", "div", "section", "article", "ul", "ol", "dl", "dd", "dt", "blockquote", "main", "header", "footer", "nav", "table",
    "br",
)  # fmt: skip
_CELLS = ("td", "th")
_LANGUAGE = re.compile(r"\b(?:lang(?:uage)?|highlight|brush)[-: ]+([\w-]+)")
_MARKS = re.compile(r"[\\`*_\[\]<>|]")
MOST_SPAN = 50
"""More columns are not made of one cell."""


class _Writer(HTMLParser):
    """Collects segments; `start` is the offset of the text in the whole document."""

    def __init__(self, document: SourceText, text: str, start: int) -> None:
        super().__init__(convert_charrefs=False)
        self.inner, self.base = SourceText(text), start
        self.document = document
        self.pieces: list[Segment] = []
        self.dropped = self.pre = self.code = 0
        self.cells = -1  # of the row; -1 outside of rows
        self.rows = 0  # of the table
        self.in_cell = False
        self.targets: list[str | None] = []

    @property
    def at(self) -> int:
        return self.base + self.inner.offset(self.lineno, self.offset + 1)

    def put(self, text: str, at: int | None = None) -> None:
        if text and not self.dropped:
            self.pieces.append(Segment(text, self.at if at is None else at))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if tag in _DROPPED:
            self.dropped += 1
        elif tag == "table":
            self.put("\n\n")
            self.rows, self.cells, self.in_cell = 0, -1, False
        elif tag == "tr":
            self.cells = 0
        elif tag in _CELLS and self.cells >= 0:
            self._end_cell()
            self.put("" if self.cells else "\n|")
            self.in_cell = True
            span = values.get("colspan") or ""
            self.cells += min(int(span), MOST_SPAN) if span.isdecimal() and len(span) < 4 and int(span) else 1
        elif tag == "pre" and not self.in_cell:
            language = _LANGUAGE.search(values.get("class") or "")
            self.put(f"\n\n```{language[1] if language else ''}\n")
            self.pre += 1
        elif tag == "code" and not self.pre:
            self.put("`")
            self.code += 1
        elif tag == "a":
            target = values.get("href")
            self.targets.append(target)
            self.put("[" if target else "")
        elif tag == "li":
            self._break("\n\n- ")
        elif re.fullmatch(r"h[1-6]", tag):
            self._break(f"\n\n{'#' * int(tag[1])} ")
        elif tag in _BLOCKS:
            self._break("\n\n")

    def handle_endtag(self, tag: str) -> None:
        if tag in _DROPPED:
            self.dropped = max(self.dropped - 1, 0)
        elif tag in _CELLS:
            self._end_cell()
        elif tag == "tr" and self.cells >= 0:
            self._end_cell()
            self.rows += bool(self.cells)
            if self.rows == 1 and self.cells:
                self.put(f"\n|{'---|' * self.cells}")
            self.cells = -1
        elif tag == "table":
            self.put("\n\n")
            self.cells, self.in_cell = -1, False
        elif tag == "pre" and self.pre:
            self.pre -= 1
            self.put("\n```\n\n")
        elif tag == "code" and self.code:
            self.code -= 1
            self.put("`")
        elif tag == "a" and self.targets:
            target = self.targets.pop()
            self.put(f"]({quote(target, safe=':/?#@!$&*+,;=%~-._')})" if target else "")
        elif re.fullmatch(r"h[1-6]", tag) or tag in _BLOCKS:
            self._break("\n\n")

    def handle_data(self, data: str) -> None:
        if self.pre:
            self.put(data)
            return
        at = self.at
        if self.cells >= 0 and not self.in_cell and not data.strip():
            return
        for match in re.finditer(r"\s+|\S+", data):
            text = " " if match[0].isspace() else match[0] if self.code else _MARKS.sub(r"\\\g<0>", match[0])
            self.put(text, at + match.start())

    def handle_entityref(self, name: str) -> None:
        self._letter(unescape(f"&{name};"))

    def handle_charref(self, name: str) -> None:
        self._letter(unescape(f"&#{name};"))

    def handle_comment(self, data: str) -> None:
        if "compatkb:" in data and "\n" not in data:
            self.put(f"<!--{data}-->")

    def parse_marked_section(self, i: int, report: bool = True) -> int:
        """Return the end of what follows `<![`; what the standard parser gives up on is a comment, as browsers have it."""
        try:
            return super().parse_marked_section(i, report)
        except AssertionError:
            return self.parse_bogus_comment(i)

    def _letter(self, text: str) -> None:
        self.put(text if self.pre else " " if text.isspace() else _MARKS.sub(r"\\\g<0>", text) if not self.code else text)

    def _break(self, text: str) -> None:
        self.put(" " if self.cells >= 0 else text)

    def _end_cell(self) -> None:
        if self.in_cell:
            self.put(" |")
            self.in_cell = False


def markdown_of_html(document: SourceText, start: int = 0, end: int | None = None) -> Iterable[Segment]:
    """Return a stretch of HTML as Markdown."""
    text = document.text[start:end]
    writer = _Writer(document, text, start)
    writer.feed(text)
    writer.close()
    return writer.pieces
