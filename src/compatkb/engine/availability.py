"""The platforms on which elements are available, by how well that is known."""

from collections.abc import Callable, Iterator

from compatkb.core.memo import memoized
from compatkb.core.record import NamedTuple
from compatkb.engine.relations import excluded_by
from compatkb.store.reader import Snapshot
from compatkb.store.records import UNBUILT, Edge, Element, ElementSet, PlatformSet, newest_first

PLATFORM = ("python", "os", "arch")
"""The dimensions that are bits of a set of platforms."""
GLIBC = "glibc"
GLIBC_FAMILY = "linux"
"""The dimension that platform tags speak of (PEP 600), and the only family that has it."""


class Support(NamedTuple):
    """Platforms by how well something is known there; disjoint sets."""

    certain: PlatformSet
    inferred: PlatformSet
    unknown: PlatformSet

    def limited_to(self, platforms: PlatformSet) -> "Support":
        """Return what is known on some platforms."""
        return Support(self.certain & platforms, self.inferred & platforms, self.unknown & platforms)

    def vouched(self, certain: PlatformSet, inferred: PlatformSet) -> "Support":
        """Return how well something is known that others support so."""
        return Support(
            self.certain & certain,
            (self.inferred | (self.certain & ~certain)) & (certain | inferred),
            self.unknown | ((self.certain | self.inferred) & ~certain & ~inferred),
        )

    @property
    def anywhere(self) -> PlatformSet:
        """All platforms on which the element can be."""
        return self.certain | self.inferred | self.unknown


class Availability:
    """The platforms of elements on a day, where a glibc may be pinned.

    `waived` names what is left out of account: dimensions of the platform, or `wheels`.
    """

    def __init__(
        self,
        facts: Snapshot,
        edges: Callable[[str, str], tuple[Edge, ...]],
        edges_from: Callable[[str, int, str], tuple[Edge, ...]],
        speaks: Callable[[str, str], bool],
        as_of: int,
        lists_until: int,
        glibc: str | None = None,
    ) -> None:
        """Hold what products and their elements say of others, and the days; see `context.Context`."""
        self.facts, self._edges, self._edges_from, self._speaks = facts, edges, edges_from, speaks
        self._as_of, self._lists_until = as_of, lists_until
        # Where runtimes exclude each other, by members, whether only firm ones count, and the platforms that are asked about.
        self.runtime_conflicts: dict[tuple[tuple[tuple[str, int], ...], bool, PlatformSet], PlatformSet] = {}
        # Where no versions of some runtimes do, by what is required of them, who is beside them and what is waived.
        self.runtime_choices: dict[tuple[object, ...], PlatformSet] = {}
        # For a product and what is waived: platforms by how well they are known, each with the elements that are alike in it.
        self._alike: dict[tuple[str, frozenset[str]], dict[Support, ElementSet]] = {}
        self._seen: dict[tuple[str, frozenset[str]], ElementSet] = {}  # the elements that stand there
        self._glibc = tuple(int(part) for part in glibc.split(".")) if glibc else None

    @memoized
    def support(self, product: str, idx: int, waived: frozenset[str]) -> Support:
        """Return the platforms of a listed element by how well they are known, without what is waived."""
        element = self.facts.elements(product)[idx]
        certain, inferred, unknown = self._wheels(element)
        denied, disputed = self.denials(product, idx, waived)
        inferred &= ~certain
        unknown &= ~certain & ~inferred
        if "wheels" in waived:
            certain, inferred, unknown = self.facts.all_platforms, 0, 0
        elif element.complete < self._lists_until:
            unknown |= self.facts.all_platforms & ~certain & ~inferred
        if element.by is not None and element.by > self._as_of:  # out by then, or not: the day is not known
            certain, inferred, unknown = 0, 0, certain | inferred | unknown
        unknown |= (certain | inferred) & disputed
        known = ~denied & ~disputed
        return Support(certain & known, inferred & known, unknown & ~denied)

    def placed(
        self, product: str, candidates: ElementSet, platforms: PlatformSet, waived: frozenset[str]
    ) -> tuple[ElementSet, PlatformSet]:
        """Return those of some listed elements of a product that can be on some platforms, and on which of these they can."""
        if candidates and not candidates & (candidates - 1):
            where = self.support(product, candidates.bit_length() - 1, waived).anywhere & platforms
            return (candidates if where else 0), where
        elements = anywhere = 0
        for (certain, inferred, unknown), mask in self._groups(product, candidates, waived).items():
            if mask & candidates and (some_on := (certain | inferred | unknown) & platforms):
                elements |= mask
                anywhere |= some_on
        return elements & candidates, anywhere

    def _groups(self, product: str, candidates: ElementSet, waived: frozenset[str]) -> dict[Support, ElementSet]:
        """Return where listed elements of a product can be, with those that can be just there: some of them at least."""
        key = (product, waived)
        groups, seen = self._alike.setdefault(key, {}), self._seen.get(key, 0)
        if fresh := candidates & ~seen:
            self._seen[key] = seen | candidates
            for alike in self._like(product, fresh, waived):
                support = self.support(product, alike.bit_length() - 1, waived)
                groups[support] = groups.get(support, 0) | alike
        return groups

    def _like(self, product: str, elements: ElementSet, waived: frozenset[str]) -> Iterator[ElementSet]:
        """Yield listed elements of a product in sets of those that can be at the same places, as far as columns tell."""
        if not elements & (elements - 1):
            yield elements
            return
        said = [edge for one in self._limiting(product) if one not in waived for edge in self._edges(one, product)]
        speaking = [one for one in self._limiting(product) if one not in waived and self._speaks(product, one)]
        for each in self.facts.elements(product).groups("certain", "inferred", "floors", "complete", "by").values():
            alike = [each & elements]
            for edge in said:
                alike = [part for group in alike for part in (group & excluded_by(edge), group & ~excluded_by(edge)) if part]
            for group in alike:
                own = [idx for idx in newest_first(group) if any(self._edges_from(product, idx, one) for one in speaking)]
                rest = group & ~sum(1 << idx for idx in own)
                yield from (*(1 << idx for idx in own), *((rest,) if rest else ()))

    def _wheels(self, element: Element) -> tuple[PlatformSet, PlatformSet, PlatformSet]:
        """Return the platforms of an element's wheels: seen, inferred, and unknown for want of a platform tag."""
        if self._glibc is None or self.facts.products[element.product].role in UNBUILT:
            return element.certain, element.inferred, 0
        certain = inferred = unknown = 0
        for floor in self.facts.floors(element):
            if floor.glibc is None or (not floor.stated and floor.glibc <= self._glibc):
                unknown |= floor.seen | floor.inferred
            elif floor.glibc <= self._glibc:
                certain |= floor.seen
                inferred |= floor.inferred
        return certain, inferred, unknown

    @memoized
    def denials(self, product: str, idx: int, waived: frozenset[str] = frozenset()) -> tuple[PlatformSet, PlatformSet]:
        """Return where an element and what it is said to be beside (a Python, an OS, an architecture) exclude each other.

        And where they would, but for an undecided dispute that leaves it open. What is waived does not count.
        """
        denied = disputed = 0
        for edge, platforms in self._excluded(product, idx, waived):
            if edge.open:
                disputed |= platforms
            else:
                denied |= platforms
        return denied, disputed

    def _excluded(self, product: str, idx: int, waived: frozenset[str]) -> Iterator[tuple[Edge, PlatformSet]]:
        """Yield what an element and dimensions that are not waived say of each other, with where that excludes the element."""
        for dimension in self._limiting(product):
            if dimension in waived:
                continue
            for edge in self._edges_from(product, idx, dimension):
                yield edge, edge.forbidden_on & self.facts.dimension_cells(dimension, excluded_by(edge))
            for edge in self._edges(dimension, product):
                if excluded_by(edge) >> idx & 1:
                    yield edge, edge.forbidden_on & self.facts.dimension_cells(dimension, edge.of_mask)

    @memoized
    def absences(
        self, product: str, elements: ElementSet, waived: frozenset[str]
    ) -> tuple[tuple[PlatformSet, ElementSet], ...]:
        """Return platforms, each with those of some listed elements that cannot be there, for want of wheels or denied."""
        groups = self._groups(product, elements, waived).items()
        absent = ((self.facts.all_platforms & ~support.anywhere, mask & elements) for support, mask in groups)
        return tuple([(platforms, mask) for platforms, mask in absent if platforms and mask])

    def is_limited(self, product: str) -> bool:
        """Return whether anything is said of where a product can be."""
        return bool(self._limiting(product))

    @memoized
    def _limiting(self, product: str) -> tuple[str, ...]:
        """Return the dimensions of which a product says something, or that say something of it."""
        return tuple(one for one in PLATFORM if self._speaks(product, one) or self._speaks(one, product))

    @memoized
    def denied_to_all(self, product: str, every: ElementSet, waived: frozenset[str]) -> PlatformSet:
        """Return where a claim on every element of a product excludes it."""
        denied = 0
        for edge, platforms in self._excluded(product, 0, waived):
            denied |= platforms if edge.of == product and edge.of_mask == every and not edge.open else 0
        return denied
