"""From what the search found to stacks: rectangles of platforms with companions, runtime pins, hardware and drivers."""

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple, TypeVar

from compatkb.engine.companions import companion_cells, companions
from compatkb.engine.leaves import LeafRow, leaf_rows
from compatkb.engine.pairs import Pairs
from compatkb.engine.problem import Problem
from compatkb.engine.view import Values
from compatkb.records import STRONG, UNBUILT, UNKNOWN, WEAK, Edge, Element, Found

SHOWN = ("hardware", "gpu-driver", "oneapi", "glibc")
"""Dimensions beyond the platform of which a stack says what is known."""
_MOST_KEPT = 10_000
_Rectangle = tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...], int]
"""Pythons, systems and architectures, every combination of them, and their bits."""
Member = tuple[str, int]
"""A product and the number of its element."""


T = TypeVar("T")


class Warned(NamedTuple):
    """A reason for care: its kind, whom it concerns, and what is needed to say it."""

    kind: str  # yanked, eol, security, driver, preview, known-issue
    product: str
    version: str
    day: int | None  # since when, or the last supported day
    until: int | None  # the other bound, where only bounds are known
    detail: str
    sources: tuple[tuple[str, str | None], ...]


class Link(NamedTuple):
    """What speaks for two members of a stack together."""

    one: str
    other: str
    level: int
    claims: tuple[str, ...]


class Offered(NamedTuple):
    """A feature that was asked for: how far it has come in this stack, how well that is known, and who says it."""

    feature: str
    status: str
    level: int  # UNKNOWN: nobody says that it is there, whatever the status
    by: tuple[tuple[str, str], ...]  # products and versions of which it is said
    claims: tuple[str, ...]


class Stack(NamedTuple):
    """Builds that go together on every combination of the platforms listed."""

    device: str
    route: str
    level: int  # STRONG, WEAK or UNKNOWN
    packages: tuple[Element, ...]  # in rank order; companions and pinned runtimes included
    requested: tuple[str, ...]  # the products that the search was about
    python: tuple[str, ...]
    os: tuple[str, ...]
    arch: tuple[str, ...]
    known: Mapping[str, tuple[str, ...]]  # dimension: values that are vouched for, or the bound that is needed
    bounds: tuple[tuple[str, str], ...]  # product outside the stack, specifier
    warnings: tuple[Warned, ...]
    trace: Callable[[], tuple[Link, ...]]
    rank: tuple[object, ...]
    features: tuple[Offered, ...] = ()

    @property
    def links(self) -> tuple[Link, ...]:
        """What vouches for each pair of members; worked out when somebody asks."""
        return self.trace()

    @property
    def verdict(self) -> str:
        """The verdict in the words of the design."""
        if self.level == UNKNOWN:
            return "unknown"
        if self.level == WEAK:
            return "likely"
        return "works-with-warnings" if any(w.kind != "known-issue" for w in self.warnings) else "works"


class _Trace:
    """What vouches for each pair of members, worked out at the first call."""

    __slots__ = ("_cells", "_chosen", "_links", "_members", "_pairs")

    def __init__(self, pairs: Pairs, chosen: tuple[Member, ...], members: tuple[Member, ...], cells: int) -> None:
        self._pairs, self._chosen, self._members, self._cells = pairs, chosen, members, cells
        self._links: tuple[Link, ...] | None = None

    def __call__(self) -> tuple[Link, ...]:
        if self._links is None:
            self._links = _links(self._pairs, self._chosen, self._members, self._cells)
        return self._links


def stacks_of(problem: Problem, found: Found) -> list[Stack]:
    """Split a found assignment into rectangles on which companions, pins and vouched values are the same."""
    chosen = [(p, i) for p, i in found.chosen if i >= 0]
    made = []
    for cells, facts in parts_of(problem, found):
        made += [_stack(problem, found, chosen, facts, place) for place in _rectangles(problem, cells)]
    return made


def parts_of(problem: Problem, found: Found) -> list[tuple[int, tuple[object, ...]]]:
    """Return disjoint platforms, each part with what goes along there: companions, pinned runtimes, bounds, vouched values."""
    chosen = [(p, i) for p, i in found.chosen if i >= 0]
    parts: list[tuple[int, tuple[object, ...]]] = [(found.cells, ())]
    for product in companions(problem, chosen):
        cut = []
        for cells, facts in parts:
            beside = [(fact.product, fact.idx) for fact in facts if isinstance(fact, Element)]
            cut += _cut([(cells, facts)], companion_cells(problem, chosen, beside, product, found))
        parts = cut
    for values in _told(problem, tuple(chosen), found):
        parts = _cut(parts, values)
    return parts


def _told(problem: Problem, chosen: tuple[Member, ...], found: Found) -> tuple[Values, ...]:
    """Return what goes along wherever it is: for each runtime its version or bound, for each dimension what is vouched for."""
    shown = tuple([d for d in SHOWN if d in problem.facts.products and not problem.request.pin(d)])

    def make() -> tuple[Values, ...]:
        rows = leaf_rows(problem, list(chosen))
        told = {leaf: [row for row in rows[leaf] if not row.listed] for leaf in rows}  # installers see to the rest
        made = [values for leaf in told if told[leaf] and (values := tuple(_leaf_cells(problem, leaf, told[leaf])))]
        made += [values for dimension in shown if (values := _known_cells(problem, chosen, dimension, found.level))]
        return tuple([problem.view.kept.one(values) for values in made])

    key = (chosen, problem.pinned_leaves, shown, found.level, found.route.id)
    return _kept(problem, problem.view.along, key, chosen, make)


def _kept(problem: Problem, kept: dict[object, T], key: object, members: tuple[Member, ...], make: Callable[[], T]) -> T:
    """Return what was made before of some members."""
    if key in kept:
        return kept[key]
    made = make()
    if all(i < problem.facts.sizes[p] for p, i in members):  # what is not listed is another version each time
        if len(kept) >= _MOST_KEPT:
            kept.clear()
        kept[key] = made
    return made


def _cut(
    parts: list[tuple[int, tuple[object, ...]]], values: Iterable[tuple[int, object]]
) -> list[tuple[int, tuple[object, ...]]]:
    """Refine the parts so that each has one of the values, or none."""
    out: list[tuple[int, tuple[object, ...]]] = []
    for cells, facts in parts:
        for mask, value in values:
            if cells & mask:
                out.append((cells & mask, (*facts, value)))
                cells &= ~mask
        if cells:
            out.append((cells, facts))
    return out


def _leaf_cells(problem: Problem, leaf: str, rows: list[LeafRow]) -> list[tuple[int, object]]:
    """Return for each platform the version of a runtime that is pinned there, or the bound on it, by rows that bind it."""
    values: list[tuple[int, object]] = []
    regions: list[tuple[int, int, bool, tuple[str, ...]]] = [(-1, -1, False, ())]
    for row in rows:
        cut = []
        for known, admitted, pinned, bounds in regions:
            if known & row.cells:
                more = bounds if row.bound in (*bounds, "") or " or " in row.bound else (*bounds, row.bound)
                cut.append((known & row.cells, admitted & row.mask, pinned or row.exact, more))
            if known & ~row.cells:
                cut.append((known & ~row.cells, admitted, pinned, bounds))
        regions = cut
    elements = problem.facts.elements(leaf)
    for where, admitted, pinned, bounds in regions:
        admitted &= (1 << len(elements)) - 1
        if pinned and admitted:
            values.append((where, elements[admitted.bit_length() - 1]))
        elif bounds:
            values.append((where, (leaf, ",".join(sorted(bounds)))))
    return values


def _known_cells(problem: Problem, chosen: tuple[Member, ...], dimension: str, level: int) -> Values:
    """Return which values of a dimension are vouched for as well as the stack itself is, by platform."""
    roles, between = problem.facts.products, problem.view.between
    packages = tuple([(p, i) for p, i in chosen if roles[p].role not in UNBUILT and between(p, dimension)])
    key = (dimension, packages, level, problem.route.provider)

    def make() -> Values:
        return tuple(_by_platform(dimension, _vouched(problem, packages, dimension, level)))

    return _kept(problem, problem.view.vouched, key, packages, make)


def _by_platform(dimension: str, named: Mapping[str, int]) -> list[tuple[int, object]]:
    """Return the values of a dimension that stand together on the same platforms, from the platforms of each."""
    values: list[tuple[int, object]] = []
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


def _vouched(problem: Problem, packages: tuple[tuple[str, int], ...], dimension: str, level: int) -> dict[str, int]:
    """Return the platforms on which each value of a dimension is vouched for, newest first, then bounds as written."""
    values: dict[int, int] = {}
    bounds: dict[str, int] = {}
    for product, idx in packages:
        for edge in problem.view.says(product, idx, dimension):
            where = edge.vouches
            if not where or edge.kind == "breaks" or edge.open or edge.level > level:
                continue
            if "==" not in edge.spec:
                bounds[edge.spec] = bounds.get(edge.spec, 0) | where
                continue
            for n in range(edge.to_mask.bit_length()):
                if edge.to_mask >> n & 1:
                    values[n] = values.get(n, 0) | where
    for n in values:
        values[n] &= ~problem.view.worlds.denials(dimension, n)[0]
        for product, idx in packages:
            values[n] &= ~problem.pair(product, idx, dimension, n).denied
        firm, faint = problem.vouched(dimension, n, [*packages, (dimension, n)])
        values[n] &= firm if level == STRONG else firm | faint
    elements = problem.facts.elements(dimension)
    return {**{elements[n].version: values[n] for n in sorted(values, reverse=True)}, **dict(sorted(bounds.items()))}


def _rectangles(problem: Problem, cells: int) -> list[_Rectangle]:
    """Return rectangles that cover the platform bits exactly, largest first."""
    grid = problem.facts.grid
    pythons, archs = len(grid["python"]), len(grid["arch"])
    rows: dict[tuple[int, int], list[int]] = {}  # (Pythons, arch): systems
    while cells > 0:
        number = ((cells & -cells).bit_length() - 1) // pythons
        row = cells >> number * pythons & ((1 << pythons) - 1)
        cells ^= row << number * pythons
        system, arch = divmod(number, archs)
        rows.setdefault((row, arch), []).append(system)
    merged: dict[tuple[int, tuple[int, ...]], list[int]] = {}  # (Pythons, systems): archs
    for (row, a), systems in rows.items():
        merged.setdefault((row, tuple(systems)), []).append(a)
    found = []
    for (row, places), numbers in merged.items():
        found.append(
            (
                tuple([grid["python"][n] for n in range(pythons) if row >> n & 1]),
                tuple([grid["os"][n] for n in reversed(places)]),
                tuple([grid["arch"][n] for n in sorted(numbers, reverse=True)]),
                sum([row << (place * archs + number) * pythons for place in places for number in numbers]),
            )
        )
    found.sort(key=lambda r: (-len(r[0]) * len(r[1]) * len(r[2]), r))
    return found


def _stack(
    problem: Problem,
    found: Found,
    chosen: list[tuple[str, int]],
    facts: tuple[object, ...],
    place: _Rectangle,
) -> Stack:
    ranks, roles = problem.facts.ranks, problem.facts.products
    core = [problem.element(p, i) for p, i in chosen]
    packages = [e for e in core if roles[e.product].role not in ("dimension", "feature")]
    packages += [fact for fact in facts if isinstance(fact, Element)]
    packages.sort(key=lambda e: ranks[e.product])
    known = {e.product: (e.version,) for e in core if roles[e.product].role in ("dimension", "feature")}
    bounds = []
    for fact in facts:
        if isinstance(fact, tuple) and not isinstance(fact, Element):
            if isinstance(fact[1], str):
                bounds.append((fact[0], fact[1]))
            else:
                known[fact[0]] = fact[1]
    pythons, systems, archs, cells = place
    asked = tuple([p for p, _ in chosen])
    numbers = [(e.product, e.idx) for e in packages]
    features = tuple([_offered(problem, p, i, chosen, cells) for p, i in chosen if roles[p].role == "feature"])
    warnings = tuple([w for product, idx in numbers for w in warnings_of(problem, product, idx, chosen, cells)])
    warnings += tuple([w for offered in features for w in _early(problem, offered)])
    warnings = problem.view.kept.one(warnings)
    trace = _Trace(problem.pairs, tuple(chosen), tuple(numbers), cells)
    return Stack(
        found.device, found.route.id, found.level, tuple(packages), asked, pythons, systems, archs, known, tuple(bounds),
        warnings, trace, _rank(problem, found, chosen, cells, len(packages)), features,
    )  # fmt: skip


def _rank(problem: Problem, found: Found, chosen: list[tuple[str, int]], cells: int, members: int) -> tuple[object, ...]:
    """Sort key of the preference: verdict, warnings, route, newest product by product, then the wider stack."""
    named = dict(chosen)
    newest = tuple([-named.get(product, -1) for product in problem.variables])
    return (found.level, found.warnings, found.route.rank, newest, -cells.bit_count(), -members, -cells)


def warnings_of(problem: Problem, product: str, idx: int, chosen: list[tuple[str, int]], cells: int) -> list[Warned]:
    """Return the warnings that an element carries in this stack."""
    if problem.facts.products[product].role in UNBUILT or not problem.view.remarkable(product) >> idx & 1:
        return []
    element, as_of = problem.element(product, idx), problem.request.as_of
    found = []
    sources = ()
    if element.yank_by is not None and (element.yank_after or 0) <= as_of:
        unsure = element.yank_after if as_of < element.yank_by else None
        found.append(Warned("yanked", product, element.version, element.yank_by, unsure, element.yank_reason or "", sources))
    if element.eol is not None and element.eol < as_of:
        found.append(Warned("eol", product, element.version, element.eol, None, "", sources))
    if element.stage in ("preview", "prototype"):
        found.append(Warned("preview", product, element.version, None, None, element.stage, sources))
    for advisory in problem.view.advisories(product, idx):
        hardware = problem.view.hardware
        if not advisory.cells & cells or (hardware and advisory.hardware and not advisory.hardware & hardware):
            continue
        if advisory.to and not any(p == advisory.to and i >= 0 and advisory.to_mask >> i & 1 for p, i in chosen):
            continue
        found.append(Warned(advisory.kind, product, element.version, advisory.since, None, advisory.message, advisory.sources))
    return found


def _offered(problem: Problem, feature: str, idx: int, chosen: list[tuple[str, int]], cells: int) -> Offered:
    """Return what is known of a feature that was asked for."""
    firm, faint = problem.vouched(feature, idx, chosen)
    level = STRONG if not cells & ~firm else WEAK if not cells & ~firm & ~faint else UNKNOWN
    by, claims = [], []
    for other, number in chosen:
        if problem.facts.products[other].role not in UNBUILT:
            said = [e.claim for e, inside in problem.speaking(feature, idx, other, number) if inside and e.vouches & cells]
            by += [(other, problem.element(other, number).version)] if said else []
            claims += said
    return Offered(feature, problem.facts.elements(feature)[idx].version, level, tuple(by), tuple(dict.fromkeys(claims)))


def _early(problem: Problem, offered: Offered) -> list[Warned]:
    """Return the warning that a feature is no more than a beta or a prototype."""
    element = next(e for e in problem.facts.elements(offered.feature) if e.version == offered.status)
    if element.stage == "stable" or not offered.by:
        return []
    cited = tuple(dict.fromkeys(pair for claim in offered.claims for pair in problem.facts.citations(claim)))
    product, version = offered.by[0]
    return [Warned("feature", product, version, None, None, f"{offered.feature} {offered.status}", cited)]


def _links(pairs: Pairs, chosen: tuple[Member, ...], packages: tuple[Member, ...], cells: int) -> tuple[Link, ...]:
    """Return for each pair with a member that the search was about what vouches for it on these platforms."""
    about = {product for product, _ in chosen}
    dimensions = [(p, i) for p, i in chosen if (p, i) not in packages]
    members = [*packages, *dimensions]
    found = []
    for n, (one, i) in enumerate(members):
        for other, j in members[n + 1 :]:
            if one not in about and other not in about:
                continue
            pair = pairs.pair(one, i, other, j)
            speaking = [(e, inside) for e, inside in pairs.speaking(one, i, other, j) if _speaks(e, inside, cells)]
            if pairs.facts.products[other].role == "feature":  # denials of other versions are no part of the answer
                speaking = [(e, inside) for e, inside in speaking if inside]
            if not speaking:
                continue
            firm, faint = cells & ~pair.strong, cells & ~pair.strong & ~pair.weak
            level = STRONG if not firm else WEAK if not faint else UNKNOWN
            found.append(Link(one, other, level, tuple(dict.fromkeys(e.claim for e, _ in speaking))))
    return tuple(found)


def _speaks(edge: Edge, inside: bool, cells: int) -> bool:
    if edge.kind == "breaks":
        return bool(edge.denies & cells)
    return inside and bool((edge.vouches | edge.denies) & cells)
