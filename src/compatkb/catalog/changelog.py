"""What became true in a span of days: releases, withdrawals, ends, listings, advisories, events, observations, decisions."""

from collections.abc import Iterator
from datetime import date
from typing import Any

from compatkb.core.record import NamedTuple
from compatkb.core.vocabulary import FOREVER
from compatkb.errors import UsageError
from compatkb.store.queries.disputes import DisputeRecord
from compatkb.store.reader import Snapshot
from compatkb.store.records import Event, Sources

KINDS = ("released", "yanked", "ended", "advised", "listed", "unlisted", "announced", "happened", "validated", "decided")
"""Kinds of changes, in the order in which those of a day are shown."""


class Change(NamedTuple):
    """Something that became true on `day`; where only bounds are known, `day` is the last one and `after` the first."""

    day: date
    kind: str
    product: str | None
    subject: str  # a version, an image tag, an event, or what a decision or an advisory is about
    detail: str
    sources: Sources = ()
    after: date | None = None
    concerns: tuple[str, ...] = ()  # products, features and image tags that it is about, beside `product`


def find_changes(facts: Snapshot, since: date, until: date, product: str | None = None) -> tuple[Change, ...]:
    """Return what became true from `since` to `until`, both inclusive, oldest first; raises UsageError for an empty span.

    Something of which only bounds are known counts on the last day on which it can have happened. A version that is
    supported to the end of a day has ended on the next one. An event that the data only foresee is announced, no more.
    Releases and ends of products are told once, though they are events too.
    """
    if since > until:
        raise UsageError(f"--since {since} lies after {until}, the last day asked about")
    order = list(facts.products)
    log = _Log(facts)
    names = log.holding(product) if product else set()
    changes = [
        change
        for change in log.all()
        if since <= change.day <= until
        and (product is None or not names.isdisjoint((change.product, change.subject, *change.concerns)))
    ]

    def place(change: Change) -> tuple[Any, ...]:
        rank = order.index(change.product) if change.product in order else len(order)
        return (change.day, KINDS.index(change.kind), rank)

    return tuple(sorted(changes, key=place))  # of one product, in the order in which the data have them


class _Log:
    """All changes that the data know."""

    def __init__(self, facts: Snapshot) -> None:
        self.facts = facts

    def holding(self, product: str) -> set[str | None]:
        """Return the image tags that contain a product, its features, and itself."""
        holding = {content.image for content in self.facts.images_with(product)}
        tags = {image.reference for image in self.facts.images() if image.id in holding}
        return {product, *tags, *(feature.id for feature in self.facts.feature_records() if feature.product == product)}

    def all(self) -> Iterator[Change]:
        """Yield every change, kind by kind."""
        yield from self._releases()
        yield from self._ends()
        yield from self._images()
        for advisory in self.facts.advisories:
            kind = f"{advisory.kind} advisory"
            yield Change(_day(advisory.since), "advised", advisory.product, kind, advisory.message, advisory.sources)
        yield from self._events()
        yield from (self._decided(dispute) for dispute in self.facts.dispute_records().values())
        for seen in self.facts.observations():
            where = f"Python {seen.python}, {seen.os} {seen.arch}, {seen.device}"
            named = f"{', '.join(f'{name} {version}' for name, version in sorted(seen.packages.items()))} ({where})"
            products = [self.facts.product(name) for name in seen.packages]
            first = next((product.id for product in products if product), None)
            others = tuple(product.id for product in products if product)
            detail = f"{seen.level}: {seen.outcome}"
            detail += ", with libraries of another device replaced by empty ones" if seen.stubbed else ""
            detail += f"; it proves {seen.culprit}" if seen.culprit else ""
            day = date.fromisoformat(seen.checked)
            yield Change(day, "validated", first, named, detail, concerns=others)

    def _decided(self, dispute: DisputeRecord) -> Change:
        detail = f"{'left open' if dispute.holds is None else dispute.holds}: {dispute.reason}"
        day = date.fromisoformat(dispute.decided)
        product = dispute.owner if dispute.owner in self.facts.products else None
        concerned = {subject.name for subject in self.facts.subjects[dispute.id]}
        if dispute.kind == "timeline":
            concerned |= {event.product for event in self.facts.events if event.id in concerned and event.product}
        return Change(day, "decided", product, dispute.about, detail, dispute.sources, concerns=tuple(sorted(concerned)))

    def _events(self) -> Iterator[Change]:
        """Yield the events of the timeline that are no releases or ends of products, which stand for themselves."""
        newest = date.fromisoformat(self.facts.meta["data_date"])
        for event in self.facts.events:
            if event.product and event.kind != "milestone":
                continue
            product = event.product if event.product in self.facts.products else None
            vendor = self.facts.vendors.get(event.vendor, event.vendor)
            last = _day(event.last)
            if event.announced and event.announced < event.first:
                detail = f"{vendor}; for {_when(event)}"
                yield Change(_day(event.announced), "announced", product, event.title, detail, event.sources)
            if last <= newest:
                after = _day(event.first) if event.first != event.last else None
                yield Change(last, "happened", product, event.title, vendor, event.sources, after)

    def _releases(self) -> Iterator[Change]:
        """Yield releases and withdrawals; the builds of a release that share a day are one change."""
        for product in self.facts.products:
            details = self.facts.element_details(product)
            out: dict[tuple[str, int | None, int | None], list[Any]] = {}
            gone: dict[tuple[str, int | None, int], list[Any]] = {}
            for element in reversed(self.facts.elements(product)):
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
                yield Change(_day(day), "released", product, release, detail, details[elements[0].idx].sources, after)
            for (release, first, last), elements in gone.items():
                after = _day(first) if first and first != last else None
                cited = details[elements[0].idx].sources
                yield Change(
                    _day(last), "yanked", product, release, elements[0].yank_reason or "no reason given", cited, after
                )

    def _ends(self) -> Iterator[Change]:
        for release in self.facts.releases():
            last = date.fromisoformat(release.eol) if release.eol else date.max
            if last < date.max:
                close = "" if release.eol_precision in (None, "day") else f"; its source names the {release.eol_precision}"
                detail = f"supported to {last}{close}"
                yield Change(
                    _day(last.toordinal() + 1), "ended", release.product, release.version, detail, release.eol_sources
                )

    def _images(self) -> Iterator[Change]:
        for image in sorted(self.facts.images(), key=lambda image: image.repository):
            for number, (first, last) in enumerate(image.runs):
                again = f"{image.device}; listed again" if number else image.device
                yield Change(_day(first), "listed", None, image.reference, again, image.sources)
                if last < FOREVER:
                    yield Change(_day(last + 1), "unlisted", None, image.reference, image.device, image.sources)


def _when(event: Event) -> str:
    first, last = _day(event.first), _day(event.last)
    return str(first) if first == last else f"some day from {first} to {last}"


def _day(ordinal: int) -> date:
    return date.fromordinal(ordinal)
