"""Higher versions came out later, within a series and from series to series; nothing came out before what it is made of."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import date
from functools import partial
from itertools import pairwise
from typing import Any

from packaging.version import Version

from compatkb.authoring.knowledge_base import Knowledge, KnowledgeEdge, first_day, split_term
from compatkb.authoring.lint.subject import LintProblem, LintSubject, problems_of
from compatkb.core.record import NamedTuple
from compatkb.core.text_position import Where
from compatkb.core.versions import Key, Scheme, parse
from compatkb.schema import ImageFile, IndexFile, Kind, ProductHead

_INDEX_SERIES = 2  # leading numbers that make a series of a distribution


class _Dated(NamedTuple):
    key: Any  # versions of one scheme, which compare
    version: str
    earliest: date
    latest: date
    written: bool = True  # by people, not read from the index


def release_order(subject: LintSubject) -> Iterator[LintProblem]:
    """Yield releases out of order; two devices may have lines of releases of their own."""
    if subject.knowledge is None:
        return
    for document, file in subject.products:
        if file.product.scheme is not Scheme.LISTED:
            numbers = {release.version: number for number, release in enumerate(file.release)}
            for late, before in _out_of_order(_products(subject.knowledge, file.product)):
                if late.version in numbers and (late.written or before.written):
                    yield LintProblem(document, ("release", numbers[late.version]), _message(late, before))
    for document, listed in subject.index:
        numbers = {release.version: number for number, release in enumerate(listed.release)}
        for late, before in _out_of_order(_index(listed)):
            yield LintProblem(document, ("release", numbers[late.version]), _message(late, before))


def _message(late: _Dated, before: _Dated) -> str:
    return f"{late.version} came out on {late.latest}, and {before.version} only on {before.earliest}"


def _out_of_order(series: Iterable[dict[tuple[object, ...], list[_Dated]]]) -> Iterator[tuple[_Dated, _Dated]]:
    """Yield what came out too early, with the lower one that came out later; each once."""
    reported: set[str] = set()
    for line in series:
        ordered = [sorted(dated) for dated in line.values()]
        starts = sorted(dated[0] for dated in ordered)
        for before, late in (pair for dated in (*ordered, starts) for pair in pairwise(dated)):
            if late.latest < before.earliest and late.version not in reported:
                reported.add(late.version)
                yield late, before


def _products(knowledge: Knowledge, product: ProductHead) -> Iterator[dict[tuple[object, ...], list[_Dated]]]:
    """Yield for each device the dated releases of a product by series."""
    releases_by_device: dict[str, dict[Key, _Dated]] = defaultdict(dict)
    for element in knowledge.elements[product.id]:
        earliest, latest = first_day(element)
        if earliest is None or latest is None or (element.build and element.build.released):
            continue
        key = parse(product.scheme, element.release.version)
        written = element.release.released is not None
        for device in element.build.devices if element.build else ("",):
            releases_by_device[device][key] = _Dated(key, element.release.version, earliest, latest, written)
    length = 1 if product.scheme is Scheme.MINOR else product.series
    for dated in releases_by_device.values():
        yield _by_series(dated.values(), length)


def _index(file: IndexFile) -> Iterator[dict[tuple[object, ...], list[_Dated]]]:
    releases = []
    for release in file.release:
        try:
            key = parse(Scheme.PEP440, release.version)
        except ValueError:
            continue  # rule `versions` says so
        releases.append(_Dated(key, release.version, release.uploaded.date(), release.uploaded.date()))
    yield _by_series(releases, _INDEX_SERIES)


def _by_series(releases: Iterable[_Dated], length: int) -> dict[tuple[object, ...], list[_Dated]]:
    series: dict[tuple[object, ...], list[_Dated]] = defaultdict(list)
    for dated in releases:
        numbers = dated.key.release if isinstance(dated.key, Version) else dated.key
        series[tuple(numbers[:length])].append(dated)
    return series


def before_required(subject: LintSubject) -> Iterator[LintProblem]:
    """Yield exact requirements, and contents of images, that were not out yet."""
    knowledge = subject.knowledge
    if knowledge is None:
        return
    for edge in knowledge.edges:
        if edge.kind not in (Kind.NEEDS, Kind.CONSTRAINS) or "==" not in edge.spec:
            continue
        first = _first(knowledge, edge.to, edge.to_mask)
        if first is None:
            continue
        early = list(_earlier(knowledge, edge, first))
        if not early:
            continue
        message = f"{early[0]}, and {edge.to}{edge.spec} only on {first}"
        cited = knowledge.claims[edge.claim]
        if edge.claim in subject.claims:
            yield LintProblem(*subject.claims[edge.claim], message, sources=cited.sources)
        elif place := subject.requirement(edge):
            yield LintProblem(place.document, place.where, message, sources=cited.sources)
    yield from problems_of(subject.images, partial(_images, knowledge))


def _first(knowledge: Knowledge, product: str, mask: int) -> date | None:
    """Return the first day on which one of these can have been out, None where any of them has no date."""
    days = [first_day(element)[0] for element in knowledge.of_mask(product, mask)]
    known = [day for day in days if day]
    return min(known) if known and len(known) == len(days) else None


def _earlier(knowledge: Knowledge, edge: KnowledgeEdge, first: date) -> Iterator[str]:
    for element in knowledge.of_mask(edge.of, edge.of_mask):
        last = first_day(element)[1]
        if last and last < first:
            yield f"{edge.of} {element.version} came out on {last}"


def _images(knowledge: Knowledge, file: ImageFile) -> Iterator[tuple[Where, str]]:
    days = {revision.n: revision.at.date() for revision in file.revision}
    listed: dict[str, date] = {}
    for listing in file.listing:
        for name in listing.tags:
            shown = [days[first] for first, _ in listing.runs if first in days]
            listed[name] = min([*shown, *([listed[name]] if name in listed else [])], default=date.max)
    for number, tag in enumerate(file.tag):
        for position, held in enumerate(tag.contains):
            product, spec = split_term(held.is_)
            if product not in knowledge.products:
                continue  # rule `references` says so
            first = _first(knowledge, product, knowledge.matching(product, spec))
            if first and tag.name in listed and listed[tag.name] < first:
                message = f"{tag.name} was listed on {listed[tag.name]}, and {held.is_} came out only on {first}"
                yield ("tag", number, "contains", position), message
