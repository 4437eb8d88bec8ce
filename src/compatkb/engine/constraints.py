"""Constraints: groups of facts that can exclude stacks and can be waived as a whole, so that conflicts are shown minimal.

("offer", P) P offers no fitting build; ("platform", P) its builds lack wheels for a platform; ("claim", P, Q) what the
two say of each other, where Q can be a dimension of the platform.
"""

from collections.abc import Iterable

from compatkb.core.vocabulary import Role
from compatkb.engine.context import Context

Constraint = tuple[str, ...]
EXPLAINING = ("os", "python", "arch")
"""The dimensions of the platform, what explains best first."""


def is_waived(constraints: frozenset[Constraint], one: str, other: str) -> bool:
    """Return whether what two products say of each other is among some constraints, whichever of them says it."""
    return ("claim", one, other) in constraints or ("claim", other, one) in constraints


def platform_parts(constraints: frozenset[Constraint], product: str) -> frozenset[str]:
    """Return what of a product's platforms is among some constraints: dimensions, and `wheels`."""
    wheels = ["wheels"] if ("platform", product) in constraints else []
    return frozenset([*wheels, *(dimension for dimension in EXPLAINING if ("claim", product, dimension) in constraints)])


def constraint_groups(
    context: Context, variables: tuple[str, ...], provider: str, unoffered: Iterable[str], pinned: frozenset[str]
) -> list[list[Constraint]]:
    """Return the constraints that can matter among some products, by kind; what explains best comes first.

    That is what the `provider` of the device says; then that products are `unoffered`, having no candidate. What names
    `pinned` products explains better than what does not.
    """
    roles, said_of = context.facts.products, context.facts.targets_of
    claims: list[Constraint] = []
    for n, one in enumerate(variables):
        for other in variables[n + 1 :]:
            if context.speaks(other, one):
                claims.append(("claim", other, one))
            elif context.speaks(one, other):
                claims.append(("claim", one, other))
    platform = ((p, dimension) for p in variables for dimension in EXPLAINING)
    claims += [("claim", *pair) for pair in platform if pair[1] in said_of(pair[0]) or pair[0] in said_of(pair[1])]
    claims.sort(key=lambda constraint: -len(pinned.intersection(constraint)))
    said = {frozenset(claim[1:]) for claim in claims}  # what two products say of each other is one constraint, either way
    runtimes: list[Constraint] = []
    for pair in context.runtime_claims(variables):
        if frozenset(pair) not in said:
            said.add(frozenset(pair))
            runtimes.append(("claim", *pair))
    brought = dict.fromkeys(to for _, of, to in runtimes if roles[to].role == Role.LEAF)
    runtimes += [("platform", runtime) for runtime in brought]
    built = (product for product in variables if roles[product].role not in (Role.DIMENSION, Role.FEATURE))
    return [
        [claim for claim in claims if claim[1] == provider],
        [("offer", product) for product in unoffered],
        [claim for claim in claims if claim[1] != provider],
        [("platform", product) for product in built],
        runtimes,
    ]
