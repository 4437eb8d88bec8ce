"""What builds require of products that nobody pinned and that are known only through such requirements."""

from collections.abc import Iterable

from compatkb.engine.constraints import is_waived
from compatkb.engine.context import RuntimeRequirement
from compatkb.engine.problem import ABSENT, Member, Problem
from compatkb.store.records import ElementSet, PlatformSet


def runtime_requirements(
    problem: Problem, present: Iterable[Member], *, firm_only: bool = False
) -> dict[str, list[RuntimeRequirement]]:
    """Return what a stack's builds require of runtimes, waived requirements left out.

    With `firm_only` those are left out too that a further product could waive.
    """
    facts, ignored = problem.facts, problem.waived
    chosen = dict(present)
    waived: dict[int, ElementSet] = {}  # edges, with the elements for which they do not hold
    for product, mask, edge, of_mask in facts.waivers:
        idx = chosen.get(product, ABSENT)
        if firm_only or (idx >= 0 and mask >> idx & 1):
            waived[edge] = waived.get(edge, 0) | of_mask
    requirements: dict[str, list[RuntimeRequirement]] = {}
    for product, idx in chosen.items():
        if not 0 <= idx < facts.sizes[product]:
            continue
        for to, edge, requirement in problem.question.runtime_rows(product, idx):
            if to in chosen or (ignored and is_waived(ignored, product, to)) or waived.get(edge, 0) >> idx & 1:
                continue
            requirements.setdefault(to, []).append(requirement)
    return requirements


def runtime_conflicts(
    problem: Problem, present: tuple[Member, ...], *, firm_only: bool = False
) -> tuple[PlatformSet, PlatformSet]:
    """Return where requirements on runtimes exclude each other, and where an inferred pin decides them.

    With `firm_only` where they do so whatever further product comes along.
    """
    conflicts = problem.runtime_conflicts.get((present, firm_only))
    if conflicts is None:
        required = runtime_requirements(problem, present, firm_only=firm_only)
        conflicts = problem.runtime_conflicts[present, firm_only] = _conflicts(problem, required)
    return conflicts


def _conflicts(problem: Problem, required: dict[str, list[RuntimeRequirement]]) -> tuple[PlatformSet, PlatformSet]:
    conflicting = doubtful = 0
    for runtime, requirements in required.items():
        waived = problem.waived_of_platform(runtime)
        for platforms, versions, is_inferred in regions_of(requirements):
            conflicting |= platforms & ~problem.availability.somewhere(runtime, versions, waived)
            doubtful |= platforms if is_inferred else 0
    return conflicting, doubtful


def regions_of(requirements: list[RuntimeRequirement]) -> list[tuple[PlatformSet, ElementSet, bool]]:
    """Return disjoint platforms with the versions that all requirements admit there, and whether an inferred pin decides."""
    regions: list[tuple[PlatformSet, ElementSet, bool]] = []
    seen = 0
    for requirement in requirements:
        cut: list[tuple[PlatformSet, ElementSet, bool]] = []
        for platforms, versions, is_inferred in regions:
            if shared := platforms & requirement.platforms:
                cut.append((shared, versions & requirement.versions, is_inferred or requirement.is_inferred_pin))
            if rest := platforms & ~requirement.platforms:
                cut.append((rest, versions, is_inferred))
        if fresh := requirement.platforms & ~seen:
            cut.append((fresh, requirement.versions, requirement.is_inferred_pin))
        seen |= requirement.platforms
        regions = cut
    return regions
