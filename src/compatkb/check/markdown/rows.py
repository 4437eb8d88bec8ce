"""Reads tables as facts: which column is which product, which image tags a row names, which versions it states."""

import re
from collections import Counter
from collections.abc import Iterator

from compatkb.check.lookups import ForgeReference, Lookups, reference, written
from compatkb.check.markdown.text import CodeSpan, MarkdownPage, MarkdownRow, MarkdownTable, TextRun
from compatkb.core.record import NamedTuple
from compatkb.core.vocabulary import Role
from compatkb.parsers.statement import repository_name
from compatkb.store.records import Product

_TAG = re.compile(r"[A-Za-z0-9_][\w.-]{0,127}")
_TAGS = re.compile(r"\b(tags?|images?)\b|\btag\(s\)", re.IGNORECASE)


class ColumnKind(NamedTuple):
    """What a column holds: a product's versions, image tags, or links to build files."""

    kind: str  # product, tags, build
    product: Product | None = None


class CellVersion(NamedTuple):
    """A version that a row gives a product."""

    product: Product
    text: str
    mask: int  # of the elements that it names, 0 where the data do not know it
    cell: TextRun


class TagMention(NamedTuple):
    """An image tag as a document names it, with the repository where it says which."""

    name: str
    repository: str | None
    start: int
    end: int


class RowFacts(NamedTuple):
    """What one row says."""

    row: MarkdownRow
    table: MarkdownTable
    tags: tuple[TagMention, ...]  # of image repositories that the data know
    named: tuple[TagMention, ...]  # all tags, whatever their repository
    values: dict[str, CellVersion]  # by product
    build: tuple[ForgeReference, TextRun] | None  # the state of the build files that it links to


def read_rows(page: MarkdownPage, data: Lookups) -> list[RowFacts]:
    """Return what the rows of tables say, for every table with a column of a product or of tags; read once for a page."""
    if page.rows is None:
        page.rows = list(_read(page, data))
    return page.rows


def _read(page: MarkdownPage, data: Lookups) -> Iterator[RowFacts]:
    for table in page.tables:
        columns = columns_of(table, data)
        if not any(column.kind in ("product", "tags") for column in columns.values()):
            continue
        rows = [_facts(row, table, columns, data) for row in table.rows]
        ours = _is_ours(page, [tag for row in rows for tag in row.named], data)
        yield from (row if ours else row._replace(tags=()) for row in rows)


def _is_ours(page: MarkdownPage, tags: list[TagMention], data: Lookups) -> bool:
    """Return whether tags of a table are those of a repository that the data know.

    Most of them are known; or one is, or nearly is, in a document that names such a repository.
    """
    numbered = [tag for tag in tags if re.search(r"\d", tag.name)]
    listed = sum(1 for tag in numbered if data.image(tag.name, tag.repository))
    if any(tag.repository in data.repositories for tag in tags) or (listed and listed * 2 >= len(numbered)):
        return True
    named = any(repository in page.document.text for repository in data.repositories)
    return named and (listed > 0 or any(data.near(tag.name) for tag in numbered))


def columns_of(table: MarkdownTable, data: Lookups) -> dict[int, ColumnKind]:
    """Return what the columns of a table hold, as far as it can be told."""
    columns = {}
    for number, head in enumerate(table.head):
        cells = [cell for row in table.rows if (cell := table.cell(row, number)) and cell.text]
        column = _column(head, cells, data)
        if column:
            columns[number] = column
    return columns


def _column(head: TextRun, cells: list[TextRun], data: Lookups) -> ColumnKind | None:
    product = data.product(head.text)
    targets = [target for cell in cells for link in cell.links if (target := reference(link.target))]
    repositories = Counter(target.repository for target in targets)
    if repositories:
        repository = repositories.most_common(1)[0][0]
        linked = data.of_repository(repository)
        if linked is not None and (product is None or product.id != linked.id):
            product = linked  # "oneCCL" may head the versions of its bindings
        elif linked is None and product is None:
            return ColumnKind("build")
    if product is not None and product.role != Role.FEATURE:
        return ColumnKind("product", product)
    names = [name for cell in cells for name in tags_in(cell)]
    lookups = sum(1 for name in names if data.image(name.name, name.repository))
    versioned = sum(1 for name in names if re.search(r"\d\.\d", name.name))  # as tags are, and names of services are not
    is_listed = lookups and lookups * 2 >= len(names) and versioned * 2 >= len(names)
    return ColumnKind("tags") if (_TAGS.search(head.text) and names) or is_listed else None


def tags_in(cell: TextRun) -> list[TagMention]:
    """Return the tags that a cell names: its code spans, or its words where it has none."""
    tags = []
    for code in cell.codes or _words(cell):
        whole = code.text.strip()
        repository, colon, tag = whole.rpartition(":")
        name = tag if colon else whole
        if _TAG.fullmatch(name) and ("/" in repository or not colon):
            tags.append(TagMention(name, repository_name(repository) or None, code.end - len(name), code.end))
    return tags


def _words(cell: TextRun) -> list[CodeSpan]:
    return [
        CodeSpan(match[0], cell.start + match.start(), cell.start + match.end())
        for match in re.finditer(r"[\w./:-]+", cell.text)
        if re.search(r"\d", match[0]) and cell.end - cell.start == len(cell.text)
    ]


def _facts(row: MarkdownRow, table: MarkdownTable, columns: dict[int, ColumnKind], data: Lookups) -> RowFacts:
    tags: list[TagMention] = []
    values: dict[str, CellVersion] = {}
    build = None
    for number, column in columns.items():
        cell = table.cell(row, number)
        if cell is None or not cell.text:
            continue
        if column.kind == "tags":
            tags += tags_in(cell)
        elif column.kind == "build":
            build = next(((target, cell) for link in cell.links if (target := reference(link.target))), build)
        elif column.product and (value := _value(column.product, cell, data)) and column.product.id not in values:
            values[column.product.id] = value
    return RowFacts(row, table, tuple(tags), tuple(tags), values, build)


def _value(product: Product, cell: TextRun, data: Lookups) -> CellVersion | None:
    """Return the one version that a cell gives; None where it gives several, a range, or something else."""
    text = cell.text.strip().strip("[]")
    if not text or len(text) > 60:
        return None
    if product.scheme == "pep440" and not re.search(r"\d\.\d|^v\d", text):
        return None  # a bare number is a footnote as often as a version
    mask = data.mask(product, text)
    if mask or written(text) is not None:
        return CellVersion(product, text, mask, cell)
    bare = re.sub(r"^(?:[A-Za-z]+[- ]|[a-z]+_[a-z]+)(?=v?\d)", "", text)
    if bare != text and written(bare) is not None:
        return CellVersion(product, bare, data.mask(product, bare), cell)
    return None
