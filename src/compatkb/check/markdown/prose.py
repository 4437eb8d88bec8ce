"""Rules on sentences: versions that were never released, and pairs that do not work together."""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from compatkb.check.document import CheckContext
from compatkb.check.lookups import BUILT, VERSION, Lookups, lookups, written
from compatkb.check.markdown.stacks import denial
from compatkb.check.markdown.text import PAGES, MarkdownPage
from compatkb.check.rules import CheckRule
from compatkb.core.findings import Finding, Severity
from compatkb.store.records import Product

TOGETHER = CheckRule(
    "text-together", Severity.INFO, "a sentence puts versions together that do not work together", optional=True
)
UNKNOWN = CheckRule(
    "text-version", Severity.INFO, "a sentence names a version that does not exist (by a complete list)", optional=True
)

_VERSION = re.compile(rf"(?<![\w.+/=-]){VERSION.pattern}(?![\w/*])")
_SENTENCE = re.compile(r"(?<=[.!?;])\s++|\n(?=[ \t]*+[-*])")
_MARKS = re.compile(r"[*_`\\\[\]()®™,:]+")
# few pages get as far as these, so `re` compiles them when they do
_JOINS = r"(?i)\b(with|and|on|for|requires?|needs?|beside|uses?|built|plus|by|supports?)\b|[+&/]"
_APART = (
    r"(?i)\b(not|no|never|cannot|n't|don't|doesn't|instead|from|to|until|before|after|older|newer|earlier|later|or|than|fails?|"
    r"failed|breaks?|broken|incompatible|conflicts?|migrat\w+|upgrad\w+|downgrad\w+|replac\w+|unlike|versus|vs|while|but|"
    r"without|if)\b"
)
_SPAN = r"(?i)\s*(?:[-–—+]|or (?:newer|later|above|higher|greater)|and (?:newer|later|above|up)|to\b|x\b)"
_BEFORE = r"(?i)(?:[<>=~^≥≤]|\b(?:than|before|since|from|after|until|to|below|above))\s*$"
_MOST = 5  # words of a product's name
_LONG = 5_000


class Mention(NamedTuple):
    """A product with a version in a sentence."""

    product: Product
    text: str
    mask: int
    start: int
    end: int


@PAGES.rule(TOGETHER, UNKNOWN)
def check(page: MarkdownPage, context: CheckContext) -> Iterator[Finding]:
    """Yield what the sentences of a page say that the data contradict."""
    data = lookups(context.facts)
    for piece in page.pieces:
        source = page.document.text[piece.start : piece.end]
        if len(source) > _LONG or not _VERSION.search(source):
            continue
        place = 0
        for sentence in _SENTENCE.split(source):
            place = source.index(sentence, place)
            mentions = list(_mentions(sentence, piece.start + place, data))
            yield from _unknown(page, data, mentions, context)
            yield from _together(page, sentence, piece.start + place, mentions, context)
            place += len(sentence)


def _mentions(sentence: str, base: int, data: Lookups) -> Iterator[Mention]:
    """Yield the versions that stand right behind the name of a product; ranges and bounds are left out."""
    for match in _VERSION.finditer(sentence):
        start = base + match.start()
        before = sentence[: match.start()]
        if "." not in match["numbers"] or re.match(_SPAN, sentence[match.end() :]) or re.search(_BEFORE, before):
            continue
        words = _MARKS.sub(" ", before).split()
        words = words[:-1] if words and words[-1].lower() in ("version", "release", "versions", "v") else words
        for size in range(min(_MOST, len(words)), 0, -1):
            product = data.facts.product(" ".join(words[-size:]))
            if product and product.role in BUILT and product.scheme == "pep440":
                text = match[0].rstrip(".")
                yield Mention(product, text, data.mask(product, text), start, start + len(text))
                break


def _newest(data: Lookups, product: Product) -> int:
    """Return the first number of the newest release."""
    releases = (written(element.release) for element in data.facts.elements(product.id))
    return max((release.numbers[0] for release in releases if release), default=0)


def _unknown(page: MarkdownPage, data: Lookups, mentions: list[Mention], context: CheckContext) -> Iterator[Finding]:
    for mention in mentions:
        version = written(mention.text)
        if mention.mask or version is None or "-" in mention.text or version.numbers[0] > _newest(data, mention.product):
            continue  # the version of somebody's image, of an extension, of what else the sentence is about
        if data.is_passed(mention.product, mention.text):
            continue
        sources = data.covered(mention.product, mention.text, context.clock.lists_until)
        if sources is not None:
            message = f"{mention.product.name} has no release {mention.text} (the release list is complete)"
            place = (mention.start, mention.end)
            yield page.document.finding(UNKNOWN, *place, message, sources=sources, subject=mention.text)


def _together(
    page: MarkdownPage, sentence: str, base: int, mentions: list[Mention], context: CheckContext
) -> Iterator[Finding]:
    """Yield neighbours in a sentence that it joins, and that do not work together."""
    for one, other in pairwise(mentions):
        between = sentence[one.end - base : other.start - base]
        if one.product.id == other.product.id or not (one.mask and other.mask) or len(between.split()) > 12:
            continue
        if not re.search(_JOINS, between) or re.search(_APART, sentence):
            continue
        if denied := denial(page, context, *((mention.product.id, mention.text, mention.mask) for mention in (one, other))):
            names = f"{one.product.name} {one.text} and {other.product.name} {other.text}"
            message = f"{names} do not work together: {denied.reason}"
            yield page.document.finding(TOGETHER, other.start, other.end, message, sources=denied.sources, subject=names)
