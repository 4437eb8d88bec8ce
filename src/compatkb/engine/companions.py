"""Companion packages, added to a stack without being asked for: the newest builds that cost it nothing."""

from compatkb.core.vocabulary import Certainty, Role
from compatkb.engine.problem import Member, Problem
from compatkb.engine.runtime_pins import runtime_conflicts
from compatkb.engine.search import Found
from compatkb.store.records import Element, PlatformSet, newest_first


def companion_products(problem: Problem, chosen: list[Member]) -> list[str]:
    """Return the companions that nobody asked for."""
    names = {product for product, _ in chosen}
    return [product for product in problem.facts.companions if product not in names]


def companions_by_platform(
    assignment: Found, chosen: list[Member], beside: list[Member], product: str
) -> list[tuple[PlatformSet, Element]]:
    """Return the newest companion for each platform that is known as well as the stack itself and adds no warning."""
    problem, is_certain = assignment.problem, assignment.quality.level == Certainty.CERTAIN
    facts = problem.facts
    left, domain = assignment.platforms, problem.candidates(product)
    speaking = [(other, number, table) for other, number in chosen if (table := problem.table(other, product))]
    for _, number, table in speaking:
        domain &= table.allowed(number, problem.platforms)
    values: list[tuple[PlatformSet, Element]] = []
    for idx in newest_first(domain):
        if not left:
            break
        if problem.context.candidates.warnings(product, idx) > assignment.quality.warnings:
            continue
        support = problem.support(product, idx)
        fit = left & (support.certain if is_certain else support.certain | support.inferred)
        vouched = 0
        for other, number, _ in speaking:
            relation = problem.relation(product, idx, other, number)
            good = relation.certain if is_certain else relation.certain | relation.inferred
            vouched |= good if facts.products[other].role != Role.FEATURE else 0
            fit &= ~relation.denied & ~relation.disputed & (~relation.required | good)
        fit &= vouched
        for other, number in beside if fit else ():
            fit &= ~problem.relation(product, idx, other, number).denied
        if fit:
            conflicting, doubtful = runtime_conflicts(problem, (*chosen, *beside, (product, idx)))
            fit &= ~conflicting & (~doubtful if is_certain else facts.all_platforms)
        if fit:
            values.append((fit, facts.elements(product)[idx]))
            left &= ~fit
    return values
