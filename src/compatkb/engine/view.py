"""What is the same for every question about one device, day and hardware: looked up once, then shared."""

from collections.abc import Callable

from compatkb.engine.between import Between
from compatkb.engine.kept import Kept
from compatkb.engine.said import Context, Said
from compatkb.engine.worlds import PLATFORM, Levels, Worlds
from compatkb.records import Advisory, Edge
from compatkb.snapshot.read import Snapshot

_MOST_VIEWS = 256
_MOST_FRAMES = 1_024
_MOST_PARTNERS = 1_024
Shape = tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...], tuple[str, ...]]
"""The products of a stack: those it must hold, those it may have to hold
besides, all of these by rank, and the leaves among the first."""


Values = tuple[tuple[int, object], ...]
"""Disjoint platforms, each with what goes along there."""


class Frame:
    """The platforms that a request leaves open: what a view knows of elements there."""

    def __init__(self, cells: int, number: int) -> None:
        self.cells, self.number = cells, number
        self.levels: dict[tuple[str, int], dict[int, Levels]] = {}
        self.placed: dict[tuple[str, int], tuple[int, int]] = {}
        self.reach: dict[tuple[str, int, int], tuple[int, int, int]] = {}
        self.needs: dict[str, tuple[tuple[str, int], ...]] = {}


class View:
    """The facts as one device, day and pinned hardware see them."""

    def __init__(self, kept: Kept, device: str, as_of: int, hardware: int) -> None:
        facts = kept.facts
        self.facts, self.kept, self.device, self.as_of, self.hardware = facts, kept, device, as_of, hardware
        self.context = Context(facts, device, hardware)
        self.worlds = Worlds(kept, as_of, self.said)
        self._between: dict[tuple[str, str], Between | None] = {}
        self._says: dict[tuple[str, str], Said] = {}
        self._offers: dict[str, int] = {}
        self._serving: dict[str, int] = {}
        self._bound: dict[str, dict[frozenset[str], int]] = {}
        self._yanked: dict[str, int] = {}
        self._warnings: dict[tuple[str, int], int] = {}
        self._least: dict[tuple[str, int], int] = {}
        self._warning: dict[str, tuple[int, ...]] = {}
        self._speakers: dict[tuple[str, str], int] = {}
        self._remarkable: dict[str, int] = {}
        self._advised: dict[str, list[Advisory]] = {}
        self._partners: dict[tuple[str, ...], dict[str, dict[str, Between]]] = {}
        self.conflicts: dict[object, tuple[int, int]] = {}  # what the search keeps: of sets of elements
        self.stacks: dict[object, object] = {}  # what was made of what a search found
        self.pairs: object = None  # what stacks keep of it
        self.own_conflicts: dict[object, int] = {}
        self.own_levels: dict[object, dict[int, Levels]] = {}  # what the search keeps: platforms without own conflicts
        self._frames: dict[object, Frame] = {}
        self._needs: dict[str, dict[str, int]] = {}
        self._optional: dict[tuple[str, ...], tuple[str, ...]] = {}
        self._shapes: dict[tuple[str, ...], Shape] = {}
        self.vouched: dict[object, Values] = {}  # what stacks keep: of dimensions, by the packages that speak of them
        self.along: dict[object, tuple[Values, ...]] = {}  # the same of all that goes along with packages
        self.steps: dict[object, object] = {}  # what the search keeps: its steps, by what they are about
        self.demands: dict[tuple[str, int], object] = {}  # what the search keeps: demands on leaves, by element
        if hardware:
            self._share(view_of(facts, device, as_of, 0))

    def _share(self, plain: "View") -> None:
        """Share with the view of no hardware what no edge about hardware can change."""
        self._offers, self._serving, self._bound, self._yanked = plain._offers, plain._serving, plain._bound, plain._yanked
        self._warnings, self._least, self._warning = plain._warnings, plain._least, plain._warning
        self._advised, self._remarkable = plain._advised, plain._remarkable
        roles = self.facts.products
        targets = {roles[to].role if to not in PLATFORM else "platform" for to, _ in self.facts.hardware_edges}
        if "platform" not in targets:
            self._frames, self.worlds = plain._frames, plain.worlds
            if "leaf" not in targets:
                self.conflicts, self.own_conflicts, self.demands = plain.conflicts, plain.own_conflicts, plain.demands
                self.own_levels = plain.own_levels
        if not any(kind == "needs" for _, kind in self.facts.hardware_edges):
            self._needs, self._optional, self._shapes = plain._needs, plain._optional, plain._shapes

    def holds(self, edge: Edge) -> bool:
        """Return whether an edge speaks of this device and hardware."""
        return self.context.holds(edge)

    def in_part(self, edge: Edge) -> bool:
        """Return whether what is said of a feature concerns only some of the hardware pinned: of the rest nothing is known."""
        return self.context.in_part(edge)

    def says(self, of: str, idx: int, to: str) -> tuple[Edge, ...]:
        """Return the edges that element `idx` of one product has to another product."""
        return self.said(of, to).by(idx)

    def said(self, of: str, to: str) -> Said:
        """Return what one product says of another one."""
        key = (of, to)
        found = self._says.get(key)
        if found is None:
            found = self._says[key] = self.kept.said(of, to, self.device, self.hardware)
        return found

    def between(self, p: str, q: str) -> Between | None:
        """Return what two products say of each other; None where they say nothing."""
        key = (p, q)
        if key not in self._between:
            self._between[key] = self.kept.between(p, q, self.device, self.hardware)
        return self._between[key]

    def shape(self, asked: tuple[str, ...]) -> Shape:
        """Return what a stack holds if it is asked for this."""
        found = self._shapes.get(asked)
        if found is None:
            roles = self.facts.products
            required = tuple(dict.fromkeys(p for p in asked if not roles[p].platform and p != "device"))
            optional = self.optional(required)
            wanted = {*required, *optional}
            leaves = tuple(product for product in required if roles[product].role == "leaf")
            found = self._shapes[asked] = (required, optional, tuple([p for p in roles if p in wanted]), leaves)
        return found

    def partners(self, products: tuple[str, ...]) -> dict[str, dict[str, Between]]:
        """Return for each of some products those among the others that it speaks with."""
        found = self._partners.get(products)
        if found is None:
            found = {}
            for product in products:
                tables = ((other, self.between(product, other)) for other in products if other != product)
                found[product] = {other: table for other, table in tables if table is not None}
            if len(self._partners) >= _MOST_PARTNERS:
                self._partners.clear()
            self._partners[products] = found
        return found

    def frame(self, pins: object, cells: int) -> Frame:
        """Return what is known on the platforms that some pins leave open."""
        found = self._frames.get(pins)
        if found is None:
            found = self._frames[pins] = Frame(cells, self.kept.number(cells))
            self.kept.frames += 1
        return found

    def has_frame(self, pins: object) -> Frame | None:
        """Return the frame for some pins, None where nobody asked for it yet."""
        return self._frames.get(pins)

    def needs(self, product: str) -> dict[str, int]:
        """Return the packages that elements of a product need, each with the elements that need it."""
        if product not in self._needs:
            found: dict[str, int] = {}
            for to in self.facts.spoken_of(product):
                if self.facts.products[to].role == "package":
                    for edge in self.facts.edges(product, to):
                        if edge.kind == "needs" and self.holds(edge):
                            found[to] = found.get(to, 0) | edge.of_mask
            self._needs[product] = found
        return self._needs[product]

    def firm_needs(self, product: str, frame: Frame) -> tuple[tuple[str, int], ...]:
        """Return the packages that elements of a product need on every platform of a frame, each with those elements."""
        found = frame.needs.get(product)
        if found is None:
            masks: dict[str, int] = {}
            for to in self.needs(product):
                for edge in self.facts.edges(product, to):
                    if edge.kind == "needs" and not frame.cells & ~edge.denies and self.holds(edge):
                        masks[to] = masks.get(to, 0) | edge.of_mask
            found = frame.needs[product] = tuple(masks.items())
        return found

    def optional(self, required: tuple[str, ...]) -> tuple[str, ...]:
        """Return the packages that some element of these products needs, or of what those need in turn."""
        if required not in self._optional:
            found: dict[str, None] = {}
            queue = list(required)
            while queue:
                for to in self.needs(queue.pop()):
                    if to not in required and to not in found:
                        found[to] = None
                        queue.append(to)
            self._optional[required] = tuple(found)
        return self._optional[required]

    def needed(self, product: str, idx: int, to: str) -> int:
        """Return the platforms on which an element needs another product."""
        cells = 0
        for edge in self.says(product, idx, to):
            if edge.kind == "needs":
                cells |= edge.denies
        return cells

    def offers(self, product: str) -> int:
        """Return the elements that can be installed for this device and were out on this day."""
        if product not in self._offers:
            role = self.facts.products[product].role
            kept = self._those(product, "installable", lambda value: value == "1")
            if role not in ("leaf", "feature"):
                anywhere = role == "dimension"
                kept &= self._those(product, "devices", lambda value: self.device in value.split() or (anywhere and not value))
            self._offers[product] = kept & ~self._those(product, "since", lambda day: int(day) > self.as_of)
        return self._offers[product]

    def serving(self, product: str) -> int:
        """Return the elements that can be installed for this device, on whatever day they came out."""
        if product not in self._serving:
            fitting = self._those(product, "devices", lambda value: self.device in value.split())
            self._serving[product] = fitting & self._those(product, "installable", lambda value: value == "1")
        return self._serving[product]

    def bound(self, product: str) -> dict[frozenset[str], int]:
        """Return the elements that are of use only beside other products, by those products."""
        if product not in self._bound:
            rows = self.facts.having(product, "only_with")
            self._bound[product] = {frozenset(value.split()): mask for value, mask in rows if value}
        return self._bound[product]

    def yanked(self, product: str) -> int:
        """Return the elements that were yanked by this day."""
        if product not in self._yanked:
            self._yanked[product] = self._those(product, "yank_by", lambda day: int(day) <= self.as_of)
        return self._yanked[product]

    def _those(self, product: str, column: str, good: Callable[[str], bool]) -> int:
        """Return the elements of which a column says something good."""
        mask = 0
        for value, members in self.facts.having(product, column):
            if good(value):
                mask |= members
        return mask

    def speakers(self, product: str, dimension: str) -> int:
        """Return the elements of a product that name values of a dimension that they were made for or tried with."""
        found = self._speakers.get((product, dimension))
        if found is None:
            found = 0
            for edge in self.said(product, dimension).edges:
                found |= edge.of_mask if edge.kind != "breaks" and edge.vouches and not edge.open else 0
            self._speakers[product, dimension] = found
        return found

    def warnings(self, product: str, idx: int) -> int:
        """Return how many warnings an element carries by itself."""
        key = (product, idx)
        if key not in self._warnings:
            self._warnings[key] = self._count(product, idx)
        return self._warnings[key]

    def least(self, product: str, domain: int) -> int:
        """Return how many warnings each element of a set carries at least."""
        key = (product, domain)
        found = self._least.get(key)
        if found is None:
            left = [domain]  # by how many warnings they carry at least
            for mask in self._warned(product):
                more = [part & mask for part in left]
                left = [part & ~mask for part in left] + [0]
                left = [part | extra for part, extra in zip(left, [0, *more], strict=True)]
            found = self._least[key] = next((count for count, part in enumerate(left) if part), 0)
        return found

    def _count(self, product: str, idx: int) -> int:
        return sum(mask >> idx & 1 for mask in self._warned(product)) if idx >= 0 else 0

    def _warned(self, product: str) -> tuple[int, ...]:
        """Return the elements that carry a warning, for each kind of warning."""
        found = self._warning.get(product)
        if found is None:
            masks = []
            if self.facts.products[product].role not in ("leaf", "dimension"):
                yanked = self._those(product, "yank_by", lambda _: True)
                masks.append(yanked & ~self._those(product, "yank_after", lambda day: int(day) > self.as_of))
                masks.append(self._those(product, "eol", lambda day: int(day) < self.as_of))
                masks.append(self._those(product, "stage", lambda stage: stage in ("preview", "prototype")))
                masks += [a.mask for a in self._advice(product) if not a.to and a.kind != "known-issue"]
            found = self._warning[product] = tuple(mask for mask in masks if mask)
        return found

    def _concerns(self, advisory: Advisory) -> bool:
        return advisory.since <= self.as_of and (not advisory.devices or self.device in advisory.devices)

    def advisories(self, product: str, idx: int) -> list[Advisory]:
        """Return the advisories on an element, those about its neighbours too."""
        return [advisory for advisory in self._advice(product) if advisory.mask >> idx & 1]

    def remarkable(self, product: str) -> int:
        """Return the elements of a product that can carry a warning, by themselves or in some stack."""
        found = self._remarkable.get(product)
        if found is None:
            found = 0
            for mask in (*self._warned(product), *(advisory.mask for advisory in self._advice(product))):
                found |= mask
            self._remarkable[product] = found
        return found

    def _advice(self, product: str) -> list[Advisory]:
        """Return the advisories on some elements of a product that concern this device and day."""
        found = self._advised.get(product)
        if found is None:
            found = [a for a in self.facts.advisories if a.product == product and self._concerns(a)]
            self._advised[product] = found
        return found


def view_of(facts: Snapshot, device: str, as_of: int, hardware: int) -> View:
    """Return the shared view; all is forgotten when there is much."""
    kept = kept_of(facts)
    if kept.frames > _MOST_FRAMES or len(kept.views) > _MOST_VIEWS:
        fresh = Kept(facts)
        fresh.budget, kept = kept.budget, fresh
        facts.kept = fresh
    key = (device, as_of, hardware)
    found = kept.views.get(key)
    if not isinstance(found, View):
        found = kept.views[key] = View(kept, device, as_of, hardware)
    return found


def kept_of(facts: Snapshot) -> Kept:
    """Return what the engine keeps of a knowledge base."""
    if not isinstance(facts.kept, Kept):
        facts.kept = Kept(facts)
    return facts.kept
