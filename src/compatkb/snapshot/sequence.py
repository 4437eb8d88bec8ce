"""The elements of one product, read when they are looked at."""

from collections.abc import Callable, Iterator, Sequence
from typing import overload

from compatkb.records import Element

FEW = 256
"""So many are read at once: cheaper than one by one, and soon all are wanted."""
Fetch = Callable[[int | None], Iterator[Element]]


class Elements(Sequence[Element]):
    """Elements, oldest first; a long list is read one by one unless somebody goes through all of it."""

    def __init__(self, count: int, fetch: Fetch) -> None:
        """Prepare a list of `count` elements; `fetch` yields one by its number, or all."""
        self._count, self._fetch = count, fetch
        self._one: dict[int, Element] = {}
        self._all: tuple[Element, ...] | None = None

    def __len__(self) -> int:
        return self._count

    @property
    def held(self) -> int:
        """How many have been read so far."""
        return len(self._all) if self._all is not None else len(self._one)

    def __iter__(self) -> Iterator[Element]:
        return iter(self._whole())

    @overload
    def __getitem__(self, place: int) -> Element: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Element]: ...
    def __getitem__(self, place: int | slice) -> Element | Sequence[Element]:
        if self._all is not None or isinstance(place, slice) or self._count <= FEW:
            return self._whole()[place]
        idx = place + self._count if place < 0 else place
        found = self._one.get(idx)
        if found is None:
            if not 0 <= idx < self._count:
                raise IndexError(place)
            found = self._one[idx] = next(self._fetch(idx))
        return found

    def _whole(self) -> tuple[Element, ...]:
        if self._all is None:
            self._all = tuple(self._fetch(None))
            self._one.clear()
        return self._all
