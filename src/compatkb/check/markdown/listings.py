"""Rules on tables of images: builds, the makers' own lists, and rows that sibling tables have."""

import re
from collections.abc import Iterator
from datetime import date
from functools import reduce
from operator import or_
from typing import NamedTuple

from compatkb.check.document import CheckContext
from compatkb.check.lookups import BUILT, Lookups, lookups, spelt, urls
from compatkb.check.markdown.rows import CellVersion, RowFacts, TagMention, read_rows
from compatkb.check.markdown.text import PAGES, MarkdownPage
from compatkb.check.rules import CheckRule
from compatkb.core.findings import Finding, Severity
from compatkb.core.vocabulary import Certainty, Kind
from compatkb.store.queries.images import ContentRecord, ImageRecord
from compatkb.store.records import Product

LABEL = CheckRule(
    "image-build-label", Severity.INFO, "rows name a release, and their images hold a maker's own build of it", optional=True
)
UNTESTED = CheckRule(
    "versions-untested", Severity.INFO, "a version that the maker's list of what was tested leaves out", optional=True
)
MISSING = CheckRule("row-missing", Severity.INFO, "a table leaves out an image whose siblings the page has", optional=True)
ALONE = CheckRule("image-base-missing", Severity.INFO, "a page has an image, and not the base of its release", optional=True)
OPEN = CheckRule(
    "image-open", Severity.INFO, "a row names a version that the build files of its image leave open", optional=True
)

_NUMBERS = re.compile(r"(?:[a-z]+-)*(\d+(?:\.\d+)+)")


class RowVersion(NamedTuple):
    """A version of a product: one that a row gives, or that its image is known to hold."""

    product: Product
    text: str
    mask: int
    value: CellVersion | None  # None where the row does not name it


@PAGES.rule(LABEL, UNTESTED, MISSING, ALONE, OPEN)
def check(page: MarkdownPage, context: CheckContext) -> Iterator[Finding]:
    """Yield where tables of images leave out what the data know of them."""
    data = lookups(context.facts)
    rows = read_rows(page, data)
    yield from _labels(page, data, rows, context)
    yield from _open(page, data, rows, context)
    messages: set[str] = set()
    for row in rows:
        for finding in _untested(page, data, row, context):
            if finding.message not in messages:
                messages.add(finding.message)
                yield finding
    yield from _siblings(page, data, rows, context)


def _speaker(data: Lookups, row: RowFacts, context: CheckContext) -> tuple[ImageRecord, TagMention] | None:
    image = data.speaker(row.tags, context.day)
    tag = next((tag for tag in row.tags if image and tag.name == image.name), None)
    return (image, tag) if image and tag else None


# -- builds --------------------------------------------------------------------------------------------------------------


def _labels(page: MarkdownPage, data: Lookups, rows: list[RowFacts], context: CheckContext) -> Iterator[Finding]:
    """Yield, once for a product, rows that name a release although the maker built its own."""
    places_by_product: dict[str, list[tuple[CellVersion, str, ImageRecord]]] = {}
    for row in rows:
        speaker = _speaker(data, row, context)
        for product, part in data.contents(speaker[0]).items() if speaker else ():
            value = row.values.get(product)
            if speaker and value and value.mask & part.mask and (build := _own_build(data, value, part)):
                places_by_product.setdefault(product, []).append((value, build, speaker[0]))
    for places in places_by_product.values():
        value, build, image = places[0]
        more = f", and so with {len(places) - 1} more rows" if len(places) > 1 else ""
        how = "is inferred to hold" if data.contents(image)[value.product.id].basis == "inferred" else "holds"
        message = f"{image.name} {how} {value.product.name} {build}, which is another build than {value.text}{more}"
        cell, fix, sources = value.cell, f"write {build}", urls(image.sources)
        yield page.document.finding(LABEL, cell.start, cell.end, message, fix=fix, sources=sources, subject=value.product.id)


def _own_build(data: Lookups, value: CellVersion, part: ContentRecord) -> str | None:
    """Return the version of what an image holds, where its numbers are not those of the release that a row names."""
    elements = data.facts.elements(part.product).of(part.mask)
    written = value.text.removeprefix("v").partition("+")[0]
    if not elements or any(element.version.partition("+")[0] == written for element in elements):
        return None
    return elements[-1].version if all(element.release == written for element in elements) else None


def _open(page: MarkdownPage, data: Lookups, rows: list[RowFacts], context: CheckContext) -> Iterator[Finding]:
    """Yield versions of rows that the build files of their images install without one: a day of building decides."""
    for row in rows:
        speaker = _speaker(data, row, context)
        for product, part in data.contents(speaker[0]).items() if speaker else ():
            value = row.values.get(product)
            if speaker and value and not part.spec and part.basis == "inferred":
                message = (
                    f"the build files of {speaker[0].name} install {value.product.name} in any version, not in {value.text}"
                )
                cell = value.cell
                sources, fix = urls(speaker[0].sources), "pin it there"
                yield page.document.finding(OPEN, cell.start, cell.end, message, fix=fix, sources=sources, subject=value.text)


# -- makers' lists ---------------------------------------------------------------------------------------------------------


def _untested(page: MarkdownPage, data: Lookups, row: RowFacts, context: CheckContext) -> Iterator[Finding]:
    """Yield the first pair of a row and its image of which neither maker tested the other, although one has a list."""
    held = {v.product.id: RowVersion(v.product, v.text, v.mask, v) for v in row.values.values() if v.mask}
    speaker = _speaker(data, row, context)
    for product, part in data.contents(speaker[0]).items() if speaker else ():
        if part.mask:
            name = data.names(product, part.mask)[-1]
            held.setdefault(product, RowVersion(data.facts.products[product], name, part.mask, None))
    packages = [one for one in held.values() if one.product.role in BUILT]
    for one in packages:
        for other in packages:
            if one is other or not (tested := _tested(data, one, other, speaker[0].device if speaker else "")):
                continue
            cell = one.value or other.value
            start, end = (
                (cell.cell.start, cell.cell.end) if cell else (speaker[1].start, speaker[1].end) if speaker else (0, 0)
            )
            inside = f", which {speaker[0].name} holds," if speaker and not one.value else ""
            beside = f", which {speaker[0].name} holds" if speaker and not other.value else ""
            message = (
                f"{one.product.name} {one.text}{inside} was tested with {other.product.name} {tested[0]}, "
                f"not with {other.text}{beside}; that it fails is not said"
            )
            yield page.document.finding(UNTESTED, start, end, message, sources=tested[1], subject=one.text)
            return


def _tested(data: Lookups, one: RowVersion, other: RowVersion, device: str) -> tuple[str, tuple[str, ...]] | None:
    """Return what a maker tested a version with, and the sources, where that leaves out the whole series of the other one."""
    edges = [e for e in data.facts.edges(one.product.id, other.product.id) if e.of_mask & one.mask]
    back = [e for e in data.facts.edges(other.product.id, one.product.id) if e.of_mask & other.mask and e.to_mask & one.mask]
    lists = [e for e in edges if e.kind == Kind.VERIFIED and e.stated and (not e.devices or device in ("", *e.devices))]
    lists = [e for e in lists if e.level == Certainty.CERTAIN]
    if not lists or any(e.kind == Kind.NEEDS for e in edges) or any(e.kind in (Kind.VERIFIED, Kind.NEEDS) for e in back):
        return None
    mask = reduce(or_, (edge.to_mask for edge in lists), 0)
    names = data.names(other.product.id, mask)
    if {_series(name) for name in names} & {_series(name) for name in data.names(other.product.id, other.mask)}:
        return None
    from compatkb.output.messages import claim_sources

    sources = tuple(dict.fromkeys(url for edge in lists[:3] for url in urls(claim_sources(data.facts, edge.claim))))
    return spelt(names[-5:]), sources


def _series(release: str) -> str:
    return ".".join(release.split(".")[:2])


# -- siblings --------------------------------------------------------------------------------------------------------------


class _Kind(NamedTuple):
    """What the images of one table of a maker have in common."""

    repository: str
    device: str
    option: str | None
    flavour: str | None


class _Listed(NamedTuple):
    row: RowFacts
    tag: TagMention
    image: ImageRecord


def _siblings(page: MarkdownPage, data: Lookups, rows: list[RowFacts], context: CheckContext) -> Iterator[Finding]:
    """Yield releases that a flavour leaves out although it had them, and flavours of releases that have no base."""
    listed: dict[_Kind, dict[str, _Listed]] = {}
    for row in rows:
        for tag in row.tags:
            image = data.image(tag.name, tag.repository)
            if image and (numbers := _NUMBERS.match(image.name)):
                kind = _Kind(image.repository, image.device, image.option, image.flavour)
                listed.setdefault(kind, {}).setdefault(numbers[1], _Listed(row, tag, image))
    known = _known(data, context.day)
    for kind, own in listed.items():
        yield from _dropped(page, kind, own, listed, known.get(kind, {}))
        base = listed.get(kind._replace(flavour="base"))
        if base is None or kind.flavour == "base":
            continue
        for release, one in own.items():
            if release not in base:
                message = f"{one.tag.name} is here, and no base image of {release} as other releases have one"
                yield page.document.finding(ALONE, one.tag.start, one.tag.end, message, subject=one.tag.name)


def _known(data: Lookups, day: date) -> dict[_Kind, dict[str, ImageRecord]]:
    images_by_kind: dict[_Kind, dict[str, ImageRecord]] = {}
    for images in data.images.values():
        for image in images:
            listed = any(first <= day.toordinal() for first, _ in image.runs)
            if listed and (numbers := _NUMBERS.match(image.name)):
                kind = _Kind(image.repository, image.device, image.option, image.flavour)
                images_by_kind.setdefault(kind, {}).setdefault(numbers[1], image)
    return images_by_kind


def _dropped(
    page: MarkdownPage,
    kind: _Kind,
    own: dict[str, _Listed],
    listed: dict[_Kind, dict[str, _Listed]],
    known: dict[str, ImageRecord],
) -> Iterator[Finding]:
    """Yield images between those of a table that it does not have, although another flavour has the release."""
    others = {numbers for other, named in listed.items() if other != kind and other[:3] == kind[:3] for numbers in named}
    gone = [image for numbers, image in known.items() if numbers not in own and numbers in others and _between(numbers, own)]
    if gone:
        head = next(iter(own.values())).row.table.head
        names = spelt(sorted(image.name for image in gone))
        were = "was" if len(gone) == 1 else "were"
        message = f"the table leaves out {names}, which {were} listed; other images of the release are here"
        yield page.document.finding(
            MISSING, head[0].start, head[-1].end, message, sources=urls(gone[0].sources), subject=names
        )


def _between(numbers: str, others: dict[str, _Listed]) -> bool:
    """Return whether a release lies within a row of releases."""
    here, there = _parts(numbers), [_parts(other) for other in others]
    return bool(there) and min(there) <= here <= max(there)


def _parts(numbers: str) -> tuple[int, ...]:
    return tuple(map(int, numbers.split(".")))
