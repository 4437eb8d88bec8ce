"""Disputes that the files of products, features, images and channels record; those of the timeline stand in its events."""

import json
from collections.abc import Iterable
from typing import Any, NamedTuple

from compatkb.store.queries.kept import kept
from compatkb.store.reader import Snapshot
from compatkb.store.records import Sources


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
    days: tuple[str, ...]
    columns: tuple[str, ...]
    positions: tuple[PositionRecord, ...]
    decision: str
    holds: str
    reason: str
    decided: str


class ConcernedRecord(NamedTuple):
    """Whom a dispute concerns: elements of a product, an image tag or a channel; a claim's sides where it names one."""

    dispute: str
    claim: str | None
    name: str
    mask: int
    devices: tuple[str, ...]
    hardware: tuple[str, ...]
    cells: int  # platforms


_DISPUTE = "id, kind, owner, about, day, days, columns, positions, decision, holds, reason, decided"
_CONCERNED = "dispute, claim, name, mask, devices, hardware, cells"


def dispute_records(facts: Snapshot) -> dict[str, DisputeRecord]:
    """Return the disputes by id, sorted."""
    return {row[0]: _dispute(row) for row in facts.select(f"select {_DISPUTE} from dispute order by id")}


@kept
def dispute_record(facts: Snapshot, name: str) -> DisputeRecord:
    """Return a dispute; raises KeyError for an unknown one."""
    for row in facts.select(f"select {_DISPUTE} from dispute where id = ?", name):
        return _dispute(row)
    raise KeyError(name)


def disputes_in(facts: Snapshot, product: str) -> tuple[str, ...]:
    """Return the ids of the disputes of a product's own file."""
    query = "select id from dispute where kind = 'product' and owner = ? order by id"
    return tuple(name for (name,) in facts.select(query, product))


def _dispute(row: tuple[Any, ...]) -> DisputeRecord:
    return DisputeRecord._make((*row[:5], tuple(row[5].split()), tuple(row[6].split()), _positions(row[7]), *row[8:]))


def _positions(text: str) -> tuple[PositionRecord, ...]:
    return tuple(
        PositionRecord(side["text"], side["claim"], tuple((name, url) for name, url in side["sources"]))
        for side in json.loads(text)
    )


def concerned_records(facts: Snapshot) -> tuple[ConcernedRecord, ...]:
    """Return whom disputes concern, in the order of the data."""
    return tuple(_concerned(facts, row) for row in facts.select(f"select {_CONCERNED} from concerned order by rowid"))


@kept
def concerned_of(facts: Snapshot, name: str) -> tuple[ConcernedRecord, ...]:
    """Return what disputes say of a product, an image tag or a channel, by dispute."""
    rows = facts.select(f"select {_CONCERNED} from concerned where name = ? order by dispute", name)
    return tuple(_concerned(facts, row) for row in rows)


def _concerned(facts: Snapshot, row: tuple[Any, ...]) -> ConcernedRecord:
    dispute, claim, name, mask, devices, hardware, cells = row
    return ConcernedRecord(
        dispute, claim, name, int(mask, 16), tuple(devices.split()), tuple(hardware.split()), facts.cells(cells)
    )


def disputes_about(facts: Snapshot, names: Iterable[str]) -> tuple[DisputeRecord, ...]:
    """Return the disputes that concern some products, image tags or channels, each once, by name and then by id."""
    records, found = dispute_records(facts), dict[str, None]()
    for name in names:
        rows = facts.select("select dispute from concerned where name = ? order by dispute", name)
        found.update(dict.fromkeys(dispute for (dispute,) in rows))
    return tuple(records[dispute] for dispute in found)
