"""Platform masks, each stored once in the snapshot."""

from collections.abc import Iterator

from compatkb.store.records import CellsRecord


class Interned:
    """Platform masks, each stored once."""

    def __init__(self) -> None:
        self._ids: dict[int, int] = {}

    def id(self, mask: int) -> int:
        """Return the number of a mask, a new one at its first sight."""
        return self._ids.setdefault(mask, len(self._ids))

    def records(self) -> Iterator[CellsRecord]:
        """Yield the masks that there are when the first is asked for."""
        yield from (CellsRecord(number, mask) for mask, number in self._ids.items())
