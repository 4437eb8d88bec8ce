"""Finds where a document's tables differ from the knowledge base, with the recorded reason of each difference."""

import re
from collections.abc import Iterator
from urllib.parse import unquote

from markdown_it import MarkdownIt
from markdown_it.token import Token

from compatkb.core.record import NamedTuple
from compatkb.docgen.images import CellReason, ImageRow, ImageTables
from compatkb.output.documents import Edition, source_payloads
from compatkb.output.writers import Inline, plain, spans

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


class Deviation(NamedTuple):
    """A difference: where it stands, what is there, and what would be generated; empty where nothing is."""

    line: int
    table: str
    row: str
    column: str
    theirs: str
    ours: str
    reason: str | None
    sources: tuple[tuple[str, str | None], ...]


class Compared(NamedTuple):
    """A table that was recognised, and how many of its cells were compared."""

    line: int
    repository: str
    table: str
    cells: int


class Comparison(ImageTables):
    """Compares the tables of a document with those of a day."""

    def compare(self, text: str) -> tuple[list[Compared], list[Deviation]]:
        """Return the tables of image tags in a Markdown text that the data know, and their differences, by line."""
        listed = self.rows()
        compared, differences = [], []
        for table in read_tables(text):
            own_rows = self._recognised(table, listed)
            if own_rows:
                cells, deviations = self._compare(table, own_rows)
                compared.append(Compared(table.line, own_rows[0].repository, own_rows[0].table, cells))
                differences += deviations
        return compared, sorted(differences, key=lambda deviation: deviation.line)

    def _recognised(self, table: DocumentTable, listed: list[ImageRow]) -> list[ImageRow]:
        """Return the listed rows that a table is about: those of the one whose tags it has most of, under its column heads."""
        names = {name for row in table.rows if row.cells for name in _names(row.cells[0])}
        heads = {cell.text.casefold() for cell in table.head}
        counts: dict[tuple[str, str], int] = {}
        for row in listed:
            columns = self.facts.columns_of(row.repository).values()
            titles = {column.title.casefold() for column in columns if column.name in row.cells}
            if heads & titles:
                key = (row.repository, row.table)
                counts[key] = counts.get(key, 0) + len(names & set(row.tags))
        best = max(counts, key=lambda key: counts[key], default=None)
        return [row for row in listed if (row.repository, row.table) == best] if best and counts[best] else []

    def _compare(self, table: DocumentTable, own_rows: list[ImageRow]) -> tuple[int, list[Deviation]]:
        columns = self.facts.columns_of(own_rows[0].repository)
        titles = {column.title.casefold(): column for column in columns.values()}
        heads = [titles.get(cell.text.casefold()) for cell in table.head]
        own_cells = [{c.name: self.cell(row, c) for c in heads if c} for row in own_rows]
        reasons: dict[tuple[str, ...], CellReason | None] = {}
        cells, deviations = 0, []
        matched: list[int] = []
        for row in table.rows:
            tags = _names(row.cells[0])
            number = max(
                range(len(own_rows)), key=lambda n: (tags[0] in own_rows[n].tags, len(set(tags) & set(own_rows[n].tags)))
            )
            same = own_rows[number]
            known = set(tags) & set(same.tags)
            if not known or number in matched:
                text = f"no row of {same.document} had {', '.join(tags)} in this table on {self.day}"
                text = "the row is there twice" if known else text
                deviations.append(Deviation(row.line, same.table, tags[0], "row", ", ".join(tags), "", text, ()))
                continue
            matched.append(number)
            for column, cell in zip(heads, row.cells, strict=False):
                if column is None:
                    continue
                cells += 1
                ours = own_cells[number][column.name]
                if _is_same(cell, ours):
                    continue
                key = (column.name, *same.tags, *tags)  # a tag too many has its reason as well
                if key not in reasons:
                    reasons[key] = self.reason(same._replace(tags=(*same.tags, *tags)), column)
                why, cited = reasons[key] or (_same_version(cell, ours) if column.product else None) or (None, ())
                shown = (_shown(cell.text, _links(cell)), _shown(plain(ours), _our_links(ours)))
                deviations.append(Deviation(row.line, same.table, same.tags[0], column.name, *shown, why, cited))
        for number, other in enumerate(own_rows):
            if number not in matched:
                text = f"{other.document} had it in this table on {self.day}"
                deviations.append(
                    Deviation(table.line, other.table, other.tags[0], "row", "", ", ".join(other.tags), text, ())
                )
        if matched != sorted(matched):
            names = ", ".join(own_rows[number].tags[0] for number in sorted(matched))
            text = "the rows stand in another order"
            deviations.append(Deviation(table.line, own_rows[0].table, "", "order", "", names, text, ()))
        return cells, deviations


def _names(cell: TableCell) -> tuple[str, ...]:
    return cell.codes or tuple(re.split(r"[\s,]+", cell.text))


def _is_same(cell: TableCell, ours: Inline) -> bool:
    same = _bare(cell.text) == _bare(plain(ours)) and bool(cell.codes) == any(span.code for span in spans(ours))
    return same and _links(cell) == _our_links(ours)


def _same_version(cell: TableCell, ours: Inline) -> CellReason | None:
    """Return why two spellings or two pages of one version differ."""
    version = plain(ours).removeprefix("v")
    word = re.compile(rf"(?<![\w.+-])v?{re.escape(version)}(?![\w.+-])") if version[:1].isdigit() else None
    if word and all(
        word.search(unquote(text)) for text in (re.sub(r"-(?=v?\d)", " ", cell.text), *(url for _, url in cell.links))
    ):
        return CellReason("both name the same version", ())
    return None


def _bare(text: str) -> str:
    return ",".join(part.strip() for part in " ".join(text.split()).split(","))


def _links(cell: TableCell) -> tuple[tuple[str, str], ...]:
    return tuple((text, unquote(url)) for text, url in cell.links)


def _our_links(text: Inline) -> tuple[tuple[str, str], ...]:
    return tuple((span.text, unquote(span.url)) for span in spans(text) if span.url)


def _shown(text: str, links: tuple[tuple[str, str], ...]) -> str:
    return " ".join([text, *(f"<{url}>" for _, url in links)])


def diff_text(path: str, compared: list[Compared], differences: list[Deviation]) -> str:
    """Return the deviations for people, with reason and sources, and a sum."""
    lines = []
    for d in differences:
        where = f"{path}:{d.line}: {d.table}: {d.row}: {d.column}" if d.row else f"{path}:{d.line}: {d.table}: {d.column}"
        lines += [where, f"  document:  {d.theirs or 'nothing'}", f"  generated: {d.ours or 'nothing'}"]
        lines.append(f"  reason:    {d.reason or 'the data give none'}")
        lines += [f"  source:    {url or text}" for text, url in d.sources]
    cells = sum(table.cells for table in compared)
    lines.append(f"{len(compared)} tables, {cells} cells compared, {len(differences)} deviations")
    return "\n".join(lines) + "\n"


def diff_json(edition: Edition, path: str, compared: list[Compared], differences: list[Deviation]) -> str:
    """Return the compared tables and the deviations for programs."""
    deviations = [{**d._asdict(), "sources": source_payloads(d.sources)} for d in differences]
    content = {"file": path, "tables": [table._asdict() for table in compared], "deviations": deviations}
    return edition.document(content)
