"""What became true in a span of days: releases, withdrawals, ends, listings, advisories, observations, decisions."""

import json
from collections.abc import Iterator
from datetime import date
from typing import Any, NamedTuple

from compatkb.errors import UsageError
from compatkb.snapshot.read import Snapshot

KINDS = ("released", "yanked", "ended", "advised", "listed", "unlisted", "validated", "decided")
"""Kinds of changes, in the order in which those of a day are shown."""

_FOREVER = date.max.toordinal()


class Change(NamedTuple):
    """Something that became true on `day`; where only bounds are known, `day` is the last one and `after` the first."""

    day: date
    kind: str
    product: str | None
    subject: str  # a version, an image tag, or what a decision or an advisory is about
    detail: str
    sources: tuple[tuple[str, str | None], ...] = ()
    after: date | None = None


def find_changes(facts: Snapshot, since: date, until: date, product: str | None = None) -> tuple[Change, ...]:
    """Return what became true from `since` to `until`, both inclusive, oldest first; raises UsageError for an empty span.

    Something of which only bounds are known counts on the last day on which it can have happened. A version that is
    supported to the end of a day has ended on the next one.
    """
    if since > until:
        raise UsageError(f"--since {since} lies after {until}, the last day asked about")
    order = list(facts.products)
    images = _holding(facts, product) if product else set()
    found = [
        change
        for change in _all(facts)
        if since <= change.day <= until
        and (product is None or change.product == product or (change.product is None and change.subject in images))
    ]

    def place(change: Change) -> tuple[Any, ...]:
        rank = order.index(change.product) if change.product in order else len(order)
        return (change.day, KINDS.index(change.kind), rank)

    return tuple(sorted(found, key=place))  # of one product, in the order in which the data have them


def _holding(facts: Snapshot, product: str) -> set[str]:
    """Return the image tags that contain a product."""
    query = "select repository, name from image where id in (select image from content where product = ?)"
    return {f"{row['repository']}:{row['name']}" for row in facts.rows(query, product)}


def _all(facts: Snapshot) -> Iterator[Change]:
    yield from _releases(facts)
    yield from _ends(facts)
    yield from _images(facts)
    for row in facts.rows("select * from advisory order by id"):
        sources = _pairs(row["sources"])
        yield Change(_day(row["since"]), "advised", row["product"], f"{row['kind']} advisory", row["message"], sources)
    for row in facts.rows("select * from dispute order by id"):
        decision = "left open" if row["decision"] == "open" else row["decision"]
        detail = f"{decision}: {row['reason']}"
        day = date.fromisoformat(row["decided"])
        yield Change(day, "decided", row["product"], row["about"], detail, _pairs(row["sources"]))
    for row in facts.rows("select * from observation order by id"):
        packages = json.loads(row["packages"])
        where = f"Python {row['python']}, {row['os']} {row['arch']}, {row['device']}"
        named = f"{', '.join(f'{name} {version}' for name, version in sorted(packages.items()))} ({where})"
        mine = [facts.product(name) for name in packages]
        first = next((product.id for product in mine if product), None)
        detail = f"{row['level']}: {row['outcome']}"
        yield Change(date.fromisoformat(row["checked"]), "validated", first, named, detail)


def _releases(facts: Snapshot) -> Iterator[Change]:
    """Yield releases and withdrawals; the builds of a release that share a day are one change."""
    for product in facts.products:
        sources = {r["idx"]: r["sources"] for r in facts.rows("select idx, sources from element where product = ?", product)}
        out: dict[tuple[str, int | None, int | None], list[Any]] = {}
        gone: dict[tuple[str, int | None, int], list[Any]] = {}
        for element in reversed(facts.elements(product)):
            if element.since or element.by:
                out.setdefault((element.release, element.since, element.by), []).append(element)
            if element.yank_by:
                gone.setdefault((element.release, element.yank_after, element.yank_by), []).append(element)
        for (release, first, last), elements in out.items():
            day = last or first
            assert day
            builds = ", ".join(e.version for e in elements if e.version != release)
            after = _day(first) if first and first != day else None
            parts = (f"builds: {builds}" if builds else "", "" if last else "then or later")
            detail = "; ".join(part for part in parts if part)
            yield Change(_day(day), "released", product, release, detail, _pairs(sources[elements[0].idx]), after)
        for (release, first, last), elements in gone.items():
            after = _day(first) if first and first != last else None
            cited = _pairs(sources[elements[0].idx])
            yield Change(_day(last), "yanked", product, release, elements[0].yank_reason or "no reason given", cited, after)


def _ends(facts: Snapshot) -> Iterator[Change]:
    query = (
        "select product, version, eol, eol_precision, eol_sources from release where eol is not null "
        "order by product, position"
    )
    for row in facts.rows(query):
        last = date.fromisoformat(row["eol"])
        if last < date.max:
            close = "" if row["eol_precision"] in (None, "day") else f"; its source names the {row['eol_precision']}"
            detail = f"supported to {last}{close}"
            day = _day(last.toordinal() + 1)
            yield Change(day, "ended", row["product"], row["version"], detail, _pairs(row["eol_sources"]))


def _images(facts: Snapshot) -> Iterator[Change]:
    for row in facts.rows("select repository, name, device, runs, sources from image order by repository, id"):
        name, sources = f"{row['repository']}:{row['name']}", _pairs(row["sources"])
        runs = json.loads(row["runs"])
        for number, (first, last) in enumerate(runs):
            again = f"{row['device']}; listed again" if number else row["device"]
            yield Change(_day(first), "listed", None, name, again, sources)
            if last < _FOREVER:
                yield Change(_day(last + 1), "unlisted", None, name, row["device"], sources)


def _day(ordinal: int) -> date:
    return date.fromordinal(ordinal)


def _pairs(text: str) -> tuple[tuple[str, str | None], ...]:
    return tuple((name, url) for name, url in json.loads(text))
