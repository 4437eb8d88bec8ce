"""Records of data/symptoms.toml: what failing programs print, and possible causes."""

import re
from enum import StrEnum
from typing import Annotated, Self

from pydantic import AfterValidator, Field, model_validator

from compatkb.core.vocabulary import ShownBy
from compatkb.schema.base import DeviceId, Id, ProductId, Record, SourceEntry, Sources, Text
from compatkb.schema.timeline import Line

SLOT = re.compile(r"\{([a-z0-9_.-]*)\}")
ANY, REQUIREMENT = "_", "requirement"
"""Slots that stand for any version, and for a requirement as installers print it."""


def _pattern(text: str) -> str:
    first = SLOT.split(text.split("*", maxsplit=1)[0])[0].strip()
    if len(first) < 3:
        raise ValueError("a pattern begins with at least three characters that are written out")
    if text.count("*") > 3:
        raise ValueError("a pattern has at most three gaps")
    if re.search(r"\}\s?\{", text):
        raise ValueError("something that is written out stands between two slots")
    if re.search(r"[{}]", SLOT.sub("", text)):
        raise ValueError("a slot is a product id between braces")
    return text


Pattern = Annotated[Line, AfterValidator(_pattern)]
"""One line of output, case ignored: `*` is a gap, `{torch}` a version of that product."""


class CauseKind(StrEnum):
    """What has to change where a cause holds."""

    VERSION = "version"  # versions that do not go together
    INDEX = "index"  # where packages come from
    RUNTIME = "runtime"  # libraries beside the packages, of a generation of their own
    MACHINE = "machine"  # no version of a package: system libraries, permissions, hardware
    CODE = "code"  # the program that asks
    LIBRARY = "library"  # releases of packages that no stack holds


class CauseEntry(Record):
    """A cause that symptoms name."""

    id: Id
    kind: CauseKind
    title: Line
    why: Line
    do: tuple[Line, ...] = Field(min_length=1)  # whatever the device
    do_for: dict[Id, tuple[Line, ...]] = {}  # by device: not said to texts that are about another one
    ask: tuple[Text, ...] = ()  # words of a request for a working stack, where the text names no versions
    device: DeviceId | None = None  # what it is about, whatever the text tells
    newest: bool = False  # the way out is a newer release: what is installed is not kept
    generations: bool = False  # which release brings the libraries that the text asks for is part of what to do
    denied: bool = False  # it holds as well where the data deny that the versions in the text work together
    sources: Sources


class Weight(Record):
    """How much a symptom speaks for a cause."""

    cause: Id
    weight: int = Field(ge=1, le=10)


class Symptom(Record):
    """What a program prints, and what that speaks for."""

    id: Id
    patterns: tuple[Pattern, ...] = Field(min_length=1)  # any of them
    causes: tuple[Weight, ...] = Field(min_length=1)
    beside: tuple[Pattern, ...] = ()  # it counts only where one of these is in the same text
    unless: tuple[Pattern, ...] = ()  # one of these in the same text explains it away
    devices: tuple[Text, ...] = ()  # it counts only where the text is about one of these; `unknown`: where it does not tell
    note: Line | None = None
    sources: Sources


class Reading(Record):
    """Patterns from which something about the machine or the request follows; of two systems the first in the file counts."""

    patterns: tuple[Pattern, ...] = Field(min_length=1)  # any of them
    product: ProductId | None = None
    version: Text | None = None
    shown_by: ShownBy | None = None  # of a device or a system
    sources: Sources

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if (self.product is not None) is not (self.shown_by is not None):
            raise ValueError("a reading of the device or the system, and no other, says what it is shown by")
        return self


class SymptomFile(Record):
    """data/symptoms.toml."""

    source: dict[Id, SourceEntry] = {}
    cause: tuple[CauseEntry, ...] = ()
    symptom: tuple[Symptom, ...] = ()
    reading: tuple[Reading, ...] = ()

    @model_validator(mode="after")
    def _whole(self) -> Self:
        known = {cause.id for cause in self.cause}
        named = {weight.cause for symptom in self.symptom for weight in symptom.causes}
        if named - known:
            raise ValueError(f"{', '.join(sorted(named - known))}: no such cause in this file")
        unnamed = known - named - {cause.id for cause in self.cause if cause.denied}
        if unnamed:
            raise ValueError(f"{', '.join(sorted(unnamed))}: no symptom names this cause")
        return self

    @property
    def products(self) -> frozenset[str]:
        """The products that patterns, readings and requests name."""
        patterns = [p for s in self.symptom for p in (*s.patterns, *s.beside, *s.unless)]
        patterns += [pattern for reading in self.reading for pattern in reading.patterns]
        slots = {name for pattern in patterns for name in SLOT.findall(pattern)} - {ANY, REQUIREMENT}
        asked = {re.split(r"[=<>!~]", word)[0] for cause in self.cause for word in cause.ask}
        return frozenset(slots | asked | {reading.product for reading in self.reading if reading.product})
