"""Rules on image tags: whether they were ever listed, their spelling, and whether they stand in the right place."""

import re
from collections import Counter
from collections.abc import Iterator
from datetime import date

from compatkb.check.document import CheckContext
from compatkb.check.lookups import Lookups, lookups, urls
from compatkb.check.markdown.rows import RowFacts, TagMention, read_rows
from compatkb.check.markdown.text import PAGES, MarkdownPage
from compatkb.check.rules import GONE, UNLISTED, CheckRule
from compatkb.core.findings import Finding, Severity
from compatkb.core.spelling import meant_words

SPELLING = CheckRule("image-tag-spelling", Severity.INFO, "a part of an image tag is nearly a word that other tags have")
TWICE = CheckRule("image-tag-twice", Severity.INFO, "an image tag stands on several rows", optional=True)

_WORD = re.compile(r"[a-z]{2,}")


@PAGES.rule(UNLISTED, SPELLING, GONE, TWICE)
def check(page: MarkdownPage, context: CheckContext) -> Iterator[Finding]:
    """Yield what is wrong with the image tags of a page."""
    data = lookups(context.facts)
    rows = read_rows(page, data)
    tags = [*(tag for row in rows for tag in row.tags), *_mentions(page, data)]
    yield from _known(page, data, tags, context)
    yield from _spelling(page, data, tags)
    yield from _twice(page, rows)


def _mentions(page: MarkdownPage, data: Lookups) -> Iterator[TagMention]:
    """Yield tags that are named with a repository that the data know, in code and in text."""
    for repository in data.repositories:
        for match in re.finditer(rf"(?<![\w.-]){re.escape(repository)}:(?P<tag>[\w][\w.-]*[\w])", page.document.text):
            yield TagMention(match["tag"], repository, match.start("tag"), match.end("tag"))


def _known(page: MarkdownPage, data: Lookups, tags: list[TagMention], context: CheckContext) -> Iterator[Finding]:
    day = context.day.toordinal()
    for tag in tags:
        if tag.repository is not None and tag.repository not in data.repositories:
            continue
        images = data.images.get(tag.name, ())
        if not images:
            if near := data.misspelt(tag.name, context.clock.lists_until):
                repository = tag.repository or " or ".join(data.repositories)
                message = f"{tag.name} was never listed as a tag of {repository}; no registry was asked"
                fix = f"did you mean {near}?"
                yield page.document.finding(UNLISTED, tag.start, tag.end, message, fix=fix, subject=tag.name)
            continue
        runs = [run for image in images for run in image.runs]
        if runs and not any(first <= day <= last for first, last in runs):
            past = [last for _, last in runs if last < day]
            when = f"was last listed on {date.fromordinal(max(past))}" if past else "is listed later than this day only"
            message, sources = f"{tag.name} {when}", urls(images[0].sources)
            yield page.document.finding(GONE, tag.start, tag.end, message, sources=sources, subject=tag.name)


def _spelling(page: MarkdownPage, data: Lookups, tags: list[TagMention]) -> Iterator[Finding]:
    if not tags:
        return
    counts = Counter(word for name in data.images for word in _WORD.findall(name))
    fresh = {tag.name for tag in tags} - set(data.images)
    counts.update(word for name in fresh for word in _WORD.findall(name))
    fields = {image.device for images in data.images.values() for image in images}
    wrong = {word: right for word, right in meant_words(counts).items() if word not in fields and len(word) > 3}
    for tag in tags:
        words = [word for word in _WORD.findall(tag.name) if word in wrong]
        if not words or not (image := data.image(tag.name)):
            continue  # one that was never listed is told as that
        right = tag.name
        for word in words:
            right = re.sub(rf"(?<![a-z]){word}(?![a-z])", wrong[word], right)
        message = f"{words[0]!r} in {tag.name} is nearly {wrong[words[0]]!r}, which {counts[wrong[words[0]]]} tags have"
        fix = f"if {right} can be pulled, name that; the listings that the data know spell it as it stands here"
        yield page.document.finding(
            SPELLING, tag.start, tag.end, message, fix=fix, sources=urls(image.sources), subject=tag.name
        )


def _twice(page: MarkdownPage, rows: list[RowFacts]) -> Iterator[Finding]:
    first: dict[tuple[str | None, str], RowFacts] = {}
    for row in rows:
        for tag in row.named:
            if tag not in row.tags and tag.repository is None:
                continue  # a name in a column may be that of anything
            if not row.values and tag.start >= row.row.cells[0].end:
                continue  # a list of services and what they run
            other = first.setdefault((tag.repository, tag.name), row)
            texts = [cell.text for cell in row.row.cells]
            if other is row or texts == [cell.text for cell in other.row.cells]:
                continue  # a row that is there twice is told as that
            if row.table is not other.table and not _contradict(row, other):
                continue  # a table of other columns may say more of the same tag
            message = f"{tag.name} stands on line {other.row.line} already; a tag is one image"
            yield page.document.finding(TWICE, tag.start, tag.end, message, fix="leave it on one row", subject=tag.name)


def _contradict(row: RowFacts, other: RowFacts) -> bool:
    """Return whether two rows of one tag say different things: in columns of one kind, or of one product."""
    if [cell.text for cell in row.table.head] == [cell.text for cell in other.table.head]:
        return bool(row.tags)
    both = [(value, other.values[product]) for product, value in row.values.items() if product in other.values]
    return any(one.mask and two.mask and not one.mask & two.mask for one, two in both)
