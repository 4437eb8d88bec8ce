"""Applications over torch: what the data say of each, by the names that people call it."""

from typing import NamedTuple

from compatkb.core.names import word_key
from compatkb.store.queries.provenance import guide_records
from compatkb.store.reader import Snapshot


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
    note: str | None
    sources: tuple[tuple[str, str | None], ...]


def find_application(facts: Snapshot, name: str) -> Application | None:
    """Return the application that a name or an alias means; None where there is none."""
    key = word_key(name)
    for record in guide_records(facts, "application"):
        if key in {word_key(each) for each in (record["id"], record["name"], *record["aliases"])}:
            sources = tuple((text, url) for text, url in record["sources"])
            lists = {"by": tuple(record["by"]), "requires": tuple(record["requires"]), "sources": sources}
            return Application(**{field: record[field] for field in Application._fields} | lists)
    return None
