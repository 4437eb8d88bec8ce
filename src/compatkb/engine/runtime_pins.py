"""What builds require of products that nobody pinned and that are known only through such requirements."""

from collections.abc import Iterable
from functools import reduce
from operator import or_
from typing import NamedTuple

from compatkb.engine.constraints import is_waived
from compatkb.engine.context import RuntimeRequirement
from compatkb.engine.problem import ABSENT, Member, Problem
from compatkb.engine.relations import RelationTable
from compatkb.store.records import EVERY, ElementSet, PlatformSet, newest_first


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
        conflicts = problem.runtime_conflicts[present, firm_only] = _conflicts(problem, required, present)
    return conflicts


def conflicts_beside(problem: Problem, member: Member, chosen: Iterable[Member]) -> PlatformSet:
    """Return where what a member and others require of runtimes excludes each other, whatever further product comes along."""
    runtimes_of, pinned = problem.context.runtimes, problem.pinned_runtimes
    runtimes = runtimes_of(*member)
    if not runtimes and member[0] not in pinned:
        return 0

    def demanded(product: str, required: Iterable[str]) -> bool:
        return any(product in problem.context.demanded(runtime) for runtime in required)

    others = [
        other
        for other in chosen
        if not runtimes.isdisjoint(required := runtimes_of(*other))
        or (other[0] in pinned and demanded(other[0], runtimes))
        or (member[0] in pinned and demanded(member[0], required))
    ]
    if not others and member[0] in pinned:
        return 0
    return runtime_conflicts(problem, (*others, member), firm_only=True)[0]


def _conflicts(
    problem: Problem, required: dict[str, list[RuntimeRequirement]], members: Iterable[Member]
) -> tuple[PlatformSet, PlatformSet]:
    """Return where no version of a runtime does, also for what the versions require of `members` and of other runtimes."""
    conflicting = doubtful = 0
    regions_by_runtime = {runtime: regions_of(requirements) for runtime, requirements in required.items()}
    for runtime, regions in regions_by_runtime.items():
        waived = problem.waived_of_platform(runtime)
        others = [(one, table) for one in regions_by_runtime if one != runtime and (table := _demands(problem, runtime, one))]
        beside = [(number, table) for one, number in members if number >= 0 and (table := _demands(problem, runtime, one))]
        for region in regions:
            conflicting |= region.platforms & ~problem.availability.somewhere(runtime, region.versions, waived)
            doubtful |= region.platforms if region.is_inferred_pin else 0
            if beside or others:
                parts = [(table, part) for one, table in others for part in regions_by_runtime[one]]
                conflicting |= _refused(problem, runtime, region, beside, parts)
    return conflicting, doubtful


def _demands(problem: Problem, runtime: str, other: str) -> RelationTable | None:
    """Return what a runtime and another product say of each other where versions of the first demand some of the second."""
    return problem.table(runtime, other) if other in problem.context.demanded(runtime) else None


def _refused(
    problem: Problem,
    runtime: str,
    region: "RuntimeRegion",
    beside: list[tuple[int, RelationTable]],
    others: list[tuple[RelationTable, "RuntimeRegion"]],
) -> PlatformSet:
    """Return where every listed version of a runtime that is admitted refuses a member, or all that is admitted of another.

    Versions that the data do not list decide nothing: installers take what is there.
    """
    refused = region.platforms
    listed = region.versions & (1 << problem.facts.sizes[runtime]) - 1
    for idx in newest_first(listed):
        if not refused:
            break
        here = problem.availability.denials(runtime, idx, problem.waived_of_platform(runtime))[0]
        for number, table in beside:
            relation = table.relation(idx, number)
            here |= relation.denied if relation else 0
        for table, part in others:
            if shared := part.platforms & refused & ~here:
                admitted = table.allowed(idx, shared)
                here |= shared if part.versions and not part.versions & admitted else 0
        refused &= here
    return refused if listed else 0


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
