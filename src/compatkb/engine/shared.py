"""Searches and stacks, from a finder where the facts have one: who asks many questions lets them share their work."""

from compatkb.engine.problem import Problem
from compatkb.engine.search import Search
from compatkb.engine.stacks import Stack, stacks_of
from compatkb.records import Found


def search(
    problem: Problem, *, first_only: bool = False, best_only: bool = False, known_only: bool = False
) -> tuple[Found, ...]:
    """Return what a search finds; the flags are those of `Search`."""
    finder = problem.facts.finder
    if finder is None:
        return Search(problem, first_only=first_only, best_only=best_only, known_only=known_only).run()
    found: tuple[Found, ...] = finder.search(problem, first_only=first_only, best_only=best_only, known_only=known_only)
    return found


def shared_stacks(problem: Problem, found: Found) -> list[Stack]:
    """Return what `stacks_of` makes of a hit."""
    finder = problem.facts.finder
    return stacks_of(problem, found) if finder is None else finder.stacks(problem, found)
