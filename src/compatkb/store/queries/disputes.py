"""Disagreements between sources: both sides, the decision, and whom they concern."""

from functools import cached_property
from typing import Annotated

from compatkb.core.memo import memoized
from compatkb.core.record import NamedTuple
from compatkb.store.queries.solver import SolverQueries
from compatkb.store.records import PlatformSet, Sources
from compatkb.store.rows import Mask, Words, each_nested


class PositionRecord(NamedTuple):
    """What one side of a dispute says: in words, or by a claim that the words repeat."""

    text: str
    claim: str | None
    sources: Sources


class DisputeRecord(NamedTuple):
    """A dispute and its decision; the condition says where it matters, of each dimension nothing for anywhere."""

    id: str
    kind: str  # of the file that records it: product, feature, image, channel or timeline
    owner: str  # the product, feature or image repository; empty for channels and the timeline
    about: str
    day: str | None  # where it is about a date: released or end-of-life
    days: Words  # the day that each side names
    columns: Words
    device: Words
    os: Words
    arch: Words
    python: Words
    hardware: Words
    claims: Words
    positions: Annotated[tuple[PositionRecord, ...], each_nested(PositionRecord)]
    decision: str
    holds: str | None  # what holds, in words; None while it is open
    reason: str
    decided: str

    @property
    def sources(self) -> Sources:
        """The documents of all sides, each once."""
        return tuple(dict.fromkeys(source for position in self.positions for source in position.sources))


class ConcernedRecord(NamedTuple):
    """Whom a dispute concerns: elements of a product, an image tag, a channel or an event; or a side of one of its claims."""

    dispute: str
    claim: str | None
    name: str
    mask: Mask
    devices: Words
    hardware: Words
    cells: PlatformSet


OPEN = "open"


class DisputeQueries(SolverQueries):
    """What people read of disagreements between sources."""

    def dispute_records(self) -> dict[str, DisputeRecord]:
        """Return the disputes by id, sorted."""
        return {dispute.id: dispute for dispute in self.records(DisputeRecord, "from dispute order by id")}

    @memoized
    def dispute_record(self, name: str) -> DisputeRecord:
        """Return a dispute; raises KeyError for an unknown one."""
        for record in self.records(DisputeRecord, "from dispute where id = ?", name):
            return record
        raise KeyError(name)

    def disputes_in(self, product: str) -> tuple[str, ...]:
        """Return the ids of the disputes of a product's own file."""
        query = "select id from dispute where kind = 'product' and owner = ? order by id"
        return tuple(name for (name,) in self.select(query, product))

    def concerned_records(self) -> tuple[ConcernedRecord, ...]:
        """Return whom disputes concern, in the order of the data."""
        return self.records(ConcernedRecord, "from concerned order by rowid")

    @memoized
    def concerned_of(self, name: str) -> tuple[ConcernedRecord, ...]:
        """Return what disputes say of a product, an image tag or a channel, by dispute."""
        return self.records(ConcernedRecord, "from concerned where name = ? order by dispute, rowid", name)

    @cached_property
    def event_disputes(self) -> dict[str, list[DisputeRecord]]:
        """The disputes about events of the timeline, by event."""
        by_event: dict[str, list[DisputeRecord]] = {}
        for dispute in self.dispute_records().values():
            for subject in self.subjects[dispute.id] if dispute.kind == "timeline" else ():
                by_event.setdefault(subject.name, []).append(dispute)
        return by_event

    @cached_property
    def subjects(self) -> dict[str, tuple[ConcernedRecord, ...]]:
        """Whom each dispute concerns beside its claims, by its id."""
        by_dispute: dict[str, list[ConcernedRecord]] = {name: [] for name in self.dispute_records()}
        for record in self.concerned_records():
            if record.claim is None:
                by_dispute[record.dispute].append(record)
        return {name: tuple(records) for name, records in by_dispute.items()}
