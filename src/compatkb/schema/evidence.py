"""Records of data/evidence/: what commands observed."""

from collections.abc import Iterator
from datetime import date
from enum import StrEnum
from itertools import product
from typing import Annotated, Self

from pydantic import ConfigDict, Field, model_validator

from compatkb.schema.base import Id, Record, Text


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
    resolved: date | None = None  # the last day on which what is refused now was resolved, or found
    vanished: tuple[str, ...] = ()  # pins that the index had then and has no more, of single wheels with their tags

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
