"""Rules on dates in table rows: impossible dates, and versions that are out of support."""

import re
from collections.abc import Iterator
from datetime import date

from compatkb.check.document import CheckContext
from compatkb.check.lookups import BUILT, LISTED_BEFORE, Lookups, lookups, urls
from compatkb.check.markdown.rows import RowFacts, TagMention, read_rows
from compatkb.check.markdown.text import PAGES, MarkdownPage, TextRun
from compatkb.check.rules import ENDED, CheckRule
from compatkb.core.findings import Finding, Severity
from compatkb.core.record import NamedTuple
from compatkb.store.queries.images import ImageBuildState, ImageRecord

IMPOSSIBLE = CheckRule(
    "date-impossible", Severity.INFO, "a day that cannot be, such as build files older than what they build"
)

BUILD = CheckRule(
    "image-build", Severity.INFO, "a row links to build files that are older than those which first have what its image holds"
)

_DAY = re.compile(r"(?<![\d-])(\d{4})-(\d{2})-(\d{2})(?![\d-])")
_DATED = re.compile(r"\b(date|day|released?( on)?|published)\b", re.IGNORECASE)


class Occurrence(NamedTuple):
    """Something in a row that may be out of support: a version that stands there, or one that its image holds."""

    product: str
    mask: int
    text: str
    inside: str  # the image that holds it, and how that is known; empty for what stands there
    start: int
    end: int


@PAGES.rule(IMPOSSIBLE, BUILD, ENDED)
def check(page: MarkdownPage, context: CheckContext) -> Iterator[Finding]:
    """Yield days of a page that cannot be, and ends of life, each once."""
    data = lookups(context.facts)
    rows = list(read_rows(page, data))
    for row in rows:
        yield from _builds(page, data, row, context)
        yield from _released(page, data, row, context)
    yield from _ended(page, data, rows, context)


def _builds(page: MarkdownPage, data: Lookups, row: RowFacts, context: CheckContext) -> Iterator[Finding]:
    """Yield build files that are older than something that they are said to install, or than those of the image."""
    if row.build is None or row.build[0].ref is None:
        return
    reference, cell = row.build
    state = data.states.get((reference.repository.lower(), reference.ref or ""))
    if state is None:
        return
    day_built = date.fromisoformat(state.on or "")
    built_values = [value for value in row.values.values() if value.mask and value.product.role in BUILT]
    firsts = [(day, value) for value in built_values if (day := data.earliest(value.product.id, value.mask))]
    late = [(day, value) for day, value in firsts if day > day_built.toordinal() + LISTED_BEFORE]
    built = _built(data, row, context)
    newer = built if built and date.fromisoformat(built.on or "") > day_built else None
    fix = f"link to {newer.ref}" if newer else None
    if not late:
        if newer:
            message = (
                f"the build files at {reference.ref} are older than {newer.ref}, the first that have what the image holds"
            )
            sources = urls(newer.sources)
            yield page.document.finding(BUILD, cell.start, cell.end, message, fix=fix, sources=sources, subject=cell.text)
        return
    day, value = max(late, key=lambda pair: pair[0])
    message = (
        f"the build files at {reference.ref} are of {day_built}, before {value.product.name} "
        f"{value.text} came out on {date.fromordinal(day)}, so they cannot have built it"
    )
    yield page.document.finding(
        IMPOSSIBLE, cell.start, cell.end, message, fix=fix, sources=urls(state.sources), subject=cell.text
    )


def _built(data: Lookups, row: RowFacts, context: CheckContext) -> ImageBuildState | None:
    """Return the state of the build files that the image of a row was made from, where it is known by the day asked about."""
    image = data.speaker(row.tags, context.day)
    built = image.built if image else None
    return built if built and built.ref and built.on and built.on <= context.day.isoformat() else None


def _released(page: MarkdownPage, data: Lookups, row: RowFacts, context: CheckContext) -> Iterator[Finding]:
    """Yield days in a column of days that are in no calendar, to come, or before the release that the row is about."""
    for number, head in enumerate(row.table.head):
        cell = row.table.cell(row.row, number)
        if cell is None or not _DATED.search(head.text) or not (match := _DAY.search(cell.text)):
            continue
        try:
            day = date(*map(int, match.groups()))
        except ValueError:
            yield _impossible(page, cell, f"{match[0]} is no day of the calendar")
            continue
        packages = [v for v in row.values.values() if v.mask and v.product.role in BUILT]
        firsts = [(first, v) for v in packages if (first := data.earliest(v.product.id, v.mask))]
        if day > context.day and not re.search(r"plan|expect", cell.text + head.text, re.IGNORECASE):
            yield _impossible(page, cell, f"{day} is yet to come")
        elif firsts and day.toordinal() + LISTED_BEFORE < (early := max(firsts, key=lambda pair: pair[0]))[0]:
            came = f"{early[1].product.name} {early[1].text} came out on {date.fromordinal(early[0])}"
            yield _impossible(page, cell, f"{day} is too early: {came}")


def _impossible(page: MarkdownPage, cell: TextRun, message: str) -> Finding:
    return page.document.finding(IMPOSSIBLE, cell.start, cell.end, message, subject=cell.text)


def _ended(page: MarkdownPage, data: Lookups, rows: list[RowFacts], context: CheckContext) -> Iterator[Finding]:
    """Yield each end of life of a product once, at the first place, with how many there are."""
    occurrences: dict[tuple[str, date], list[Occurrence]] = {}
    cited: dict[tuple[str, date], tuple[str, ...]] = {}
    for occurrence in _everything(data, rows, context.day, context.within):
        ended = data.ended(occurrence.product, occurrence.mask, context.day, context.within)
        if ended:
            key = (occurrence.product, ended[0])
            occurrences.setdefault(key, []).append(occurrence)
            cited[key] = ended[1]
    for key, places in occurrences.items():
        product, last = data.facts.products[key[0]], key[1]
        first = next((place for place in places if not place.inside), places[0])
        others = len({place.start for place in places}) - 1
        more = f"; so are {others} more places" if others > 1 else "; so is one more place" if others else ""
        own = first.text if first.text.startswith(product.name) else f"{product.name} {first.text}"
        name = f"{first.text}, which {first.inside}," if first.inside else own
        when = "is out of support since" if last < context.day else "is in support up to"
        message = f"{name} {when} {last}{more}"
        subject, about = f"{key[0]} {last}", "discontinued" if product.id in data.facts.successors else ""
        finding = page.document.finding(ENDED, first.start, first.end, message, sources=cited[key], subject=subject)
        yield finding._replace(about=about, brief=own)


def _everything(data: Lookups, rows: list[RowFacts], day: date, within: int) -> Iterator[Occurrence]:
    current = {  # tables of tags that have a system or Python of today list what there was before, too
        (id(row.table), product)
        for row in rows
        for product, value in row.values.items()
        if value.mask and data.ended(product, value.mask, day, within) is None
    }
    held = [(row, tag, data.contents(image)) for row in rows for image, tag in _speaking(row, data, day)]
    current |= {
        (id(row.table), product)
        for row, _, contents in held
        for product, occurrence in contents.items()
        if occurrence.mask and data.ended(product, occurrence.mask, day, within) is None
    }
    for row in rows:
        for value in row.values.values():
            listed = (row.tags or row.named) and (id(row.table), value.product.id) not in current
            if value.mask and listed:  # elsewhere a table says what was, or what somebody has tried
                yield Occurrence(value.product.id, value.mask, value.text, "", value.cell.start, value.cell.end)
    for row, tag, contents in held:
        for product, occurrence in contents.items():
            is_meant = data.facts.products[product].platform and (id(row.table), product) not in current
            if occurrence.mask and is_meant and product not in row.values:
                text = f"{data.facts.products[product].name} {data.names(product, occurrence.mask)[-1]}"
                how = "is inferred to hold" if occurrence.basis == "inferred" else "is said to hold"
                yield Occurrence(product, occurrence.mask, text, f"{tag.name} {how}", tag.start, tag.end)


def _speaking(row: RowFacts, data: Lookups, day: date) -> Iterator[tuple[ImageRecord, TagMention]]:
    """Yield the image that a row is about, with the tag that names it; none where it names none that is known."""
    if image := data.speaker(row.tags, day):
        yield from ((image, tag) for tag in row.tags if tag.name == image.name)
