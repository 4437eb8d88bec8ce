"""What two products say of each other, looked up once and shared by every question to which it is the same."""

from typing import NamedTuple

from compatkb.engine.budget import Budget
from compatkb.records import STRONG, Edge
from compatkb.snapshot.read import Snapshot

_MOST_IMAGES = 4_096
_MOST_PAIRS = 200_000


class Pair(NamedTuple):
    """What is known of two elements together, as platform bits."""

    denied: int
    strong: int
    weak: int
    matters: int  # where the two must be vouched for
    muddled: int  # where an undecided dispute leaves them open


NO_PAIR = Pair(0, 0, 0, 0, 0)


class Context(NamedTuple):
    """Whom edges are asked about: a device, and the hardware that is pinned."""

    facts: Snapshot
    device: str
    hardware: int

    def holds(self, edge: Edge) -> bool:
        """Return whether an edge speaks of this device and hardware."""
        if edge.devices and self.device not in edge.devices:
            return False
        if not edge.hardware:
            return True
        return bool(edge.hardware & self.hardware) and not (edge.kind == "verified" and self.in_part(edge))

    def in_part(self, edge: Edge) -> bool:
        """Return whether what is said of a feature concerns only some of the hardware pinned: of the rest nothing is known."""
        rest = edge.hardware and self.hardware & ~edge.hardware
        return bool(rest) and self.facts.products[edge.of].role == "feature"

    def said(self, of: str, to: str) -> "Said":
        """Return what one product says of another one."""
        held = (edge for edge in self.facts.edges(of, to) if self.holds(edge))
        return Said([edge._replace(open=True) if self.in_part(edge) else edge for edge in held])


class Said:
    """What one product says of another one, by its elements; each is looked up when somebody asks for it."""

    def __init__(self, edges: list[Edge]) -> None:
        self.edges = edges
        self._by_element: dict[int, list[Edge]] = {}

    def by(self, idx: int) -> list[Edge]:
        """Return the edges of an element."""
        if not self.edges:
            return self.edges
        found = self._by_element.get(idx)
        if found is None:
            found = self._by_element[idx] = [edge for edge in self.edges if edge.of_mask >> idx & 1]
        return found


class Between:
    """Two products seen from the first, by its elements; sets of elements of the second one are what comes back.

    `number` stands for the platforms that a question leaves open, `cells`: equal ones have one number.
    """

    def __init__(self, kept: "Kept", context: Context, p: str, q: str) -> None:
        self._kept = kept
        told = (e for e in context.facts.edges(p, q) if context.holds(e) and not context.in_part(e))
        self._told = [e for e in told if not e.open]
        self.pairs: dict[tuple[int, int], Pair] = {}
        self._back = [e for e in context.facts.edges(q, p) if context.holds(e) and not context.in_part(e) and not e.open]
        self._mine, self._theirs = len(context.facts.elements(p)), len(context.facts.elements(q))
        self._rows: list[tuple[tuple[tuple[int, int], ...], tuple[tuple[int, int], ...]] | None] = [None] * self._mine
        self._allowed: dict[int, dict[int, int]] = {}
        self._vouching: dict[int, dict[int, int]] = {}
        self._images: dict[tuple[int, int, bool], int] = {}
        self._classes: dict[int, int] = {}
        self._whole: dict[tuple[int, bool], list[tuple[int, int]]] = {}

    def keep(self, i: int, j: int, pair: Pair) -> None:
        """Keep what is known of two listed elements."""
        if i < self._mine and j < self._theirs:  # an unlisted version is one request's own
            if len(self.pairs) >= _MOST_PAIRS:
                self.pairs.clear()
            self.pairs[i, j] = pair

    def allowed(self, number: int) -> dict[int, int]:
        """Return the part of `allow` that has been worked out for some platforms."""
        found = self._allowed.get(number)
        if found is None:
            found = self._allowed[number] = {}
        return found

    def allow(self, i: int, number: int, cells: int) -> int:
        """Return the elements that no unconditional edge with element `i` excludes.

        A version that the data do not list is never excluded; it is judged pair by pair.
        """
        mask = (2 << self._theirs) - 1
        if 0 <= i < self._mine:
            for denies, excluded in self._row(i)[0]:
                if not cells & ~denies:
                    mask &= ~excluded
            self.allowed(number)[i] = mask
        return mask

    def vouching(self, i: int, number: int, cells: int) -> int:
        """Return the elements that something vouches for beside element `i`, on one of the platforms at least."""
        kept = self._vouching.setdefault(number, {})
        mask = kept.get(i)
        if mask is None:
            mask = 0
            for vouches, vouched in self._row(i)[1]:
                if cells & vouches:
                    mask |= vouched
            kept[i] = mask
        return mask

    def image(self, domain: int, number: int, cells: int, *, vouched: bool) -> int:
        """Return what some element of a set allows, or vouches for; `domain` has listed elements alone."""
        key = (number, domain, vouched)
        found = self._images.get(key)
        if found is None:
            found = 0
            every = (2 << self._theirs) - 1
            for alike, mask in self._rectangles(number, cells, vouched=vouched):
                if alike & domain:
                    found |= mask
                    if found == every:
                        break
            if len(self._images) >= _MOST_IMAGES:
                self._images.clear()
            self._images[key] = found
        return found

    def _rectangles(self, number: int, cells: int, *, vouched: bool) -> list[tuple[int, int]]:
        """Return sets of elements with what each member allows, or vouches for."""
        key = (number, vouched)
        found = self._whole.get(key)
        if found is None:
            by_mask: dict[int, int] = {}
            left = (1 << self._mine) - 1
            while left:
                i = left.bit_length() - 1
                alike = self._alike(i)
                left &= ~alike
                mask = self.vouching(i, number, cells) if vouched else self.allow(i, number, cells)
                by_mask[mask] = by_mask.get(mask, 0) | alike
            found = self._whole[key] = [(alike, mask) for mask, alike in by_mask.items()]
            found.sort(key=lambda pair: -pair[0].bit_count())
        return found

    def _alike(self, i: int) -> int:
        """Return the elements of which all that is said is said of element `i` too, itself included."""
        found = self._classes.get(i)
        if found is None:
            found, bit = (1 << self._mine) - 1, 1 << i
            for edge in self._told:
                found &= edge.of_mask if edge.of_mask & bit else ~edge.of_mask
            for edge in self._back:
                found &= edge.to_mask if edge.to_mask & bit else ~edge.to_mask
            self._kept.budget.spend(1 + (len(self._told) + len(self._back)) // 16)
            self._classes[i] = found
        return found

    def _row(self, i: int) -> tuple[tuple[tuple[int, int], ...], tuple[tuple[int, int], ...]]:
        """Return what excludes elements beside element `i`, said by either, and what vouches: where, and which elements."""
        row = self._rows[i]
        if row is None:
            listed = (1 << self._theirs) - 1
            mine = [edge for edge in self._told if edge.of_mask >> i & 1]
            excluding = [
                (edge.denies, edge.to_mask if edge.kind == "breaks" else listed & ~edge.to_mask)
                for edge in mine
                if edge.kind != "verified"
            ]
            vouching = [(edge.vouches, edge.to_mask) for edge in mine]
            for edge in self._back:
                inside = bool(edge.to_mask >> i & 1)
                if edge.kind != "verified" and inside == (edge.kind == "breaks"):
                    excluding.append((edge.denies, edge.of_mask))
                if inside:
                    vouching.append((edge.vouches, edge.of_mask))
            row = self._rows[i] = (
                tuple((c, m) for c, m in excluding if c and m),
                tuple((c, m) for c, m in vouching if c and m),
            )
        return row


def judged(speaking: list[tuple[Edge, bool]]) -> Pair:
    """Return what edges between two elements say together; each comes with whether it names the other element."""
    denied = strong = weak = matters = muddled = 0
    for edge, inside in speaking:
        if edge.open:
            if inside or edge.kind in ("needs", "constrains"):
                muddled |= edge.denies | edge.vouches
            continue
        if edge.kind in ("needs", "constrains"):
            matters |= edge.denies
            if not inside:
                denied |= edge.denies
        elif edge.kind == "breaks" and inside:
            denied |= edge.denies
        if inside and edge.level == STRONG:
            strong |= edge.vouches
        elif inside:
            weak |= edge.vouches
    return Pair(denied, strong, weak, matters, muddled)


class Kept:
    """What the engine keeps of one knowledge base between questions; forgotten as a whole when it has grown."""

    def __init__(self, facts: Snapshot) -> None:
        self.facts = facts
        self.views: dict[tuple[str, int, int], object] = {}
        self.numbers: dict[int, int] = {}  # of platforms
        self.frames = 0
        self.budget = Budget()  # of the answer that is being worked out
        self.nearest: dict[object, object] = {}
        self._said: dict[tuple[str, str, str, int], Said] = {}
        self._between: dict[tuple[str, str, str, int], Between | None] = {}
        self._moods: dict[tuple[str, str], tuple[bool, bool]] = {}

    def said(self, of: str, to: str, device: str, hardware: int) -> Said:
        """Return what one product says of another one to a device and hardware."""
        by_device, by_hardware = self._mood(of, to)
        key = (of, to, device if by_device else "", hardware if by_hardware else 0)
        found = self._said.get(key)
        if found is None:
            found = self._said[key] = Context(self.facts, device, hardware).said(of, to)
        return found

    def between(self, p: str, q: str, device: str, hardware: int) -> Between | None:
        """Return what two products say of each other; None where they say nothing."""
        mine, theirs = self._mood(p, q), self._mood(q, p)
        key = (p, q, device if mine[0] or theirs[0] else "", hardware if mine[1] or theirs[1] else 0)
        if key not in self._between:
            silent = not self.facts.edges(p, q) and not self.facts.edges(q, p)
            context = Context(self.facts, device, hardware)
            self._between[key] = None if silent else Between(self, context, p, q)
        return self._between[key]

    def _mood(self, of: str, to: str) -> tuple[bool, bool]:
        """Return whether what one product says of another depends on the device, and on the hardware."""
        found = self._moods.get((of, to))
        if found is None:
            edges = self.facts.edges(of, to)
            found = self._moods[of, to] = (any(e.devices for e in edges), any(e.hardware for e in edges))
        return found
