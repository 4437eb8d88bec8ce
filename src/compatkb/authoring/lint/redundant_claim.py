"""A claim says something that no other claim says, and that the index does not say."""

from collections import defaultdict
from collections.abc import Iterator

from compatkb.authoring.feature_products import claim_id
from compatkb.authoring.knowledge_base import KnowledgeEdge
from compatkb.authoring.lint.subject import LintSubject
from compatkb.core.findings import Finding, Severity
from compatkb.schema import Basis, Claim, Kind

NAME, LEVEL = "redundant-claim", Severity.ERROR
SUMMARY = "a claim repeats another claim, or a requirement that the index file holds"


def check(subject: LintSubject) -> Iterator[Finding]:
    """Yield claims that could go without changing any answer."""
    disputed = frozenset().union(*subject.disputed)
    seen: dict[tuple[object, ...], str] = {}
    for document, file in subject.products:
        for number, claim in enumerate(file.claim):
            key = _content(claim)
            if key in seen and claim.id not in disputed:
                message = f"says the same as {seen[key]}: put the sources together"
                yield subject.finding(NAME, LEVEL, document, ("claim", number), message)
            seen.setdefault(key, claim.id)
    for document, feature in subject.features:
        id_by_key: dict[tuple[object, ...], str] = {}
        for number, statement in enumerate(feature.statement):
            key = (statement.of, statement.status, statement.when, statement.vendor_builds, statement.basis)
            if key in id_by_key and claim_id(feature, statement.id) not in disputed:
                message = f"says the same as {id_by_key[key]}: put the sources together"
                yield subject.finding(NAME, LEVEL, document, ("statement", number), message)
            id_by_key.setdefault(key, statement.id)
    if subject.knowledge is None:
        return
    written: dict[str, list[KnowledgeEdge]] = defaultdict(list)
    listed: dict[tuple[str, str], list[KnowledgeEdge]] = defaultdict(list)
    for edge in subject.knowledge.edges:
        if edge.listed:
            listed[edge.of, edge.to].append(edge)
        elif edge.claim in subject.claims:
            written[edge.claim].append(edge)
    for name, edges in written.items():
        if name not in disputed and all(_covered(edge, listed[edge.of, edge.to]) for edge in edges):
            document, where = subject.claims[name]
            message = "the index file holds this requirement, as exactly"
            sources = subject.knowledge.claims[listed[edges[0].of, edges[0].to][0].claim].sources
            yield subject.finding(NAME, LEVEL, document, where, message, sources=sources)


def _content(claim: Claim) -> tuple[object, ...]:
    return (claim.kind, claim.of, tuple(sorted(claim.to)), claim.when, claim.basis)


def _covered(edge: KnowledgeEdge, listed: list[KnowledgeEdge]) -> bool:
    """Return whether exact requirements of the index vouch for and deny all that a claim does, for each of its builds."""
    if edge.kind not in (Kind.NEEDS, Kind.CONSTRAINS) or not edge.of_mask:
        return False
    for number in range(edge.of_mask.bit_length()):
        bit = 1 << number
        if edge.of_mask & bit and not any(
            known.of_mask & bit
            and known.basis is Basis.OBSERVED
            and not known.to_mask & ~edge.to_mask
            and not edge.forbidden_on & ~known.forbidden_on
            for known in listed
        ):
            return False
    return True
