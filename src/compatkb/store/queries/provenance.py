"""Queries about provenance: documents, observations, and guides of all kinds."""

import json
import re
from functools import cached_property
from typing import Any

from compatkb.core.memo import memoized
from compatkb.core.names import word_key
from compatkb.core.record import NamedTuple
from compatkb.store.queries.products import ProductQueries
from compatkb.store.records import Sources
from compatkb.store.rows import TextMap, Texts, read_list


class DocumentRecord(NamedTuple):
    """A cited document, with the last day, as ISO text, on which it was read."""

    text: str
    url: str | None
    seen: str


class ObservationRecord(NamedTuple):
    """What a command saw on a day, as ISO text; `culprit` is the claim that a failure proved."""

    id: int
    level: str
    outcome: str
    packages: TextMap  # their versions, several of one between blanks
    python: str
    os: str
    arch: str
    device: str
    channel: str
    checked: str
    tool: str
    stubbed: bool
    detail: str
    culprit: str | None
    missing: Texts  # symbols and libraries that one build needs and the other lacks
    needs: Texts  # libraries that a build does not bring, and versions such as GLIBC_2.28
    unlinked: Texts  # products of which none of its libraries needs a symbol
    fetched: int  # bytes of the wheel that were read


class GuideRecord(NamedTuple):
    """A record of the symptoms, machine or migration data, as JSON, by its kind and its place in the file."""

    kind: str
    position: int
    id: str | None
    body: str


class Application(NamedTuple):
    """A program or library over torch, or in its place, as its own files said at one ref."""

    id: str
    name: str
    repo: str
    xpu: str  # yes, partly or no: whether it runs on Intel GPUs
    by: tuple[str, ...]  # what drives the GPU
    since: str | None
    install: str | None
    requires: tuple[str, ...]  # PEP 508
    state: str
    ended: str | None  # a day, a month or a year
    about: str | None  # what it is
    last: str | None  # its last release
    instead: tuple[str, ...]  # what does its work today
    note: str | None
    sources: Sources

    @property
    def torch(self) -> str | None:
        """The torch that it requires."""
        return next((each for each in self.requires if re.match(r"torch(?![\w-])", each)), None)


class ProvenanceQueries(ProductQueries):
    """What people read of documents, observations and guides."""

    @memoized
    def observations(self, level: str | None = None) -> tuple[ObservationRecord, ...]:
        """Return what commands saw, at one level where it is named, in the order of the evidence."""
        where, values = ("where level = ?", (level,)) if level else ("", ())
        return self.records(ObservationRecord, f"from observation {where} order by id", *values)

    def cited_addresses(self) -> frozenset[str]:
        """Return the addresses of all that the data cite; of a source that has none, its text."""
        addresses = {url for table in ("document", "citation") for (url,) in self.select(f"select url from {table}") if url}
        for table in ("release", "element_details", "image"):
            for (sources,) in self.select(f"select distinct sources from {table}"):
                addresses.update(url or text for text, url in read_list(sources))
        return frozenset(addresses)

    def needs_graphics(self, device: str) -> bool:
        """Return whether a device is that of graphics which the data tell by id: the first of what such hardware has."""
        named = {record["hardware"] for record in self.guide_records("graphics")} - {None}
        return any(name in named and devices[:1] == (device,) for name, devices in self.hardware_devices().items())

    @memoized
    def guide_records(self, kind: str) -> list[dict[str, Any]]:
        """Return the records of one kind of the symptoms, machine or migration data, in the order of the data."""
        return [json.loads(body) for (body,) in self.select("select body from guide where kind = ? order by position", kind)]

    def guide_record(self, kind: str, position: int) -> Any:
        """Return one of the records of a kind by its place."""
        ((body,),) = self.select("select body from guide where kind = ? and position = ?", kind, position)
        return json.loads(body)

    @cached_property
    def described(self) -> frozenset[str]:
        """The distributions of which the data have what their metadata require, as `guide_records` has it."""
        kinds = self.select("select distinct kind from guide where kind like 'metadata of %'")
        return frozenset(kind.removeprefix("metadata of ") for (kind,) in kinds)

    def find_application(self, name: str) -> Application | None:
        """Return the application that a name or an alias means; None where there is none."""
        key = word_key(name)
        for record in self.guide_records("application"):
            if key in {word_key(each) for each in (record["id"], record["name"], *record["aliases"])}:
                sources = tuple((text, url) for text, url in record["sources"])
                lists = {name: tuple(record[name]) for name in ("by", "requires", "instead")}
                return Application(**{field: record[field] for field in Application._fields} | lists | {"sources": sources})
        return None
