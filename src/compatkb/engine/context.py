"""The facts as one question's circumstances see them: a device, pinned hardware, the day of knowledge and the clock.

What depends on nothing else is worked out here, once for all questions in these circumstances.
"""

from collections.abc import Callable
from typing import NamedTuple

from compatkb.core.vocabulary import Certainty, Kind, Role
from compatkb.engine.availability import Availability
from compatkb.engine.memo import memoized
from compatkb.engine.relations import RelationTable
from compatkb.store.reader import Snapshot
from compatkb.store.records import UNBUILT, Advisory, Edge, Element

_MOST_CONTEXTS = 256


class Circumstances(NamedTuple):
    """Under what a question is asked; days are ordinals."""

    device: str
    hardware: int  # the hardware elements that are pinned, 0: none
    as_of: int  # what exists: the day of knowledge, unless another one was asked for
    today: int  # the clock: whether an end of life has come
    lists_until: int  # the day that a list of releases or wheels must reach for an absence to count
    certain_only: bool  # inferences and undecided disputes exclude nothing


class RuntimeRequirement(NamedTuple):
    """What one edge demands of a runtime."""

    platforms: int
    versions: int  # admitted elements, and above them the gaps between bounds
    is_inferred_pin: bool
    pins: bool  # it names one version, so the runtime is in the stack
    in_metadata: bool  # installers read it themselves
    bound: str  # what a command must say, since no metadata do; empty where they do


class Context:
    """What holds under some circumstances."""

    def __init__(self, facts: Snapshot, circumstances: Circumstances) -> None:
        self.facts, self.circumstances = facts, circumstances
        self.device, self.hardware = circumstances.device, circumstances.hardware
        self.as_of, self.today = circumstances.as_of, circumstances.today

    # -- edges --------------------------------------------------------------------------------------------------

    def holds(self, edge: Edge) -> bool:
        """Return whether an edge speaks of this device and hardware, and counts."""
        if self.circumstances.certain_only and (edge.open or (edge.level != Certainty.CERTAIN and not edge.listed)):
            return False
        if edge.devices and self.device not in edge.devices:
            return False
        if not edge.hardware:
            return True
        return bool(edge.hardware & self.hardware) and not (edge.kind == Kind.VERIFIED and self.in_part(edge))

    def in_part(self, edge: Edge) -> bool:
        """Return whether what is said of a feature concerns only some of the hardware pinned: of the rest nothing is known."""
        rest = edge.hardware and self.hardware & ~edge.hardware
        return bool(rest) and self.facts.products[edge.of].role == Role.FEATURE

    @memoized
    def edges(self, of: str, to: str) -> tuple[Edge, ...]:
        """Return what one product says of another one."""
        held = (edge for edge in self.facts.edges(of, to) if self.holds(edge))
        return tuple([edge._replace(open=True) if self.in_part(edge) else edge for edge in held])

    @memoized
    def edges_from(self, of: str, idx: int, to: str) -> tuple[Edge, ...]:
        """Return what one element says of another product."""
        return tuple([edge for edge in self.edges(of, to) if edge.of_mask >> idx & 1])

    @memoized
    def table(self, product: str, other: str) -> RelationTable | None:
        """Return what two products say of each other; None where they say nothing."""
        if not self.facts.edges(product, other) and not self.facts.edges(other, product):
            return None
        sizes = (self.facts.sizes[product], self.facts.sizes[other])
        return RelationTable(self.edges(product, other), self.edges(other, product), sizes)

    @memoized
    def availability(self, glibc: str | None) -> Availability:
        """Return where elements can be, on systems with a glibc if one is pinned."""
        circumstances = self.circumstances
        return Availability(self.facts, self.edges_from, circumstances.as_of, circumstances.lists_until, glibc)

    def _is_unbuilt(self, product: str) -> bool:
        return self.facts.products[product].role in UNBUILT

    # -- candidates ---------------------------------------------------------------------------------------------

    def _those(self, product: str, good: Callable[[Element], bool]) -> int:
        """Return the elements of a product of which something is true."""
        return sum(1 << element.idx for element in self.facts.elements(product) if good(element))

    @memoized
    def offers(self, product: str) -> int:
        """Return the elements that can be installed for this device and were out on this day."""
        return self._those(product, self._is_offered)

    def _is_offered(self, element: Element) -> bool:
        role = self.facts.products[element.product].role
        if not element.installable or (element.since is not None and element.since > self.as_of):
            return False
        return (
            role in (Role.LEAF, Role.FEATURE)
            or self.device in element.devices
            or (role == Role.DIMENSION and not element.devices)
        )

    @memoized
    def serving(self, product: str) -> int:
        """Return the elements that can be installed for this device, on whatever day they came out."""
        return self._those(product, lambda element: element.installable and self.device in element.devices)

    @memoized
    def yanked(self, product: str) -> int:
        """Return the elements that were yanked by this day."""
        return self._those(product, lambda element: element.yank_by is not None and element.yank_by <= self.as_of)

    def _may_be_yanked(self, element: Element) -> bool:
        """Return whether an element was yanked by this day, or may have been, where only bounds of the day are known."""
        return element.yank_by is not None and (element.yank_after or 0) <= self.as_of

    @memoized
    def foreign(self, product: str) -> int:
        """Return the builds for devices that no route serves: they are there for those who pin them."""
        return self._those(product, lambda element: element.foreign)

    @memoized
    def presumed(self, product: str) -> int:
        """Return the builds of which no wheel was seen or stated."""
        return 0 if self._is_unbuilt(product) else self._those(product, lambda element: not element.published)

    @memoized
    def outdated(self, product: str) -> int:
        """Return the elements that have ended, were yanked or are known to be insecure."""
        if self._is_unbuilt(product):
            return 0
        found = self._those(product, lambda e: e.eol is not None and e.eol < self.today)
        found |= self._those(product, self._may_be_yanked)
        for advisory in self._advice(product):
            found |= advisory.mask if advisory.kind == "security" and not advisory.to else 0
        return found

    @memoized
    def age(self, product: str, idx: int) -> int:
        """Return how many series of a product are newer than that of an element."""
        groups = self.facts.series(product)
        return len(groups) - 1 - next(n for n, mask in enumerate(groups) if mask >> idx & 1)

    @memoized
    def only_beside(self, product: str) -> tuple[tuple[frozenset[str], int], ...]:
        """Return the elements that are of use only beside other products, by those products."""
        found: dict[frozenset[str], int] = {}
        for element in self.facts.elements(product):
            if element.only_with:
                found[element.only_with] = found.get(element.only_with, 0) | 1 << element.idx
        return tuple(found.items())

    # -- what products need ---------------------------------------------------------------------------------------

    @memoized
    def needs(self, product: str) -> tuple[str, ...]:
        """Return the packages that elements of a product need."""
        roles = self.facts.products
        packages = (to for to in self.facts.spoken_of(product) if roles[to].role == Role.PACKAGE)
        return tuple(to for to in packages if any(edge.kind == Kind.NEEDS for edge in self.edges(product, to)))

    @memoized
    def needed(self, product: str, idx: int, to: str) -> int:
        """Return the platforms on which an element needs another product."""
        platforms = 0
        for edge in self.edges_from(product, idx, to):
            platforms |= edge.denies if edge.kind == Kind.NEEDS else 0
        return platforms

    @memoized
    def optional(self, required: tuple[str, ...]) -> tuple[str, ...]:
        """Return the packages that some element of these products needs, or of what those need in turn."""
        found: dict[str, None] = {}
        queue = list(required)
        while queue:
            for to in self.needs(queue.pop()):
                if to not in required and to not in found:
                    found[to] = None
                    queue.append(to)
        return tuple(found)

    @memoized
    def runtime_requirements(self, product: str, idx: int) -> tuple[tuple[str, int, RuntimeRequirement], ...]:
        """Return what an element requires of runtimes: the runtime, the id of the edge that says it, and what."""
        found = []
        for to in self.facts.spoken_of(product):
            if self.facts.products[to].role != Role.LEAF:
                continue
            size = self.facts.sizes[to]
            for edge in self.edges_from(product, idx, to):
                if edge.kind == Kind.VERIFIED or edge.open:
                    continue
                admitted = (1 << size) - 1 & ~edge.to_mask if edge.kind == Kind.BREAKS else edge.to_mask
                pins = edge.kind == Kind.NEEDS and bool(edge.vouches) and "==" in edge.spec
                bound = edge.spec if edge.kind == Kind.CONSTRAINS else ""
                versions, is_inferred = admitted | edge.unlisted << size, pins and edge.level != Certainty.CERTAIN
                found.append((to, edge.id, RuntimeRequirement(edge.denies, versions, is_inferred, pins, edge.listed, bound)))
        return tuple(found)

    @memoized
    def named_by(self, product: str, dimension: str) -> int:
        """Return the elements of a product that name values of a dimension that they were made for or tried with."""
        found = 0
        for edge in self.edges(product, dimension):
            found |= edge.of_mask if edge.kind != Kind.BREAKS and edge.vouches and not edge.open else 0
        return found

    # -- warnings -------------------------------------------------------------------------------------------------

    @memoized
    def warnings(self, product: str, idx: int) -> int:
        """Return how many warnings an element carries by itself."""
        return sum(mask >> idx & 1 for mask in self._warned(product)) if idx >= 0 else 0

    @memoized
    def _warned(self, product: str) -> tuple[int, ...]:
        """Return the elements that carry a warning, for each kind of warning."""
        if self.facts.products[product].role in (Role.LEAF, Role.DIMENSION):
            return ()
        return (
            self._those(product, self._may_be_yanked),
            self._those(product, lambda e: e.eol is not None and e.eol < self.today),
            self._those(product, lambda e: e.stage in ("preview", "prototype")),
            *(advisory.mask for advisory in self._advice(product) if not advisory.to and advisory.kind != "known-issue"),
        )

    def advisories(self, product: str, idx: int) -> list[Advisory]:
        """Return the advisories on an element, those about its neighbours too."""
        return [advisory for advisory in self._advice(product) if advisory.mask >> idx & 1]

    @memoized
    def _advice(self, product: str) -> tuple[Advisory, ...]:
        """Return the advisories on some elements of a product that concern this device and day."""
        concerning = (a for a in self.facts.advisories if a.product == product and a.since <= self.as_of)
        return tuple(a for a in concerning if not a.devices or self.device in a.devices)


def context_of(facts: Snapshot, circumstances: Circumstances) -> Context:
    """Return the context for some circumstances: the facts keep a few, since questions mostly differ in their pins alone."""
    contexts: dict[Circumstances, Context] = facts.contexts
    found = contexts.get(circumstances)
    if found is None:
        if len(contexts) >= _MOST_CONTEXTS:
            contexts.clear()
        found = contexts[circumstances] = Context(facts, circumstances)
    return found
