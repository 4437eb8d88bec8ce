"""The timeline: which events a reader asked for, and how they stand in text, JSON and Markdown."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, timedelta
from typing import Any

from compatkb.core.record import NamedTuple
from compatkb.errors import UsageError
from compatkb.output.documents import CitedSource, Edition, source_payloads
from compatkb.output.screen import Line, columns, wrapped
from compatkb.output.writers import Block, Bullets, Inline, Links, Paragraph, Span, Table, render
from compatkb.store.queries.disputes import DisputeRecord
from compatkb.store.reader import Snapshot
from compatkb.store.records import Event, picked

PAST, UNCERTAIN, PLANNED = "past", "uncertain", "planned"
KINDS = ("release", "milestone", "end-of-life")


class Timeline(NamedTuple):
    """Events, oldest first, as known on a day, the names of the vendors whose they may be, and what is disputed, by event."""

    vendors: Mapping[str, str]
    events: tuple[Event, ...]
    disputes: Mapping[str, Sequence[DisputeRecord]]
    day: date
    edition: Edition

    def disputed(self, event: Event) -> Iterator[tuple[DisputeRecord, str]]:
        """Yield the disputes about an event, each with what its sides say."""
        for dispute in self.disputes.get(event.id, ()):
            yield dispute, "; ".join(position.text for position in dispute.positions)

    def marks(self, event: Event) -> list[str]:
        """Return what a reader must know beside the title: `planned`, `uncertain`, `disputed`."""
        states = [] if state(event, self.day) == PAST else [state(event, self.day)]
        return [*states, "disputed"] if self.disputes.get(event.id) else states


def select(
    facts: Snapshot,
    day: date,
    since: date | None = None,
    until: date | None = None,
    vendors: Sequence[str] = (),
    kinds: Sequence[str] = (),
) -> Timeline:
    """Return the events between two days, both inclusive, as known on `day`, oldest first.

    What lies after `day` is there only if it was announced by then. Raises UsageError for a vendor that the data do not
    know, and where `since` is after `until`.
    """
    for vendor in vendors:
        if vendor not in facts.vendors:
            known = ", ".join(facts.vendors) or "none"
            raise UsageError(f"unknown vendor {vendor!r}; known: {known}")
    if since and until and since > until:
        raise UsageError(f"the timeline cannot start on {since} and end on {until}")
    events = tuple(
        event
        for event in facts.events
        if (not vendors or event.vendor in vendors)
        and (not kinds or event.kind in kinds)
        and (since is None or event.last >= since.toordinal())
        and (until is None or event.first <= until.toordinal())
        and (event.first <= day.toordinal() or (event.announced is not None and event.announced <= day.toordinal()))
    )
    return Timeline(facts.vendors, events, facts.event_disputes, day, Edition(facts.meta["data_date"], day))


def parse_bound(text: str, *, end: bool) -> date:
    """Return the first day, or with `end` the last one, of a day, month or year; raises UsageError."""
    match = re.fullmatch(r"(\d{4})(?:-(\d{2}))?(?:-(\d{2}))?", text)
    try:
        if not match:
            raise ValueError
        year, month, on = (int(part) if part else None for part in match.groups())
        if on:
            return date(int(year or 0), int(month or 0), on)
        if not end:
            return date(int(year or 0), month or 1, 1)
        last = month or 12
        return date(int(year or 0) + last // 12, last % 12 + 1, 1) - timedelta(days=1)
    except ValueError:
        raise UsageError(f"{text!r} is not a date; write it as YYYY-MM-DD, YYYY-MM or YYYY") from None


def state(event: Event, day: date) -> str:
    """Return `past`, `planned`, or `uncertain` where the event can lie on either side of `day`."""
    if event.last <= day.toordinal():
        return PAST
    return PLANNED if event.first > day.toordinal() else UNCERTAIN


def date_text(event: Event) -> str:
    """Return the date no more precise than it is known: a day, 2026-03, 2026-Q1, 2026-H2, 2026, or two days."""
    first, last = date.fromordinal(event.first), date.fromordinal(event.last)
    if event.precision == "bounds":
        return f"{first} to {last}"
    prefix, precision = "", event.precision
    if precision.startswith("end-of-"):
        prefix, precision = "end of ", precision.removeprefix("end-of-")
    year = f"{first.year:04d}"
    texts = {
        "month": f"{year}-{first.month:02d}",
        "quarter": f"{year}-Q{(first.month + 2) // 3}",
        "half": f"{year}-H{(first.month + 5) // 6}",
        "year": year,
    }
    return prefix + texts.get(precision, first.isoformat())


_WORDS = {"release": "released", "milestone": "milestone", "end-of-life": "end of life"}


def text(timeline: Timeline, *, why: bool = False) -> list[Line]:
    """Return the events, a line each; with `why` their notes, disputes and sources too."""
    rows = []
    for event in timeline.events:
        title = " ".join([event.title, *(f"[{mark}]" for mark in timeline.marks(event))])
        rows.append((date_text(event), timeline.vendors[event.vendor], _WORDS[event.kind], title))
    lines = columns(rows, indent=0) if rows else [Line("no events")]
    more = [] if why or not rows else ["--why: sources"]
    if why:
        lines = [each for event, line in zip(timeline.events, lines, strict=False) for each in (line, *_why(timeline, event))]
    return [*lines, *timeline.edition.footer(*more)]


def _why(timeline: Timeline, event: Event) -> Iterator[Line]:
    if event.note:
        yield from wrapped(f"note: {event.note}", "    ")
    for dispute, sides in timeline.disputed(event):
        yield from wrapped(f"disputed: {dispute.about}: {sides}", "    ")
        yield from wrapped(f"decided {dispute.decided}: {dispute.decision} ({dispute.reason})", "      ")
    yield from (Line(f"    source: {url or cited}") for cited, url in event.sources)


def payload(timeline: Timeline) -> str:
    """Return the events as JSON."""
    content = {
        "vendors": [{"id": vendor, "name": name} for vendor, name in timeline.vendors.items()],
        "events": [_event(event, timeline) for event in timeline.events],
    }
    return timeline.edition.document(content)


def _event(event: Event, timeline: Timeline) -> dict[str, Any]:
    return {
        **picked(event, "id vendor kind title"),
        "date": date_text(event),
        "first_day": date.fromordinal(event.first).isoformat(),
        "last_day": date.fromordinal(event.last).isoformat(),
        **picked(event, "precision basis"),
        "state": state(event, timeline.day),
        "announced": date.fromordinal(event.announced).isoformat() if event.announced else None,
        **picked(event, "product version note"),
        "disputes": [
            {
                **picked(dispute, "id about"),
                "positions": [position.text for position in dispute.positions],
                **picked(dispute, "decision reason decided"),
                "sources": source_payloads(dispute.sources),
            }
            for dispute in timeline.disputes.get(event.id, ())
        ],
        "sources": source_payloads(event.sources),
    }


def markdown(timeline: Timeline) -> str:
    """Return the events as a Markdown table with numbered links to the sources."""
    return render(blocks(timeline), Links())


def blocks(timeline: Timeline, *, names_vendors: bool = True) -> list[Block]:
    """Return the events as a table, and below it what is disputed."""
    rows: list[tuple[Inline, ...]] = []
    for event in timeline.events:
        title = " ".join([event.title, *(f"({mark})" for mark in timeline.marks(event))])
        who = (timeline.vendors[event.vendor],) if names_vendors else ()
        rows.append((date_text(event), *who, event.kind, title, numbered(event.sources)))
    notes = tuple(
        f"{event.title}: {dispute.about}: {sides}. Decided {dispute.decided}: {dispute.decision}. {dispute.reason}"
        for event in timeline.events
        for dispute, sides in timeline.disputed(event)
    )
    head = ("date", *(("who",) if names_vendors else ()), "kind", "event", "sources")
    disputed: list[Block] = [Paragraph("Disputed:"), Bullets(notes)] if notes else []
    return [Table(head, tuple(rows)), *disputed]


def numbered(sources: Iterable[CitedSource]) -> Inline:
    """Return sources as numbered links."""
    pieces: list[str | Span] = []
    for number, (text, url) in enumerate(sources, 1):
        pieces += [", ", Span(str(number), url) if url else text.partition(": ")[0]]  # a file of an index has no page
    return tuple(pieces[1:])
