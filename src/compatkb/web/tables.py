"""Searches that thousands of questions share: one search for all platforms, cut to those that a question leaves open.

What the search finds for a platform does not depend on the other platforms, so the answer to a question about one Python
on one system is a part of the answer to the question about all of them. `share` gives a snapshot a finder that uses this.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from compatkb.engine.between import Blocker
from compatkb.engine.problem import Problem
from compatkb.engine.search import Search
from compatkb.engine.stacks import SHOWN, Stack, stacks_of
from compatkb.records import UNBUILT, UNKNOWN, Found, Pin
from compatkb.snapshot.read import Snapshot

_PLATFORM = ("python", "os")


class _Cover(Search):
    """A search that asks only where there is a stack at all."""

    def _open(self, cells: int, *_: int) -> int:
        for covered in self._covered.values():
            cells &= ~covered
        return cells


class _Place(NamedTuple):
    """Platforms in one system, so that other systems of the same kind can be recognized."""

    system: int
    pythons: tuple[int, ...]


class Tables:
    """A finder; raises GaveUpError as a search does."""

    def __init__(self, facts: Snapshot) -> None:
        self.facts = facts
        self.searches = 0
        grid = facts.grid
        self._archs, self._pythons = len(grid["arch"]), len(grid["python"])
        self._arch = grid["arch"].index(facts.products["arch"].default or grid["arch"][0])
        self._found: dict[object, tuple[Found, ...]] = {}
        self._covered: dict[object, int] = {}
        self._stacks: dict[object, tuple[_Place | None, list[Stack]]] = {}
        self._kinds: dict[object, tuple[int, ...]] = {}

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
        return not self._covered[key] & problem.cells

    def stacks(self, problem: Problem, hit: Found) -> list[Stack]:
        """Return what `stacks_of` does; stacks on platforms of which the same is known differ in names alone."""
        place = self._place(hit.cells)
        machine = tuple([pin for pin in problem.request.pins if pin.product in SHOWN])
        asked = (problem.request.as_of, problem.variables, machine)
        head = (*asked, hit.device, hit.route.id, hit.chosen, hit.level, hit.warnings)
        if place is None:
            return self._made((*head, hit.cells), problem, hit, None)
        kinds = self._kinds_of(problem, hit)
        shape: list[object] = [
            next(n for n, cells in enumerate(kinds) if cells & self._cell(place.system, python)) for python in place.pythons
        ]
        if len(place.pythons) > 1:
            shape += place.pythons
        return self._made((*head, tuple(shape)), problem, hit, place)

    def _made(self, key: object, problem: Problem, hit: Found, place: _Place | None) -> list[Stack]:
        if key not in self._stacks:
            self._stacks[key] = (place, stacks_of(problem, hit))
        like, stacks = self._stacks[key]
        if place is None or like is None or like == place:
            return stacks
        system = self.facts.grid["os"][place.system]
        named = []
        for stack in stacks:
            pythons = stack.python
            if len(place.pythons) == 1:
                pythons = (self.facts.grid["python"][place.pythons[0]],)
            cells = sum(self._cell(place.system, self.facts.grid["python"].index(python)) for python in pythons)
            named.append(stack._replace(os=(system,), python=pythons, rank=(*stack.rank[:-1], -cells)))
        return named

    def _cell(self, system: int, python: int) -> int:
        return 1 << (system * self._archs + self._arch) * self._pythons + python

    def _place(self, cells: int) -> _Place | None:
        """Return the system and Pythons of platforms on one system, None where there are several."""
        grid = self.facts.grid
        pythons, archs = len(grid["python"]), len(grid["arch"])
        row = ((cells & -cells).bit_length() - 1) // pythons
        if (cells.bit_length() - 1) // pythons != row:
            return None
        bits = cells >> row * pythons
        return _Place(row // archs, tuple(n for n in range(pythons) if bits >> n & 1))

    def _kinds_of(self, problem: Problem, hit: Found) -> tuple[int, ...]:
        """Return disjoint sets of platforms; on all of one set the same is known of these packages."""
        key = (problem.device, problem.view.hardware, problem.request.as_of, hit.chosen)
        if key not in self._kinds:
            kinds = [problem.facts.dimension_cells("arch", -1)]
            for mask in _masks(problem, hit):
                kinds = [part for cells in kinds for part in (cells & mask, cells & ~mask) if part]
            self._kinds[key] = tuple(kinds)
        return self._kinds[key]

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


def _masks(problem: Problem, hit: Found) -> set[int]:
    """Return every set of platforms that a fact about some packages, or about what they name, speaks of."""
    facts, view = problem.facts, problem.view
    members = [(p, i) for p, i in hit.chosen if 0 <= i < len(facts.elements(p))]
    for known in facts.products.values():
        if known.role == "companion" and all(known.id != p for p, _ in members):
            domain = (1 << len(facts.elements(known.id))) - 1
            for other, number in hit.chosen:
                domain &= problem.allowed(other, number, known.id)
            members += [(known.id, n) for n in range(domain.bit_length()) if domain >> n & 1]
    masks = {facts.dimension_cells("os", 1 << n) for n in range(len(facts.grid["os"])) if not facts.wider[facts.grid["os"][n]]}
    for system in facts.grid["os"]:
        wider = facts.wider[system][-1:]
        masks.add(
            sum(facts.dimension_cells("os", 1 << n) for n, s in enumerate(facts.grid["os"]) if facts.wider[s][-1:] == wider)
        )
    named: set[tuple[str, int]] = set()
    for product, idx in members:
        if facts.products[product].role not in UNBUILT:
            element = facts.elements(product)[idx]
            masks |= {element.strong, element.weak}
            for floor in facts.floors(element):
                masks |= {floor.seen, floor.inferred}
        masks |= {*view.ground(product, idx, frozenset())}
        masks |= {advisory.cells for advisory in view.advisories(product, idx)}
        for row in facts.rows("select cells from concerned where claim is null and name = ?", product):
            masks.add(facts.cells(row["cells"]))
        for to in facts.edges_from(product):
            for edge in view.says(product, idx, to):
                masks |= {edge.denies, edge.vouches}
                if facts.products[to].role == "leaf" or to in SHOWN:
                    named |= {(to, n) for n in range(edge.to_mask.bit_length()) if edge.to_mask >> n & 1}
    for product, idx in named:
        masks |= {*view.ground(product, idx, frozenset())}
    return masks - {0}
