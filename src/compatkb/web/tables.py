"""Searches that thousands of questions share: one search for all platforms, cut to those that a question leaves open.

What the search finds for a platform does not depend on the other platforms, so the answer to a question about one Python
on one system is a part of the answer to the question about all of them. `share` gives a snapshot a finder that uses this.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cached_property
from itertools import combinations
from typing import NamedTuple

from compatkb.engine.ignored import Blocker
from compatkb.engine.problem import Problem, platform_cells
from compatkb.engine.search import Search
from compatkb.engine.stacks import SHOWN, Stack, parts_of, stacks_of
from compatkb.records import UNKNOWN, WEAK, Element, Found, Pin, Request
from compatkb.snapshot.read import Snapshot

_PLATFORM = ("python", "os")


class _Cover(Search):
    """A search that asks only where there is a stack at all."""

    def _open(self, cells: int, *_: int) -> int:
        for covered in self._covered.values():
            cells &= ~covered
        return cells


class _Place(NamedTuple):
    """A rectangle of platforms with one system or one Python, so that others of the same kinds can be recognized."""

    systems: tuple[int, ...]
    pythons: tuple[int, ...]


class Tables:
    """A finder; raises GaveUpError as a search does."""

    def __init__(self, facts: Snapshot) -> None:
        self.facts = facts
        self.searches = 0
        self.trail: set[int] = set()  # what `is_blocked` told platforms apart by, for those who clear it
        grid = facts.grid
        self._archs, self._pythons = len(grid["arch"]), len(grid["python"])
        self._arch = grid["arch"].index(facts.products["arch"].default or grid["arch"][0])
        self._found: dict[object, tuple[Found, ...]] = {}
        self._covered: dict[object, int] = {}
        self._stacks: dict[object, tuple[_Place | None, list[Stack]]] = {}
        self._kinds: dict[object, dict[int, int]] = {}
        self._bits: dict[object, list[int]] = {}
        self._outlines: dict[object, dict[int, int]] = {}
        self._spoken: dict[object, frozenset[int]] = {}
        self._views: dict[int, object] = {}  # which are kept, so that their ids stay theirs

    def search(
        self, problem: Problem, *, first_only: bool = False, best_only: bool = False, known_only: bool = False
    ) -> tuple[Found, ...]:
        """Return what a search of this problem would find, with one hit where only one matters."""
        hits = (hit._replace(cells=hit.cells & problem.cells) for hit in self._whole(problem))
        left = tuple(hit for hit in hits if hit.cells and not (known_only and hit.level == UNKNOWN))
        return left[:1] if first_only or best_only else left

    def is_blocked(self, problem: Problem, ignored: frozenset[Blocker]) -> bool:
        """Return whether there is no stack of any kind even while some blockers are ignored."""
        key = (*self._keys(problem), ignored)
        if key not in self._covered:
            self.searches += 1
            covered = 0
            for hit in _Cover(_widened(problem, ignored)).run():
                covered |= hit.cells
            self._covered[key] = covered
        self.trail.add(self._covered[key])
        return not self._covered[key] & problem.cells

    def stacks(self, problem: Problem, hit: Found) -> list[Stack]:
        """Return what `stacks_of` does; stacks on platforms of which the same is known differ in names alone."""
        head = self._head(problem, hit)
        place = self._place(hit.cells)
        if place is None:
            return self._made((head, hit.cells), problem, hit, None)
        kinds = self._kinds_of(problem, hit)
        shape: list[object] = [kinds[bit] for bit in bits_of(hit.cells)]
        spread = tuple(names if len(names) > 1 else () for names in place)
        return self._made((head, spread, tuple(shape)), problem, hit, place)

    def bits(self, request: Request) -> list[int]:
        """Return the platforms that the pins of a request leave open, by their bits."""
        if request.pins not in self._bits:
            self._bits[request.pins] = bits_of(platform_cells(self.facts, request))
        return self._bits[request.pins]

    def outline(self, problems: Iterable[Problem], *, least: int = WEAK) -> dict[int, int]:
        """Return for each platform in the world, by its bit, a number; the same where the same stacks of one kind are found.

        Platforms where there is none that is known as well as `least` have no number.
        """
        asked = tuple(problems)
        key = (least, tuple(self._keys(problem) for problem in asked))
        if key not in self._outlines:
            found: dict[int, list[object]] = {}
            for problem in asked:
                for number, hit in enumerate(self._whole(problem)):
                    if hit.level <= least:
                        kinds = self._kinds_of(problem, hit)
                        for bit in bits_of(hit.cells):
                            found.setdefault(bit, []).append((hit.device, hit.route.id, number, kinds[bit]))
            numbers: dict[object, int] = {}
            self._outlines[key] = {bit: numbers.setdefault(tuple(known), len(numbers)) for bit, known in found.items()}
        return self._outlines[key]

    def _made(self, key: object, problem: Problem, hit: Found, place: _Place | None) -> list[Stack]:
        if key not in self._stacks:
            self._stacks[key] = (place, stacks_of(problem, hit))
        like, stacks = self._stacks[key]
        if place is None or like is None or like == place:
            return stacks
        return [self._moved(stack, like, place) for stack in stacks]

    def _moved(self, stack: Stack, like: _Place, place: _Place) -> Stack:
        """Return a stack on other platforms of the same kind."""
        systems, pythons = self.facts.grid["os"], self.facts.grid["python"]
        if len(place.systems) == 1 and like.systems != place.systems:
            stack = stack._replace(os=(systems[place.systems[0]],))
        if len(place.pythons) == 1 and like.pythons != place.pythons:
            stack = stack._replace(python=(pythons[place.pythons[0]],))
        places = ((systems.index(system), pythons.index(python)) for system in stack.os for python in stack.python)
        cells = sum(1 << (system * self._archs + self._arch) * self._pythons + python for system, python in places)
        return stack._replace(rank=(*stack.rank[:-1], -cells))

    def _place(self, cells: int) -> _Place | None:
        """Return the rectangle that platforms are, None where they are none or have several systems and Pythons."""
        bits = bits_of(cells)
        systems = tuple(dict.fromkeys(bit // self._pythons // self._archs for bit in bits))
        pythons = tuple(dict.fromkeys(bit % self._pythons for bit in bits))
        if min(len(systems), len(pythons)) > 1 or len(bits) != len(systems) * len(pythons):
            return None
        return _Place(systems, pythons)

    def _head(self, problem: Problem, hit: Found) -> tuple[object, ...]:
        """Return what stacks depend on besides platforms."""
        machine = tuple([pin for pin in problem.request.pins if pin.product in SHOWN])
        asked = (problem.request.as_of, problem.variables, machine)
        return (*asked, hit.device, hit.route.id, hit.chosen, hit.level, hit.warnings)

    def _kinds_of(self, problem: Problem, hit: Found) -> dict[int, int]:
        """Return the kind of each platform by its bit; on all of one kind the same is known of these packages."""
        key = self._head(problem, hit)
        if key not in self._kinds:
            whole = _widened(problem)
            kinds = []
            for part, facts in parts_of(whole, hit._replace(cells=whole.cells)):
                cut = [part]
                for mask in self._masks(whole, hit, facts):
                    cut = [piece for cells in cut for piece in (cells & mask, cells & ~mask) if piece]
                kinds += cut
            self._kinds[key] = {bit: n for n, cells in enumerate(kinds) for bit in bits_of(cells)}
        return self._kinds[key]

    def _masks(self, problem: Problem, hit: Found, along: tuple[object, ...]) -> set[int]:
        """Return every set of platforms that a fact about the members of a stack speaks of."""
        members = [(p, i) for p, i in hit.chosen if 0 <= i < len(self.facts.elements(p))]
        members += [(fact.product, fact.idx) for fact in along if isinstance(fact, Element)]
        found = set(self._families)
        for some in (*((member,) for member in members), *combinations(members, 2)):
            key = (id(problem.view), some)
            if key not in self._spoken:
                said = _said_of(problem, *some[0]) if len(some) == 1 else _said_between(problem, *some[0], *some[1])
                self._spoken[key] = frozenset(said)
                self._views[id(problem.view)] = problem.view
            found |= self._spoken[key]
        return found - {0}

    @cached_property
    def _families(self) -> set[int]:
        facts = self.facts
        families: dict[tuple[str, bool], int] = {}
        for number, system in enumerate(facts.grid["os"]):
            family = ([system, *facts.wider[system]][-1], not facts.wider[system])
            families[family] = families.get(family, 0) | 1 << number
        return {facts.dimension_cells("os", mask) for mask in families.values()}

    def _whole(self, problem: Problem) -> tuple[Found, ...]:
        key = self._keys(problem)
        if key not in self._found:
            self.searches += 1
            self._found[key] = Search(_widened(problem)).run()
        return self._found[key]

    def _keys(self, problem: Problem) -> tuple[object, ...]:
        """Return what a search depends on, besides platforms."""
        request = problem.request
        pins = tuple([pin for pin in request.pins if pin.product not in _PLATFORM])
        return (problem.device, problem.route.id, pins, request.bare, request.as_of)


@contextmanager
def share(facts: Snapshot) -> Iterator[Tables]:
    """Let the questions asked of a snapshot meanwhile share their searches."""
    tables = Tables(facts)
    before, facts.finder = facts.finder, tables
    try:
        yield tables
    finally:
        facts.finder = before


def _widened(problem: Problem, ignored: frozenset[Blocker] = frozenset()) -> Problem:
    """Return the problem for every Python and system."""
    kept = [pin for pin in problem.request.pins if pin.product not in _PLATFORM]
    kept.append(Pin("os", "", (1 << len(problem.facts.grid["os"])) - 1))
    request = problem.request._replace(pins=tuple(kept))
    return Problem(problem.facts, request, problem.device, problem.route, ignored)


def _said_of(problem: Problem, product: str, idx: int) -> Iterator[int]:
    facts, view = problem.facts, problem.view
    element = facts.elements(product)[idx]
    yield from (element.strong, element.weak, *view.worlds.denials(product, idx))
    for floor in facts.floors(element):
        yield from (floor.seen, floor.inferred)
    yield from (advisory.cells for advisory in view.advisories(product, idx))
    for row in facts.rows("select cells from concerned where claim is null and name = ?", product):
        yield facts.cells(row["cells"])


def _said_between(problem: Problem, one: str, i: int, other: str, j: int) -> Iterator[int]:
    pair = problem.pair(one, i, other, j)
    yield from (pair.strong, pair.weak)
    for edge, _ in problem.speaking(one, i, other, j):
        yield from (edge.denies, edge.vouches)


def bits_of(cells: int) -> list[int]:
    """Return the places of the bits that are set, lowest first."""
    found = []
    while cells:
        low = cells & -cells
        found.append(low.bit_length() - 1)
        cells ^= low
    return found
