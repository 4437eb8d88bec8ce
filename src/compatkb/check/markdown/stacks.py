"""Rules on table rows: versions beside each other, other rows, contents of images, verified drivers, known problems."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any

from compatkb.check.document import CheckContext
from compatkb.check.lookups import BUILT, LISTED_BEFORE, Lookups, lookups, spelt, urls, written
from compatkb.check.markdown.rows import CellVersion, RowFacts, read_rows
from compatkb.check.markdown.text import PAGES, MarkdownPage
from compatkb.check.project.queries import AllowedVersions, Denial, queries_of
from compatkb.check.rules import CheckRule
from compatkb.core.findings import Finding, Severity
from compatkb.core.vocabulary import Kind, Role
from compatkb.store.queries.images import ContentRecord
from compatkb.store.records import Advisory

TOGETHER = CheckRule("versions-together", Severity.INFO, "the versions of a row do not work together")
DIFFER = CheckRule("versions-differ", Severity.INFO, "two rows give one release different versions of the same thing")
CONTENTS = CheckRule("image-contents", Severity.INFO, "a row contradicts what its image is known to hold")
DISPUTED = CheckRule("image-disputed", Severity.INFO, "a row takes the side of a dispute that was decided against")

MOST_QUESTIONS = 150
"""Combinations of versions that are judged in one document."""


@PAGES.rule(TOGETHER, DIFFER, CONTENTS, DISPUTED)
def check(page: MarkdownPage, context: CheckContext) -> Iterator[Finding]:
    """Yield where the rows of a page contradict each other, the data, or themselves."""
    data = lookups(context.facts)
    rows = [row for row in read_rows(page, data) if row.values]
    for row in rows:
        yield from _contents(page, data, row, context)
        yield from _together(page, data, row, context)
    yield from _differ(page, data, rows, context)


def at(
    page: MarkdownPage,
    rule: CheckRule,
    value: CellVersion,
    message: str,
    sources: tuple[str, ...] = (),
    fix: str | None = None,
) -> Finding:
    """Return a finding about a version that a row gives."""
    start, end = value.cell.start, value.cell.end
    return page.document.finding(rule, start, end, message, fix=fix, sources=sources, subject=value.text)


# -- images --------------------------------------------------------------------------------------------------------------


def _contents(page: MarkdownPage, data: Lookups, row: RowFacts, context: CheckContext) -> Iterator[Finding]:
    image = data.speaker(row.tags, context.day)
    if image is None:
        return
    for product, contents in data.contents(image).items():
        value = row.values.get(product)
        if value is None or not contents.mask or value.mask & contents.mask:
            continue
        if not value.mask and not _is_another(value.text, contents.spec):
            continue
        from compatkb.output.disputes import DisputeFinder

        about = DisputeFinder(data.facts).of_name(f"{image.repository}:{image.name}")
        how = "is inferred to hold" if contents.basis == "inferred" else "is said to hold"
        message = f"{image.name} {how} {value.product.name} {_spec(contents.spec)}, not {value.text}"
        fix = f"write {_in_style(_spec(contents.spec), value.text)}"
        decided = next((d for d in about if _takes(d, contents, value)), None)
        if decided:
            cited = tuple(one["url"] or one["text"] for side in decided["positions"] for one in side["sources"])
            message = f"sources disagree on {decided['about']}; decided: {decided['holds']}; this row has {value.text}"
            yield at(page, DISPUTED, value, message, tuple(dict.fromkeys(cited)), fix)
        elif not about:
            yield at(page, CONTENTS, value, message, urls(image.sources), fix)


def _is_another(text: str, spec: str) -> bool:
    """Return whether a version that the data do not know is as exact as the one that an image holds, and not it."""
    given, held = written(text), written(_spec(spec))
    if given is None or held is None:
        return False
    return len(given.numbers) == len(held.numbers) and given.numbers != held.numbers


def _takes(dispute: Mapping[str, Any], contents: ContentRecord, value: CellVersion) -> bool:
    """Return whether a dispute was decided for what the data hold, and a row has one of the other positions."""
    numbers = value.text.removeprefix("v").partition("+")[0]
    held = _spec(contents.spec).partition("+")[0]
    spoken = any(_says(side["text"], numbers) for side in dispute["positions"])
    return spoken and dispute["holds"] is not None and _says(dispute["decision"], held)


def _says(text: str, numbers: str) -> bool:
    return re.search(rf"(?<![\d.]){re.escape(numbers)}(?!\.?\d)", text) is not None


def _in_style(version: str, other: str) -> str:
    """Return a version as the table writes its versions: with a `v` and a label where another one has them."""
    head = "v" if other.startswith("v") else ""
    return head + (version if "+" in other else version.partition("+")[0])


def _spec(spec: str) -> str:
    return spec.removeprefix("==").removesuffix(".*")


# -- pairs ---------------------------------------------------------------------------------------------------------------


def _together(page: MarkdownPage, data: Lookups, row: RowFacts, context: CheckContext) -> Iterator[Finding]:
    chosen = [v for v in row.values.values() if v.mask and (v.product.role in BUILT or v.product.scheme == "minor")]
    coming = [data.earliest(value.product.id, value.mask) for value in chosen if value.product.role in BUILT]
    if any(day and context.day.toordinal() < day <= context.day.toordinal() + LISTED_BEFORE for day in coming):
        return  # an image may be listed shortly before what it holds comes out
    if len(chosen) < 2 or not (refusal := denial(page, context, *((v.product.id, v.text, v.mask) for v in chosen))):
        return
    last = next((v for v in reversed(chosen) if v.product.id in refusal.products), chosen[-1])
    versions = spelt(f"{v.product.name} {v.text}" for v in chosen if v.product.id in refusal.products)
    yield at(page, TOGETHER, last, f"{versions} do not work together: {refusal.reason}", refusal.sources)


def denial(page: MarkdownPage, context: CheckContext, *versions: tuple[str, str, int]) -> Denial | None:
    """Return why versions, each a product, its text and its elements, do not work together; None where they may."""
    if versions not in page.questions and len(page.questions) >= MOST_QUESTIONS:
        page.unjudged += 1
        return None
    page.questions.add(versions)
    page.queries = page.queries or queries_of(context)
    allowed = [AllowedVersions(product, f"=={text.removeprefix('v')}", mask, exact=True) for product, text, mask in versions]
    refusal: Denial | None = page.queries.denial(allowed)
    return None if refusal and refusal.unbuilt else refusal


def _differ(page: MarkdownPage, data: Lookups, rows: list[RowFacts], context: CheckContext) -> Iterator[Finding]:
    """Yield rows that give a release another version of something than an earlier row gives it."""
    first: dict[tuple[str, int, str], tuple[RowFacts, CellVersion]] = {}
    for row, main in _mains(rows):
        for product, value in row.values.items():
            if product == main.product.id or not value.mask or value.product.platform:
                continue
            before, other = first.setdefault((main.product.id, main.mask, product), (row, value))
            held, here = (_held(data, one, product, context) for one in (before, row))
            if held and held.mask and not held.mask & other.mask:
                continue  # the earlier row is the wrong one, and told as that
            is_confirmed = held and held.spec and held.mask & other.mask and here and here.spec and here.mask & value.mask
            if other.mask & value.mask or is_confirmed:
                continue
            line = page.document.place(other.cell.start).line
            release = f"{main.product.name} {main.text}"
            message = f"for {release}, line {line} has {value.product.name} {other.text}, this row {value.text}"
            yield at(page, DIFFER, value, message)


def _held(data: Lookups, row: RowFacts, product: str, context: CheckContext) -> ContentRecord | None:
    """Return what the image of a row is known to hold of a product."""
    image = data.speaker(row.tags, context.day)
    return data.contents(image).get(product) if image else None


def _mains(rows: list[RowFacts]) -> Iterator[tuple[RowFacts, CellVersion]]:
    """Yield rows with the release that each is about: that which its tag begins with, of the product that most tags do."""
    fitting = [(row, [value for value in row.values.values() if _names(row, value)]) for row in rows]
    counts = Counter(value.product.id for _, values in fitting for value in values)
    for row, values in fitting:
        if values:
            yield row, max(values, key=lambda value: counts[value.product.id])


def _names(row: RowFacts, value: CellVersion) -> bool:
    numbers = value.text.removeprefix("v").partition("+")[0]
    named = any(tag.name == numbers or tag.name.startswith(f"{numbers}-") for tag in row.tags)
    return named and bool(value.mask) and value.product.role in BUILT


VERIFIED = CheckRule("driver-verified", Severity.INFO, "a driver that is not the one that the release was verified with")
ADVISORY = CheckRule("advisory", Severity.WARNING, "a known problem with a version, or with two versions together")

_GRAVE = ("security", "driver")


@PAGES.rule(VERIFIED, ADVISORY)
def check_machine(page: MarkdownPage, context: CheckContext) -> Iterator[Finding]:
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
