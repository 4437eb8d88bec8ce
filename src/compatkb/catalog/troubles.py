"""What the data know of errors, libraries and graphics, as records to search in."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from compatkb.store.queries.provenance import guide_records
from compatkb.store.reader import Snapshot

KINDS = ("symptom", "library", "graphics")
_SLOT = re.compile(r"\{[^}]*\}")


class Trouble(NamedTuple):
    """A record to search in, and the command that shows more of it."""

    kind: str
    product: str | None
    version: str | None
    title: str
    names: tuple[str, ...]
    remarks: tuple[str, ...]
    command: tuple[str, ...]


def troubles(facts: Snapshot) -> Iterator[Trouble]:
    """Yield the symptoms with their causes, the run-time libraries with their releases, and GPUs with their PCI ids."""
    yield from _symptoms(facts)
    for record in guide_records(facts, "generation"):
        title = f"{record['library']} comes with {record['product']} {record['version']}"
        names = (record["library"], record["library"].partition(".so")[0])
        command = ("compatkb", "diagnose", f"{record['library']}: cannot open shared object file")
        yield Trouble("library", record["product"], record["version"], title, names, _some(record["note"]), command)
    for record in guide_records(facts, "graphics"):
        ids = tuple(f"{record['vendor']}:{device}" for device in record["ids"])
        hardware = record["hardware"]
        title = f"{record['name']}" + (f" is hardware {hardware}" if hardware else " is on no list of supported hardware")
        names = (record["name"], *ids, *record["ids"])
        command = ("compatkb", "resolve", hardware) if hardware else ("compatkb", "list", "hardware")
        yield Trouble("graphics", None, None, title, names, _some(record["note"], hardware), command)


def _symptoms(facts: Snapshot) -> Iterator[Trouble]:
    causes = {record["id"]: record for record in guide_records(facts, "cause")}
    for record in guide_records(facts, "symptom"):
        likeliest = causes[max(record["causes"], key=lambda speaks: speaks["weight"])["cause"]]
        patterns = tuple(" ".join(_SLOT.sub("", pattern).replace("*", " ").split()) for pattern in record["patterns"])
        pieces = re.split(r"\*|\{[^}]*\}", record["patterns"][0])
        phrase = max((piece.strip(" :=") for piece in pieces), key=len)
        remarks = (likeliest["why"], *likeliest["do"], *_some(record["note"]))
        names = (*patterns, likeliest["title"], record["id"], likeliest["id"])
        title = f"{patterns[0]}: {likeliest['title']}"
        yield Trouble("symptom", None, None, title, names, remarks, ("compatkb", "diagnose", phrase))


def _some(*texts: str | None) -> tuple[str, ...]:
    return tuple(text for text in texts if text)
