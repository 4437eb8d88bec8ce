"""Claims as people read them, with their sources; scopes, installations and statements about features."""

from collections.abc import Iterable
from functools import cached_property
from typing import Annotated

from compatkb.core.memo import memoized
from compatkb.core.record import NamedTuple
from compatkb.core.vocabulary import Kind
from compatkb.store.queries.solver import SolverQueries
from compatkb.store.records import Edge, Element, PlatformSet, Sources
from compatkb.store.rows import FieldForm, Mask, SourceList, Texts, Words, dumps, nested, read_list


class ClaimRecord(NamedTuple):
    """A claim in words; `to_terms` are alternatives, `condition` is empty for always."""

    id: str
    product: str
    kind: str
    of_term: str
    to_terms: Annotated[tuple[str, ...], FieldForm("TEXT", " | ".join, lambda text: tuple(text.split(" | ")))]
    condition: str
    basis: str
    reason: str | None
    note: str | None
    origin: str


class Citation(NamedTuple):
    """A source of a claim."""

    claim: str
    n: int  # its place among those of the claim
    text: str
    url: str | None
    seen: str


class InstallRecord(NamedTuple):
    """An installation that one command cannot do: products by step, and the pins that its maker says to ignore."""

    id: int
    product: str
    mask: Mask
    steps: Annotated[tuple[tuple[str, ...], ...], FieldForm("TEXT", dumps, read_list)]
    waives: Texts
    note: str | None
    sources: SourceList


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
    needs: Words
    replaced_by: Annotated[FeatureSuccessor, nested(FeatureSuccessor)] | None
    aliases: Texts
    note: str | None
    sources: SourceList
    gpus: int = 1  # who uses it has so many in use together, at the least


class StatementRecord(NamedTuple):
    """What a source says of a feature; the condition names devices, systems and so on, none for any."""

    claim: str
    feature: str
    position: int
    product: str
    spec: str
    mask: Mask
    status: str
    device: Words
    os: Words
    arch: Words
    python: Words
    hardware: Words
    basis: str
    reason: str | None  # as that of its claim
    note: str | None

    @property
    def condition(self) -> dict[str, tuple[str, ...]]:
        """The parts of the condition that are not empty."""
        parts = {name: getattr(self, name) for name in ("device", "os", "arch", "python", "hardware")}
        return {name: values for name, values in parts.items() if values}


_BOUNDS = (Kind.NEEDS, Kind.CONSTRAINS)
_OF_NO_FEATURE = "product not in (select id from feature)"


class ClaimQueries(SolverQueries):
    """What people read of claims, installations and statements about features."""

    @memoized
    def claim(self, name: str) -> ClaimRecord:
        """Return a claim; raises KeyError for an unknown one."""
        for record in self.records(ClaimRecord, "from claim where id = ?", name):
            return record
        raise KeyError(name)

    def every_claim(self) -> dict[str, ClaimRecord]:
        """Return all claims by id, statements about features among them."""
        return {claim.id: claim for claim in self.records(ClaimRecord, "from claim")}

    def explained_claims(self) -> tuple[ClaimRecord, ...]:
        """Return the claims that are no statements about features and have a reason or a note, by id."""
        return self.records(
            ClaimRecord, f"from claim where {_OF_NO_FEATURE} and (reason, note) is not (null, null) order by id"
        )

    def every_edge(self) -> tuple[Edge, ...]:
        """Return the edges that all claims make where no extra is asked for, in the order of the data."""
        return self._edges("where extra = ''")

    def every_citation(self) -> tuple[Citation, ...]:
        """Return the sources of all claims."""
        return self.records(Citation, "from citation order by claim, n")

    def sources_by_claim(self) -> dict[str, Sources]:
        """Return the sources of each claim as text and address."""
        by_claim: dict[str, list[tuple[str, str | None]]] = {}
        for cited in self.every_citation():
            by_claim.setdefault(cited.claim, []).append((cited.text, cited.url))
        return {name: tuple(sources) for name, sources in by_claim.items()}

    @cached_property
    def installs(self) -> tuple[InstallRecord, ...]:
        """The installations that one command cannot do."""
        return self.records(InstallRecord, "from install order by id")

    def feature_records(self) -> tuple[FeatureRecord, ...]:
        """Return the features, by id."""
        return self.records(FeatureRecord, "from feature order by id")

    def statements(self) -> tuple[StatementRecord, ...]:
        """Return what sources say of features, in the order of the data."""
        return self.records(StatementRecord, "from statement order by feature, position")

    def automatic_of(self, elements: Iterable[Element], platforms: PlatformSet) -> list[Element]:
        """Return what the metadata of builds bring along on some platforms, whether or not anybody vouches for it there."""
        elements = tuple(elements)
        held = {e.product for e in elements}
        dependencies = []
        for product in (p.id for p in self.products.values() if p.automatic and p.id not in held):
            for e in elements:
                own = (edge for edge in self.edges(e.product, product) if edge.of_mask >> e.idx & 1)
                masks = [edge.to_mask for edge in own if edge.kind in _BOUNDS and edge.supported_on & platforms]
                fitting = [x for mask in masks for x in self.elements(product).of(mask)]
                near = [x for x in fitting if set(x.channels) & set(e.channels)]
                dependencies += (near or fitting)[:1]
        return dependencies
