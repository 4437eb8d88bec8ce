"""Rules on the tables themselves: their shape, and duplicate rows."""

import re
from collections.abc import Iterator

from compatkb.check.document import CheckContext
from compatkb.check.lookups import lookups
from compatkb.check.markdown.rows import columns_of
from compatkb.check.markdown.text import PAGES, MarkdownPage, MarkdownRow, MarkdownTable
from compatkb.check.rules import CheckRule
from compatkb.core.findings import Finding, Severity

SHAPE = CheckRule(
    "table-shape",
    Severity.INFO,
    "malformed table: header and delimiter row differ, or rows have cells that nobody sees",
    optional=True,
)
TWICE = CheckRule("row-twice", Severity.INFO, "a table has the same row twice", optional=True)


@PAGES.rule(SHAPE, TWICE)
def check(page: MarkdownPage, context: CheckContext) -> Iterator[Finding]:
    """Yield what is wrong with the tables of a page as such; those about products of the data alone."""
    data = lookups(context.facts)
    for wrong in page.broken_tables:
        heads = page.document.text[wrong.start : wrong.end].split("|")
        if any(data.product(head) or re.search(r"\btags?\b", head, re.IGNORECASE) for head in heads):
            columns = f"{wrong.head} column{'' if wrong.head == 1 else 's'}"
            message = f"malformed table: {columns} in its header and {wrong.below} in the delimiter row"
            yield page.document.finding(SHAPE, wrong.start, wrong.end, message, fix="give both lines the same number of cells")
    for table in page.tables:
        if not any(column.kind in ("product", "tags") for column in columns_of(table, data).values()):
            continue
        yield from _repeated(page, table)
        long = [row for row in table.rows if any(cell.text for cell in row.cells[len(table.head) :])]
        if long:
            more = f"; so do {len(long) - 1} more" if len(long) > 1 else ""
            width, cells = len(table.head), long[0].cells
            message = f"the row has {len(cells)} cells, the head of the table {width}; readers do not see those beyond{more}"
            place = (cells[width].start, cells[-1].end)
            yield page.document.finding(SHAPE, *place, message, fix=f"give the row {width} cells")


def _repeated(page: MarkdownPage, table: MarkdownTable) -> Iterator[Finding]:
    """Yield rows that stand twice; those of groups, under a heading or with their first cell left empty, may."""
    seen: dict[tuple[str, ...], MarkdownRow] = {}
    for row in table.rows:
        texts = tuple(cell.text for cell in row.cells)
        if sum(map(bool, texts)) == 1:
            seen = {}
        elif texts and texts[0] and any(mark.isdigit() for text in texts for mark in text):
            first = seen.setdefault(texts, row)
            if first is not row:
                message = f"this row is the same as that on line {first.line}"
                yield page.document.finding(TWICE, row.start, row.end, message, fix="remove one of them")
