"""Searches and stacks, from a finder where the facts have one: who asks many questions lets them share their work."""

from compatkb.engine.problem import Problem
from compatkb.engine.search import Search
from compatkb.engine.stacks import SHOWN, Stack, stacks_of
from compatkb.records import Found

_MOST_KEPT = 4_096


def search(
    problem: Problem,
    *,
    first_only: bool = False,
    best_only: bool = False,
    known_only: bool = False,
    unranked: bool = False,
) -> tuple[Found, ...]:
    """Return what a search finds; the flags are those of `Search`."""
    finder = problem.facts.finder
    if finder is None:
        made = Search(problem, first_only=first_only, best_only=best_only, known_only=known_only, unranked=unranked)
        return made.run()
    found: tuple[Found, ...] = finder.search(problem, first_only=first_only, best_only=best_only, known_only=known_only)
    return found


def shared_stacks(problem: Problem, found: Found) -> list[Stack]:
    """Return what `stacks_of` makes of a hit; questions about other versions often come to the same one."""
    finder = problem.facts.finder
    if finder is not None:
        return list(finder.stacks(problem, found))
    pins = problem.request.pins
    if any(pin.extra for pin in pins):
        return stacks_of(problem, found)
    machine = tuple((pin.product, pin.mask) for pin in pins if pin.product in SHOWN)
    hit = (found.chosen, found.route.id, found.level, found.warnings, found.cells)
    key = (hit, problem.required, problem.variables, machine, problem.frame.number)
    kept = problem.view.stacks
    stacks = kept.get(key)
    if not isinstance(stacks, tuple):
        if len(kept) >= _MOST_KEPT:
            kept.clear()
        stacks = kept[key] = tuple(stacks_of(problem, found))
    return list(stacks)
