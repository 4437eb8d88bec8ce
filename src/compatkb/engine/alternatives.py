"""What is near to a request that no stack answers: as few pins given up as possible, then the nearest series.

A stack without some pins exists only if every minimal conflict names one of them, so pins are given up along conflicts: one
of each conflict, then one of what still conflicts without it, and so on.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from compatkb.core.vocabulary import Role
from compatkb.engine.availability import GLIBC, PLATFORM
from compatkb.engine.budget import Budget
from compatkb.engine.conflicts import conflict_of
from compatkb.engine.constraints import Constraint
from compatkb.engine.problem import Problem, Question, routes_of
from compatkb.engine.search import Found, Search
from compatkb.engine.stacks import Stack, stacks_of
from compatkb.store.reader import Snapshot
from compatkb.store.records import Pin, Request, Route

MOST_ALTERNATIVES = 8
_MOST_GIVEN_UP = 3
_FEW_PINS = 8
"""Of so many pins each is given up in turn where no conflict tells which one is in the way."""
_HARD = ("hardware", GLIBC, "gpu-driver", "arch")
"""What nobody can change with a command: given up only where nothing else helps."""


class Near(NamedTuple):
    """A stack that answers the request after some of its pins were given up."""

    relaxed: tuple[str, ...]
    where: str  # same series, below, above, or best
    stack: Stack


Conflicts = Mapping[tuple[str, str], tuple[Constraint, ...]]
"""What excludes every stack, by device and route."""


def nearest(facts: Snapshot, request: Request, conflicts: Conflicts, budget: Budget) -> tuple[Near, ...]:
    """Return the stacks that are near: as few pins given up as possible, versions before Python before the system.

    `conflicts` are those of the request, where it has no stack at all. Raises GaveUpError.
    """
    for candidates in (tuple(pin for pin in request.pins if pin.product not in _HARD), request.pins):
        names = {pin.product for pin in candidates}
        given_up: list[frozenset[str]] = [frozenset()]
        for _ in range(_MOST_GIVEN_UP):
            given_up = _one_more(facts, request, given_up, names, conflicts, budget)
            found = [near for relaxed in given_up for near in _without(facts, request, relaxed, budget)]
            if found:
                return _distinct(found)
    return ()


def _one_more(
    facts: Snapshot,
    request: Request,
    given_up: Iterable[frozenset[str]],
    names: set[str],
    conflicts: Conflicts,
    budget: Budget,
) -> list[frozenset[str]]:
    """Return the sets of pins with one more of what still conflicts, easy ones first."""
    sets: dict[frozenset[str], None] = {}
    for relaxed in given_up:
        free = without(facts, request, relaxed)
        for device, route in routes_of(facts, free):
            if not relaxed and conflicts:
                conflict: tuple[Constraint, ...] | None = conflicts[device, route.id]
            else:
                conflict = conflict_of(Problem(Question(facts, free, device, route, budget)))
            about = {product for constraint in conflict or () for product in constraint[1:]}
            if conflict is None:  # there is a stack that nothing supports: any pin may be what keeps from a better one
                about = names if not relaxed and len(names) <= _FEW_PINS else set()
            elif not conflict or any(constraint[0] == "platform" for constraint in conflict):
                about |= {*PLATFORM, GLIBC}
            for product in names & about - relaxed:
                sets[relaxed | {product}] = None
    return sorted(sets, key=lambda relaxed: (max(map(_ease, relaxed)), sorted(facts.ranks[name] for name in relaxed)))


def _ease(product: str) -> int:
    """Return how hard it is to give up what a pin fixes: a version, then Python, then the system."""
    return ("python", "os", *_HARD).index(product) + 1 if product in ("python", "os", *_HARD) else 0


def _distinct(found: list[Near]) -> tuple[Near, ...]:
    kept: dict[object, Near] = {}
    for near in found:
        members = tuple((e.product, e.idx) for e in near.stack.packages)
        kept.setdefault((near.stack.device, near.stack.route, members), near)
    return tuple(kept.values())[:MOST_ALTERNATIVES]


def _without(facts: Snapshot, request: Request, relaxed: frozenset[str], budget: Budget) -> list[Near]:
    """Return the stacks without some pins: of one pin the nearest series over each route, then the best stack of all."""
    names = tuple(sorted(relaxed, key=facts.ranks.__getitem__))
    free = without(facts, request, relaxed)
    found: list[Near] = []
    pin = request.pin(names[0])
    if len(names) == 1 and pin and not pin.extra and facts.products[names[0]].scheme != "listed":
        for route in _routes(facts, request):
            found += _beside(facts, free, route, pin, budget)
    best = _best(facts, free, _routes(facts, free), budget)
    return [*found, Near(names, "best", best)] if best else found


def _routes(facts: Snapshot, request: Request) -> Iterable[Route]:
    return {route.id: route for _, route in routes_of(facts, request)}.values()


def _beside(facts: Snapshot, free: Request, route: Route, pin: Pin, budget: Budget) -> list[Near]:
    """Return the best stack of the pinned series if there is one, else of the nearest series below and above."""
    groups = facts.series(pin.product)
    held = [n for n, mask in enumerate(groups) if mask & (pin.mask or pin.near)]
    if not held:
        return []
    below, above = range(held[0] - 1, -1, -1), range(held[-1] + 1, len(groups))
    if pin.beyond and pin.near == 1:  # older than all that is known
        held, above = [], range(len(groups))
    found = []
    for where, numbers in (("same", held), ("below", below), ("above", above)):
        stack = _first_of(facts, free, route, pin.product, [groups[number] for number in numbers], budget)
        found += [Near((pin.product,), where, stack)] if stack else []
        if stack and where == "same":
            break
    return found


def _first_of(
    facts: Snapshot, request: Request, route: Route, product: str, groups: list[int], budget: Budget
) -> Stack | None:
    """Return the best stack of the first group of a product's elements that has any."""
    found: dict[int, list[Stack]] = {}
    for device in request.devices:
        if device in route.devices:
            problems = _limited(facts, request, device, route, product, groups[: min(found, default=len(groups)) + 1], budget)
            for number, problem in problems:
                if hits := Search(problem, best_only=True, known_only=True).run():
                    best = (hit for hit in hits if hit.preference == hits[0].preference)
                    found.setdefault(number, []).extend(stack for hit in best for stack in stacks_of(problem, hit))
                    break
    return min(found[min(found)], key=lambda stack: stack.rank) if found else None


def _limited(
    facts: Snapshot, request: Request, device: str, route: Route, product: str, groups: list[int], budget: Budget
) -> Iterator[tuple[int, Problem]]:
    """Yield a problem for each group of a product's elements that others may admit."""

    def held(mask: int) -> Question:
        pins = (*request.pins, Pin(product, "", mask))
        return Question(facts, request._replace(pins=pins), device, route, budget)

    if facts.products[product].platform:
        yield from ((number, Problem(held(group))) for number, group in enumerate(groups))
    elif groups:
        problem = Problem(held(sum(groups)))
        left = Search(problem, known_only=True).narrowed()
        for number, group in enumerate(groups):
            if group & left.get(product, 0):
                yield number, problem.limited_to({**left, product: group & left[product]})


def _best(
    facts: Snapshot, request: Request, routes: Iterable[Route], budget: Budget, *, certain_only: bool = False
) -> Stack | None:
    """Return the best stack that something supports, on any device and over any of some routes.

    Where nobody asked for a system, it is one for the foremost family of systems if that has one as good.
    """
    hits: list[tuple[Problem, Found]] = []
    for route in routes:
        for device in request.devices:
            if device in route.devices:
                problem = Problem(Question(facts, request, device, route, budget))
                run = Search(problem, best_only=True, known_only=True, certain_only=certain_only).run()
                hits += [(problem, found) for found in run]
    best = min((found.preference for _, found in hits), default=())
    stacks = [s for problem, found in hits if found.preference == best for s in stacks_of(problem, found)]
    return min(stacks, key=lambda stack: stack.rank, default=None)


def without(facts: Snapshot, request: Request, names: Iterable[str]) -> Request:
    """Return a request without some pins; their products stay asked for, in any version."""
    given_up = set(names)
    bare = [n for n in given_up if facts.products[n].role in (Role.PACKAGE, Role.COMPANION)]
    kept = tuple(pin for pin in request.pins if pin.product not in given_up)
    return request._replace(pins=kept, bare=tuple(sorted({*request.bare, *bare}, key=facts.ranks.__getitem__)))


def proven(facts: Snapshot, request: Request, best: Stack, budget: Budget) -> Stack | None:
    """Return the best stack of which every step is stated or observed, on the device of the best one."""
    held = request._replace(devices=(best.device,))
    return _best(facts, held, _routes(facts, held), budget, certain_only=True)


def from_default_index(facts: Snapshot, request: Request, best: Stack, budget: Budget) -> Stack | None:
    """Return the same release of what brings the device from the client's own index, if the best is from another."""
    route = next(route for route in facts.routes if route.id == best.route)
    provider = next(element for element in best.packages if element.product == route.provider)
    if "default" in provider.channels:
        return None
    elements = facts.elements(provider.product)
    mask = sum(1 << e.idx for e in elements if e.release == provider.release and "default" in e.channels)
    if not mask or ((pin := request.pin(provider.product)) and not pin.mask & mask):
        return None
    kept = tuple(pin for pin in request.pins if pin.product not in (provider.product, "os"))
    systems = Pin("os", "", sum(1 << n for n, name in enumerate(facts.grid["os"]) if name in best.os))
    held = request._replace(pins=(*kept, systems, Pin(provider.product, provider.release, mask)), devices=(best.device,))
    return _best(facts, held, (route,), budget)


def without_ended(facts: Snapshot, request: Request, products: Iterable[str], budget: Budget) -> Stack | None:
    """Return the best stack in place of those of some products that have ended, where the data name their successors.

    Pins on other products are kept if that is possible; else the machine, its Python only where nothing else helps.
    """
    replaced = set(products) & facts.successors.keys()
    successors = [facts.successors[name] for name in replaced]
    devices = tuple(d for d in request.devices if all(any(s.device in (None, d) for s in each) for each in successors))
    if not replaced or not devices:
        return None
    if not request.pin("os") and (systems := _systems_of(facts, request, replaced)):
        request = request._replace(pins=(*request.pins, Pin("os", "", systems)))
    others = [pin for pin in request.pins if pin.product not in replaced]
    machine = [pin for pin in others if facts.products[pin.product].role == Role.DIMENSION]
    for kept in (others, machine, [pin for pin in machine if pin.product != "python"]):
        bare = {successor.product for each in successors for successor in each} - {pin.product for pin in kept}
        free = request._replace(pins=tuple(kept), bare=tuple(sorted(bare)), devices=devices, route=None)
        routes = [route for route in _routes(facts, free) if replaced.isdisjoint((route.provider, *route.with_))]
        stack = _best(facts, free, routes, budget)
        if stack and not replaced & {element.product for element in stack.packages}:
            return stack
    return None


def _systems_of(facts: Snapshot, request: Request, products: Iterable[str]) -> int:
    """Return the families of systems for which what is asked for of some products has wheels."""
    platforms = 0
    for product in products:
        pin = request.pin(product)
        for element in facts.elements(product).of(pin.mask if pin and not pin.extra else -1):
            platforms |= element.strong | element.weak
    numbers = {name: n for n, name in enumerate(facts.grid["os"])}
    return sum(1 << numbers[name] for name in facts.families if platforms & facts.dimension_cells("os", 1 << numbers[name]))
