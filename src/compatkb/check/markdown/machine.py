"""Rules on table rows compared with what releases were verified with, and with known problems."""

from collections.abc import Iterator
from datetime import date

from compatkb.check.document import CheckContext
from compatkb.check.lookups import BUILT, Lookups, lookups, spelt, urls
from compatkb.check.markdown.rows import CellVersion, RowFacts, read_rows
from compatkb.check.markdown.stacks import at
from compatkb.check.markdown.text import PAGES, MarkdownPage
from compatkb.check.rules import CheckRule
from compatkb.core.findings import Finding, Severity
from compatkb.core.vocabulary import Kind, Role
from compatkb.store.records import Advisory

VERIFIED = CheckRule("driver-verified", Severity.INFO, "a driver that is not the one that the release was verified with")
ADVISORY = CheckRule("advisory", Severity.WARNING, "a known problem with a version, or with two versions together")

_GRAVE = ("security", "driver")


@PAGES.rule(VERIFIED, ADVISORY)
def check(page: MarkdownPage, context: CheckContext) -> Iterator[Finding]:
    """Yield drivers that the data contradict, and known problems of the versions that a page names."""
    data = lookups(context.facts)
    rows = [row for row in read_rows(page, data) if row.values]
    for row in rows:
        yield from _drivers(page, data, row, context)
    yield from _advisories(page, data, [row for row in rows if row.named], context)


def _drivers(page: MarkdownPage, data: Lookups, row: RowFacts, context: CheckContext) -> Iterator[Finding]:
    """Yield values of dimensions that are no platform, where a package of the row was verified with others alone."""
    image = data.speaker(row.tags, context.day)
    contents = data.contents(image) if image else {}
    packages = [value for value in row.values.values() if value.product.role in BUILT and value.mask]
    for value in row.values.values():
        product = value.product
        if product.role != Role.DIMENSION or product.platform or not value.mask:
            continue
        if (inside := contents.get(product.id)) and inside.mask:
            continue  # what the image holds is told by another rule, or agrees
        for package in packages:
            known = data.facts.edges(package.product.id, product.id)
            edges = [e for e in known if e.of_mask & package.mask and e.kind == Kind.VERIFIED]
            if not edges or any(edge.to_mask & value.mask for edge in edges):
                continue
            names = spelt(dict.fromkeys(edge.spec.removeprefix("==") for edge in edges))
            message = f"{package.product.name} {package.text} was verified with {product.name} {names}, not {value.text}"
            sources = dict.fromkeys(url for edge in edges[:3] for url in urls(data.facts.citations(edge.claim)))
            yield at(page, VERIFIED, value, message, tuple(sources), f"write {names}")


def _advisories(page: MarkdownPage, data: Lookups, rows: list[RowFacts], context: CheckContext) -> Iterator[Finding]:
    """Yield each known problem once, at the first row of an image that it concerns; other tables say what somebody uses."""
    for advisory in data.facts.advisories:
        if advisory.kind not in _GRAVE or advisory.since > context.day.toordinal():
            continue
        concerned = [value for row in rows if (value := _concerned(row, advisory))]
        if concerned:
            value = concerned[0]
            more = f" ({len(concerned)} rows)" if len(concerned) > 1 else ""
            message = f"{value.product.name} {value.text}{more}, since {date.fromordinal(advisory.since)}: {advisory.message}"
            yield at(page, ADVISORY, value, message, urls(advisory.sources))


def _concerned(row: RowFacts, advisory: Advisory) -> CellVersion | None:
    """Return the version of a row that a problem is about, where the row has the other one that it needs, too."""
    value = row.values.get(advisory.product)
    if value is None or not value.mask or value.mask & ~advisory.mask:
        return None
    if not advisory.to:
        return value
    other = row.values.get(advisory.to)
    return value if other and other.mask & advisory.to_mask else None
