"""The order of preference among stacks."""

from typing import NamedTuple

from compatkb.core.vocabulary import Certainty
from compatkb.engine.candidates import Cost
from compatkb.engine.problem import ABSENT, Member, Problem
from compatkb.store.records import PlatformSet


class Quality(NamedTuple):
    """How good a stack is on a platform, as far as one device and route go: compared field by field, less is better."""

    is_unknown: bool  # nothing supports it
    is_outdated: bool  # a package that nobody asked for by name has ended, was yanked or is insecure
    is_of_other_kind: bool  # a build was compiled for another device
    is_presumed: bool  # a build was neither seen nor stated to be published
    age: int  # series of the product that brings the device which are newer
    level: int
    warnings: int


def quality_of(level: int, cost: Cost, *, is_of_other_kind: bool = False) -> Quality:
    """Return how good a stack of this cost is where it is supported at a level."""
    flags = (level == Certainty.UNKNOWN, cost.is_outdated, is_of_other_kind, cost.is_presumed)
    return Quality(*flags, cost.age, level, cost.warnings)


FLAWLESS = Quality(False, False, False, False, 0, Certainty.CERTAIN, 0)
"""What no stack is better than."""


def preference(problem: Problem, quality: Quality) -> tuple[int, ...]:
    """Return the sort key of a quality among those of all devices and routes, which count before the age."""
    return (*quality[:4], problem.device_rank, problem.route.rank, *quality[4:])


def rank_of(problem: Problem, quality: Quality, chosen: tuple[Member, ...], platforms: PlatformSet) -> tuple[object, ...]:
    """Return the sort key of a stack: the preference, the family of systems, the device, the newest product by product."""
    named, facts = dict(chosen), problem.facts
    newest = tuple([-max(named.get(product, ABSENT), ABSENT) for product in problem.variables])
    family = max((n for n, cells in enumerate(facts.family_cells) if cells & platforms), default=-1)
    device = problem.request.devices.index(problem.device)  # the last one is on every machine
    return (*preference(problem, quality), -family, -device, newest)
