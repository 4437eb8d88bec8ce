"""What is said of features, and what a request that needs some of them is answered."""

import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from agreement import Case, broken_promises, differences, unsound_causes
from builders import (
    SYSTEMS,
    TODAY,
    Record,
    bare_release,
    breaks,
    build,
    compiled,
    data_directory,
    feature,
    files_of,
    needs,
    platform,
    product,
    release,
    route,
    statement,
    verified,
)
from conftest import Run, clock
from oracle import Oracle

from compatkb.authoring.build_knowledge import build_knowledge
from compatkb.engine.answer import Answer, resolve
from compatkb.engine.stacks import Stack
from compatkb.errors import DataError, UsageError
from compatkb.request.lookup import find_feature
from compatkb.request.parser import make_request
from compatkb.store.reader import Snapshot

XPU = ("xpu",)


def torch(*said: Record, releases: Iterable[Any] = ("1.0", "2.0"), **more: Any) -> Record:
    """Return torch."""
    return product("torch", releases=releases, claims=said, **more)


def hardware() -> Record:
    """Return two cards, and the family of both."""
    values = [bare_release("card"), bare_release("arc", part_of=["card"]), bare_release("max", part_of=["card"])]
    return product("hardware", role="dimension", scheme="listed", rank=540, releases=values)


def world(folder: Path, products: Iterable[Record], features: Iterable[Record], **more: Any) -> tuple[Oracle, Snapshot]:
    """Return a made-up knowledge base, as brute force and as the engine read it."""
    dimensions = [*platform(pythons=("3.11", "3.12"), systems=(*SYSTEMS, ("ubuntu", "linux"))), hardware()]
    knowledge = build_knowledge(files_of(products, features=features, dimensions=dimensions, **more))
    return Oracle(knowledge), compiled(knowledge, folder)


def asked(facts: Snapshot, *words: str, needs: Iterable[str] = ("f",), device: str = "xpu") -> Answer:
    """Return the answer to words that need a feature."""
    return resolve(facts, make_request(facts, (), words, (device,), clock(), tuple(needs)))


def best(answer: Answer) -> dict[str, str]:
    """Return the versions of the best stack."""
    return best_of(answer.stacks[0])


def best_of(stack: Stack) -> dict[str, str]:
    """Return the versions of a stack."""
    return {e.product: e.version for e in stack.packages}


def agrees(oracle: Oracle, facts: Snapshot, *words: str, needs: Iterable[str] = ("f",), device: str = "xpu") -> list[str]:
    """Return where engine and brute force differ on a question, and which causes are not needed."""
    request = make_request(facts, (), words, (device,), clock(), tuple(needs))
    pins, platforms = {}, {"python": (), "os": ()}
    for pin in request.pins:
        numbers = [n for n in range(pin.mask.bit_length()) if pin.mask >> n & 1]
        if pin.product in platforms:
            platforms[pin.product] = tuple(facts.grid[pin.product][n] for n in numbers)
        else:
            pins[pin.product] = frozenset(numbers)
    case = Case(device, TODAY, pins, request.bare, platforms["python"], platforms["os"])
    return differences(oracle, facts, case) + broken_promises(oracle, facts, case) + unsound_causes(facts, case)


RULES = [
    pytest.param([statement("torch>=2.0")], ["torch==2.0"], "works", id="stated"),
    pytest.param([statement("torch>=2.0")], ["torch==1.0"], "unknown", id="silence-is-no-denial"),
    pytest.param([statement("torch<2.0", "not-supported")], ["torch==1.0"], "does-not-work", id="denied"),
    pytest.param([statement("torch<2.0", "not-supported")], ["torch==2.0"], "unknown", id="denial-of-others-is-no-support"),
    pytest.param([statement("torch>=2.0", "removed")], ["torch==2.0"], "does-not-work", id="removed"),
    pytest.param([statement("torch>=2.0", basis="inferred")], ["torch==2.0"], "likely", id="inferred"),
    pytest.param([statement("torch<2.0", "not-supported", basis="inferred")], ["torch==1.0"], "unknown", id="inferred-denial"),
    pytest.param([statement("torch>=2.0", "prototype")], ["torch==2.0"], "works-with-warnings", id="prototype"),
    pytest.param([statement("torch>=2.0", "beta")], ["torch==2.0"], "works-with-warnings", id="beta"),
    pytest.param(
        [statement("torch>=2.0", "prototype"), statement("torch>=2.0", when={"os": ["linux"]})],
        ["torch==2.0", "os==linux"],
        "works",
        id="the-stage-that-has-come-furthest",
    ),
    pytest.param(
        [statement("torch>=2.0", "prototype"), statement("torch>=2.0", when={"os": ["linux"]})],
        ["torch==2.0", "os==windows"],
        "works-with-warnings",
        id="the-stage-of-this-system",
    ),
    pytest.param([statement("torch>=1.0", when={"os": ["linux"]})], ["os==ubuntu"], "works", id="family-of-systems"),
    pytest.param([statement("torch>=1.0", when={"os": ["linux"]})], ["os==windows"], "unknown", id="another-system"),
    pytest.param([statement("torch>=1.0", when={"device": ["cpu"]})], [], "unknown", id="another-device"),
    pytest.param([statement("torch>=1.0", when={"device": ["xpu"]})], [], "works", id="this-device"),
    pytest.param([statement("torch>=1.0", when={"python": ["3.11"]})], ["python==3.11"], "works", id="this-python"),
    pytest.param([statement("torch>=1.0", when={"python": ["3.11"]})], ["python==3.12"], "unknown", id="another-python"),
    pytest.param(
        [statement("torch>=1.0"), statement("torch>=1.0", "not-supported", when={"python": [">=3.12"]})],
        ["python==3.12"],
        "does-not-work",
        id="a-denial-outweighs",
    ),
    pytest.param(
        [statement("torch>=1.0"), statement("torch>=1.0", "not-supported", when={"python": [">=3.12"]})],
        ["python==3.11"],
        "works",
        id="a-denial-elsewhere-does-not",
    ),
    pytest.param([statement("torch>=1.0", when={"hardware": ["arc"]})], ["hardware==arc"], "works", id="this-hardware"),
    pytest.param([statement("torch>=1.0", when={"hardware": ["arc"]})], ["hardware==max"], "unknown", id="other-hardware"),
    pytest.param([statement("torch>=1.0", when={"hardware": ["arc"]})], [], "unknown", id="hardware-not-named"),
    pytest.param([statement("torch>=1.0", when={"hardware": ["arc"]})], ["hardware==card"], "unknown", id="one-of-a-family"),
    pytest.param([statement("torch>=1.0", when={"hardware": ["card"]})], ["hardware==arc"], "works", id="whole-family"),
    pytest.param(
        [statement("torch>=1.0"), statement("torch>=1.0", "not-supported", when={"hardware": ["arc"]})],
        ["hardware==arc"],
        "does-not-work",
        id="denied-on-this-hardware",
    ),
    pytest.param(
        [statement("torch>=1.0"), statement("torch>=1.0", "not-supported", when={"hardware": ["arc"]})],
        ["hardware==card"],
        "unknown",
        id="denied-on-some-of-a-family",
    ),
    pytest.param(
        [statement("torch>=1.0"), statement("torch>=1.0", "not-supported", when={"hardware": ["arc"]})],
        ["hardware==max"],
        "works",
        id="denied-on-other-hardware",
    ),
]


@pytest.mark.parametrize(("said", "words", "verdict"), RULES)
def test_rule(said: list[Record], words: list[str], verdict: str, tmp_path: Path) -> None:
    """A statement is good for the versions, device, system, Python and hardware that it names, and nothing else is."""
    spoken = [verified("torch", "hardware==card", "hardware==arc", "hardware==max")]
    oracle, facts = world(tmp_path, [torch(*spoken)], [feature("f", *said)])
    assert asked(facts, *words).verdict == verdict
    assert agrees(oracle, facts, *words) == []


def test_newest_release_that_has_it(tmp_path: Path) -> None:
    """With nothing pinned, the newest release of which it is stated is better than newer ones of which nothing is known."""
    oracle, facts = world(tmp_path, [torch(releases=("1.0", "2.0", "3.0"))], [feature("f", statement("torch<3.0"))])
    assert best(asked(facts)) == {"torch": "2.0"}
    assert best(asked(facts, needs=())) == {"torch": "3.0"}
    assert agrees(oracle, facts) == []


def test_fewer_warnings_before_newer(tmp_path: Path) -> None:
    """A release that has it finished is better than a newer one of its series that has a prototype."""
    said = [statement("torch==2.0.0"), statement("torch==2.0.1", "prototype")]
    oracle, facts = world(tmp_path, [torch(releases=("1.0", "2.0.0", "2.0.1"))], [feature("f", *said)])
    assert best(asked(facts)) == {"torch": "2.0.0"}
    warned = asked(facts, "torch==2.0.1").stacks[0].warnings
    assert [(w.kind, w.product, w.version, w.detail) for w in warned] == [("feature", "torch", "2.0.1", "f prototype")]
    assert warned[0].sources == (("https://example.org/", "https://example.org/"),)
    assert agrees(oracle, facts) == []


def test_cause_names_the_feature(tmp_path: Path) -> None:
    """Why there is none: the feature and the product that lacks it; near is giving up one or the other."""
    said = [statement("torch==1.0"), statement("torch>=2.0,<3.0", "not-supported", when={"os": ["windows"]})]
    _, facts = world(tmp_path, [torch(releases=("1.0", "2.0"))], [feature("f", *said)])
    answer = asked(facts, "torch==2.0", "os==windows")
    assert [(c.blocker, c.certain) for c in answer.causes] == [(("claim", "f", "torch"), True)]
    near = {n.relaxed: {e.product: e.version for e in n.stack.packages} for n in answer.nearest}
    assert near[("torch",)] == {"torch": "1.0"}
    assert near[("f",)] == {"torch": "2.0"}


def test_near_is_the_nearest_series_that_has_it(tmp_path: Path) -> None:
    """The nearest series below and above are those of which the feature is said, however many lie between."""
    torches = torch(verified("torch", "hardware==arc"), releases=[f"{n}.0" for n in range(1, 9)])
    said = [statement("torch==1.0"), statement("torch==7.0"), statement("torch==4.0", "not-supported")]
    _, facts = world(tmp_path, [torches], [feature("f", *said)])
    near = {(n.relaxed, n.where): best_of(n.stack) for n in asked(facts, "torch==4.0", "hardware==arc").nearest}
    assert near[("torch",), "below"] == {"torch": "1.0"}
    assert near[("torch",), "above"] == {"torch": "7.0"}
    assert near[("f",), "best"] == {"torch": "4.0"}


def test_denial_beyond_the_complete_list_is_not_certain(tmp_path: Path) -> None:
    """Where releases may exist that nobody lists by the day that is asked about, a denial of all known ones leaves it open."""
    said = [statement("torch>=1.0", "not-supported")]
    for ended, verdict in ((True, "does-not-work"), (False, "unknown")):
        scope = {"what": "release", "of": "torch", "until": "2020-01-01", "ended": ended, "sources": ["page"]}
        _, facts = world(tmp_path, [torch(complete=[scope])], [feature("f", *said)])
        asked_about = make_request(facts, (), (), XPU, clock(TODAY), ("f",))
        assert resolve(facts, asked_about).verdict == verdict


def test_all_that_is_needed(tmp_path: Path) -> None:
    """Of several features each must be there; one that is not known makes the answer unknown."""
    features = [
        feature("f", statement("torch>=1.0")),
        feature("g", statement("torch==1.0")),
        feature("h", statement("torch<1.0")),
    ]
    oracle, facts = world(tmp_path, [torch(releases=("0.9", "1.0", "2.0"))], features)
    assert best(asked(facts, needs=("f", "g"))) == {"torch": "1.0"}
    assert asked(facts, needs=("f", "g", "h")).verdict == "unknown"
    assert agrees(oracle, facts, needs=("f", "g")) + agrees(oracle, facts, needs=("f", "g", "h")) == []


def ccl(*said: Record) -> Record:
    """Return bindings for two releases of torch."""
    pins = [needs("ccl==1.0", "torch==1.0"), needs("ccl==2.0", "torch==2.0")]
    return product("ccl", releases=["1.0", "2.0"], claims=[*pins, *said])


def test_product_that_brings_it(tmp_path: Path) -> None:
    """What a feature comes with is in the stack, in a version of which the feature is said."""
    features = [feature("f", statement("ccl==1.0"), product="ccl", needs="ccl")]
    oracle, facts = world(tmp_path, [torch(), ccl()], features)
    assert best(asked(facts)) == {"torch": "1.0", "ccl": "1.0"}
    assert best(asked(facts, needs=())) == {"torch": "2.0"}
    assert asked(facts, "torch==2.0").verdict == "unknown"
    assert agrees(oracle, facts) + agrees(oracle, facts, "torch==2.0") == []


def test_feature_vouches_for_nothing(tmp_path: Path) -> None:
    """That a package has a feature is no word about it and torch together; a word about both is."""
    alone, known = (
        product("extra", releases=["1.0"]),
        product("extra", releases=["1.0"], claims=[verified("extra", "torch>=1.0")]),
    )
    for extra, verdict in ((alone, "unknown"), (known, "works")):
        oracle, facts = world(tmp_path, [torch(), extra], [feature("f", statement("extra>=1.0"), statement("torch>=1.0"))])
        assert asked(facts, "extra").verdict == verdict
        assert agrees(oracle, facts, "extra") == []


def test_companion_is_not_vouched_for_by_a_feature(tmp_path: Path) -> None:
    """A companion stands in a stack because something else than the feature speaks of it there."""
    for said, shown in (([], False), ([verified("vision", "torch>=1.0")], True)):
        vision = product("vision", role="companion", releases=["1.0"], claims=said)
        oracle, facts = world(tmp_path, [torch(), vision], [feature("f", statement("torch>=1.0"), statement("vision>=1.0"))])
        assert ("vision" in best(asked(facts))) is shown
        assert agrees(oracle, facts) == []


@pytest.mark.parametrize(("more", "verdict"), [({}, "unknown"), ({"vendor-builds": True}, "works")])
def test_builds_of_other_makers(more: Record, verdict: str, tmp_path: Path) -> None:
    """What a maker says, it says of its own builds; of others' only where the statement says so."""
    builds = [build("1.0"), build("1.0+vendor", maker="vendor")]
    torches = torch(releases=[release("1.0", builds=builds)])
    oracle, facts = world(tmp_path, [torches], [feature("f", statement("torch>=1.0", **more))])
    assert asked(facts, "torch==1.0").verdict == "works"
    assert asked(facts, "torch==1.0+vendor").verdict == verdict
    assert agrees(oracle, facts, "torch==1.0+vendor") == []


def test_build_named_by_its_label(tmp_path: Path) -> None:
    """A statement that names a vendor's build is about it, and about no other build."""
    torches = torch(releases=[release("1.0", builds=[build("1.0"), build("1.0+vendor", maker="vendor")])])
    _, facts = world(tmp_path, [torches], [feature("f", statement("torch==1.0+vendor"))])
    assert asked(facts, "torch==1.0+vendor").verdict == "works"
    assert best(asked(facts)) == {"torch": "1.0+vendor"}


def test_route_that_has_it(tmp_path: Path) -> None:
    """Of two ways to a device the one that is said to have the feature is the answer, whichever is preferred otherwise."""
    ipex = product("ipex", releases=["1.0"], claims=[needs("ipex", "torch==1.0")])
    routes = [route("native", without=["ipex"]), route("ipex", "ipex", 2, **{"with": ["ipex"]})]
    oracle, facts = world(tmp_path, [torch(), ipex], [feature("f", statement("ipex>=1.0"))], routes=routes)
    assert asked(facts).stacks[0].route == "ipex"
    assert asked(facts, needs=()).stacks[0].route == "native"
    assert agrees(oracle, facts) == []


def test_sources_that_disagree(tmp_path: Path) -> None:
    """An open dispute leaves the versions that it is about unknown, and only those; a decided one does not."""
    said = [{**statement("torch==1.0"), "id": "yes"}, {**statement("torch==1.0", "not-supported"), "id": "no"}]
    for decision, verdict in (("open", "unknown"), ("yes", "works"), ("no", "does-not-work")):
        dispute = {
            "id": "f-or-not", "about": "whether 1.0 has it", "claims": ["yes", "no"], "decision": decision,
            "reason": "two pages", "decided": TODAY, "sources": ["page"],
        }  # fmt: skip
        oracle, facts = world(tmp_path, [torch()], [feature("f", *said, statement("torch==2.0"), dispute=[dispute])])
        assert asked(facts, "torch==1.0").verdict == verdict
        assert asked(facts, "torch==2.0").verdict == "works"
        assert agrees(oracle, facts, "torch==1.0") + agrees(oracle, facts, "torch==2.0") == []


# -- what people type ---------------------------------------------------------------------------------------------


def test_names(tmp_path: Path) -> None:
    """A feature goes by its id, its name and its aliases, however they are spelt; a product is no feature."""
    made = {**feature("torch.compile", statement("torch>=1.0"), aliases=["TorchInductor"])}
    made["feature"]["name"] = "The compiler"
    _, facts = world(tmp_path, [torch()], [made])
    assert {find_feature(facts, name) for name in ("torch.compile", "the-compiler", "torch inductor")} == {"torch.compile"}
    with pytest.raises(UsageError, match=r"unknown feature 'torch\.compiler'\n  did you mean: torch\.compile"):
        find_feature(facts, "torch.compiler")
    with pytest.raises(UsageError, match="torch is a product"):
        find_feature(facts, "torch")


def test_feature_as_a_word(tmp_path: Path) -> None:
    """A feature named among the products is needed, as with --needs; naming it twice changes nothing."""
    _, facts = world(tmp_path, [torch()], [feature("f", statement("torch>=1.0"))])
    one = make_request(facts, (), ["f"], ("xpu",), clock())
    assert one == make_request(facts, (), [], ("xpu",), clock(), ["f", "f"])


@pytest.mark.parametrize(
    ("features", "message"),
    [
        ([feature("torch", statement("torch>=1.0"))], "features/torch.toml: torch is a product"),
        ([feature("f", statement("torhc>=1.0"))], "features/f.toml: claim f-.*: torhc is no product"),
        ([feature("f", statement("torch>=9.0"))], "torch>=9.0 names no known release"),
        ([feature("f", statement("torch>=1.0"), product="torhc")], "features/f.toml: torhc is no product"),
        ([feature("f", *[{**statement("torch>=1.0"), "id": "s"}] * 2)], "features/f.toml: statement s: the id is used twice"),
    ],
)
def test_wrong_data(features: list[Record], message: str, tmp_path: Path) -> None:
    """What a feature file refers to must exist; the error names the file."""
    with pytest.raises(DataError) as raised:
        world(tmp_path, [torch()], features)
    import re

    assert any(re.search(message, problem) for problem in raised.value.problems), raised.value.problems


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('of = "torch"', "names no versions"),
        ('of = "torch>=1.0"\nbasis = "inferred"', "needs a `note`"),
        ('of = "torch>=1.0"\nstatus = "yes"', "Input should be 'supported'"),
    ],
)
def test_wrong_file(line: str, message: str, tmp_path: Path, run: Callable[..., Run]) -> None:
    """A statement without versions, an inference without a reason and an unknown status are errors with file and line."""
    data = data_directory(tmp_path / "data", [torch()], features=[feature("f", statement("torch>=1.0"))])
    status = "" if "status" in line else 'status = "supported"\n'
    text = (
        '[feature]\nid = "f"\nname = "f"\nproduct = "torch"\n\n[source]\n'
        'page = { url = "https://example.org/", seen = 2026-11-21 }'
        f'\n\n[[statement]]\nid = "s"\n{line}\n{status}sources = ["page"]\n'
    )
    (data / "features" / "f.toml").write_text(text, encoding="utf-8")
    done = run("features", "--data", str(data))
    assert done.code == 3
    assert "f.toml:9: statement.0" in done.err or "f.toml:1" in done.err
    assert message in done.err


# -- what is printed ----------------------------------------------------------------------------------------------


@pytest.fixture
def data(tmp_path: Path) -> str:
    """A data directory with two features."""
    said = [
        statement("torch>=2.0", when={"device": ["xpu"], "os": ["linux"]}),
        statement("torch<2.0", "not-supported", when={"device": ["xpu"], "os": ["windows"]}),
        statement("torch==2.1", "prototype", when={"device": ["xpu"], "os": ["windows"], "python": ["3.11"]}),
        statement("torch>=2.2", basis="inferred", when={"device": ["xpu"], "os": ["windows"]}),
    ]
    torches = torch(releases=("1.0", "2.0", "2.1", "2.1.1", "2.2"))
    made = data_directory(tmp_path / "data", [torches], features=[feature("f", *said), feature("g", statement("torch==1.0"))])
    return str(made)


def test_overview(data: str, run: Callable[..., Run]) -> None:
    """Without a name each feature has a row: on which devices, and what it is."""
    lines = run("features", "--data", data).out.splitlines()
    assert [line.split() for line in lines[1:3]] == [["f", "xpu", "f"], ["g", "any", "device", "g"]]


def test_support_of_a_feature(data: str, run: Callable[..., Run]) -> None:
    """Of a feature the screen says since which release each device and system has it, and from where on that is assumed."""
    lines = run("features", "f", "--data", data).out.splitlines()
    head, row = (re.split(" {2,}", line) for line in lines[:2])
    assert dict(zip(head, row, strict=True)) == {
        "f": "xpu", "linux": "2.0 and newer", "windows": "2.2 and newer (prototype from 2.1)"
    }  # fmt: skip
    assert lines[2] == "assumed, no document names them: xpu on windows, 2.2 and newer"
    assert run("features", "g", "--data", data).out.splitlines()[1] == "any device  1.0"


def test_support_on_a_device_of_which_nothing_is_said(data: str, run: Callable[..., Run]) -> None:
    """It is one line, which names the devices of which something is said; never a table without rows."""
    told = "f: nothing documented for cpu, only for xpu"
    assert run("features", "f", "cpu", "--data", data).out.splitlines()[0] == told
    assert run("features", "f", "cpu", "--format", "markdown", "--data", data).out.splitlines() == [told]


def test_support_by_another_product_is_labelled(tmp_path: Path, run: Callable[..., Run]) -> None:
    """A table is without the name of a product only where the product is the one that serves the devices."""
    other = product("ext", releases=("1.0",), claims=[needs("ext==1.0", "torch==1.0")])
    said = feature("f", statement("ext==1.0"), product="ext")
    made = data_directory(tmp_path / "data", [torch(), other], features=[said, feature("g", statement("torch==1.0"))])
    lines = run("features", "--format", "markdown", "--data", str(made)).out.splitlines()
    assert {line for line in lines if "releases" in line} == {"| f in ext | releases |", "| g | releases |"}


def test_table(data: str, run: Callable[..., Run]) -> None:
    """In Markdown the tables of the screen stand one below the other."""
    assert run("features", "--format", "markdown", "--data", data).out.splitlines() == [
        "| f | windows | linux |",
        "|---|---|---|",
        "| xpu | 2.2 and newer (prototype from 2.1) | 2.0 and newer |",
        "",
        "assumed, no document names them: xpu on windows, 2.2 and newer",
        "",
        "| g | releases |",
        "|---|---|",
        "| any device | 1.0 |",
    ]


def test_features_of_a_release(data: str, run: Callable[..., Run]) -> None:
    """A release and a place, in the words of `resolve`, have a row for each feature that says how far it has come there."""
    rows = [re.split(" {2,}", line) for line in run("features", "torch==2.1", "xpu", "--data", data).out.splitlines()[:3]]
    assert rows == [["torch 2.1", "windows", "linux"], ["f, xpu", "prototype", "yes"], ["g", "unknown", "unknown"]]
    assumed = run("features", "torch==2.2", "windows", "--data", data).out.splitlines()
    assert [re.split(" {2,}", line) for line in assumed[:2]] == [["torch 2.2", "windows"], ["f, xpu", "yes (assumed)"]]
    older = run("features", "torch==1.0", "xpu", "--format", "markdown", "--data", data).out
    assert "| f, xpu | no | unknown |" in older
    refused = run("features", "torch==2.1", "frobnicate", "--data", data)
    assert (refused.code, refused.out) == (2, "")


def test_show_names_no_feature_of_builds_that_a_release_lacks(tmp_path: Path, run: Callable[..., Run]) -> None:
    """What is said of another device's builds is not listed below a release that has none."""
    said = [
        statement("torch>=1.0", when={"device": ["xpu"], "os": ["linux"]}),
        statement("torch>=1.0", "not-supported", when={"python": ["3.12"]}),
        statement("torch>=1.0", when={"device": ["cpu"], "os": ["linux"], "python": ["3.11"]}),
    ]
    builds = [release("1.0", builds=[build("1.0", devices=["cpu"])]), release("2.0")]
    made = data_directory(
        tmp_path / "data", [torch(releases=builds)], features=[feature("f", *said)], dimensions=[*platform(), hardware()]
    )
    assert "xpu" not in run("show", "torch", "1.0", "--why", "--data", str(made)).out.split("features:")[1]


def test_list_of_features(data: str, run: Callable[..., Run]) -> None:
    """Of a product or a feature every statement is told with its condition, basis and source."""
    out = run("features", "torch", "--why", "--data", data).out
    assert "torch<2.0: not supported on device xpu; os windows\n" in out
    assert "torch>=2.2: supported on device xpu; os windows [inferred]\n" in out
    assert "source: https://example.org/" in out
    assert "g: g" not in run("features", "f", "--data", data).out
    assert run("show", "f", "--data", data).out == run("features", "f", "--data", data).out
    content = json.loads(run("features", "--format", "json", "--data", data).out)
    assert [f["id"] for f in content["features"]] == ["f", "g"]
    assert content["features"][0]["statements"][1]["when"] == {"device": ["xpu"], "os": ["windows"]}


def test_shown_with_a_release(data: str, run: Callable[..., Run]) -> None:
    """`show` lists what is said of a release's features, and not what is said of others."""
    shown = run("show", "torch", "2.0", "--why", "--data", data).out
    assert "features:\n    f: supported on device xpu; os linux\n" in shown
    assert "windows" not in shown.split("features:")[1]
    assert "features:" in run("show", "torch", "1.0", "--why", "--data", data).out
    content = json.loads(run("show", "torch", "2.0", "--format", "json", "--data", data).out)["releases"][0]
    assert [f["feature"] for f in content["features"]] == ["f"]
    assert content["claimed_by"] == []


def test_features_are_no_products(data: str, run: Callable[..., Run]) -> None:
    """`list` counts products; features have their own command."""
    listed = [p["id"] for p in json.loads(run("list", "--format", "json", "--data", data).out)["products"]]
    assert "torch" in listed
    assert not {"f", "g"} & set(listed)
    done = run("list", "f", "--data", data)
    assert (done.code, done.out) == (2, "")
    assert "see `compatkb features f`" in done.err


def test_answer_in_words(data: str, run: Callable[..., Run]) -> None:
    """An answer names the feature, how it is known and by which source; what is not known says what would settle it."""
    words = ("resolve", "--needs", "f", "--device", "xpu", "--data", data)
    out = run(*words, "--torch", "2.0", "--os", "linux").out
    assert out.startswith("✓ works   torch 2.0 using f on xpu, linux")
    assert "https://example.org/" in run(*words, "--torch", "2.0", "--os", "linux", "--why").out
    unknown = run(*words, "--torch", "2.0", "--os", "windows")
    assert unknown.code == 7
    assert "f with torch 2.0 is not documented" in " ".join(unknown.out.split())
    denied = run(*words, "--torch", "1.0", "--os", "windows")
    assert denied.code == 1
    assert "torch<2.0 does not support f" in denied.out
    assert "without f: torch" in denied.out
    wrong = run("resolve", "--needs", "x", "--data", data)
    assert (wrong.code, wrong.out) == (2, "")
    assert "unknown feature 'x'" in wrong.err


def test_answer_as_json(data: str, run: Callable[..., Run]) -> None:
    """The JSON names what is needed, apart from pins, and for each stack what is known of it."""
    words = ("resolve", "--needs", "f", "--device", "xpu", "--os", "windows", "--format", "json", "--data", data)
    answer = json.loads(run(*words, "torch==2.1").out)
    assert answer["request"]["needs"] == ["f"]
    assert "f" not in answer["request"]["pins"]
    (found,) = answer["stacks"][0]["features"]
    assert (found["feature"], found["status"], found["support"]) == ("f", "prototype", "supported")
    assert [w["kind"] for w in answer["stacks"][0]["warnings"]] == ["feature"]
    (unknown,) = json.loads(run(*words, "--torch", "2.0").out)["stacks"][0]["features"]
    assert (unknown["status"], unknown["support"], unknown["claims"]) == ("unknown", "unknown", [])


def test_breaks_of_the_feature_are_not_the_answer(tmp_path: Path) -> None:
    """What else a product excludes still counts beside a feature."""
    torches = torch(breaks("torch==2.0", "python==3.12"))
    oracle, facts = world(tmp_path, [torches], [feature("f", statement("torch==2.0"))])
    assert asked(facts, "python==3.12", "torch==2.0").verdict == "does-not-work"
    assert best(asked(facts, "python==3.11")) == {"torch": "2.0"}
    assert agrees(oracle, facts, "python==3.12", "torch==2.0") == []


def test_what_a_question_about_a_feature_needs_and_what_its_hardware_does(run: Callable[..., Run]) -> None:
    """The compiler that a feature needs stands among what is required; what a GPU does with a format beside the answer."""
    compiled = " ".join(run("resolve", "b570", "windows11", "--needs", "torch.compile").out.split())
    assert "torch.compile: a C++ compiler (MSVC)" in compiled
    for words in (("resolve", "a770", "--needs", "bf16"), ("features", "bf16", "a770")):
        told = " ".join(run(*words).out.split())
        assert "XMX units: it is not emulated" in told
        assert "needs no GradScaler" in told
    assert "in IPEX, discontinued 2026-03-31" in run("features", "int4").out
