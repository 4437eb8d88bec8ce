"""Every disagreement between sources, those of the timeline included, in one form."""

import json
from typing import Any, NamedTuple

from compatkb.snapshot.read import Fields, Snapshot

OPEN = "open"
Pairs = tuple[tuple[str, str | None], ...]
"""Sources: text and address."""


class Position(NamedTuple):
    """What one side says, and where."""

    text: str
    claim: str | None  # the claim that says it, where it is no free text
    sources: Pairs


class Subject(NamedTuple):
    """Whom a dispute concerns: a product with a mask of its versions, an image tag, a channel or an event."""

    name: str
    mask: int
    devices: str
    hardware: str
    cells: int  # the platforms on which it matters


class Disagreement(NamedTuple):
    """A dispute with both sides and its decision."""

    id: str
    kind: str  # of the file that records it: product, feature, image, channel or timeline
    owner: str  # the product, feature or image repository; empty for channels and the timeline
    about: str
    day: str | None  # where it is about a date: released or end-of-life
    positions: tuple[Position, ...]
    decision: str
    holds: str | None  # what holds, in words; None while it is open
    reason: str
    decided: str
    claims: tuple[str, ...]
    subjects: tuple[Subject, ...]

    @property
    def sources(self) -> Pairs:
        """The documents of all sides, each once."""
        return tuple(dict.fromkeys(source for position in self.positions for source in position.sources))


def read_disagreements(facts: Snapshot) -> tuple[Disagreement, ...]:
    """Return every dispute, sorted by id; one of the timeline whose id is taken stands under `timeline:ID`."""
    concerned: dict[str, list[Fields]] = {}
    for row in facts.rows("select * from concerned order by rowid"):
        concerned.setdefault(row["dispute"], []).append(row)
    found = [_recorded(facts, row, concerned.get(row["id"], [])) for row in facts.rows("select * from dispute order by id")]
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


def _recorded(facts: Snapshot, row: Fields, concerned: list[Fields]) -> Disagreement:
    subjects = [
        Subject(c["name"], int(c["mask"], 16), c["devices"], c["hardware"], facts.cells(c["cells"]))
        for c in concerned
        if c["claim"] is None
    ]
    return Disagreement(
        row["id"],
        row["kind"],
        row["owner"],
        row["about"],
        row["day"],
        tuple(Position(p["text"], p["claim"], _pairs(p["sources"])) for p in json.loads(row["positions"])),
        row["decision"],
        None if row["decision"] == OPEN else row["holds"],
        row["reason"],
        row["decided"],
        tuple(dict.fromkeys(c["claim"] for c in concerned if c["claim"])),
        tuple(subjects),
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
                Position(text, None, _pairs([source])) for text, source in zip(row["positions"], row["sources"], strict=True)
            ),
            row["decision"],
            None if row["decision"] == OPEN else row["decision"],
            row["reason"],
            row["decided"],
            (),
            tuple(Subject(event, 0, "", "", 0) for event in events[name]),
        )
        for name, row in told.items()
    ]


def _pairs(content: list[list[Any]]) -> Pairs:
    return tuple((text, url) for text, url in content)
