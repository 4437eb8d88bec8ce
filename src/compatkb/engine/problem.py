"""One problem of the search: a device reached over one route, with everything that the request fixed."""

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property, reduce
from itertools import islice
from operator import or_

from compatkb.core.memo import memoized
from compatkb.core.record import record, replaced
from compatkb.core.vocabulary import ANY_VERSION, Kind, Role
from compatkb.engine.availability import GLIBC, GLIBC_FAMILY, PLATFORM, Availability, Support
from compatkb.engine.budget import Budget
from compatkb.engine.candidates import Cost, Reason, union
from compatkb.engine.constraints import Constraint, constraint_groups, is_waived, platform_parts
from compatkb.engine.context import Context, RuntimeRequirement, context_of
from compatkb.engine.relations import DEMANDING, UNRELATED, Relation, RelationTable, excluded_by, relation_of
from compatkb.store.reader import Snapshot
from compatkb.store.records import EVERY, UNBUILT, Edge, Element, ElementSet, Pin, PlatformSet, Request, Route, newest_first

PLACEHOLDER = -2
"""Stands for a build that was never published: what a stack would hold if an absence did not count."""
ABSENT = -1
Member = tuple[str, int]
"""A product and the number of its element, or PLACEHOLDER."""
SILENT = (Role.FEATURE, Role.LEAF)
"""Products that are no witnesses for others."""
_RUNTIME_SERVES = 365
"""Days: packages are built against the runtimes of their time; of one that is older by more nobody says that it still does."""


@record(eq=False)
class Problem:
    """A device to be reached over one route, with everything that the request fixed; `problem_of` makes it.

    What is `waived` does not count. Where only certain facts count (`Context.certain_only`), inferences and open disputes
    exclude nothing, and where a list may lack a release that fits, that release is taken to exist: what then has no stack has
    certainly none.
    """

    facts: Snapshot
    request: Request
    device: str
    route: Route
    budget: Budget
    context: Context
    required: tuple[str, ...]  # what is asked for, and what the route brings
    optional: tuple[str, ...]  # what some candidate of those needs
    variables: tuple[str, ...]  # both, in rank order: the products that a stack may hold
    pins: Mapping[str, Pin]  # what the request fixed
    availability: Availability  # where elements can be, with the glibc that is pinned
    pinned_runtimes: frozenset[str]  # those that are searched for, since the request names them
    platforms: PlatformSet
    domains: Mapping[str, ElementSet] = {}  # the candidates of each variable
    open_products: frozenset[str] = frozenset()
    """Products of which a release may exist that the data do not know; none unless only certain facts count."""
    waived: frozenset[Constraint] = frozenset()
    is_narrowed: bool = False  # of its candidates nothing more can be dropped before a search
    runtimes_vouch: bool = False  # what runtimes say of each other makes a stack likely

    @cached_property
    def placeholders(self) -> frozenset[str]:
        """Products for which a build that was never published stands in."""
        return self.open_products | {product for kind, product, *_ in self.waived if kind == "offer"}

    @cached_property
    def runtime_conflicts(self) -> dict[tuple[tuple[Member, ...], bool, PlatformSet], PlatformSet]:
        """What was found of runtimes; it holds for all problems alike where nothing is waived and no runtime is pinned."""
        return {} if self.waived or self.pinned_runtimes else self.availability.runtime_conflicts

    def waiving(self, constraints: Iterable[Constraint]) -> "Problem":
        """Return the same problem with constraints left out of account."""
        waived, domains = frozenset(constraints), dict(self.domains)
        for product in self.variables:
            if ("claim", self.route.provider, product) in waived:  # the provider would bring its own build of that along
                domains[product] = self.provided(product) or domains[product]
        return replaced(self, waived=waived, domains=domains)

    def limited_to(
        self, domains: Mapping[str, ElementSet], platforms: PlatformSet = EVERY, *, is_narrowed: bool = False
    ) -> "Problem":
        """Return the same problem with these candidates and platforms alone."""
        left = {**self.domains, **domains}
        return replaced(self, domains=left, platforms=self.platforms & platforms, is_narrowed=is_narrowed)

    @cached_property
    def device_rank(self) -> int:
        """The place of the device among those asked for where hardware is pinned; those that some of it lacks come last."""
        if "hardware" not in self.pins:
            return 0
        elements = self.facts.elements("hardware").of(self.pins["hardware"].mask)
        lacks = any(self.device not in element.devices for element in elements)
        return self.request.devices.index(self.device) + lacks * len(self.request.devices)

    def is_closed(self, product: str) -> bool:
        """Return whether no release of a product can exist that the data do not know and the request admits.

        It cannot where the request fixes one release, which never changes, or where a complete list covers what it admits.
        """
        facts, pin = self.facts, self.pins.get(product)
        if pin and pin.beyond and not pin.extra:
            return False
        if facts.products[product].role in UNBUILT or (pin and (pin.extra or self._is_fixed(pin))):
            return True
        covered = 0
        for scope in facts.scopes_of(product):
            if scope.until >= self.request.lists_until and (not scope.devices or self.device in scope.devices):
                covered |= scope.mask
        wanted = pin.mask if pin else (1 << facts.sizes[product]) - 1
        return not wanted & ~covered or self._is_outrun(product, wanted & ~covered)

    def _is_outrun(self, product: str, uncovered: ElementSet) -> bool:
        """Return whether a list may lack old releases alone, and what another pin admits came out after all of these.

        What a product that has ended brought out before its list is whole was made for nothing that came later.
        """
        final = self.context.closed_for_good(product)
        if not final or uncovered & ~((final & -final) - 1):
            return False
        first = self.facts.elements(product)[(final & -final).bit_length() - 1]
        others = (pin for pin in self.pins.values() if pin.product != product and pin.mask)
        packages = (pin for pin in others if self.facts.products[pin.product].role not in UNBUILT)
        return first.by is not None and any(
            all(e.since is not None and e.since > first.by for e in self.facts.elements(pin.product).of(pin.mask))
            for pin in packages
        )

    def _is_fixed(self, pin: Pin) -> bool:
        """Return whether a pin names one release or build that the data know, rather than a series or a range."""
        elements = self.facts.elements(pin.product).of(pin.mask)
        releases = {element.release for element in elements}
        return len(releases) == 1 and any(pin.text.endswith((e.release, e.version)) for e in elements)

    def support(self, product: str, idx: int) -> Support:
        """Return the platforms of an element by how well they are known; of what is not listed all that are asked for."""
        waived = self.waived_of_platform(product)
        if idx == PLACEHOLDER and product in self.open_products:
            every = (1 << self.facts.sizes[product]) - 1  # what binds every release that is known binds the others, too
            return Support(self.platforms & ~self.availability.denied_to_all(product, every, waived), 0, 0)
        if not 0 <= idx < self.facts.sizes[product]:
            if self.facts.products[product].machine and idx >= 0:  # what binds every version that is known binds it, too
                every = (1 << self.facts.sizes[product]) - 1
                return Support(self.platforms & ~self.availability.denied_to_all(product, every, waived), 0, 0)
            is_newer = idx >= 0 and self.pins[product].beyond != ""  # than the data: bounds may deny it, and nothing vouches
            return Support(0, 0, self.platforms) if is_newer else Support(self.platforms, 0, 0)
        support = self.availability.support(product, idx, waived)
        if product != self.route.provider or "hardware" in self.pins:
            return support
        doubtful = support.certain & self.context.outside_tables(product, idx)
        return Support(support.certain & ~doubtful, support.inferred | doubtful, support.unknown) if doubtful else support

    def waived_of_platform(self, product: str) -> frozenset[str]:
        """Return what of a product's platforms does not count: dimensions, and `wheels`."""
        return platform_parts(self.waived, product) if self.waived else frozenset()

    def placed(self, product: str, candidates: ElementSet, platforms: PlatformSet) -> tuple[ElementSet, PlatformSet]:
        """Return those of some listed candidates that can be on some platforms, and on which of these they can."""
        return self.availability.placed(product, candidates, platforms, self.waived_of_platform(product))

    def runtime_rows(self, product: str, idx: int) -> tuple[tuple[str, int, RuntimeRequirement], ...]:
        """Return what an element requires of runtimes that are not pinned."""
        if not 0 <= idx < self.facts.sizes[product]:
            return ()
        rows = self.context.runtime_requirements(product, idx)
        return tuple(row for row in rows if row[0] not in self.pinned_runtimes) if self.pinned_runtimes else rows

    @memoized
    def runtime_denials(
        self, runtime: str, versions: ElementSet, beside: tuple[Member, ...]
    ) -> tuple[tuple[PlatformSet, ElementSet], ...]:
        """Return platforms, and those of some versions of a runtime that cannot be there, or not beside some members."""
        denied: dict[PlatformSet, ElementSet] = {}
        waived = self.waived_of_platform(runtime)
        members = [member for member in beside if self.context.demands(runtime, member[0]) and self.table(runtime, member[0])]
        is_limited = self.availability.is_limited(runtime)
        for idx in newest_first(versions) if is_limited or members else ():
            where = self.availability.denials(runtime, idx, waived)[0] if is_limited else 0
            for one, number in members:
                where |= self.relation(runtime, idx, one, number).denied
            if where:
                denied[where] = denied.get(where, 0) | 1 << idx
        return tuple(denied.items())

    def runtime_absences(self, runtime: str, versions: ElementSet) -> tuple[tuple[PlatformSet, ElementSet], ...]:
        """Return platforms, and those of some versions of a runtime that installers do not find there."""
        return self.availability.absences(runtime, versions, self.waived_of_platform(runtime))

    # -- candidates ---------------------------------------------------------------------------------------------

    def element(self, product: str, idx: int) -> Element:
        """Return a candidate; the last number of a pinned product may be a version that the data do not list."""
        elements = self.facts.elements(product)
        if idx < len(elements):
            return elements[idx]
        pin = self.pins[product]
        assert pin.extra
        every = frozenset(self.request.devices)
        return Element(
            product, idx, pin.extra, pin.extra, "stable", True, every, (), frozenset(),
            self.facts.products[product].distribution, None, None, None, None, None, None, self.facts.all_platforms, 0, "",
            0, None, "",
        )  # fmt: skip

    @memoized
    def cost(self, product: str, idx: int) -> Cost:
        """Return what a candidate costs a stack by itself; of what is not listed nothing is known."""
        if not 0 <= idx < self.facts.sizes[product]:
            return Cost()
        is_named = product in self.pins or product in self.request.bare
        cost = self.context.candidates.cost(product, idx, is_named=is_named, is_leading=product == self.route.provider)
        return cost._replace(flawed=self.context.flawed(product, idx))

    def domain(self, product: str) -> ElementSet:
        """Return the candidates of any product: what can be in a stack at all."""
        pin = self.pins.get(product)
        if pin and pin.extra:
            return pin.mask
        return self.context.candidates.offers(product) & ~union(self._held_back(product)) & (pin.mask if pin else EVERY)

    @cached_property
    def _with_foreign(self) -> frozenset[str]:
        """The products of which builds for devices that no route serves are candidates.

        Of these the request admits nothing else, or they go with builds of such a product: torch beside xFormers for CUDA.
        """
        left = {pin.product for pin in self.request.pins if self._is_foreign(pin)}
        left.update(filter(self._is_foreign_alone, self.request.bare))
        queue = list(left)
        while queue:
            one = queue.pop()
            fresh = [other for other in self.facts.products if other not in left and self._goes_with(one, other)]
            left.update(fresh)
            queue += fresh
        return frozenset(left)

    def _goes_with(self, one: str, other: str) -> bool:
        """Return whether a product that has builds for devices that no route serves demands another one, or the other way."""
        if not self.context.candidates.foreign(other):
            return False
        return self.context.says(one, other, DEMANDING) or self.context.says(other, one, DEMANDING)

    def _is_foreign(self, pin: Pin) -> bool:
        """Return whether a pin admits builds for devices that no route serves, and nothing else."""
        return bool(pin.mask) and not pin.extra and not pin.mask & ~self.context.candidates.foreign(pin.product)

    def _is_foreign_alone(self, product: str) -> bool:
        """Return whether all builds of a product that can be installed are for devices that no route serves."""
        offered = self.context.candidates.offers(product)
        return bool(offered) and not offered & ~self.context.candidates.foreign(product)

    @memoized
    def provided(self, product: str) -> ElementSet:
        """Return the candidates of a product if its provider brought builds for another device along, 0 if some fit anyway."""
        pin = self.pins.get(product)
        admitted = pin.mask if pin else (1 << self.facts.sizes[product]) - 1
        refused = dict(self.context.candidates.refused(product))
        if admitted & ~refused["device"] & ~refused["no-build"] or (pin and pin.extra):
            return 0
        provider = self.route.provider
        edges = [edge for edge in self.context.edges(provider, product) if edge.of_mask & self.domain(provider)]
        if not any(excluded_by(edge) & admitted for edge in edges):
            return 0  # the provider has nothing to say against them
        if self.facts.products[product].role in UNBUILT:
            return 0
        return admitted & ~union(self._held_back(product)) & ~union(each for each in refused.items() if each[0] != "device")

    def refusal(self, element: Element) -> str | None:
        """Return why an element cannot be in any stack of this problem: a short code, None where it can."""
        reasons = (*self.context.candidates.refused(element.product), *self._held_back(element.product))
        codes = [code for code, elements in reasons if elements >> element.idx & 1]
        return "other-route" if "other-route" in codes else next(iter(codes), None)

    def _held_back(self, product: str) -> Iterator[Reason]:
        """Yield why elements that can be installed for the device are in no stack of this problem all the same."""
        candidates, pin = self.context.candidates, self.pins.get(product)
        if product in self.route.without:
            yield "other-route", EVERY
        for others, elements in candidates.only_beside(product):
            if not others <= set(self.required):
                yield "only-with", elements
        if pin and pin.strict and not pin.exact:
            yield "yanked", candidates.yanked(product)
        if (python := self.pins.get("python")) and python.patch:
            yield "python-patch", candidates.refusing(product, python.patch)
        if product not in self._with_foreign:
            yield "foreign", candidates.foreign(product)

    def groups(self) -> list[list[Constraint]]:
        """Return the constraints that can exclude stacks, by kind; what explains best comes first."""
        unoffered = [product for product in self.variables if not self.domains[product]]
        return constraint_groups(self.context, self.variables, self.route.provider, unoffered, frozenset(self.pins))

    def candidates(self, product: str) -> ElementSet:
        """Return the listed elements of any product that can be in a stack at all."""
        pin = self.pins.get(product)
        if pin and pin.extra:
            return 0
        return self.domains[product] if product in self.domains else self.domain(product)

    # -- members together -----------------------------------------------------------------------------------------

    def table(self, product: str, other: str) -> RelationTable | None:
        """Return what two products say of each other; None where they say nothing, or it does not count."""
        if self.waived and is_waived(self.waived, product, other):
            return None
        return self.context.table(product, other)

    @cached_property
    def partners(self) -> dict[str, dict[str, RelationTable]]:
        """For each variable the others that it has relations with."""
        partners: dict[str, dict[str, RelationTable]] = {}
        for product in self.variables:
            tables = ((other, self.table(product, other)) for other in self.variables if other != product)
            partners[product] = {other: table for other, table in tables if table is not None}
        return partners

    def relation(self, product: str, idx: int, other: str, number: int) -> Relation:
        """Return what is known of two members together."""
        table = self.table(product, other)
        if table is None or idx < 0 or number < 0:
            return UNRELATED
        return table.relation(idx, number) or relation_of(self.edges_between(product, idx, other, number))

    def edges_between(self, product: str, idx: int, other: str, number: int) -> list[tuple[Edge, bool]]:
        """Return the edges between two members, and whether each names the other one."""
        if idx < 0 or number < 0 or (self.waived and is_waived(self.waived, product, other)):
            return []
        edges = [(edge, self.names(edge, number)) for edge in self.context.edges_from(product, idx, other)]
        return edges + [(edge, self.names(edge, idx)) for edge in self.context.edges_from(other, number, product)]

    def named(self, product: str, idx: int, other: str) -> ElementSet:
        """Return the elements of another product that an edge names beside an element, all beside one that is not listed."""
        if not 0 <= idx < self.facts.sizes[product]:
            return EVERY
        named = reduce(or_, (edge.to_mask for edge in self.context.edges_from(product, idx, other)), 0)
        return reduce(or_, (edge.of_mask for edge in self.facts.edges_naming(other, product, idx)), named)

    @memoized
    def made_for(self, product: str, lead: str, number: int) -> ElementSet:
        """Return the builds of a companion of which something is said with this release of another product and no other."""
        elements = self.facts.elements(lead)
        release = elements.groups("release")[elements[number].release,]
        edges = (edge for edge in self.facts.edges_naming(product, lead, number) if not edge.to_mask & ~release)
        return reduce(or_, (edge.of_mask for edge in edges if edge.kind != Kind.BREAKS), 0)

    def names(self, edge: Edge, idx: int) -> bool:
        """Return whether an edge's target names an element, or the unlisted version that the request pins.

        A series of which it names a part is excluded by nothing.
        """
        if idx < self.facts.sizes[edge.to]:
            return bool(edge.to_mask >> idx & 1)
        version = self.pins[edge.to].extra
        assert version
        if not self.facts.products[edge.to].machine:
            return self.admits(edge, version)
        from compatkb.core.versions import names_of_series  # only for such versions

        named = [spec == ANY_VERSION or names_of_series(spec, version) for spec in edge.spec.split(" or ")]
        return True in named or (None in named and edge.kind != Kind.BREAKS)

    def admits(self, edge: Edge, version: str) -> bool:
        """Return whether an edge's specifier admits a version that the data do not list."""
        from compatkb.core.versions import Scheme, admits  # only for such versions

        scheme = Scheme(self.facts.products[edge.to].scheme)
        return any(spec == ANY_VERSION or admits(scheme, spec, version) for spec in edge.spec.split(" or "))

    def vouched(self, product: str, idx: int, present: Iterable[Member]) -> tuple[PlatformSet, PlatformSet]:
        """Return where a member is supported by the others: for certain, and by inference.

        A part of the machine is what it is, and speaks for nobody. Nor does what comes along only because a build needs it.
        """
        roles = self.facts.products
        if roles[product].machine:
            return self._beside_machine(product, idx, dict(present))
        brought = self._brought(product, idx, present)
        others = [
            (other, number)
            for other, number in present
            if other != product and self.is_witness(other, product) and other not in brought
        ]
        if any(number < 0 for _, number in others):
            return self.facts.all_platforms, 0
        machine = roles[product].role == Role.DIMENSION
        if machine:  # the provider speaks for the stack; what others only infer of the machine lowers that
            packages = [(o, n) for o, n in others if roles[o].role != Role.DIMENSION]
            others = [(o, n) for o, n in packages if self.context.names(o, n, product)]
        leading = [(o, n) for o, n in others if machine and o == self.route.provider] or others
        certain = inferred = 0
        for other, number in leading:
            relation = self.relation(product, idx, other, number)
            certain |= relation.certain if roles[other].role not in SILENT else 0
            inferred |= relation.inferred | relation.certain
        for other, number in others if machine else ():
            relation = self.relation(product, idx, other, number)
            only = relation.inferred & ~relation.certain
            certain, inferred = certain & ~only, inferred | (certain & only)
        return certain, inferred

    def is_witness(self, product: str, of: str) -> bool:
        """Return whether what a product says of another one speaks for it."""
        known = self.facts.products[product]
        if known.role == self.facts.products[of].role == Role.LEAF:
            return self.runtimes_vouch
        return known.role not in SILENT and not known.machine

    def _brought(self, product: str, idx: int, present: Iterable[Member]) -> set[str]:
        """Return what comes along only because a build for one device needs it: it speaks of the device to nobody."""
        listed = self.facts.elements(product)
        if self.facts.products[product].role == Role.FEATURE or not 0 <= idx < len(listed) or len(listed[idx].devices) != 1:
            return set()
        needed = {to for other, _ in present if other != product for to in self.context.needs(other)}
        return {to for to in self.context.needs(product) if to in self.optional and to not in needed}

    def _beside_machine(self, product: str, idx: int, present: Mapping[str, int]) -> tuple[PlatformSet, PlatformSet]:
        """Return where a stack can count on a part of the machine: for certain, and by inference.

        A driver or runtime that nobody names with a member of the stack is no more than likely to do; one much older than what
        brings the device, unless somebody names these two.
        """
        every, provider = self.facts.all_platforms, self.route.provider
        number = present.get(provider, ABSENT)
        if self.facts.products[product].machine != "runtime" or not 0 <= number < self.facts.sizes[provider]:
            return every, 0
        made, known_until = self.facts.elements(provider)[number].since, self._known_until(product, idx)
        is_old = made is not None and known_until is not None and made - known_until > _RUNTIME_SERVES
        naming = {provider: number} if is_old else present
        named = (self.relation(product, idx, other, n).certain for other, n in naming.items() if n >= 0 and other != product)
        return reduce(or_, named, 0), every

    def _known_until(self, product: str, idx: int) -> int | None:
        """Return the last day on which a part of the machine can have come out, by the next dated one; None if none is."""
        elements, pin = self.facts.elements(product), self.pins[product]
        later: Iterable[Element] = islice(elements, idx, None)
        if idx >= len(elements) and self.facts.products[product].scheme == "dotted":
            from compatkb.core.versions import names_of_series  # only for versions that are not listed

            later = (element for element in elements if names_of_series(f"<{element.version}", pin.extra or ""))
        return next((element.by or element.since for element in later if element.by or element.since), None)

    # -- optional products ------------------------------------------------------------------------------------------

    def missing(self, product: str, chosen: list[Member]) -> PlatformSet:
        """Return where a required member needs a product that stays away."""
        platforms = 0
        for other, number in chosen:
            if number >= 0 and other in self.required:
                platforms |= self.context.needed(other, number, product)
        return platforms

    def complete(self, present: Iterable[Member]) -> PlatformSet:
        """Return where every product is there that is needed, and none that nothing required leads to."""
        if not self.optional:
            return self.platforms
        reach = {product: self.platforms if product in self.required else 0 for product in self.variables}
        members = dict(present)
        for _ in self.optional:
            for product, idx in present:
                if idx >= 0 and reach[product]:
                    for to in self.optional:
                        reach[to] |= reach[product] & self.context.needed(product, idx, to)
        platforms = self.platforms
        for product in self.optional:
            platforms &= reach[product] if product in members else ~reach[product]
        return platforms


def problem_of(
    facts: Snapshot,
    request: Request,
    device: str,
    route: Route,
    budget: Budget | None = None,
    *,
    certain_only: bool = False,
) -> Problem:
    """Return what a request asks of a device and a route; with `certain_only` among certain facts alone."""
    context, pins = context_of(facts, request, device, certain_only=certain_only), {pin.product: pin for pin in request.pins}
    asked = dict.fromkeys((*pins, *request.bare, route.provider, *route.with_))
    required = tuple(p for p in asked if not facts.products[p].platform and p != "device")
    optional = context.optional(required)
    variables = tuple(sorted((*required, *optional), key=facts.ranks.__getitem__))
    pin = pins.get(GLIBC)
    glibc = pin and (pin.extra or facts.elements(GLIBC)[pin.mask.bit_length() - 1].version)
    runtimes = frozenset(product for product in required if facts.products[product].role == Role.LEAF)
    problem = Problem(
        facts, request, device, route, budget or Budget(), context, required, optional, variables, pins,
        context.availability(glibc), runtimes, platforms_of(facts, request),
    )  # fmt: skip
    unclosed = frozenset(p for p in problem.variables if not problem.is_closed(p)) if certain_only else frozenset[str]()
    return replaced(problem, domains={p: problem.domain(p) for p in problem.variables}, open_products=unclosed)


def problems_of(facts: Snapshot, request: Request, budget: Budget | None = None) -> Iterator[Problem]:
    """Yield what a request asks of each device and route that it leaves open."""
    for device, route in routes_of(facts, request):
        yield problem_of(facts, request, device, route, budget)


def routes_of(facts: Snapshot, request: Request) -> Iterator[tuple[str, Route]]:
    """Yield the devices and routes that a request leaves open."""
    asked = {pin.product for pin in request.pins} | set(request.bare)
    for device in request.devices:
        for route in facts.routes:
            if device in route.devices and asked.isdisjoint(route.without) and request.route in (None, route.id):
                yield device, route


def platforms_of(facts: Snapshot, request: Request) -> PlatformSet:
    """Return the platforms that a request leaves open: families of systems where it names none."""
    platforms = facts.all_platforms
    for dimension in PLATFORM:
        pin = request.pin(dimension)
        platforms &= facts.dimension_cells(dimension, pin.mask if pin else facts.usual[dimension])
    if not request.pin("os") and not request.pin("arch"):
        platforms &= ~facts.unusual
    if request.pin(GLIBC):
        for n, name in enumerate(facts.grid["os"]):
            if GLIBC_FAMILY not in (name, *facts.wider.get(name, ())):
                platforms &= ~facts.dimension_cells("os", 1 << n)
    return platforms
