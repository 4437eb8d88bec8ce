"""Products that nobody asked for: where those that are there need them, and where one that is needed stays away."""

from collections.abc import Sequence

from compatkb.engine.problem import Problem
from compatkb.engine.steps import Step

Member = tuple[str, int]
"""A product and the number of its element."""


def missed(problem: Problem, product: str, chosen: Sequence[Member]) -> int:
    """Return where a chosen product that is there in any case needs one that stays away."""
    cells = 0
    for other, number in chosen:
        if number >= 0 and other in problem.required:
            cells |= problem.view.needed(other, number, product)
    return cells


def may_be_needed(
    problem: Problem, steps: Sequence[Step], step: Step, chosen: Sequence[Member], domains: Sequence[int]
) -> bool:
    """Return whether something chosen needs the product of a step, or something that may still be chosen."""
    needs = problem.view.needs
    for n, other in enumerate(steps):
        if n != step.number and (needing := needs(other.product).get(step.product)):
            if n > step.number:
                if domains[n] > 0 and needing & domains[n]:
                    return True
            elif chosen[n][1] >= 0 and needing >> chosen[n][1] & 1:
                return True
    return False


def closed(problem: Problem, variables: Sequence[str], present: Sequence[Member]) -> int:
    """Return where everything is there that is needed, and nothing that no required product leads to."""
    if not problem.optional:
        return problem.cells
    reach = {product: -1 if product in problem.required else 0 for product in variables}
    members = dict(present)
    for _ in problem.optional:
        for product, idx in present:
            if idx >= 0 and reach[product]:
                for to in problem.optional:
                    reach[to] |= reach[product] & problem.view.needed(product, idx, to)
    cells = problem.cells
    for product in problem.optional:
        cells &= reach[product] if product in members else ~reach[product]
    return cells
