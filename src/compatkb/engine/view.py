"""What is the same for every question about one device, day and hardware: looked up once, then shared."""

from typing import NamedTuple

from compatkb.records import STRONG, Advisory, Edge
from compatkb.snapshot.read import Snapshot

_MOST_VIEWS = 64


class Pair(NamedTuple):
    """What is known of two elements together, as platform bits."""

    denied: int
    strong: int
    weak: int
    matters: int  # where the two must be vouched for
    muddled: int  # where an undecided dispute leaves them open


NO_PAIR = Pair(0, 0, 0, 0, 0)


class Ground(NamedTuple):
    """The platforms of an element before a request narrows them."""

    strong: int
    weak: int
    open: int  # where an undecided dispute leaves a denial open
    denied: int


class View:
    """The facts as one device, day and pinned hardware see them."""

    def __init__(self, facts: Snapshot, device: str, as_of: int, hardware: int) -> None:
        self.facts, self.device, self.as_of, self.hardware = facts, device, as_of, hardware
        self.pairs: dict[tuple[str, int, str, int], Pair] = {}
        self.allowed: dict[tuple[str, int, str, int], int] = {}
        self._exclusions: dict[tuple[str, int, str], tuple[tuple[int, int], ...]] = {}
        self._says: dict[tuple[str, str], list[list[Edge]]] = {}
        self._grounds: dict[tuple[str, int, frozenset[str]], Ground] = {}
        self._offers: dict[str, int] = {}
        self._serving: dict[str, int] = {}
        self._bound: dict[str, dict[frozenset[str], int]] = {}
        self._yanked: dict[str, int] = {}
        self._somewhere: dict[tuple[str, int, frozenset[str]], int] = {}
        self.levels: dict[tuple[str, int, int], tuple[int, int, int]] = {}
        self._warnings: dict[tuple[str, int], int] = {}
        self.conflicts: dict[tuple[tuple[str, int], ...], tuple[int, int]] = {}  # what the search keeps: of sets of elements
        self.cells: dict[tuple[object, ...], int] = {}  # by what pins the platform
        self._needs: dict[str, dict[str, int]] = {}
        self._optional: dict[tuple[str, ...], tuple[str, ...]] = {}
        self.demands: dict[tuple[str, int], object] = {}  # what the search keeps: demands on leaves, by element

    def holds(self, edge: Edge) -> bool:
        """Return whether an edge speaks of this device and hardware."""
        if edge.devices and self.device not in edge.devices:
            return False
        if not edge.hardware:
            return True
        return bool(edge.hardware & self.hardware) and not (edge.kind == "verified" and self.in_part(edge))

    def in_part(self, edge: Edge) -> bool:
        """Return whether what is said of a feature concerns only some of the hardware pinned: of the rest nothing is known."""
        rest = edge.hardware and self.hardware & ~edge.hardware
        return bool(rest) and self.facts.products[edge.of].role == "feature"

    def says(self, of: str, idx: int, to: str) -> list[Edge]:
        """Return the edges that element `idx` of one product has to another product."""
        key = (of, to)
        if key not in self._says:
            by_element: list[list[Edge]] = [[] for _ in self.facts.elements(of)]
            for edge in self.facts.edges(of, to):
                if self.holds(edge):
                    edge = edge._replace(open=True) if self.in_part(edge) else edge
                    mask = edge.of_mask
                    while mask:
                        low = mask & -mask
                        by_element[low.bit_length() - 1].append(edge)
                        mask ^= low
            self._says[key] = by_element
        found = self._says[key]
        return found[idx] if idx < len(found) else []

    def exclusions(self, p: str, i: int, q: str) -> tuple[tuple[int, int], ...]:
        """Return what excludes elements of `q` beside element `i` of `p`, said by either: on which platforms, and which.

        A version of `q` that the data do not list is never excluded; it is judged pair by pair.
        """
        key = (p, i, q)
        if key not in self._exclusions:
            listed = (1 << len(self.facts.elements(q))) - 1
            found = [
                (edge.denies, edge.to_mask if edge.kind == "breaks" else listed & ~edge.to_mask)
                for edge in self.says(p, i, q)
                if edge.kind != "verified" and not edge.open
            ]
            for edge in self.facts.edges(q, p):
                speaks = edge.kind != "verified" and not edge.open and self.holds(edge) and not self.in_part(edge)
                if speaks and bool(edge.to_mask >> i & 1) == (edge.kind == "breaks"):
                    found.append((edge.denies, edge.of_mask))
            self._exclusions[key] = tuple((denies, excluded) for denies, excluded in found if denies and excluded)
        return self._exclusions[key]

    def needs(self, product: str) -> dict[str, int]:
        """Return the packages that elements of a product need, each with the elements that need it."""
        if product not in self._needs:
            found: dict[str, int] = {}
            for to, edges in self.facts.edges_from(product).items():
                if self.facts.products[to].role == "package":
                    for edge in edges:
                        if edge.kind == "needs" and self.holds(edge):
                            found[to] = found.get(to, 0) | edge.of_mask
            self._needs[product] = found
        return self._needs[product]

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
            kept = 0
            for element in self.facts.elements(product):
                free = role in ("leaf", "feature") or (role == "dimension" and not element.devices)
                fits = free or self.device in element.devices
                if element.installable and fits and (element.since is None or element.since <= self.as_of):
                    kept |= 1 << element.idx
            self._offers[product] = kept
        return self._offers[product]

    def serving(self, product: str) -> int:
        """Return the elements that can be installed for this device, on whatever day they came out."""
        if product not in self._serving:
            fits = (e for e in self.facts.elements(product) if e.installable and self.device in e.devices)
            self._serving[product] = sum(1 << e.idx for e in fits)
        return self._serving[product]

    def bound(self, product: str) -> dict[frozenset[str], int]:
        """Return the elements that are of use only beside other products, by those products."""
        if product not in self._bound:
            found: dict[frozenset[str], int] = {}
            for element in self.facts.elements(product):
                if element.only_with:
                    found[element.only_with] = found.get(element.only_with, 0) | 1 << element.idx
            self._bound[product] = found
        return self._bound[product]

    def yanked(self, product: str) -> int:
        """Return the elements that were yanked by this day."""
        if product not in self._yanked:
            gone = (e for e in self.facts.elements(product) if e.yank_by is not None and e.yank_by <= self.as_of)
            self._yanked[product] = sum(1 << e.idx for e in gone)
        return self._yanked[product]

    def ground(self, product: str, idx: int, ignored: frozenset[str]) -> Ground:
        """Return an element's platforms with what it says of Python, OS and architecture; `ignored` ones left out."""
        key = (product, idx, ignored)
        if key not in self._grounds:
            element = self.facts.elements(product)[idx]
            open_, denied = 0, 0
            for dimension in ("python", "os", "arch"):
                if dimension in ignored:
                    continue
                for edge in self.says(product, idx, dimension):
                    if edge.kind == "verified":
                        continue
                    inside = self.facts.dimension_cells(dimension, edge.to_mask)
                    cells = edge.denies & (inside if edge.kind == "breaks" else ~inside)
                    if edge.open:
                        open_ |= cells
                    else:
                        denied |= cells
            self._grounds[key] = Ground(element.strong, element.weak, open_, denied)
        return self._grounds[key]

    def speaks(self, product: str, idx: int, dimension: str) -> bool:
        """Return whether an element names values of a dimension that it was made for or tried with."""
        return any(edge.kind != "breaks" and edge.vouches and not edge.open for edge in self.says(product, idx, dimension))

    def somewhere(self, leaf: str, mask: int, ignored: frozenset[str]) -> int:
        """Return the platforms on which at least one of some versions of a leaf can be; `ignored` dimensions left out."""
        key = (leaf, mask, ignored)
        if key not in self._somewhere:
            listed = mask & (1 << len(self.facts.elements(leaf))) - 1
            cells = 0 if listed or not mask else -1  # of versions that are not listed nothing is known
            for n in range(listed.bit_length()):
                if listed >> n & 1:
                    cells |= ~self.ground(leaf, n, ignored).denied
            self._somewhere[key] = cells
        return self._somewhere[key]

    def warnings(self, product: str, idx: int) -> int:
        """Return how many warnings an element carries by itself."""
        key = (product, idx)
        if key not in self._warnings:
            self._warnings[key] = self._count(product, idx)
        return self._warnings[key]

    def _count(self, product: str, idx: int) -> int:
        elements = self.facts.elements(product)
        if self.facts.products[product].role in ("leaf", "dimension") or not 0 <= idx < len(elements):
            return 0
        element = elements[idx]
        count = int(element.yank_by is not None and (element.yank_after or 0) <= self.as_of)
        count += int(element.eol is not None and element.eol < self.as_of)
        count += int(element.stage in ("preview", "prototype"))
        return count + sum(1 for a in self.advisories(product, idx) if not a.to and a.kind != "known-issue")

    def advisories(self, product: str, idx: int) -> list[Advisory]:
        """Return the advisories on an element, those about its neighbours too."""
        return [
            advisory
            for advisory in self.facts.advisories
            if advisory.product == product
            and advisory.mask >> idx & 1
            and advisory.since <= self.as_of
            and (not advisory.devices or self.device in advisory.devices)
        ]


def judged(speaking: list[tuple[Edge, bool]]) -> Pair:
    """Return what edges between two elements say together; each comes with whether it names the other element."""
    denied = strong = weak = matters = muddled = 0
    for edge, inside in speaking:
        if edge.open:
            if inside or edge.kind in ("needs", "constrains"):
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
    return Pair(denied, strong, weak, matters, muddled)


def view_of(facts: Snapshot, device: str, as_of: int, hardware: int) -> View:
    """Return the shared view; the oldest ones are forgotten when there are many."""
    key = (device, as_of, hardware)
    found = facts.views.get(key)
    if not isinstance(found, View):
        while len(facts.views) >= _MOST_VIEWS:
            facts.views.pop(next(iter(facts.views)))
        found = facts.views[key] = View(facts, device, as_of, hardware)
    return found
