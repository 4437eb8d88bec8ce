"""Sets of platforms that are alike: what is said under conditions comes to the same on them."""

from collections.abc import Sequence
from functools import cached_property

from compatkb.records import Edge

_MOST_PARTS = 64


class Platforms:
    """The sets of platforms that some edges were asked about, `cells`; equal ones have one `number`."""

    def __init__(self, *edges: Sequence[Edge]) -> None:
        self._edges = edges
        self._first: tuple[int, int] | None = None
        self._same: dict[int, int] = {}
        self._by_shape: dict[tuple[bool, ...], int] = {}

    def same(self, number: int, cells: int) -> int:
        """Return the number of the first set like this one: where an edge can hold, or not hold, it can there too."""
        found = self._same.get(number)
        if found is None:
            found = self._same[number] = self._found(number, cells)
        return found

    def _found(self, number: int, cells: int) -> int:
        if self._first is None:  # a single question need not look further
            self._first = (number, cells)
            return number
        if len(self._parts) > _MOST_PARTS:  # it would take longer than it saves
            return number
        if not self._by_shape:
            self._by_shape[self._shape(self._first[1])] = self._first[0]
        return self._by_shape.setdefault(self._shape(cells), number)

    def _shape(self, cells: int) -> tuple[bool, ...]:
        return tuple([bool(cells & part) for part in self._parts])

    @cached_property
    def _parts(self) -> list[int]:
        """All platforms in parts: on those of one part the same edges hold."""
        parts = [-1]
        for mask in {mask for told in self._edges for edge in told for mask in (edge.denies, edge.vouches)}:
            if len(parts) > _MOST_PARTS:
                break
            parts = [piece for part in parts for piece in (part & mask, part & ~mask) if piece]
        return parts
