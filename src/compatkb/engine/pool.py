"""What is one for all questions of a knowledge base: equal values, the numbers of platforms, the budget of the answer."""

from typing import TypeVar

from compatkb.engine.budget import Budget

T = TypeVar("T")


class Pool:
    """Values that are kept once."""

    def __init__(self) -> None:
        self.budget = Budget()  # of the answer that is being worked out
        self._numbers: dict[int, int] = {}  # of platforms
        self._ones: dict[object, object] = {}

    def one(self, value: T) -> T:
        """Return the one value that stands for all equal ones: what is kept is thousands of times the same few."""
        return self._ones.setdefault((type(value), value), value)  # type: ignore[return-value]  # by type, so of this one

    def number(self, cells: int) -> int:
        """Return the number of some platforms: equal ones have the same."""
        return self._numbers.setdefault(cells, len(self._numbers))
