"""Records of data/migration.toml: what programs use of discontinued products, and what to write instead."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from compatkb.schema.base import Basis, Id, Reasoned, Record, SourceEntry, Sources
from compatkb.schema.timeline import Line

Name = Annotated[str, Field(pattern=r"^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*$")]
"""A dotted name of Python."""
Pattern = Annotated[str, Field(pattern=r"^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*(\.\*)?$")]
"""A dotted name, or `name.*` for each of `members` below it."""


class SourcedEntry(Reasoned):
    """What the records share that say what replaces something."""

    basis: Basis = Basis.STATED
    note: Line | None = None
    sources: Sources


class ModuleEntry(Record):
    """A module that a product brings: who imports it needs that product."""

    name: Name
    product: Id
    sources: Sources


class Replacement(SourcedEntry):
    """Names that a product brings, and what replaces them; without `instead` and `how` no source names anything."""

    id: Id
    product: Id  # that brings them
    names: tuple[Pattern, ...] = Field(min_length=1)
    members: tuple[Name, ...] = ()  # what `*` stands for
    instead: Pattern | None = None
    how: Line | None = None  # what to do where writing another name is not enough
    device: Id | None = None  # the one device that it is about
    mechanical: bool = False  # the other name does the same, so a program may write it
    arguments: tuple[Name, ...] = ()  # the names of arguments that are given by position, where the other takes another order
    before: tuple[Line, ...] = ()  # what the other takes first
    defaults: dict[Name, Line] = {}  # what is to be written where it is not given, to keep its meaning

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if self.mechanical and (not self.instead or self.basis is not Basis.STATED):
            raise ValueError("only what a source states may be written by a program, and it needs `instead`")
        if any(name.endswith(".*") for name in self.names) != bool(self.members):
            raise ValueError("`members` and names that end in `.*` go together")
        return self


class ArgumentEntry(Record):
    """A call that takes a value: the function, the argument's name, and its position where it may be given by that."""

    call: Name
    name: Name
    position: int | None = None


class ValueEntry(SourcedEntry):
    """A value that only a product understands, and what to pass instead on a device; `instead` is absent to pass none."""

    id: Id
    product: Id
    value: Line
    arguments: tuple[ArgumentEntry, ...] = Field(min_length=1)
    options: tuple[Line, ...] = ()  # how options of programs that take it end
    device: Id | None = None
    instead: Line | None = None
    how: Line | None = None
    mechanical: bool = False

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if self.mechanical and (not self.instead or self.basis is not Basis.STATED):
            raise ValueError("only what a source states may be written by a program, and it needs `instead`")
        return self


class Launcher(SourcedEntry):
    """A command that a product brings, and the one to use instead."""

    id: Id
    product: Id
    names: tuple[Line, ...] = Field(min_length=1)  # programs, or modules that Python runs
    device: Id | None = None
    instead: Line | None = None
    how: Line | None = None


class MigrationFile(Record):
    """data/migration.toml."""

    source: dict[Id, SourceEntry] = {}
    module: tuple[ModuleEntry, ...] = ()
    replacement: tuple[Replacement, ...] = ()
    value: tuple[ValueEntry, ...] = ()
    launcher: tuple[Launcher, ...] = ()
