"""Denies distributions that install a Python package of the same name: the one that comes later overwrites the other; pure."""

from collections.abc import Iterator
from itertools import permutations

from compatkb.authoring.knowledge_base import ClaimOrigin, Knowledge, KnowledgeEdge, SourcedClaim
from compatkb.core.vocabulary import ANY_VERSION
from compatkb.schema import Basis, Claim, Kind, ProductHead


def shared_imports(knowledge: Knowledge) -> tuple[KnowledgeEdge, ...]:
    """Return what follows from equal import names: two products deny each other, and what installs one denies the other.

    Two that speak of each other have said how they go together.
    """
    told = {frozenset((edge.of, edge.to)) for edge in knowledge.edges}
    heads = [head for head in knowledge.products.values() if head.import_name and head.distribution]
    pairs = [pair for pair in permutations(heads, 2) if pair[0].import_name == pair[1].import_name]
    return tuple(edge for one, other in pairs for edge in _denials(knowledge, one, other, told))


def _denials(knowledge: Knowledge, one: ProductHead, other: ProductHead, told: set[frozenset[str]]) -> Iterator[KnowledgeEdge]:
    """Yield that a product, and whatever installs it, denies another one of the same import name."""
    both = f"install the same Python package, {one.import_name}: the later overwrites the other"
    every = (1 << len(knowledge.elements[other.id])) - 1

    def denied(edge: KnowledgeEdge, reason: str) -> KnowledgeEdge:
        key = f"{edge.claim}-not-{other.id}"
        known = knowledge.claims.get(edge.claim)
        claim = Claim(
            id=key, kind=Kind.BREAKS, of=known.claim.of if known else edge.of, to=(other.id,), basis=Basis.OBSERVED,
            reason=reason, sources=("index",),
        )  # fmt: skip
        cited = known.sources if known else knowledge.cited(one.id, ("index",)) + knowledge.cited(other.id, ("index",))
        knowledge.claims[key] = SourcedClaim(claim, edge.of, cited, ClaimOrigin.INDEX)
        return edge._replace(
            claim=key, kind=Kind.BREAKS, to=other.id, to_mask=every, spec=ANY_VERSION, supported_on=0,
            basis=Basis.OBSERVED, in_metadata=False, unlisted=0,
        )  # fmt: skip

    if frozenset((one.id, other.id)) not in told and one.id < other.id:
        own = (1 << len(knowledge.elements[one.id])) - 1
        pair = KnowledgeEdge(
            one.id, Kind.BREAKS, one.id, own, other.id, every, ANY_VERSION, knowledge.grid.all, 0, Basis.OBSERVED
        )  # fmt: skip
        yield denied(pair, f"{one.distribution} and {other.distribution} {both}")
    for edge in knowledge.edges:
        installs = edge.kind is Kind.NEEDS or (edge.kind is Kind.CONSTRAINS and one.automatic)
        if edge.to == one.id and installs and edge.of != other.id and edge.basis is not Basis.INFERRED:
            name = knowledge.products[edge.of].label or edge.of
            yield denied(edge, f"{name} installs {one.distribution}; it and {other.distribution} {both}")
