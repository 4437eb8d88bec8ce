"""Checks a Markdown document, or the text cells of a notebook: parses it once and runs every module that has rules for it."""

import re
from collections import Counter
from collections.abc import Iterator

from compatkb.check.document import CheckContext, TextDocument
from compatkb.check.files import UNREAD
from compatkb.check.markdown import commands, days, images, links, stacks
from compatkb.check.markdown.text import PAGES, read_page
from compatkb.check.rules import ENDED, CheckRule
from compatkb.core.findings import Edit, Finding
from compatkb.parsers.scripts import cells
from compatkb.parsers.source import Fragment, Segment, SourceFile, TreeError

_LINE = re.compile(r"\bline (\d+)\b")


def markdown_of_notebook(document: TextDocument) -> Fragment:
    """Return the text cells of a notebook, one after the other; those of code are read as what they install."""
    source = SourceFile(document.path, document.text)
    pieces: list[Segment] = []
    try:
        for cell in cells(source, "markdown"):
            pieces += [*cell.segments(), Segment("\n\n", cell.origin(len(cell.text)))]
    except TreeError:
        pass  # told by the reader of its code
    return Fragment(source, pieces)


def moved(document: TextDocument, inner: TextDocument, fragment: Fragment, findings: Iterator[Finding]) -> Iterator[Finding]:
    """Yield findings about the Markdown at their places in the document; edits only where it has the same letters."""
    source = fragment.source

    def named(match: re.Match[str]) -> str:
        return f"line {source.place(min(fragment.origin(inner.offset(int(match[1]))), len(source.text))).line}"

    for finding in findings:
        finding = finding._replace(message=_LINE.sub(named, finding.message))
        if not finding.line or finding.column is None:
            yield finding._replace(edits=())
            continue
        size = len(source.text)  # marks that the file does not have may reach beyond its end
        start = min(fragment.origin(inner.offset(finding.line, finding.column)), size)
        end = start + 1
        if finding.end_column is not None:
            end = fragment.origin(max(inner.offset(finding.line, finding.end_column) - 1, 0)) + 1
        place, last = source.place(start), source.place(min(max(start, end), size))
        edits = tuple(_moved_edit(document, inner, fragment, edit) for edit in finding.edits)
        yield finding._replace(
            line=place.line,
            column=place.column,
            end_column=last.column if last.line == place.line else None,
            edits=tuple(edit for edit in edits if edit) if all(edits) else (),
        )


def _moved_edit(document: TextDocument, inner: TextDocument, fragment: Fragment, edit: Edit) -> Edit | None:
    start = fragment.origin(edit.start)
    end = start + edit.end - edit.start
    same = fragment.source.text == document.text and document.text[start:end] == inner.text[edit.start : edit.end]
    return Edit(start, end, edit.text) if same and re.fullmatch(r"[\w.+:/%=-]*", edit.text) else None


TOPICS = (commands, days, images, links, stacks)
"""The modules whose checks are in `PAGES` once they are imported; a new one is named here."""

MOST = 500
"""More findings of one rule in one document are counted, not shown."""

_DOUBTS = {rule.id for rule in (stacks.CONTENTS, stacks.TOGETHER)}
"""Rules that doubt the text of a cell: then a link is not changed to agree with it."""

_SUREST = (stacks.CONTENTS, stacks.DISPUTED, stacks.TOGETHER, stacks.VERIFIED, stacks.DIFFER)
_OF_ROWS = [rule.id for rule in _SUREST]
"""Rules that doubt a row, the surest foremost: what is wrong with one row is one finding."""

RULES: tuple[CheckRule, ...] = tuple(PAGES.rules)


def check(document: TextDocument, context: CheckContext) -> Iterator[Finding]:
    """Yield what is wrong with a document."""
    if not document.path.lower().endswith(".ipynb"):
        yield from _checked(document, context)
    elif (fragment := markdown_of_notebook(document)).text:
        inner = TextDocument(document.path, fragment.text)
        yield from moved(document, inner, fragment, _checked(inner, context))


def _checked(document: TextDocument, context: CheckContext) -> Iterator[Finding]:
    page = read_page(document)
    if page.unread is not None:
        message = f"the document is very long; it was read up to line {page.unread - 1}"
        yield Finding(UNREAD.id, UNREAD.level, document.path, page.unread, message)
    counts: Counter[str] = Counter()
    findings = []
    for check_page in PAGES.checks:
        for finding in check_page(page, context):
            counts[finding.rule] += 1
            if counts[finding.rule] <= MOST:
                findings.append(finding)
    if page.unjudged:
        message = f"too many version combinations; {page.unjudged} were not checked"
        findings.append(Finding(UNREAD.id, UNREAD.level, document.path, 0, message))
    findings = _one_a_version(_one_a_row(findings))
    doubted = {(f.line, f.column) for f in findings if f.rule in _DOUBTS}
    for finding in findings:
        doubtful = finding.edits and (finding.line, finding.column) in doubted
        yield finding._replace(edits=()) if doubtful else finding
    for rule in RULES:
        if counts[rule.id] > MOST:
            message = f"{counts[rule.id] - MOST} more findings of this rule in this document are not shown"
            yield Finding(rule.id, rule.level, document.path, 0, message)


def _one_a_version(findings: list[Finding]) -> list[Finding]:
    """Return findings with the end of life of a version and what else is wrong with it as one."""
    ended = {(f.line, f.column): f for f in findings if f.rule == ENDED.id}
    others = []
    for finding in findings:
        end = ended.get((finding.line, finding.column))
        if end and finding.rule == stacks.ADVISORY.id:
            sources = tuple(dict.fromkeys((*end.sources, *finding.sources)))
            ended[finding.line, finding.column] = end._replace(message=f"{end.message}; {finding.message}", sources=sources)
        elif not end or finding.rule != ENDED.id:
            others.append(finding)
    return [*others, *ended.values()]


def _one_a_row(findings: list[Finding]) -> list[Finding]:
    """Return findings, of those that doubt one row the first of the surest rule alone."""
    first: dict[int, Finding] = {}
    doubts = [finding for finding in findings if finding.rule in _OF_ROWS]
    for finding in sorted(doubts, key=lambda finding: _OF_ROWS.index(finding.rule)):
        first.setdefault(finding.line, finding)
    return [finding for finding in findings if finding.rule not in _OF_ROWS or first[finding.line] is finding]
