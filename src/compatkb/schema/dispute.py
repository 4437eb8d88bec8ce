"""Records of disagreements between sources, the same in files of products, images and channels."""

from datetime import date
from typing import Literal, Self

from pydantic import Field, model_validator

from compatkb.schema.base import ArchId, DeviceId, HardwareId, Id, Record, SystemId, Text

OPEN = "open"
"""The decision of a dispute that nobody has decided: what depends on it is unknown."""
BOTH = "both"
"""The decision of a dispute between claims that can hold together, such as two lists of what was tested."""


class When(Record):
    """Conditions under which a claim holds, and-ed; inside one dimension any value will do."""

    device: tuple[DeviceId, ...] = ()
    os: tuple[SystemId, ...] = ()
    arch: tuple[ArchId, ...] = ()
    python: tuple[Text, ...] = ()  # minors such as "3.12", or one bound such as ">=3.12"
    hardware: tuple[HardwareId, ...] = ()


class Dispute(Record):
    """Sources that disagree, and what was decided."""

    id: Id
    about: Text
    of: tuple[Text, ...] = ()  # whom it concerns beyond its claims: terms; in an image file tags; ids in channels.toml
    when: When | None = None  # where it matters only on some platforms
    claims: tuple[Id, ...] = ()  # ids of claims in this file; empty where the dispute is about a date or a state
    positions: tuple[Text, ...] = ()  # for such: what each side says, in the order of `sources`
    day: Literal["released", "end-of-life"] | None = None  # where it is about a date: which one
    days: tuple[date, ...] = ()  # and the day that each position gives
    columns: tuple[Id, ...] = ()  # in an image file: the columns of the tag tables that it decides
    decision: Text  # the id of the claim that holds, the value that holds, "both", or "open"
    reason: Text
    decided: date
    sources: tuple[Id, ...] = Field(default=())

    @model_validator(mode="after")
    def _has_two_sides(self) -> Self:
        if max(len(self.positions), len(self.claims)) < 2:
            raise ValueError("a dispute has two sides: two `claims`, or two `positions` with a source each")
        if self.positions and len(self.positions) != len(self.sources):
            raise ValueError("give one of `sources` for each of `positions`, in their order")
        if not self.claims and not self.of:
            raise ValueError("say in `of` whom it concerns, since no claim says it")
        if self.claims and not self.positions and self.decision not in (*self.claims, OPEN, BOTH):
            raise ValueError(f"the decision is one of {', '.join(self.claims)}, {BOTH} or {OPEN}")
        if self.days and (not self.day or len(self.days) != len(self.positions)):
            raise ValueError("`days` has one day for each of `positions`, and `day` says which day it is")
        return self
