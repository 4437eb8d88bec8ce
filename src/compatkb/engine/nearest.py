"""What is near to a request that no stack answers: as few pins given up as possible, then the nearest series."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import combinations
from typing import NamedTuple, TypeVar

from compatkb.engine.causes import Cause, stand
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


Told = Mapping[tuple[str, str], tuple[Cause, ...]]
"""Why a request has no stack, by device and route."""


def nearest(facts: Snapshot, request: Request, told: Told) -> Iterator[Near]:
    """Yield the stacks that are near: as few pins given up as possible, then the nearest series, then today's best.

    Where the causes that were `told` stand whatever is given up, nobody looks.
    """
    pins = sorted(request.pins, key=lambda pin: facts.ranks[pin.product])
    for count in range(1, len(pins) + 1):
        found: list[Near] = []
        for relaxed in combinations(pins, count):
            found += _relaxed(facts, request, relaxed, told)
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


def _relaxed(facts: Snapshot, request: Request, relaxed: tuple[Pin, ...], told: Told) -> list[Near]:
    names = tuple(pin.product for pin in relaxed)
    free = without(facts, request, names)
    found: list[Near] = []
    freed: dict[str, _Freed] = {}
    if len(relaxed) == 1 and not relaxed[0].extra:
        groups = facts.series(names[0])
        held = [n for n, mask in enumerate(groups) if mask & (relaxed[0].mask or relaxed[0].near)]
        if held and facts.products[names[0]].scheme != "listed":
            below, above = range(held[0] - 1, -1, -1), range(held[-1] + 1, len(groups))
            if relaxed[0].beyond and relaxed[0].near == 1:  # older than all that is known
                held, above = [], range(len(groups))
            for route in {route.id: route for _, route in routes_of(facts, request)}.values():
                freed[route.id] = _Freed(facts, free, route, told, names)
                if not freed[route.id].problems:
                    continue
                there = _Series(freed[route.id], names[0], groups)
                for where, numbers in (("same", held), ("below", below), ("above", above)):
                    stack = there.nearest(numbers)
                    if stack:
                        found.append(Near(names, where, stack))
                        if where == "same":
                            break
    for route in {route.id: route for _, route in routes_of(facts, free)}.values():  # in today's order of preference
        stack = (freed.get(route.id) or _Freed(facts, free, route, told, names)).first()
        if stack:
            found.append(Near(names, "best", stack))
            break
    return found


class _Freed:
    """A request of which pins were given up, over one route, on every device that it reaches."""

    def __init__(self, facts: Snapshot, request: Request, route: Route, told: Told, names: tuple[str, ...]) -> None:
        self.facts, self.request, self.route = facts, request, route
        devices = (device for device in request.devices if device in route.devices)
        problems = (Problem(facts, request, device, route) for device in devices)
        given_up = frozenset(names)
        self.problems = [p for p in problems if not stand(told.get((p.device, route.id), ()), p, given_up)]

    def narrow(self) -> None:
        """Drop at once what cannot be part of any stack; it pays where more than one search follows."""
        possible = []
        for problem in self.problems:
            problem.start = narrowed(problem, problem.domains, known_only=True)
            if problem.start is not None:
                possible.append(problem)
        self.problems = possible

    def hopeful(self, product: str) -> int:
        """Return the elements of a product of which nothing is known yet that keeps them from being part of a stack."""
        found = 0
        for problem in self.problems:
            start = problem.start
            if product in problem.domains:
                found |= (start.domains if start else problem.domains)[product]
            elif start and product in self.facts.grid:
                cells = start.strong | start.weak
                values = (1 << n for n in range(len(self.facts.grid[product])))
                found |= sum(value for value in values if self.facts.dimension_cells(product, value) & cells)
            else:
                found = -1
        return found

    def first(self, product: str = "", mask: int = 0) -> Stack | None:
        """Return the best stack that something speaks for, on any device; with a product held to some elements, if named."""
        if not self.problems:
            return None
        request = holding(self.request, product, mask) if product else self.request

        def find() -> Stack | None:
            best: Stack | None = None
            for problem in self._held(request, product, mask):
                for hit in search(problem, best_only=True, known_only=True)[:1]:
                    for stack in shared_stacks(problem, hit):
                        if best is None or stack.rank < best.rank:
                            best = stack
            return best

        return _kept(self.facts, ("first", self.route.id, _key(request)), find)

    def is_possible(self, product: str, mask: int) -> bool:
        """Return whether there is any stack that something speaks for, with a product held to some elements."""
        request = holding(self.request, product, mask)

        def find() -> bool:
            return any(search(held, first_only=True, known_only=True) for held in self._held(request, product, mask))

        return _kept(self.facts, ("possible", self.route.id, _key(request)), find)

    def _held(self, request: Request, product: str, mask: int) -> Iterator[Problem]:
        for problem in self.problems:
            if not product:
                yield problem
            elif product in problem.domains and self.facts.products[product].role not in ("dimension", "leaf"):
                yield problem.holding(request, product, mask)
            else:
                yield Problem(self.facts, request, problem.device, self.route)


class _Series:
    """The series of a product that has been given up, over one route."""

    def __init__(self, freed: _Freed, product: str, groups: tuple[int, ...]) -> None:
        self._freed, self._product, self._groups = freed, product, groups
        self._is_narrow = False
        if not kept_of(freed.facts).is_first:
            self._narrow()

    def _narrow(self) -> None:
        self._is_narrow = True
        self._freed.narrow()

    def nearest(self, numbers: Iterable[int]) -> Stack | None:
        """Return the best stack of the first of some series that has any: mostly it is the first one."""
        hope = self._freed.hopeful(self._product)
        groups = [mask for number in numbers if (mask := self._groups[number]) & hope]
        if not groups:
            return None
        stack = self._freed.first(self._product, groups[0])
        if stack:
            return stack
        if not self._is_narrow:  # for a first question it takes longer than it saves, unless that is disappointed
            self._narrow()
        hope = self._freed.hopeful(self._product)
        return self._first_of([mask for mask in groups[1:] if mask & hope])

    def _first_of(self, groups: list[int], *, there_is: bool = False) -> Stack | None:
        """Return the best stack of the first group that has any; whole halves are ruled out at once."""
        if len(groups) == 1:
            return self._freed.first(self._product, groups[0])
        if not groups or not (there_is or self._freed.is_possible(self._product, sum(groups))):
            return None
        half = len(groups) // 2
        return self._first_of(groups[:half]) or self._first_of(groups[half:], there_is=True)


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
