"""Engine and oracle over made-up knowledge bases, and what must hold of any knowledge base."""

from dataclasses import dataclass
from datetime import date
from typing import Any

import pytest
from agreement import Case, differences
from builders import (
    LONG_AGO,
    PYTHONS,
    SYSTEMS,
    TODAY,
    Record,
    build,
    claim,
    compiled,
    files_of,
    index,
    listing,
    platform,
    product,
    release,
    route,
    wheel,
)
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from oracle import Oracle

from compatkb.assembling import build_knowledge
from compatkb.knowledge import Knowledge

NAMES = ("torch", "ipex", "ccl", "inc")
VERSIONS = ("1.0", "2.0", "3.0", "4.0", "5.0")
DAYS = (date(2023, 1, 1), date(2024, 1, 1), date(2025, 1, 1), TODAY)

pytestmark = pytest.mark.filterwarnings("error")


def checked(examples: int) -> Any:
    """Return the settings of a property: bounded, and the same examples in every run."""
    quiet = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture, HealthCheck.data_too_large]
    return settings(max_examples=examples, derandomize=True, deadline=None, database=None, suppress_health_check=quiet)


@dataclass(frozen=True)
class World:
    """A made-up knowledge base before it is compiled."""

    products: list[Record]
    indexes: list[Record]
    routes: list[Record]

    def knowledge(self) -> Knowledge:
        """Return the knowledge base."""
        dimensions = [
            *platform(systems=(*SYSTEMS, ("ubuntu", "linux"))),
            product("hardware", role="dimension", scheme="listed", rank=540, releases=["max", "arc"]),
        ]
        return build_knowledge(files_of(self.products, indexes=self.indexes, routes=self.routes, dimensions=dimensions))


# -- made-up facts ------------------------------------------------------------------------------------------------

likely = st.integers(0, 5).map(bool)  # shrinks to no
days = st.sampled_from((*[LONG_AGO] * 6, *DAYS[:3]))
some_pythons = st.sampled_from((*[PYTHONS] * 4, PYTHONS[:1], PYTHONS[1:]))
some_systems = st.sampled_from((*[SYSTEMS] * 5, SYSTEMS[:1], SYSTEMS[1:], ("ubuntu",)))


@st.composite
def releases(draw: st.DrawFn, version: str, *, ages: bool) -> Record:
    """Return a release with one or two builds, on the default index or the other one."""
    builds = []
    for label in draw(st.sampled_from((("",), ("",), ("", "+x"), ("+x",)))):
        more: Record = {"devices": draw(st.sampled_from((["xpu", "cpu"],) * 4 + (["cpu"], ["xpu"])))}
        more["wheels_complete"] = draw(st.sampled_from((True, True, False)))
        more["channels"] = ["default"] if not label and draw(st.booleans()) else ["extra"]
        if ages:
            more["stage"] = draw(st.sampled_from(("stable",) * 6 + ("preview", "prototype", "source-only", "tag-only")))
        rows = draw(st.sampled_from((1, 1, 1, 2, 0)))
        wheels = [
            wheel(draw(some_pythons), draw(some_systems), basis=draw(st.sampled_from(("stated", "stated", "inferred"))))
            for _ in range(rows)
        ]
        builds.append(build(version + label, wheels=wheels, **more))
    day = draw(days)
    made = release(version, builds=builds, on=day)
    if ages and draw(st.integers(0, 5)) == 0:
        made["released"] = {"after": day, "by": date(day.year + 1, 1, 1), "sources": ["page"]}
    if ages and draw(st.integers(0, 3)) == 0:
        made["eol"] = {"last-day": draw(st.sampled_from(DAYS[1:])), "sources": ["page"]}
    return made


def terms(name: str, versions: int) -> st.SearchStrategy[str]:
    """Return terms that name at least one release."""
    exact = st.builds(lambda n: f"{name}=={VERSIONS[n]}", st.integers(0, versions - 1))
    lower = st.builds(lambda n: f"{name}>={VERSIONS[n]}", st.integers(0, versions - 1))
    upper = st.builds(lambda n: f"{name}<={VERSIONS[n]}", st.integers(0, versions - 1))
    return st.one_of(exact, exact, exact, lower, upper, st.just(name))


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
def claims(draw: st.DrawFn, sizes: dict[str, int]) -> Record:
    """Return a claim about packages, the leaf, the platform or the hardware."""
    of = draw(st.sampled_from(list(sizes)))
    kind = draw(st.sampled_from(("needs", "constrains", "verified", "verified", "verified", "breaks")))
    others = [name for name in sizes if name != of]
    to = draw(st.sampled_from((*others * 4, "lib", "lib", "lib", "python", "os", "hardware")))
    if to == "lib":
        found = [f"lib{draw(st.sampled_from(('==', '==', '>=', '<=')))}{draw(st.sampled_from(VERSIONS[:3]))}"]
    elif to in sizes:
        wide = st.just([f"{to}>=1.0"])
        found = draw(st.one_of(wide, wide, st.lists(terms(to, sizes[to]), min_size=1, max_size=2)))
    else:
        words = {"python": ("==3.11", ">=3.12"), "os": ("==linux", "==windows", "==ubuntu"), "hardware": ("==max", "==arc")}
        found = [to + draw(st.sampled_from(words[to]))]
    basis = draw(st.sampled_from(("stated", "stated", "inferred")))
    when = draw(conditions)
    return claim(kind, draw(terms(of, sizes[of])), *found, basis=basis, **({"when": when} if when else {}))


@st.composite
def worlds(draw: st.DrawFn, *, ages: bool = True) -> World:
    """Return two to four packages with their claims; `ages` allows what changes with time: yanks, ends, stages."""
    sizes = {name: draw(st.integers(2, 5)) for name in NAMES[: draw(st.integers(2, 4))]}
    said = [draw(claims(sizes)) for _ in range(4 * len(sizes)) if draw(likely)]
    products, indexes = [], []
    for name, size in sizes.items():
        more: dict[str, Any] = {"distribution": name}
        mine = [record for record in said if record["of"].startswith(name)]
        if mine and draw(st.integers(0, 5)) == 0:
            more["dispute"] = [dispute(mine[0]["id"])]
        if ages and draw(st.integers(0, 5)) == 0:
            more["complete"] = [{"what": "wheel", "of": name, "until": draw(st.sampled_from(DAYS)), "sources": ["page"]}]
        if ages and draw(st.integers(0, 5)) == 0:
            more["advisory"] = [advisory(draw(terms(name, size)), draw(st.sampled_from(("security", "known-issue"))))]
        products.append(product(name, releases=[draw(releases(v, ages=ages)) for v in VERSIONS[:size]], claims=mine, **more))
        listed = [draw(listings(version, ages=ages)) for version in VERSIONS[:size] if draw(st.booleans())]
        if listed:
            indexes.append(index(name, listed, seen=draw(st.sampled_from((TODAY, TODAY, DAYS[1]))) if ages else TODAY))
    products.append(product("lib", role="leaf", releases=draw(st.sampled_from(((), VERSIONS[:2])))))
    if "ipex" in sizes:
        recipe = {"of": "ipex==1.0", "steps": [["torch"], ["ipex"]], "waives": ["torch==1.0: lib==1.0"], "sources": ["page"]}
        products[1]["install"] = [recipe] if draw(st.booleans()) else []
    routes = [route("native", without=["ipex"]), route("ipex", "ipex", 2, **{"with": ["ipex"]})]
    return World(products, indexes, routes if draw(st.booleans()) else [route()])


@st.composite
def listings(draw: st.DrawFn, version: str, *, ages: bool) -> Record:
    """Return what the index says of a version."""
    wheels = draw(st.sampled_from(({"py3": ["any"]}, {"cp311": ["manylinux_2_28_x86_64"]}, {"cp312": ["win_amd64"]})))
    requires = draw(st.sampled_from(([], [], ["lib==1.0"], ["lib>=2.0"], ["torch==1.0"])))
    yanked = draw(st.sampled_from((None, None, *DAYS[1:]))) if ages else None
    return listing(version, on=draw(days), yanked=yanked, wheels=wheels, requires=requires)


def dispute(claim_id: str) -> Record:
    """Return a dispute that nobody has decided."""
    return {
        "id": f"about-{claim_id}", "about": "which", "claims": [claim_id], "decision": "open", "reason": "no source decides",
        "decided": TODAY, "sources": ["page"],
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
        numbers = st.integers(0, sum(len(made["build"]) for made in record["release"]) - 1)
        match draw(st.sampled_from(("free", "bare", "bare", "pin", "pin"))):
            case "bare":
                bare.append(name)
            case "pin":
                pins[name] = frozenset(draw(st.lists(numbers, min_size=1, max_size=3)))
    if draw(st.integers(0, 4)) == 0:
        pins["hardware"] = frozenset({draw(st.integers(0, 1))})
    systems = draw(st.sampled_from(((), (), (), ("ubuntu",))))
    return Case(draw(st.sampled_from(("cpu", "xpu"))), draw(st.sampled_from(DAYS)), pins, tuple(bare), systems=systems)


@st.composite
def questions(draw: st.DrawFn, *, ages: bool = True) -> tuple[World, Case]:
    """Return a world and a question about it."""
    world = draw(worlds(ages=ages))
    return world, draw(cases(world))


@checked(150)
@given(question=questions())
def test_engine_and_brute_force_agree(question: tuple[World, Case], tmp_path_factory: pytest.TempPathFactory) -> None:
    """On every platform the engine's best assignment, level and warnings are what trying everything finds."""
    world, case = question
    knowledge = world.knowledge()
    facts = compiled(knowledge, tmp_path_factory.getbasetemp())
    assert differences(Oracle(knowledge), facts, case) == []
