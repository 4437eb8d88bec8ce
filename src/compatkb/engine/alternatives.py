"""Alternatives to a request that has no stack: relaxes as few pins as possible, then takes the nearest series.

A stack without some pins exists only if every minimal conflict names one of them, so pins are given up along conflicts: one
of each conflict, then one of what still conflicts without it, and so on.
"""

from collections.abc import Iterable, Iterator, Mapping

from compatkb.core.record import NamedTuple
from compatkb.core.vocabulary import Certainty, Role
from compatkb.engine.availability import GLIBC, PLATFORM
from compatkb.engine.budget import Budget
from compatkb.engine.conflicts import conflict_of
from compatkb.engine.constraints import Constraint
from compatkb.engine.narrowing import narrowed
from compatkb.engine.preference import preference
from compatkb.engine.problem import Problem, problem_of, problems_of, routes_of
from compatkb.engine.search import Aim, Found, Search
from compatkb.engine.stacks import Stack, foremost, stack_of
from compatkb.store.reader import Snapshot
from compatkb.store.records import EVERY, ElementSet, Pin, Request

MOST_ALTERNATIVES = 8
_MOST_GIVEN_UP = 3
_FEW_PINS = 8
"""Of so many pins each is given up in turn where no conflict tells which one is in the way."""
_INSTALLED = (Role.PACKAGE, Role.COMPANION)
_HARD = ("hardware", GLIBC, "gpu-driver", "arch")
"""What nobody can change with a command: given up only where nothing else helps."""


class Alternative(NamedTuple):
    """A stack that answers the request after some of its pins were given up."""

    relaxed: tuple[str, ...]
    where: str  # same series, below, above, or best
    stack: Stack


class _Hit(NamedTuple):
    """What a stack that is near is made from."""

    relaxed: tuple[str, ...]
    where: str
    ties: tuple[Found, ...]


Conflicts = Mapping[tuple[str, str], tuple[Constraint, ...] | None]
"""What excludes every stack, by device and route; None where there is a stack that nothing supports."""


class Neighbours:
    """The stacks that are near to a request, and those that stand beside its best one; all raise GaveUpError."""

    def __init__(self, facts: Snapshot, request: Request, budget: Budget) -> None:
        self.facts, self.request, self.budget = facts, request, budget

    def nearest(self, conflicts: Conflicts) -> tuple[Alternative, ...]:
        """Return the stacks that are near: as few pins given up as possible, versions before Python before the system.

        `conflicts` are those of the request, as far as they are known. Raises GaveUpError.
        """
        pinned = frozenset(pin.product for pin in self.request.pins)
        known = {(frozenset[str](), *place): conflict for place, conflict in conflicts.items()}
        tried: set[frozenset[str]] = set()
        for names in dict.fromkeys((pinned.difference(_HARD), pinned)):
            given_up: list[frozenset[str]] = [frozenset()]
            for _ in range(_MOST_GIVEN_UP):
                given_up = self._one_more(given_up, names, known)
                fresh = [relaxed for relaxed in given_up if relaxed not in tried]
                tried.update(fresh)
                if hits := _distinct(hit for relaxed in fresh for hit in self._without(relaxed)):
                    more = _distinct((*hits, *self._other_versions(hits)))
                    near = [Alternative(hit.relaxed, hit.where, stack) for hit in more if (stack := stack_of(hit.ties))]
                    return tuple(sorted(near, key=lambda one: any(element.foreign for element in one.stack.packages)))
        return ()

    def with_other_device(self, near: tuple[Alternative, ...]) -> tuple[Alternative, ...]:
        """Return what is near with the best stack for a device that was not asked for, where that keeps everything else.

        It is the last resort, but where all that is near gives up the machine itself.
        """
        usual = dict.fromkeys(device for route in self.facts.routes if not route.on_request for device in route.devices)
        devices = tuple(device for device in usual if device not in self.request.devices)
        is_moved = all(any(name in (*PLATFORM, *_HARD) for name in one.relaxed) for one in near)
        if (
            not devices
            or len(devices) == len(usual)
            or not (is_moved or (self.request.pin("hardware") and not self.request.names_devices))
        ):
            return near
        stack = stack_of(_best(self._problems(self.request._replace(devices=devices, route=None))))
        if stack is None or any(element.foreign for element in stack.packages):  # what is made for neither helps nobody
            return near
        other = Alternative(("device",), "best", stack)
        return (other, *near) if is_moved else (*near, other)

    def without_bare_parts(self, near: tuple[Alternative, ...]) -> tuple[Alternative, ...]:
        """Return what is near after the best stack without the parts of a machine that were named without a version."""
        bare = tuple(name for name in self.request.bare if self.facts.products[name].role == Role.DIMENSION)
        free = self.request._replace(bare=tuple(name for name in self.request.bare if name not in bare))
        stack = stack_of(_best(self._problems(free))) if bare else None
        return (Alternative(bare, "best", stack), *near) if stack else near

    def for_served_devices(self, pins: Iterable[Pin]) -> tuple[Alternative, ...]:
        """Return the best stack for each device that is served, with the builds for it of the releases that some pins name."""
        served = {}
        for pin in pins:
            elements = self.facts.elements(pin.product)
            releases = {element.release for element in elements.of(pin.mask)}
            mask = sum(1 << e.idx for e in elements if e.release in releases and not e.foreign)
            served[pin.product] = Pin(pin.product, " or ".join(sorted(releases)), mask, exact=False)
        free = self.request._replace(pins=tuple(served.get(pin.product, pin) for pin in self.request.pins), route=None)
        devices = dict.fromkeys(device for route in self.facts.routes if not route.on_request for device in route.devices)
        stacks = (stack_of(_best(self._problems(free._replace(devices=(device,))))) for device in devices)
        return tuple(Alternative(tuple(served), "same", stack) for stack in stacks if stack)

    def _other_versions(self, hits: Iterable[_Hit]) -> Iterator[_Hit]:
        """Yield the nearest series on the same machine where its Python or system is all that was given up of several pins."""
        dimensions = {name for name, product in self.facts.products.items() if product.role == Role.DIMENSION}
        pinned = frozenset(pin.product for pin in self.request.pins if self.facts.products[pin.product].role in _INSTALLED)
        if len(pinned) > 1 and all(dimensions.issuperset(hit.relaxed) for hit in hits):
            for hit in self._without(pinned, series_of_first=True):
                if hit.where in ("above", "below"):
                    yield hit

    def _one_more(
        self,
        given_up: Iterable[frozenset[str]],
        names: frozenset[str],
        known: dict[tuple[frozenset[str], str, str], tuple[Constraint, ...] | None],
    ) -> list[frozenset[str]]:
        """Return the sets of pins with one more of what still conflicts, easy ones first; conflicts become `known`."""
        sets: dict[frozenset[str], None] = {}
        for relaxed in given_up:
            free = without(self.facts, self.request, relaxed)
            for device, route in routes_of(self.facts, free):
                place = (relaxed, device, route.id)
                if place not in known:
                    known[place] = conflict_of(problem_of(self.facts, free, device, route, self.budget))
                conflict = known[place]
                about = frozenset(product for constraint in conflict or () for product in constraint[1:])
                if conflict is None:  # there is a stack that nothing supports: any pin may be what keeps from a better one
                    about = names if not relaxed and len(names) <= _FEW_PINS else frozenset()
                elif not conflict or any(constraint[0] == "platform" for constraint in conflict):
                    about |= {*PLATFORM, GLIBC}
                for product in names & about - relaxed:
                    sets[relaxed | {product}] = None
        return sorted(sets, key=lambda relaxed: (max(map(_ease, relaxed)), sorted(self.facts.ranks[name] for name in relaxed)))

    def _without(self, relaxed: frozenset[str], *, series_of_first: bool = False) -> Iterator[_Hit]:
        """Yield the stacks without some pins: of one pin the nearest series over each route, then the best stack of all.

        With `series_of_first` the nearest series of the first of several, too.
        """
        names = tuple(sorted(relaxed, key=self.facts.ranks.__getitem__))
        problems = list(self._problems(without(self.facts, self.request, relaxed)))
        pin = self.request.pin(names[0])
        head = self.facts.products[names[0]]
        if (len(names) == 1 or series_of_first) and pin and not pin.extra and head.scheme != "listed" and not head.machine:
            for route in self.facts.routes:
                if over_route := [problem for problem in problems if problem.route is route]:
                    yield from (hit._replace(relaxed=names) for hit in _beside(over_route, pin))
        system = self.request.pin("os") if "os" in relaxed else None
        if not system and (best := _best(problems)):
            yield _Hit(names, "best", best)
        free = without(self.facts, self.request, relaxed)
        for others in self._systems_beside(system.mask) if system else ():
            if best := _best(self._problems(free._replace(pins=(*free.pins, Pin("os", "", others))))):
                yield _Hit(names, "best", best)

    def _systems_beside(self, asked: ElementSet) -> tuple[ElementSet, ...]:
        """Return what may take the place of the systems asked for: others of their families, then other families.

        Not the family of a system: who has Ubuntu 20.04 has a Linux.
        """
        names = self.facts.grid["os"]
        own = {name for n, name in enumerate(names) if asked >> n & 1}
        around = {wider for name in own for wider in self.facts.wider.get(name, ())} | own
        beside = {name for name in names if not around.isdisjoint(self.facts.wider.get(name, ()))} - around
        return tuple(sum(1 << names.index(name) for name in some) for some in (beside, {*self.facts.families} - around))

    def _problems(self, request: Request) -> Iterator[Problem]:
        """Yield a problem for each device and route that has any stack at all, with the candidates alone that others admit."""
        for problem in problems_of(self.facts, request, self.budget):
            left, platforms = narrowed(problem, Certainty.INFERRED)
            if left:
                yield problem.limited_to(left, platforms, is_narrowed=True)

    def proven(self, best: Stack) -> Stack | None:
        """Return the best stack of which every step is stated or observed, on the device of the best one."""
        problems = problems_of(self.facts, self.request._replace(devices=(best.device,)), self.budget)
        return stack_of(_best(problems, Certainty.CERTAIN))

    def from_default_index(self, best: Stack) -> Stack | None:
        """Return the same release of what brings the device from the client's own index, if the best is from another."""
        route = next(route for route in self.facts.routes if route.id == best.route)
        provider = next(element for element in best.packages if element.product == route.provider)
        if "default" in provider.channels:
            return None
        elements = self.facts.elements(provider.product)
        mask = sum(1 << e.idx for e in elements if e.release == provider.release and "default" in e.channels)
        if not mask or ((pin := self.request.pin(provider.product)) and not pin.mask & mask):
            return None
        other_pins = tuple(pin for pin in self.request.pins if pin.product not in (provider.product, "os"))
        systems = Pin("os", "", sum(1 << n for n, name in enumerate(self.facts.grid["os"]) if name in best.os))
        pins = (*other_pins, systems, Pin(provider.product, provider.release, mask))
        return stack_of(_best(self._problems(self.request._replace(pins=pins, devices=(best.device,), route=route.id))))

    def without_ended(self, products: Iterable[str]) -> Stack | None:
        """Return the best stack in place of those of some products that have ended, where the data name their successors.

        Pins on other products are kept if that is possible; else the machine, its Python only where nothing else helps.
        """
        replaced = set(products) & self.facts.successors.keys()
        successors = [self.facts.successors[name] for name in replaced]
        devices = tuple(
            d for d in self.request.devices if all(any(s.device in (None, d) for s in each) for each in successors)
        )
        if not replaced or not devices:
            return None
        request = self.request
        if not request.pin("os") and (systems := self._systems_of(self.request, replaced)):
            request = request._replace(pins=(*request.pins, Pin("os", "", systems)))
        others = tuple(pin for pin in request.pins if pin.product not in replaced)
        machine = tuple(pin for pin in others if self.facts.products[pin.product].role == Role.DIMENSION)
        for pins in dict.fromkeys((others, machine, tuple(pin for pin in machine if pin.product != "python"))):
            bare = {successor.product for each in successors for successor in each} - {pin.product for pin in pins}
            for device in devices:  # what ended products were for comes before what every machine has
                free = request._replace(pins=pins, bare=tuple(sorted(bare)), devices=(device,), route=None)
                problems = self._problems(free)
                stack = stack_of(_best(p for p in problems if replaced.isdisjoint((p.route.provider, *p.route.with_))))
                if stack and not replaced & {element.product for element in stack.packages}:
                    return stack
        return None

    def _systems_of(self, request: Request, products: Iterable[str]) -> ElementSet:
        """Return the families of systems for which what is asked for of some products has wheels."""
        platforms = 0
        for product in products:
            pin = request.pin(product)
            for element in self.facts.elements(product).of(pin.mask if pin and not pin.extra else EVERY):
                platforms |= element.certain | element.inferred
        systems = zip(self.facts.families, self.facts.family_cells, strict=True)
        return sum(1 << self.facts.grid["os"].index(name) for name, cells in systems if platforms & cells)


def unserved_pins(facts: Snapshot, request: Request) -> tuple[Pin, ...]:
    """Return the pins whose label (`+cu126`) fixes a device that no route serves; none where the machine is named."""
    if request.names_devices or request.pin("hardware"):
        return ()
    labelled = (pin for pin in request.pins if "+" in pin.text and pin.mask and not pin.extra)
    return tuple(pin for pin in labelled if all(element.foreign for element in facts.elements(pin.product).of(pin.mask)))


def _ease(product: str) -> int:
    """Return how hard it is to give up what a pin fixes: a version, then Python, then the system."""
    return ("python", "os", *_HARD).index(product) + 1 if product in ("python", "os", *_HARD) else 0


def _distinct(hits: Iterable[_Hit]) -> tuple[_Hit, ...]:
    """Return the first few that differ in what they install."""
    distinct: dict[object, _Hit] = {}
    for hit in hits:
        first = hit.ties[0]
        distinct.setdefault((first.problem.device, first.problem.route, first.chosen), hit)
        if len(distinct) == MOST_ALTERNATIVES:
            break
    return tuple(distinct.values())


def _beside(problems: list[Problem], pin: Pin) -> Iterator[_Hit]:
    """Yield the best stack of the pinned series if there is one, else of the nearest series below and above."""
    groups = problems[0].facts.series(pin.product)
    held = [n for n, mask in enumerate(groups) if mask & (pin.mask or pin.near)]
    if not held:
        return
    below, above = range(held[0] - 1, -1, -1), range(held[-1] + 1, len(groups))
    if pin.beyond and pin.near == 1:  # older than all that is known
        held, above = [], range(len(groups))
    previews = sum(1 << element.idx for element in problems[0].facts.elements(pin.product) if element.is_preview)
    for where, numbers in (("same", held), ("below", below), ("above", above)):
        masks = [groups[number] for number in numbers]
        if ties := _first_of(problems, pin.product, masks if where == "same" else [mask & ~previews for mask in masks]):
            yield _Hit((pin.product,), where, ties)
            if where == "same":
                break


def _first_of(problems: list[Problem], product: str, groups: list[ElementSet]) -> tuple[Found, ...]:
    """Return what is best of the first group of a product's elements that has any stack."""
    best_of_each = (_best(filter(None, [_limited(problem, product, group) for problem in problems])) for group in groups)
    return next((ties for ties in best_of_each if ties), ())


def _limited(problem: Problem, product: str, group: ElementSet) -> Problem | None:
    """Return a problem with some elements of a product alone; None where it has none of them."""
    if product in problem.required:
        left = group & problem.domains[product]
        return problem.limited_to({product: left}) if left else None
    if product in PLATFORM:
        platforms = problem.platforms & problem.facts.dimension_cells(product, group)
        return problem.limited_to({}, platforms) if platforms else None
    request = problem.request._replace(pins=(*problem.request.pins, Pin(product, "", group)))
    return problem_of(problem.facts, request, problem.device, problem.route, problem.budget)


def _best(problems: Iterable[Problem], worst: Certainty = Certainty.INFERRED) -> tuple[Found, ...]:
    """Return the best stacks supported no worse than `worst`, on any device and over any route; empty if there are none."""
    hits: list[Found] = []
    for problem in problems:
        bar = min((preference(hit.problem, hit.quality) for hit in hits), default=None)
        hits += Search(problem, Aim.BEST, worst, bar).run()
    return foremost(hits)


def without(facts: Snapshot, request: Request, names: Iterable[str]) -> Request:
    """Return a request without some pins; their products stay asked for, in any version."""
    given_up = set(names)
    bare = [n for n in given_up if facts.products[n].role in _INSTALLED]
    pins = tuple(pin for pin in request.pins if pin.product not in given_up)
    return request._replace(pins=pins, bare=tuple(sorted({*request.bare, *bare}, key=facts.ranks.__getitem__)))
