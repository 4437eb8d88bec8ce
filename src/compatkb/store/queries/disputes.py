"""DisputeFinder: as files record them, and all disagreements between sources in one form, those of the timeline included."""

from collections.abc import Iterable
from typing import Annotated, Any, NamedTuple

from compatkb.core.memo import memoized
from compatkb.store.reader import Snapshot
from compatkb.store.records import PlatformSet, Sources, picked
from compatkb.store.rows import Mask, Words, each_nested


class PositionRecord(NamedTuple):
    """What one side of a dispute says: in words, or by a claim that the words repeat."""

    text: str
    claim: str | None
    sources: Sources


class DisputeRecord(NamedTuple):
    """A dispute and its decision; `day` names the kind of day that it is about, `days` those that the sides name."""

    id: str
    kind: str
    owner: str
    about: str
    day: str | None
    days: Words
    columns: Words
    positions: Annotated[tuple[PositionRecord, ...], each_nested(PositionRecord)]
    decision: str
    holds: str
    reason: str
    decided: str


class ConcernedRecord(NamedTuple):
    """Whom a dispute concerns: elements of a product, an image tag or a channel; a claim's sides where it names one."""

    dispute: str
    claim: str | None
    name: str
    mask: Mask
    devices: Words
    hardware: Words
    cells: PlatformSet


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


OPEN = "open"


def dispute_records(facts: Snapshot) -> dict[str, DisputeRecord]:
    """Return the disputes by id, sorted."""
    return {dispute.id: dispute for dispute in facts.records(DisputeRecord, "from dispute order by id")}


@memoized
def dispute_record(facts: Snapshot, name: str) -> DisputeRecord:
    """Return a dispute; raises KeyError for an unknown one."""
    for record in facts.records(DisputeRecord, "from dispute where id = ?", name):
        return record
    raise KeyError(name)


def disputes_in(facts: Snapshot, product: str) -> tuple[str, ...]:
    """Return the ids of the disputes of a product's own file."""
    query = "select id from dispute where kind = 'product' and owner = ? order by id"
    return tuple(name for (name,) in facts.select(query, product))


def concerned_records(facts: Snapshot) -> tuple[ConcernedRecord, ...]:
    """Return whom disputes concern, in the order of the data."""
    return facts.records(ConcernedRecord, "from concerned order by rowid")


@memoized
def concerned_of(facts: Snapshot, name: str) -> tuple[ConcernedRecord, ...]:
    """Return what disputes say of a product, an image tag or a channel, by dispute."""
    return facts.records(ConcernedRecord, "from concerned where name = ? order by dispute, rowid", name)


def disputes_about(facts: Snapshot, names: Iterable[str]) -> tuple[DisputeRecord, ...]:
    """Return the disputes that concern some products, image tags or channels, each once, by name and then by id."""
    records, ids = dispute_records(facts), dict[str, None]()
    for name in names:
        rows = facts.select("select dispute from concerned where name = ? order by dispute", name)
        ids.update(dict.fromkeys(dispute for (dispute,) in rows))
    return tuple(records[dispute] for dispute in ids)


def read_disagreements(facts: Snapshot) -> tuple[Disagreement, ...]:
    """Return every dispute, sorted by id; one of the timeline whose id is taken stands under `timeline:ID`."""
    concerned: dict[str, list[ConcernedRecord]] = {}
    for record in concerned_records(facts):
        concerned.setdefault(record.dispute, []).append(record)
    disagreements = [_recorded(dispute, concerned.get(dispute.id, [])) for dispute in dispute_records(facts).values()]
    disagreements += _of_timeline(facts, {dispute.id for dispute in disagreements})
    return tuple(sorted(disagreements, key=lambda dispute: dispute.id))


def standings(disputes: tuple[Disagreement, ...]) -> dict[str, str]:
    """Return, for each claim that does not simply hold, whether it is `open` or was `overruled`."""
    standing_by_claim: dict[str, str] = {}
    for dispute in disputes:
        for claim in dispute.claims:
            if dispute.decision == OPEN:
                standing_by_claim.setdefault(claim, "open")
            elif dispute.decision in dispute.claims and claim != dispute.decision:
                standing_by_claim[claim] = "overruled"
    return standing_by_claim


def _recorded(dispute: DisputeRecord, concerned: list[ConcernedRecord]) -> Disagreement:
    return Disagreement(
        **picked(dispute, "id kind owner about day positions decision reason decided"),
        holds=None if dispute.decision == OPEN else dispute.holds,
        claims=tuple(dict.fromkeys(c.claim for c in concerned if c.claim)),
        subjects=tuple(DisputeSubject(c.name, c.mask, c.devices, c.hardware, c.cells) for c in concerned if c.claim is None),
    )


def _of_timeline(facts: Snapshot, taken: set[str]) -> list[Disagreement]:
    disputes: dict[str, dict[str, Any]] = {}
    events: dict[str, list[str]] = {}
    for event in facts.events:
        for dispute in event.disputes:
            disputes[dispute["id"]] = dispute
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
        for name, row in disputes.items()
    ]
