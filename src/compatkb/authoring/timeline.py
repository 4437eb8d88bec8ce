"""Resolves the dates of timeline events: their own, or those of the release or end of life that they name."""

from collections import Counter
from datetime import date

from compatkb.authoring.knowledge_base import Knowledge, end_of_life, first_day, split_term
from compatkb.authoring.loader import DataProblem
from compatkb.core.record import NamedTuple
from compatkb.schema import EventEntry, EventKind, SourceEntry, TimelineFile

FILE = "timeline.toml"


class Dated(NamedTuple):
    """An event with the first and the last day on which it can have happened, inclusive, and its sources."""

    event: EventEntry
    first: date
    last: date
    precision: str  # day, month, quarter, half, year, end-of-month ..., or bounds
    basis: str | None
    product: str | None
    version: str | None
    sources: tuple[SourceEntry, ...]


class _Moment(NamedTuple):
    first: date
    last: date
    precision: str
    basis: str | None
    sources: tuple[SourceEntry, ...]


def date_events(knowledge: Knowledge, problems: list[DataProblem]) -> list[Dated]:
    """Return the events, oldest first; what is wrong with the others goes into `problems`, a line each."""
    file = knowledge.files.timeline
    if file is None:
        return []
    problems += _references(file)
    events = []
    for event in file.event:
        wrong: list[str] = []
        dated = _dated(knowledge, file, event, wrong)
        problems += [DataProblem(FILE, ("event", event.id), text) for text in wrong]
        if dated:
            events.append(dated)
    lanes = [vendor.id for vendor in file.vendor]
    order = {vendor: number for number, vendor in enumerate(lanes)}
    return sorted(events, key=lambda d: (d.first, d.last, order.get(d.event.who, len(lanes)), d.event.id))


def _references(file: TimelineFile) -> list[DataProblem]:
    """Return what is named and not there, or there twice."""
    wrong: list[DataProblem] = []
    for what, names in (
        ("vendor", [v.id for v in file.vendor]),
        ("event", [e.id for e in file.event]),
    ):
        wrong += [
            DataProblem(FILE, (what, name), "the id is used twice") for name, times in Counter(names).items() if times > 1
        ]
    vendors = {v.id for v in file.vendor}
    for event in file.event:
        record = ("event", event.id)
        if event.who not in vendors:
            known = ", ".join(v.id for v in file.vendor)
            wrong.append(DataProblem(FILE, record, f"{event.who} is no vendor; known: {known}"))
        unknown = [name for name in event.sources if name not in file.source]
        wrong += [DataProblem(FILE, record, f"{name} is no source of this file") for name in unknown]
    return wrong


def _dated(knowledge: Knowledge, file: TimelineFile, event: EventEntry, wrong: list[str]) -> Dated | None:
    cited = tuple(file.source[name] for name in event.sources if name in file.source)
    product = version = None
    derived: _Moment | None = None
    if event.of:
        product, version = _named(knowledge, event, wrong)
        if product is None:
            return None
        derived = _derived(knowledge, event.kind, product, version)
    if event.dated:
        first, last = event.span
        if derived and (event.kind is not EventKind.MILESTONE or (first, last) == (derived.first, derived.last)):
            wrong.append(f"its date is that of {event.of}, so leave out its own")
        precision = "bounds" if event.after else event.precision
        return Dated(event, first, last, precision, None, product, version, cited)
    if derived is None:
        wrong.append(f"{event.of} has no date that can be taken over; give one")
        return None
    sources = tuple(dict.fromkeys((*cited, *derived.sources)))
    return Dated(event, derived.first, derived.last, derived.precision, derived.basis, product, version, sources)


def _named(knowledge: Knowledge, event: EventEntry, wrong: list[str]) -> tuple[str | None, str | None]:
    """Return the product and the one release that an event names; both None where they are not to be had."""
    assert event.of
    product, spec = split_term(event.of)
    if product not in knowledge.products:
        wrong.append(f"{product} is no product")
        return None, None
    if not spec:
        if event.kind is EventKind.END_OF_LIFE:
            return product, None
        wrong.append(f"{event.of} names no release; only an end of life can be that of a whole product")
        return None, None
    try:
        mask = knowledge.matching(product, spec)
    except ValueError as error:
        wrong.append(str(error))
        return None, None
    names = {element.release.version for element in knowledge.of_mask(product, mask)}
    if len(names) != 1:
        wrong.append(f"{event.of} names {'no known release' if not names else 'more than one release'}")
        return None, None
    return product, names.pop()


def _derived(knowledge: Knowledge, kind: EventKind, product: str, version: str | None) -> _Moment | None:
    """Return when the release came out, or when the support of the release or product ended."""
    head = knowledge.products[product]
    element = next((e for e in knowledge.elements[product] if e.release.version == version), None)
    if kind is EventKind.END_OF_LIFE:
        end = end_of_life(head, element.release) if element else head.eol
        if end is None:
            return None
        precision = "day" if end.precision == "day" else f"end-of-{end.precision}"
        return _Moment(end.end, end.end, precision, "documentation", knowledge.cited(product, end.sources))
    if element is None:
        return None
    moment = element.release.released
    first, last = (moment.on or moment.after, moment.on or moment.by) if moment else first_day(element)
    if first is None or last is None:
        return None
    if moment:
        return _Moment(
            first, last, "day" if first == last else "bounds", moment.basis, knowledge.cited(product, moment.sources)
        )
    assert element.published
    return _Moment(first, last, "day", "first-upload", (knowledge.index_source(element.published),))
