"""Answers: the best stacks for a request; or why there is none, and what is nearest."""

from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

from compatkb.engine.causes import Cause, causes_of
from compatkb.engine.problem import Problem
from compatkb.engine.search import Search
from compatkb.engine.stacks import Stack, stacks_of
from compatkb.records import UNKNOWN, Pin, Request, Route
from compatkb.snapshot.read import Snapshot

MOST_NEAREST = 8


class Near(NamedTuple):
    """A stack that answers the request after some of its pins were given up."""

    relaxed: tuple[str, ...]
    where: str  # same series, below, above, or best
    stack: Stack


class Answer(NamedTuple):
    """What compatkb says to a request; `stacks` best first."""

    request: Request
    verdict: str
    stacks: tuple[Stack, ...]
    causes: tuple[Cause, ...]
    nearest: tuple[Near, ...]


def resolve(facts: Snapshot, request: Request) -> Answer:
    """Return the answer; raises GaveUpError when the search exceeds its budget."""
    stacks = best_stacks(facts, request)
    if stacks and stacks[0].level < UNKNOWN:
        return Answer(request, stacks[0].verdict, stacks, (), ())
    causes = _causes(facts, request) if not stacks else []
    settled = bool(causes) and all(cause.certain for cause in causes)
    verdict = "unknown" if stacks or not settled else "does-not-work"
    if not stacks and not causes:
        verdict = "does-not-work"  # the pins on the platform exclude each other
    return Answer(request, verdict, stacks, tuple(causes), tuple(nearest(facts, request)))


def _causes(facts: Snapshot, request: Request) -> list[Cause]:
    """Return the causes of every device and route; what blocks several is said once, and is as certain as all of them."""
    causes: list[Cause] = []
    for device, route in routes_of(facts, request):
        known = tuple(cause.blocker for cause in causes if cause.device == device)
        for cause in causes_of(facts, request, device, route, known):
            same = next((n for n, other in enumerate(causes) if _repeats(cause, other)), None)
            if same is None:
                causes.append(cause)
            else:
                other = causes[same]
                edges = tuple(dict.fromkeys((*other.edges, *cause.edges)))
                causes[same] = other._replace(certain=other.certain and cause.certain, edges=edges)
    return causes


def _repeats(cause: Cause, other: Cause) -> bool:
    if cause.blocker != other.blocker:
        return False
    return cause.device == other.device or (cause.edges, cause.refused) == (other.edges, other.refused)


def routes_of(facts: Snapshot, request: Request) -> Iterator[tuple[str, Route]]:
    """Yield the devices and routes that a request leaves open."""
    asked = {pin.product for pin in request.pins} | set(request.bare)
    for device in request.devices:
        for route in facts.routes:
            if device in route.devices and not route.without & asked:
                yield device, route


def best_stacks(facts: Snapshot, request: Request) -> tuple[Stack, ...]:
    """Return for every device, route and platform the best stack; those that nothing speaks for only if all are so."""
    found: list[Stack] = []
    for device, route in routes_of(facts, request):
        problem = Problem(facts, request, device, route)
        for hit in Search(problem).run():
            found += stacks_of(problem, hit)
    if any(stack.level < UNKNOWN for stack in found):
        found = [stack for stack in found if stack.level < UNKNOWN]
    found.sort(key=lambda stack: stack.rank)
    return tuple(found)


def nearest(facts: Snapshot, request: Request) -> Iterator[Near]:
    """Yield the stacks that are near: as few pins given up as possible, then the nearest series, then today's best."""
    order = list(facts.products)
    pins = sorted(request.pins, key=lambda pin: order.index(pin.product))
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
    free = _without(facts, request, names)
    best: dict[str, Stack | None] = {}
    for route in {route.id: route for _, route in routes_of(facts, free)}.values():
        best[route.id] = _first(facts, free, route)
    found: list[Near] = []
    if len(relaxed) == 1 and not relaxed[0].extra:
        groups = facts.series(names[0])
        held = [n for n, mask in enumerate(groups) if mask & (relaxed[0].mask or relaxed[0].near)]
        if held and facts.products[names[0]].scheme != "listed":
            below, above = range(held[0] - 1, -1, -1), range(held[-1] + 1, len(groups))
            if relaxed[0].beyond and relaxed[0].near == 1:  # older than all that is known
                held, above = [], range(len(groups))
            for route in {route.id: route for _, route in routes_of(facts, request)}.values():
                if not best[route.id]:
                    continue
                viable = _viable(facts, free, route, names[0])
                for where, numbers in (("same", held), ("below", below), ("above", above)):
                    tried = [groups[number] for number in numbers if groups[number] & viable]
                    stack = _first_of(facts, free, route, names[0], tried)
                    if stack:
                        found.append(Near(names, where, stack))
                        if where == "same":
                            break
    stack = next((stack for stack in best.values() if stack), None)  # routes come in today's order of preference
    if stack:
        found.append(Near(names, "best", stack))
    return found


def _viable(facts: Snapshot, request: Request, route: Route, product: str) -> int:
    """Return the elements of a product that no unconditional edge with what is pinned excludes: the rest need no search."""
    viable = 0
    for device in request.devices:
        if device in route.devices:
            problem = Problem(facts, request, device, route)
            mask = problem.domains.get(product, -1)
            for pin in request.pins:
                if pin.product in problem.domains and pin.product != product and mask > 0:
                    mask &= _admitted(problem, pin.product, product)
            viable |= mask
    return viable


def _admitted(problem: Problem, held: str, product: str) -> int:
    """Return the elements of `product` that some element of `held` admits."""
    mask, left = 0, problem.domains[held]
    while left:
        low = left & -left
        left ^= low
        mask |= problem.allowed(held, low.bit_length() - 1, product)
    return mask


def _first_of(
    facts: Snapshot, request: Request, route: Route, product: str, groups: list[int], *, there_is: bool = False
) -> Stack | None:
    """Return the best stack of the first group of a product's elements that has any; whole halves are ruled out at once."""
    if len(groups) == 1:
        return _first(facts, _with(request, product, groups[0]), route)
    if not groups or not (there_is or _is_possible(facts, _with(request, product, sum(groups)), route)):
        return None
    half = len(groups) // 2
    stack = _first_of(facts, request, route, product, groups[:half])
    return stack or _first_of(facts, request, route, product, groups[half:], there_is=True)


def _is_possible(facts: Snapshot, request: Request, route: Route) -> bool:
    """Return whether there is any stack that something speaks for."""
    problems = (Problem(facts, request, device, route) for device in request.devices if device in route.devices)
    return any(Search(problem, first_only=True, known_only=True).run() for problem in problems)


def _first(facts: Snapshot, request: Request, route: Route) -> Stack | None:
    best: Stack | None = None
    for device in request.devices:
        if device not in route.devices:
            continue
        problem = Problem(facts, request, device, route)
        hits = Search(problem, best_only=True, known_only=True).run()[:1]
        for hit in hits:
            for stack in stacks_of(problem, hit):
                if best is None or stack.rank < best.rank:
                    best = stack
    return best


def _without(facts: Snapshot, request: Request, names: tuple[str, ...]) -> Request:
    """Give up pins; their products stay asked for, in any version."""
    bare = [n for n in names if facts.products[n].role in ("package", "companion")]
    kept = tuple(pin for pin in request.pins if pin.product not in names)
    return request._replace(pins=kept, bare=tuple(dict.fromkeys([*request.bare, *bare])))


def _with(request: Request, product: str, mask: int) -> Request:
    return request._replace(pins=(*request.pins, Pin(product, "", mask)))
