"""The search: which builds go together, on which platforms, and which of them are best there.

Depth first over the products in rank order, newest first; platforms are bits that shrink on the way down. A branch ends
where every platform that it could still serve already has an answer that is at least as good.
"""

from typing import NamedTuple

from compatkb.engine.problem import ABSENT, JOKER, Problem
from compatkb.errors import GaveUpError
from compatkb.records import STRONG, UNKNOWN, WEAK, Found

BUDGET = 200_000
_MOST_WARNINGS = 63
_FEW = 8
_MOST_KEPT = 50_000


class Search:
    """One run over one problem."""

    def __init__(
        self,
        problem: Problem,
        *,
        first_only: bool = False,
        best_only: bool = False,
        known_only: bool = False,
        budget: int = BUDGET,
    ) -> None:
        """Prepare a search; the flags narrow what is sought.

        `first_only` stops at the first stack of any kind, `best_only` seeks one best stack and not one a platform,
        `known_only` leaves out stacks that nothing speaks for.
        """
        self.problem = problem
        self.first_only = first_only
        self.best_only = best_only
        self.known_only = known_only
        self.budget = budget
        self.raw: list[tuple[int, int, tuple[tuple[str, int], ...], int]] = []  # level, order, chosen, cells
        self._covered: dict[int, int] = {}
        self._variables = problem.variables
        self._provider = problem.route.provider

    def run(self) -> tuple[Found, ...]:
        """Return for every platform the best stack, best level first; raises GaveUpError beyond the budget."""
        domains = dict(self.problem.domains)
        for blocker in self.problem.ignored:
            if blocker[0] == "offer" and blocker[1] in domains:
                domains[blocker[1]] = -1
        self._domains = self._narrowed(domains)
        if self.first_only and self.known_only:  # any order will do: few candidates first, features last as ever
            self._variables = tuple(sorted(self._variables, key=self._width))
        if all(domains[product] for product in self.problem.required):
            self._extend(0, [], self.problem.cells, 0, 0, 0)
        return self._assigned()

    def _width(self, product: str) -> tuple[bool, int]:
        domain = self._domains[product]
        return self.problem.facts.products[product].role == "feature", domain.bit_count() if domain >= 0 else 0

    def _narrowed(self, domains: dict[str, int]) -> dict[str, int]:
        """Drop candidates that no candidate of a required product with few of them admits."""
        for product in self.problem.required:
            left = domains[product]
            if not 0 < left.bit_count() <= _FEW or left < 0 or left >> len(self.problem.facts.elements(product)):
                continue
            numbers = [n for n in range(left.bit_length()) if left >> n & 1]
            for other, domain in domains.items():
                if other != product and domain > 0:
                    admitted = 0
                    for number in numbers:
                        admitted |= self.problem.allowed(product, number, other)
                    domains[other] = domain & admitted
        return domains

    def _extend(self, depth: int, chosen: list[tuple[str, int]], strong: int, weak: int, unknown: int, warned: int) -> None:
        if depth == len(self._variables):
            self._finish(chosen, strong, weak, unknown, warned)
            return
        product = self._variables[depth]
        for idx in self._candidates(product, chosen):
            if self.first_only and self.raw:
                return
            self.budget -= 1
            if self.budget < 0:
                raise GaveUpError("gave up: the search reached its limit; pin more products or a Python")
            if idx == ABSENT:
                self._extend(depth + 1, [*chosen, (product, idx)], strong, weak, unknown, warned)
                continue
            count = min(warned + self.problem.view.warnings(product, idx), _MOST_WARNINGS)
            if self._covered and not self._could_improve(strong, weak, unknown, count):
                continue
            levels = self.problem.levels(product, idx)
            usable = strong | weak
            s = strong & levels.strong
            w = usable & (levels.strong | levels.weak) & ~s
            u = (usable | unknown) & (levels.strong | levels.weak | levels.unknown) & ~s & ~w
            for other, number in chosen:
                if number == ABSENT:
                    continue
                pair = self.problem.pair(product, idx, other, number)
                live = ~pair.denied
                vague = pair.muddled | (pair.matters & ~pair.strong & ~pair.weak)
                faint = pair.matters & ~pair.strong
                u = (u | ((s | w) & vague)) & live
                w = (w | (s & faint)) & live & ~vague
                s = s & live & ~faint & ~vague
                if not s | w | u:
                    break
            if self.problem.facts.products[product].role == "feature":  # they come last: all who can speak for it are there
                present = [*((p, i) for p, i in chosen if i != ABSENT), (product, idx)]
                s, w, u = self._attached([(product, idx)], present, s, w, u)
            if self.known_only:
                u = 0
            if self._covered:
                s, w, u = self._open(s, STRONG, count), self._open(w, WEAK, count), self._open(u, UNKNOWN, count)
            if s | w | u:
                self._extend(depth + 1, [*chosen, (product, idx)], s, w, u, count)

    def _candidates(self, product: str, chosen: list[tuple[str, int]]) -> list[int]:
        domain = self._domains[product]
        found: list[int] = []
        if domain < 0:  # the absence is ignored: one build that fits everything stands for it
            return [JOKER, ABSENT] if product in self.problem.optional else [JOKER]
        for other, number in chosen:
            if number >= 0:
                domain &= self.problem.allowed(other, number, product)
        while domain:
            idx = domain.bit_length() - 1
            domain ^= 1 << idx
            found.append(idx)
        if product in self.problem.optional:
            found.append(ABSENT)
        return found

    def _could_improve(self, strong: int, weak: int, unknown: int, count: int) -> bool:
        return bool(
            self._open(strong, STRONG, count)
            or (weak and self._open(weak, WEAK, count))
            or (unknown and self._open(unknown, UNKNOWN, count))
        )

    def _open(self, cells: int, kind: int, count: int) -> int:
        """Return the platforms that have no answer yet as good as this one could become."""
        level = kind * (_MOST_WARNINGS + 1) + count
        for known, covered in self._covered.items():
            if known <= level:
                if self.best_only:
                    return 0
                cells &= ~covered
        return cells

    def _finish(self, chosen: list[tuple[str, int]], strong: int, weak: int, unknown: int, warned: int) -> None:
        present = [(p, i) for p, i in chosen if i != ABSENT]
        whole = self._closed(present)
        if not whole:
            return
        s, w, u = self._attached(present, present, strong & whole, weak & whole, unknown & whole)
        bad, faint = leaf_conflicts(self.problem, present)
        s, w, u = s & ~bad & ~faint, (w | (s & faint)) & ~bad, 0 if self.known_only else u & ~bad
        for kind, cells in ((STRONG, s), (WEAK, w), (UNKNOWN, u)):
            cells = self._open(cells, kind, warned)
            if cells:
                level = kind * (_MOST_WARNINGS + 1) + warned
                self._covered[level] = self._covered.get(level, 0) | cells
                self.raw.append((level, len(self.raw), tuple(present), cells))

    def _closed(self, present: list[tuple[str, int]]) -> int:
        """Return where everything is there that is needed, and nothing that no required product leads to."""
        reach = {product: -1 if product in self.problem.required else 0 for product in self._variables}
        members = dict(present)
        for _ in self.problem.optional:
            for product, idx in present:
                if idx >= 0 and reach[product]:
                    for to in self.problem.optional:
                        reach[to] |= reach[product] & self.problem.view.needed(product, idx, to)
        cells = self.problem.cells
        for product in self.problem.optional:
            cells &= reach[product] if product in members else ~reach[product]
        return cells

    def _attached(
        self, members: list[tuple[str, int]], present: list[tuple[str, int]], strong: int, weak: int, unknown: int
    ) -> tuple[int, int, int]:
        """Lower the level where one of some members is vouched for by nothing else that is present."""
        for product, idx in members:
            if product == self._provider or idx < 0 or len(present) == 1:
                continue
            if product == "glibc":  # platform tags speak of it; see Problem
                continue
            firm, faint = self.problem.vouched(product, idx, present)
            unknown |= (strong | weak) & ~firm & ~faint
            weak = (weak | strong & ~firm) & (firm | faint)
            strong &= firm
        return strong, weak, unknown

    def _assigned(self) -> tuple[Found, ...]:
        """Give every platform to the best of what was found for it."""
        taken = 0
        found = []
        for level, _, chosen, cells in sorted(self.raw):
            cells &= ~taken
            taken |= cells
            if cells:
                kind, warned = divmod(level, _MOST_WARNINGS + 1)
                found.append(Found(self.problem.device, self.problem.route, chosen, kind, warned, cells))
        return tuple(found)


class LeafRow(NamedTuple):
    """What one edge demands of a product that nobody pinned."""

    cells: int
    mask: int  # admitted elements, and above them the gaps between bounds
    level: int
    exact: bool  # it pins a version, so the product is in the stack
    listed: bool  # installers read it themselves
    bound: str  # what a command must say, since no metadata do; empty where they do


def leaf_rows(problem: Problem, present: list[tuple[str, int]]) -> dict[str, list[LeafRow]]:
    """Return what a stack's builds require of products that are known only through pins, waived pins left out."""
    names = {product for product, _ in present}
    waived = {
        (edge, number)
        for product, mask, edge, of_mask in problem.facts.waivers
        if any(p == product and i >= 0 and mask >> i & 1 for p, i in present)
        for number in range(of_mask.bit_length())
        if of_mask >> number & 1
    }
    found: dict[str, list[LeafRow]] = {}
    for product, idx in present:
        if idx < 0 or idx >= len(problem.facts.elements(product)):
            continue
        for to, edge, row in _demands(problem, product, idx):
            if to not in names and (edge, idx) not in waived and ("claim", product, to) not in problem.ignored:
                found.setdefault(to, []).append(row)
    return found


def _demands(problem: Problem, product: str, idx: int) -> list[tuple[str, int, LeafRow]]:
    """Return all that an element demands of leaves, with the edges that say it; the same for every question of a view."""
    kept = problem.view.demands.get((product, idx))
    if isinstance(kept, list):
        return kept
    found: list[tuple[str, int, LeafRow]] = []
    for to in problem.facts.edges_from(product):
        if problem.facts.products[to].role != "leaf":
            continue
        known = len(problem.facts.elements(to))
        for edge in problem.view.says(product, idx, to):
            if edge.kind == "verified" or edge.open:
                continue
            mask = ((1 << known) - 1 & ~edge.to_mask if edge.kind == "breaks" else edge.to_mask) | edge.unlisted << known
            exact = edge.kind == "needs" and bool(edge.vouches) and "==" in edge.spec
            bound = edge.spec if edge.kind == "constrains" else ""
            found.append((to, edge.id, LeafRow(edge.denies, mask, edge.level, exact, edge.listed, bound)))
    problem.view.demands[product, idx] = found
    return found


def leaf_conflicts(problem: Problem, present: list[tuple[str, int]]) -> tuple[int, int]:
    """Return where requirements on what nobody pinned exclude each other, and where they are only inferred."""
    if problem.ignored or any(i >= len(problem.facts.elements(p)) for p, i in present):
        return _conflicts(problem, present)
    key = tuple(present)
    kept = problem.view.conflicts
    if key not in kept:
        if len(kept) >= _MOST_KEPT:
            kept.clear()
        kept[key] = _conflicts(problem, present)
    return kept[key]


def _conflicts(problem: Problem, present: list[tuple[str, int]]) -> tuple[int, int]:
    bad = faint = 0
    for leaf, rows in leaf_rows(problem, present).items():
        for cells, mask, weak in _split(rows):
            bad |= cells & ~problem.view.somewhere(leaf, mask, problem.quiet(leaf))
            faint |= cells if weak else 0
    return bad, faint


def _split(rows: list[LeafRow]) -> list[tuple[int, int, bool]]:
    """Return disjoint platform bits with what is admitted there, and whether an inferred pin decides it."""
    regions: list[tuple[int, int, bool]] = []
    seen = 0
    for cells, mask, level, exact, _, _ in rows:
        weak = exact and level == WEAK
        cut: list[tuple[int, int, bool]] = []
        for known, admitted, was_weak in regions:
            if known & cells:
                cut.append((known & cells, admitted & mask, was_weak or weak))
            if known & ~cells:
                cut.append((known & ~cells, admitted, was_weak))
        if cells & ~seen:
            cut.append((cells & ~seen, mask, weak))
        seen |= cells
        regions = cut
    return regions
