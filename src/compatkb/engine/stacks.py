"""Turns search results into stacks: platforms cut into rectangles, with companions, runtime pins, hardware and drivers."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from operator import attrgetter

from compatkb.core.record import NamedTuple
from compatkb.core.vocabulary import Certainty, Kind, Role, Verdict
from compatkb.engine.advice import (
    FeatureSupport,
    StackWarning,
    feature_warnings,
    offered_feature,
    unnamed_releases,
    warnings_of,
)
from compatkb.engine.companions import companion_products, companions_by_platform
from compatkb.engine.context import RuntimeRequirement
from compatkb.engine.known_issues import known_issues
from compatkb.engine.preference import rank_of
from compatkb.engine.problem import Member, Problem
from compatkb.engine.runtime_pins import regions_of, runtime_requirements
from compatkb.engine.search import Found
from compatkb.store.reader import Snapshot
from compatkb.store.records import UNBUILT, Edge, Element, PlatformSet

_Rectangle = tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...], PlatformSet]
"""Pythons, systems and architectures, every combination of them, and their bits."""
_Value = Element | tuple[str, str | tuple[str, ...]]
"""What goes along on some platforms: a build, a bound on a runtime, or the values of a dimension that are supported."""


class SupportLink(NamedTuple):
    """What speaks for two members of a stack together."""

    one: str
    other: str
    level: int
    claims: tuple[str, ...]


class Stack(NamedTuple):
    """Builds that go together on every combination of the platforms listed."""

    device: str
    route: str
    level: int  # Certainty.CERTAIN, Certainty.INFERRED or Certainty.UNKNOWN
    packages: tuple[Element, ...]  # in rank order; companions and pinned runtimes included
    requested: tuple[str, ...]  # the products that the search was about
    python: tuple[str, ...]
    os: tuple[str, ...]
    arch: tuple[str, ...]
    known: Mapping[str, tuple[str, ...]]  # dimension: values that are vouched for, or the bound that is needed
    bounds: tuple[tuple[str, str], ...]  # product outside the stack, specifier
    warnings: tuple[StackWarning, ...]
    trace: Callable[[], tuple[SupportLink, ...]]
    rank: tuple[object, ...]
    features: tuple[FeatureSupport, ...] = ()
    has_flaw: Callable[[], bool] = bool  # whether it is sure to have a grave known issue on what the request fixes

    def __repr__(self) -> str:
        """Return the builds and the verdict on one line."""
        return f"<Stack {self.verdict}: {', '.join(f'{e.product} {e.version}' for e in self.packages)} on {self.device}>"

    @property
    def links(self) -> tuple[SupportLink, ...]:
        """What vouches for each pair of members; worked out when somebody asks."""
        return self.trace()

    @property
    def verdict(self) -> Verdict:
        """The verdict in the words of the design."""
        if self.level == Certainty.UNKNOWN:
            return Verdict.UNKNOWN
        if self.level == Certainty.INFERRED:
            return Verdict.LIKELY
        is_warned = any(w.kind != "known-issue" for w in self.warnings) or self.has_flaw()
        return Verdict.WORKS_WITH_WARNINGS if is_warned else Verdict.WORKS

    def cells(self, facts: Snapshot, dimensions: Sequence[str] = ("python", "os", "arch")) -> PlatformSet:
        """Return the platforms where the stack holds, as far as these dimensions tell them."""
        cells = -1
        for dimension in dimensions:
            mask = sum(1 << facts.grid[dimension].index(name) for name in getattr(self, dimension))
            cells &= facts.dimension_cells(dimension, mask)
        return cells


def stacks_of(assignment: Found) -> list[Stack]:
    """Split a found assignment into rectangles on which companions, pins and vouched values are the same."""
    problem = assignment.problem
    chosen = [(p, i) for p, i in assignment.chosen if i >= 0]
    parts: list[tuple[PlatformSet, tuple[_Value, ...]]] = [(assignment.platforms, ())]
    for product in companion_products(problem, chosen):
        cut = []
        for platforms, values in parts:
            beside = [(value.product, value.idx) for value in values if isinstance(value, Element)]
            cut += _cut([(platforms, values)], companions_by_platform(assignment, chosen, beside, product))
        parts = cut
    for runtime, requirements in runtime_requirements(problem, chosen).items():
        if not all(requirement.in_metadata for requirement in requirements):  # else installers see to it
            parts = _cut(parts, _runtime_values(problem, runtime, requirements))
    for dimension in problem.facts.shown:
        if dimension not in problem.pins and (named := _vouched(problem, chosen, dimension, assignment.quality.level)):
            parts = _cut(parts, _dimension_values(named, dimension))
    stacks = []
    for platforms, values in parts:
        stacks += [_stack(assignment, chosen, values, place) for place in _rectangles(problem, platforms)]
    return stacks


def _cut(
    parts: list[tuple[PlatformSet, tuple[_Value, ...]]], values: Iterable[tuple[PlatformSet, _Value]]
) -> list[tuple[PlatformSet, tuple[_Value, ...]]]:
    """Refine the parts so that each has one of the values, or none."""
    values = list(values)
    out: list[tuple[PlatformSet, tuple[_Value, ...]]] = []
    for platforms, known in parts:
        for where, value in values:
            if platforms & where:
                out.append((platforms & where, (*known, value)))
                platforms &= ~where
        if platforms:
            out.append((platforms, known))
    return out


def _runtime_values(
    problem: Problem, runtime: str, requirements: list[RuntimeRequirement]
) -> list[tuple[PlatformSet, _Value]]:
    """Return for each platform the version of a runtime that is pinned there, or the bound on it, as far as nobody reads them.

    What is in metadata installers see to; it only narrows the versions.
    """
    elements, values = problem.facts.elements(runtime), dict[_Value, PlatformSet]()
    for region in regions_of(requirements):
        versions = region.versions & (1 << len(elements)) - 1
        if (region.pins and versions) or region.bounds:
            value = (
                elements[versions.bit_length() - 1] if region.pins and versions else (runtime, ",".join(sorted(region.bounds)))
            )
            values[value] = values.get(value, 0) | region.platforms
    return [(platforms, value) for value, platforms in values.items()]


def _dimension_values(named: Mapping[str, PlatformSet], dimension: str) -> list[tuple[PlatformSet, _Value]]:
    """Return the values of a dimension that stand together on the same platforms, from the platforms of each."""
    values: list[tuple[PlatformSet, _Value]] = []
    left = 0
    for where in named.values():
        left |= where
    while left:
        bit = left & -left
        same = left
        for where in named.values():
            same &= where if where & bit else ~where
        values.append((same, (dimension, tuple([name for name, where in named.items() if where & bit]))))
        left &= ~same
    return values


def _vouched(problem: Problem, chosen: list[Member], dimension: str, level: int) -> dict[str, PlatformSet]:
    """Return the platforms on which each value of a dimension is supported as well as the stack itself, newest first.

    Bounds follow, as written.
    """
    roles = problem.facts.products
    packages = [(p, i) for p, i in chosen if roles[p].role not in UNBUILT and problem.context.table(p, dimension)]
    if not packages:
        return {}
    values: dict[int, PlatformSet] = {}
    bounds: dict[str, PlatformSet] = {}
    for member in packages:
        for spec, where, numbers in problem.context.named_values(*member, dimension, level):
            if numbers is None:
                bounds[spec] = bounds.get(spec, 0) | where
            for n in numbers or ():
                values[n] = values.get(n, 0) | where
    if not values and not bounds:
        return {}
    for n in values:
        values[n] &= ~problem.availability.denials(dimension, n)[0]
        for product, idx in packages:
            values[n] &= ~problem.relation(product, idx, dimension, n).denied
        certain, inferred = problem.vouched(dimension, n, [*packages, (dimension, n)])
        values[n] &= certain if level == Certainty.CERTAIN else certain | inferred
    elements = problem.facts.elements(dimension)
    return {**{elements[n].version: values[n] for n in sorted(values, reverse=True)}, **dict(sorted(bounds.items()))}


def _rectangles(problem: Problem, platforms: PlatformSet) -> list[_Rectangle]:
    """Return rectangles that cover the platforms exactly."""
    grid = problem.facts.grid
    pythons, archs = len(grid["python"]), len(grid["arch"])
    rows: dict[tuple[int, int], list[int]] = {}  # (Pythons, arch): systems
    while platforms:
        number = ((platforms & -platforms).bit_length() - 1) // pythons
        row = platforms >> number * pythons & ((1 << pythons) - 1)
        platforms ^= row << number * pythons
        system, arch = divmod(number, archs)
        rows.setdefault((row, arch), []).append(system)
    merged: dict[tuple[int, tuple[int, ...]], list[int]] = {}  # (Pythons, systems): archs
    for (row, arch), systems in rows.items():
        merged.setdefault((row, tuple(systems)), []).append(arch)
    rectangles = []
    for (row, places), numbers in merged.items():
        rectangles.append(
            (
                tuple([grid["python"][n] for n in range(pythons) if row >> n & 1]),
                tuple([grid["os"][n] for n in reversed(places)]),
                tuple([grid["arch"][n] for n in sorted(numbers, reverse=True)]),
                sum([row << (place * archs + number) * pythons for place in places for number in numbers]),
            )
        )
    return rectangles


def _stack(assignment: Found, chosen: list[Member], values: tuple[_Value, ...], place: _Rectangle) -> Stack:
    problem, facts = assignment.problem, assignment.problem.facts
    ranks, roles = facts.ranks, facts.products
    core = [problem.element(p, i) for p, i in chosen]
    packages = [e for e in core if roles[e.product].role not in (Role.DIMENSION, Role.FEATURE)]
    packages += [value for value in values if isinstance(value, Element)]
    packages.sort(key=lambda e: ranks[e.product])
    known: dict[str, tuple[str, ...]] = {
        e.product: (e.version,) for e in core if roles[e.product].role in (Role.DIMENSION, Role.FEATURE)
    }
    bounds = []
    for value in values:
        if not isinstance(value, Element) and isinstance(value[1], str):
            bounds.append((value[0], value[1]))
        elif not isinstance(value, Element) and isinstance(value[1], tuple):
            known[value[0]] = value[1]
    pythons, systems, archs, platforms = place
    members = [(e.product, e.idx) for e in packages]
    features = tuple([offered_feature(problem, p, i, chosen, platforms) for p, i in chosen if roles[p].role == Role.FEATURE])
    warnings = [w for product, idx in members for w in warnings_of(problem, product, idx, chosen, platforms)]
    warnings += unnamed_releases(problem, chosen, platforms)
    warnings += [w for offered in features for w in feature_warnings(problem, offered)]

    @cache
    def links() -> tuple[SupportLink, ...]:
        return _links(problem, chosen, members, platforms)

    @cache
    def has_flaw() -> bool:
        issues = known_issues(facts)
        return issues.is_flawed(issues.place_of(problem.request, problem.device, systems, packages))

    first = rank_of(problem, assignment.quality, assignment.chosen, platforms)
    rank = (*first, -platforms.bit_count(), -len(packages), -platforms)  # then the wider stack
    return Stack(
        problem.device, problem.route.id, assignment.quality.level, tuple(packages), tuple([p for p, _ in chosen]),
        pythons, systems, archs, known, tuple(bounds), tuple(warnings), links, rank, features, has_flaw,
    )  # fmt: skip


def foremost(hits: Sequence[Found]) -> tuple[Found, ...]:
    """Return what is of the least rank of all that was found, equally good before the width of a stack counts."""
    if len(hits) < 2:
        return tuple(hits)
    heads = [rank_of(hit.problem, hit.quality, hit.chosen, hit.platforms) for hit in hits]
    least = min(heads)
    return tuple(hit for hit, head in zip(hits, heads, strict=True) if head == least)


def stack_of(hits: Iterable[Found]) -> Stack | None:
    """Return the stack of the least rank of what was found and is equally good; None where nothing was."""
    return min((stack for hit in hits for stack in stacks_of(hit)), key=attrgetter("rank"), default=None)


def _links(problem: Problem, chosen: list[Member], packages: list[Member], platforms: PlatformSet) -> tuple[SupportLink, ...]:
    """Return for each pair with a member that the search was about what vouches for it on these platforms."""
    about = {product for product, _ in chosen}
    members = [*packages, *[member for member in chosen if member not in packages]]
    links = []
    for n, (one, i) in enumerate(members):
        for other, j in members[n + 1 :]:
            if one not in about and other not in about:
                continue
            edges = [(e, inside) for e, inside in problem.edges_between(one, i, other, j) if _speaks(e, inside, platforms)]
            if problem.facts.products[other].role == Role.FEATURE:  # denials of other versions are no part of the answer
                edges = [(e, inside) for e, inside in edges if inside]
            if not edges:
                continue
            relation = problem.relation(one, i, other, j)
            doubtful, unknown = platforms & ~relation.certain, platforms & ~relation.certain & ~relation.inferred
            level = Certainty.CERTAIN if not doubtful else Certainty.INFERRED if not unknown else Certainty.UNKNOWN
            links.append(SupportLink(one, other, level, tuple(dict.fromkeys(e.claim for e, _ in edges))))
    return tuple(links)


def _speaks(edge: Edge, inside: bool, platforms: PlatformSet) -> bool:
    if edge.kind == Kind.BREAKS:
        return bool(edge.forbidden_on & platforms)
    return inside and bool((edge.supported_on | edge.forbidden_on) & platforms)
