"""Rules on image tags: whether they were ever listed, their spelling, and whether they stand in the right place."""

import re
from collections import Counter
from collections.abc import Iterator

from compatkb.check.document import CheckContext
from compatkb.check.lookups import Lookups, lookups, urls
from compatkb.check.markdown.rows import TagMention, read_rows
from compatkb.check.markdown.text import PAGES, MarkdownPage
from compatkb.check.rules import UNLISTED, CheckRule
from compatkb.core.findings import Finding, Severity
from compatkb.core.names import meant_words

SPELLING = CheckRule("image-tag-spelling", Severity.INFO, "a part of an image tag is nearly a word that other tags have")

_WORD = re.compile(r"[a-z]{2,}")


@PAGES.rule(UNLISTED, SPELLING)
def check(page: MarkdownPage, context: CheckContext) -> Iterator[Finding]:
    """Yield what is wrong with the image tags of a page."""
    data = lookups(context.facts)
    rows = read_rows(page, data)
    tags = [*(tag for row in rows for tag in row.tags), *_mentions(page, data)]
    yield from _known(page, data, tags, context)
    yield from _spelling(page, data, tags)


def _mentions(page: MarkdownPage, data: Lookups) -> Iterator[TagMention]:
    """Yield tags that are named with a repository that the data know, in code and in text."""
    for repository in (one for one in data.repositories if one in page.document.text):
        for match in re.finditer(rf"(?<![\w.-]){re.escape(repository)}:(?P<tag>[\w][\w.-]*[\w])", page.document.text):
            yield TagMention(match["tag"], repository, match.start("tag"), match.end("tag"))


def _known(page: MarkdownPage, data: Lookups, tags: list[TagMention], context: CheckContext) -> Iterator[Finding]:
    for tag in tags:
        if tag.name in data.images or (tag.repository is not None and tag.repository not in data.repositories):
            continue
        if near := data.misspelt(tag.name, context.clock.lists_until):
            repository = tag.repository or " or ".join(data.repositories)
            message = f"{tag.name} was never listed as a tag of {repository}; no registry was asked"
            yield page.document.finding(UNLISTED, tag.start, tag.end, message, fix=f"did you mean {near}?", subject=tag.name)
        elif tag.repository and _is_run(page, tag) and (never := data.never_built(tag.repository, tag.name)):
            finding = page.document.finding(UNLISTED, tag.start, tag.end, never, subject=tag.name)
            yield finding._replace(level=Severity.ERROR)


def _is_run(page: MarkdownPage, tag: TagMention) -> bool:
    """Return whether a tag stands in a block of code, which readers run; in a sentence it may be what never was."""
    lines = (line for block in page.codes for line in block.lines)
    return any(start <= tag.start < start + len(text) for start, text in lines)


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
