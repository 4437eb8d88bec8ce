"""Tables as such: their shape, and rows that are there twice."""

from collections.abc import Iterator

from compatkb.check.document import CheckContext
from compatkb.check.markdown.text import PAGES, MarkdownPage, MarkdownTable, TableRow
from compatkb.check.rules import CheckRule
from compatkb.core.findings import Finding, Severity

SHAPE = CheckRule(
    "table-shape",
    Severity.WARNING,
    "malformed table: header and delimiter row differ, or a row has the wrong number of cells",
)
TWICE = CheckRule("row-twice", Severity.WARNING, "a table has the same row twice")


@PAGES.rule(SHAPE, TWICE)
def check(page: MarkdownPage, context: CheckContext) -> Iterator[Finding]:
    """Yield what is wrong with the tables of a page as such."""
    del context
    for wrong in page.broken_tables:
        message = f"malformed table: {_columns(wrong.head)} in its header and {wrong.below} in the delimiter row"
        yield page.document.finding(SHAPE, wrong.start, wrong.end, message, fix="give both lines the same number of cells")
    for table in page.tables:
        yield from _rows(page, table)


def _rows(page: MarkdownPage, table: MarkdownTable) -> Iterator[Finding]:
    seen: dict[tuple[str, ...], TableRow] = {}
    width = len(table.head)
    for row in table.rows:
        yield from _cells(page, row, width)
        texts = tuple(cell.text for cell in row.cells)
        if any(texts) and len(texts) > 1 and any(mark.isdigit() for text in texts for mark in text):
            first = seen.setdefault(texts, row)
            if first is not row:
                message = f"this row is the same as that on line {first.line}"
                yield page.document.finding(TWICE, row.start, row.end, message, fix="remove one of them")


def _cells(page: MarkdownPage, row: TableRow, width: int) -> Iterator[Finding]:
    """Yield a row whose cells differ in number from the head; one that is a heading over all columns is left alone."""
    count = len(row.cells)
    text = page.document.text[row.start : row.end]
    place = (row.start, row.end)
    if count > width:
        message = f"the row has {count} cells, the head of the table {width}; readers do not see those beyond"
        place = (row.cells[width].start, row.cells[-1].end)
    elif count == 1 and "|" not in text:
        message = "this line has no cells and follows a table, so it is shown as a row of it"
    elif 1 < count < width:
        message = f"the row has {count} cells, the head of the table {width}; what follows may stand in the wrong column"
    else:
        return
    fix = f"give the row {width} cells" if "|" in text else "put an empty line before it"
    yield page.document.finding(SHAPE, *place, message, fix=fix)


def _columns(count: int) -> str:
    return f"{count} column" if count == 1 else f"{count} columns"
