"""A parsed Markdown document: tables, links, code blocks, paragraphs and definitions, with their positions."""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any

from compatkb.check.document import CheckContext, TextDocument
from compatkb.check.markdown.grammar import blocks, cut, label_key, spans
from compatkb.check.rules import Registry
from compatkb.core.findings import Finding
from compatkb.core.record import NamedTuple
from compatkb.parsers.statement import ParsedFile

if TYPE_CHECKING:
    from markdown_it.token import Token

MOST_LINES = 5_000
MOST_CHARACTERS = 500_000
MOST_CELLS = 100  # of a row
MOST_PLACE = 1 << 60
_LONG = 20_000  # characters of one paragraph or cell whose links are still read
_CODE = re.compile(r"`([^`\s][^`]*[^`\s]|[^`\s])`")
_REFERENCE = re.compile(r"\[(?P<text>[^\[\]\\`*_<&!]+)\](?:\[(?P<label>[^\[\]\\]+)\])?")
_BREAK = re.compile(r"\r\n?|\n")
_DEFINITION = re.compile(r"\[(?P<label>(?:\\.|[^\[\]\\])+)\]:[\s>]*(?P<target><[^<>\n]*>|\S+)")


class MarkdownLink(NamedTuple):
    """A link; `label` is the key of its definition, None where it has its target with it."""

    text: str
    target: str
    label: str | None
    start: int
    end: int


class CodeSpan(NamedTuple):
    """A code span without its backticks."""

    text: str
    start: int
    end: int


class InlineContent(NamedTuple):
    """What the inline parser makes of a run of text."""

    text: str
    links: tuple[MarkdownLink, ...] = ()
    codes: tuple[CodeSpan, ...] = ()


class TextRun:
    """A run of text: a paragraph, a heading or a cell; offsets are those of the document.

    `source` is as it is written; it is parsed when something asks what it holds, since of most pages nothing does.
    """

    def __init__(self, source: str, start: int, end: int, kind: str, read: Callable[[], InlineContent] | None = None) -> None:
        self.source = source
        self.start, self.end = start, end
        self.kind = kind
        self._read = read

    @cached_property
    def _content(self) -> InlineContent:
        return self._read() if self._read else InlineContent(self.source)

    @property
    def text(self) -> str:
        """The text as people read it."""
        return self._content.text

    @property
    def links(self) -> tuple[MarkdownLink, ...]:
        """The links, in order."""
        return self._content.links if "[" in self.source or "<" in self.source else ()

    @property
    def codes(self) -> tuple[CodeSpan, ...]:
        """The code spans, in order."""
        return self._content.codes if "`" in self.source else ()


class MarkdownRow(NamedTuple):
    """A row of a table."""

    cells: tuple[TextRun, ...]
    line: int
    start: int
    end: int


class MarkdownTable(NamedTuple):
    """A table with its head and its rows."""

    head: tuple[TextRun, ...]
    rows: tuple[MarkdownRow, ...]

    def cell(self, row: MarkdownRow, column: int) -> TextRun | None:
        """Return the cell of a row in a column, None where the row is too short."""
        return row.cells[column] if column < len(row.cells) else None


class CodeBlock(NamedTuple):
    """A code block; `lines` are the offset and the text of each of its lines."""

    language: str
    lines: tuple[tuple[int, str], ...]


class Definition(NamedTuple):
    """A link definition; of several of one label the first counts, and the others are none."""

    label: str
    text: str
    target: str
    start: int
    end: int
    target_start: int
    target_end: int


class MarkdownPage:
    """What a document holds, in its order."""

    def __init__(self, document: TextDocument) -> None:
        self.document = document
        self.tables: list[MarkdownTable] = []
        self.pieces: list[TextRun] = []
        self.codes: list[CodeBlock] = []
        self.definitions: list[Definition] = []
        self.unread: int | None = None  # the first line that was not read
        self.questions: set[object] = set()  # the combinations of versions that were judged
        self.queries: Any = None  # what answers questions about them
        self.unjudged = 0  # how many of them were not
        self.rows: list[Any] | None = None  # its tables read as facts
        self.reading: ParsedFile | None = None  # its code blocks read as commands

    def everything(self) -> Iterator[TextRun]:
        """Yield every piece and every cell."""
        yield from self.pieces
        for table in self.tables:
            yield from table.head
            for row in table.rows:
                yield from row.cells


def read_page(document: TextDocument) -> MarkdownPage:
    """Return a document as the reviewer sees it; of a very long one what stands within MOST_LINES and MOST_CHARACTERS."""
    read = _beginning(document)
    page = MarkdownPage(read)
    if read is not document:
        page.unread = len(read.starts)
    tokens, environment = blocks(read.text)
    _Reader(page, environment).read(tokens)
    return page


def _beginning(document: TextDocument) -> TextDocument:
    """Return a document, or of a very long one what is read of it: whole lines."""
    text = document.text
    if len(text) <= MOST_CHARACTERS and text.count("\n") + text.count("\r") <= MOST_LINES:
        return document
    ends = [match.end() for match in islice(_BREAK.finditer(text, 0, MOST_CHARACTERS), MOST_LINES)]
    return TextDocument(document.path, text[: ends[-1] if ends else 0])


class _Reader:
    def __init__(self, page: MarkdownPage, environment: dict[str, Any]) -> None:
        self.page = page
        self.document = page.document
        self.environment = environment

    def read(self, tokens: "list[Token]") -> None:
        kind = "paragraph"
        for token in tokens:
            if token.map is None:
                continue
            if token.type in ("heading_open", "paragraph_open"):
                kind = token.type.removesuffix("_open")
            elif token.type == "inline":
                self._inline(token, kind)
            elif token.type == "table":
                self._table(token.map[0], token.meta["columns"])
            elif token.type in ("fence", "code_block"):
                self._code(token)
        self._definitions()

    def _inline(self, token: "Token", kind: str) -> None:
        assert token.map
        offsets = self._offsets(token.content, token.map[0])
        self.page.pieces.append(self._piece(token.content, offsets, kind))

    def _offsets(self, content: str, line: int) -> list[tuple[int, int]]:
        """Return for each line of a content where it begins in the content and in the document."""
        offsets, place = [], 0
        for number, part in enumerate(content.split("\n"), line + 1):
            source = self.document.line(number)
            bare = part.strip()
            at = source.rstrip().rfind(bare) if bare else len(source)
            indent = len(part) - len(part.lstrip())
            offsets.append((place, self.document.offset(number) + max(at, 0) - indent))
            place += len(part) + 1
        return offsets

    def _piece(self, content: str, offsets: list[tuple[int, int]], kind: str) -> TextRun:
        def at(place: int) -> int:
            line = offsets[bisect_right(offsets, (place, MOST_PLACE)) - 1]
            return line[1] + place - line[0]

        start, end, environment = at(0), at(len(content)), self.environment
        marked = len(content) <= _LONG and any(mark in content for mark in "[`<&\\*_")
        read = (lambda: _simple(content, start, end, environment) or _inline(content, at, environment)) if marked else None
        return TextRun(content, start, end, kind, read)

    def _table(self, first: int, columns: list[int]) -> None:
        rows = [self._row(first + 1 + n, column) for n, column in enumerate(columns) if n != 1]
        self.page.tables.append(MarkdownTable(rows[0].cells, tuple(rows[1:])))

    def _row(self, number: int, start: int) -> MarkdownRow:
        source = self.document.line(number)
        body = source[start:].rstrip()
        base = self.document.offset(number) + start
        cells = []
        for begin, end in islice(cut(body), MOST_CELLS):
            inner = body[begin:end]
            lead = len(inner) - len(inner.lstrip())
            text = inner.strip()
            cells.append(self._piece(text, [(0, base + begin + lead)], "cell"))
        return MarkdownRow(tuple(cells), number, base, base + len(body))

    def _code(self, token: "Token") -> None:
        assert token.map
        first = token.map[0] + (token.type == "fence")
        lines = []
        parts = token.content.removesuffix("\n").split("\n") if token.content else ()
        for number, part in enumerate(parts, first + 1):
            source = self.document.line(number)
            at = source.rstrip().rfind(part.strip()) if part.strip() else len(source)
            indent = len(part) - len(part.lstrip())
            lines.append((self.document.offset(number) + max(at - indent, 0), part))
        words = token.info.split()
        self.page.codes.append(CodeBlock(words[0].lower() if words else "", tuple(lines)))

    def _definitions(self) -> None:
        for key, value in self.environment.get("references", {}).items():
            start = self.document.offset(value["map"][0] + 1)
            end = self.document.offset(value["map"][1] + 1)
            for match in _DEFINITION.finditer(self.document.text[start:end]):
                if label_key(match["label"]) == label_key(key):
                    where = start + match.start(), start + match.end()
                    inner = match["target"].startswith("<")
                    target = (start + match.start("target") + inner, start + match.end("target") - inner)
                    self.page.definitions.append(Definition(key, match["label"], value["href"], *where, *target))
                    break


def _simple(content: str, start: int, end: int, environment: dict[str, Any]) -> InlineContent | None:
    """Return a piece that is one code span or one link to a definition, as most cells are; None for any other."""
    if match := _CODE.fullmatch(content):
        return InlineContent(match[1], codes=(CodeSpan(match[1], start + 1, end - 1),))
    match = _REFERENCE.fullmatch(content)
    label = label_key(match["label"] or match["text"]) if match else ""
    if match and "\n" not in content and (reference := environment.get("references", {}).get(label)):
        return InlineContent(match["text"], (MarkdownLink(match["text"], str(reference["href"]), label, start, end),))
    return None


def _inline(content: str, at: Callable[[int], int], environment: dict[str, Any]) -> InlineContent:
    """Return what a parser makes of a content; `at` gives the place in the document of one in the content."""
    tokens = spans(content, environment)
    links, codes = [], []
    for number, token in enumerate(tokens):
        span = token.meta.get("span")
        if span is None:
            continue
        start, end = at(span[0]), at(span[1])
        if token.type == "link_open":
            label = token.meta.get("label")
            links.append(MarkdownLink(_plain(_inside(tokens, number)), str(token.attrs["href"]), label, start, end))
        elif token.type == "image" and token.meta.get("label"):
            links.append(MarkdownLink(token.content, str(token.attrs["src"]), token.meta["label"], start, end))
        elif token.type == "code_inline":
            marks = len(token.markup)
            inner = content[span[0] + marks : span[1] - marks]
            first = span[0] + marks + len(inner) - len(inner.lstrip())
            codes.append(CodeSpan(token.content.strip(), at(first), at(first + len(inner.strip()))))
    return InlineContent(_plain(tokens), tuple(links), tuple(codes))


def _inside(tokens: "list[Token]", opening: int) -> "list[Token]":
    depth = 0
    for number in range(opening, len(tokens)):
        depth += tokens[number].type == "link_open"
        depth -= tokens[number].type == "link_close"
        if depth == 0:
            return tokens[opening + 1 : number]
    return tokens[opening + 1 :]


def _plain(tokens: "list[Token]") -> str:
    parts = []
    for token in tokens:
        if token.type in ("softbreak", "hardbreak"):
            parts.append("\n")
        elif token.type in ("text", "text_special", "code_inline", "image"):
            parts.append(token.content)
    return "".join(parts)


PageCheck = Callable[[MarkdownPage, CheckContext], Iterator[Finding]]
PAGES = Registry[PageCheck]()
"""What checks the pages of Markdown."""
