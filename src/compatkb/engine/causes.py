"""Why there is no stack: an irreducible set of facts; leaving any one of them out would admit a stack."""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from compatkb.engine.between import Blocker
from compatkb.engine.problem import Problem
from compatkb.engine.search import Search
from compatkb.records import STRONG, UNBUILT, Edge, Element, Request, Route
from compatkb.snapshot.read import Snapshot

_PLATFORM = ("os", "python", "arch")
Blocked = Callable[[Iterable[Blocker]], bool]


class Cause(NamedTuple):
    """A group of facts that excludes stacks; `certain` is false where an absence or inference proves nothing."""

    blocker: Blocker
    device: str
    route: str
    certain: bool
    refused: tuple[tuple[str, Element], ...]  # offer: code and element
    elements: tuple[Element, ...]  # platform: the builds that lack wheels
    edges: tuple[Edge, ...]  # claim: what denies


def causes_of(
    facts: Snapshot, request: Request, device: str, route: Route, preferred: tuple[Blocker, ...] = ()
) -> tuple[Cause, ...]:
    """Return an irreducible set of causes for one device and route; empty where the pins leave no platform at all.

    What was found for another route is `preferred`: one cause that explains both is better than two.
    """
    problem = Problem(facts, request, device, route)
    groups = _groups(problem)
    if preferred:
        first = [blocker for group in groups for blocker in group if blocker in preferred]
        groups = [first, *([blocker for blocker in group if blocker not in preferred] for group in groups)]
    blockers = [blocker for group in groups for blocker in group]
    blocked = _Trials(problem, blockers).blocked
    if blocked(()):
        return ()
    alone = _alone(groups, blocked)
    chosen = [alone] if alone else _irreducible([], False, blockers, blocked)
    return tuple(_cause(problem, blocker) for blocker in chosen)


def stand(causes: tuple[Cause, ...], free: Problem, given_up: frozenset[str]) -> bool:
    """Return whether causes surely exclude every stack also after pins were given up; `free` is the question without them.

    They do where none of them is about what was given up, and what they deny they deny on every platform that opens.
    """
    roles = free.facts.products
    machine = given_up & {*_PLATFORM, "hardware"}
    if not causes or any(roles[name].role not in ("package", "companion") for name in given_up - machine):
        return False
    for cause in causes:
        about = cause.blocker[1:]
        if not given_up.isdisjoint(about) or any(p in free.optional or roles[p].role == "leaf" for p in about):
            return False
        if machine and (cause.blocker[0] == "platform" or (cause.blocker[0] == "claim" and not cause.edges)):
            return False
        if machine and any(edge.hardware or free.cells & ~edge.denies for edge in cause.edges):
            return False
    return True


class _Trials:
    """One question asked again and again, each time with some of its blockers in force and the rest ignored."""

    def __init__(self, problem: Problem, blockers: list[Blocker]) -> None:
        self._problem, self._every = problem, frozenset(blockers)
        self._silent = {frozenset(blocker[1:]) for blocker in blockers if blocker[0] == "claim"}
        led = [blocker for blocker in blockers if blocker[:2] == ("claim", problem.route.provider)]
        led = [blocker for blocker in led if blocker[2] in problem.variables]
        self._bringing = [blocker for blocker in led if problem.would_bring(blocker[2])]
        roles = problem.facts.products
        self._kept = {p for p in problem.variables if roles[p].role in ("dimension", "feature")}
        self._bits = {blocker: 1 << n for n, blocker in enumerate(blockers)}
        self._free: list[int] = []  # sets that exclude not every stack: none of their parts does
        self._excluding = [(1 << len(blockers)) - 1]  # the question has no answer, so all of them together do

    def blocked(self, active: Iterable[Blocker]) -> bool:
        """Return whether some blockers alone exclude every stack."""
        key = frozenset(active)
        if (finder := self._problem.facts.finder) is not None:
            return bool(finder.is_blocked(self._problem, self._every - key))
        bits = sum(self._bits[blocker] for blocker in key)
        if any(not bits & ~free for free in self._free):
            return False
        if any(not known & ~bits for known in self._excluding):
            return True
        silent = self._silent - {frozenset(blocker[1:]) for blocker in key if blocker[0] == "claim"}
        brought = frozenset(blocker[2] for blocker in self._bringing if blocker not in key)
        leafless = not self._speaks_of_leaves(key)
        touched = self._touched(key, leafless=leafless)
        problem = self._problem.ignoring(self._every - key, silent, brought, touched, leafless=leafless)
        found = not Search(problem, first_only=True).run()
        (self._excluding if found else self._free).append(bits)
        return found

    def _touched(self, active: frozenset[Blocker], *, leafless: bool) -> tuple[str, ...]:
        """Return the variables that blockers can matter to; of any other one, every candidate will do, or its absence.

        Whether a product that nobody asked for has to be there depends on all others, and so does what waives a pin.
        """
        variables = self._problem.variables
        named = self._kept.union(*(blocker[1:] for blocker in active))
        if not leafless or not named.isdisjoint(self._problem.optional):
            return variables
        return tuple(product for product in variables if product in named)

    def _speaks_of_leaves(self, active: frozenset[Blocker]) -> bool:
        variables, roles = self._problem.variables, self._problem.facts.products
        claimed = (product for blocker in active if blocker[0] == "claim" for product in blocker[1:])
        return any(product not in variables and roles[product].role == "leaf" for product in claimed)


def _alone(groups: list[list[Blocker]], blocked: Blocked) -> Blocker | None:
    """Return the first blocker that excludes every stack by itself; a group that does not has none.

    Groups are of one kind each: mostly only one of them excludes anything.
    """
    for group in groups:
        if group and blocked(group):
            half = len(group) // 2
            found = _alone([group[:half], group[half:]], blocked) if half else group[0]
            if found:
                return found
    return None


def _irreducible(base: list[Blocker], changed: bool, blockers: list[Blocker], blocked: Blocked) -> list[Blocker]:
    """QuickXplain (Junker 2004): the first blockers of the list are kept in preference to later ones."""
    if changed and blocked(base):
        return []
    if len(blockers) == 1:
        return blockers
    half = len(blockers) // 2
    left, right = blockers[:half], blockers[half:]
    kept_right = _irreducible(base + left, bool(left), right, blocked)
    kept_left = _irreducible(base + kept_right, bool(kept_right), left, blocked)
    return kept_left + kept_right


def blockers_of(problem: Problem) -> list[Blocker]:
    """Return the groups of facts that can matter, those that explain best first."""
    return [blocker for group in _groups(problem) for blocker in group]


def _groups(problem: Problem) -> list[list[Blocker]]:
    """Return the groups of facts that can matter, by kind; those that explain best first."""
    variables = problem.variables
    kept = problem.view.kept.blockers
    if variables not in kept:
        kept[variables] = _told(problem)
    told, platforms, leaves = kept[variables]
    offers: list[Blocker] = [("offer", product) for product in variables if not problem.domains[product]]
    held = {pin.product for pin in problem.request.pins}
    told = sorted(told, key=lambda blocker: -len(held & set(blocker)))  # what the user named explains best
    return [told, offers, platforms, leaves]


def _told(problem: Problem) -> tuple[list[Blocker], list[Blocker], list[Blocker]]:
    """Return what some products can be blocked by: claims about each other and platforms; wheels; claims about leaves."""
    variables, facts = problem.variables, problem.facts
    told: list[Blocker] = []
    for n, one in enumerate(variables):
        for other in variables[n + 1 :]:
            if facts.edges(other, one):
                told.append(("claim", other, one))
            elif facts.edges(one, other):
                told.append(("claim", one, other))
    told += [("claim", p, dimension) for p in variables for dimension in _PLATFORM if facts.edges(p, dimension)]
    platforms: list[Blocker] = [("platform", p) for p in variables if facts.products[p].role not in ("dimension", "feature")]
    leaves: list[Blocker] = [
        ("claim", product, to)
        for product in variables
        for to in facts.spoken_of(product)
        if to not in variables and facts.products[to].role == "leaf"
    ]
    demanded = dict.fromkeys(blocker[2] for blocker in leaves)
    leaves += [("claim", to, dimension) for to in demanded for dimension in _PLATFORM if facts.edges(to, dimension)]
    return told, platforms, leaves


def _cause(problem: Problem, blocker: Blocker) -> Cause:
    refused: tuple[tuple[str, Element], ...] = ()
    elements: tuple[Element, ...] = ()
    edges: tuple[Edge, ...] = ()
    product = blocker[1]
    certain = is_closed(problem, product)
    if blocker[0] == "offer":
        candidates = _pinned(problem, product)
        refused = tuple((code, e) for e in candidates if (code := problem.refusal(e)))
    elif blocker[0] == "platform":
        elements = tuple(e for e in _pinned(problem, product) if problem.refusal(e) is None)
        certain = certain and all(e.complete >= problem.request.as_of for e in elements)
    else:
        edges = _denying(problem, product, blocker[2])
        roles = problem.facts.products
        if blocker[2] in problem.variables and roles[blocker[2]].role == "package":
            certain = certain and is_closed(problem, blocker[2])
        size = problem.facts.sizes[product]
        general = bool(edges) and all(edge.of == product and not ~edge.of_mask & ((1 << size) - 1) for edge in edges)
        general = general and roles[product].role != "feature"  # whose whole is its stages, not its releases
        certain = (certain or general) and _surely(problem, product, blocker[2], edges)
    return Cause(blocker, problem.device, problem.route.id, certain, refused, elements, edges)


def _surely(problem: Problem, one: str, other: str, edges: tuple[Edge, ...]) -> bool:
    """Return whether facts that are no inference deny every pair that edges deny, one at least for each."""
    firm = [edge for edge in edges if (edge.level == STRONG or edge.listed) and not edge.open]
    if len(firm) == len(edges):
        return True
    pin = problem.request.pin(other)
    theirs = pin.mask if pin and not pin.extra else (1 << problem.facts.sizes[other]) - 1
    for element in _pinned(problem, one):
        if problem.refusal(element) is not None:
            continue
        left = theirs
        for edge in firm:
            excluded = edge.to_mask if edge.kind == "breaks" else ~edge.to_mask
            if edge.of == one and edge.of_mask >> element.idx & 1:
                left &= ~excluded
            elif edge.of == other and excluded >> element.idx & 1:
                left &= ~edge.of_mask
        if left:
            return False
    return True


def _pinned(problem: Problem, product: str) -> list[Element]:
    pin = problem.request.pin(product)
    elements = problem.facts.elements(product)
    if pin and pin.extra:
        return []
    return elements.of(pin.mask if pin else -1)


def _denying(problem: Problem, one: str, other: str) -> tuple[Edge, ...]:
    """Return the edges between two products that deny something among their candidates."""
    mine = {e.idx for e in _pinned(problem, one) if problem.refusal(e) is None}
    pin = problem.request.pin(other)
    theirs = pin.mask if pin else -1
    found = []
    for edge in problem.facts.edges(one, other):
        if edge.kind == "verified" or not problem.view.holds(edge) or problem.view.in_part(edge):
            continue
        if edge.spec == "any version" or not any(edge.of_mask >> idx & 1 for idx in mine) or not edge.denies & problem.cells:
            continue
        excluded = edge.to_mask if edge.kind == "breaks" else ~edge.to_mask
        if excluded & theirs or (
            pin and pin.extra and problem.inside(edge, problem.facts.sizes[other]) == (edge.kind == "breaks")
        ):
            found.append(edge)
    for edge in problem.facts.edges(other, one):
        if edge.kind == "verified" or not problem.view.holds(edge) or not edge.of_mask & theirs:
            continue
        if edge.spec == "any version":
            continue
        excluded = edge.to_mask if edge.kind == "breaks" else ~edge.to_mask
        if any(excluded >> idx & 1 for idx in mine) and edge.denies & problem.cells:
            found.append(edge)
    return tuple(found)


def is_closed(problem: Problem, product: str) -> bool:
    """Return whether no further release of a product can exist that would fit: its list is whole at the as-of date."""
    facts = problem.facts
    if facts.products[product].role in UNBUILT:
        return True
    covered = 0
    for of, _, mask, devices, until in facts.scopes:
        if of == product and until >= problem.request.as_of and (not devices or problem.device in devices):
            covered |= mask
    pin = problem.request.pin(product)
    if pin and pin.beyond:
        return False
    wanted = pin.mask if pin else (1 << facts.sizes[product]) - 1
    return not wanted & ~covered
