"""The budget of an answer: search steps, and a deadline that the caller may supply."""

from collections.abc import Callable

from compatkb.errors import GaveUpError

STEPS = 500_000
"""What some seconds are enough for; no answer of the tests needs a tenth of it."""
_BETWEEN_LOOKS = 1_024


class Budget:
    """What one answer may spend; the engine itself knows no clock."""

    def __init__(self, steps: int = STEPS, expired: Callable[[], bool] | None = None) -> None:
        self.spent = 0
        self._steps, self._expired, self._next = steps, expired, _BETWEEN_LOOKS

    def spend(self, steps: int) -> None:
        """Count steps; raises GaveUpError when there are too many, or the time is over."""
        self.spent += steps
        if self.spent > self._next:
            self._next = self.spent + _BETWEEN_LOOKS
            if self.spent > self._steps:
                raise gave_up(self.spent, "its limit")
            if self._expired and self._expired():
                raise gave_up(self.spent, "the time for it is over")


def gave_up(steps: int, why: str) -> GaveUpError:
    """Return the error for a search that ended without an answer."""
    return GaveUpError(f"gave up after {steps:,} steps, {why}; pin more products, or a Python")
