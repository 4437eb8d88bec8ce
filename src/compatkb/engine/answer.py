"""Answers: the best stacks for a request; or why there is none, and what is nearest."""

from collections.abc import Callable
from typing import NamedTuple

from compatkb.engine.budget import Budget
from compatkb.engine.causes import Cause, causes_of
from compatkb.engine.nearest import Near, Told, nearest
from compatkb.engine.problem import Problem, routes_of
from compatkb.engine.shared import search, shared_stacks
from compatkb.engine.stacks import Stack
from compatkb.engine.view import kept_of
from compatkb.records import UNKNOWN, Request
from compatkb.snapshot.read import Snapshot

__all__ = ["Answer", "Near", "best_stacks", "is_possible", "nearest", "resolve", "routes_of"]


class Answer(NamedTuple):
    """What compatkb says to a request; `stacks` best first."""

    request: Request
    verdict: str
    stacks: tuple[Stack, ...]
    causes: tuple[Cause, ...]
    nearest: tuple[Near, ...]


def resolve(facts: Snapshot, request: Request, expired: Callable[[], bool] | None = None, *, near: bool = True) -> Answer:
    """Return the answer, without what is near unless that is wanted too.

    Raises GaveUpError when the search exceeds its budget, or when `expired` says so on the way.
    """
    kept = kept_of(facts)
    kept.budget, kept.questions = Budget(expired=expired), kept.questions + 1
    stacks = best_stacks(facts, request)
    if stacks and stacks[0].level < UNKNOWN:
        return Answer(request, stacks[0].verdict, stacks, (), ())
    causes, told = _causes(facts, request) if not stacks else ([], {})
    settled = bool(causes) and all(cause.certain for cause in causes)
    verdict = "unknown" if stacks or not settled else "does-not-work"
    if not stacks and not causes:
        verdict = "does-not-work"  # the pins on the platform exclude each other
    return Answer(request, verdict, stacks, tuple(causes), tuple(nearest(facts, request, told)) if near else ())


def _causes(facts: Snapshot, request: Request) -> tuple[list[Cause], Told]:
    """Return the causes of all devices and routes, and those of each.

    What blocks several is said once, and is as certain as all of them.
    """
    causes: list[Cause] = []
    told: dict[tuple[str, str], tuple[Cause, ...]] = {}
    for device, route in routes_of(facts, request):
        known = tuple(cause.blocker for cause in causes if cause.device == device)
        told[device, route.id] = causes_of(facts, request, device, route, known)
        for cause in told[device, route.id]:
            same = next((n for n, other in enumerate(causes) if _repeats(cause, other)), None)
            if same is None:
                causes.append(cause)
            else:
                other = causes[same]
                edges = tuple(dict.fromkeys((*other.edges, *cause.edges)))
                causes[same] = other._replace(certain=other.certain and cause.certain, edges=edges)
    return causes, told


def _repeats(cause: Cause, other: Cause) -> bool:
    if cause.blocker != other.blocker:
        return False
    return cause.device == other.device or (cause.edges, cause.refused) == (other.edges, other.refused)


def is_possible(facts: Snapshot, request: Request) -> bool:
    """Return whether there is any stack at all, also one that nothing speaks for; much quicker than to look for the best.

    Raises GaveUpError when the search exceeds its budget.
    """
    kept_of(facts).budget = Budget()
    problems = (Problem(facts, request, device, route) for device, route in routes_of(facts, request))
    return any(search(problem, first_only=True) for problem in problems)


def best_stacks(facts: Snapshot, request: Request) -> tuple[Stack, ...]:
    """Return for every device, route and platform the best stack; those that nothing speaks for only if all are so."""
    problems = [Problem(facts, request, device, route) for device, route in routes_of(facts, request)]
    found: list[Stack] = []
    for known in (True, False):
        for problem in problems:
            for hit in search(problem, known_only=known, unranked=not known):
                found += shared_stacks(problem, hit)
        if found:
            break
    found.sort(key=lambda stack: stack.rank)
    return tuple(found)
