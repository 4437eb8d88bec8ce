"""What counts higher came out later: within a series, and from the start of one series to the start of the next."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import date
from itertools import pairwise
from typing import Any, NamedTuple

from packaging.version import Version

from compatkb.authoring.knowledge_base import Knowledge, first_day
from compatkb.authoring.lint.subject import LintSubject
from compatkb.core.findings import Finding, Severity
from compatkb.core.versions import Key, Scheme, parse
from compatkb.schema import IndexFile, ProductHead

NAME, LEVEL = "release-order", Severity.ERROR
SUMMARY = "a release is older than a lower one of its series, or a series begins before a lower one"

_INDEX_SERIES = 2  # leading numbers that make a series of a distribution


class _Dated(NamedTuple):
    key: Any  # versions of one scheme, which compare
    version: str
    earliest: date
    latest: date
    written: bool = True  # by people, not read from the index


def check(subject: LintSubject) -> Iterator[Finding]:
    """Yield releases out of order; two devices may have lines of releases of their own."""
    if subject.knowledge is None:
        return
    for document, file in subject.products:
        if file.product.scheme is not Scheme.LISTED:
            numbers = {release.version: number for number, release in enumerate(file.release)}
            for late, before in _out_of_order(_products(subject.knowledge, file.product)):
                if late.version in numbers and (late.written or before.written):
                    where = ("release", numbers[late.version])
                    yield subject.finding(NAME, LEVEL, document, where, _message(late, before))
    for document, listed in subject.index:
        numbers = {release.version: number for number, release in enumerate(listed.release)}
        for late, before in _out_of_order(_index(listed)):
            where = ("release", numbers[late.version])
            yield subject.finding(NAME, LEVEL, document, where, _message(late, before))


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
