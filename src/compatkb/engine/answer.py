"""Answers: the best stacks for a request; or why there is none, and what is nearest."""

from collections.abc import Callable, Iterable
from collections.abc import Set as AbstractSet
from operator import attrgetter

from compatkb.core.record import NamedTuple, replaced
from compatkb.core.vocabulary import Certainty, Role, Verdict
from compatkb.engine.alternatives import (
    Alternative,
    Conflicts,
    Neighbours,
    unserved_pins,
)
from compatkb.engine.budget import STEPS, Budget
from compatkb.engine.conflicts import Cause, cause_of, conflict_of, meeting, refuting
from compatkb.engine.constraints import Constraint
from compatkb.engine.problem import Problem, problem_of, problems_of, routes_of
from compatkb.engine.search import Aim, Search
from compatkb.engine.stacks import Stack, stacks_of
from compatkb.errors import GaveUpError
from compatkb.store.reader import Snapshot
from compatkb.store.records import UNBUILT, Pin, Product, Request, Route

__all__ = ["Alternative", "Answer", "best_stacks", "is_possible", "resolve", "routes_of"]


class Beside(NamedTuple):
    """A stack that stands beside the best one, and why: proven, default-index or successor."""

    kind: str  # proven: every step is stated or observed; default-index: from the default index; successor: without what ended
    stack: Stack


class Answer(NamedTuple):
    """What compatkb says to a request; `stacks` best first."""

    request: Request
    verdict: Verdict
    stacks: tuple[Stack, ...]
    causes: tuple[Cause, ...]
    nearest: tuple[Alternative, ...]
    beside: tuple[Beside, ...] = ()
    gave_up: bool = False  # the budget ended before all was looked for that is near


def resolve(facts: Snapshot, request: Request, expired: Callable[[], bool] | None = None, *, near: bool = True) -> Answer:
    """Return the answer, without what is near and beside unless that is wanted too.

    Raises GaveUpError when the budget ends, or `expired` says so, before there is a verdict.
    """
    asked = _Question(facts, request, Budget(expired=expired))
    stacks = best_stacks(facts, request, asked.budget)
    if (labels := unserved_pins(facts, request)) and stacks:
        answer = Answer(request, Verdict.UNKNOWN, (), tuple(asked.unserved(pin) for pin in labels), ())
        return _completed(answer, near, lambda: answer._replace(nearest=asked.for_served_devices(labels)))
    if stacks and stacks[0].level < Certainty.UNKNOWN:
        answer = Answer(request, stacks[0].verdict, stacks, (), ())
        return _completed(answer, near, lambda: answer._replace(beside=asked.beside(stacks[0])))
    conflicts: Conflicts = {(stack.device, stack.route): None for stack in stacks}
    causes: tuple[Cause, ...] = ()
    is_certain = False
    if not stacks:
        causes, is_certain, conflicts = asked.causes()
    elif {_is_given_up(facts, request, route) for _, route in routes_of(facts, request)} == {True, False}:
        causes = asked.of_lasting_routes(stacks)
    answer = Answer(request, Verdict.DOES_NOT_WORK if is_certain else Verdict.UNKNOWN, stacks, causes, ())
    named = (*(pin.product for pin in request.pins), *request.bare)

    def complete() -> Answer:
        way_out = asked.way_out(named)
        near = asked.without_bare_parts(asked.with_other_device(asked.nearest(conflicts)))
        return answer._replace(nearest=near, beside=way_out)

    return _completed(answer, near, complete)


class _Question(Neighbours):
    """A request with what there is to say of it beside its best stacks."""

    def unserved(self, pin: Pin) -> Cause:
        """Return that what a pin admits is built for a device that no route serves."""
        (device, route), *_ = routes_of(self.facts, self.request)
        refused = tuple(("unserved", element) for element in self.facts.elements(pin.product).of(pin.mask))
        return Cause(("offer", pin.product), device, route.id, False, refused, (), ())

    def beside(self, best: Stack) -> tuple[Beside, ...]:
        """Return what stands beside the best stack."""
        beside = []
        if best.level != Certainty.CERTAIN and (stack := self.proven(best)):
            beside.append(Beside("proven", stack))
        if stack := self.from_default_index(best):
            beside.append(Beside("default-index", stack))
        there = _Question(self.facts, self._on(best), self.budget)
        return (*beside, *there.way_out([element.product for element in best.packages]))

    def _on(self, stack: Stack) -> Request:
        """Return a request for the device and the systems of a stack."""
        systems = sum(1 << element.idx for element in self.facts.elements("os") if element.version in stack.os)
        pins = self.request.pins if self.request.pin("os") else (*self.request.pins, Pin("os", " or ".join(stack.os), systems))
        return self.request._replace(pins=pins, devices=(stack.device,))

    def way_out(self, products: Iterable[str]) -> tuple[Beside, ...]:
        """Return the stack in place of what has ended, if there is one."""
        stack = self.without_ended(products)
        return (Beside("successor", stack),) if stack else ()

    def of_lasting_routes(self, stacks: tuple[Stack, ...]) -> tuple[Cause, ...]:
        """Return why the routes that last have no stack, where all that nothing supports are over given-up ones."""
        given_up = {
            route.id for _, route in routes_of(self.facts, self.request) if _is_given_up(self.facts, self.request, route)
        }
        return self.causes(given_up)[0] if given_up.issuperset(stack.route for stack in stacks) else ()

    def causes(self, apart_from: AbstractSet[str] = frozenset()) -> tuple[tuple[Cause, ...], bool, Conflicts]:
        """Return the causes of all devices and routes, whether they are certain, and the conflict of each device and route.

        Certain ones rest on facts that no inference is part of; they are sought first. What blocks several is said once.
        """
        causes: list[Cause] = []
        conflicts: dict[tuple[str, str], tuple[Constraint, ...]] = {}
        is_certain = True
        for device, route in routes_of(self.facts, self.request):
            if route.id in apart_from:
                continue
            known = tuple(constraint for (place, _), found in conflicts.items() if place == device for constraint in found)
            for certain_only in (True, False):
                problem = problem_of(self.facts, self.request, device, route, self.budget, certain_only=certain_only)
                conflict = (certain_only and refuting(problem)) or conflict_of(problem, known)
                if conflict is not None:
                    break
            is_certain &= certain_only
            conflicts[device, route.id] = conflict or ()
            for cause in meeting(problem, [cause_of(problem, each, certain=certain_only) for each in conflict or ()]):
                same = next((n for n, other in enumerate(causes) if _repeats(cause, other)), None)
                if same is None:
                    causes.append(cause)
                else:
                    other = causes[same]
                    edges = tuple(dict.fromkeys((*other.edges, *cause.edges)))
                    causes[same] = other._replace(certain=other.certain and cause.certain, edges=edges)
        own = [cause for cause in causes if not cause.is_of_route]  # another route may have what this one goes without
        asked = {*self.request.bare, *(pin.product for pin in self.request.pins)}
        brought = {name for route in self.facts.routes for name in route.with_} - asked
        about_asked = [cause for cause in own if brought.isdisjoint(cause.blocker[1:])]
        is_of_builds = all(cause.blocker[0] == "offer" for cause in about_asked)
        if about_asked and (
            not is_of_builds or any("+" in pin.text for pin in self.request.pins)
        ):  # no other build would help
            own = about_asked
        named = {name for name in asked if self.facts.products[name].role != Role.DIMENSION}
        apart = {at for at, found in conflicts.items() if named.isdisjoint(name for each in found for name in each[1:])}
        return tuple(sorted(own or causes, key=lambda cause: (cause.device, cause.route) in apart)), is_certain, conflicts


def _completed(answer: Answer, wanted: bool, complete: Callable[[], Answer]) -> Answer:
    """Return an answer with what else there is; the answer alone where the budget ends on the way."""
    if not wanted:
        return answer
    try:
        return complete()
    except GaveUpError:
        return answer._replace(gave_up=True)


def _repeats(cause: Cause, other: Cause) -> bool:
    if cause.blocker != other.blocker:
        return False
    return cause.device == other.device or (cause.edges, cause.refused) == (other.edges, other.refused)


def is_possible(facts: Snapshot, request: Request, steps: int = STEPS) -> bool:
    """Return whether there is any stack at all, also one that nothing speaks for; much quicker than to look for the best.

    Raises GaveUpError when the search exceeds so many steps.
    """
    return any(Search(problem, Aim.FIRST).run() for problem in problems_of(facts, request, Budget(steps)))


def best_stacks(
    facts: Snapshot, request: Request, budget: Budget | None = None, *, certain_only: bool = False
) -> tuple[Stack, ...]:
    """Return for every device, route and platform the best stack; those that nothing supports only if all are so.

    All others being with a product that has ended and that nobody asked for, those that nothing supports come in their place:
    who asks for a machine is not led to what its maker has given up. Of runtimes alone nobody speaks, so what they say of each
    other must do. With `certain_only` those alone of which every step is stated or observed. Raises GaveUpError.
    """
    problems = list(problems_of(facts, request, budget or Budget()))

    def found(worst: Certainty, some: Iterable[Problem] = problems) -> list[Stack]:
        return [stack for problem in some for hit in Search(problem, Aim.EVERY, worst).run() for stack in stacks_of(hit)]

    stacks = found(Certainty.CERTAIN if certain_only else Certainty.INFERRED)
    if not stacks and not certain_only:
        if all(facts.products[one].role in UNBUILT for one in (*request.bare, *(pin.product for pin in request.pins))):
            stacks = found(Certainty.INFERRED, [replaced(problem, runtimes_vouch=True) for problem in problems])
        stacks = stacks or found(Certainty.UNKNOWN)
    elif stacks and not certain_only:
        lasting = [problem for problem in problems if not _is_given_up(facts, request, problem.route)]
        if {stack.route for stack in stacks}.isdisjoint(problem.route.id for problem in lasting):
            stacks = found(Certainty.UNKNOWN, lasting) or stacks
    return tuple(sorted(stacks, key=attrgetter("rank")))


def _is_given_up(facts: Snapshot, request: Request, route: Route) -> bool:
    """Return whether a route brings what has ended altogether, and nobody asked for that.

    Who fixes a feature, or a driver or another part of the machine beside the GPU, may have nothing else that serves.
    """
    asked = {*request.bare, *(pin.product for pin in request.pins)}
    if not asked.isdisjoint(route.with_) or any(_narrows(facts.products[one]) for one in asked):
        return False
    return any(facts.elements(product)[-1].has_ended(request.today) for product in route.with_)


def _narrows(product: Product) -> bool:
    """Return whether a product is a feature or a part of the machine, other than the hardware itself and the platform."""
    is_part = product.role == Role.DIMENSION and not product.platform and product.id not in ("hardware", "device")
    return product.role == Role.FEATURE or bool(product.machine) or is_part
