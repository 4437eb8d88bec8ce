"""The warnings and feature support that are shown with a stack."""

from functools import reduce
from operator import or_

from compatkb.core.record import NamedTuple
from compatkb.core.vocabulary import Certainty, Role
from compatkb.engine.problem import ABSENT, Member, Problem
from compatkb.store.records import UNBUILT, PlatformSet


class StackWarning(NamedTuple):
    """A reason for care: its kind, whom it concerns, and what is needed to say it."""

    kind: str  # yanked, eol, security, driver, device, preview, known-issue, unreviewed, feature, unnamed
    product: str
    version: str
    day: int | None  # since when, or the last supported day
    until: int | None  # the other bound, where only bounds are known
    detail: str
    sources: tuple[tuple[str, str | None], ...]


class FeatureSupport(NamedTuple):
    """A feature that was asked for: how far it has come in this stack, how well that is known, and who says it."""

    feature: str
    status: str
    level: int  # Certainty.UNKNOWN: nobody says that it is there, whatever the status
    by: tuple[tuple[str, str], ...]  # products and versions of which it is said
    claims: tuple[str, ...]


def warnings_of(problem: Problem, product: str, idx: int, chosen: list[Member], platforms: PlatformSet) -> list[StackWarning]:
    """Return the warnings that an element carries in a stack; what others need carries some only where it is asked for."""
    role = problem.facts.products[product].role
    if role in (Role.DIMENSION, Role.FEATURE) or (role == Role.LEAF and (product, idx) not in chosen):
        return []
    element, request = problem.element(product, idx), problem.request
    warnings = []
    if element.yank_by is not None and element.may_be_yanked(request.as_of):
        unsure = element.yank_after if request.as_of < element.yank_by else None
        warnings.append(
            StackWarning("yanked", product, element.version, element.yank_by, unsure, element.yank_reason or "", ())
        )
    if role != Role.LEAF and element.has_ended(request.today):
        warnings.append(StackWarning("eol", product, element.version, element.eol, None, "", ()))
    if element.is_preview:
        warnings.append(StackWarning("preview", product, element.version, None, None, element.stage, ()))
    members, hardware = dict(chosen), problem.context.hardware
    for advisory in problem.context.candidates.advisories(product, idx):
        if not advisory.cells & platforms or (hardware and advisory.hardware and not advisory.hardware & hardware):
            continue
        neighbour = members.get(advisory.to, ABSENT)
        if advisory.to and not (neighbour >= 0 and advisory.to_mask >> neighbour & 1):
            continue
        warnings.append(
            StackWarning(advisory.kind, product, element.version, advisory.since, None, advisory.message, advisory.sources)
        )
    return warnings


def unnamed_releases(problem: Problem, chosen: list[Member], platforms: PlatformSet) -> list[StackWarning]:
    """Return the warnings that a package stands beside another release of a series than the one that its maker names."""
    facts, warnings = problem.facts, []
    packages = [(p, i) for p, i in chosen if facts.products[p].role not in UNBUILT and i < facts.sizes[p]]
    for one, i in packages:
        for other, j in packages:
            exact = [
                edge
                for edge in problem.context.edges_from(one, i, other)
                if edge.stated
                and not edge.in_metadata
                and edge.supported_on & platforms
                and "==" in edge.spec
                and "*" not in edge.spec
            ]
            if not exact:
                continue
            named = reduce(or_, (edge.to_mask for edge in exact))
            releases = {element.release for element in facts.elements(other).of(named)}
            if facts.elements(other)[j].release in releases or _is_named(problem, (other, j), (one, i), platforms):
                continue
            if any(mask >> j & 1 and mask & named for mask in facts.series(other)):
                sources = tuple(dict.fromkeys(source for edge in exact for source in facts.citations(edge.claim)))
                version, detail = facts.elements(one)[i].version, f"{other} {' or '.join(sorted(releases))}"
                warnings.append(StackWarning("unnamed", one, version, None, None, detail, sources))
    return warnings


def _is_named(problem: Problem, one: Member, other: Member, platforms: PlatformSet) -> bool:
    """Return whether a build names another one exactly."""
    edges = problem.context.edges_from(*one, other[0])
    return any(e.to_mask >> other[1] & 1 and e.supported_on & platforms and "==" in e.spec for e in edges)


def offered_feature(problem: Problem, feature: str, idx: int, chosen: list[Member], platforms: PlatformSet) -> FeatureSupport:
    """Return what is known of a feature that was asked for."""
    certain, inferred = problem.vouched(feature, idx, chosen)
    level = (
        Certainty.CERTAIN
        if not platforms & ~certain
        else Certainty.INFERRED
        if not platforms & ~certain & ~inferred
        else Certainty.UNKNOWN
    )
    by, claims = [], []
    for other, number in chosen:
        if problem.facts.products[other].role not in UNBUILT:
            edges = problem.edges_between(feature, idx, other, number)
            supporting = [edge.claim for edge, inside in edges if inside and edge.supported_on & platforms]
            by += [(other, problem.element(other, number).version)] if supporting else []
            claims += supporting
    return FeatureSupport(
        feature, problem.facts.elements(feature)[idx].version, level, tuple(by), tuple(dict.fromkeys(claims))
    )


def feature_warnings(problem: Problem, offered: FeatureSupport) -> list[StackWarning]:
    """Return the warning that a feature is no more than a beta or a prototype."""
    element = next(e for e in problem.facts.elements(offered.feature) if e.version == offered.status)
    if element.stage == "stable" or not offered.by:
        return []
    cited = tuple(dict.fromkeys(pair for claim in offered.claims for pair in problem.facts.citations(claim)))
    product, version = offered.by[0]
    return [StackWarning("feature", product, version, None, None, f"{offered.feature} {offered.status}", cited)]
