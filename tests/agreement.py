"""Engine and oracle side by side: one question to both, and what an answer promises, checked by the oracle.

The functions that check return sentences about what is wrong; an empty list means that all is well.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date
from functools import lru_cache
from itertools import combinations

from denials import Verdict, verdict
from oracle import Ask, Judged, Level, Member, Oracle, Trial, has
from ordering import best

from compatkb.core.vocabulary import Certainty
from compatkb.engine.answer import best_stacks, resolve, routes_of
from compatkb.engine.conflicts import conflict_of
from compatkb.engine.constraints import Constraint
from compatkb.engine.problem import Problem, problem_of, problems_of
from compatkb.engine.search import Aim, Found, Search
from compatkb.engine.stacks import Stack
from compatkb.schema import Role
from compatkb.store.reader import Snapshot
from compatkb.store.records import Pin, Request


@dataclass(frozen=True, eq=False)
class Case:
    """One question on several platforms; no Pythons and no systems mean all Pythons and all families of systems.

    `as_of` is the day of knowledge, or the day that an `explicit` request names. The clock shows that day unless it is told.
    """

    device: str
    as_of: date
    pins: dict[str, frozenset[int]] = field(default_factory=dict)
    bare: tuple[str, ...] = ()
    pythons: tuple[str, ...] = ()
    systems: tuple[str, ...] = ()
    arch: str = "x86_64"
    explicit: bool = False
    today: date | None = None

    @property
    def clock(self) -> date:
        """The day that decides which ends of life have come; a request for a day asks for what had ended by then."""
        return self.as_of if self.explicit or self.today is None else self.today


def request_of(facts: Snapshot, case: Case) -> Request:
    """Return the case as the engine takes it."""
    pins = []
    for name, numbers in case.pins.items():
        releases = {facts.elements(name)[number].release for number in numbers}
        pins.append(Pin(name, releases.pop() if len(releases) == 1 else "", sum(1 << n for n in numbers)))
    for dimension, values in (("python", case.pythons), ("os", case.systems), ("arch", (case.arch,))):
        if values:
            pins.append(Pin(dimension, "", sum(1 << facts.grid[dimension].index(value) for value in values)))
    days = (case.as_of.toordinal(), case.clock.toordinal(), case.as_of.toordinal() if case.explicit else 1)
    return Request(tuple(pins), case.bare, (case.device,), *days)


def asks_of(oracle: Oracle, case: Case) -> Iterator[Ask]:
    """Yield the case as the oracle takes it: by route and platform; a glibc leaves the systems that have one."""
    grid = oracle.knowledge.grid
    wider = {element.version: element.release.part_of for element in oracle.knowledge.elements["os"]}
    systems = case.systems or tuple(name for name in grid.systems if not wider[name])
    if "glibc" in case.pins:
        systems = tuple(name for name in systems if "linux" in (name, *wider[name]))
    asked = {*case.pins, *case.bare}
    for route in oracle.knowledge.files.routes.route:
        if case.device in route.device and not asked & set(route.without):
            for system in systems:
                for python in case.pythons or grid.pythons:
                    time = (case.as_of, case.clock, case.explicit)
                    yield Ask(route, case.device, python, system, case.arch, *time, case.pins, case.bare)


@lru_cache(maxsize=1)
def tried(oracle: Oracle, case: Case) -> list[tuple[Trial, Judged | None]]:
    """Return what brute force finds best on each platform of a case."""
    trials = [Trial(oracle, ask) for ask in asks_of(oracle, case)]
    return [(trial, best(trial)) for trial in trials]


def differences(oracle: Oracle, facts: Snapshot, case: Case) -> list[str]:
    """Return where the engine's best assignment, its level or its warnings are not the oracle's."""
    request = request_of(facts, case)
    found = {problem.route.id: everything(problem) for problem in problems_of(facts, request)}
    wrong = []
    for trial, judged in tried(oracle, case):
        ask = trial.ask
        hits = [hit for hit in found[ask.route.id] if hit.platforms & trial.bit]
        answers = [Judged(hit.chosen, Level(hit.quality.level), hit.quality.warnings) for hit in hits]
        expected = [judged] if judged else []
        if answers != expected:
            wrong.append(f"{_where(ask)}: engine {_told(oracle, answers)}, oracle {_told(oracle, expected)}")
    return wrong


def broken_promises(oracle: Oracle, facts: Snapshot, case: Case) -> list[str]:
    """Return which stacks of an answer are not what the oracle finds on each of their platforms, or are missing."""
    stacks = best_stacks(facts, request_of(facts, case))
    found = tried(oracle, case)
    supported = {trial.ask.route.id for trial, judged in found if judged and judged.level < Level.UNKNOWN}
    lasting = {trial.ask.route.id for trial, judged in found if judged and not _is_given_up(trial)}
    worst = Level.WEAK if supported and (supported & lasting or not lasting) else Level.UNKNOWN
    if supported and not supported & lasting and lasting:  # what its maker gave up makes way for what nobody has tried
        found = [(trial, judged if trial.ask.route.id in lasting else None) for trial, judged in found]
    wrong = []
    for trial, judged in found:
        ask = trial.ask
        here = [
            s for s in stacks if s.route == ask.route.id and ask.python in s.python and ask.os in s.os and ask.arch in s.arch
        ]
        shown = judged is not None and judged.level <= worst
        if len(here) != shown:
            wrong.append(f"{_where(ask)}: {len(here)} stacks where there should be {int(shown)}")
        for stack in here if judged else ():
            wrong += [f"{_where(ask)}: {flaw}" for flaw in _flaws(trial, stack, judged)]
    if sum(len(s.python) * len(s.os) * len(s.arch) for s in stacks) != sum(1 for _, j in found if j and j.level <= worst):
        wrong.append("a stack lists platforms that nobody asked about")
    return wrong


def _is_given_up(trial: Trial) -> bool:
    """Return whether the route brings a product whose newest release has ended, and the question is of packages and a GPU."""
    machine = {name for name, head in trial.heads.items() if head.role is Role.DIMENSION and not head.platform}
    parts = {name for name, head in trial.heads.items() if head.machine or head.role is Role.FEATURE} | machine
    if not trial.named.isdisjoint({*trial.ask.route.with_, *parts} - {"hardware", "device"}):
        return False
    return any(trial.has_ended(name, trial.oracle.knowledge.elements[name][-1]) for name in trial.ask.route.with_)


def _flaws(trial: Trial, stack: Stack, best: Judged) -> Iterator[str]:
    numbers = {element.product: element.idx for element in stack.packages}
    for name in stack.requested:
        if name not in numbers:  # a dimension
            versions = [element.version for element in trial.oracle.knowledge.elements[name]]
            numbers[name] = versions.index(stack.known[name][0])
    core = {name: numbers[name] for name in stack.requested}
    shown = {name: n for name, n in numbers.items() if trial.heads[name].role is not Role.LEAF}
    if tuple(core.items()) != best.members:
        yield f"the stack holds {core}, the best is {dict(best.members)}"
    for one, other in combinations(core.items(), 2):
        if trial.bond(one, other).denied:
            yield f"{one} and {other} do not go together"
    if trial.judge(core) != stack.level:
        yield f"the stack is of level {stack.level}, the oracle says {trial.judge(core)}"
    for member in numbers.items() - core.items():
        if trial.heads[member[0]].role is Role.LEAF:
            yield from _leaf_flaws(trial, core, member)
        else:
            yield from _companion_flaws(trial, core, member, stack)
    if any(trial.bond(one, other).denied for one, other in combinations(shown.items(), 2)):
        yield "companions exclude each other"
    if trial.leaves(shown) is None:
        yield "companions need other runtimes than the stack"


def _leaf_flaws(trial: Trial, core: dict[str, int], member: Member) -> Iterator[str]:
    for edge in trial.demands_on_leaves(core):
        if edge.to == member[0] and edge.to_mask and has(edge.to_mask, member[1]) is (edge.kind == "breaks"):
            yield f"{member} is not what {edge.claim} admits"


def _companion_flaws(trial: Trial, core: dict[str, int], member: Member, stack: Stack) -> Iterator[str]:
    bonds = [trial.bond(member, other) for other in core.items()]
    level = trial.on_platform(*member)
    if not trial.offered(*member) or level is None or level > stack.level:
        yield f"companion {member} cannot be had here, or is known less well than the stack"
    if any(bond.denied or bond.level > stack.level for bond in bonds) or min(b.vouched for b in bonds) > stack.level:
        yield f"companion {member} is denied or not vouched for"


def wrong_noes(oracle: Oracle, facts: Snapshot, case: Case) -> list[str]:
    """Return where the engine says "no" and the oracle that the data cannot tell, or the other way round."""
    if any(judged for _, judged in tried(oracle, case)):
        return []
    said = resolve(facts, request_of(facts, case)).verdict
    expected = "does-not-work" if verdict(oracle, *asks_of(oracle, case)) is Verdict.DOES_NOT_WORK else "unknown"
    return [] if said == expected else [f"{case}: engine {said}, oracle {expected}"]


def everything(problem: Problem) -> list[Found]:
    """Return the best stack of each platform: those that something supports, and elsewhere any."""
    known = Search(problem, Aim.EVERY, Certainty.INFERRED).run()
    taken = sum(hit.platforms for hit in known)
    rest = [hit._replace(platforms=hit.platforms & ~taken) for hit in Search(problem, Aim.EVERY).run()]
    return [*known, *(hit for hit in rest if hit.platforms)]


def unsound_causes(facts: Snapshot, case: Case) -> list[str]:
    """Return which causes of a negative answer explain nothing, or could be left out."""
    request = request_of(facts, case)
    wrong = []
    for device, route in routes_of(facts, request):
        for certain_only in (True, False):
            problem = problem_of(facts, request, device, route, certain_only=certain_only)
            active = conflict_of(problem)
            if active is None or not problem.platforms:
                continue
            every = frozenset(constraint for group in problem.groups() for constraint in group)

            def admits(kept: tuple[Constraint, ...], at: Problem = problem, every: frozenset[Constraint] = every) -> bool:
                return bool(Search(at.waiving(every - set(kept)), Aim.FIRST).run())

            if not active:
                wrong.append(f"{route.id}: no causes for {case}")
            elif admits(active):
                wrong.append(f"{route.id}: {active} admit a stack")
            needless = [b for b in active if not admits(tuple(c for c in active if c != b))]
            wrong += [f"{route.id}: {active} exclude everything without {left_out}" for left_out in needless]
    return wrong


def _where(ask: Ask) -> str:
    return f"{ask.route.id}, {ask.device}, {ask.python}, {ask.os}, {ask.arch}, {ask.as_of}, pins {ask.pins}, bare {ask.bare}"


def _told(oracle: Oracle, judged: list[Judged]) -> str:
    def words(one: Judged) -> str:
        members = ", ".join(f"{name} {oracle.element(name, n).version if n >= 0 else n}" for name, n in one.members)
        return f"[{members}] {one.level.name.lower()}, {one.warnings} warnings"

    return " and ".join(map(words, judged)) or "nothing"
