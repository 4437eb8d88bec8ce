"""What all records of `data/` share: values, sources, and disagreements between these."""

import re
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from functools import cached_property
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator


def _kebab(name: str) -> str:
    return name.rstrip("_").replace("_", "-")


def _term(text: str) -> str:
    if not re.fullmatch(_TERM, text):
        raise ValueError(f"{text!r} is not a product id with an optional specifier, such as torch==2.8.0")
    return text


Text = Annotated[str, Field(min_length=1)]
Id = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_.-]*$")]
_TERM = r"[a-z0-9][a-z0-9_.-]*(\s*(==|!=|>=|<=|<|>|~=).+)?"
Term = Annotated[str, AfterValidator(_term), Field(json_schema_extra={"pattern": f"^{_TERM}$"})]


@dataclass(frozen=True)
class Refers:
    """Marks a text that names something: a product, a feature, a channel, or a value of a dimension."""

    kind: str


ProductId = Annotated[Id, Refers("product")]
FeatureId = Annotated[Id, Refers("feature")]
ChannelId = Annotated[Id, Refers("channel")]
DeviceId = Annotated[Id, Refers("device")]
HardwareId = Annotated[Id, Refers("hardware")]
SystemId = Annotated[Id, Refers("os")]
ArchId = Annotated[Id, Refers("arch")]
PythonText = Annotated[Text, Refers("python")]
Sources = Annotated[tuple[Id, ...], Field(min_length=1)]


class Record(BaseModel):
    """Base of every record: frozen, nothing extra, kebab-case keys."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True, alias_generator=_kebab, populate_by_name=True)


class Basis(StrEnum):
    """How a claim is known."""

    STATED = "stated"
    OBSERVED = "observed"
    INFERRED = "inferred"


class Reasoned(Record):
    """Base of the records that say by `basis` how they are known, and may have a `note`."""

    @model_validator(mode="after")
    def _explained(self) -> Self:
        if getattr(self, "basis", None) is Basis.INFERRED and not getattr(self, "note", None):
            raise ValueError("an inference needs a `note` with its reason")
        return self


class SourceEntry(Record):
    """A document that can be looked up again: a file in a repository, a thread, a page, or a file on an index."""

    repo: Text | None = None  # owner/name
    ref: Text | None = None  # commit, tag, or branch with its commit
    path: Text | None = None
    thread: Text | None = None  # issues/794 or pull/4212
    url: Text | None = None
    channel: Id | None = None  # an index of channels.toml
    file: Text | None = None  # the file on that index
    sha256: Text | None = None
    at: int | Text | None = None  # line or heading
    seen: date

    @model_validator(mode="after")
    def _specific(self) -> Self:
        is_file = self.repo and self.ref and self.path
        is_thread = self.repo and self.thread
        if not (is_file or is_thread or self.url or (self.channel and self.file)):
            raise ValueError("a source names repo+ref+path, repo+thread, url, or channel+file")
        return self

    @cached_property
    def cited(self) -> tuple[str, str | None]:
        """The source as people read it, repository, ref, path and place, and its address where it has one that is fixed."""
        at = "" if self.at is None else (f":{self.at}" if isinstance(self.at, int) else f" “{self.at}”")
        if self.repo and self.path:
            return f"{self.repo} {self.ref} {self.path}{at}", self._address()
        if self.repo:
            return f"{self.repo} {self.thread}{at}", self._address()
        if self.url:
            return f"{self.url}{at}", self.url
        return f"{self.channel} index: {self.file}{at} (seen {self.seen})", None

    def _address(self) -> str | None:
        if self.url:
            return self.url
        if not re.fullmatch(r"[\w.-]+/[\w.-]+", self.repo or ""):
            return None
        if self.thread:
            return f"https://github.com/{self.repo}/{self.thread}"
        line = f"#L{self.at}" if isinstance(self.at, int) else ""
        return f"https://github.com/{self.repo}/blob/{(self.ref or '').replace('+', '%2B')}/{self.path}{line}"


OPEN = "open"
"""The decision of a dispute that nobody has decided: what depends on it is unknown."""
BOTH = "both"
"""The decision of a dispute between claims that can hold together, such as two lists of what was tested."""


class When(Record):
    """Conditions under which a claim holds, and-ed; inside one dimension any value will do."""

    device: tuple[DeviceId, ...] = ()
    os: tuple[SystemId, ...] = ()
    not_os: tuple[SystemId, ...] = ()  # systems that it is not about, though their family is
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
        if max(len(self.positions), len(set(self.claims))) < 2:
            raise ValueError("a dispute has two sides: two different `claims`, or two `positions` with a source each")
        if self.positions and len(self.positions) != len(self.sources):
            raise ValueError("give one of `sources` for each of `positions`, in their order")
        if not self.claims and not self.of:
            raise ValueError("say in `of` whom it concerns, since no claim says it")
        if self.claims and not self.positions and self.decision not in (*self.claims, OPEN, BOTH):
            raise ValueError(f"the decision is one of {', '.join(self.claims)}, {BOTH} or {OPEN}")
        if self.days and (not self.day or len(self.days) != len(self.positions)):
            raise ValueError("`days` has one day for each of `positions`, and `day` says which day it is")
        return self
