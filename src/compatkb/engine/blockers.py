"""The groups of facts that can exclude stacks of some products, those that explain best first; see `problem`."""

from compatkb.engine.ignored import Blocker, ignored_of
from compatkb.engine.problem import Problem
from compatkb.snapshot.read import Snapshot

EXPLAINING = ("os", "python", "arch")
"""The dimensions of the platform, what explains best first."""


def groups_of(problem: Problem) -> list[list[Blocker]]:
    """Return the groups of facts that can matter, by kind; those that explain best first."""
    matters = matters_of(problem)
    offers: list[Blocker] = [("offer", product) for product in problem.variables if not problem.domains[product]]
    held = {pin.product for pin in problem.request.pins}
    told = sorted(matters.told, key=lambda blocker: -len(held.intersection(blocker)))  # what the user named explains best
    return [told, offers, matters.platforms, matters.leaves]


class Matters:
    """What some products can be blocked by, the same for every question about them."""

    def __init__(self, facts: Snapshot, variables: tuple[str, ...]) -> None:
        roles = facts.products
        told: list[Blocker] = []
        for n, one in enumerate(variables):
            for other in variables[n + 1 :]:
                if facts.edges(other, one):
                    told.append(("claim", other, one))
                elif facts.edges(one, other):
                    told.append(("claim", one, other))
        self.led = {product: [blocker for blocker in told if blocker[1] == product] for product in variables}  # by who says it
        told += [("claim", p, dimension) for p in variables for dimension in EXPLAINING if facts.edges(p, dimension)]
        self.told = told  # claims about each other and platforms
        self.explanations: list[list[Blocker]] = []  # what excluded every stack together, the last time first
        self.platforms: list[Blocker] = [("platform", p) for p in variables if roles[p].role not in ("dimension", "feature")]
        self.leaves: list[Blocker] = [
            ("claim", product, to)
            for product in variables
            for to in facts.spoken_of(product)
            if to not in variables and roles[to].role == "leaf"
        ]
        far = dict.fromkeys(blocker[2] for blocker in self.leaves)
        self.far = frozenset(far)  # the leaves that are none of the products
        self.leaves += [("claim", to, d) for to in far for d in EXPLAINING if facts.edges(to, d)]
        self.kept = tuple(p for p in variables if roles[p].role in ("dimension", "feature"))  # what every trial is about
        self.ignored = ignored_of(facts, (*told, *self.platforms, *self.leaves))


def matters_of(problem: Problem) -> Matters:
    """Return what the products of a question can be blocked by."""
    kept = problem.view.kept.blockers
    found = kept.get(problem.variables)
    if not isinstance(found, Matters):
        found = kept[problem.variables] = Matters(problem.facts, problem.variables)
    return found
