"""The order of preference among stacks."""

from compatkb.core.record import NamedTuple
from compatkb.core.vocabulary import Certainty
from compatkb.engine.candidates import Cost
from compatkb.engine.problem import ABSENT, Member, Problem
from compatkb.store.records import PlatformSet


class Quality(NamedTuple):
    """How good a stack is on a platform, as far as one device and route go: compared field by field, less is better."""

    is_unknown: bool  # nothing supports it
    is_flawed: bool  # a known issue of it ends in wrong results, a crash, a hang or a failed installation
    outdated: int  # packages that nobody asked for by name and that have ended, were yanked or are insecure
    is_of_other_kind: bool  # a build was compiled for another device
    presumed: int  # builds that were neither seen nor stated to be published there
    age: int  # series of the product that brings the device which are newer
    is_assumed: bool  # what brings the device is not sure by itself: which release that is, nothing beside it decides
    level: int
    unsure: int  # companions that are not sure beside what brings the device
    warnings: int


def quality_of(level: int, cost: Cost, platforms: PlatformSet) -> Quality:
    """Return how good a stack of this cost is, at best, on some platforms where it is supported at a level."""
    return Quality(
        level == Certainty.UNKNOWN, not platforms & ~cost.flawed, cost.outdated, not platforms & ~cost.other_kind,
        sum(not platforms & ~where for where in cost.presumed), cost.age, not platforms & ~cost.assumed, level,
        sum(not platforms & ~where for where in cost.unsure), cost.warnings,
    )  # fmt: skip


FLAWLESS = Quality(False, False, 0, False, 0, 0, False, Certainty.CERTAIN, 0, 0)
"""What no stack is better than."""


_BEFORE = Quality._fields.index("age")


def preference(problem: Problem, quality: Quality) -> tuple[int, ...]:
    """Return the sort key of a quality among those of all devices and routes, which count before the age."""
    return (*quality[:_BEFORE], problem.device_rank, problem.route.rank, *quality[_BEFORE:])


def rank_of(problem: Problem, quality: Quality, chosen: tuple[Member, ...], platforms: PlatformSet) -> tuple[object, ...]:
    """Return the sort key of a stack: the preference, the family of systems, the device, the newest product by product."""
    named, facts = dict(chosen), problem.facts
    newest = tuple([-max(named.get(product, ABSENT), ABSENT) for product in problem.variables])
    family = max((n for n, cells in enumerate(facts.family_cells) if cells & platforms), default=-1)
    device = problem.request.devices.index(problem.device)  # the last one is on every machine
    return (*preference(problem, quality), -family, -device, newest)
