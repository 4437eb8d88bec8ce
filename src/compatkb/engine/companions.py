"""Companion packages, added to a stack without being asked for: the builds that cost it nothing."""

from collections.abc import Iterable

from compatkb.core.vocabulary import Role
from compatkb.engine.problem import Member, Problem
from compatkb.engine.relations import UNRELATED
from compatkb.engine.runtime_pins import runtime_conflicts
from compatkb.engine.search import Found
from compatkb.store.records import UNBUILT, Element, PlatformSet, newest_first


def companion_products(problem: Problem, chosen: list[Member]) -> list[str]:
    """Return the companions that nobody asked for."""
    names = {product for product, _ in chosen}
    return [product for product in problem.facts.companions if product not in names]


def companions_by_platform(
    assignment: Found, chosen: list[Member], beside: list[Member], product: str
) -> list[tuple[PlatformSet, Element]]:
    """Return the best companion for each platform: builds that were seen first, then what is surer, then the newest.

    It depends on the package that it goes with, the first one that speaks of it, and on nothing else of the stack, as long as
    the others admit it: it is as well known as that one's own wheels and adds no warning that this one lacks.
    """
    problem = assignment.problem
    warned, sizes = problem.context.candidates.faults, problem.facts.sizes
    domain = problem.candidates(product)
    speaking = [(other, number, table) for other, number in chosen if (table := problem.table(other, product))]
    for _, number, table in speaking:
        domain &= table.allowed(number, problem.platforms)
    packages = [(other, number) for other, number, _ in speaking if problem.facts.products[other].role not in UNBUILT]
    if not packages:
        return []
    (lead, number), doubted = packages[0], runtime_conflicts(problem, (*chosen, *beside))[1]
    most, own = warned(lead, number) if number < sizes[lead] else 0, problem.support(lead, number)
    known = problem.availability.support(lead, number, frozenset()) if number < sizes[lead] else own
    sure, unsure, guessed = list[_Fitting](), list[_Fitting](), list[_Fitting]()
    left = assignment.platforms  # where no sure one was found
    for idx in newest_first(domain):
        if not left:
            break
        if warned(product, idx) > most:
            continue
        certain, inferred = _fitting(problem, chosen, beside, (product, idx), assignment.platforms)
        if not certain | inferred:
            continue
        conflicting, doubtful = runtime_conflicts(problem, (*chosen, *beside, (product, idx)))
        inferred = (inferred | (certain & doubtful & ~doubted)) & ~conflicting & ~known.certain
        certain &= ~conflicting & ~(doubtful & ~doubted)
        presumed = problem.context.candidates.presumed(product, idx)
        for tier, fit in (
            (sure, certain & ~presumed),
            (unsure, inferred & ~presumed),
            (guessed, (certain | inferred) & presumed),
        ):
            tier.append((fit, problem.facts.elements(product)[idx]))
    return _first_of((*sure, *unsure, *guessed), assignment.platforms)


_Fitting = tuple[PlatformSet, Element]


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
