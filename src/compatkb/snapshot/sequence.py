"""The elements of one product, read when they are looked at."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, overload

from compatkb.records import Element


class Elements(Sequence[Element]):
    """Elements, oldest first; so many are read at once, and each is made when somebody asks for it."""

    def __init__(
        self, count: int, size: int, fetch: Callable[[int], list[Any]], make: Callable[[int, list[Any]], Element]
    ) -> None:
        """Prepare a list of `count` elements; `fetch` yields the rows of a chunk of that `size`, `make` one's element."""
        self._count, self._size, self._fetch, self._make = count, size, fetch, make
        self._chunks: dict[int, list[Any]] = {}
        self._made: dict[int, Element] = {}

    def __len__(self) -> int:
        return self._count

    @property
    def held(self) -> int:
        """How many have been looked at so far."""
        return len(self._made)

    def __iter__(self) -> Iterator[Element]:
        return map(self._one, range(self._count))

    def of(self, mask: int) -> list[Element]:
        """Return those of a set, oldest first."""
        left, found = mask & (1 << self._count) - 1, []
        while left:
            bit = left & -left
            found.append(self._one(bit.bit_length() - 1))
            left ^= bit
        return found

    @overload
    def __getitem__(self, place: int) -> Element: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Element]: ...
    def __getitem__(self, place: int | slice) -> Element | Sequence[Element]:
        if isinstance(place, slice):
            return tuple(map(self._one, range(*place.indices(self._count))))
        return self._made.get(place) or self._one(place + self._count if place < 0 else place)

    def _one(self, idx: int) -> Element:
        found = self._made.get(idx)
        if found is None:
            if not 0 <= idx < self._count:
                raise IndexError(idx)
            number, place = divmod(idx, self._size)
            chunk = self._chunks.get(number)
            if chunk is None:
                chunk = self._chunks[number] = self._fetch(number)
            found = self._made[idx] = self._make(idx, chunk[place])
            chunk[place] = None  # read once
        return found
