"""Records of data/evidence/, what commands observed; and of data/proofs.toml, what products export to native libraries."""

from collections.abc import Iterator
from datetime import date
from enum import StrEnum
from fnmatch import fnmatchcase
from itertools import product
from typing import Annotated, Self

from pydantic import ConfigDict, Field, model_validator

from compatkb.schema.base import Id, Record, SourceEntry, Text


class Level(StrEnum):
    """What an observation did; each says more than the one before."""

    PUBLISHED = "published"
    RESOLVE = "resolve"
    GATE = "gate"  # a release's own version check, recorded while there were new ones: not asked any more
    SYMBOLS = "symbols"
    IMPORT = "import"
    RUN = "run"


class Outcome(StrEnum):
    """How it ended. `not-checked` is neither for nor against; its `detail` says why.

    Libraries whose symbols are all there link: that they load, and that what they load works, is seen by an import alone.
    """

    OK = "ok"
    CONFLICT = "conflict"
    NOT_FOUND = "not-found"
    YANKED = "yanked"
    LINKS = "links"
    MISSING_SYMBOL = "missing-symbol"
    FAILED_IMPORT = "failed-import"
    FAILED_RUN = "failed-run"
    NOT_CHECKED = "not-checked"


class Observation(Record):
    """A line of data/evidence/*.jsonl: what a command saw, dated.

    `packages` are distribution names as installers write them, with the exact versions: several of a name, between blanks,
    are as many observations. `tool` is what decided (pip, uv,
    python) and `tools` the versions of all that took part; `digest` is the SHA-256 of the tool's report.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    level: Level
    outcome: Outcome
    packages: dict[str, Text] = Field(min_length=1)
    python: Text
    platform: Annotated[str, Field(pattern=r"^[a-z0-9.]+-[a-z0-9_]+$")]  # OS and architecture: linux-x86_64
    device: Id = "cpu"
    index: Id  # the channel that was asked
    answered: str = ""  # the address that answered in its place
    checked: date
    tool: Id
    tools: dict[Id, Text] = {}
    features: tuple[Id, ...] = ()  # of the processor, where they mattered
    stubbed: bool = False  # libraries of another device were replaced by empty ones
    digest: str = ""
    culprit: Id | None = None  # the claim that the failure proved, or that stands although an import went well
    missing: tuple[Text, ...] = ()  # of the symbols and libraries that one build needs and the other lacks, the most telling
    needs: tuple[Text, ...] = ()  # libraries that a build does not bring, and versions such as GLIBC_2.28
    unlinked: tuple[
        Id, ...
    ] = ()  # products of which no library of a build needs a symbol, though it may be built against them
    fetched: int = 0  # bytes of the wheel that were read
    detail: str = ""  # the decisive lines, or the reason

    @model_validator(mode="after")
    def _explained(self) -> Self:
        if self.outcome is Outcome.NOT_CHECKED and not self.detail:
            raise ValueError("what was not checked needs a `detail` with the reason")
        return self

    @property
    def os(self) -> str:
        """The operating system, as data/products/os.toml names it."""
        return self.platform.rpartition("-")[0]

    @property
    def arch(self) -> str:
        """The architecture."""
        return self.platform.rpartition("-")[2]

    def each(self) -> "Iterator[Observation]":
        """Yield an observation for each choice of versions: itself where every package has one."""
        choices = [text.split() for text in self.packages.values()]
        if all(len(versions) == 1 for versions in choices):
            yield self
            return
        for versions in product(*choices):
            yield self.model_copy(update={"packages": dict(zip(self.packages, versions, strict=True))})

    @property
    def question(self) -> tuple[object, ...]:
        """What was asked; of two observations of one question the newer one counts."""
        what = tuple(sorted(self.packages.items()))
        where = (self.python, self.platform, self.device, self.index, self.answered)
        return (str(self.level), what, *where, self.tool, self.stubbed)


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
