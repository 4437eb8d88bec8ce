"""Records of data/issues/, defects that releases have under conditions, and what cures them; and of data/exceptions.toml.

The vocabulary of ranges is that of OSV (introduced, fixed, last affected, aliases); the meaning is our own: all conditions
of an issue must hold.
"""

from datetime import date
from enum import StrEnum
from typing import Annotated, Self

from pydantic import Field, model_validator

from compatkb.schema.base import DeviceId, HardwareId, Id, ProductId, Record, SystemId, Term, Text
from compatkb.schema.guides import Pattern
from compatkb.schema.timeline import Line

Link = Annotated[Text, Field(pattern=r"^https://[^\s]+$")]
Alias = Annotated[Text, Field(pattern=r"^[\w.-]+/[\w.-]+#\d+$")]


class Effect(StrEnum):
    """What a user sees of an issue; the order is that of harm, the gravest first."""

    WRONG_RESULT = "wrong-result"  # without an error
    CRASH = "crash"
    HANG = "hang"
    INSTALL = "install"  # it cannot be installed or imported
    MISSING = "missing"  # an operator or a feature is not there
    SLOW = "slow"


class IssueState(StrEnum):
    """What has become of an issue."""

    OPEN = "open"
    FIXED = "fixed"
    WONT_FIX = "wont-fix"
    NOT_REPRODUCED = "not-reproduced"


class Condition(Record):
    """One condition: releases of a product, perhaps for a device, or an operating system."""

    product: ProductId | None = None
    range: Text | None = None  # a specifier over releases, of the scheme of the product
    device: DeviceId | None = None
    system: SystemId | None = None

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if (self.product is None) is not (self.range is None) or (self.product is None) is (self.system is None):
            raise ValueError("a condition names a product with a range, or a system")
        return self


class Cure(Record):
    """What takes an issue away: other versions, or something to do."""

    to: Term | None = None
    do: Line | None = None
    sources: tuple[Link, ...] = ()

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if (self.to is None) is (self.do is None):
            raise ValueError("a cure has either `to`, a product with a specifier, or `do`, a step")
        if self.do and not self.sources:
            raise ValueError("a step to do names its sources")
        return self


class IssueEntry(Record):
    """A defect: where it is, what it does, how a text shows it, what cures it, and where it was read."""

    id: Id
    aliases: tuple[Alias, ...] = ()
    title: Line
    effect: Effect
    where: tuple[Condition, ...] = Field(min_length=1)  # all of them
    hardware: tuple[HardwareId, ...] = ()  # any of them; none: any hardware
    gpus: int = Field(default=1, ge=1)  # in use together, at the least
    ranks: bool = True  # False: one operator, or what a program does; told of, and no reason to prefer other releases
    signs: tuple[Pattern, ...] = ()  # any of them
    cures: tuple[Cure, ...] = ()
    state: IssueState
    read: date
    note: Line | None = None
    sources: tuple[Link, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _whole(self) -> Self:
        products = [condition.product for condition in self.where if condition.product]
        if len(set(products)) < len(products):
            raise ValueError("of each product there is one condition: write its releases as one range")
        return self


class IssueFile(Record):
    """A file of data/issues/: the issues of one topic."""

    issue: tuple[IssueEntry, ...] = Field(min_length=1)


class Exemption(Record):
    """One finding, or one kind of finding, that is accepted until a day; `subject` may hold `*` for any text."""

    rule: Id
    subject: Text  # the record, as the finding names it
    reason: Text
    until: date  # the last day on which it is accepted


class ExceptionFile(Record):
    """data/exceptions.toml."""

    exception: tuple[Exemption, ...] = ()
