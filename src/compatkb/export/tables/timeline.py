"""Published tables of the timeline: whose events there are, and the events."""

from compatkb.export.columns import cites, day, maybe, number, table, text
from compatkb.export.table_reader import Reader, Tables, day_of
from compatkb.store.records import picked

TABLES = (
    table(
        "vendor",
        "Those whose events the timeline has.",
        ("id",),
        text("id", "its id"),
        number("position", "its place in the data"),
        text("name", "its name"),
    ),
    table(
        "event",
        "Events of the timeline: releases, milestones, ends of life.",
        ("id",),
        text("id", "its id"),
        number("position", "its place in time, 0 for the oldest"),
        maybe("vendor", "whose event it is", "vendor"),
        text("kind", "release, milestone or end-of-life"),
        text("title", "what happened"),
        maybe("product", "the product that it is about, where the data know it", "product"),
        maybe("release", "the release that it is about, likewise", "release"),
        day("first_day", "the first day on which it can have happened"),
        day("last_day", "the last one; equal to the first where the day is known"),
        text("precision", "day, month, quarter, half, year, end-of-month ..., or bounds"),
        maybe("basis", "where its date is that of a release: what that date is"),
        maybe("announced", "the day from which on it was planned", kind="date"),
        maybe("note", "a remark"),
        search=("id", "title", "note"),
    ),
    cites("event", "an event"),
)


def fill(reader: Reader, tables: Tables) -> None:
    """Fill the tables of the timeline; that of releases is there already."""
    vendors = enumerate(reader.facts.vendors.items())
    tables["vendor"] = [{"id": vendor, "position": position, "name": name} for position, (vendor, name) in vendors]
    releases = {row["id"] for row in tables["release"]}
    for position, event in enumerate(reader.facts.events):
        release = f"{event.product}=={event.version}"
        tables["event"].append(
            {
                **picked(event, "id kind title precision basis note"),
                "position": position,
                "vendor": event.vendor if event.vendor in reader.facts.vendors else None,
                "product": reader.known(event.product),
                "release": release if release in releases else None,
                "first_day": day_of(event.first),
                "last_day": day_of(event.last),
                "announced": day_of(event.announced),
            }
        )
        tables["event_source"] += reader.cite("event", event.id, event.sources)
