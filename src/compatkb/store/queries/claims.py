"""Claims as people read them, with their sources; scopes, installations and statements about features."""

import json
from typing import Any, NamedTuple

from compatkb.store.queries.kept import kept
from compatkb.store.reader import EDGE, Snapshot, read_sources
from compatkb.store.records import Edge, Sources


class ClaimRecord(NamedTuple):
    """A claim in words; `to_terms` are alternatives, `condition` is empty for always."""

    id: str
    product: str
    kind: str
    of_term: str
    to_terms: tuple[str, ...]
    condition: str
    basis: str
    reason: str | None
    note: str | None
    origin: str


class Citation(NamedTuple):
    """A source of a claim; `document` is equal for all places in one document, `publisher` for all documents of one."""

    claim: str
    text: str
    url: str | None
    seen: str
    document: str
    publisher: str


class InstallRecord(NamedTuple):
    """An installation that one command cannot do: products by step, and the pins that its maker says to ignore."""

    id: int
    product: str
    mask: int
    steps: tuple[tuple[str, ...], ...]
    waives: tuple[str, ...]
    note: str | None
    sources: Sources


class FeatureSuccessor(NamedTuple):
    """The feature to use instead of one that has ended, and how that is known."""

    feature: str
    basis: str
    note: str | None
    sources: Sources


class FeatureRecord(NamedTuple):
    """A feature: its names, the product that has it, and the products without which nobody has it."""

    id: str
    name: str
    product: str
    needs: tuple[str, ...]
    replaced_by: FeatureSuccessor | None
    aliases: tuple[str, ...]
    note: str | None
    sources: Sources


class StatementRecord(NamedTuple):
    """What a source says of a feature; the condition names devices, systems and so on, none for any."""

    claim: str
    feature: str
    position: int
    product: str
    spec: str
    mask: int
    status: str
    device: tuple[str, ...]
    os: tuple[str, ...]
    arch: tuple[str, ...]
    python: tuple[str, ...]
    hardware: tuple[str, ...]
    basis: str
    reason: str | None
    note: str | None

    @property
    def condition(self) -> dict[str, tuple[str, ...]]:
        """The parts of the condition that are not empty."""
        parts = {name: getattr(self, name) for name in ("device", "os", "arch", "python", "hardware")}
        return {name: values for name, values in parts.items() if values}


_CLAIM = "id, product, kind, of_term, to_terms, when_, basis, reason, note, origin"
_OF_NO_FEATURE = "product not in (select id from feature)"
_STATEMENT = (
    "s.claim, s.feature, s.position, s.product, s.spec, s.mask, s.status, s.device, s.os, s.arch, s.python, s.hardware, "
    "s.basis, c.reason, c.note"
)


@kept
def claim(facts: Snapshot, name: str) -> ClaimRecord:
    """Return a claim; raises KeyError for an unknown one."""
    for row in facts.select(f"select {_CLAIM} from claim where id = ?", name):
        return _claim(row)
    raise KeyError(name)


def every_claim(facts: Snapshot) -> dict[str, ClaimRecord]:
    """Return all claims by id, statements about features among them."""
    return {row[0]: _claim(row) for row in facts.select(f"select {_CLAIM} from claim")}


def product_claims(facts: Snapshot) -> tuple[ClaimRecord, ...]:
    """Return the claims that are no statements about features, by id."""
    return tuple(map(_claim, facts.select(f"select {_CLAIM} from claim where {_OF_NO_FEATURE} order by id")))


def _claim(row: tuple[Any, ...]) -> ClaimRecord:
    return ClaimRecord._make((*row[:4], tuple(row[4].split(" | ")), *row[5:]))


def every_edge(facts: Snapshot) -> tuple[Edge, ...]:
    """Return the edges that all claims make, in the order of the data."""
    return tuple(map(facts.edge, facts.select(f"select {EDGE} from edge order by id")))


def citations(facts: Snapshot) -> tuple[Citation, ...]:
    """Return the sources of all claims."""
    query = "select claim, text, url, seen, document, publisher from citation order by claim, n"
    return tuple(Citation(*row) for row in facts.select(query))


def sources_by_claim(facts: Snapshot) -> dict[str, Sources]:
    """Return the sources of each claim as text and address."""
    found: dict[str, list[tuple[str, str | None]]] = {}
    for cited in citations(facts):
        found.setdefault(cited.claim, []).append((cited.text, cited.url))
    return {name: tuple(sources) for name, sources in found.items()}


@kept
def installs(facts: Snapshot) -> tuple[InstallRecord, ...]:
    """Return the installations that one command cannot do."""
    rows = facts.select("select id, product, mask, steps, waives, note, sources from install order by id")
    return tuple(
        InstallRecord(i, product, int(mask, 16), tuple(map(tuple, json.loads(s))), tuple(json.loads(w)), n, read_sources(c))
        for i, product, mask, s, w, n, c in rows
    )


def features(facts: Snapshot) -> tuple[FeatureRecord, ...]:
    """Return the features, by id."""
    rows = facts.select("select id, name, product, needs, replaced_by, aliases, note, sources from feature order by id")
    return tuple(
        FeatureRecord._make(
            (*row[:3], tuple(row[3].split()), _successor(row[4]), tuple(json.loads(row[5])), row[6], read_sources(row[7]))
        )
        for row in rows
    )


def _successor(text: str | None) -> FeatureSuccessor | None:
    if text is None:
        return None
    instead = json.loads(text)
    sources = tuple((name, url) for name, url in instead["sources"])
    return FeatureSuccessor(instead["feature"], instead["basis"], instead["note"], sources)


def statements(facts: Snapshot) -> tuple[StatementRecord, ...]:
    """Return what sources say of features, in the order of the data."""
    query = f"select {_STATEMENT} from statement s join claim c on c.id = s.claim order by s.feature, s.position"
    return tuple(
        StatementRecord._make((*row[:5], int(row[5], 16), row[6], *(tuple(words.split()) for words in row[7:12]), *row[12:]))
        for row in facts.select(query)
    )


def scope_sources(facts: Snapshot, product: str) -> tuple[Sources, ...]:
    """Return the sources of each scope in which the list of a product's releases or wheels is complete."""
    return tuple(read_sources(text) for (text,) in facts.select("select sources from scope where product = ?", product))
