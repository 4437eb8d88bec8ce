"""Ends of life as an iCalendar file (RFC 5545): a day-long event for each, dated by the data, not by a clock.

The timeline has further ones, of things that are no product of the data.
"""

import re
from collections.abc import Iterable
from datetime import date, timedelta

from compatkb.store.queries.disputes import DisputeRecord
from compatkb.store.queries.products import ReleaseRecord
from compatkb.store.reader import Snapshot
from compatkb.store.records import Sources

_WIDTH = 75  # octets in a line, without its end
End = tuple[str, str, str, list[str], str | None, Sources]
"""Day, product, version, the releases that end with their product, precision, sources."""

_DROPPED = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


def calendar_text(facts: Snapshot, products: tuple[str, ...] = ()) -> str:
    """Return the calendar; releases that end with their product share its event, others have one each.

    Events are sorted by day. A UID names the product and version alone, so an end of life that moves moves its event.
    """
    stamp = f"{_compact(facts.meta['data_date'])}T000000Z"
    lines = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//compatkb//ends of life//EN", "CALSCALE:GREGORIAN"]
    lines.append(_property("NAME", "Ends of life"))
    lines.append(_property("X-WR-CALNAME", "Ends of life"))
    whole = {product: details.eol for product, details in facts.every_product_details().items() if details.eol}
    for day, product, version, versions, precision, sources in _ends(whole, facts.releases(), products):
        name = facts.products[product].name
        what = f"{name} {version}" if version else name
        about = [f"Last supported day of {what}."]
        if not version and versions:
            about.append(f"Releases: {', '.join(versions)}.")
        if precision not in (None, "day"):
            about.append(f"Its source names only the {precision}.")
        about += [f"Source: {url or text}" for text, url in sources]
        about += [_disputed(dispute) for dispute in _disputes(facts, product, {*versions, version})]
        uid = f"eol-{product}{f'-{version}' if version else ''}"
        lines += _event(uid, stamp, date.fromisoformat(day), f"{what}: end of life", about, product)
    for event in () if products else facts.events:
        if event.kind == "end-of-life" and not event.product:
            about = [f"Its source names only the {event.precision}."] if event.first != event.last else []
            about += [f"Source: {url or text}" for text, url in event.sources]
            about += map(_disputed, facts.event_disputes.get(event.id, ()))
            category = facts.vendors.get(event.vendor, event.vendor)
            lines += _event(f"event-{event.id}", stamp, date.fromordinal(event.last), event.title, about, category)
    lines.append("END:VCALENDAR")
    return "".join(f"{_folded(line)}\r\n" for line in lines)


def _event(uid: str, stamp: str, day: date, summary: str, about: list[str], category: str) -> list[str]:
    """Return the lines of an event that lasts one day."""
    return [
        "BEGIN:VEVENT",
        _property("UID", f"{uid}@compatkb"),
        f"DTSTAMP:{stamp}",
        f"DTSTART;VALUE=DATE:{_compact(day.isoformat())}",
        *([f"DTEND;VALUE=DATE:{_compact((day + timedelta(days=1)).isoformat())}"] if day < date.max else []),
        _property("SUMMARY", summary),
        _property("DESCRIPTION", "\n".join(about)),
        _property("CATEGORIES", category),
        "TRANSP:TRANSPARENT",
        "END:VEVENT",
    ]


def _disputes(facts: Snapshot, product: str, versions: set[str]) -> list[DisputeRecord]:
    """Return the disputes about the end of life of some versions."""
    mask = sum(1 << element.idx for element in facts.elements(product) if element.release in versions)
    return [
        dispute
        for dispute in facts.dispute_records().values()
        if dispute.day == "end-of-life" and any(s.name == product and s.mask & mask for s in facts.subjects[dispute.id])
    ]


def _disputed(dispute: DisputeRecord) -> str:
    sides = "; ".join(position.text for position in dispute.positions)
    decided = f"decided {dispute.decided}: {dispute.holds}" if dispute.holds else "open"
    return f"Sources disagree on {dispute.about}: {sides}; {decided}."


def _ends(whole: dict[str, str], releases: Iterable[ReleaseRecord], products: tuple[str, ...]) -> list[End]:
    """Return the ends of life, sorted; version is empty for a whole product."""
    ends: list[End] = []
    grouped: dict[str, End] = {}
    for release in releases:
        product, last = release.product, release.eol
        if last is None or (products and product not in products):
            continue
        if last == whole.get(product):
            entry = grouped.setdefault(product, (last, product, "", [], release.eol_precision, release.eol_sources))
            entry[3].append(release.version)
        else:
            ends.append((last, product, release.version, [], release.eol_precision, release.eol_sources))
    for product, day in whole.items():
        if product not in grouped and (not products or product in products):
            grouped[product] = (day, product, "", [], None, ())
    return sorted([*ends, *grouped.values()], key=lambda end: end[:3])


def _property(name: str, text: str) -> str:
    """Return a content line, its text escaped."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    text = text.replace("\\", "\\\\").replace(";", "\\;").replace(",", "\\,").replace("\n", "\\n")
    return f"{name}:{_DROPPED.sub('', text)}"


def _folded(line: str) -> str:
    """Return a line cut into pieces of at most 75 octets, never inside a letter."""
    pieces, octets = [""], 0
    for letter in line:
        size = len(letter.encode())
        if octets + size > _WIDTH:
            pieces.append(" ")
            octets = 1
        pieces[-1] += letter
        octets += size
    return "\r\n".join(pieces)


def _compact(day: str) -> str:
    return day.replace("-", "")
