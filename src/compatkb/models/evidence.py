"""Lines of data/evidence/: what commands saw."""

from datetime import date
from enum import StrEnum

from pydantic import ConfigDict

from compatkb.models.base import Id, Record, Text


class Level(StrEnum):
    """What an observation did; each says more than the one before."""

    PUBLISHED = "published"
    RESOLVE = "resolve"
    GATE = "gate"
    IMPORT = "import"
    RUN = "run"


class Observation(Record):
    """A line of data/evidence/*.jsonl: what a command saw, dated."""

    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=True)

    level: Level
    outcome: Text
    packages: dict[str, str]
    python: Text
    os: Id
    arch: Id
    device: Id
    index: Text
    checked: date
    detail: str = ""
    culprit: str | None = None
