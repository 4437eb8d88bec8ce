"""What is near to a request that no stack answers: as few pins given up as possible, then the nearest series."""

from collections.abc import Callable, Iterable, Iterator
from itertools import combinations
from typing import NamedTuple, TypeVar

from compatkb.engine.narrow import narrowed
from compatkb.engine.problem import Problem, routes_of
from compatkb.engine.shared import search, shared_stacks
from compatkb.engine.stacks import Stack
from compatkb.engine.view import kept_of
from compatkb.records import Pin, Request, Route
from compatkb.snapshot.read import Snapshot

MOST_NEAREST = 8
T = TypeVar("T")


class Near(NamedTuple):
    """A stack that answers the request after some of its pins were given up."""

    relaxed: tuple[str, ...]
    where: str  # same series, below, above, or best
    stack: Stack


def nearest(facts: Snapshot, request: Request) -> Iterator[Near]:
    """Yield the stacks that are near: as few pins given up as possible, then the nearest series, then today's best."""
    pins = sorted(request.pins, key=lambda pin: facts.ranks[pin.product])
    for count in range(1, len(pins) + 1):
        found: list[Near] = []
        for relaxed in combinations(pins, count):
            found += _relaxed(facts, request, relaxed)
        if found:
            yield from _distinct(found)
            return


def _distinct(found: list[Near]) -> list[Near]:
    seen = set()
    kept = []
    for near in found:
        key = (
            near.stack.device,
            near.stack.route,
            tuple((e.product, e.idx) for e in near.stack.packages),
            near.stack.python,
        )
        if key not in seen:
            seen.add(key)
            kept.append(near)
    return kept[:MOST_NEAREST]


def _relaxed(facts: Snapshot, request: Request, relaxed: tuple[Pin, ...]) -> list[Near]:
    names = tuple(pin.product for pin in relaxed)
    free = without(facts, request, names)
    found: list[Near] = []
    if len(relaxed) == 1 and not relaxed[0].extra:
        groups = facts.series(names[0])
        held = [n for n, mask in enumerate(groups) if mask & (relaxed[0].mask or relaxed[0].near)]
        if held and facts.products[names[0]].scheme != "listed":
            below, above = range(held[0] - 1, -1, -1), range(held[-1] + 1, len(groups))
            if relaxed[0].beyond and relaxed[0].near == 1:  # older than all that is known
                held, above = [], range(len(groups))
            for route in {route.id: route for _, route in routes_of(facts, request)}.values():
                there = _Series(facts, free, route, names[0], groups)
                for where, numbers in (("same", held), ("below", below), ("above", above)):
                    stack = there.nearest(numbers)
                    if stack:
                        found.append(Near(names, where, stack))
                        if where == "same":
                            break
    for route in {route.id: route for _, route in routes_of(facts, free)}.values():  # in today's order of preference
        stack = _first(facts, free, route)
        if stack:
            found.append(Near(names, "best", stack))
            break
    return found


def _offered(facts: Snapshot, request: Request, route: Route, product: str) -> int:
    """Return the elements of a product that there are for a device at all."""
    offered = 0
    for device in request.devices:
        if device in route.devices:
            domains = Problem(facts, request, device, route).domains
            offered |= domains.get(product, -1)
    return offered


def _viable(facts: Snapshot, request: Request, route: Route, product: str) -> int:
    """Return the elements of a product that can be part of a stack at first sight: the rest need no search."""
    viable = 0
    for device in request.devices:
        if device in route.devices:
            problem = Problem(facts, request, device, route)
            left = narrowed(problem, problem.domains, known_only=True)
            if left is not None and product in left.domains:
                viable |= left.domains[product]
            elif left is not None and product in facts.grid:
                cells = left.strong | left.weak
                values = (1 << n for n in range(len(facts.grid[product])))
                viable |= sum(value for value in values if facts.dimension_cells(product, value) & cells)
            elif left is not None:
                viable = -1
    return viable


class _Series:
    """The series of a product that has been given up, over one route."""

    def __init__(self, facts: Snapshot, request: Request, route: Route, product: str, groups: tuple[int, ...]) -> None:
        self._facts, self._request, self._route, self._product, self._groups = facts, request, route, product, groups
        self._hopeful = _offered(facts, request, route, product)
        self._is_viable = False  # whether what is hoped for is what can be viable

    def nearest(self, numbers: Iterable[int]) -> Stack | None:
        """Return the best stack of the first of some series that has any: mostly it is the first one."""
        hopeful = [mask for number in numbers if (mask := self._groups[number]) & self._hopeful]
        if not hopeful:
            return None
        stack = _first(self._facts, holding(self._request, self._product, hopeful[0]), self._route)
        if stack or (len(hopeful) == 1 and self._is_viable):
            return stack
        if not self._is_viable:  # it takes long, so it is asked only after a disappointment
            self._hopeful, self._is_viable = _viable(self._facts, self._request, self._route, self._product), True
        rest = [mask for mask in hopeful[1:] if mask & self._hopeful]
        return _first_of(self._facts, self._request, self._route, self._product, rest)


def _first_of(
    facts: Snapshot, request: Request, route: Route, product: str, groups: list[int], *, there_is: bool = False
) -> Stack | None:
    """Return the best stack of the first group of a product's elements that has any; whole halves are ruled out at once."""
    if len(groups) == 1:
        return _first(facts, holding(request, product, groups[0]), route)
    if not groups or not (there_is or _is_possible(facts, holding(request, product, sum(groups)), route)):
        return None
    half = len(groups) // 2
    stack = _first_of(facts, request, route, product, groups[:half])
    return stack or _first_of(facts, request, route, product, groups[half:], there_is=True)


def _is_possible(facts: Snapshot, request: Request, route: Route) -> bool:
    """Return whether there is any stack that something speaks for."""

    def is_possible() -> bool:
        problems = (Problem(facts, request, device, route) for device in request.devices if device in route.devices)
        return any(search(problem, first_only=True, known_only=True) for problem in problems)

    return _kept(facts, ("possible", route.id, _key(request)), is_possible)


def _first(facts: Snapshot, request: Request, route: Route) -> Stack | None:
    """Return the best stack that something speaks for, on any device that was asked for."""

    def find() -> Stack | None:
        best: Stack | None = None
        for device in request.devices:
            if device not in route.devices:
                continue
            problem = Problem(facts, request, device, route)
            for hit in search(problem, best_only=True, known_only=True)[:1]:
                for stack in shared_stacks(problem, hit):
                    if best is None or stack.rank < best.rank:
                        best = stack
        return best

    return _kept(facts, ("first", route.id, _key(request)), find)


def _key(request: Request) -> tuple[object, ...]:
    """Return what a search depends on: not the words in which the pins were typed."""
    pins = tuple((pin.product, pin.mask, pin.strict, pin.exact, pin.extra) for pin in request.pins)
    return pins, request.bare, request.devices, request.as_of


def _kept(facts: Snapshot, key: object, search: Callable[[], T]) -> T:
    """Return what was found before: requests that differ in one pin have most of their neighbours in common."""
    all_kept = kept_of(facts)
    kept = all_kept.nearest
    if key not in kept:
        found = search()
        if len(kept) >= all_kept.most_nearest:
            kept.clear()
        kept[key] = found
    return kept[key]  # type: ignore[return-value]


def without(facts: Snapshot, request: Request, names: tuple[str, ...]) -> Request:
    """Give up pins; their products stay asked for, in any version."""
    bare = [n for n in names if facts.products[n].role in ("package", "companion")]
    kept = tuple(pin for pin in request.pins if pin.product not in names)
    return request._replace(pins=kept, bare=tuple(dict.fromkeys([*request.bare, *bare])))


def holding(request: Request, product: str, mask: int) -> Request:
    """Hold a product to some of its elements."""
    return request._replace(pins=(*request.pins, Pin(product, "", mask)))
