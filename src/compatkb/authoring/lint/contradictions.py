"""No two claims contradict each other unless a dispute records it with a decision and its reason."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace

from compatkb.authoring.knowledge_base import Knowledge, KnowledgeEdge
from compatkb.authoring.lint.subject import LintProblem, LintSubject
from compatkb.schema import Kind, Role

_DEMANDS = (Kind.NEEDS, Kind.CONSTRAINS)


def contradictions(subject: LintSubject) -> Iterator[LintProblem]:
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
                    sources = (*knowledge.claims[pair[0]].sources, *knowledge.claims[pair[1]].sources)
                    message += "; if both sources stand, add a [[dispute]]"
                    yield LintProblem(*subject.claims[named[0]], message, sources=sources)


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
    builds = [element.build for element in knowledge.of_mask(product, mask)]
    return any(build is None or devices & set(build.devices) for build in builds)


def _wrong(knowledge: Knowledge, edge: KnowledgeEdge, denial: KnowledgeEdge) -> str | None:
    """Return what is wrong between a claim and one that denies it, None where both can hold."""
    if edge.kind is denial.kind is Kind.VERIFIED and _of_feature(knowledge, edge) and edge.of_mask != denial.of_mask:
        if edge.supported_on & denial.supported_on and _shared(knowledge, edge, denial):
            return f"{edge.of}: {edge.claim} and {denial.claim} give it different stages with the same {edge.to}"
        return None
    both = f"{edge.of}: {edge.claim} {edge.kind} {edge.to}{edge.spec}, and {denial.claim}"
    if denial.kind in _DEMANDS:
        apart = not (edge.to_mask & denial.to_mask or edge.unlisted & denial.unlisted)
        if edge.kind in _DEMANDS and edge.forbidden_on & denial.forbidden_on and apart:
            return f"{both} {denial.kind} {denial.spec}: no {edge.to} satisfies both"
        if (
            edge.kind is Kind.VERIFIED
            and edge.supported_on & denial.forbidden_on
            and _outside(edge, denial.to_mask, denial.unlisted)
        ):
            return f"{both} {denial.kind} {denial.spec}: what was tested is excluded"
    if denial.kind is Kind.BREAKS and edge.kind is not Kind.BREAKS and edge.supported_on & denial.forbidden_on:
        if _of_feature(knowledge, edge):
            return f"{both} denies it of some of these" if _shared(knowledge, edge, denial) else None
        if edge.to_mask and not edge.to_mask & ~denial.to_mask and not edge.unlisted & denial.unlisted:
            return f"{both} breaks with all of these"
        if edge.kind is Kind.VERIFIED and "==" in edge.spec and edge.to_mask & denial.to_mask:
            return f"{both} breaks with some of these"
    return None


def _of_feature(knowledge: Knowledge, edge: KnowledgeEdge) -> bool:
    """Return whether this is a statement on a feature, of which there is an element for each stage."""
    return knowledge.products[edge.of].role is Role.FEATURE


def _shared(knowledge: Knowledge, edge: KnowledgeEdge, denial: KnowledgeEdge) -> bool:
    """Return whether two statements speak of one build: each names no more versions than its source does."""
    asked = edge.devices & denial.devices if edge.devices and denial.devices else edge.devices | denial.devices
    shared = edge.to_mask & denial.to_mask
    return _made(knowledge, edge.to, shared, asked) if asked else bool(shared)


def _outside(edge: KnowledgeEdge, admitted: int, gaps: int) -> bool:
    """Return whether a claim names versions that are not admitted: any for exact ones, all of them for a range."""
    if "==" in edge.spec:
        return bool(edge.to_mask & ~admitted)
    return bool(edge.to_mask or edge.unlisted) and not (edge.to_mask & admitted or edge.unlisted & gaps)
