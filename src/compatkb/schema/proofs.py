"""data/proofs.toml: which devices a machine has, what products export to native libraries and link."""

from fnmatch import fnmatchcase
from typing import Self

from pydantic import Field, model_validator

from compatkb.schema.base import Id, Record, SourceEntry, Text


class ExportedSymbols(Record):
    """What a product offers to native libraries that are built against it; patterns as of a shell."""

    product: Id
    since: Text  # the first release that is read
    libraries: tuple[Text, ...] = Field(min_length=1)  # members of its wheels
    sonames: tuple[Text, ...] = Field(min_length=1)  # how libraries that need them name them
    namespaces: tuple[Text, ...] = ()  # of C++
    names: tuple[Text, ...] = ()  # functions outside namespaces
    note: Text | None = None

    def is_library(self, name: str) -> bool:
        """Return whether a library that others need by this name is one of the product's."""
        return any(fnmatchcase(name, pattern) for pattern in self.sonames)


class LinkedLibraries(Record):
    """A product whose native libraries are built against another one."""

    product: Id
    against: Id
    optional: tuple[Text, ...] = ()  # members without which it imports nevertheless; patterns as of a shell
    note: Text | None = None
    sources: tuple[SourceEntry, ...] = ()  # where releases load what is optional

    @model_validator(mode="after")
    def _sourced(self) -> Self:
        if self.optional and not self.sources:
            raise ValueError("`optional` needs `sources`: where the product loads these libraries and goes on without them")
        return self


class Device(Record):
    """How to see that a machine has a device; `path` is a pattern, and none means that every machine has it."""

    id: Id
    path: Text | None = None


class ProofFile(Record):
    """data/proofs.toml."""

    features: tuple[Id, ...] = ()  # of a processor: the ones that decide which code runs
    device: tuple[Device, ...] = ()
    exports: tuple[ExportedSymbols, ...] = ()
    links: tuple[LinkedLibraries, ...] = ()

    @model_validator(mode="after")
    def _exported(self) -> Self:
        if unknown := {links.against for links in self.links} - {exports.product for exports in self.exports}:
            raise ValueError(f"`links` names {', '.join(sorted(unknown))}, and no `exports` says what that offers")
        return self
