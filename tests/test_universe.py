"""Engine and oracle over made-up knowledge bases, and what must hold of any knowledge base."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import pytest
from agreement import Case, asks_of, broken_promises, differences, everything, request_of, unsound_causes, wrong_noes
from builders import (
    LONG_AGO,
    PYTHONS,
    SYSTEMS,
    TODAY,
    Record,
    breaks,
    build,
    claim,
    compiled,
    constrains,
    feature,
    files_of,
    index,
    listing,
    needs,
    platform,
    product,
    release,
    route,
    snapshot,
    statement,
    verified,
    wheel,
)
from conftest import examples
from denials import Verdict, verdict
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from oracle import Oracle

from compatkb.authoring.build_knowledge import build_knowledge
from compatkb.authoring.knowledge_base import Knowledge
from compatkb.engine.answer import Answer, best_stacks, resolve
from compatkb.engine.problem import problems_of
from compatkb.store.reader import Snapshot

T = TypeVar("T")
NAMES = ("torch", "ipex", "ccl", "inc")
VERSIONS = ("1.0", "2.0", "3.0", "4.0", "5.0")
KINDS = ("needs", "constrains", "verified", "verified", "verified", "breaks")
DAYS = (date(2023, 1, 1), date(2024, 1, 1), date(2025, 1, 1), TODAY)
LATER = TODAY + timedelta(400)


def checked(whole: int) -> Any:
    """Return the settings of a property that `whole` examples are tried of: bounded, on data that take a while to make."""
    quiet = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture, HealthCheck.data_too_large]
    return settings(max_examples=examples(whole), database=None, suppress_health_check=quiet)


@dataclass(frozen=True)
class World:
    """A made-up knowledge base before it is compiled."""

    products: list[Record]
    indexes: list[Record]
    routes: list[Record]
    features: list[Record]

    def knowledge(self) -> Knowledge:
        """Return the knowledge base."""
        dimensions = [
            *platform(systems=(*SYSTEMS, ("ubuntu", "linux"))),
            product("hardware", role="dimension", scheme="listed", rank=540, releases=["max", "arc"]),
        ]
        return build_knowledge(
            files_of(self.products, indexes=self.indexes, routes=self.routes, features=self.features, dimensions=dimensions)
        )


# -- made-up facts ------------------------------------------------------------------------------------------------

likely = st.integers(0, 5).map(bool)  # shrinks to no
days = st.sampled_from((*[LONG_AGO] * 6, *DAYS[:3]))
some_pythons = st.sampled_from((*[PYTHONS] * 4, PYTHONS[:1], PYTHONS[1:]))
some_systems = st.sampled_from((*[SYSTEMS] * 5, SYSTEMS[:1], SYSTEMS[1:], ("ubuntu",)))


@cache
def places(count: int) -> st.SearchStrategy[int]:
    """Return the places of so many things."""
    return st.integers(0, count - 1)


@cache
def several(count: int) -> st.SearchStrategy[list[int]]:
    """Return one to three of so many places."""
    return st.lists(places(count), min_size=1, max_size=3)


def pick(draw: st.DrawFn, options: Sequence[T]) -> T:
    """Return one of several things; `sampled_from`, which is made anew for every list, takes most of the time of a test."""
    return options[draw(places(len(options)))]


@cache
@st.composite
def releases(draw: st.DrawFn, version: str, *, ages: bool) -> Record:
    """Return a release with one or two builds, on the default index or the other one."""
    builds = []
    for label in pick(draw, (("",), ("",), ("", "+x"), ("+x",))):
        more: Record = {"devices": pick(draw, (["xpu", "cpu"],) * 4 + (["cpu"], ["xpu"]))}
        more["wheels_complete"] = pick(draw, (True, True, False))
        more["channels"] = ["default"] if not label and draw(st.booleans()) else ["extra"]
        if ages:
            more["stage"] = pick(draw, ("stable",) * 6 + ("preview", "prototype", "source-only", "tag-only"))
        rows = pick(draw, (1, 1, 1, 2, 0))
        wheels = [
            wheel(draw(some_pythons), draw(some_systems), basis=pick(draw, ("stated", "stated", "inferred")))
            for _ in range(rows)
        ]
        builds.append(build(version + label, wheels=wheels, **more))
    day = draw(days)
    made = release(version, builds=builds, on=day)
    if ages and draw(places(6)) == 0:
        made["released"] = {"after": day, "by": date(day.year + 1, 1, 1), "sources": ["page"]}
    if ages and draw(places(4)) == 0:
        made["eol"] = {"last-day": pick(draw, (*DAYS[1:], TODAY + timedelta(100))), "sources": ["page"]}
    return made


@cache
def terms(name: str, versions: int) -> st.SearchStrategy[str]:
    """Return terms that name at least one release."""
    exact = st.builds(lambda n: f"{name}=={VERSIONS[n]}", st.integers(0, versions - 1))
    lower = st.builds(lambda n: f"{name}>={VERSIONS[n]}", st.integers(0, versions - 1))
    upper = st.builds(lambda n: f"{name}<={VERSIONS[n]}", st.integers(0, versions - 1))
    return st.one_of(exact, exact, exact, lower, upper, st.just(name))


@cache
def demands(name: str, versions: int) -> st.SearchStrategy[list[str]]:
    """Return what a claim may demand of a package."""
    wide = st.just([f"{name}>=1.0"])
    return st.one_of(wide, wide, st.lists(terms(name, versions), min_size=1, max_size=2))


conditions = st.one_of(
    st.none(),
    st.none(),
    st.fixed_dictionaries(
        {},
        optional={
            "device": st.sampled_from((["xpu"], ["cpu"])),
            "os": st.sampled_from((["linux"], ["windows"], ["ubuntu"])),
            "python": st.sampled_from((["3.11"], [">=3.12"])),
            "hardware": st.just(["max"]),
        },
    ),
)


@st.composite
def claims(draw: st.DrawFn, sizes: dict[str, int], kinds: tuple[str, ...] = KINDS, *, leaf: bool = True) -> Record:
    """Return a claim about packages, the leaf, the platform or the hardware."""
    of, kind = pick(draw, list(sizes)), pick(draw, kinds)
    others = [name for name in sizes if name != of]
    to = pick(draw, (*others * 4, *["lib"] * 3 * leaf, "python", "os", "hardware"))
    if to == "lib":
        found = [f"lib{pick(draw, ('==', '==', '>=', '<='))}{pick(draw, VERSIONS[:3])}"]
    elif to in sizes:
        found = draw(demands(to, sizes[to]))
    else:
        words = {"python": ("==3.11", ">=3.12"), "os": ("==linux", "==windows", "==ubuntu"), "hardware": ("==max", "==arc")}
        found = [to + pick(draw, words[to])]
    basis = pick(draw, ("stated", "stated", "inferred"))
    when = draw(conditions)
    return claim(kind, draw(terms(of, sizes[of])), *found, basis=basis, **({"when": when} if when else {}))


@st.composite
def worlds(draw: st.DrawFn, *, ages: bool = True) -> World:
    """Return two to four packages with their claims; `ages` allows what changes with time: yanks, ends, stages."""
    sizes = {name: draw(st.integers(2, 5)) for name in NAMES[: draw(st.integers(2, 4))]}
    one = claims(sizes)
    said = [draw(one) for _ in range(4 * len(sizes)) if draw(likely)]
    products, indexes = [], []
    for name, size in sizes.items():
        more: dict[str, Any] = {"distribution": name}
        mine = [record for record in said if record["of"].startswith(name)]
        if mine and draw(places(6)) == 0:
            more["dispute"] = [dispute(mine[0]["id"])]
        if ages and draw(places(4)) == 0:
            what = pick(draw, ("wheel", "release"))
            more["complete"] = [{"what": what, "of": name, "until": pick(draw, DAYS), "sources": ["page"]}]
        if ages and draw(places(6)) == 0:
            more["advisory"] = [advisory(draw(terms(name, size)), pick(draw, ("security", "known-issue")))]
        products.append(product(name, releases=[draw(releases(v, ages=ages)) for v in VERSIONS[:size]], claims=mine, **more))
        listed = [draw(listings(version, ages=ages)) for version in VERSIONS[:size] if draw(st.booleans())]
        if listed:
            indexes.append(index(name, listed, seen=pick(draw, (TODAY, TODAY, DAYS[1])) if ages else TODAY))
    products.append(product("lib", role="leaf", releases=pick(draw, ((), VERSIONS[:2]))))
    if "ipex" in sizes:
        recipe = {"of": "ipex==1.0", "steps": [["torch"], ["ipex"]], "waives": ["torch==1.0: lib==1.0"], "sources": ["page"]}
        products[1]["install"] = [recipe] if draw(st.booleans()) else []
    routes = [route("native", without=["ipex"]), route("ipex", "ipex", 2, **{"with": ["ipex"]})]
    said = [draw(statements(sizes)) for _ in range(draw(st.integers(0, 4)))]
    brought = "ccl" if "ccl" in sizes and draw(places(4)) == 0 else None
    features = [feature("f", *said, needs=brought)] if said else []
    return World(products, indexes, routes if draw(st.booleans()) else [route()], features)


@st.composite
def statements(draw: st.DrawFn, sizes: dict[str, int]) -> Record:
    """Return what is said of a feature."""
    of = pick(draw, list(sizes))
    spec = draw(terms(of, sizes[of]).filter(lambda term: term != of))
    status = pick(draw, ("supported", "supported", "prototype", "not-supported"))
    basis, when = pick(draw, ("stated", "stated", "inferred")), draw(conditions)
    return statement(spec, status, basis, **({"when": when} if when else {}))


@cache
@st.composite
def listings(draw: st.DrawFn, version: str, *, ages: bool) -> Record:
    """Return what the index says of a version."""
    wheels = pick(draw, ({"py3": ["any"]}, {"cp311": ["manylinux_2_28_x86_64"]}, {"cp312": ["win_amd64"]}))
    requires = pick(draw, ([], [], ["lib==1.0"], ["lib>=2.0"], ["torch==1.0"]))
    yanked = pick(draw, (None, None, *DAYS[1:])) if ages else None
    return listing(version, on=draw(days), yanked=yanked, wheels=wheels, requires=requires)


def dispute(claim_id: str) -> Record:
    """Return a dispute that nobody has decided."""
    return {
        "id": f"about-{claim_id}", "about": "which", "claims": [claim_id], "positions": ["this", "that"], "decision": "open",
        "reason": "no source decides", "decided": TODAY, "sources": ["page", "page"],
    }  # fmt: skip


def advisory(of: str, kind: str) -> Record:
    """Return an advisory."""
    return {"of": of, "kind": kind, "message": "Take care.", "since": DAYS[1], "sources": ["page"]}


@st.composite
def cases(draw: st.DrawFn, world: World) -> Case:
    """Return a question about a world."""
    pins, bare = {}, []
    for record in world.products:
        name = record["product"]["id"]
        if name == "lib":
            continue
        match pick(draw, ("free", "bare", "bare", "pin", "pin")):
            case "bare":
                bare.append(name)
            case "pin":
                pins[name] = frozenset(draw(several(sum(len(made["build"]) for made in record["release"]))))
    for record in world.features:
        if draw(st.booleans()):
            stages = {said["status"] for said in record["statement"]} & {"prototype"} | {"supported"}
            pins[record["feature"]["id"]] = frozenset(range(len(stages)))
    if draw(places(5)) == 0:
        pins["hardware"] = frozenset(pick(draw, ((0,), (1,), (0, 1))))
    systems = pick(draw, ((), (), (), ("ubuntu",)))
    device, explicit = pick(draw, ("cpu", "xpu")), draw(st.booleans())
    as_of = pick(draw, (*DAYS, LATER)) if explicit else TODAY
    clock = pick(draw, (TODAY, LATER))
    return Case(device, as_of, pins, tuple(bare), systems=systems, explicit=explicit, today=clock)


@st.composite
def questions(draw: st.DrawFn, *, ages: bool = True) -> tuple[World, Case]:
    """Return a world and a question about it."""
    world = draw(worlds(ages=ages))
    return world, draw(cases(world))


@st.composite
def additions(draw: st.DrawFn, *kinds: str) -> tuple[World, World, Case, Record]:
    """Return a world, the same with one more claim of these kinds, a question, and the claim."""
    world, case = draw(questions())
    sizes = {p["product"]["id"]: len(p["release"]) for p in world.products if p["product"]["role"] == "package"}
    extra = draw(claims(sizes, kinds=kinds, leaf=False))
    owner = next(p for p in world.products if extra["of"].startswith(p["product"]["id"]))
    more = replace(world, products=[{**p, "claim": [*p["claim"], extra]} if p is owner else p for p in world.products])
    return world, more, case, extra


# -- the oracle, and brute force ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where snapshots are kept."""
    return tmp_path_factory.mktemp("snapshots")


@checked(120)
@given(question=questions())
def test_engine_and_brute_force_agree(question: tuple[World, Case], folder: Path) -> None:
    """What the engine says is what trying everything finds, platform by platform.

    The best assignment with its level and warnings is the same. A stack holds on each platform that it lists, each cause of
    a negative answer is needed, and all do exclude. The answer is "no" where what is certain excludes every stack, and
    unknown where there is just none.
    """
    world, case = question
    knowledge = world.knowledge()
    facts, oracle = compiled(knowledge, folder), Oracle(knowledge)
    assert differences(oracle, facts, case) == []
    assert broken_promises(oracle, facts, case) + unsound_causes(facts, case) == []
    assert wrong_noes(oracle, facts, case) == []


# -- properties ---------------------------------------------------------------------------------------------------


@pytest.mark.long
@checked(40)
@given(question=questions(), data=st.data())
def test_order_of_pins_changes_nothing(question: tuple[World, Case], folder: Path, data: st.DataObject) -> None:
    """What a request names first does not matter, nor what was asked before."""
    world, case = question
    path = snapshot(world.knowledge(), folder)
    facts, request = Snapshot(path), request_of(Snapshot(path), case)
    pins, bare = data.draw(st.permutations(request.pins)), data.draw(st.permutations(request.bare))
    expected = told(resolve(facts, request))
    best_stacks(facts, request._replace(pins=request.pins[1:], as_of=DAYS[0].toordinal()))
    assert told(resolve(facts, request._replace(pins=tuple(pins), bare=tuple(bare)))) == expected
    assert told(resolve(Snapshot(path), request)) == expected


@pytest.mark.long
@checked(40)
@given(question=questions(), place=st.integers(0, 2))
def test_unrelated_product_changes_nothing(question: tuple[World, Case], folder: Path, place: int) -> None:
    """A product of which nobody speaks, wherever it ranks, changes no answer."""
    world, case = question
    alone = product(
        "other", releases=["1.0", "2.0"], claims=[needs("other==1.0", "python==3.11"), breaks("other==2.0", "lib==9.0")]
    )
    more = replace(world, products=[*world.products[:place], alone, *world.products[place:]])
    before, after = compiled(world.knowledge(), folder), compiled(more.knowledge(), folder)
    assert told(resolve(after, request_of(after, case))) == told(resolve(before, request_of(before, case)))


@pytest.mark.long
@checked(50)
@given(addition=additions("needs", "constrains", "breaks"))
def test_denying_claim_never_adds_a_stack(addition: tuple[World, World, Case, Record], folder: Path) -> None:
    """Where nothing went together, nothing does after one more claim that denies; a break makes no verdict better."""
    *worlds, case, extra = addition
    before, after = (found(compiled(world.knowledge(), folder), case) for world in worlds)
    assert after.keys() <= before.keys()
    if extra["kind"] == "breaks":
        assert reached(worlds[1], case) >= reached(worlds[0], case)


@pytest.mark.long
@checked(50)
@given(addition=additions("verified"))
def test_positive_list_denies_nothing(addition: tuple[World, World, Case, Record], folder: Path) -> None:
    """What somebody verified takes nothing away from the rest, and makes nothing less sure."""
    *worlds, case, _ = addition
    before, after = (found(compiled(world.knowledge(), folder), case) for world in worlds)
    assert after.keys() == before.keys()
    assert reached(worlds[1], case) <= reached(worlds[0], case)


@pytest.mark.long
@checked(60)
@given(question=questions())
def test_what_is_near_keeps_what_it_does_not_give_up(question: tuple[World, Case], folder: Path) -> None:
    """A near stack is for the device that was asked for, holds to every pin but those that it names, and is known to go."""
    world, case = question
    facts = compiled(world.knowledge(), folder)
    request = request_of(facts, case)
    for near in resolve(facts, request).nearest:
        assert near.stack.device == case.device
        assert near.relaxed
        assert near.stack.verdict in ("works", "works-with-warnings", "likely")
        chosen = {element.product: element.idx for element in near.stack.packages}
        kept = [pin for pin in request.pins if pin.product not in near.relaxed and pin.product in chosen]
        assert [pin for pin in kept if not pin.mask >> chosen[pin.product] & 1] == []
        assert set(request.bare) <= chosen.keys()


@pytest.mark.long
@checked(40)
@given(question=questions(ages=False), days=st.integers(1, 1000))
def test_later_day_never_loses_a_stack(question: tuple[World, Case], folder: Path, days: int) -> None:
    """Without yanks and ends of life, what goes together on a day goes together on every later one."""
    world, case = question
    facts, after = compiled(world.knowledge(), folder), replace(case, as_of=case.as_of + timedelta(days))
    earlier, later = found(facts, case), found(facts, after)
    assert earlier.keys() <= later.keys()
    if earlier:
        assert reached(world, after) <= reached(world, case)


@pytest.mark.long
@checked(20)
@given(question=questions(), python=st.sampled_from(PYTHONS))
def test_pinned_python_takes_the_others_away(question: tuple[World, Case], folder: Path, python: str) -> None:
    """One more pin on the platform adds no stack and changes none: what is left is what was there on that Python."""
    world, case = question
    facts = compiled(world.knowledge(), folder)
    kept = facts.dimension_cells("python", 1 << facts.grid["python"].index(python))
    before, after = found(facts, replace(case, pythons=PYTHONS)), found(facts, replace(case, pythons=(python,)))
    assert after == {key: judged for key, judged in before.items() if kept >> key[1] & 1}


@pytest.mark.long
@checked(25)
@given(question=questions(), data=st.data())
def test_narrower_pin_never_adds_a_stack(question: tuple[World, Case], folder: Path, data: st.DataObject) -> None:
    """Fewer admitted releases of what is asked for never bring a platform more."""
    world, case = question
    facts, narrower = compiled(world.knowledge(), folder), data.draw(narrowed(world, case))
    assert found(facts, narrower).keys() <= found(facts, case).keys()


@checked(60)
@given(question=questions(), data=st.data())
def test_narrower_request_never_raises_a_verdict(question: tuple[World, Case], data: st.DataObject) -> None:
    """A pin on what is asked for, or on Python or the system, makes nothing better, and no "no" unknown."""
    world, case = question
    assert reached(world, data.draw(narrowed(world, case))) >= reached(world, case)


@checked(60)
@given(question=questions(), data=st.data())
def test_pin_more_never_weakens_a_no(question: tuple[World, Case], data: st.DataObject) -> None:
    """A pin on whatever product leaves a "no" one; only a recipe that waives what another product demands may help."""
    world, case = question
    world = replace(world, products=[{**record, "install": []} for record in world.products])
    assume(reached(world, case) is Verdict.DOES_NOT_WORK)
    assert reached(world, data.draw(narrowed(world, case, anything=True))) is Verdict.DOES_NOT_WORK


@checked(30)
@given(question=questions(), days=st.integers(1, 1000))
def test_clock_changes_no_verdict(question: tuple[World, Case], days: int) -> None:
    """The same question has the same verdict on every day after the day of knowledge; only what comes first may change."""
    world, case = question
    assert reached(world, replace(case, today=TODAY + timedelta(days))) is reached(world, case)


@st.composite
def narrowed(draw: st.DrawFn, world: World, case: Case, *, anything: bool = False) -> Case:
    """Return a case with one pin more or a narrower one: of what is asked for, or of anything; of Python or the system."""
    sizes = {
        record["product"]["id"]: sum(len(made["build"]) for made in record["release"])
        for record in world.products
        if record["product"]["role"] == "package"
    }
    everywhere = ["torch"] if len(world.routes) == 1 else []  # a route to IPEX alone leaves torch to what IPEX needs
    asked = {*everywhere, *case.bare, *case.pins} & sizes.keys()
    where = draw(st.sampled_from(("python", "os", *sorted(sizes if anything else asked) * 3)))
    if where == "python":
        return replace(case, pythons=(draw(st.sampled_from(PYTHONS)),))
    if where == "os":
        return replace(case, systems=(draw(st.sampled_from(case.systems or SYSTEMS)),))
    admitted = sorted(case.pins.get(where, range(sizes[where])))
    fewer = draw(st.lists(st.sampled_from(admitted), min_size=1, max_size=3, unique=True))
    return replace(case, pins={**case.pins, where: frozenset(fewer)}, bare=tuple(n for n in case.bare if n != where))


def reached(world: World, case: Case) -> Verdict:
    """Return the best verdict that any stack of a case reaches, by brute force."""
    oracle = Oracle(world.knowledge())
    return verdict(oracle, *asks_of(oracle, case))


@pytest.mark.long
@checked(15)
@given(question=questions())
def test_renaming_changes_nothing(question: tuple[World, Case], folder: Path) -> None:
    """Products under other names, in the same order of rank, get the same answers under those names."""
    world, case = question
    parts = (world.products, world.indexes, world.routes, world.features)
    other = World(*(renamed(part, RENAMED) for part in parts))
    asked = replace(case, pins=renamed(case.pins, RENAMED), bare=renamed(case.bare, RENAMED))
    before, after = compiled(world.knowledge(), folder), compiled(other.knowledge(), folder)
    answer = told(resolve(after, request_of(after, asked)))
    assert renamed(answer, {new: old for old, new in RENAMED.items()}) == told(resolve(before, request_of(before, case)))


RENAMED = {"torch": "zeta", "ccl": "alpha", "inc": "middle", "lib": "beta"}


def renamed(value: Any, names: dict[str, str]) -> Any:
    """Return a value with words in it replaced, wherever they stand."""
    if isinstance(value, str):
        return re.sub(r"\b(" + "|".join(names) + r")\b", lambda match: names[match[1]], value)
    if isinstance(value, Mapping):
        return {renamed(key, names): renamed(item, names) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(renamed(item, names) for item in value)
    return value


def told(answer: Answer) -> tuple[object, ...]:
    """Return what an answer says, without the numbers that another set of products shifts."""
    stacks = [
        (s.device, s.route, s.level, [(e.product, e.version) for e in s.packages], s.python, s.os, s.known, s.bounds)
        for s in (*answer.stacks, *(near.stack for near in answer.nearest))
    ]
    causes = [(cause.blocker, cause.certain, [e.version for e in cause.elements]) for cause in answer.causes]
    return answer.verdict, stacks, causes, [(near.relaxed, near.where) for near in answer.nearest]


def found(facts: Snapshot, case: Case) -> dict[tuple[str, int], tuple[int, int]]:
    """Return level and warnings of what the search finds, by route and platform bit."""
    request = request_of(facts, case)
    best = {}
    for problem in problems_of(facts, request):
        for hit in everything(problem):
            for bit in range(hit.platforms.bit_length()):
                if hit.platforms >> bit & 1:
                    best[problem.route.id, bit] = (hit.quality.level, hit.quality.warnings)
    return best


# -- rules on the smallest worlds ---------------------------------------------------------------------------------

RECIPE = {"of": "ipex==1.0", "steps": [["torch"], ["ipex"]], "sources": ["page"]}


def everywhere(versions: dict[str, str]) -> dict[str, dict[str, str]]:
    """Return the same packages for every system."""
    return {system: dict(versions) for system in SYSTEMS}


def lib(*listed: str) -> Record:
    """Return a runtime that is known through the pins of others, and versions of it that are listed besides."""
    return product("lib", role="leaf", releases=listed)


def torch(*said: Record, releases: tuple[str, ...] = ("1.0",)) -> Record:
    """Return torch with what it says."""
    return product("torch", releases=releases, claims=said)


def ipex(*said: Record, **more: Any) -> Record:
    """Return IPEX 1.0 with what it says."""
    return product("ipex", releases=["1.0"], claims=said, **more)


@pytest.mark.parametrize(
    ("products", "bare", "expected"),
    [
        pytest.param(
            [torch(needs("torch", "ipex==1.0", when={"os": ["linux"]})), ipex()],
            [],
            {"linux": {"torch": "1.0", "ipex": "1.0"}, "windows": {"torch": "1.0"}},
            id="need-holds-where-its-condition-holds",
        ),
        pytest.param(
            [torch(needs("torch", "ipex==1.0", when={"device": ["xpu"]})), ipex()],
            [],
            {"linux": {"torch": "1.0"}, "windows": {"torch": "1.0"}},
            id="need-of-another-device",
        ),
        pytest.param(
            [
                torch(needs("torch==1.0", "ipex"), releases=("1.0", "2.0")),
                ipex(needs("ipex", "ccl==1.0"), verified("ipex", "torch>=1.0")),
                product("ccl", releases=["1.0"], claims=[needs("ccl", "ipex==1.0")]),
            ],
            [],
            everywhere({"torch": "2.0"}),
            id="what-only-need-each-other-stay-away",
        ),
        pytest.param(
            [torch(needs("torch", "lib==1.0"), breaks("torch", "lib==1.0")), lib()], [], {}, id="pin-and-break-of-one-version"
        ),
        pytest.param(
            [torch(needs("torch", "lib==1.0"), constrains("torch", "lib>=5.0")), lib()],
            [],
            {},
            id="pin-below-an-unlisted-range",
        ),
        pytest.param(
            [torch(constrains("torch", "lib>=5.0"), constrains("torch", "lib<6.0")), lib("1.0")],
            [],
            everywhere({"torch": "1.0"}),
            id="ranges-that-an-unlisted-version-fits",
        ),
        pytest.param(
            [
                torch(constrains("torch", "lib<2.0")),
                ipex(constrains("ipex", "lib>=2.0"), verified("ipex", "torch")),
                lib("1.0", "2.0"),
            ],
            ["ipex"],
            {},
            id="ranges-that-lie-apart",
        ),
        pytest.param(
            [
                torch(constrains("torch", "lib>=1.0")),
                ipex(constrains("ipex", "lib>=0.5,<0.9"), verified("ipex", "torch==1.0")),
                lib("1.0"),
            ],
            ["ipex"],
            {},
            id="range-above-an-unlisted-one",
        ),
        pytest.param(
            [
                torch(constrains("torch", "lib>=0.1")),
                ipex(constrains("ipex", "lib>=0.5,<0.9"), verified("ipex", "torch==1.0")),
                lib("1.0"),
            ],
            ["ipex"],
            everywhere({"torch": "1.0", "ipex": "1.0"}),
            id="range-around-an-unlisted-one",
        ),
        pytest.param(
            [
                torch(needs("torch", "lib==1.0")),
                ipex(
                    needs("ipex", "lib==2.0"),
                    verified("ipex", "torch==1.0"),
                    install=[{**RECIPE, "waives": ["torch==1.0: lib==1.0"]}],
                ),
                lib(),
            ],
            ["ipex"],
            everywhere({"torch": "1.0", "ipex": "1.0", "lib": "2.0"}),
            id="waived-pin",
        ),
        pytest.param(
            [
                torch(needs("torch", "lib==1.0"), releases=("1.0", "2.0")),
                ipex(
                    needs("ipex", "lib==2.0"),
                    needs("ipex", "torch==2.0"),
                    install=[{**RECIPE, "waives": ["torch==1.0: lib==1.0"]}],
                ),
                lib(),
            ],
            ["ipex"],
            {},
            id="pin-waived-for-another-release",
        ),
        pytest.param(
            [
                torch(needs("torch", "lib==1.0")),
                ipex(
                    needs("ipex", "lib==2.0"),
                    verified("ipex", "torch==1.0"),
                    install=[{**RECIPE, "waives": ["torch==1.0: lib==3.0"]}],
                ),
                lib("3.0"),
            ],
            ["ipex"],
            {},
            id="another-pin-waived",
        ),
        pytest.param(
            [
                torch(needs("torch", "lib==1.0")),
                product(
                    "vision",
                    role="companion",
                    releases=["1.0"],
                    claims=[needs("vision", "torch==1.0"), needs("vision", "lib==2.0")],
                ),
                lib(),
            ],
            [],
            everywhere({"torch": "1.0", "lib": "1.0"}),
            id="companion-with-another-runtime-is-not-shown",
        ),
        pytest.param(
            [
                torch(),
                product("vision", role="companion", releases=["1.0"], claims=[needs("vision", "torch==1.0")]),
                product(
                    "audio",
                    role="companion",
                    releases=["1.0"],
                    claims=[needs("audio", "torch==1.0"), breaks("audio", "vision")],
                ),
            ],
            [],
            everywhere({"torch": "1.0", "vision": "1.0"}),
            id="of-companions-that-exclude-each-other-the-first",
        ),
    ],
)
def test_rule(products: list[Record], bare: list[str], expected: dict[str, dict[str, str]], tmp_path: Path) -> None:
    """What goes together on each system, on the smallest knowledge base that could get it wrong."""
    knowledge = build_knowledge(files_of(products, dimensions=platform(pythons=("3.12",))))
    facts, case = compiled(knowledge, tmp_path), Case("cpu", TODAY, bare=tuple(bare))
    stacks = best_stacks(facts, request_of(facts, case))
    assert {system: {e.product: e.version for e in s.packages} for s in stacks for system in s.os} == expected
    assert differences(Oracle(knowledge), facts, case) + broken_promises(Oracle(knowledge), facts, case) == []
