"""What builds require of products that nobody pinned and that are known only through such requirements."""

from collections.abc import Iterable
from functools import reduce
from operator import or_

from compatkb.core.memo import memoized
from compatkb.core.record import NamedTuple
from compatkb.engine.constraints import Constraint, is_waived
from compatkb.engine.context import Context, Reach, RuntimeArc, RuntimeRequirement, admitted_by
from compatkb.engine.problem import ABSENT, Member, Problem
from compatkb.store.records import EVERY, ElementSet, PlatformSet, whole_parts


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


def runtime_conflicts(problem: Problem, present: tuple[Member, ...], *, firm_only: bool = False) -> PlatformSet:
    """Return where requirements on runtimes exclude each other; with `firm_only` whatever further product comes along."""
    key = (present, firm_only, problem.platforms)
    conflicts = problem.runtime_conflicts.get(key)
    if conflicts is None:
        required = runtime_requirements(problem, present, firm_only=firm_only)
        conflicts = problem.runtime_conflicts[key] = _conflicts(problem, required, present)
    return conflicts


def inferred_pins(problem: Problem, present: Iterable[Member]) -> PlatformSet:
    """Return where one of the requirements on runtimes is an inferred pin."""
    requirements = runtime_requirements(problem, present).values()
    return reduce(or_, (said.platforms for each in requirements for said in each if said.is_inferred_pin), 0)


def _conflicts(problem: Problem, required: dict[str, list[RuntimeRequirement]], members: Iterable[Member]) -> PlatformSet:
    """Return where no version of some runtime does."""
    conflicting = 0
    context, known = problem.context, problem.availability.runtime_choices
    listed = [(one, idx) for one, idx in members if idx >= 0]
    for part in context.apart(tuple(sorted(required)), problem.pinned_runtimes):
        requirements = {runtime: required[runtime] for runtime in part if runtime in required}
        beside = tuple(member for member in listed if any(context.demands(runtime, member[0]) for runtime in part))
        waived = tuple(sorted(one for one in problem.waived if not part.isdisjoint(one[1:])))
        key = (tuple((runtime, *each) for runtime, each in requirements.items()), beside, waived, problem.platforms)
        if key not in known:
            known[key] = _conflicting(problem, part, requirements, beside)
        conflicting |= known[key]
    return conflicting


def _conflicting(
    problem: Problem, runtimes: frozenset[str], required: dict[str, list[RuntimeRequirement]], beside: tuple[Member, ...]
) -> PlatformSet:
    """Return where runtimes that are required, and what these require in turn, have no versions that go together."""
    cuts = {requirement.platforms for each in required.values() for requirement in each}
    direct = {runtime: _wanted(problem, runtime, each) for runtime, each in required.items()}
    sizes = problem.facts.sizes
    parts = tuple((runtime, whole_parts(versions, sizes[runtime])) for runtime, versions in direct.items())
    reach = problem.context.reached(runtimes, parts)
    wanted = {**dict(reach), **direct}
    cuts |= problem.context.cuts(reach)
    for runtime, versions in wanted.items():
        cuts |= {platforms for platforms, _ in problem.runtime_denials(runtime, versions, beside)}
        cuts |= {platforms for platforms, _ in problem.runtime_absences(runtime, versions)}
    regions = [problem.platforms]
    for cut in {cut & problem.platforms for cut in cuts}:
        regions = [part for region in regions for part in (region & cut, region & ~cut) if part]
    return reduce(or_, (region for region in regions if not _agree(problem, reach, wanted, required, beside, region)), 0)


def _wanted(problem: Problem, runtime: str, requirements: Iterable[RuntimeRequirement]) -> ElementSet:
    """Return the listed versions of a runtime that members leave on some platform."""
    every, platforms, versions = (1 << problem.facts.sizes[runtime]) - 1, problem.platforms, 0
    for said in requirements:
        platforms, versions = platforms & ~said.platforms, versions | said.versions
    return every if platforms else every & versions


def _agree(
    problem: Problem,
    reach: Reach,
    wanted: dict[str, ElementSet],
    required: dict[str, list[RuntimeRequirement]],
    beside: tuple[Member, ...],
    region: PlatformSet,
) -> bool:
    """Return whether every runtime that is needed has versions left, on platforms on which the same holds all over.

    Runtimes are those that members require and those that these require in turn, each with what members leave of it on some
    platform; `beside` are the members of which some runtime demands a version. That installers do not find a version counts
    where they look for it: metadata require it.
    """
    runtimes = frozenset(wanted)
    needed, left = set[str](), dict.fromkeys(runtimes, EVERY)
    for runtime, versions in wanted.items():
        if here := [said for said in required.get(runtime, ()) if said.platforms & region]:
            needed.add(runtime)
            left[runtime] = admitted_by(here, problem.facts.sizes[runtime])
        is_installed = not here or any(said.in_metadata for said in here)
        absences = problem.runtime_absences(runtime, versions) if is_installed else ()
        for platforms, elements in (*problem.runtime_denials(runtime, versions, beside), *absences):
            left[runtime] &= ~elements if platforms & region else EVERY
        if not left[runtime] and runtime in needed:
            return False
    reached = frozenset[str]().union(*map(problem.context.behind, needed)) & runtimes  # nobody asks for the others
    cuts = frozenset([cut for cut in problem.context.cuts(reach) if cut & region])
    choices = tuple(sorted((runtime, left[runtime]) for runtime in reached))
    led_to = tuple(each for each in reach if each[0] in reached)
    return _go_together(problem.context, led_to, cuts, frozenset(needed), choices, problem.waived)


@memoized
def _go_together(
    context: Context,
    reach: Reach,
    cuts: frozenset[PlatformSet],
    required: frozenset[str],
    choices: tuple[tuple[str, ElementSet], ...],
    waived: frozenset[Constraint],
) -> bool:
    """Return whether runtimes that are required have versions left beside those that come with them.

    `cuts` are the platforms of the demands that hold, `choices` the versions left of all that can come along. Arcs are made
    consistent, as `narrowing` does for what is searched: each version that is left has some version of each of the others
    beside it.
    """
    left, needed = dict(choices), set(required)
    arcs = [arc for arc in context.arcs(reach, cuts) if not is_waived(waived, *arc.products)]
    touching: dict[str, list[int]] = {}
    for at, arc in enumerate(arcs):
        for runtime in arc.products:
            touching.setdefault(runtime, []).append(at)
    queue = dict.fromkeys(range(len(arcs)))
    while queue:
        changed = _revise(arcs[queue.popitem()[0]], left, needed)
        if any(not left[runtime] for runtime in changed if runtime in needed):
            return False
        for runtime in changed:
            queue.update(dict.fromkeys(touching[runtime]))
    return True


def _revise(arc: RuntimeArc, left: dict[str, ElementSet], needed: set[str]) -> set[str]:
    """Make a runtime and one that it requires consistent; return those of which something was dropped or is needed."""
    runtime, to = arc.products
    before, is_needed = (left[runtime], left[to]), to in needed
    own, admitted, is_free = 0, 0, False
    for mask, versions, asks in arc.demands:
        if here := before[0] & mask:
            fitting = before[1] & versions
            if fitting or not (asks or is_needed):
                own, admitted, is_free = own | here, admitted | fitting, is_free or not asks
    left[runtime] = own
    changed = {runtime} if own != before[0] else set[str]()
    if runtime in needed:
        left[to] &= admitted
        if own and not is_free and not is_needed:
            needed.add(to)
            changed.add(to)
        if left[to] != before[1]:
            changed.add(to)
    return changed


class RuntimeRegion(NamedTuple):
    """Platforms on which the same requirements on a runtime hold, and what these say together."""

    platforms: PlatformSet
    versions: ElementSet = EVERY  # that all of them admit
    pins: bool = False  # one that installers do not read pins it
    bounds: tuple[str, ...] = ()  # those that installers do not read


def regions_of(requirements: list[RuntimeRequirement]) -> list[RuntimeRegion]:
    """Return the platforms of one or more requirements on a runtime, cut so that the same holds all over each."""
    regions = [RuntimeRegion(reduce(or_, [requirement.platforms for requirement in requirements]))]
    for requirement in requirements:
        cut: list[RuntimeRegion] = []
        for region in regions:
            if here := region.platforms & requirement.platforms:
                part = RuntimeRegion(here, region.versions & requirement.versions, region.pins, region.bounds)
                if not requirement.in_metadata:
                    is_new = requirement.bound not in (*part.bounds, "") and " or " not in requirement.bound
                    bounds = (*part.bounds, requirement.bound) if is_new else part.bounds
                    part = part._replace(pins=part.pins or requirement.pins, bounds=bounds)
                cut.append(part)
            if rest := region.platforms & ~requirement.platforms:
                cut.append(region._replace(platforms=rest))
        regions = cut
    return regions
