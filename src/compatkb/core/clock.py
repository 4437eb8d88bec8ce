"""The two dates of a question: the day of knowledge decides what exists, today decides what has ended."""

import os
from datetime import UTC, date, datetime

from compatkb.core.record import NamedTuple
from compatkb.errors import UsageError

TODAY_VARIABLE = "COMPATKB_TODAY"
"""Names a day (YYYY-MM-DD) to take for today; for tests."""


class Clock(NamedTuple):
    """Today, and the day that a user asked about, if any.

    An answer knows what was known on the day of the data, unless another day is asked about; today only tells whether an
    end of life has come and how old the data are.
    """

    today: date
    as_of: date | None = None

    @property
    def lists_until(self) -> int:
        """The day, as an ordinal, that a list must reach for an absence to count; 1 where none was asked about."""
        return self.as_of.toordinal() if self.as_of else 1

    @property
    def day(self) -> date:
        """The day by which ends of life are judged: the one that was asked about, or today."""
        return self.as_of or self.today


def later(day: date, days: int) -> date:
    """Return the day so many days later, the last one that there is at most."""
    return date.fromordinal(min(day.toordinal() + days, date.max.toordinal()))


def current_day() -> date:
    """Return today in UTC, or the day that COMPATKB_TODAY names; raises UsageError where it names no day."""
    return current_time().date()


def current_time() -> datetime:
    """Return the time in UTC, on the day that COMPATKB_TODAY names; the command line and the Python API alone ask.

    Raises UsageError where it names no day.
    """
    named, now = os.environ.get(TODAY_VARIABLE), datetime.now(UTC)
    try:
        return datetime.combine(date.fromisoformat(named), now.timetz()) if named else now
    except ValueError:
        raise UsageError(f"{TODAY_VARIABLE} must be a date, written as YYYY-MM-DD") from None
