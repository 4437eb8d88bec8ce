"""Narrowing before the search: drops candidates without a platform, and those that no candidate of another product admits."""

from collections.abc import Mapping
from functools import reduce
from operator import or_

from compatkb.core.vocabulary import Certainty, Role
from compatkb.engine.problem import Problem
from compatkb.store.records import ElementSet, PlatformSet

_INSTALLED = (Role.PACKAGE, Role.COMPANION, Role.LEAF)


def narrowed(problem: Problem, worst: Certainty) -> tuple[Mapping[str, ElementSet], PlatformSet]:
    """Return the candidates of each product that are left, and the platforms; none at all where there is no stack.

    If stacks are wanted whose support is no worse than inferred, candidates go too that demand support which nothing gives,
    and those that nothing speaks for as well as is wanted.
    """
    if problem.is_narrowed:
        return problem.domains, problem.platforms
    domains = dict(problem.domains)
    listed = {product for product, domain in domains.items() if is_listed(problem, product, domain)}
    known_only = worst < Certainty.UNKNOWN
    platforms = _place(problem, domains, listed, known_only=known_only)
    if not platforms or not _narrow(problem, domains, listed, platforms, worst):
        return {}, 0
    return (domains, platforms) if all(domains[product] for product in listed.intersection(problem.required)) else ({}, 0)


def is_listed(problem: Problem, product: str, domain: ElementSet) -> bool:
    """Return whether all candidates of a product are in the data: of others nothing is known."""
    return product not in problem.placeholders and not domain >> problem.facts.sizes[product]


def _place(problem: Problem, domains: dict[str, ElementSet], listed: set[str], *, known_only: bool) -> PlatformSet:
    """Drop candidates until each can be where all required products can be; return these platforms."""
    platforms, required = problem.platforms, [product for product in problem.required if product in listed]
    placed_on: dict[str, PlatformSet] = {}
    while left := [product for product in required if placed_on.get(product) != platforms]:
        for product in left:
            domains[product], anywhere = problem.placed(product, domains[product], platforms)
            platforms &= anywhere
            placed_on[product] = platforms
    for product in listed.difference(problem.required) if platforms else ():
        for other in required:  # who is asked first leaves few of whom to look where they can be
            if table := problem.partners[other].get(product):
                domains[product] = table.allowed_by(domains[other], domains[product], platforms, known_only=known_only)
        domains[product], _ = problem.placed(product, domains[product], platforms)
    return platforms


def _narrow(
    problem: Problem, domains: dict[str, ElementSet], listed: set[str], platforms: PlatformSet, worst: Certainty
) -> bool:
    """Drop candidates until nothing changes; return whether every required product has one left."""
    known_only = worst < Certainty.UNKNOWN
    queue = sorted(problem.required, key=lambda one: -domains[one].bit_count())  # few candidates rule out most at least cost
    while queue:
        product = queue.pop()
        if not domains[product] and product not in problem.placeholders:
            return False
        if product not in listed:
            continue
        for other, table in problem.partners[product].items():
            left = table.allowed_by(domains[product], domains[other], platforms, known_only=known_only)
            if left != domains[other] and other not in problem.placeholders:
                domains[other] = left
                if other in problem.required and other not in queue:
                    queue.append(other)
        if not queue:
            queue += _needing_dropped(problem, domains, listed, platforms)
            queue += _unvouched_dropped(problem, domains, listed, platforms, worst) if known_only and not queue else []
    return all(domains[product] or product in problem.placeholders for product in problem.required)


def _needing_dropped(problem: Problem, domains: dict[str, ElementSet], listed: set[str], platforms: PlatformSet) -> list[str]:
    """Drop candidates of required products that need an optional one of which nothing fits; return those that had such."""
    dropped = []
    for needed in [product for product in problem.optional if product in listed]:
        for product in [product for product in problem.required if product in listed]:
            needing = domains[product] & problem.context.needing(product, needed, platforms)
            if needing:
                table = problem.partners[needed].get(product)
                fit = table.allowed_by(domains[needed], needing, platforms) if table else needing if domains[needed] else 0
                if needing != fit:
                    domains[product] &= ~needing | fit
                    dropped.append(product)
    return dropped


def _unvouched_dropped(
    problem: Problem, domains: dict[str, ElementSet], listed: set[str], platforms: PlatformSet, worst: Certainty
) -> list[str]:
    """Drop candidates that no candidate of another product speaks for as well as is wanted; return those that had such."""
    dropped = []
    for product in (product for product in sorted(listed) if problem.facts.products[product].role in _INSTALLED):
        witnesses = [other for other in problem.partners[product] if problem.is_witness(other, product)]
        if product == problem.route.provider or not listed.issuperset(witnesses):
            continue
        tables = problem.partners[product]
        left = reduce(or_, (tables[other].supported_beside(domains[other], platforms, worst) for other in witnesses), 0)
        if domains[product] & ~left:
            domains[product] &= left
            dropped += [product] if product in problem.required else []
    return dropped
