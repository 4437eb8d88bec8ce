"""No two claims contradict, unless that is recorded as a dispute with a decision and its reason."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace

from compatkb.authoring.knowledge_base import Knowledge, KnowledgeEdge
from compatkb.authoring.lint.subject import LintSubject
from compatkb.core.findings import Finding, Severity
from compatkb.schema import Kind, Role

NAME, LEVEL = "contradiction", Severity.ERROR
SUMMARY = "two claims cannot both hold, and no dispute says which one does"

_DEMANDS = (Kind.NEEDS, Kind.CONSTRAINS)


def check(subject: LintSubject) -> Iterator[Finding]:
    """Yield pairs of claims under which something has no partner, or under which a tested pair is denied.

    Claims that lost a dispute are not among the edges; those of an open one are expected to disagree.
    """
    knowledge = subject.knowledge
    if knowledge is None:
        return
    groups: dict[tuple[str, str], list[KnowledgeEdge]] = defaultdict(list)
    for edge in knowledge.edges:
        groups[edge.of, edge.to].append(edge)
        if edge.kind is Kind.BREAKS and edge.of != edge.to:
            groups[edge.to, edge.of].append(_turned(edge))
    reported: set[tuple[str, str]] = set()
    for group in groups.values():
        for number, left in enumerate(group):
            for right in group[:number]:
                pair = (min(left.claim, right.claim), max(left.claim, right.claim))
                if (
                    pair in reported
                    or not (left.of_mask & right.of_mask or _of_feature(knowledge, left))
                    or any(claims >= set(pair) for claims in subject.disputed)
                ):
                    continue
                if not _meet(knowledge, left, right):
                    continue
                message = _wrong(knowledge, left, right) or _wrong(knowledge, right, left)
                named = [edge.claim for edge in (left, right) if edge.claim in subject.claims]
                if message and named:
                    reported.add(pair)
                    document, where = subject.claims[named[0]]
                    sources = (*knowledge.claims[pair[0]].sources, *knowledge.claims[pair[1]].sources)
                    fix = "if both sources stand, add a [[dispute]]"
                    yield subject.finding(NAME, LEVEL, document, where, f"{message}; {fix}", sources=sources)


def _turned(edge: KnowledgeEdge) -> KnowledgeEdge:
    return replace(edge, of=edge.to, of_mask=edge.to_mask, to=edge.of, to_mask=edge.of_mask, unlisted=0)


def _meet(knowledge: Knowledge, left: KnowledgeEdge, right: KnowledgeEdge) -> bool:
    """Return whether a device and a hardware exist on which both hold, of something that is made for that device."""
    if left.hardware and right.hardware and not left.hardware & right.hardware:
        return False
    if not left.devices and not right.devices:
        return True
    asked = left.devices & right.devices if left.devices and right.devices else left.devices | right.devices
    return bool(asked) and (_of_feature(knowledge, left) or _made(knowledge, left.of, left.of_mask & right.of_mask, asked))


def _made(knowledge: Knowledge, product: str, mask: int, devices: frozenset[str]) -> bool:
    """Return whether any of these is made for any of the devices; what has no builds is for all."""
    builds = [element.build for n, element in enumerate(knowledge.elements[product]) if mask >> n & 1]
    return any(build is None or devices & set(build.devices) for build in builds)


def _wrong(knowledge: Knowledge, says: KnowledgeEdge, denies: KnowledgeEdge) -> str | None:
    """Return what is wrong between a claim and one that denies, None where both can hold."""
    if says.kind is denies.kind is Kind.VERIFIED and _of_feature(knowledge, says) and says.of_mask != denies.of_mask:
        if says.vouches & denies.vouches and _shared(knowledge, says, denies):
            return f"{says.of}: {says.claim} and {denies.claim} give it different stages with the same {says.to}"
        return None
    both = f"{says.of}: {says.claim} {says.kind} {says.to}{says.spec}, and {denies.claim}"
    if denies.kind in _DEMANDS:
        apart = not (says.to_mask & denies.to_mask or says.unlisted & denies.unlisted)
        if says.kind in _DEMANDS and says.denies & denies.denies and apart:
            return f"{both} {denies.kind} {denies.spec}: no {says.to} satisfies both"
        if says.kind is Kind.VERIFIED and says.vouches & denies.denies and _outside(says, denies.to_mask, denies.unlisted):
            return f"{both} {denies.kind} {denies.spec}: what was tested is excluded"
    if denies.kind is Kind.BREAKS and says.kind is not Kind.BREAKS and says.vouches & denies.denies:
        if _of_feature(knowledge, says):
            return f"{both} denies it of some of these" if _shared(knowledge, says, denies) else None
        if says.to_mask and not says.to_mask & ~denies.to_mask and not says.unlisted & denies.unlisted:
            return f"{both} breaks with all of these"
        if says.kind is Kind.VERIFIED and "==" in says.spec and says.to_mask & denies.to_mask:
            return f"{both} breaks with some of these"
    return None


def _of_feature(knowledge: Knowledge, edge: KnowledgeEdge) -> bool:
    """Return whether this is a statement on a feature, of which there is an element for each stage."""
    return knowledge.products[edge.of].role is Role.FEATURE


def _shared(knowledge: Knowledge, says: KnowledgeEdge, denies: KnowledgeEdge) -> bool:
    """Return whether two statements speak of one build: each names no more versions than its source does."""
    asked = says.devices & denies.devices if says.devices and denies.devices else says.devices | denies.devices
    shared = says.to_mask & denies.to_mask
    return _made(knowledge, says.to, shared, asked) if asked else bool(shared)


def _outside(says: KnowledgeEdge, admitted: int, gaps: int) -> bool:
    """Return whether a claim names versions that are not admitted: any for exact ones, all of them for a range."""
    if "==" in says.spec:
        return bool(says.to_mask & ~admitted)
    return bool(says.to_mask or says.unlisted) and not (says.to_mask & admitted or says.unlisted & gaps)
