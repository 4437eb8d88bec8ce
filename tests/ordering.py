"""Which of the assignments that the oracle admits comes first: what a careful colleague would install today."""

from functools import cache, reduce
from operator import or_

from oracle import Judged, Level, Member, Oracle, Trial, has
from packaging.version import Version

from compatkb.authoring.knowledge_base import NEUTRAL
from compatkb.core.versions import parse
from compatkb.schema import Basis, Kind, Role
from compatkb.store.compiler.claims import defects
from compatkb.store.records import Defect


def best(*trials: Trial) -> Judged | None:
    """Return the best admissible assignment of several routes to a device on one platform, None where there is none."""
    found = ((preference(trial, judged), judged) for trial in trials for judged in trial.stacks())
    return min(found, default=(None, None))[1]


def preference(trial: Trial, judged: Judged) -> tuple[object, ...]:
    """Return the sort key of an assignment: small is better, and no two on one platform share one."""
    members, route = dict(judged.members), trial.ask.route
    lead = (route.provider, members[route.provider])
    packages = [member for member in judged.members if trial.element(*member).build]
    return (
        judged.level is Level.UNKNOWN,
        any(_is_flawed(trial, member) for member in packages),
        sum(_is_put_behind(trial, member) for member in packages),
        any(trial.is_of_another_kind(*member) for member in packages),
        sum(_is_presumed(trial, member, lead) for member in packages),
        route.rank,
        [-number for number in _series(trial, lead)],
        not _is_sure(trial, lead),
        judged.level,
        sum(_unsure_beside(trial, member, lead) for member in packages),
        judged.warnings,
        [-members.get(name, -1) for name in trial.oracle.order],  # what is absent counts as older than any version
        route.id,
    )


def _is_flawed(trial: Trial, member: Member) -> bool:
    """Return whether a package has a grave issue here; one that takes a part of the machine is none where none is pinned."""
    name, number = member
    gpus = reduce(or_, (1 << n for n in trial.ask.pins.get("hardware", ())), 0)
    return any(
        defect.product == name
        and has(defect.mask, number)
        and defect.cells & trial.bit
        and (not defect.devices or trial.ask.device in defect.devices)
        and (not defect.hardware or (gpus and not gpus & ~defect.hardware))
        and not defect.beside
        and defect.gpus == 1
        for defect in _defects(trial.oracle)
    )


@cache
def _defects(oracle: Oracle) -> tuple[Defect, ...]:
    return tuple(defects(oracle.knowledge))


def _is_put_behind(trial: Trial, member: Member) -> bool:
    """Return whether a package that the request does not name has ended, was yanked or is known to be insecure."""
    name, element = member[0], trial.element(*member)
    if name in trial.named:
        return False
    return (
        trial.has_ended(name, element)
        or trial.withdrawn(name, element)
        or not {"security", "vulnerability"}.isdisjoint(trial.advised(*member))
    )


def _is_presumed(trial: Trial, member: Member, lead: Member) -> bool:
    """Return whether no index lists a build and nobody states a wheel of it, for any system of the family here.

    A companion of what is presumed itself may be.
    """
    if member != lead and trial.heads[member[0]].role is Role.COMPANION and _is_presumed(trial, lead, lead):
        return False
    element, grid, ask = trial.element(*member), trial.oracle.knowledge.grid, trial.ask
    rows = element.build.wheels if element.build else ()
    if element.listed is None and all(row.basis is Basis.INFERRED for row in rows):
        return True
    seen = reduce(or_, (floor.seen | (floor.guessed if floor.glibc == NEUTRAL else 0) for floor in element.floors), 0)
    family = grid.families(ask.os)
    return bool(seen) and not seen & grid.cells(family, (ask.arch,))


def _is_sure(trial: Trial, lead: Member) -> bool:
    """Return whether what brings the device is certain by itself, beside some of the hardware that is asked for."""
    machines = [dict([gpu]) for gpu in trial.candidates("hardware")] if "hardware" in trial.ask.pins else [{}]
    return any(trial.judge({**machine, lead[0]: lead[1]}) is Level.STRONG for machine in machines)


def _unsure_beside(trial: Trial, member: Member, lead: Member) -> int:
    """Return how unsure a companion is beside what brings the device: 2 if made for another release, 1 if not certain."""
    if trial.heads[member[0]].role is not Role.COMPANION or member[0] == lead[0]:
        return 0
    release, elements = trial.element(*lead).release, trial.oracle.knowledge.elements[lead[0]]
    is_made_for_it = any(
        edge.kind is not Kind.BREAKS
        and has(edge.to_mask, lead[1])
        and all(element.release is release for n, element in enumerate(elements) if has(edge.to_mask, n))
        for edge in trial.oracle.said(*member, lead[0])
    )
    is_certain = trial.on_platform(*member) is Level.STRONG and trial.bond(member, lead).vouched is Level.STRONG
    return 2 * (not is_made_for_it) + (not is_certain)


def _series(trial: Trial, member: Member) -> tuple[int, ...]:
    """Return the leading numbers of a release that make its series."""
    head, release = trial.heads[member[0]], trial.element(*member).release
    version = parse(head.scheme, release.version)
    assert isinstance(version, Version)  # providers are packages
    return (*version.release, *[0] * head.series)[: head.series]
