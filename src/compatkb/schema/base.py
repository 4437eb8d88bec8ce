"""What all records share: strictness, kebab-case keys, quoted versions, sources, bases."""

import re
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from typing import Annotated, Self

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

    model_config = ConfigDict(frozen=True, extra="forbid", alias_generator=_kebab, populate_by_name=True)


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
