"""One question to the search: a device reached over one route, with everything that the request fixed.

A *blocker* is a group of facts that can exclude stacks: ("offer", P) that P offers no fitting build, ("platform", P) that
its builds lack wheels for a platform, ("claim", P, Q) what the two say of each other. A search may be told to ignore
blockers; that is how causes are shown to be minimal.
"""

from functools import cached_property
from typing import NamedTuple

from compatkb.engine.records import STRONG, UNKNOWN, Advisory, Edge, Element, Request, Route
from compatkb.snapshot.read import Snapshot

Blocker = tuple[str, ...]
JOKER = -2
"""Stands for a build that nobody published: what a stack would hold if an absence were not."""
ABSENT = -1


class Levels(NamedTuple):
    """Platform bits by how well something is known there; disjoint."""

    strong: int
    weak: int
    unknown: int


class Pair(NamedTuple):
    """What is known of two elements together."""

    denied: int
    strong: int
    weak: int
    matters: int  # bits on which the two must be vouched for
    muddled: int  # bits on which an undecided dispute leaves them open


_NO_PAIR = Pair(0, 0, 0, 0, 0)


class Problem:
    """The facts of one question, looked up once; `ignored` blockers do not count."""

    def __init__(
        self, facts: Snapshot, request: Request, device: str, route: Route, ignored: frozenset[Blocker] = frozenset()
    ) -> None:
        self.facts, self.request, self.device, self.route, self.ignored = facts, request, device, route, ignored
        self._pairs: dict[tuple[str, int, str, int], Pair] = {}
        self._allowed: dict[tuple[str, int, str], int] = {}
        self._levels: dict[tuple[str, int], Levels] = {}
        self.hardware = (pin.mask if (pin := request.pin("hardware")) else 0)

    # -- what is fixed ------------------------------------------------------------------------------------------

    @cached_property
    def cells(self) -> int:
        """The platform bits that the request leaves open."""
        return platform_cells(self.facts, self.request)

    @cached_property
    def variables(self) -> tuple[str, ...]:
        """The products that a stack must or may hold, in rank order."""
        wanted = dict.fromkeys([*self.required, *self.optional])
        return tuple(product for product in self.facts.products if product in wanted)

    @cached_property
    def required(self) -> tuple[str, ...]:
        """The products that the request or the route asks for."""
        asked = [pin.product for pin in self.request.pins] + list(self.request.bare)
        asked += [self.route.provider, *self.route.with_]
        return tuple(dict.fromkeys(p for p in asked if not self.facts.products[p].platform and p != "device"))

    @cached_property
    def optional(self) -> tuple[str, ...]:
        """The packages that some candidate needs and nobody asked for."""
        found: dict[str, None] = {}
        queue = list(self.required)
        while queue:
            for to, edges in self.facts.edges_from(queue.pop()).items():
                if to in self.required or to in found or self.facts.products[to].role != "package":
                    continue
                if any(edge.kind == "needs" and self._holds(edge) for edge in edges):
                    found[to] = None
                    queue.append(to)
        return tuple(found)

    # -- candidates ---------------------------------------------------------------------------------------------

    @cached_property
    def domains(self) -> dict[str, int]:
        """For each variable the elements that can be part of a stack at all."""
        return {product: self._domain(product) for product in self.variables}

    def element(self, product: str, idx: int) -> Element:
        """Return a candidate; the last number of a pinned product may be a version that the data do not list."""
        elements = self.facts.elements(product)
        if idx < len(elements):
            return elements[idx]
        pin = self.request.pin(product)
        assert pin and pin.extra
        every = frozenset(self.request.devices)
        return Element(
            product, idx, pin.extra, pin.extra, "stable", True, every, (), frozenset(),
            self.facts.products[product].distribution, None, None, None, None, None, None, -1, 0, "", 0, None,
        )  # fmt: skip

    def _domain(self, product: str) -> int:
        elements = self.facts.elements(product)
        pin = self.request.pin(product)
        mask = pin.mask if pin else (1 << len(elements)) - 1
        kept = 0
        while mask:
            idx = mask.bit_length() - 1
            mask ^= 1 << idx
            if self.refusal(self.element(product, idx)) is None:
                kept |= 1 << idx
        return kept

    def refusal(self, element: Element) -> str | None:
        """Return why an element cannot be in any stack of this question: a short code, None where it can."""
        if not element.installable:
            return element.stage if element.stage in ("source-only", "tag-only") else "no-build"
        role = self.facts.products[element.product].role
        exempt = element.product in self._brought
        if role not in ("leaf", "dimension") and self.device not in element.devices and not exempt:
            return "device"
        if role == "dimension" and element.devices and self.device not in element.devices:
            return "device"
        if element.since is not None and element.since > self.request.as_of:
            return "not-yet"
        if not element.only_with <= set(self.required):
            return "only-with"
        pin = self.request.pin(element.product)
        yanked = element.yank_by is not None and element.yank_by <= self.request.as_of
        if pin and pin.strict and not pin.exact and yanked:
            return "yanked"
        return None

    @cached_property
    def _brought(self) -> frozenset[str]:
        """Products of which none fits the device, while what the provider says of them is ignored.

        A provider that served them would bring its own build of them along, as Intel's extension did.
        """
        found = set()
        for blocker in self.ignored:
            if blocker[:2] == ("claim", self.route.provider):
                pin = self.request.pin(blocker[2])
                elements = self.facts.elements(blocker[2])
                chosen = [e for e in elements if pin is None or pin.mask >> e.idx & 1]
                if not any(e.installable and self.device in e.devices for e in chosen):
                    found.add(blocker[2])
        return frozenset(found)

    def levels(self, product: str, idx: int) -> Levels:
        """Return the platforms of an element, by how well they are known."""
        key = (product, idx)
        if key not in self._levels:
            self._levels[key] = self._platform(self.element(product, idx)) if idx >= 0 else Levels(self.cells, 0, 0)
        return self._levels[key]

    def _platform(self, element: Element) -> Levels:
        cells = self.cells
        strong, weak, unknown = element.strong & cells, element.weak & cells, 0
        pin = self.request.pin("glibc")
        role = self.facts.products[element.product].role
        if pin and element.product != "glibc" and role not in ("leaf", "dimension"):
            strong, weak, unknown = self._with_glibc(element, pin.extra or self._version(pin.product, pin.mask))
        weak &= ~strong
        unknown &= ~strong & ~weak
        if ("platform", element.product) in self.ignored:
            strong, weak, unknown = cells, 0, 0
        elif element.complete < self.request.as_of:
            unknown |= cells & ~strong & ~weak
        if element.by is not None and element.by > self.request.as_of:  # out by then, or not: nobody knows the day
            strong, weak, unknown = 0, 0, strong | weak | unknown
        for dimension in ("python", "os", "arch"):
            if ("claim", element.product, dimension) in self.ignored:
                continue
            for edge in self.facts.edges(element.product, dimension):
                if edge.kind == "verified" or not edge.of_mask >> element.idx & 1 or not self._holds(edge):
                    continue
                inside = dimension_cells(self.facts, dimension, edge.to_mask)
                denied = edge.denies & (inside if edge.kind == "breaks" else ~inside)
                if edge.open:
                    unknown |= (strong | weak) & denied
                else:
                    unknown &= ~denied
                strong &= ~denied
                weak &= ~denied
        return Levels(strong, weak, unknown)

    def _version(self, product: str, mask: int) -> str:
        return self.facts.elements(product)[mask.bit_length() - 1].version

    def _with_glibc(self, element: Element, version: str) -> tuple[int, int, int]:
        """Split an element's platforms anew for a known glibc: a platform tag vouches for it or excludes it."""
        pinned = tuple(int(part) for part in version.split("."))
        strong = weak = unknown = 0
        for floor, certain, inferred in self.facts.floors(element):
            if floor is None:
                unknown |= (certain | inferred) & self.cells
            elif floor <= pinned:
                strong |= certain & self.cells
                weak |= inferred & self.cells
        return strong, weak, unknown

    # -- two elements together ----------------------------------------------------------------------------------

    def _holds(self, edge: Edge) -> bool:
        if edge.devices and self.device not in edge.devices:
            return False
        if edge.hardware and not edge.hardware & self.hardware:
            return False
        return ("claim", edge.of, edge.to) not in self.ignored and ("claim", edge.to, edge.of) not in self.ignored

    def inside(self, edge: Edge, idx: int) -> bool:
        """Return whether an edge's target names an element, or the unlisted version that a request pins."""
        if idx < len(self.facts.elements(edge.to)):
            return bool(edge.to_mask >> idx & 1)
        from compatkb.versions import Scheme, admits  # only for versions that the data do not list

        scheme = Scheme(self.facts.products[edge.to].scheme)
        version = self.element(edge.to, idx).version
        return any(spec == "any version" or admits(scheme, spec, version) for spec in edge.spec.split(" or "))

    def pair(self, p: str, i: int, q: str, j: int) -> Pair:
        """Return what is known of two elements together."""
        if i < 0 or j < 0:
            return _NO_PAIR
        key = (p, i, q, j)
        if key not in self._pairs:
            denied = strong = weak = matters = muddled = 0
            for edge, inside in self._speaking(p, i, q, j):
                if edge.open:
                    muddled |= edge.denies | edge.vouches
                    continue
                if edge.kind in ("needs", "constrains"):
                    matters |= edge.denies
                    if not inside:
                        denied |= edge.denies
                elif edge.kind == "breaks" and inside:
                    denied |= edge.denies
                if inside and edge.level == STRONG:
                    strong |= edge.vouches
                elif inside:
                    weak |= edge.vouches
            self._pairs[key] = self._pairs[q, j, p, i] = Pair(denied, strong, weak, matters, muddled)
        return self._pairs[key]

    def _speaking(self, p: str, i: int, q: str, j: int) -> list[tuple[Edge, bool]]:
        found = []
        for of, k, to, n in ((p, i, q, j), (q, j, p, i)):
            for edge in self.facts.edges(of, to):
                if edge.of_mask >> k & 1 and self._holds(edge):
                    found.append((edge, self.inside(edge, n)))
        return found

    def speaking(self, p: str, i: int, q: str, j: int) -> list[tuple[Edge, bool]]:
        """Return the edges between two elements, and whether each names the other one."""
        return self._speaking(p, i, q, j) if i >= 0 and j >= 0 else []

    def allowed(self, p: str, i: int, q: str) -> int:
        """Return the elements of `q` that no unconditional edge with element `i` of `p` excludes."""
        key = (p, i, q)
        if key not in self._allowed:
            size = len(self.facts.elements(q)) + 1
            mask = every = (1 << size) - 1
            if i >= 0:
                extra = 1 << (size - 1)  # an unlisted version is judged pair by pair
                for edge in self.facts.edges(p, q):
                    if edge.of_mask >> i & 1 and self._final(edge):
                        mask &= (every & ~edge.to_mask if edge.kind == "breaks" else edge.to_mask) | extra
                for edge in self.facts.edges(q, p):
                    if self._final(edge) and self.inside(edge, i) == (edge.kind == "breaks"):
                        mask &= ~edge.of_mask
            self._allowed[key] = mask
        return self._allowed[key]

    def _final(self, edge: Edge) -> bool:
        return edge.kind != "verified" and not edge.open and not self.cells & ~edge.denies and self._holds(edge)

    # -- warnings -----------------------------------------------------------------------------------------------

    def warnings(self, product: str, idx: int) -> int:
        """Return how many warnings an element carries by itself."""
        if idx < 0:
            return 0
        element, as_of = self.element(product, idx), self.request.as_of
        if self.facts.products[product].role in ("leaf", "dimension"):
            return 0
        count = int(element.yank_by is not None and (element.yank_after or 0) <= as_of)
        count += int(element.eol is not None and element.eol < as_of)
        count += int(element.stage in ("preview", "prototype"))
        return count + len(self.advisories(product, idx))

    def advisories(self, product: str, idx: int) -> list[Advisory]:
        """Return the advisories on an element alone."""
        return [
            advisory
            for advisory in self.facts.advisories
            if advisory.product == product
            and advisory.mask >> idx & 1
            and advisory.since <= self.request.as_of
            and not advisory.to
            and advisory.kind != "known-issue"
            and (not advisory.devices or self.device in advisory.devices)
        ]


def dimension_cells(facts: Snapshot, dimension: str, mask: int) -> int:
    """Return the platform bits whose value of `dimension` is in `mask`."""
    grid = facts.grid
    pythons, archs, systems = len(grid["python"]), len(grid["arch"]), len(grid["os"])
    every_row, every_block = (1 << pythons) - 1, (1 << pythons * archs) - 1
    numbers = [n for n in range(len(grid[dimension])) if mask >> n & 1]
    cells = 0
    if dimension == "os":
        for n in numbers:
            cells |= every_block << n * pythons * archs
        return cells
    block = 0
    for n in numbers if dimension == "arch" else range(archs):
        row = every_row if dimension == "arch" else mask & every_row
        block |= row << n * pythons
    for n in range(systems):
        cells |= block << n * pythons * archs
    return cells


def platform_cells(facts: Snapshot, request: Request) -> int:
    """Return the platform bits that a request leaves open: families of systems where it names none."""
    cells = -1
    for dimension in ("python", "os", "arch"):
        pin = request.pin(dimension)
        values = facts.grid[dimension]
        if pin:
            mask = pin.mask
        elif dimension == "os":
            mask = sum(1 << values.index(family) for family in facts.families)
        elif default := facts.products[dimension].default:
            mask = 1 << values.index(default)
        else:
            mask = (1 << len(values)) - 1
        cells &= dimension_cells(facts, dimension, mask)
    glibc = request.pin("glibc")
    if glibc:  # only one family has it
        for n, name in enumerate(facts.grid["os"]):
            if GLIBC_FAMILY not in (name, *facts.wider.get(name, ())):
                cells &= ~dimension_cells(facts, "os", 1 << n)
    return cells


GLIBC_FAMILY = "linux"
__all__ = ["ABSENT", "JOKER", "UNKNOWN", "Blocker", "Levels", "Pair", "Problem", "dimension_cells", "platform_cells"]
