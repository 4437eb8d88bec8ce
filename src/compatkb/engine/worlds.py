"""Where elements can be: the platforms of each as one device and day see them, before a request narrows them."""

from collections.abc import Callable
from typing import NamedTuple

from compatkb.engine.kept import Kept
from compatkb.engine.said import Said

PLATFORM = ("python", "os", "arch")
"""The dimensions that are bits of a set of platforms."""
SAID = {dimension: 1 << n for n, dimension in enumerate(PLATFORM)}
ALL_SAID = sum(SAID.values())
WHEELS = ALL_SAID + 1
"""What of a product's platforms can be waived, as bits: what it says of a dimension; that it lacks wheels."""


class Levels(NamedTuple):
    """Platform bits by how well something is known there; disjoint."""

    strong: int
    weak: int
    unknown: int


class Worlds:
    """The platforms of elements; what is asked for by `waived` is what some bits leave out of account."""

    def __init__(self, kept: Kept, as_of: int, said: Callable[[str, str], Said]) -> None:
        self.facts, self._kept, self.as_of, self._said = kept.facts, kept, as_of, said
        self._denials: dict[tuple[str, int, int], tuple[int, int]] = {}
        self._world: dict[tuple[str, int, int], Levels] = {}
        self._outlines: dict[tuple[str, int], tuple[tuple[int, int, int], ...]] = {}
        self._somewhere: dict[tuple[str, int, int], int] = {}
        self._places: dict[str, tuple[int, ...]] = {}

    def places(self, product: str) -> tuple[int, ...]:
        """Return the elements of a product in sets; of all members of one the same is known on every platform."""
        found = self._places.get(product)
        if found is None:
            parts = [mask for _, mask in self.facts.having(product, "place")]
            for dimension in PLATFORM:
                for edge in self._said(product, dimension).edges:
                    cut = (part for known in parts for part in (known & edge.of_mask, known & ~edge.of_mask))
                    parts = [part for part in cut if part]
            found = self._places[product] = tuple(parts)
        return found

    def denials(self, product: str, idx: int, waived: int = 0) -> tuple[int, int]:
        """Return where what an element says of Python, OS and architecture excludes it, without what is waived.

        And where it would, but for an undecided dispute that leaves it open.
        """
        key = (product, idx, waived & ALL_SAID)
        found = self._denials.get(key)
        if found is None:
            denied = unsettled = 0
            for dimension in self._bounds(product, waived):
                for edge in self._said(product, dimension).by(idx):
                    if edge.kind == "verified":
                        continue
                    inside = self.facts.dimension_cells(dimension, edge.to_mask)
                    cells = edge.denies & (inside if edge.kind == "breaks" else ~inside)
                    if edge.open:
                        unsettled |= cells
                    else:
                        denied |= cells
            found = self._denials[key] = (denied, unsettled)
        return found

    def world(self, product: str, idx: int, waived: int) -> Levels:
        """Return the platforms of a listed element in the whole world, by how well they are known, without what is waived."""
        key = (product, idx, waived)
        found = self._world.get(key)
        if found is None:
            element = self.facts.elements(product)[idx]
            found = self._world[key] = self._kept.one(self.weighed(product, idx, waived, element.strong, element.weak, 0))
        return found

    def weighed(self, product: str, idx: int, waived: int, strong: int, weak: int, unknown: int) -> Levels:
        """Return the same where this is what its wheels say of platforms."""
        element = self.facts.elements(product)[idx]
        denied, unsettled = self.denials(product, idx, waived)
        weak &= ~strong
        unknown &= ~strong & ~weak
        if waived & WHEELS:
            strong, weak, unknown = -1, 0, 0
        elif element.complete < self.as_of:
            unknown |= ~strong & ~weak
        if element.by is not None and element.by > self.as_of:  # out by then, or not: nobody knows the day
            strong, weak, unknown = 0, 0, strong | weak | unknown
        unknown |= (strong | weak) & unsettled
        known = ~denied & ~unsettled
        return Levels(strong & known, weak & known, unknown & ~denied)

    def outline(self, product: str, waived: int) -> tuple[tuple[int, int, int], ...]:
        """Return the listed elements in sets, each with the platforms where its members can be, and where that is known."""
        found = self._outlines.get((product, waived))
        if found is None:
            worlds = [(part, self.world(product, part.bit_length() - 1, waived)) for part in self.places(product)]
            found = tuple([(part, w.strong | w.weak | w.unknown, w.strong | w.weak) for part, w in worlds])
            self._outlines[product, waived] = found
        return found

    def _bounds(self, product: str, waived: int) -> list[str]:
        """Return the dimensions of the platform of which a product says something that counts."""
        spoken = self.facts.spoken_of(product)
        return [dimension for dimension, bit in SAID.items() if dimension in spoken and not waived & bit]

    def somewhere(self, leaf: str, mask: int, waived: int) -> int:
        """Return the platforms on which at least one of some versions of a leaf can be, without what is waived."""
        key = (leaf, mask, waived & ALL_SAID)
        if key not in self._somewhere:
            listed = mask & (1 << self.facts.sizes[leaf]) - 1 if self._bounds(leaf, waived) else 0
            cells = 0 if listed or not mask else -1  # of versions that are not listed nothing is known
            for n in range(listed.bit_length()):
                if listed >> n & 1:
                    cells |= ~self.denials(leaf, n, waived)[0]
            self._somewhere[key] = cells
        return self._somewhere[key]
