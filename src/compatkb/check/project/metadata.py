"""Judges exact pins by what metadata ask of each other, also of packages that are no products: installers refuse the set."""

from collections.abc import Iterator

from compatkb.check.project.documented import is_of_other_architecture
from compatkb.check.project.environments import at
from compatkb.check.project.install_plan import SETTINGS, InstallPlan
from compatkb.check.project.pinned_set import Clash, PinnedSet, source_of
from compatkb.check.project.queries import ProjectQueries
from compatkb.check.project.resolution import TOGETHER
from compatkb.core.findings import Finding

_MOST_FOUND = 6


@SETTINGS.rule(TOGETHER)
def check(plan: InstallPlan, queries: ProjectQueries) -> Iterator[Finding]:
    """Yield exact pins of one step that the metadata of another one refuse, where one of the two is no product."""
    environment = plan.environment
    if environment.is_locked or is_of_other_architecture(environment.document.text, queries.facts):
        return
    steps = {one.step for _, one in environment.others} | {w.requirement.step for w in plan.requirements}
    for step in sorted(step for step in steps if plan.resolves(step)):
        pinned = PinnedSet(plan, step, queries)
        told: set[frozenset[str]] = set()
        for clash in pinned.clashes(pinned.pins):
            parties = frozenset((clash.one.by or clash.one.of, clash.other.by or clash.other.of))
            if parties not in told and len(told) < _MOST_FOUND:
                told.add(parties)
                yield _finding(clash, pinned)


def _finding(clash: Clash, pinned: PinnedSet) -> Finding:
    """Return what is wrong, at what has to move."""
    bounds = sorted((clash.one, clash.other), key=lambda bound: not bound.by)
    parties = [(b.by, b.version) if b.by else (b.of, b.spec.removeprefix("==")) for b in bounds]
    fix = pinned.mending(clash)
    moves = (fix or "").partition("==")[0] or parties[-1][0]
    parties.sort(key=lambda party: party[0] != moves)
    places = [next(f for f, one in reversed(pinned.asked[name]) if one.specifier) for name, _ in parties]
    (name, version), (other, beside) = parties
    line = f"line {places[1].statement.place.line}"
    where = line if places[0].document is places[1].document else f"{places[1].document.path}, {line}"
    needs = ", ".join(f"{b.by} {b.version} needs {b.of} {b.spec.removeprefix('==')}" for b in bounds if b.by)
    needs += "" if bounds[-1].by else f", not {bounds[-1].spec.removeprefix('==')}"
    message = f"{name} {version} does not work with {other} {beside} ({where}): {needs} (stated)"
    sources = tuple(source_of(b.by, b.version, pinned.queries) for b in bounds if b.by)
    return at(places[0], TOGETHER, message, sources=sources, fix=fix)
