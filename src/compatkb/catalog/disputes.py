"""Every disagreement between sources, those of the timeline included, in one form."""

from typing import Any, NamedTuple

from compatkb.store.queries.disputes import ConcernedRecord, DisputeRecord, PositionRecord, concerned_records, dispute_records
from compatkb.store.reader import Snapshot
from compatkb.store.records import Sources

OPEN = "open"


class DisputeSubject(NamedTuple):
    """Whom a dispute concerns: a product with a mask of its versions, an image tag, a channel or an event."""

    name: str
    mask: int
    devices: tuple[str, ...]
    hardware: tuple[str, ...]
    cells: int  # the platforms on which it matters


class Disagreement(NamedTuple):
    """A dispute with both sides and its decision."""

    id: str
    kind: str  # of the file that records it: product, feature, image, channel or timeline
    owner: str  # the product, feature or image repository; empty for channels and the timeline
    about: str
    day: str | None  # where it is about a date: released or end-of-life
    positions: tuple[PositionRecord, ...]
    decision: str
    holds: str | None  # what holds, in words; None while it is open
    reason: str
    decided: str
    claims: tuple[str, ...]
    subjects: tuple[DisputeSubject, ...]

    @property
    def sources(self) -> Sources:
        """The documents of all sides, each once."""
        return tuple(dict.fromkeys(source for position in self.positions for source in position.sources))


def read_disagreements(facts: Snapshot) -> tuple[Disagreement, ...]:
    """Return every dispute, sorted by id; one of the timeline whose id is taken stands under `timeline:ID`."""
    concerned: dict[str, list[ConcernedRecord]] = {}
    for record in concerned_records(facts):
        concerned.setdefault(record.dispute, []).append(record)
    found = [_recorded(dispute, concerned.get(dispute.id, [])) for dispute in dispute_records(facts).values()]
    found += _of_timeline(facts, {dispute.id for dispute in found})
    return tuple(sorted(found, key=lambda dispute: dispute.id))


def standings(disputes: tuple[Disagreement, ...]) -> dict[str, str]:
    """Return, for each claim that does not simply hold, whether it is `open` or was `overruled`."""
    found: dict[str, str] = {}
    for dispute in disputes:
        for claim in dispute.claims:
            if dispute.decision == OPEN:
                found.setdefault(claim, "open")
            elif dispute.decision in dispute.claims and claim != dispute.decision:
                found[claim] = "overruled"
    return found


def _recorded(dispute: DisputeRecord, concerned: list[ConcernedRecord]) -> Disagreement:
    return Disagreement(
        dispute.id,
        dispute.kind,
        dispute.owner,
        dispute.about,
        dispute.day,
        dispute.positions,
        dispute.decision,
        None if dispute.decision == OPEN else dispute.holds,
        dispute.reason,
        dispute.decided,
        tuple(dict.fromkeys(c.claim for c in concerned if c.claim)),
        tuple(DisputeSubject(c.name, c.mask, c.devices, c.hardware, c.cells) for c in concerned if c.claim is None),
    )


def _of_timeline(facts: Snapshot, taken: set[str]) -> list[Disagreement]:
    told: dict[str, dict[str, Any]] = {}
    events: dict[str, list[str]] = {}
    for event in facts.events:
        for dispute in event.disputes:
            told[dispute["id"]] = dispute
            events.setdefault(dispute["id"], []).append(event.id)
    return [
        Disagreement(
            f"timeline:{name}" if name in taken else name,
            "timeline",
            "",
            row["about"],
            None,
            tuple(
                PositionRecord(text, None, ((name, url),))
                for text, (name, url) in zip(row["positions"], row["sources"], strict=True)
            ),
            row["decision"],
            None if row["decision"] == OPEN else row["decision"],
            row["reason"],
            row["decided"],
            (),
            tuple(DisputeSubject(event, 0, (), (), 0) for event in events[name]),
        )
        for name, row in told.items()
    ]
