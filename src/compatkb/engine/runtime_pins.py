"""What builds require of products that nobody pinned and that are known only through such requirements."""

from collections.abc import Iterable
from functools import reduce
from operator import or_
from typing import NamedTuple

from compatkb.engine.constraints import is_waived
from compatkb.engine.context import RuntimeRequirement
from compatkb.engine.problem import ABSENT, Member, Problem
from compatkb.store.records import EVERY, ElementSet, PlatformSet


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
        for to, edge, requirement in problem.runtime_rows(product, idx):
            if to in chosen or (ignored and is_waived(ignored, product, to)) or waived.get(edge, 0) >> idx & 1:
                continue
            requirements.setdefault(to, []).append(requirement)
    return requirements


def runtime_conflicts(
    problem: Problem, present: tuple[Member, ...], *, firm_only: bool = False
) -> tuple[PlatformSet, PlatformSet]:
    """Return where requirements on runtimes exclude each other, and where one of them is an inferred pin.

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
        for region in regions_of(requirements):
            conflicting |= region.platforms & ~problem.availability.somewhere(runtime, region.versions, waived)
            doubtful |= region.platforms if region.is_inferred_pin else 0
    return conflicting, doubtful


class RuntimeRegion(NamedTuple):
    """Platforms on which the same requirements on a runtime hold, and what these say together."""

    platforms: PlatformSet
    versions: ElementSet = EVERY  # that all of them admit
    is_inferred_pin: bool = False  # one of them pins the runtime, by inference
    pins: bool = False  # one that installers do not read pins it
    bounds: tuple[str, ...] = ()  # those that installers do not read


def regions_of(requirements: list[RuntimeRequirement]) -> list[RuntimeRegion]:
    """Return the platforms of one or more requirements on a runtime, cut so that the same holds all over each."""
    regions = [RuntimeRegion(reduce(or_, [requirement.platforms for requirement in requirements]))]
    for requirement in requirements:
        cut: list[RuntimeRegion] = []
        for region in regions:
            if here := region.platforms & requirement.platforms:
                versions, is_inferred = region.versions & requirement.versions, requirement.is_inferred_pin
                part = RuntimeRegion(here, versions, region.is_inferred_pin or is_inferred, region.pins, region.bounds)
                if not requirement.in_metadata:
                    is_new = requirement.bound not in (*part.bounds, "") and " or " not in requirement.bound
                    bounds = (*part.bounds, requirement.bound) if is_new else part.bounds
                    part = part._replace(pins=part.pins or requirement.pins, bounds=bounds)
                cut.append(part)
            if rest := region.platforms & ~requirement.platforms:
                cut.append(region._replace(platforms=rest))
        regions = cut
    return regions
