"""The facts under the circumstances of a question: the device, pinned hardware, the day of knowledge and the clock.

What depends on nothing else is worked out here, once for all questions in these circumstances.
"""

from collections.abc import Iterable, Iterator
from functools import cached_property, lru_cache, reduce
from itertools import chain
from operator import and_, or_

from compatkb.core.memo import memoized
from compatkb.core.record import NamedTuple, record, replaced
from compatkb.core.vocabulary import ANY_VERSION, FOREVER, Certainty, Kind, Role
from compatkb.engine.availability import PLATFORM, Availability
from compatkb.engine.candidates import Candidates
from compatkb.engine.known_issues import IssueCondition, Surroundings, gpus_meant, known_issues
from compatkb.engine.relations import DEMANDING, RelationTable, excluded_by
from compatkb.store.reader import Snapshot
from compatkb.store.records import EVERY, Edge, ElementSet, Pin, PlatformSet, Request, newest_first, whole_parts


class RuntimeRequirement(NamedTuple):
    """What one edge demands of a runtime."""

    platforms: PlatformSet
    versions: ElementSet  # admitted elements, and above them the gaps between bounds
    is_inferred_pin: bool
    pins: bool  # it names one version, so the runtime is in the stack
    in_metadata: bool  # installers read it themselves
    bound: str  # what a command must say, since no metadata do; empty where they do
    demands: bool  # the runtime has to be there


class RuntimeArc(NamedTuple):
    """What the versions of one runtime demand of another one, on platforms on which the same holds all over."""

    products: tuple[str, str]
    demands: tuple[
        tuple[ElementSet, ElementSet, bool], ...
    ]  # versions, those of the other that they admit, whether one is needed


Reach = tuple[tuple[str, ElementSet], ...]
"""Runtimes, each with the versions of it that count."""


def admitted_by(requirements: Iterable[RuntimeRequirement], size: int) -> ElementSet:
    """Return the versions of a runtime that requirements admit together; so many are listed.

    A gap between bounds, which stands above those listed, decides nothing where something listed is admitted: installers
    take what is there.
    """
    versions = reduce(and_, (requirement.versions for requirement in requirements), EVERY)
    return versions & (1 << size) - 1 or versions


@record()
class Context:
    """The facts as they are for a device on some hardware, at some time; `context_of` makes it. Days are ordinals."""

    facts: Snapshot
    device: str
    hardware: ElementSet  # the hardware elements that are pinned, 0: none
    as_of: int  # what exists: the day of knowledge, unless another one was asked for
    today: int  # the clock: whether an end of life has come
    lists_until: int  # the day that a list of releases or wheels must reach for an absence to count
    certain_only: bool  # inferences and undecided disputes exclude nothing
    uploaded_until: int | None  # the last day of uploads that installers take
    channels: frozenset[str] | None  # the only indexes that packages are taken from
    extras: frozenset[tuple[str, str]]  # products with the extras that are asked for
    machine: tuple[Pin, ...] = ()  # the parts of the machine that are pinned
    gpus: int = 1  # in use together, at the least

    @cached_property
    def _plain(self) -> "Context":
        """The same without the machine, which shares what it says with all machines; itself where nothing of it is pinned."""
        is_plain = not self.hardware and not self.machine and self.gpus == 1
        return self if is_plain else _kept(replaced(self, hardware=0, machine=(), gpus=1))

    @cached_property
    def candidates(self) -> Candidates:
        """What can be installed, and the properties of it."""
        if self._plain is not self:
            return self._plain.candidates
        return Candidates(self.facts, self.device, self.as_of, self.today, self.uploaded_until, self.channels)

    def _is_plain(self, of: str, to: str) -> bool:
        """Return whether what two products say of each other is the same whatever hardware is pinned; most is."""
        return self._plain is not self and (of, to) not in self.facts.hardware_pairs

    # -- edges --------------------------------------------------------------------------------------------------

    def holds(self, edge: Edge) -> bool:
        """Return whether an edge speaks of this device and hardware, and counts."""
        if self.certain_only and (edge.open or (edge.level != Certainty.CERTAIN and not self._is_final(edge))):
            return False
        if edge.devices and self.device not in edge.devices:
            return False
        if not edge.hardware:
            return True
        return bool(edge.hardware & self.hardware) and not (edge.kind == Kind.VERIFIED and self.in_part(edge))

    def _is_final(self, edge: Edge) -> bool:
        """Return whether what is concluded of releases counts as a fact: it is in their metadata, or their product has ended.

        What a release goes with of a product that gets no further ones was never extended to anything else.
        """
        if edge.in_metadata:
            return True
        of, to = (self.facts.products[product].role for product in (edge.of, edge.to))
        is_denial = edge.kind != Kind.VERIFIED and {of, to} <= {Role.PACKAGE, Role.COMPANION}
        return is_denial and not edge.of_mask & ~self.closed_for_good(edge.of)

    @memoized
    def closed_for_good(self, product: str) -> ElementSet:
        """Return the elements of a product that has an end and gets no further release, as far as their list is whole."""
        covered = 0
        for scope in self.facts.scopes_of(product):
            if scope.until == FOREVER and (not scope.devices or self.device in scope.devices):
                covered |= scope.mask
        newest = self.facts.elements(product)[-1] if self.facts.sizes[product] else None
        return covered if newest and newest.eol is not None and covered >> newest.idx & 1 else 0

    def in_part(self, edge: Edge) -> bool:
        """Return whether what is said of a feature concerns only some of the hardware pinned: of the rest nothing is known."""
        rest = edge.hardware and self.hardware & ~edge.hardware
        return bool(rest) and self.facts.products[edge.of].role == Role.FEATURE

    def speaks(self, of: str, to: str) -> bool:
        """Return whether a product says anything of another one with the extras that are asked for, wherever it holds."""
        return to in self.facts.targets_of(of) or bool(self._extra_edges(of, to))

    def unfiltered_edges(self, of: str, to: str, among: ElementSet = EVERY) -> tuple[Edge, ...]:
        """Return what one product says of another one with the extras that are asked for, wherever it holds."""
        return self.facts.edges(of, to, among) + self._extra_edges(of, to)

    def _extra_edges(self, of: str, to: str) -> tuple[Edge, ...]:
        extras = {extra for product, extra in self.extras if product == of}
        return self.facts.edges_of_extras(of, to, extras) if extras else ()

    def _held(self, edges: tuple[Edge, ...]) -> tuple[Edge, ...]:
        """Return the edges between two products that hold; where a part of the machine meets a demand no one need say so."""
        held = tuple([edge for edge in edges if self.holds(edge)])
        held = edges if len(held) == len(edges) else held  # contexts by the hundred share what they do not filter
        if held and self.facts.products[held[0].to].machine:
            held = tuple([_met(edge) for edge in held])
        return tuple([edge._replace(open=True) if self.in_part(edge) else edge for edge in held]) if self.hardware else held

    @memoized
    def edges(self, of: str, to: str, among: ElementSet = EVERY) -> tuple[Edge, ...]:
        """Return what one product says of another one, as far as it holds; `among` as `Snapshot.edges` has it."""
        if self._is_plain(of, to):
            return self._plain.edges(of, to, among)
        return self._held(self.unfiltered_edges(of, to, among))

    @memoized
    def edges_from(self, of: str, idx: int, to: str) -> tuple[Edge, ...]:
        """Return what one element says of another product, as far as it holds."""
        if self._is_plain(of, to):
            return self._plain.edges_from(of, idx, to)
        edges = self.facts.edges_from(of, idx, to)
        if self.extras:
            edges += tuple([edge for edge in self._extra_edges(of, to) if idx >= 0 and edge.of_mask >> idx & 1])
        return self._held(edges)

    @memoized
    def says(self, of: str, to: str, kinds: tuple[str, ...], *, settled: bool = False) -> bool:
        """Return whether one product says something of some kinds of another one that holds, and is not open if `settled`."""
        if self._is_plain(of, to):
            return self._plain.says(of, to, kinds, settled=settled)
        said = chain(self.facts.edges_of_kinds(of, to, kinds), self._extra_edges(of, to))
        return any(
            edge.kind in kinds and not (settled and (edge.open or self.in_part(edge))) and self.holds(edge) for edge in said
        )

    @memoized
    def outside_tables(self, of: str, idx: int) -> PlatformSet:
        """Return the platforms of single systems that no hardware table of an element names; 0 where it has no table.

        A table that names a family, or no system, is about every system of it. Where nothing names hardware with an element,
        though there is hardware for the device, those are all platforms.
        """
        tables = named = 0
        for edge in self.edges_from(of, idx, "hardware"):
            tables |= edge.supported_on if edge.level == Certainty.CERTAIN else 0
            named |= edge.supported_on
        if not named and "hardware" in self.facts.products:
            offered = any(self.device in element.devices for element in self.facts.elements("hardware"))
            return self.facts.all_platforms if offered else 0
        return self.facts.unnamed_systems(tables) if tables else 0

    @memoized
    def table(self, product: str, other: str) -> RelationTable | None:
        """Return what two products say of each other; None where they say nothing."""
        if self._is_plain(product, other):
            return self._plain.table(product, other)
        if not self.extras and not self.speaks(product, other) and not self.speaks(other, product):
            return None
        sizes = (self.facts.sizes[product], self.facts.sizes[other])
        return RelationTable((product, other), sizes, self.edges, self.edges_from)

    @memoized
    def flawed(self, product: str, idx: int) -> PlatformSet:
        """Return the platforms on which an element has a grave issue on this device, and on the machine that is pinned."""
        platforms = 0
        for defect in self.facts.defects:
            on_all = not defect.hardware or (self.hardware and not self.hardware & ~defect.hardware)
            meant = defect.product == product and defect.mask >> idx & 1 and defect.gpus <= self.gpus
            if meant and on_all and self._has(defect.beside):
                platforms |= defect.cells if not defect.devices or self.device in defect.devices else 0
        return platforms

    def _has(self, parts: Iterable[tuple[str, str, ElementSet]]) -> bool:
        """Return whether the machine that is pinned is sure to have parts of some versions."""
        masks = {pin.product: pin.mask for pin in self.machine if not pin.extra}
        place = Surroundings({pin.product: (pin.extra,) for pin in self.machine if pin.extra}, masks)
        return all(known_issues(self.facts).holds(IssueCondition(*part), place) for part in parts)

    @memoized
    def availability(self, glibc: str | None) -> Availability:
        """Return where elements can be, on systems with a glibc if one is pinned."""
        if self._plain is not self and not any(to in PLATFORM for _, to in self.facts.hardware_pairs):
            return self._plain.availability(glibc)  # no product has other platforms on some hardware than elsewhere
        return Availability(self.facts, self.edges, self.edges_from, self.speaks, self.as_of, self.lists_until, glibc)

    # -- what products need ---------------------------------------------------------------------------------------

    @memoized
    def needs(self, product: str) -> tuple[str, ...]:
        """Return the packages that elements of a product need."""
        roles = self.facts.products
        packages = (to for to in self.facts.targets_of(product) if roles[to].role == Role.PACKAGE)
        return tuple(to for to in packages if self.says(product, to, (Kind.NEEDS,)))

    @memoized
    def needed(self, product: str, idx: int, to: str) -> PlatformSet:
        """Return the platforms on which an element needs another product."""
        platforms = 0
        for edge in self.edges_from(product, idx, to):
            platforms |= edge.forbidden_on if edge.kind == Kind.NEEDS else 0
        return platforms

    def needing(self, product: str, to: str, platforms: PlatformSet) -> ElementSet:
        """Return the elements that need another product on all of some platforms."""
        elements = 0
        for mask, needed_on in self._needing(product, to):
            elements |= 0 if platforms & ~needed_on else mask
        return elements

    @memoized
    def _needing(self, product: str, to: str) -> tuple[tuple[ElementSet, PlatformSet], ...]:
        """Return elements that need another product, by where they do."""
        elements_by_platforms: dict[PlatformSet, ElementSet] = {}
        for edge in self.edges(product, to):
            if edge.kind == Kind.NEEDS:
                elements_by_platforms[edge.forbidden_on] = elements_by_platforms.get(edge.forbidden_on, 0) | edge.of_mask
        return tuple([(mask, needed_on) for needed_on, mask in elements_by_platforms.items()])

    @memoized
    def optional(self, required: tuple[str, ...]) -> tuple[str, ...]:
        """Return the packages that some element of these products needs, or of what those need in turn.

        Each comes after those that need it, as far as they do not need each other.
        """
        left: list[str] = []
        queue, packages = list(required), list[str]()
        while queue:
            fresh = [to for to in self.needs(queue.pop()) if to not in required and to not in left]
            left += fresh
            queue += fresh
        while left:
            first = next((one for one in left if not any(one in self.needs(other) for other in left if other != one)), left[0])
            left.remove(first)
            packages.append(first)
        return tuple(packages)

    @memoized
    def runtime_requirements(self, product: str, idx: int) -> tuple[tuple[str, int, RuntimeRequirement], ...]:
        """Return what an element requires of runtimes: the runtime, the id of the edge that says it, and what."""
        return tuple(
            (to, edge, said)
            for to in self.facts.targets_of(product)
            if self.facts.products[to].role == Role.LEAF
            for _, edge, said in self._requirements(self.edges_from(product, idx, to))
        )

    @memoized
    def _requirements_on(
        self, product: str, versions: ElementSet, runtime: str
    ) -> tuple[tuple[ElementSet, int, RuntimeRequirement], ...]:
        """Return what some elements of a product require of a runtime: which, the id of the edge that says it, and what."""
        return tuple(self._requirements(self.edges(product, runtime, versions)))

    def _requirements(self, edges: Iterable[Edge]) -> Iterator[tuple[ElementSet, int, RuntimeRequirement]]:
        for edge in edges:
            size, listed = self.facts.sizes[edge.to], (1 << self.facts.sizes[edge.of]) - 1
            if edge.kind == Kind.VERIFIED or edge.open or not edge.of_mask & listed:
                continue
            admitted = (1 << size) - 1 & ~excluded_by(edge)
            pins = edge.kind == Kind.NEEDS and bool(edge.supported_on) and "==" in edge.spec
            bound = edge.spec if edge.kind == Kind.CONSTRAINS else ""
            versions, is_inferred = admitted | edge.unlisted << size, pins and edge.level != Certainty.CERTAIN
            is_demand = edge.kind in DEMANDING
            said = RuntimeRequirement(edge.forbidden_on, versions, is_inferred, pins, edge.in_metadata, bound, is_demand)
            yield edge.of_mask & listed, edge.id, said

    @memoized
    def demands(self, runtime: str, product: str) -> bool:
        """Return whether versions of a runtime demand some of a product, which is no dimension of the platform."""
        is_named = product in self.facts.targets_of(runtime) and not self.facts.products[product].platform
        return is_named and self.says(runtime, product, DEMANDING)

    @memoized
    def runtimes_of(self, product: str) -> tuple[str, ...]:
        """Return the runtimes of which elements of a product require something."""
        runtimes = (to for to in self.facts.targets_of(product) if self.facts.products[to].role == Role.LEAF and to != product)
        return tuple(to for to in runtimes if self.says(product, to, (*DEMANDING, Kind.BREAKS), settled=True))

    @memoized
    def _alike_on(
        self, product: str, versions: ElementSet, runtime: str
    ) -> tuple[tuple[ElementSet, tuple[RuntimeRequirement, ...]], ...]:
        """Return the elements of a product, gaps between its versions too, by what they require of a runtime."""
        said_by_element: dict[int, tuple[RuntimeRequirement, ...]] = {}
        for elements, _, said in self._requirements_on(product, versions, runtime):
            for idx in newest_first(elements):
                said_by_element[idx] = (*said_by_element.get(idx, ()), said)
        masks: dict[tuple[RuntimeRequirement, ...], ElementSet] = {(): EVERY}  # nothing is known of what is not listed
        for idx, requirements in said_by_element.items():
            masks[requirements] = masks.get(requirements, 0) | 1 << idx
            masks[()] &= ~(1 << idx)
        return tuple([(mask, requirements) for requirements, mask in masks.items()])

    @memoized
    def reached(self, runtimes: frozenset[str], wanted: tuple[tuple[str, ElementSet], ...]) -> Reach:
        """Return runtimes that versions of some are sure to lead to at most, with their versions in whole parts.

        What nobody leads to decides nothing: a runtime that has to be there is cut to what asks for it.
        """
        versions = dict(wanted)
        queue = list(versions)
        while queue:
            runtime = queue.pop()
            for to in [to for to in self.runtimes_of(runtime) if to in runtimes]:
                said = self._requirements_on(runtime, versions[runtime], to)
                admitted = reduce(or_, (each.versions for _, _, each in said if each.demands), 0)
                known = versions.get(to, 0)
                versions[to] = known | whole_parts(admitted, self.facts.sizes[to])
                queue += [to] if versions[to] != known else []
        return tuple(sorted(versions.items(), key=lambda each: (-len(self.behind(each[0])), each[0])))

    @memoized
    def _pairs(self, reach: Reach) -> tuple[tuple[str, ElementSet, str], ...]:
        """Return which of some runtimes require which, those last that the others require."""
        names = dict(reach)
        return tuple((one, versions, to) for one, versions in reach for to in self.runtimes_of(one) if to in names)

    @memoized
    def cuts(self, reach: Reach) -> frozenset[PlatformSet]:
        """Return the platforms on which some runtimes require something of each other."""
        return frozenset().union(*(self._cuts(*pair) for pair in self._pairs(reach)))

    @memoized
    def _cuts(self, runtime: str, versions: ElementSet, to: str) -> frozenset[PlatformSet]:
        return frozenset(said.platforms for _, _, said in self._requirements_on(runtime, versions, to))

    @memoized
    def arcs(self, reach: Reach, cuts: frozenset[PlatformSet]) -> tuple[RuntimeArc, ...]:
        """Return what some runtimes demand of each other where the demands for these platforms, of `cuts`, hold."""
        return tuple(self._arc(*pair, cuts & self._cuts(*pair)) for pair in self._pairs(reach))

    @memoized
    def _arc(self, runtime: str, versions: ElementSet, to: str, cuts: frozenset[PlatformSet]) -> RuntimeArc:
        demands = []
        for mask, requirements in self._alike_on(runtime, versions, to):
            said = [requirement for requirement in requirements if requirement.platforms in cuts]
            demands.append((mask, admitted_by(said, self.facts.sizes[to]), any(each.demands for each in said)))
        return RuntimeArc((runtime, to), tuple(demands))

    @memoized
    def apart(self, runtimes: tuple[str, ...], pinned: frozenset[str]) -> tuple[frozenset[str], ...]:
        """Return runtimes with those behind them, but for the pinned ones, in parts that require nothing of each other."""
        parts: list[frozenset[str]] = []
        for runtime in runtimes:
            part = self.behind(runtime) - pinned
            joined = [other for other in parts if not part.isdisjoint(other)]
            parts = [other for other in parts if other not in joined] + [part.union(*joined)]
        return tuple(parts)

    @memoized
    def behind(self, runtime: str) -> frozenset[str]:
        """Return a runtime, those that its versions require, and those that these do in turn."""
        names, queue = {runtime}, [runtime]
        while queue:
            fresh = [to for to in self.runtimes_of(queue.pop()) if to not in names]
            names.update(fresh)
            queue += fresh
        return frozenset(names)

    @memoized
    def runtime_claims(self, products: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
        """Return who says something of which runtime, and then of what these say something in turn."""
        facts = self.facts
        named = [(of, to) for of in products for to in facts.targets_of(of) if facts.products[to].role == Role.LEAF]
        apart = [(of, to) for of, to in named if to not in products]
        runtimes = dict.fromkeys(to for _, first in apart for to in (first, *sorted(self.behind(first))) if to not in products)
        beside = (*products, *runtimes, "os", "python", "arch")
        return (*apart, *((to, other) for to in runtimes for other in beside if other != to and other in facts.targets_of(to)))

    @memoized
    def named_values(
        self, product: str, idx: int, dimension: str, level: int
    ) -> tuple[tuple[str, PlatformSet, tuple[int, ...] | None], ...]:
        """Return what an element names of a dimension, known at least so well: as written, where, versions unless a bound."""
        return tuple(
            (edge.spec, edge.supported_on, tuple(newest_first(edge.to_mask)) if "==" in edge.spec else None)
            for edge in self.edges_from(product, idx, dimension)
            if edge.supported_on
            and edge.kind != Kind.BREAKS
            and not edge.open
            and edge.level <= level
            and edge.spec != ANY_VERSION
        )

    def names(self, product: str, idx: int, dimension: str) -> bool:
        """Return whether an element names values of a dimension that it was made for or tried with."""
        said = self.edges_from(product, idx, dimension)
        return any(edge.kind != Kind.BREAKS and edge.supported_on and not edge.open for edge in said)


def _met(edge: Edge) -> Edge:
    """Return an edge to a part of the machine: what it demands is met by what it names, and that needs no further word."""
    if edge.kind not in DEMANDING:
        return edge
    return edge._replace(supported_on=edge.supported_on | edge.forbidden_on, level=Certainty.CERTAIN)


@lru_cache(256)
def _kept(context: Context) -> Context:
    """Return the context that was used before under the same circumstances: questions mostly differ in their pins alone."""
    return context


def context_of(facts: Snapshot, request: Request, device: str, *, certain_only: bool = False) -> Context:
    """Return the facts as a request sees them on a device."""
    pin, days = request.pin("hardware"), (request.as_of, request.today, request.lists_until)
    hardware, taken = pin.mask if pin else 0, (request.uploaded_until, request.channels, request.extras)
    machine = tuple([each for each in request.pins if facts.products[each.product].machine])
    return _kept(Context(facts, device, hardware, *days, certain_only, *taken, machine, gpus_meant(facts, request)))
