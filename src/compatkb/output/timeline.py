"""The timeline: which events a reader asked for, and how they stand in text, JSON, Markdown and Mermaid."""

import re
from collections.abc import Iterable, Sequence
from datetime import date, timedelta
from typing import Any

from compatkb.errors import UsageError
from compatkb.output.citations import source_payloads
from compatkb.output.document_model import Block, Bullets, Inline, Paragraph, Span, Table
from compatkb.output.json_document import Edition
from compatkb.output.writers import Links, render
from compatkb.store.reader import Snapshot
from compatkb.store.records import Event, picked

PAST, UNCERTAIN, PLANNED = "past", "uncertain", "planned"
KINDS = ("release", "milestone", "end-of-life")
TITLE = "Enablement of PyTorch: releases, milestones and ends of life"


def select(
    facts: Snapshot,
    day: date,
    since: date | None = None,
    until: date | None = None,
    vendors: Sequence[str] = (),
    kinds: Sequence[str] = (),
) -> tuple[Event, ...]:
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
    return tuple(
        event
        for event in facts.events
        if (not vendors or event.vendor in vendors)
        and (not kinds or event.kind in kinds)
        and (since is None or event.last >= since.toordinal())
        and (until is None or event.first <= until.toordinal())
        and (event.first <= day.toordinal() or (event.announced is not None and event.announced <= day.toordinal()))
    )


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


def marks(event: Event, day: date) -> tuple[str, ...]:
    """Return what a reader must know beside the title: `planned`, `uncertain`, `disputed`."""
    states = [] if state(event, day) == PAST else [state(event, day)]
    return (*states, "disputed") if event.disputes else tuple(states)


def text(facts: Snapshot, events: Sequence[Event], day: date) -> str:
    """Return the events as a list with disputes and sources."""
    lines = [TITLE if events else "no event that the data know of"]
    width = max((len(date_text(event)) for event in events), default=0)
    owner = max((len(name) for name in facts.vendors.values()), default=0)
    for event in events:
        more = "".join(f" [{mark}]" for mark in marks(event, day))
        lines.append(
            f"{date_text(event):<{width}}  {facts.vendors[event.vendor]:<{owner}}  {event.kind:<11}  {event.title}{more}"
        )
        if event.note:
            lines.append(f"    note: {event.note}")
        for dispute in event.disputes:
            lines.append(f"    disputed: {dispute['about']}: {'; '.join(dispute['positions'])}")
            lines.append(f"      decided {dispute['decided']}: {dispute['decision']} ({dispute['reason']})")
        lines += [f"    source: {url or cited}" for cited, url in event.sources]
    return "\n".join([*lines, Edition(facts.meta["data_date"], day).foot])


def payload(facts: Snapshot, events: Sequence[Event], day: date) -> str:
    """Return the events as JSON."""
    content = {
        "vendors": [{"id": vendor, "name": name} for vendor, name in facts.vendors.items()],
        "events": [_event(event, day) for event in events],
    }
    return Edition(facts.meta["data_date"], day).document(content)


def _event(event: Event, day: date) -> dict[str, Any]:
    return {
        **picked(event, "id vendor kind title"),
        "date": date_text(event),
        "first_day": date.fromordinal(event.first).isoformat(),
        "last_day": date.fromordinal(event.last).isoformat(),
        **picked(event, "precision basis"),
        "state": state(event, day),
        "announced": date.fromordinal(event.announced).isoformat() if event.announced else None,
        **picked(event, "product version note"),
        "disputes": [{**d, "sources": source_payloads(d["sources"])} for d in event.disputes],
        "sources": source_payloads(event.sources),
    }


def markdown(facts: Snapshot, events: Sequence[Event], day: date) -> str:
    """Return the events as a Markdown table with numbered links to the sources."""
    rows: list[tuple[Inline, ...]] = []
    for event in events:
        title = " ".join([event.title, *(f"({mark})" for mark in marks(event, day))])
        links = [Span(str(n) if url else cited, url) for n, (cited, url) in enumerate(event.sources, 1)]
        parted = tuple(piece for link in links for piece in (", ", link))[1:]
        rows.append((date_text(event), facts.vendors[event.vendor], event.kind, title, parted))
    notes = tuple(
        f"{event.title}: {d['about']}: {'; '.join(d['positions'])}. Decided {d['decided']}: {d['decision']}. {d['reason']}"
        for event in events
        for d in event.disputes
    )
    table = Table(("date", "who", "kind", "event", "sources"), tuple(rows))
    disputed: list[Block] = [Paragraph("Disputed:"), Bullets(notes)] if notes else []
    return render([table, *disputed], Links())


def mermaid(facts: Snapshot, events: Sequence[Event], day: date) -> str:
    """Return the events as a Mermaid `timeline` diagram, with a section per vendor."""
    lines = ["timeline", f"    title {_entity(TITLE)}"]
    for vendor, lane in lanes(facts, events).items():
        lines.append(f"    section {_entity(facts.vendors[vendor])}")
        for period in dict.fromkeys(date_text(event) for event in lane):
            known = [event for event in lane if date_text(event) == period]
            titles = [" ".join([event.title, *(f"({mark})" for mark in marks(event, day))]) for event in known]
            lines.append(f"        {period} : {' : '.join(map(_entity, titles))}")
    return "\n".join(lines) + "\n"


def _entity(content: str) -> str:
    """Return text with what Mermaid would read as its own written as entities."""
    return re.sub(r"[#:;<>&{}%]", lambda match: f"#{ord(match[0])};", content)


def lanes(facts: Snapshot, events: Iterable[Event]) -> dict[str, list[Event]]:
    """Return the events of each vendor that has any, in the order of the data."""
    events_by_vendor: dict[str, list[Event]] = {vendor: [] for vendor in facts.vendors}
    for event in events:
        events_by_vendor[event.vendor].append(event)
    return {vendor: lane for vendor, lane in events_by_vendor.items() if lane}
