"""Within a series, what counts higher came out later; two devices may have lines of releases of their own."""

from collections import defaultdict
from collections.abc import Iterator
from datetime import date
from typing import NamedTuple

from packaging.version import Version

from compatkb.findings import Finding, Severity
from compatkb.knowledge import Knowledge, first_day
from compatkb.lint.subject import Subject
from compatkb.models import Product
from compatkb.versions import Key, Scheme, parse

NAME, LEVEL = "release-order", Severity.ERROR
SUMMARY = "a release is older than a lower one of its series"


class _Dated(NamedTuple):
    version: str
    earliest: date
    latest: date


def check(subject: Subject) -> Iterator[Finding]:
    """Yield releases that came out before a lower one of the same series and device."""
    if subject.knowledge is None:
        return
    for document, file in subject.products:
        if file.product.scheme is Scheme.LISTED:
            continue
        numbers = {release.version: number for number, release in enumerate(file.release)}
        reported: set[str] = set()
        for line in _lines(subject.knowledge, file.product):
            before: _Dated | None = None
            for dated in line:
                if before and dated.latest < before.earliest and dated.version in numbers and dated.version not in reported:
                    reported.add(dated.version)
                    message = f"{dated.version} came out on {dated.latest}, and {before.version} only on {before.earliest}"
                    yield subject.finding(NAME, LEVEL, document, ("release", numbers[dated.version]), message)
                if before is None or dated.earliest > before.earliest:
                    before = dated


def _lines(knowledge: Knowledge, product: Product) -> Iterator[list[_Dated]]:
    """Yield the dated releases of each series and device, lowest first."""
    found: dict[tuple[object, ...], dict[Key, _Dated]] = defaultdict(dict)
    for element in knowledge.elements[product.id]:
        key = parse(product.scheme, element.release.version)
        earliest, latest = first_day(element)
        if earliest is None or latest is None or (element.build and element.build.released):
            continue
        numbers = key.release if isinstance(key, Version) else key
        for device in element.build.devices if element.build else ("",):
            series = (device, *numbers[: product.series])
            found[series][key] = _Dated(element.release.version, earliest, latest)
    for dated in found.values():
        yield [dated[key] for key in sorted(dated)]
