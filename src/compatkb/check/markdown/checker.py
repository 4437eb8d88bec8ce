"""The reviewer of Markdown documents: reads a page once, and asks every module that has rules for it."""

from collections import Counter
from collections.abc import Iterator

from compatkb.check.document import CheckContext, TextDocument
from compatkb.check.files import UNREADABLE
from compatkb.check.markdown import days, images, installs, links, machine, prose, runs, stacks, tables  # noqa: F401 - they register
from compatkb.check.markdown.text import PAGES, read_page
from compatkb.check.rules import CheckRule
from compatkb.core.findings import Finding

MOST = 500
"""More findings of one rule in one document are counted, not shown."""

_DOUBTS = {rule.id for rule in (stacks.CONTENTS, stacks.TOGETHER, stacks.UNKNOWN)}
"""Rules that doubt the text of a cell: then a link is not changed to agree with it."""

RULES: tuple[CheckRule, ...] = tuple(PAGES.rules)


def check(document: TextDocument, context: CheckContext) -> Iterator[Finding]:
    """Yield what is wrong with a Markdown document."""
    page = read_page(document)
    if page.unread is not None:
        message = f"the document is very long; it was read up to line {page.unread - 1}"
        yield Finding(UNREADABLE.id, UNREADABLE.level, document.path, page.unread, message)
    counts: Counter[str] = Counter()
    found = []
    for check_page in PAGES.checks:
        for finding in check_page(page, context):
            counts[finding.rule] += 1
            if counts[finding.rule] <= MOST:
                found.append(finding)
    if page.unjudged:
        message = f"too many version combinations; {page.unjudged} were not checked"
        found.append(Finding(UNREADABLE.id, UNREADABLE.level, document.path, 0, message))
    doubted = {(f.line, f.column) for f in found if f.rule in _DOUBTS}
    for finding in found:
        doubtful = finding.edits and (finding.line, finding.column) in doubted
        yield finding._replace(edits=()) if doubtful else finding
    for rule in RULES:
        if counts[rule.id] > MOST:
            message = f"{counts[rule.id] - MOST} more findings of this rule in this document are not shown"
            yield Finding(rule.id, rule.level, document.path, 0, message)
