"""Companion packages, added to a stack without being asked for: the builds that cost it nothing."""

from collections.abc import Iterable
from functools import reduce
from itertools import chain
from operator import or_

from compatkb.core.vocabulary import Role
from compatkb.engine.problem import Member, Problem
from compatkb.engine.relations import UNRELATED
from compatkb.engine.runtime_pins import inferred_pins, runtime_conflicts
from compatkb.engine.search import Found
from compatkb.store.records import UNBUILT, Element, PlatformSet, newest_first


def companion_products(problem: Problem, chosen: list[Member]) -> list[str]:
    """Return the companions that nobody asked for."""
    names = {product for product, _ in chosen}
    return [product for product in problem.facts.companions if product not in names]


def companions_by_platform(
    assignment: Found, chosen: list[Member], beside: list[Member], product: str
) -> list[tuple[PlatformSet, Element]]:
    """Return the best companion for each platform: builds that were seen first, what is made for the package, then the newest.

    It depends on the package that it goes with, the first one that speaks of it, and on nothing else of the stack, as long as
    the others admit it: it is as well known as that one's own wheels, which may be presumed as well, and adds no warning that
    this one lacks. What came out for that very release is before what came out for another and admits it, and surer.
    """
    problem = assignment.problem
    warned, sizes = problem.context.candidates.faults, problem.facts.sizes
    domain = problem.candidates(product)
    speaking = [(other, number) for other, number in chosen if problem.table(other, product)]
    domain &= reduce(or_, (problem.named(other, number, product) for other, number in speaking), 0)
    packages = [(other, number) for other, number in speaking if problem.facts.products[other].role not in UNBUILT]
    if not packages:
        return []
    (lead, number), doubted = packages[0], inferred_pins(problem, (*chosen, *beside))
    most, own = warned(lead, number) if number < sizes[lead] else 0, problem.support(lead, number)
    known = problem.availability.support(lead, number, frozenset()) if number < sizes[lead] else own
    presumed_lead = problem.context.candidates.presumed(lead, number) if number < sizes[lead] else 0
    made = problem.made_for(product, lead, number) if number < sizes[lead] else 0
    tiers = [list[_Fitting]() for _ in range(_TIERS)]
    for idx in newest_first(domain):
        if warned(product, idx) > most:
            continue
        certain, inferred = _fitting(problem, chosen, beside, (product, idx), assignment.platforms)
        if not certain | inferred:
            continue
        members = (*chosen, *beside, (product, idx))
        conflicting, doubtful = runtime_conflicts(problem, members), inferred_pins(problem, members) & ~doubted
        inferred = (inferred | (certain & doubtful)) & ~conflicting & ~known.certain
        certain &= ~conflicting & ~doubtful
        presumed = problem.context.candidates.presumed(product, idx) & ~presumed_lead
        later = 0 if made >> idx & 1 else 1
        for tier, fit in (
            (2 * later, certain & ~presumed),
            (2 * later + 1, inferred & ~presumed),
            (_TIERS - 2 + later, (certain | inferred) & presumed),
        ):
            tiers[tier].append((fit, problem.facts.elements(product)[idx]))
    return _first_of(chain.from_iterable(tiers), assignment.platforms)


_Fitting = tuple[PlatformSet, Element]
_TIERS = 6
"""Seen and made for the package, for certain and by inference; seen and made for others, likewise; presumed, likewise."""


def _first_of(fitting: Iterable[_Fitting], left: PlatformSet) -> list[_Fitting]:
    """Return each platform with the first element that fits there."""
    values: list[_Fitting] = []
    for where, element in fitting:
        if where & left:
            values.append((where & left, element))
            left &= ~where
    return values


def _fitting(
    problem: Problem, chosen: list[Member], beside: list[Member], member: Member, platforms: PlatformSet
) -> tuple[PlatformSet, PlatformSet]:
    """Return where a companion goes with the stack: for certain, and by inference."""
    support, facts = problem.support(*member), problem.facts
    certain, inferred, vouched_for, vouched = platforms & support.certain, platforms & support.inferred, 0, 0
    for other, number in chosen:
        relation = problem.relation(*member, other, number)
        if relation is UNRELATED:
            continue
        good = relation.certain | relation.inferred
        if facts.products[other].role != Role.FEATURE:
            vouched_for |= relation.certain
            vouched |= good
        admitted = ~relation.denied & ~relation.disputed & (~relation.required | good)
        doubtful = relation.required & ~relation.certain
        inferred = (inferred | (certain & doubtful)) & admitted
        certain &= admitted & ~doubtful
    for other, number in beside if certain | inferred else ():
        denied = problem.relation(*member, other, number).denied
        certain, inferred = certain & ~denied, inferred & ~denied
    return certain & vouched_for, (inferred | (certain & ~vouched_for)) & vouched
