"""Why there is no stack: a minimal set of constraints; leaving any one of them out would admit a stack."""

from functools import cached_property, reduce
from operator import and_, or_

from compatkb.core.record import NamedTuple
from compatkb.core.vocabulary import ANY_VERSION, Kind
from compatkb.engine.constraints import EXPLAINING, Constraint
from compatkb.engine.narrowing import is_listed
from compatkb.engine.problem import Problem
from compatkb.engine.relations import excluded_by
from compatkb.engine.search import Aim, Search
from compatkb.store.records import EVERY, Edge, Element, ElementSet, Pin, newest_first


class Cause(NamedTuple):
    """A constraint that excludes stacks; `certain` if its conflict was found among stated and observed facts alone."""

    blocker: Constraint
    device: str
    route: str
    certain: bool
    refused: tuple[tuple[str, Element], ...]  # offer: code and element
    elements: tuple[Element, ...]  # platform: the builds that lack wheels
    edges: tuple[Edge, ...]  # claim: what denies
    is_part: bool = False  # of what it excludes, that alone is told which the causes beside it leave

    @property
    def is_of_route(self) -> bool:
        """Whether all that it says is that the route goes without a product."""
        return bool(self.refused) and all(code == "other-route" for code, _ in self.refused)


class _Conflicts:
    """One problem asked again and again, each time with some of its constraints in force and the rest waived."""

    def __init__(self, problem: Problem, constraints: list[Constraint]) -> None:
        self._problem, self._every = problem, frozenset(constraints)

    def exclude(self, active: list[Constraint]) -> bool:
        """Return whether some constraints alone exclude every stack."""
        return not Search(self._problem.waiving(self._every.difference(active)), Aim.FIRST).run()

    def excludes_alone(self, constraint: Constraint) -> bool:
        """Return whether one constraint excludes every stack by itself; never for runtimes, which exclude only together.

        With all others waived it does if it leaves its two products no pair, or its one product no platform.
        """
        kind, *products = constraint
        of_platform = kind == "platform" or products[-1] in EXPLAINING
        if not set(products[:1] if of_platform else products) <= set(self._problem.required):
            return False
        problem, (product, *others) = self._free, products
        if kind == "offer":
            return product not in problem.open_products and not problem.domains[product]
        if any(not is_listed(problem, one, problem.domains[one]) for one in (products[:1] if of_platform else products)):
            return False
        if of_platform:
            waived = problem.waived_of_platform(product) - {"wheels" if kind == "platform" else products[-1]}
            return not problem.availability.placed(product, problem.domains[product], problem.platforms, waived)[0]
        (other,) = others
        table = problem.context.table(product, other)
        other_domain = problem.domain(other) if product == problem.route.provider else problem.domains[other]
        return table is not None and not table.allowed_by(problem.domains[product], other_domain, problem.platforms)

    @cached_property
    def _free(self) -> Problem:
        return self._problem.waiving(self._every)

    def minimal(self, constraints: list[Constraint]) -> list[Constraint]:
        """Return constraints that exclude every stack, and no part of which does; earlier ones are kept in preference.

        It is the explanation that QuickXplain finds (Junker 2004): the last of the fewest first ones that exclude every
        stack is part of it, then the last of the fewest before it that do so together with that one, and so on.
        """
        chosen: list[Constraint] = []
        left = constraints
        while not chosen or not self.exclude(chosen):
            few, many = 0, len(left)  # with `few` of them there are stacks, with `many` there are none
            while many - few > 1:
                probe = (few + many) // 2
                if self.exclude([*left[:probe], *chosen]):
                    many = probe
                else:
                    few = probe
            chosen.append(left[many - 1])
            left = left[: many - 1]
        return sorted(chosen, key=constraints.index)


def conflict_of(problem: Problem, preferred: tuple[Constraint, ...] = ()) -> tuple[Constraint, ...] | None:
    """Return a minimal set of constraints that excludes every stack; empty where the pins leave no platform at all.

    None where there is a stack.

    What was found for another route is `preferred`: one constraint that explains both is better than two.
    """
    groups = problem.groups()
    if preferred:
        first = [constraint for group in groups for constraint in group if constraint in preferred]
        groups = [first, *([constraint for constraint in group if constraint not in preferred] for group in groups)]
    constraints = [constraint for group in groups for constraint in group]
    conflicts = _Conflicts(problem, constraints)
    if not conflicts.exclude(constraints):
        return None
    single = next((constraint for constraint in constraints if conflicts.excludes_alone(constraint)), None)
    if problem.platforms and single:
        return (single,)
    return () if conflicts.exclude([]) else tuple(conflicts.minimal(constraints))


def refuting(problem: Problem) -> tuple[Constraint, ...] | None:
    """Return a pair of pins one of which excludes what the other names, a version beyond all lists; None if there is none.

    Such a version may well exist; what a published release says of it is fixed all the same.
    """
    pins = problem.request.pins
    pairs = ((other, pin) for pin in pins if pin.beyond and pin.exact for other in pins if other.mask)
    return next(((("claim", other.product, pin.product),) for other, pin in pairs if _excludes(problem, other, pin)), None)


def _excludes(problem: Problem, of: Pin, pin: Pin) -> bool:
    """Return whether all that one pin admits for the device excludes a version that is not listed, on every platform."""
    own = left = of.mask & ~dict(problem.context.candidates.refused(of.product))["device"]
    for edge in problem.context.unfiltered_edges(of.product, pin.product):
        if problem.context.holds(edge) and not problem.platforms & ~edge.forbidden_on:
            left &= ~edge.of_mask if _denies_unlisted(problem, edge, pin.beyond) else EVERY
    return bool(own) and not left


def _denies_unlisted(problem: Problem, edge: Edge, version: str) -> bool:
    return edge.kind != Kind.VERIFIED and problem.admits(edge, version) == (edge.kind == Kind.BREAKS)


def cause_of(problem: Problem, constraint: Constraint, *, certain: bool) -> Cause:
    """Return what a constraint consists of, for people; it is `certain` where the conflict was found among facts alone."""
    refused: tuple[tuple[str, Element], ...] = ()
    elements: tuple[Element, ...] = ()
    edges: tuple[Edge, ...] = ()
    product = constraint[1]
    if constraint[0] == "offer":
        refused = tuple((code, e) for e in _pinned(problem, product) if (code := problem.refusal(e)))
    elif constraint[0] == "platform":
        elements = tuple(problem.facts.elements(product).of(problem.candidates(product)))
    else:
        edges = _denying(problem, product, constraint[2])
    return Cause(constraint, problem.device, problem.route.id, certain, refused, elements, edges)


def meeting(problem: Problem, causes: list[Cause]) -> list[Cause]:
    """Return the causes of one conflict with the edges and builds alone that concern the versions which the others leave.

    Where vLLM needs torch 2.4.0, it is of torch 2.4.0 that a Python is too new, or that there is no wheel.
    """
    claims = [cause for cause in causes if cause.blocker[0] == "claim"]
    for n, cause in enumerate(causes):
        product, left = cause.blocker[1], EVERY
        for other in claims:
            left &= _left_by(problem, other, product) if other is not cause else EVERY
        edges = tuple(edge for edge in cause.edges if edge.of != product or edge.of_mask & left) or cause.edges
        elements = tuple(element for element in cause.elements if left >> element.idx & 1) or cause.elements
        is_part = cause.is_part or len(edges) < len(cause.edges) or len(elements) < len(cause.elements)
        causes[n] = cause._replace(edges=edges, elements=elements, is_part=is_part)
    return causes


def _left_by(problem: Problem, cause: Cause, product: str) -> ElementSet:
    """Return the elements of a product that some candidate admits which demands a version of it; all if none does."""
    edges = [edge for edge in cause.edges if edge.to == product and edge.kind != Kind.BREAKS]
    if not edges:
        return EVERY
    speaking = problem.candidates(edges[0].of) & reduce(or_, (edge.of_mask for edge in edges))
    admitted = (reduce(and_, (e.to_mask for e in edges if e.of_mask >> idx & 1)) for idx in newest_first(speaking))
    return reduce(or_, admitted, 0) or EVERY


def _pinned(problem: Problem, product: str) -> list[Element]:
    pin = problem.request.pin(product)
    elements = problem.facts.elements(product)
    if pin and pin.extra:
        return []
    return list(elements.of(pin.mask if pin else EVERY))


def _denying(problem: Problem, one: str, other: str) -> tuple[Edge, ...]:
    """Return the edges between two products that deny something among their candidates."""
    own, pin = problem.pins.get(one), problem.pins.get(other)
    candidates = problem.candidates(one) or (own.mask if own else EVERY)
    admitted = pin.mask if pin else EVERY
    edges = [edge for edge in problem.context.unfiltered_edges(one, other) if _denies(problem, edge, candidates, admitted)]
    return (
        *edges,
        *(edge for edge in problem.context.unfiltered_edges(other, one) if _denies(problem, edge, admitted, candidates)),
    )


def _denies(problem: Problem, edge: Edge, some: ElementSet, others: ElementSet) -> bool:
    """Return whether some elements deny one among others by an edge, on a platform that the request leaves open."""
    context, unlisted, pin = problem.context, 1 << problem.facts.sizes[edge.to], problem.pins.get(edge.to)
    if edge.kind == Kind.VERIFIED or not edge.of_mask & some or not edge.forbidden_on & problem.platforms:
        return False
    demands_any = edge.spec == ANY_VERSION and edge.kind != Kind.BREAKS
    if not context.holds(edge) or context.in_part(edge) or demands_any:
        return False
    if pin and pin.beyond and not others:
        return _denies_unlisted(problem, edge, pin.beyond)
    if others == unlisted:
        return problem.names(edge, problem.facts.sizes[edge.to]) == (edge.kind == Kind.BREAKS)
    return bool(excluded_by(edge) & others)
