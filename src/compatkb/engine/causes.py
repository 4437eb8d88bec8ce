"""Why there is no stack: an irreducible set of facts; leaving any one of them out would admit a stack."""

from typing import NamedTuple

from compatkb.engine.blockers import EXPLAINING, groups_of
from compatkb.engine.ignored import Blocker
from compatkb.engine.problem import Problem
from compatkb.engine.trials import Trials, alone
from compatkb.records import STRONG, UNBUILT, Edge, Element, Request, Route
from compatkb.snapshot.read import Snapshot


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
    groups = groups_of(problem)
    if preferred:
        first = [blocker for group in groups for blocker in group if blocker in preferred]
        groups = [first, *([blocker for blocker in group if blocker not in preferred] for group in groups)]
    blockers = [blocker for group in groups for blocker in group]
    trials = Trials(problem, blockers)
    if trials.is_hopeless():
        return ()
    enough = alone(groups, trials)
    chosen = [enough] if enough else trials.irreducible()
    return tuple(_cause(problem, blocker) for blocker in chosen)


def stand(causes: tuple[Cause, ...], free: Problem, given_up: frozenset[str]) -> bool:
    """Return whether causes surely exclude every stack also after pins were given up; `free` is the question without them.

    They do where none of them is about what was given up, and what they deny they deny on every platform that opens.
    """
    roles = free.facts.products
    machine = given_up & {*EXPLAINING, "hardware"}
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
        elements = tuple(problem.facts.elements(product).of(problem.candidates(product)))
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
    mine = problem.candidates(one)
    for idx in range(mine.bit_length()):
        left = theirs if mine >> idx & 1 else 0
        for edge in firm if left else ():
            excluded = edge.to_mask if edge.kind == "breaks" else ~edge.to_mask
            if edge.of == one and edge.of_mask >> idx & 1:
                left &= ~excluded
            elif edge.of == other and excluded >> idx & 1:
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
    mine = problem.candidates(one)
    pin = problem.request.pin(other)
    theirs = pin.mask if pin else -1
    found = []
    for edge in problem.facts.edges(one, other):
        if edge.kind == "verified" or not problem.view.holds(edge) or problem.view.in_part(edge):
            continue
        if edge.spec == "any version" or not edge.of_mask & mine or not edge.denies & problem.cells:
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
        if excluded & mine and edge.denies & problem.cells:
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
