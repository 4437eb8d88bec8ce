"""What edges say of two elements together: one fold over the edges, and tables of its results by product.

This module is the one place that says what an edge means. An edge of an element either names the other element (it is
`inside` the edge's target) or does not:

==========  =============================================  =============================================
kind        the other element is named                     it is not named
==========  =============================================  =============================================
needs       supported; and support is required here        denied
constrains  supported; and support is required here        denied
breaks      denied                                         nothing
verified    supported                                      nothing: a positive list denies nothing
==========  =============================================  =============================================
"""

from collections.abc import Callable, Iterable
from functools import cached_property, reduce
from operator import or_

from compatkb.core.memo import memoized
from compatkb.core.record import NamedTuple
from compatkb.core.vocabulary import Certainty, Kind
from compatkb.store.records import EVERY, Edge, ElementSet, PlatformSet, newest_first

DEMANDING = ("needs", "constrains")
"""The kinds of edges that exclude what they do not name."""


class Relation(NamedTuple):
    """What is known of two elements together, as platform sets; the last two follow from the others."""

    denied: PlatformSet
    certain: PlatformSet  # stated or observed to work
    inferred: PlatformSet  # inferred to work
    required: PlatformSet  # one demands the other, so something must support the two
    disputed: PlatformSet  # an undecided dispute leaves them open
    unknown: PlatformSet  # disputed; or something should support the two, and nothing does
    doubtful: PlatformSet  # something should support the two, and nothing certain does


def excluded_by(edge: Edge) -> ElementSet:
    """Return the elements of its target that an edge excludes: all but those named, without end, where it demands some."""
    if edge.kind == Kind.VERIFIED:
        return 0
    return edge.to_mask if edge.kind == Kind.BREAKS else ~edge.to_mask


def refused_by(edges: Iterable[Edge], idx: int) -> ElementSet:
    """Return the elements of their target that the edges of an element exclude, whoever says so; disputed ones aside."""
    excluded = 0
    for edge in edges:
        if edge.of_mask >> idx & 1 and not edge.open:
            excluded |= excluded_by(edge)
    return excluded


def requires(edges: Iterable[Edge], idx: int) -> bool:
    """Return whether the metadata of an element demand something of the target of these edges."""
    return any(edge.in_metadata and edge.of_mask >> idx & 1 for edge in edges)


def demand(
    edges: Iterable[Edge], idx: int, others: ElementSet, admitted: Callable[[str], ElementSet], cells: PlatformSet = EVERY
) -> Edge | None:
    """Return what the metadata of an element demand on some platforms that leaves none of `others`; None where nothing does.

    `admitted` tells what a specifier admits: metadata may name more than the claim that an edge is made of.
    """
    for edge in edges:
        is_demand = edge.in_metadata and edge.kind != Kind.BREAKS and edge.of_mask >> idx & 1 and edge.forbidden_on & cells
        if is_demand and not (edge.to_mask | admitted(edge.spec)) & others:
            return edge
    return None


_State = tuple[PlatformSet, PlatformSet, PlatformSet, PlatformSet, PlatformSet]
"""The first five fields of a relation."""
_NOTHING: _State = (0, 0, 0, 0, 0)


def _with_edge(state: _State, edge: Edge, *, inside: bool) -> _State:
    """Return what is known of two elements with one more edge between them."""
    denied, certain, inferred, required, disputed = state
    if edge.open:
        if inside or edge.kind in DEMANDING:
            disputed |= edge.forbidden_on | edge.supported_on
        return denied, certain, inferred, required, disputed
    if edge.kind in DEMANDING:
        required |= edge.forbidden_on
        denied |= 0 if inside else edge.forbidden_on
    elif edge.kind == Kind.BREAKS and inside:
        denied |= edge.forbidden_on
    if inside and edge.level == Certainty.CERTAIN:
        certain |= edge.supported_on
    elif inside:
        inferred |= edge.supported_on
    return denied, certain, inferred, required, disputed


def _relation(state: _State) -> Relation:
    _, certain, inferred, required, disputed = state
    doubtful = required & ~certain
    return Relation(*state, disputed | (doubtful & ~inferred), doubtful)


UNRELATED = _relation(_NOTHING)


def relation_of(edges: Iterable[tuple[Edge, bool]]) -> Relation:
    """Return what edges between two elements say together; each comes with whether it names the other element."""
    state = _NOTHING
    for edge, inside in edges:
        state = _with_edge(state, edge, inside=inside)
    return _relation(state)


class RelationTable:
    """Two products seen from the first: what the elements of one say of those of the other, both ways."""

    def __init__(
        self,
        products: tuple[str, str],
        sizes: tuple[int, int],
        edges: Callable[[str, str], tuple[Edge, ...]],
        edges_from: Callable[[str, int, str], tuple[Edge, ...]],
    ) -> None:
        """Hold two products, how many elements each has, and what asks for edges: of products, and of an element."""
        self._products, self._sizes, self._all, self._edges_from = products, sizes, edges, edges_from

    @cached_property
    def _back(self) -> tuple[Edge, ...]:
        return self._all(*self._products[::-1])

    def _own(self, idx: int) -> tuple[Edge, ...]:
        return self._edges_from(self._products[0], idx, self._products[1])

    @memoized
    def relation(self, idx: int, other: int) -> Relation | None:
        """Return what is known of two elements, None where one of them is not listed."""
        if not (0 <= idx < self._sizes[0] and 0 <= other < self._sizes[1]):
            return None
        own = ((edge, bool(edge.to_mask >> other & 1)) for edge in self._own(idx))
        others = self._edges_from(self._products[1], other, self._products[0])
        return relation_of([*own, *((edge, bool(edge.to_mask >> idx & 1)) for edge in others)])

    def allowed(self, idx: int, platforms: PlatformSet, *, known_only: bool = False) -> ElementSet:
        """Return the second product's elements that no edge excludes beside an element on all of some platforms.

        With `known_only` without those that an edge demands support for, where nothing supports them. Several edges may
        exclude more together; a version that the data do not list is never excluded.
        """
        elements = (2 << self._sizes[1]) - 1
        for denied_on, left in self._exclusions(idx, known_only):
            if not platforms & ~denied_on:
                elements &= left
        return elements

    @memoized
    def _exclusions(self, idx: int, known_only: bool) -> tuple[tuple[PlatformSet, ElementSet], ...]:
        """Return platforms, and which of the second product's elements the edges of these leave beside an element."""
        left: dict[PlatformSet, ElementSet] = {}
        if not 0 <= idx < self._sizes[0]:
            return ()
        unlisted = 1 << self._sizes[1]
        supported = self._supported(idx) | unlisted if known_only else EVERY
        for edge in self._own(idx):
            if not edge.open and edge.forbidden_on:
                asked = supported if edge.kind in DEMANDING else EVERY
                left[edge.forbidden_on] = left.get(edge.forbidden_on, EVERY) & (~excluded_by(edge) | unlisted) & asked
        for denied_on, of_mask, excluded, is_demanding in self._excluding_back:
            if excluded >> idx & 1:
                left[denied_on] = left.get(denied_on, EVERY) & ~of_mask
            elif is_demanding:
                left[denied_on] = left.get(denied_on, EVERY) & (~of_mask | supported)
        return tuple(left.items())

    @cached_property
    def _excluding_back(self) -> list[tuple[PlatformSet, ElementSet, ElementSet, bool]]:
        """For each edge back that excludes something: where, its own elements, what it excludes, whether it demands some."""
        edges = [edge for edge in self._back if not edge.open and edge.forbidden_on]
        return [(edge.forbidden_on, edge.of_mask, excluded_by(edge), edge.kind in DEMANDING) for edge in edges]

    def allowed_by(
        self, candidates: ElementSet, among: ElementSet, platforms: PlatformSet, *, known_only: bool = False
    ) -> ElementSet:
        """Return those among the second product's elements that some of the first product's candidates admit."""
        left = among
        for idx in newest_first(candidates) if among else ():
            left &= ~self.allowed(idx, platforms, known_only=known_only)
            if not left:
                break
        return among & ~left

    @memoized
    def _supported(self, idx: int) -> ElementSet:
        """Return the second product's elements that something supports beside an element, on any platform."""
        supported = reduce(or_, (edge.to_mask for edge in self._own(idx) if _supports(edge)), 0)
        return reduce(or_, (edge.of_mask for edge in self._back if edge.to_mask >> idx & 1 and _supports(edge)), supported)

    def supported_beside(self, candidates: ElementSet, platforms: PlatformSet, worst: Certainty) -> ElementSet:
        """Return the first product's elements that something no worse known supports beside some of the second product's."""
        supported = 0
        for edge in self._all(*self._products):
            supported |= edge.of_mask if edge.to_mask & candidates and _supports(edge, platforms, worst) else 0
        for edge in self._back:
            supported |= edge.to_mask if edge.of_mask & candidates and _supports(edge, platforms, worst) else 0
        return supported


def _supports(edge: Edge, platforms: PlatformSet = EVERY, worst: Certainty = Certainty.INFERRED) -> bool:
    return bool(edge.supported_on & platforms) and not edge.open and edge.kind != Kind.BREAKS and edge.level <= worst
