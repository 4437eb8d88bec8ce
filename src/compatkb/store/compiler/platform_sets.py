"""Platform masks, each stored once in the snapshot."""

from collections.abc import Iterator
from typing import Any

Row = dict[str, Any]


class Interned:
    """Platform masks, each stored once."""

    def __init__(self) -> None:
        self._ids: dict[int, int] = {}

    def id(self, mask: int) -> int:
        """Return the number of a mask, a new one at its first sight."""
        return self._ids.setdefault(mask, len(self._ids))

    def rows(self) -> Iterator[Row]:
        """Yield the rows of the table `cells`."""
        for mask, number in self._ids.items():
            yield {"id": number, "mask": mask.to_bytes((mask.bit_length() + 7) // 8)}
