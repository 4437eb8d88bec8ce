"""What builds demand of products that nobody pinned and that are known only through such demands."""

from typing import NamedTuple

from compatkb.engine.problem import Problem
from compatkb.engine.worlds import Levels
from compatkb.records import WEAK

_MOST_KEPT = 50_000


class LeafRow(NamedTuple):
    """What one edge demands of a product that nobody pinned."""

    cells: int
    mask: int  # admitted elements, and above them the gaps between bounds
    level: int
    exact: bool  # it pins a version, so the product is in the stack
    listed: bool  # installers read it themselves
    bound: str  # what a command must say, since no metadata do; empty where they do


def leaf_rows(problem: Problem, present: list[tuple[str, int]], *, waivable: bool = True) -> dict[str, list[LeafRow]]:
    """Return what a stack's builds require of products that are known only through pins, waived pins left out.

    Those that something else could waive are left out too where they are not `waivable`.
    """
    names = dict(present)
    waived: dict[int, int] = {}  # edges, with the elements for which they do not hold
    for product, mask, edge, of_mask in problem.facts.waivers:
        idx = names.get(product, -1)
        if not waivable or (idx >= 0 and mask >> idx & 1):
            waived[edge] = waived.get(edge, 0) | of_mask
    found: dict[str, list[LeafRow]] = {}
    for product, idx in present:
        if idx < 0 or idx >= problem.facts.sizes[product]:
            continue
        for to, edge, row in demands_of(problem, product, idx):
            if to in names or to in problem.pinned_leaves or ("claim", product, to) in problem.ignored.leaves:
                continue
            if not waived.get(edge, 0) >> idx & 1:
                found.setdefault(to, []).append(row)
    return found


def demands_of(problem: Problem, product: str, idx: int) -> list[tuple[str, int, LeafRow]]:
    """Return all that an element demands of leaves, with the edges that say it; the same for every question of a view."""
    kept = problem.view.demands.get((product, idx))
    if isinstance(kept, list):
        return kept
    found: list[tuple[str, int, LeafRow]] = []
    for to in problem.facts.spoken_of(product):
        if problem.facts.products[to].role != "leaf":
            continue
        known = problem.facts.sizes[to]
        for edge in problem.facts.edges_of(product, idx, to):
            if edge.kind == "verified" or edge.open or not problem.view.holds(edge) or problem.view.in_part(edge):
                continue
            mask = ((1 << known) - 1 & ~edge.to_mask if edge.kind == "breaks" else edge.to_mask) | edge.unlisted << known
            exact = edge.kind == "needs" and bool(edge.vouches) and "==" in edge.spec
            bound = edge.spec if edge.kind == "constrains" else ""
            found.append((to, edge.id, LeafRow(edge.denies, mask, edge.level, exact, edge.listed, bound)))
    problem.view.demands[product, idx] = found
    return found


def leaf_conflicts(problem: Problem, present: list[tuple[str, int]]) -> tuple[int, int]:
    """Return where requirements on what nobody pinned exclude each other, and where they are only inferred."""
    if problem.leafless:
        return 0, 0
    if any(i >= problem.facts.sizes[p] for p, i in present):
        return _conflicts(problem, present)
    key = (tuple(present), problem.leaf_number)
    kept = problem.view.conflicts
    if key not in kept:
        if len(kept) >= _MOST_KEPT:
            kept.clear()
        kept[key] = _conflicts(problem, present)
    return kept[key]


def own_conflicts(problem: Problem, product: str, idx: int) -> int:
    """Return where an element's own requirements exclude each other, whoever else is there: no search need go on then."""
    if problem.leafless or not 0 <= idx < problem.facts.sizes[product]:
        return 0
    key = (product, idx, problem.leaf_number, problem.pinned_leaves)
    kept = problem.view.own_conflicts
    found = kept.get(key)
    if found is None:
        if len(kept) >= _MOST_KEPT:
            kept.clear()
        found = kept[key] = _conflicts(problem, [(product, idx)], waivable=False)[0]
    return found


def own_levels(problem: Problem, product: str) -> dict[int, Levels]:
    """Return what is kept of the platforms of elements, without those on which an element excludes itself."""
    key = (problem.frame, product, problem.waived(product), problem.leaf_number, problem.pinned_leaves)
    return problem.view.own_levels.setdefault(key, {})


def conflicting(problem: Problem, present: list[tuple[str, int]], cells: int) -> set[str]:
    """Return the leaves on which requirements exclude each other on some of these platforms."""
    rows = leaf_rows(problem, present)
    return {leaf for leaf in rows if _conflicts_on(problem, leaf, rows[leaf])[0] & cells}


def _conflicts(problem: Problem, present: list[tuple[str, int]], *, waivable: bool = True) -> tuple[int, int]:
    bad = faint = 0
    for leaf, rows in leaf_rows(problem, present, waivable=waivable).items():
        more, vague = _conflicts_on(problem, leaf, rows)
        bad, faint = bad | more, faint | vague
    return bad, faint


def _conflicts_on(problem: Problem, leaf: str, rows: list[LeafRow]) -> tuple[int, int]:
    bad = faint = 0
    somewhere, waived = problem.view.worlds.somewhere, problem.waived(leaf)
    if len(rows) == 1:  # as mostly
        (row,) = rows
        return row.cells & ~somewhere(leaf, row.mask, waived), row.cells if row.exact and row.level == WEAK else 0
    for cells, mask, weak in demanded(rows):
        bad |= cells & ~somewhere(leaf, mask, waived)
        faint |= cells if weak else 0
    return bad, faint


def demanded(rows: list[LeafRow]) -> list[tuple[int, int, bool]]:
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
