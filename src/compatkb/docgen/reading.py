"""Tables of a Markdown document as a page shows them: text, code and link of every cell, with its line."""

from collections.abc import Iterator
from typing import NamedTuple

from markdown_it import MarkdownIt
from markdown_it.token import Token

_PARSER = MarkdownIt("commonmark").enable("table")


class TableCell(NamedTuple):
    """A cell: what it shows, its code spans, and the links in it as text and target."""

    text: str
    codes: tuple[str, ...] = ()
    links: tuple[tuple[str, str], ...] = ()


class DocumentRow(NamedTuple):
    """A row and its line, counted from 1."""

    line: int
    cells: tuple[TableCell, ...]


class DocumentTable(NamedTuple):
    """A table: the line and the cells of its head, and its rows."""

    line: int
    head: tuple[TableCell, ...]
    rows: tuple[DocumentRow, ...]


def read_tables(text: str) -> list[DocumentTable]:
    """Return the tables of a Markdown text in order; link definitions are resolved wherever they stand."""
    tables = []
    rows: list[DocumentRow] = []
    cells: list[TableCell] = []
    line = 0
    for token in _PARSER.parse(text):
        if token.type == "table_open":
            rows = []
        elif token.type == "tr_open":
            cells, line = [], (token.map[0] if token.map else 0) + 1
        elif token.type == "inline" and token.level and token.children is not None:
            cells.append(_cell(token.children))
        elif token.type == "tr_close":
            rows.append(DocumentRow(line, tuple(cells)))
        elif token.type == "table_close":
            tables.append(DocumentTable(rows[0].line, rows[0].cells, tuple(rows[1:])))
    return tables


def _cell(tokens: list[Token]) -> TableCell:
    text = "".join(_texts(tokens))
    codes = tuple(token.content for token in tokens if token.type == "code_inline")
    links = []
    target, start = "", 0
    for number, token in enumerate(tokens):
        if token.type == "link_open":
            target, start = str(token.attrGet("href") or ""), number
        elif token.type == "link_close":
            links.append(("".join(_texts(tokens[start:number])), target))
    return TableCell(" ".join(text.split()), codes, tuple(links))


def _texts(tokens: list[Token]) -> Iterator[str]:
    for token in tokens:
        if token.type in ("text", "code_inline"):
            yield token.content
        elif token.type in ("softbreak", "hardbreak") or token.content.startswith("<br"):
            yield " "
