"""Records of data/applications.toml: programs and libraries over torch, or in its place, and what they do on Intel GPUs."""

from enum import StrEnum
from typing import Annotated, Self

from packaging.requirements import Requirement
from pydantic import AfterValidator, Field, model_validator

from compatkb.schema.base import Id, Record, SourceEntry, Sources, Text
from compatkb.schema.timeline import Line


def _requirement(text: str) -> str:
    Requirement(text)
    return text


class Served(StrEnum):
    """Whether an application runs on Intel GPUs."""

    YES = "yes"
    PARTLY = "partly"  # by a part of it, by what has ended, or not by torch
    NO = "no"


class ApplicationState(StrEnum):
    """Whether somebody works on it."""

    ACTIVE = "active"  # nothing that was read says otherwise
    ENDED = "ended"
    ARCHIVED = "archived"


class ApplicationEntry(Record):
    """What the README, the requirements or a source file of an application say at one ref."""

    id: Id
    name: Line
    aliases: tuple[Text, ...] = ()
    repo: Text
    xpu: Served
    by: tuple[Line, ...] = ()  # what drives the GPU: native xpu, IPEX, SYCL, OpenVINO, Vulkan
    since: Line | None = None
    install: Line | None = None
    requires: tuple[Annotated[Text, AfterValidator(_requirement)], ...] = ()  # PEP 508, of the packages that matter here
    state: ApplicationState
    ended: Annotated[Text, Field(pattern=r"^\d{4}(-\d\d(-\d\d)?)?$")] | None = None  # as exactly as it was told
    note: Line | None = None
    sources: Sources

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if bool(self.by) is (self.xpu is Served.NO):
            raise ValueError("`by` says what drives the GPU, and is empty where nothing does")
        if (self.ended is None) is not (self.state is ApplicationState.ACTIVE):
            raise ValueError("an application that is not active says when it `ended`, another has none")
        return self


class ApplicationFile(Record):
    """data/applications.toml."""

    source: dict[Id, SourceEntry] = {}
    application: tuple[ApplicationEntry, ...] = Field(min_length=1)
