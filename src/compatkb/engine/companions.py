"""What comes along with a stack without having been asked for: the newest builds that cost it nothing."""

from compatkb.engine.leaves import demands_of, leaf_conflicts
from compatkb.engine.problem import Problem
from compatkb.records import STRONG, Element, Found

Member = tuple[str, int]
"""A product and the number of its element."""


def companions(problem: Problem, chosen: list[Member]) -> list[str]:
    """Return the companions that nobody asked for."""
    names = {product for product, _ in chosen}
    return [p.id for p in problem.facts.products.values() if p.role == "companion" and p.id not in names]


def companion_cells(
    problem: Problem, chosen: list[Member], beside: list[Member], product: str, found: Found
) -> list[tuple[int, Element]]:
    """Return the newest companion for each platform that is known as well as the stack itself and adds no warning."""
    facts, view, is_firm = problem.facts, problem.view, found.level == STRONG
    left, domain = found.cells, problem.candidates(product)
    speaking = [(other, number) for other, number in chosen if view.between(other, product)]
    for other, number in speaking:
        domain &= problem.allowed(other, number, product)
    values: list[tuple[int, Element]] = []
    while domain and left:
        idx = domain.bit_length() - 1
        domain ^= 1 << idx
        if view.warnings(product, idx) > found.warnings:
            continue
        levels = problem.levels(product, idx)
        fit = left & (levels.strong if is_firm else levels.strong | levels.weak)
        vouched = 0
        for other, number in speaking:
            pair = problem.pair(product, idx, other, number)
            good = pair.strong if is_firm else pair.strong | pair.weak
            vouched |= good if facts.products[other].role != "feature" else 0
            fit &= ~pair.denied & ~pair.muddled & (~pair.matters | good)
        for other, number in beside if fit else ():
            fit &= ~problem.pair(product, idx, other, number).denied
        fit &= vouched
        if fit and demands_of(problem, product, idx):  # else it changes nothing of what builds demand
            bad, faint = leaf_conflicts(problem, [*chosen, *beside, (product, idx)])
            fit &= ~bad & (~faint if is_firm else -1)
        if fit:
            values.append((fit, facts.elements(product)[idx]))
            left &= ~fit
    return values
