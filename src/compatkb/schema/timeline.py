"""Records of data/timeline.toml: events with dates, parties and sources."""

from datetime import date, timedelta
from enum import StrEnum
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from compatkb.schema.base import Dispute, Id, Record, SourceEntry, Term, Text

MONTHS = {"month": 1, "quarter": 3, "half": 6, "year": 12}
"""How many months a date of each precision spans; a day spans none."""

Precision = Literal["day", "month", "quarter", "half", "year"]
Line = Annotated[Text, Field(pattern=r"^[^\x00-\x1f\x7f-\x9f\u2028\u2029]+$")]


class EventKind(StrEnum):
    """What an event is."""

    RELEASE = "release"
    MILESTONE = "milestone"
    END_OF_LIFE = "end-of-life"


class Vendor(Record):
    """Whose event it is; the order of the file is the order of the lanes."""

    id: Id
    name: Line


class EventEntry(Record):
    """One event; its date is its own, or that of the product or release that `of` names."""

    id: Id
    who: Id
    kind: EventKind
    title: Line
    of: Term | None = None  # "torch==2.4.0": its release; "ipex": the end of life of the product
    on: date | None = None  # the day, or the first day of the month, quarter, half or year
    precision: Precision = "day"
    after: date | None = None  # bounds, inclusive, where no single date is known
    by: date | None = None
    announced: date | None = None  # from this day on it is shown as planned
    note: Text | None = None
    sources: tuple[Id, ...] = ()  # none are needed where the date is derived from a release

    @model_validator(mode="after")
    def _whole(self) -> Self:
        bounded = self.after is not None or self.by is not None
        if self.on and bounded:
            raise ValueError("give either `on`, or bounds `after` and `by`")
        if bounded and not (self.after and self.by and self.after <= self.by):
            raise ValueError("bounds need both `after` and `by`, in this order")
        if self.precision != "day" and not self.on:
            raise ValueError("`precision` needs `on`")
        if self.on and self.precision != "day" and (self.on.day != 1 or (self.on.month - 1) % MONTHS[self.precision]):
            raise ValueError(f"`on` is the first day of its {self.precision}")
        if not self.dated and not self.of:
            raise ValueError("give a date: `on`, or `after` and `by`; or `of`, a release that has one")
        if not self.sources and not (self.kind is EventKind.RELEASE and self.of):
            raise ValueError("give `sources`; only the release of a product that has its own goes without")
        return self

    @property
    def dated(self) -> bool:
        """Whether the event has a date of its own."""
        return self.on is not None or self.after is not None

    @property
    def span(self) -> tuple[date, date]:
        """The first and the last day on which it can have happened; the event must be `dated`."""
        if self.after and self.by:
            return self.after, self.by
        assert self.on
        return self.on, last_day(self.on, self.precision)


def last_day(first: date, precision: str) -> date:
    """Return the last day of the month, quarter, half or year that starts on `first`; a day is its own last day."""
    if precision == "day":
        return first
    months = first.month - 1 + MONTHS[precision]
    return date(first.year + months // 12, months % 12 + 1, 1) - timedelta(days=1)


class TimelineFile(Record):
    """data/timeline.toml."""

    vendor: tuple[Vendor, ...] = Field(min_length=1)
    source: dict[Id, SourceEntry] = {}
    event: tuple[EventEntry, ...] = ()
    dispute: tuple[Dispute, ...] = ()
