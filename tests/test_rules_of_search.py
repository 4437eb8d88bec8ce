"""Rules of the search and of what is near, each on the smallest world in which a slip in the code would show."""

from datetime import timedelta
from itertools import product as product_of
from pathlib import Path
from typing import Any

import pytest
from builders import (
    TODAY,
    breaks,
    build,
    constrains,
    index,
    listing,
    needs,
    product,
    release,
    request,
    route,
    universe,
    verified,
    wheel,
)
from test_promises import TORCH, ask, versions

from compatkb.core.vocabulary import Certainty
from compatkb.engine.answer import Answer, best_stacks, resolve
from compatkb.engine.stacks import SupportLink


def only_on(version: str, *pythons: str) -> dict[str, Any]:
    """Return a release with wheels for some Pythons alone."""
    return release(version, builds=[build(version, wheels=[wheel(python=pythons)])])


def test_a_version_is_given_up_before_python(tmp_path: Path) -> None:
    """What a command can change is given up first, whatever the rank of the products."""
    helper = product(
        "helper",
        rank=600,
        releases=[only_on("2.0", "3.12"), only_on("1.0", "3.11")],
        claims=[needs("helper==2.0", "torch==2.0.0"), needs("helper==1.0", "torch==2.0.0")],
    )
    answer = ask(universe(tmp_path, [product("torch", releases=["2.0.0"]), helper]), "helper==1.0", python="3.12")
    assert [near.relaxed for near in answer.nearest] == [("helper",), ("python",)]
    assert versions(answer) == []


def advised(of: str, kind: str = "driver", **more: Any) -> dict[str, Any]:
    """Return an advisory that holds since yesterday."""
    return {"of": of, "kind": kind, "message": kind, "since": TODAY - timedelta(days=1), "sources": ["page"], **more}


def told(answer: Answer) -> list[list[tuple[str, str, str]]]:
    """Return what each stack warns of: kind, product and version."""
    return [[(warned.kind, warned.product, warned.version) for warned in stack.warnings] for stack in answer.stacks]


def test_an_advisory_warns_of_its_own_builds(tmp_path: Path) -> None:
    """An advisory is told of the versions of the product that it names, from its day on, and of nothing else."""
    torch = product("torch", releases=["2.0.0", "1.0.0"], advisory=[advised("torch==2.0.0")])
    helper = product("helper", releases=["2.0", "1.0"], claims=[needs("helper", "torch")])
    facts = universe(tmp_path, [torch, helper])
    assert told(ask(facts, "torch==2.0.0", "helper==2.0")) == [[("driver", "torch", "2.0.0")]]
    assert told(ask(facts, "torch==1.0.0", "helper==2.0")) == [[]]
    assert told(ask(facts, "torch==2.0.0", as_of=TODAY - timedelta(days=2))) == [[]]
    assert told(ask(facts, "torch==2.0.0", as_of=TODAY - timedelta(days=1))) == [[("driver", "torch", "2.0.0")]]


@pytest.mark.parametrize(("condition", "cpu", "xpu"), [({"device": ["xpu"]}, 0, 1), ({"os": ["linux"]}, 1, 1), ({}, 1, 1)])
def test_an_advisory_is_told_under_its_conditions(condition: dict[str, Any], cpu: int, xpu: int, tmp_path: Path) -> None:
    """An advisory for a device or a system is told there alone."""
    torch = product("torch", releases=["2.0.0"], advisory=[advised("torch", when=condition)])
    facts = universe(tmp_path, [torch])
    for device, many in (("cpu", cpu), ("xpu", xpu)):
        assert [len(said) for said in told(ask(facts, "torch", device=device, os="linux"))] == [many]
        assert [len(said) for said in told(ask(facts, "torch", device=device, os="windows"))] == [
            many * ("os" not in condition)
        ]


def test_an_advisory_is_told_within_bounds_on_python(tmp_path: Path) -> None:
    """A condition on Python is a minor or a bound, as in claims."""
    torch = product("torch", releases=["2.0.0"], advisory=[advised("torch", when={"python": [">=3.12"]})])
    facts = universe(tmp_path, [torch])
    assert told(ask(facts, "torch", python="3.12")) == [[("driver", "torch", "2.0.0")]]
    assert told(ask(facts, "torch", python="3.11")) == [[]]


def test_an_advisory_about_neighbours_is_told_beside_them(tmp_path: Path) -> None:
    """What an advisory says of two builds together is told where both are there, and changes no preference."""
    torch = product("torch", releases=["2.0.0", "1.0.0"], advisory=[advised("torch==1.0.0", to=["helper==1.0"])])
    facts = universe(tmp_path, [torch, product("helper", releases=["2.0", "1.0"], claims=[needs("helper", "torch")])])
    assert told(ask(facts, "torch==1.0.0", "helper==1.0")) == [[("driver", "torch", "1.0.0")]]
    assert told(ask(facts, "torch==1.0.0", "helper==2.0")) == [[]]
    assert told(ask(facts, "torch==2.0.0", "helper==1.0")) == [[]]
    assert told(ask(facts, "torch==1.0.0")) == [[]]


@pytest.mark.parametrize(("kind", "taken"), [("security", "1.0.0"), ("driver", "2.0.0"), ("known-issue", "2.0.0")])
def test_what_is_insecure_is_not_brought_along(kind: str, taken: str, tmp_path: Path) -> None:
    """A build that nobody named comes in an older version where the newer one has a hole; other advice does not do that."""
    torch = product("torch", releases=["2.0.0", "1.0.0"], advisory=[advised("torch==2.0.0", kind)])
    helper = product("helper", releases=["1.0"], claims=[needs("helper==1.0", "torch")])
    facts = universe(tmp_path, [torch, helper])
    assert versions(ask(facts, "helper")) == [{"torch": taken, "helper": "1.0"}]
    assert versions(ask(facts, "helper", "torch==2.0.0")) == [{"torch": "2.0.0", "helper": "1.0"}]


def test_supported_drivers_are_told_where_they_are(tmp_path: Path) -> None:
    """The versions of a dimension that the builds vouch for are shown newest first, on the platforms where they are."""
    driver = product("driver", role="dimension", scheme="dotted", shown=True, releases=["3.0", "2.0", "1.0"])
    said = [
        verified("torch==2.0.0", "driver==1.0"),
        verified("torch==2.0.0", "driver==2.0", when={"os": ["linux"]}),
        verified("torch==2.0.0", "driver==3.0", basis="inferred"),
    ]
    torch = product("torch", releases=["2.0.0", "1.0.0"], claims=said)
    facts = universe(tmp_path, [torch, driver])
    known = {stack.os: dict(stack.known) for stack in ask(facts, "torch==2.0.0").stacks}
    assert known == {("linux",): {"driver": ("2.0", "1.0")}, ("windows",): {"driver": ("1.0",)}}
    assert [dict(stack.known) for stack in ask(facts, "torch==1.0.0").stacks] == [{}]


@pytest.mark.parametrize(("basis", "shown"), [("stated", ("1.0",)), ("inferred", ("3.0", "1.0"))])
def test_drivers_are_supported_as_well_as_the_stack(basis: str, shown: tuple[str, ...], tmp_path: Path) -> None:
    """A driver that is only inferred to do is shown with a stack that is likely itself; one that a member denies never is."""
    driver = product("driver", role="dimension", scheme="dotted", shown=True, releases=["3.0", "2.0", "1.0"])
    said = [verified("torch", "driver==1.0", "driver==2.0"), verified("torch", "driver==3.0", basis="inferred")]
    theirs = [needs("helper==1.0", "torch==2.0.0", basis=basis), breaks("helper==1.0", "driver==2.0")]
    torch = product("torch", releases=["2.0.0"], claims=said)
    facts = universe(tmp_path, [torch, driver, product("helper", releases=["1.0"], claims=theirs)])
    assert [(sorted(stack.os), dict(stack.known)) for stack in ask(facts, "helper").stacks] == [
        (["linux", "windows"], {"driver": shown})
    ]


@pytest.mark.parametrize("version", ["2.0.0", "1.0.0"])
def test_who_only_denies_hardware_leaves_it_to_others(version: str, tmp_path: Path) -> None:
    """Where the product that brings the device says no more of hardware than what breaks, another member vouches for it."""
    hardware = product("hardware", role="dimension", scheme="listed", releases=["good", "bad", "other"])
    torch = product("torch", releases=["2.0.0", "1.0.0"], claims=[breaks("torch", "hardware==bad")])
    said = [needs("helper==1.0", "torch"), verified("helper==1.0", "torch==2.0.0", "torch==1.0.0")]
    helper = product("helper", releases=["1.0"], claims=[*said, verified("helper==1.0", "hardware==good")])
    facts = universe(tmp_path, [torch, helper, hardware])
    verdicts = {name: ask(facts, f"torch=={version}", "helper", hardware=name).verdict for name in ("good", "bad", "other")}
    assert verdicts == {"good": "works", "bad": "does-not-work", "other": "unknown"}


def test_each_route_says_why_it_has_no_stack(tmp_path: Path) -> None:
    """Where two routes fail for reasons of their own, both are told, with the claims, also where those name no version."""
    fork = product("fork", releases=["2.0.0"])
    said = [breaks("helper==1.0", "torch"), breaks("helper==1.0", "fork")]
    helper = product("helper", releases=["1.0"], claims=said)
    routes = [route("native", without=["fork"]), route("forked", "fork", 2, without=["torch"])]
    answer = ask(universe(tmp_path, [TORCH, fork, helper], routes=routes), "helper==1.0")
    assert answer.verdict == "does-not-work"
    assert [(cause.route, *cause.blocker) for cause in answer.causes] == [
        ("native", "claim", "helper", "torch"),
        ("forked", "claim", "helper", "fork"),
    ]
    assert [[edge.of for edge in cause.edges] for cause in answer.causes] == [["helper"], ["helper"]]


def test_a_disputed_pin_of_a_runtime_excludes_nothing(tmp_path: Path) -> None:
    """While it is open what a build requires of a runtime, another build's pin of that runtime decides."""
    runtime = product("runtime", role="leaf", releases=["2.0", "1.0"])
    one, other = needs("torch==2.0.0", "runtime==1.0"), needs("torch==2.0.0", "runtime==2.0")
    quarrel = {"id": "d", "about": "torch", "claims": [one["id"], other["id"]], "reason": "they differ", "decided": TODAY}
    theirs = [needs("helper==1.0", "torch==2.0.0"), needs("helper==1.0", "runtime==2.0")]
    helper = product("helper", releases=["1.0"], claims=theirs)
    for decision, verdict in (("open", "works"), (one["id"], "does-not-work"), (other["id"], "works")):
        torch = product("torch", releases=["2.0.0"], claims=[one, other], dispute=[{**quarrel, "decision": decision}])
        answer = ask(universe(tmp_path / decision, [torch, helper, runtime]), "helper")
        assert (answer.verdict, bool(answer.stacks)) == (verdict, verdict == "works"), decision


def test_requires_python_counts_to_the_patch_release(tmp_path: Path) -> None:
    """A Python pinned to its patch release takes the builds whose metadata admit it; an older build stays."""
    made = [release(v, builds=[build(v, channels=["default"], wheels=[])], on=None) for v in ("2.0", "1.0")]
    torch = product("torch", distribution="torch", releases=made)
    listed = index("torch", [listing("2.0", requires_python=">=3.11.4"), listing("1.0", requires_python=">=3.11")])
    facts = universe(tmp_path, [torch], indexes=[listed])
    assert [versions(ask(facts, "torch", python=patch)) for patch in ("3.11.4", "3.11.3", "3.11")] == [
        [{"torch": "2.0"}],
        [{"torch": "1.0"}],
        [{"torch": "2.0"}],
    ]
    refused = ask(facts, "torch==2.0", python="3.11.3").causes[0].refused
    assert [(code, element.version) for code, element in refused] == [("python-patch", "2.0")]


def test_a_disputed_python_is_unknown(tmp_path: Path) -> None:
    """Where an undecided dispute leaves open whether a build runs on a Python, the answer there is unknown."""
    one, other = needs("torch==2.0.0", "python==3.11"), needs("torch==2.0.0", "python==3.11", "python==3.12")
    quarrel = {"id": "d", "about": "torch", "claims": [one["id"], other["id"]], "reason": "they differ", "decided": TODAY}
    for decision, verdict in (("open", "unknown"), (one["id"], "does-not-work"), (other["id"], "works")):
        torch = product("torch", releases=["2.0.0"], claims=[one, other], dispute=[{**quarrel, "decision": decision}])
        facts = universe(tmp_path / decision, [torch])
        assert ask(facts, "torch", python="3.12").verdict == verdict, decision
        assert ask(facts, "torch", python="3.11").verdict == "works", decision


def test_what_nothing_needs_is_not_brought_along(tmp_path: Path) -> None:
    """A package that only another version of what is asked for needs is no part of the answer, where it ranks first, too."""
    addon = product("addon", releases=["1.0"], claims=[verified("addon==1.0", "torch==2.0.0")])
    said = [
        needs("helper==2.0", "torch==2.0.0", basis="inferred"),
        needs("helper==1.0", "torch==2.0.0"),
        needs("helper==2.0", "addon==1.0"),
    ]
    helper = product("helper", releases=["2.0", "1.0"], claims=said)
    facts = universe(tmp_path, [addon, product("torch", releases=["2.0.0"]), helper])
    assert versions(ask(facts, "helper==1.0")) == [{"torch": "2.0.0", "helper": "1.0"}]
    assert versions(ask(facts, "helper==2.0")) == [{"addon": "1.0", "torch": "2.0.0", "helper": "2.0"}]
    assert {"torch": "2.0.0", "helper": "1.0"} in [*versions(ask(facts, "helper"))] + [
        {e.product: e.version for e in beside.stack.packages} for beside in ask(facts, "helper").beside
    ]
    for found in best_stacks(facts, ask(facts, "helper").request, certain_only=True):
        assert [element.product for element in found.packages] == ["torch", "helper"]


def test_a_route_serves_its_own_devices(tmp_path: Path) -> None:
    """No answer goes over a route that does not lead to the device, or that goes without what is asked for."""
    helper = product("helper", releases=["1.0"], claims=[needs("helper==1.0", "torch==2.0.0")])
    routes = [route("gpu", device=["xpu"]), route("both", rank=2, without=["helper"])]
    facts = universe(tmp_path, [TORCH, helper], routes=routes)
    taken = {
        (device, *words): [stack.route for stack in ask(facts, *words, device=device).stacks]
        for device in ("cpu", "xpu")
        for words in (("torch==2.0.0",), ("torch==2.0.0", "helper"))
    }
    assert taken == {
        ("cpu", "torch==2.0.0"): ["both"],
        ("cpu", "torch==2.0.0", "helper"): [],
        ("xpu", "torch==2.0.0"): ["gpu", "both"],
        ("xpu", "torch==2.0.0", "helper"): ["gpu"],
    }
    assert {cause.route for cause in ask(facts, "helper==1.0", "torch==1.0.0", device="xpu").causes} == {"gpu"}
    assert ask(facts, "helper==1.0", "torch==1.0.0", device="cpu").causes == ()


@pytest.mark.parametrize(
    ("pin", "taken", "beside"),
    [("2.0.0", "2.0.0+cpu", ["2.0.0"]), ("2.0.0+cpu", "2.0.0+cpu", []), ("1.0.0", "1.0.0", [])],
)
def test_the_default_index_is_shown_beside(pin: str, taken: str, beside: list[str], tmp_path: Path) -> None:
    """Where the best build is from another index, that release from the default index stands beside, if the pins admit it."""
    plain = build("2.0.0", channels=["default"], wheels=[wheel(basis="inferred")])
    made = [release("2.0.0", builds=["2.0.0+cpu", plain]), "1.0.0"]
    answer = ask(universe(tmp_path, [product("torch", releases=made)]), torch=pin)
    assert [stack.packages[0].version for stack in answer.stacks] == [taken]
    assert [each.stack.packages[0].version for each in answer.beside if each.kind == "default-index"] == beside


@pytest.mark.parametrize(("pythons", "taken"), [(("3.11", "3.12"), ("3.12",)), (("3.11",), ("3.11",))])
def test_a_successor_keeps_the_python_where_it_can(pythons: tuple[str, ...], taken: tuple[str, ...], tmp_path: Path) -> None:
    """What takes the place of an ended product is shown on the Python asked for, and on another one only if none is there."""
    ended = {"last-day": TODAY - timedelta(days=1), "sources": ["page"]}
    instead = {"product": "torch", "version": "2.0.0", "sources": ["page"]}
    old = product("old", releases=[release("1.0", eol=ended)], eol=ended, replaced_by=instead, claims=[needs("old", "torch")])
    facts = universe(tmp_path, [product("torch", releases=[only_on("2.0.0", *pythons)]), old])
    answer = ask(facts, "old==1.0", python="3.12")
    found = [each.stack for each in answer.beside if each.kind == "successor"]
    assert [stack.python for stack in found] == [taken]
    assert [[(e.product, e.version) for e in stack.packages] for stack in found] == [[("torch", "2.0.0")]]


def test_a_list_of_wheels_counts_on_its_last_day(tmp_path: Path) -> None:
    """A wheel that the index did not have on the day asked about is missing; the day after it may have come."""
    made = [release("2.0", builds=[build("2.0", channels=["default"], wheels=[], wheels_complete=False)], on=None)]
    listed = index("torch", [listing("2.0", wheels={"cp311": ["manylinux_2_28_x86_64"]})], seen=TODAY)
    facts = universe(tmp_path, [product("torch", distribution="torch", releases=made)], indexes=[listed])
    verdicts = [
        [ask(facts, "torch==2.0", python=python, os="linux", as_of=day).verdict for python in ("3.11", "3.12")]
        for day in (TODAY, TODAY + timedelta(days=1))
    ]
    assert verdicts == [["works", "does-not-work"], ["works", "unknown"]]


def test_what_is_needed_may_need_more_itself(tmp_path: Path) -> None:
    """Packages that nobody named come along as far as needs lead to them; of an element that only bounds one it stays away."""
    claims = [needs("ext", "torch"), needs("ext==2.0", "helper"), constrains("ext==1.0", "helper==1.0")]
    facts = universe(
        tmp_path,
        [
            product("torch", releases=["2.0.0"]),
            product("ext", rank=500, releases=["2.0", "1.0"], claims=claims),
            product("helper", rank=600, releases=["1.0"], claims=[needs("helper", "base")]),
            product("base", rank=700, releases=["1.0"]),
        ],
    )
    assert versions(ask(facts, "ext")) == [{"torch": "2.0.0", "ext": "2.0", "helper": "1.0", "base": "1.0"}]
    assert versions(ask(facts, "ext==1.0")) == [{"torch": "2.0.0", "ext": "1.0"}]


def test_a_pinned_runtime_is_one_that_metadata_admit(tmp_path: Path) -> None:
    """A runtime that a claim pins stands in the stack in the newest version that the metadata of all members leave."""
    ext = product("ext", distribution="ext", releases=["1.0"], claims=[needs("ext", "torch"), needs("ext", "rt==1.*")])
    num = product("rt", distribution="rt", role="leaf", releases=["2.0", "1.5", "1.4"])
    published = release("1.0", builds=[build("1.0", channels=["default"])])
    helper = product("helper", distribution="helper", releases=[published], claims=[needs("helper", "torch")])
    listed = index("helper", [listing("1.0", requires=["rt<1.5"])])
    facts = universe(tmp_path, [product("torch", releases=["2.0.0"]), ext, helper, num], indexes=[listed])
    assert versions(ask(facts, "ext")) == [{"torch": "2.0.0", "ext": "1.0", "rt": "1.5"}]
    assert versions(ask(facts, "ext", "helper")) == [{"torch": "2.0.0", "ext": "1.0", "helper": "1.0", "rt": "1.4"}]


def test_a_build_for_company_leaves_the_others_alone(tmp_path: Path) -> None:
    """Where a newer build is of use beside another product only, an older one is taken without that."""
    company = release("2.0", builds=[build("2.0", only_with=["ext"])])
    helper = product("helper", rank=600, releases=[company, "1.0"], claims=[needs("helper", "torch")])
    ext = product("ext", rank=500, releases=["1.0"], claims=[needs("ext", "torch")])
    facts = universe(tmp_path, [product("torch", releases=["2.0.0"]), helper, ext])
    assert versions(ask(facts, "helper")) == [{"torch": "2.0.0", "helper": "1.0"}]
    assert versions(ask(facts, "helper", "ext")) == [{"torch": "2.0.0", "ext": "1.0", "helper": "2.0"}]


def on(system: str, version: str) -> dict[str, Any]:
    """Return a release with wheels for one system alone."""
    return release(version, builds=[build(version, wheels=[wheel(os=[system])])])


def test_a_stack_on_linux_comes_before_a_newer_one_on_windows(tmp_path: Path) -> None:
    """Of stacks that are as good the family of systems counts before the versions."""
    helper = product(
        "helper", rank=600, releases=[on("windows", "2.0"), on("linux", "1.0")], claims=[needs("helper", "torch")]
    )
    answer = ask(universe(tmp_path, [product("torch", releases=["2.0.0"]), helper]), "helper")
    assert [(stack.os, stack.packages[-1].version) for stack in answer.stacks] == [(("linux",), "1.0"), (("windows",), "2.0")]


def test_what_is_on_different_systems_is_on_none_together(tmp_path: Path) -> None:
    """Packages of which each has wheels for another system make no stack, not even an unknown one."""
    one = product("one", rank=600, releases=[on("linux", "1.0")], claims=[needs("one", "torch")])
    other = product("other", rank=700, releases=[on("windows", "1.0")], claims=[needs("other", "torch")])
    answer = ask(universe(tmp_path, [product("torch", releases=["2.0.0"]), one, other]), "one", "other")
    assert (versions(answer), answer.verdict) == ([], "does-not-work")


@pytest.mark.parametrize("wider", ["windows", "linux"])
def test_of_what_is_near_the_widest_stack_on_linux_is_told(wider: str, tmp_path: Path) -> None:
    """A way out that is one set on several platforms is shown on Linux, even where it is wider elsewhere."""
    few, more = ["3.11"], ["3.11", "3.12"]
    pythons = {"windows": more, "linux": few} if wider == "windows" else {"windows": few, "linux": more}
    rows = [wheel(os=[system], python=some) for system, some in pythons.items()]
    claims = [needs("helper==2.0", "torch==1.0.0"), needs("helper==1.0", "torch==2.0.0")]
    helper = product("helper", rank=600, releases=["2.0", release("1.0", builds=[build("1.0", wheels=rows)])], claims=claims)
    answer = ask(universe(tmp_path, [product("torch", releases=["2.0.0", "1.0.0"]), helper]), "torch==2.0.0", "helper==2.0")
    found = {near.relaxed: (near.stack.os, near.stack.python) for near in answer.nearest}
    assert found[("helper",)] == (("linux",), tuple(pythons["linux"]))


def test_a_stack_says_who_speaks_for_it_and_how(tmp_path: Path) -> None:
    """The verdict of a stack is that of its weakest link: stated, inferred, or nothing at all; each names its own claims."""
    said = needs("helper", "torch")
    stated = verified("helper==2.0", "torch==2.0.0")
    inferred = verified("helper==1.0", "torch==2.0.0", basis="inferred", note="n")
    elsewhere = breaks("helper", "torch==2.0.0", when={"os": ["windows"]})
    other = breaks("helper==3.0", "torch==1.0.0")
    helper = product("helper", rank=600, releases=["3.0", "2.0", "1.0"], claims=[said, stated, inferred, elsewhere, other])
    facts = universe(tmp_path, [product("torch", releases=["2.0.0", "1.0.0"]), helper])
    for version, verdict, level, claims in (
        ("3.0", "unknown", Certainty.UNKNOWN, (other, said)),  # of a version before those of any
        ("2.0", "works", Certainty.CERTAIN, (stated, said)),
        ("1.0", "likely", Certainty.INFERRED, (inferred, said)),
    ):
        stack = ask(facts, "torch==2.0.0", f"helper=={version}", os="linux").stacks[0]
        assert stack.verdict == verdict
        assert stack.links == (SupportLink("torch", "helper", level, tuple(claim["id"] for claim in claims)),)


@pytest.mark.parametrize("word", ["helper", "helper==1.0"])
def test_a_build_for_another_device_is_none_for_this_one(word: str, tmp_path: Path) -> None:
    """Where the provider says nothing against it, a package without builds for a device is in no stack for it."""
    only = release("1.0", builds=[build("1.0", devices=["cpu"])])
    helper = product("helper", rank=600, releases=[only], claims=[constrains("helper", "torch")])
    facts = universe(tmp_path, [product("torch", releases=["2.0.0"]), helper])
    answers = [ask(facts, word, device=device) for device in ("cpu", "xpu")]
    assert [answer.verdict for answer in answers] == ["unknown", "does-not-work"]
    assert [cause.blocker for cause in answers[1].causes] == [("offer", "helper")]


def test_what_binds_every_release_binds_those_to_come(tmp_path: Path) -> None:
    """What all releases of a package exclude on a system no release makes good there; elsewhere they go."""
    said = [needs("helper", "torch"), breaks("helper", "torch==2.0.0", when={"os": ["windows"]})]
    helper = product("helper", rank=600, releases=["2.0", "1.0"], claims=said)
    facts = universe(tmp_path, [product("torch", releases=["2.0.0"]), helper])
    found = {system: ask(facts, "helper", "torch==2.0.0", os=system) for system in ("windows", "linux")}
    assert {system: answer.verdict for system, answer in found.items()} == {"windows": "does-not-work", "linux": "unknown"}


def test_beside_what_nobody_speaks_for_stands_what_somebody_does(tmp_path: Path) -> None:
    """Where the only stack is unknown, the nearest one that is known is told too."""
    claims = [constrains("helper", "torch"), needs("helper==1.0", "torch==2.0.0")]
    helper = product("helper", rank=600, releases=["2.0", "1.0"], claims=claims)
    answer = ask(universe(tmp_path, [product("torch", releases=["2.0.0"]), helper]), "torch==2.0.0", "helper==2.0")
    assert (answer.verdict, [near.relaxed for near in answer.nearest]) == ("unknown", [("helper",)])


def test_a_pinned_runtime_is_linked_to_who_speaks_of_it(tmp_path: Path) -> None:
    """What goes along in front of the packages of the search has links to them, too."""
    numbers = product("numbers", role="leaf", rank=1, releases=["2.0", "1.0"])
    said = [needs("helper", "torch"), needs("helper", "numbers==2.0")]
    helper = product("helper", rank=600, releases=["1.0"], claims=said)
    facts = universe(tmp_path, [product("torch", releases=["2.0.0"]), helper, numbers])
    (stack,) = ask(facts, "helper", "numbers==2.0").stacks
    assert {(link.one, link.other): link.claims for link in stack.links} == {
        ("numbers", "helper"): (said[1]["id"],),
        ("torch", "helper"): (said[0]["id"],),
    }


@pytest.mark.parametrize("broken", ["3.11", "3.12"])
def test_a_runtime_has_to_be_there_where_it_is_needed(broken: str, tmp_path: Path) -> None:
    """Where the only version that a package admits cannot be, the package cannot be either."""
    said = [breaks("numbers==2.0", f"python=={broken}")]
    numbers = product("numbers", role="leaf", rank=900, releases=["3.0", "2.0", "1.0"], claims=said)
    helper = product("helper", rank=600, releases=["1.0"], claims=[needs("helper", "torch"), needs("helper", "numbers==2.0")])
    facts = universe(tmp_path, [product("torch", releases=["2.0.0"]), helper, numbers])
    found = {version: ask(facts, "helper", python=version).verdict for version in ("3.11", "3.12")}
    assert found == {"3.11": "unknown", "3.12": "unknown", broken: "does-not-work"}


@pytest.mark.parametrize("back", [False, True])
def test_a_patch_release_that_nobody_named_is_warned_of(back: bool, tmp_path: Path) -> None:
    """A build that names one release exactly is warned of beside another one of its series, unless that names the build."""
    claims = [verified("torch==2.0.1", "ext==1.0")] if back else []
    torch = product("torch", releases=["2.1.0", "2.0.1", "2.0.0"], claims=claims)
    ext = product("ext", rank=500, releases=["1.0"], claims=[needs("ext", "torch"), verified("ext==1.0", "torch==2.0.0")])
    facts = universe(tmp_path, [torch, ext])
    found = {
        version: [(w.kind, w.product, w.detail) for w in ask(facts, "ext==1.0", f"torch=={version}").stacks[0].warnings]
        for version in ("2.1.0", "2.0.1", "2.0.0")
    }
    assert found == {"2.1.0": [], "2.0.1": [] if back else [("unnamed", "ext", "torch 2.0.0")], "2.0.0": []}


def test_a_pin_that_admits_nothing_has_no_series_beside_it(tmp_path: Path) -> None:
    """Where no version is admitted, no series is below or above: the best of all is near."""
    answer = resolve(facts := universe(tmp_path, [TORCH]), request(facts, {"torch": ()}))
    assert (answer.verdict, [near.where for near in answer.nearest]) == ("does-not-work", ["best"])


def test_what_is_near_keeps_every_pin_that_it_does_not_name(tmp_path: Path) -> None:
    """Over all pins of three packages that go together number by number, and a Python, a near stack holds to the others."""
    numbers, names = ("3.0", "2.0", "1.0"), ("torch", "helper", "extra")
    made = [
        product(name, releases=numbers, claims=[needs(f"{name}=={n}", f"torch=={n}") for n in numbers]) for name in names[1:]
    ]
    facts, kept = universe(tmp_path, [product("torch", releases=numbers), *made]), 0
    for chosen in product_of(numbers, repeat=len(names)):
        question = request(facts, {**dict(zip(names, chosen, strict=True)), "python": "3.11"})
        for near in resolve(facts, question).nearest:
            held = {element.product: element.version for element in near.stack.packages} | {"python": near.stack.python[0]}
            left = {pin.product: pin.text for pin in question.pins if pin.product not in near.relaxed}
            assert held | left == held, (chosen, near.relaxed)
            kept += "torch" in left or "helper" in left
    assert kept >= len(numbers) ** len(names) - len(numbers)


@pytest.mark.parametrize("word", ["old", "old==1.0"])
@pytest.mark.parametrize("system", ["linux", "windows"])
def test_a_successor_is_shown_on_the_systems_of_what_it_replaces(system: str, word: str, tmp_path: Path) -> None:
    """Whoever has an ended product has a system that it runs on."""
    ended = {"last-day": TODAY - timedelta(days=1), "sources": ["page"]}
    instead = {"product": "torch", "version": "2.0.0", "sources": ["page"]}
    only = release("1.0", eol=ended, builds=[build("1.0", wheels=[wheel(os=[system])])])
    old = product("old", releases=[only], eol=ended, replaced_by=instead, claims=[needs("old", "torch")])
    answer = ask(universe(tmp_path, [product("torch", releases=["2.0.0"]), old]), word)
    assert [each.stack.os for each in answer.beside if each.kind == "successor"] == [(system,)]


def test_a_cause_names_the_claims_that_deny(tmp_path: Path) -> None:
    """What two products say of each other besides is no cause."""
    denial = breaks("helper", "torch==2.0.0")
    said = [needs("helper", "torch>=1.0"), constrains("helper", "torch<3"), denial]
    facts = universe(tmp_path, [TORCH, product("helper", rank=600, releases=["1.0"], claims=said)])
    (cause,) = ask(facts, "helper==1.0", "torch==2.0.0").causes
    assert [edge.claim for edge in cause.edges] == [denial["id"]]


def test_a_runtime_that_is_broken_in_every_version_cannot_come_along(tmp_path: Path) -> None:
    """What breaks every version of a runtime breaks those that the data do not list, too."""
    numbers = product("numbers", role="leaf", rank=900, releases=["2.0", "1.0"])
    said = [needs("helper", "torch==2.0.0"), needs("helper", "numbers<2")]
    helper = product("helper", rank=600, releases=["1.0"], claims=said)
    torch = product("torch", releases=["2.0.0"], claims=[breaks("torch", "numbers>=0")])
    assert ask(universe(tmp_path, [torch, helper, numbers]), "helper").verdict == "does-not-work"


@pytest.mark.parametrize(
    ("stage", "pinned", "kinds"),
    [("stable", "2.0", {"claim", "offer"}), ("source-only", "2.0", {"offer"}), ("stable", "1.0", {"offer"})],
)
def test_why_a_build_for_another_device_does_not_go(stage: str, pinned: str, kinds: set[str], tmp_path: Path) -> None:
    """That another version is demanded is a reason too, if it is another one, and if the build was published."""
    more: dict[str, Any] = {} if stage == "stable" else {"wheels": [], "channels": []}
    made = build(pinned, devices=["cpu"], stage=stage, **more)
    helper = product("helper", rank=600, releases=[release(pinned, builds=[made])])
    torch = product("torch", releases=["2.0.0"], claims=[needs("torch", "helper==1.0")])
    answer = ask(universe(tmp_path, [torch, helper]), "torch==2.0.0", f"helper=={pinned}", device="xpu")
    assert {cause.blocker[0] for cause in answer.causes} == kinds


def test_what_no_release_can_be_on_no_release_to_come_can_be_on(tmp_path: Path) -> None:
    """A claim on every release of a package counts for those that the data may lack."""
    said = [needs("helper", "torch"), breaks("helper", "python==3.12")]
    helper = product("helper", rank=600, releases=["2.0", "1.0"], claims=said, complete=[])
    facts = universe(tmp_path, [product("torch", releases=["2.0.0"]), helper])
    found = [ask(facts, "helper", python=version).verdict for version in ("3.11", "3.12")]
    assert found == ["unknown", "does-not-work"]


@pytest.mark.parametrize(("torch", "verdict"), [("2.0.0", "works"), ("1.0.0", "does-not-work")])
def test_a_recipe_waives_what_its_own_build_requires(torch: str, verdict: str, tmp_path: Path) -> None:
    """What the maker of one package tells to ignore of a build of another one holds for other builds as before."""
    numbers = product("numbers", role="leaf", rank=900, releases=["2.0", "1.0"])
    releases = ["2.0.0", "1.3.0", "1.2.0", "1.1.0", "1.0.0"]
    provider = product("torch", releases=releases, claims=[needs("torch", "numbers==1.0")])
    recipe = {"of": "helper==1.0", "steps": [["torch"], ["helper"]], "waives": ["torch==2.0.0: numbers==1.0"]}
    said = [needs("helper", "torch==2.0.0", "torch==1.0.0"), needs("helper", "numbers==2.0")]
    helper = product("helper", rank=600, releases=["1.0"], claims=said, install=[{**recipe, "sources": ["page"]}])
    facts = universe(tmp_path, [provider, helper, numbers])
    assert ask(facts, "helper==1.0", f"torch=={torch}").verdict == verdict


def test_a_driver_is_shown_where_it_can_be(tmp_path: Path) -> None:
    """A driver that is said not to go with a system is not shown on it, whoever supports it."""
    claims = [breaks("driver==1.0", "os==windows")]
    driver = product("driver", role="dimension", scheme="dotted", shown=True, releases=["1.0"], claims=claims)
    torch = product("torch", releases=["2.0.0"], claims=[verified("torch==2.0.0", "driver==1.0")])
    stacks = ask(universe(tmp_path, [torch, driver]), "torch").stacks
    assert {stack.os: stack.known.get("driver") for stack in stacks} == {("linux",): ("1.0",), ("windows",): None}


def test_a_runtime_that_comes_along_is_linked_to_who_speaks_of_it(tmp_path: Path) -> None:
    """Whatever its rank, a runtime that nobody asked for has a link to the package that needs it."""
    numbers = product("numbers", role="leaf", rank=1, releases=["2.0", "1.0"])
    said = [needs("helper", "torch"), needs("helper", "numbers==2.0")]
    helper = product("helper", rank=600, releases=["1.0"], claims=said)
    (stack,) = ask(universe(tmp_path, [product("torch", releases=["2.0.0"]), helper, numbers]), "helper").stacks
    assert {(link.one, link.other) for link in stack.links} == {("numbers", "helper"), ("torch", "helper")}


def test_a_glibc_is_one_of_linux(tmp_path: Path) -> None:
    """Whoever pins glibc asks about Linux, named or not."""
    glibc = product("glibc", role="dimension", scheme="dotted", releases=["2.35"], machine="system")
    rows = [wheel(os=["linux"], glibc="2.28"), wheel(os=["windows"], glibc="0")]
    torch = product("torch", releases=[release("2.0.0", builds=[build("2.0.0", wheels=rows)])])
    stacks = ask(universe(tmp_path, [torch, glibc]), "torch", "glibc==2.35").stacks
    assert {system for stack in stacks for system in stack.os} == {"linux"}


def test_a_doubt_makes_nothing_of_what_is_not_there(tmp_path: Path) -> None:
    """What is only inferred of a pair lowers it where both are, and adds no platform."""
    only = release("1.0", builds=[build("1.0", wheels=[wheel(os=["linux"])])])
    said = [needs("helper", "torch==2.0.0", basis="inferred")]
    facts = universe(tmp_path, [TORCH, product("helper", rank=600, releases=[only], claims=said)])
    stacks = ask(facts, "helper==1.0", "torch==2.0.0").stacks
    assert {(system, stack.level) for stack in stacks for system in stack.os} == {("linux", Certainty.INFERRED)}


def test_whoever_speaks_for_a_package_counts(tmp_path: Path) -> None:
    """A package is supported by any other one, not by the provider alone."""
    ext = product("ext", rank=500, releases=["1.0"], claims=[needs("ext", "torch==2.0.0")])
    helper = product("helper", rank=600, releases=["1.0"], claims=[verified("helper==1.0", "ext==1.0")])
    facts = universe(tmp_path, [TORCH, ext, helper])
    assert ask(facts, "helper==1.0", "ext==1.0", "torch==2.0.0").verdict == "works"


def test_beside_what_is_likely_stands_what_is_proven(tmp_path: Path) -> None:
    """Where the newest is only inferred, the newest of which all is stated is told too."""
    said = [verified("ext", "torch==2.1.0", basis="inferred"), verified("ext", "torch==2.0.0")]
    ext = product("ext", rank=600, releases=["1.0"], claims=said)
    answer = ask(universe(tmp_path, [product("torch", releases=["2.1.0", "2.0.0"]), ext]), "ext")
    assert (answer.verdict, versions(answer)[0]["torch"]) == ("likely", "2.1.0")
    proven = [each.stack for each in answer.beside if each.kind == "proven"]
    assert [[e.version for e in stack.packages if e.product == "torch"] for stack in proven] == [["2.0.0"]]


def test_a_bound_on_a_driver_is_told_as_it_is_written(tmp_path: Path) -> None:
    """Where a maker names the oldest driver, that is shown, and no version."""
    driver = product("driver", role="dimension", scheme="dotted", shown=True, releases=["2.0", "1.0"])
    torch = product("torch", releases=["2.0.0"], claims=[verified("torch==2.0.0", "driver>=1.0")])
    (stack,) = ask(universe(tmp_path, [torch, driver]), "torch").stacks
    assert {**stack.known, **dict(stack.bounds)}["driver"] == (">=1.0",)
