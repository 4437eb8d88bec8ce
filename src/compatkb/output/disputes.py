"""Disagreements between sources: whom they concern, and what is said of them."""

from collections.abc import Iterable
from datetime import date
from typing import TYPE_CHECKING

from compatkb.core.record import NamedTuple
from compatkb.engine.conflicts import Cause
from compatkb.engine.stacks import Stack
from compatkb.output.causes import Causes
from compatkb.output.documents import source_payloads
from compatkb.output.messages import plain
from compatkb.store.queries.disputes import ConcernedRecord, DisputeRecord
from compatkb.store.reader import Snapshot
from compatkb.store.records import Element, Request

if TYPE_CHECKING:
    from compatkb.output.json_types import DisputeJson, PositionJson

OPEN = "open"
_PLATFORM = ("os", "arch", "python")


class _Place(NamedTuple):
    """Where an answer holds."""

    device: str
    cells: int
    hardware: set[str]

    def fits(self, row: ConcernedRecord) -> bool:
        """Return whether a dispute matters here."""
        hardware = set(row.hardware)
        machine = (not row.devices or self.device in row.devices) and (not hardware or bool(hardware & self.hardware))
        return machine and bool(row.cells & self.cells)


class DisputeFinder:
    """Finds the disagreements that concern something."""

    def __init__(self, facts: Snapshot) -> None:
        self.facts = facts

    def of_claims(self, claims: Iterable[str]) -> "list[DisputeJson]":
        """Return the disputes that claims are part of, without repetition."""
        return self._rows(name for claim in claims for name in self.facts.disputed_claims.get(claim, ()))

    def of_elements(self, product: str, mask: int) -> "list[DisputeJson]":
        """Return the disputes about any of these elements, and those between claims that name them."""
        return self._rows(row.dispute for row in self.facts.concerned_of(product) if row.mask & mask)

    def of_product(self, product: str) -> "list[DisputeJson]":
        """Return the disputes of a product's own file."""
        return self._rows(self.facts.disputes_in(product))

    def of_name(self, name: str) -> "list[DisputeJson]":
        """Return the disputes that concern an image, written with its repository, or a channel."""
        if name not in self.facts.disputed:
            return []
        return self._rows(row.dispute for row in self.facts.concerned_of(name))

    def of_stack(self, stack: Stack, as_of: int) -> "list[DisputeJson]":
        """Return the disputes that a stack rests on, open ones first: of its claims, its builds on its platforms, its indexes.

        One about a date counts where the day asked about lies between the dates.
        """
        members = [element for element in stack.packages if self.facts.products[element.product].role != "leaf"]
        pinned = [name for name in stack.requested if self.facts.products[name].role == "dimension"]
        members += [e for name in pinned for e in self.facts.elements(name) if e.version in stack.known.get(name, ())]
        rows = self.of_claims(dict.fromkeys(claim for link in stack.links for claim in link.claims))
        place = _Place(stack.device, stack.cells(self.facts), set(stack.known.get("hardware", ())))
        rows += self._about(members, place, as_of)
        for channel in dict.fromkeys(channel for element in members for channel in element.channels):
            rows += self.of_name(channel)
        return sorted({row["id"]: row for row in rows}.values(), key=lambda row: row["holds"] is not None)

    def of_cause(self, cause: Cause, request: Request) -> "list[DisputeJson]":
        """Return the disputes that a cause rests on: of the claims that it names, or about the builds that lack something."""
        cells = -1
        for name in _PLATFORM:
            if pin := request.pin(name):
                cells &= self.facts.dimension_cells(name, pin.mask)
        rows = self.of_claims(edge.claim for edge in Causes(self.facts, request).nearest_edges(cause))
        elements = [*cause.elements, *(element for _, element in cause.refused)]
        pin = request.pin("hardware")
        hardware = {e.version for e in self.facts.elements("hardware").of(pin.mask)} if pin else set()
        rows += self._about(elements, _Place(cause.device, cells, hardware), request.as_of)
        return list({row["id"]: row for row in rows}.values())

    def _about(self, elements: Iterable[Element], place: _Place, as_of: int) -> "list[DisputeJson]":
        names = []
        for element in elements:
            rows = [
                row for row in self.facts.concerned_of(element.product) if row.claim is None and row.mask >> element.idx & 1
            ]
            names += [row.dispute for row in rows if place.fits(row)]
        return self._rows(names, as_of)

    def dated(self, product: str, day: str) -> int:
        """Return the elements of a product whose day of release, or whose end of life, is disputed."""
        mask = 0
        for row in self.facts.concerned_of(product):
            mask |= row.mask if self.facts.dispute_record(row.dispute).day == day else 0
        return mask

    def _rows(self, names: Iterable[str], as_of: int | None = None) -> "list[DisputeJson]":
        """Return disputes as JSON has them; with a day, without those about dates that lie all before or after it."""
        rows = [self.facts.dispute_record(name) for name in dict.fromkeys(names)]
        return [_payload(row) for row in rows if as_of is None or _is_near(row.day, row.days, as_of)]


def _is_near(day: str | None, days: tuple[str, ...], as_of: int) -> bool:
    known = [date.fromisoformat(text).toordinal() for text in days]
    return not day or (bool(known) and min(known) <= as_of < max(known))


def _payload(row: DisputeRecord) -> "DisputeJson":
    positions: list[PositionJson] = [
        {"text": side.text, "claim": side.claim, "sources": source_payloads(side.sources)} for side in row.positions
    ]
    holds = None if row.holds is None else plain(row.holds)
    return {
        "id": row.id, "about": row.about, "positions": positions, "decision": row.decision, "holds": holds,
        "reason": row.reason, "decided": row.decided,
    }  # fmt: skip


def mark(dispute: "DisputeJson") -> str:
    """Return what an answer says of a dispute that it rests on: what it is about, and what was decided when."""
    return f"{dispute['about']}; {decided(dispute)}"


def decided(dispute: "DisputeJson") -> str:
    """Return what was decided on a dispute, and when."""
    if dispute["holds"] is None:
        return f"undecided, last checked {dispute['decided']}"
    return f"decided {dispute['decided']}: {dispute['holds']}"


def lines(dispute: "DisputeJson", head: str = "disputed: ", indent: str = "") -> list[str]:
    """Return both sides with their sources, the decision, its day and reason, below what they are about."""
    text_lines = [f"{head}{dispute['about']}"]
    for position in dispute["positions"]:
        text_lines.append(f"  says: {position['text']}")
        text_lines += [f"    source: {source['url'] or source['text']}" for source in position["sources"]]
    return [indent + line for line in (*text_lines, f"  {decided(dispute)}", f"  reason: {dispute['reason']}")]
