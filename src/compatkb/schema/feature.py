"""Records of data/features/: something that software can do, and which versions of a product are said to offer it."""

from enum import StrEnum
from typing import Self

from pydantic import Field, model_validator

from compatkb.schema.base import (
    Basis,
    Dispute,
    FeatureId,
    Id,
    ProductId,
    Reasoned,
    Record,
    SourceEntry,
    Sources,
    Term,
    Text,
    When,
)


class Status(StrEnum):
    """What a statement says of a feature; the last two deny it."""

    SUPPORTED = "supported"
    BETA = "beta"
    PROTOTYPE = "prototype"
    NOT_SUPPORTED = "not-supported"
    REMOVED = "removed"

    @property
    def denies(self) -> bool:
        """Whether the feature is said not to be there."""
        return self in (Status.NOT_SUPPORTED, Status.REMOVED)


class Brought(Record):
    """A product without which nobody has the feature."""

    product: ProductId
    sources: Sources


class SuccessorEntry(Reasoned):
    """The feature to use instead of one that has ended."""

    feature: FeatureId
    basis: Basis = Basis.STATED
    note: Text | None = None
    sources: Sources


class Feature(Record):
    """The head of a feature file."""

    id: Id
    name: Text
    product: ProductId  # the product that it is part of
    aliases: tuple[Text, ...] = ()
    needs: tuple[Brought, ...] = ()  # products that a stack must then hold
    gpus: int = Field(default=1, ge=1)  # who uses it has so many in use together, at the least
    replaced_by: SuccessorEntry | None = None
    note: Text | None = None


class Statement(Reasoned):
    """What a source says of a feature: of which versions, under which condition."""

    id: Id
    of: Term  # with a specifier: the versions that the source covers, no more
    status: Status
    when: When | None = None
    vendor_builds: bool = False  # true where it holds for builds of other makers too, since the code is the same
    basis: Basis = Basis.STATED
    reason: Text | None = None  # for a denial: the sentence that people read
    note: Text | None = None
    sources: Sources

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if not any(mark in self.of for mark in "<>=!~"):
            raise ValueError(f"{self.of!r} names no versions: a statement covers those of which its source speaks")
        return self


class FeatureFile(Record):
    """A file of data/features/."""

    feature: Feature
    source: dict[Id, SourceEntry]
    statement: tuple[Statement, ...] = Field(min_length=1)
    dispute: tuple[Dispute, ...] = ()
