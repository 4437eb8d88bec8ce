"""One question to the search: a device reached over one route, with everything that the request fixed.

A *blocker* is a group of facts that can exclude stacks: ("offer", P) that P offers no fitting build, ("platform", P)
that its builds lack wheels for a platform, ("claim", P, Q) what the two say of each other. A search may be told to
ignore blockers; that is how causes are shown to be minimal.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

from compatkb.engine.between import ALLOWED, Between
from compatkb.engine.ignored import NOTHING, Blocker, Ignored, ignored_of
from compatkb.engine.pairs import Pairs
from compatkb.engine.view import Frame, view_of
from compatkb.engine.worlds import PLATFORM, SAID, WHEELS, Levels
from compatkb.records import UNBUILT, Element, Request, Route
from compatkb.snapshot.read import Snapshot

JOKER = -2
"""Stands for a build that nobody published: what a stack would hold if an absence were not."""
ABSENT = -1
_NONE: frozenset[str] = frozenset()
GLIBC = "glibc"
GLIBC_FAMILY = "linux"
"""The dimension that platform tags speak of (PEP 600), and the only family that has it."""


class Narrowed:
    """What is left: candidates by product, and the platforms, by how well a stack there can be known at best."""

    __slots__ = ("certain", "domains", "strong", "unknown", "weak")

    def __init__(self, domains: dict[str, int], certain: frozenset[str], strong: int, weak: int, unknown: int) -> None:
        self.domains = domains
        self.certain = certain  # products that every stack holds
        self.strong, self.weak, self.unknown = strong, weak, unknown


class Problem(Pairs):
    """The facts of one question; `ignored` blockers do not count.

    `start` is what is left of it where only known stacks are sought, if that was found out before.
    """

    def __init__(
        self, facts: Snapshot, request: Request, device: str, route: Route, ignored: frozenset[Blocker] = frozenset()
    ) -> None:
        self._pins = {pin.product: pin for pin in request.pins}
        hardware = self._pins["hardware"].mask if "hardware" in self._pins else 0
        unlisted = {pin.product: pin.extra for pin in request.pins if pin.extra}
        kept_out = ignored_of(facts, ignored) if ignored else NOTHING
        super().__init__(view_of(facts, device, request.as_of, hardware), unlisted, kept_out)
        self.request, self.device, self.route = request, device, route
        self._levels: dict[str, dict[int, Levels]] = {}
        self._waived: dict[str, int] = {}
        self.leafless = False
        self.start: Narrowed | None = None
        asked = (*self._pins, *request.bare, route.provider, *route.with_)
        self.required, self.optional, self.variables, self.pinned_leaves = self.view.shape(asked)
        self._brought = self._bring() if ignored else _NONE
        self._glibc = self._pinned_glibc()
        self.frame = self._framed()  # what is known on the platforms that the request leaves open
        self.cells = self.frame.cells
        self.domains = {product: self._domain(product) for product in self.variables}  # what can be in a stack at all

    def ignoring(self, ignored: Ignored, brought: frozenset[str], variables: tuple[str, ...], *, leafless: bool) -> "Problem":
        """Return the same question with blockers ignored, over some of its variables; made from one that ignores none.

        `leafless` where all is ignored that anyone says of leaves.
        """
        domains = self.domains
        made = self._copy()
        made.ignored, made._waived, made._levels, made.leafless = ignored, {}, {}, leafless
        made._brought = brought
        made.variables = variables
        if brought or len(variables) < len(self.variables):
            made.domains = {p: made._domain(p) if p in brought else domains[p] for p in variables}
        if len(variables) < len(self.variables):  # from here on: what a product comes along with was all of them
            made.required, made.optional = tuple(p for p in self.required if p in variables), ()
        return made

    def holding(self, request: Request, product: str, mask: int) -> "Problem":
        """Return the question of a request that also holds a package to some elements, over the same platforms."""
        made = self._copy()
        made.request, made._pins = request, {pin.product: pin for pin in request.pins}
        made.domains = {**self.domains, product: self.domains[product] & mask}
        return made

    def _copy(self) -> "Problem":
        made = Problem.__new__(Problem)
        made.__dict__.update(self.__dict__)
        for name in ("pairs", "partners", "leaf_number"):  # worked out anew when somebody asks
            made.__dict__.pop(name, None)
        return made

    # -- what is fixed ------------------------------------------------------------------------------------------

    def _framed(self) -> Frame:
        pins = tuple(self._pins[d].mask if d in self._pins else None for d in PLATFORM)
        key = (*pins, self._glibc)
        return self.view.has_frame(key) or self.view.frame(key, platform_cells(self.facts, self.request))

    def _pinned_glibc(self) -> str | None:
        pin = self._pins.get(GLIBC)
        if pin is None:
            return None
        return pin.extra or self.facts.elements(GLIBC)[pin.mask.bit_length() - 1].version

    # -- candidates ---------------------------------------------------------------------------------------------

    def element(self, product: str, idx: int) -> Element:
        """Return a candidate; the last number of a pinned product may be a version that the data do not list."""
        elements = self.facts.elements(product)
        if idx < len(elements):
            return elements[idx]
        pin = self._pins[product]
        assert pin.extra
        every = frozenset(self.request.devices)
        return Element(
            product, idx, pin.extra, pin.extra, "stable", True, every, (), frozenset(),
            self.facts.products[product].distribution, None, None, None, None, None, None, -1, 0, "", 0, None, "",
        )  # fmt: skip

    def candidates(self, product: str) -> int:
        """Return the listed elements of any product that can be in a stack at all."""
        pin = self._pins.get(product)
        return 0 if pin and pin.extra else self._domain(product)

    def _domain(self, product: str) -> int:
        pin = self._pins.get(product)
        if pin and pin.extra:
            return pin.mask
        if product in self._brought:
            elements = self.facts.elements(product).of(pin.mask if pin else -1)
            return sum(1 << e.idx for e in elements if not self.refusal(e))
        mask = self.view.offers(product)
        for others, bound in self.view.bound(product).items():
            if not others <= set(self.required):
                mask &= ~bound
        if pin:
            mask &= pin.mask
            if pin.strict and not pin.exact:
                mask &= ~self.view.yanked(product)
        return mask

    def refusal(self, element: Element) -> str | None:
        """Return why an element cannot be in any stack of this question: a short code, None where it can."""
        if not element.installable:
            return element.stage if element.stage in ("source-only", "tag-only") else "no-build"
        role = self.facts.products[element.product].role
        foreign = self.device not in element.devices and element.product not in self._brought
        if role not in UNBUILT and foreign:
            return "device"
        if role == "dimension" and element.devices and self.device not in element.devices:
            return "device"
        if element.since is not None and element.since > self.request.as_of:
            return "not-yet"
        if not element.only_with <= set(self.required):
            return "only-with"
        pin = self._pins.get(element.product)
        yanked = element.yank_by is not None and element.yank_by <= self.request.as_of
        if pin and pin.strict and not pin.exact and yanked:
            return "yanked"
        return None

    def _bring(self) -> frozenset[str]:
        """Return the products of which none fits the device, while what the provider says of them is ignored.

        A provider that served them would bring its own build of them along, as Intel's extension did.
        """
        claims = (blocker for blocker in self.ignored.blockers if blocker[:2] == ("claim", self.route.provider))
        return frozenset(blocker[2] for blocker in claims if self.would_bring(blocker[2]))

    def would_bring(self, product: str) -> bool:
        """Return whether no candidate of a product fits the device."""
        pin = self._pins.get(product)
        return not self.view.serving(product) & (pin.mask if pin else -1)

    @cached_property
    def leaf_number(self) -> int:
        """What of the claims of and about leaves is ignored, by a number: equal sets have the same."""
        kept = self.view.kept.leaf_numbers
        return kept.setdefault(self.ignored.leaves, len(kept))

    def levels(self, product: str, idx: int) -> Levels:
        """Return the platforms of an element, by how well they are known."""
        return self.row(product).get(idx) or self._kept_level(self.row(product), product, idx, self.waived(product))

    def row(self, product: str) -> dict[int, Levels]:
        """Return the platforms of the elements of which they were asked for."""
        row = self._levels.get(product)
        if row is None:
            row = self._levels[product] = self._row(product, self.waived(product))
        return row

    def _row(self, product: str, waived: int) -> dict[int, Levels]:
        return self.frame.levels.setdefault((product, waived), {})

    def _kept_level(self, row: dict[int, Levels], product: str, idx: int, waived: int) -> Levels:
        found = row[idx] = self.view.kept.one(self._platform(product, idx, waived))
        return found

    def placed(self, product: str) -> tuple[int, int]:
        """Return the listed elements that have a platform here; those that are known on one."""
        key = (product, self.waived(product))
        found = self.frame.placed.get(key)
        if found is None:
            if self._glibc:
                found = self._somewhere(product, self.view.worlds.places(product))
            else:
                somewhere = known = 0
                for part, where, firm in self.view.worlds.outline(*key):
                    somewhere |= part if where & self.cells else 0
                    known |= part if firm & self.cells else 0
                found = (somewhere, known)
            self.frame.placed[key] = found
        return found

    def placed_of(self, product: str, domain: int) -> tuple[int, int]:
        """Return the same of a few elements."""
        known = self.frame.placed.get((product, self.waived(product)))
        if known is not None:
            return known
        numbers = range(min(domain.bit_length(), self.facts.sizes[product]))
        return self._somewhere(product, [1 << n for n in numbers if domain >> n & 1])

    def _somewhere(self, product: str, parts: Iterable[int]) -> tuple[int, int]:
        somewhere = known = 0
        for part in parts:
            levels = self.levels(product, part.bit_length() - 1)
            somewhere |= part if any(levels) else 0
            known |= part if levels.strong | levels.weak else 0
        return somewhere, known

    def lists(self, product: str, domain: int) -> bool:
        """Return whether a set of candidates has elements, and listed ones alone: of others nothing is known."""
        return domain > 0 and not domain >> self.facts.sizes[product]

    def are_listed(self, domains: Mapping[str, int]) -> bool:
        """Return whether no set of candidates has one that is not listed, of which nothing is known."""
        return all(domain >= 0 and not domain >> self.facts.sizes[product] for product, domain in domains.items())

    def certain(self, domains: dict[str, int]) -> frozenset[str]:
        """Return the products that every stack holds: what is required, and what all candidates of such a one need."""
        if not self.optional:
            return frozenset(self.required)
        found, silent = dict.fromkeys(self.required), self.ignored.silent
        queue = list(found)
        while queue:
            product = queue.pop()
            domain = domains[product]
            if not self.lists(product, domain):
                continue
            for to, needing in self.view.firm_needs(product, self.frame):
                if to not in found and to in domains and not domain & ~needing:
                    if silent and (product, to) in silent:
                        continue
                    found[to] = None
                    queue.append(to)
        return frozenset(found)

    def reach(self, product: str, domain: int, waived: int | None = None) -> tuple[int, int, int]:
        """Return where some element of a set is known firmly; at least faintly; at all. `waived`: if that were ignored."""
        if waived is None:
            waived = self.waived(product)
        key = (product, domain, waived)
        found = self.frame.reach.get(key)
        if found is None:
            row = self._row(product, waived)
            strong = weak = unknown = 0
            while domain and strong != self.cells:
                idx = domain.bit_length() - 1
                domain ^= 1 << idx
                levels = row.get(idx) or self._kept_level(row, product, idx, waived)
                strong, weak, unknown = strong | levels.strong, weak | levels.weak, unknown | levels.unknown
            found = self.frame.reach[key] = (strong, strong | weak, strong | weak | unknown)
        return found

    def _platform(self, product: str, idx: int, waived: int) -> Levels:
        cells = self.cells
        if idx < 0 or idx >= self.facts.sizes[product]:
            return Levels(cells, 0, 0)
        if self._glibc and product != GLIBC and self.facts.products[product].role not in UNBUILT:
            split = self._with_glibc(self.facts.elements(product)[idx], self._glibc)
            world = self.view.worlds.weighed(product, idx, waived, *split)
        else:
            world = self.view.worlds.world(product, idx, waived)
        return Levels(world.strong & cells, world.weak & cells, world.unknown & cells)

    def waived(self, product: str) -> int:
        """Return what of a product's platforms is ignored, as bits."""
        found = self._waived.get(product)
        if found is None:
            found = WHEELS if product in self.ignored.unplaced else 0
            if silent := self.ignored.silent:
                found |= sum([bit for dimension, bit in SAID.items() if (product, dimension) in silent])
            self._waived[product] = found
        return found

    def _with_glibc(self, element: Element, version: str) -> tuple[int, int, int]:
        """Split an element's platforms anew for a known glibc: a platform tag vouches for it or excludes it."""
        pinned = tuple(int(part) for part in version.split("."))
        strong = weak = unknown = 0
        for floor in self.facts.floors(element):
            if floor.glibc is None or (not floor.stated and floor.glibc <= pinned):
                unknown |= (floor.seen | floor.inferred) & self.cells
            elif floor.glibc <= pinned:
                strong |= floor.seen & self.cells
                weak |= floor.inferred & self.cells
        return strong, weak, unknown

    # -- members together -----------------------------------------------------------------------------------------

    @cached_property
    def pairs(self) -> Pairs:
        """What is asked of two members, without the rest of the question: answers keep it."""
        if self._unlisted or self.ignored.blockers:
            return Pairs(self.view, self._unlisted, self.ignored)
        if not isinstance(self.view.pairs, Pairs):
            self.view.pairs = Pairs(self.view, {}, NOTHING)
        return self.view.pairs

    @cached_property
    def partners(self) -> dict[str, dict[str, Between]]:
        """For each variable the others that it speaks with, what is ignored left out."""
        found = self.view.partners(self.variables)
        silent = self.ignored.silent
        if not silent:
            return found
        return {p: {q: table for q, table in tables.items() if (p, q) not in silent} for p, tables in found.items()}

    def vouched(self, product: str, idx: int, present: list[tuple[str, int]]) -> tuple[int, int]:
        """Return where a member is vouched for firmly and faintly by the others."""
        roles = self.facts.products
        others = [(other, number) for other, number in present if other != product and roles[other].role != "feature"]
        if any(number < 0 for _, number in others):
            return -1, 0
        if partners := self.partners.get(product):
            others = [(other, number) for other, number in others if other in partners or other not in self.partners]
        machine = roles[product].role == "dimension"
        if machine:  # the provider speaks for the stack; what others only infer of the machine lowers that
            others = [(o, n) for o, n in others if roles[o].role != "dimension" and self.view.speakers(o, product) >> n & 1]
        leading = [(o, n) for o, n in others if machine and o == self.route.provider] or others
        firm = faint = 0
        for other, number in leading:
            pair = self.pair(product, idx, other, number)
            firm |= pair.strong
            faint |= pair.weak
        for other, number in others if machine else ():
            pair = self.pair(product, idx, other, number)
            only = pair.weak & ~pair.strong
            firm, faint = firm & ~only, faint | (firm & only)
        return firm, faint

    def allowed(self, p: str, i: int, q: str) -> int:
        """Return the elements of `q` that no unconditional edge with element `i` of `p` excludes."""
        table = self.between(p, q)
        if table is None:
            return (2 << self.facts.sizes[q]) - 1
        return table.mask(i, self.frame.number, self.cells, ALLOWED)


def routes_of(facts: Snapshot, request: Request) -> Iterator[tuple[str, Route]]:
    """Yield the devices and routes that a request leaves open."""
    asked = {pin.product for pin in request.pins} | set(request.bare)
    for device in request.devices:
        for route in facts.routes:
            if device in route.devices and not route.without & asked and request.route in (None, route.id):
                yield device, route


def platform_cells(facts: Snapshot, request: Request) -> int:
    """Return the platform bits that a request leaves open: families of systems where it names none."""
    cells = -1
    for dimension in PLATFORM:
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
        cells &= facts.dimension_cells(dimension, mask)
    if request.pin(GLIBC):
        for n, name in enumerate(facts.grid["os"]):
            if GLIBC_FAMILY not in (name, *facts.wider.get(name, ())):
                cells &= ~facts.dimension_cells("os", 1 << n)
    return cells
