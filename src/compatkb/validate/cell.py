"""A cell of the validation matrix: one question to an installer or an interpreter, and what all cells share."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING
from zlib import crc32

from compatkb.schema import Level, Observation, Outcome
from compatkb.store.records import picked

if TYPE_CHECKING:
    from compatkb.refresh.listing import DistributionFile

_SHARED = "level tool python platform device index answered"
"""What a cell and the observation that answers it have in common."""


@dataclass(frozen=True)
class ValidationCell:
    """One question: whether these builds go together on this platform, as far as this level and tool can tell."""

    level: Level
    tool: str  # pip, uv or python
    packages: tuple[tuple[str, str], ...]  # distribution and exact version, sorted
    python: str  # a minor, such as 3.11
    platform: str = "linux-x86_64"
    device: str = "cpu"
    index: str = "default"
    claimed: str = "works"  # what the knowledge base says of it: a verdict
    answered: str = ""  # the address that answers in place of the index

    @cached_property
    def id(self) -> str:
        """The text that names the cell, the same in every run."""
        pins = ",".join(f"{name}=={version}" for name, version in self.packages)
        words = [self.level, self.tool, pins, self.python, self.platform, self.device, self.index]
        return " ".join([*words, *([self.answered] if self.answered else [])])

    @property
    def question(self) -> tuple[object, ...]:
        """What is asked, as `Observation.question` has it."""
        return (
            str(self.level), self.packages, self.python, self.platform, self.device, self.index, self.answered, self.tool,
            False,  # no library of another device is replaced by an empty one
        )  # fmt: skip

    def in_shard(self, number: int, of: int) -> bool:
        """Return whether the cell belongs to shard `number` (from 1) of `of`; stays so when cells are added."""
        return crc32(self.id.encode()) % of == number - 1

    def observed(self, outcome: Outcome, checked: date, detail: str = "", **more: object) -> Observation:
        """Return the observation that the cell ended with `outcome`; `more` are further fields of the record."""
        seen = {"packages": dict(self.packages), "outcome": outcome, "checked": checked, "detail": detail}
        return Observation.model_validate({**picked(self, _SHARED), **seen, **more})


def cell_of(observation: Observation) -> ValidationCell:
    """Return the cell that an observation answers."""
    return ValidationCell(**picked(observation, _SHARED), packages=tuple(sorted(observation.packages.items())))


@dataclass(frozen=True)
class RunContext:
    """What every cell of a run may use."""

    today: date
    folder: Path  # for environments and reports; each cell works in a folder of its own below it
    cache: Path  # shared between cells and runs: downloaded wheels, symbols, pip itself
    data: Path  # the data directory
    channels: dict[str, tuple[str, str]] = field(default_factory=dict)  # channel: how installers name it, and its url
    indexes: dict[str, str] = field(default_factory=dict)  # channel: url that answers in its place
    interpreters: dict[str, str] = field(default_factory=dict)  # minor: executable
    use_pip_config: bool = False
    newest_pip: bool = True  # in an environment of its own; else the pip that comes with the interpreter
    seconds: float = 900.0  # the most that one cell may take
    megabytes: int = 12_000  # the most disk that one cell may take
    pages: "dict[tuple[str | None, str], tuple[DistributionFile, ...]]" = field(default_factory=dict)  # that were read


Check = Callable[[ValidationCell, RunContext], Observation]
"""Answers one cell; returns `not-checked` with the reason rather than raising for what the world lacks."""
