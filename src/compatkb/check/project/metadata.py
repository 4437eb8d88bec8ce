"""Judges exact pins by what metadata ask of each other, also of packages that are no products: installers refuse the set."""

from collections.abc import Iterator

from compatkb.check.project.documented import is_of_other_architecture
from compatkb.check.project.environments import at
from compatkb.check.project.install_plan import SETTINGS, InstallPlan
from compatkb.check.project.pins import PLATFORM
from compatkb.check.project.queries import ProjectQueries, is_exact
from compatkb.check.project.resolution import TOGETHER, moved_alone
from compatkb.check.project.step_pins import MAIN_BRANCH, UPPER, Bound, Clash, StepPins, release_of, source_of
from compatkb.check.rules import FileRole, place_of
from compatkb.core.findings import Finding, Severity
from compatkb.core.names import normal

_MOST_FOUND = 6
_MOST_NAMED = 5
_MANY = 3
"""So many pins that do not go with one other: that one was moved alone."""


@SETTINGS.rule(TOGETHER, PLATFORM)
def check(plan: InstallPlan, queries: ProjectQueries) -> Iterator[Finding]:
    """Yield exact pins of one step that another one's metadata refuse, or the Python, where one of the two is no product."""
    environment = plan.environment
    if environment.is_locked or is_of_other_architecture(environment.document.text, queries.facts):
        return
    steps = {one.step for _, one in environment.others} | {w.requirement.step for w in plan.requirements}
    for step in sorted(step for step in steps if plan.resolves(step)):
        pinned = StepPins(plan, step, queries)
        if plan.pythons and not plan.of_markers:
            yield from _of_another_python(pinned)
        told = list(_findings(pinned))
        yield from told
        for clash, several in pinned.stuck(pinned.pins) if not told else ():
            stuck = _stuck(clash, several, pinned)
            is_bounded = any(UPPER.search(bound.spec) for bound in several)
            yield stuck if is_bounded else stuck._replace(level=Severity.WARNING)  # a later release may go with it


def _findings(pinned: StepPins) -> Iterator[Finding]:
    """Yield a finding for each cause: a clash, with the others that go when what mends it is written."""
    left = {_parties(clash): clash for clash in reversed(list(pinned.clashes(pinned.pins)))}
    left = dict(reversed(left.items()))
    for _ in range(_MOST_FOUND):
        if not left:
            return
        parties, clash = next(iter(left.items()))
        shared = max(sorted(parties), key=lambda name: sum(name in one for one in left))
        is_hub = sum(shared in one for one in left) >= _MANY and shared not in pinned.moved
        fix = (_moving(shared, pinned) if is_hub else None) or pinned.mending(clash)
        for pin in (fix or "").split("\n"):
            name, _, version = pin.partition("==")
            pinned.moved.update({normal(name): version} if version else {})
        after = {_parties(one) for one in pinned.clashes({**pinned.pins, **pinned.moved})} if fix else left.keys()
        gone = [one for both, one in left.items() if both not in after and one is not clash]
        yield _finding(clash, gone, fix, pinned)
        left = {both: one for both, one in left.items() if one is not clash and one not in gone}


def _parties(clash: Clash) -> frozenset[str]:
    return frozenset((clash.one.by or clash.one.of, clash.other.by or clash.other.of))


def _moving(name: str, pinned: StepPins) -> str | None:
    """Return the pins that move what many others do not go with, so that all of these may stay; None where there are none."""
    product, plan = pinned.product.get(name), pinned.plan
    installed = plan.final.get(product.id) if product else None
    if product is None or installed is None or name not in pinned.pins:
        return pinned.nearest(name) if product is None and name in pinned.pins else None
    builds = pinned.queries.facts.elements(product.id)
    known = {
        r: sum(bound.of in pinned.pins and is_exact(bound.spec) for bound in pinned.demands(name, r))
        for r in {e.release for e in builds if e.installable}
        if pinned.admits(name, r)
    }
    fitting = {r for r, met in known.items() if met and met == max(known.values())}  # of the time of the others
    mask = sum(1 << e.idx for e in builds if e.release in fitting)
    return moved_alone(installed, mask, plan, pinned.queries) if mask else None


def _of_another_python(pinned: StepPins) -> Iterator[Finding]:
    """Yield exact pins of what is no product for which the Python that runs is none."""
    plan, queries = pinned.plan, pinned.queries
    around = place_of(plan.environment.document.path)
    for name, version in pinned.pins.items():
        record = release_of(name, version, queries) if name not in pinned.product else None
        located = pinned.asked[name][-1][0]
        is_own = located.document is plan.environment.document or around not in PLATFORM.off_in
        if record and record["python"] and is_own and not pinned.is_for_python(record["python"]):
            runs = queries.python_names(plan.pythons)
            message = f"{name} {version} has nothing for Python {runs}: it needs Python {record['python']}"
            finding = at(located, PLATFORM, message, sources=(source_of(name, version, queries),))
            is_certain = place_of(located.document.path) is FileRole.INSTALLED and around is FileRole.INSTALLED
            yield finding._replace(level=Severity.ERROR) if is_certain else finding


def _finding(clash: Clash, gone: list[Clash], fix: str | None, pinned: StepPins) -> Finding:
    """Return what is wrong, at what has to move, with what else goes when that does."""
    bounds = sorted((clash.one, clash.other), key=lambda bound: not bound.by)
    parties = [(b.by, b.version) if b.by else (b.of, _asked(b, pinned)) for b in bounds]
    moves = next((pin.partition("==")[0] for pin in (fix or "").split("\n") if pin.partition("==")[0] in dict(parties)), "")
    moves = moves or parties[-1][0]
    parties.sort(key=lambda party: party[0] != moves)
    places = [next(f for f, one in reversed(pinned.asked[name]) if one.specifier) for name, _ in parties]
    (name, version), (other, beside) = parties
    line = f"line {places[1].statement.place.line}"
    where = line if places[0].document is places[1].document else f"{places[1].document.path}, {line}"
    needs = ", ".join(f"{b.by} {b.version} needs {b.of} {b.spec.removeprefix('==')}" for b in bounds if b.by)
    needs += "" if bounds[-1].by else f", not {_asked(bounds[-1], pinned)}"
    message = f"{name} {version} does not work with {other} {beside} ({where}): {needs} (stated)"
    others = dict.fromkeys(name for one in gone for name in sorted(_parties(one)) if name in pinned.pins and name != moves)
    texts = [f"{one} {pinned.pins[one]} (line {pinned.asked[one][-1][0].statement.place.line})" for one in others]
    more = f" and {len(texts) - _MOST_NAMED} more" if len(texts) > _MOST_NAMED else ""
    message += f"; nor with {', '.join(texts[:_MOST_NAMED])}{more}" if texts else ""
    sources = tuple(source_of(b.by, pinned.heads.get(b.by, b.version), pinned.queries) for b in bounds if b.by)
    finding = at(places[0], TOGETHER, message, sources=sources, fix=fix)
    is_concluded = any(b.by in pinned.heads for b in bounds)  # from what the newest release asks for
    return finding._replace(level=Severity.WARNING) if is_concluded else finding


def _asked(bound: Bound, pinned: StepPins) -> str:
    """Return what a line asks for, as people read it."""
    return MAIN_BRANCH if bound.of in pinned.heads else bound.spec.removeprefix("==")


def _stuck(clash: Clash, several: tuple[Bound, ...], pinned: StepPins) -> Finding:
    """Return that no release of a package which something asks for goes with what is asked of another one."""
    demand, beside = clash.one, clash.other
    asking = next((bound for bound in several if bound.by), several[0])
    moves = beside.by or beside.of
    fix = pinned.nearest(moves) if moves in pinned.pins else pinned.released(moves) if moves in pinned.heads else None
    where = pinned.asked[moves][-1][0]
    admitted = " and ".join(
        dict.fromkeys(f"{b.by} {b.version} needs {b.of} {b.spec}" if b.by else f"{b.of}{b.spec} is asked for" for b in several)
    )
    text = _asked(beside, pinned)
    needs = f"{beside.by} {beside.version} needs {text}" if beside.by else f"not {text}"
    message = (
        f"{moves} {beside.version or text} does not work with any {asking.of} that is admitted here ({admitted}): "
        f"{demand.by} {demand.version} needs {demand.of} {demand.spec.removeprefix('==')}, {needs} (stated)"
    )
    sources = tuple(source_of(b.by, b.version, pinned.queries) for b in (asking, demand) if b.by)
    return at(where, TOGETHER, message, sources=sources, fix=fix)
