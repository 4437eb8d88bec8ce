"""The hand-checked requests of tests/cases/resolve: each answer was derived from primary facts before the program existed."""

import json
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from conftest import Run, parted

from compatkb.request.lookup import find_versions
from compatkb.store.reader import Snapshot

CASES = sorted((Path(__file__).parent / "cases" / "resolve").glob("*.toml"))
Content = Mapping[str, Any]


@pytest.mark.verdict
@pytest.mark.parametrize("path", parted(CASES, CASES[::6]), ids=lambda path: path.stem)
def test_hand_checked_answer(path: Path, run: Callable[..., Run], facts: Snapshot) -> None:
    """The program answers as the sources say."""
    case = tomllib.loads(path.read_text(encoding="utf-8"))
    past = ("--as-of", str(case["as-of"])) if "as-of" in case else ()
    done = run("resolve", *case["args"], *past, "--format", "json")
    expect = case["expect"]
    unknown = expect["exit"] == 1 and json.loads(done.out)["verdict"] == "unknown"  # which a case may leave beside a no
    assert done.code == (7 if unknown else expect["exit"]), done.err or done.out[:2000]
    if expect["exit"] == 2:
        assert expect.get("error", "") in done.err
        return
    answer = json.loads(done.out)
    stacks = answer["stacks"]
    wanted = expect.get("verdict")
    if wanted:
        assert answer["verdict"] in ([wanted] if isinstance(wanted, str) else wanted)
    if "first" in expect:
        assert holds(facts, stacks[0], expect["first"]), stacks[0]["packages"]
    for packages in expect.get("contains", ()):
        assert any(holds(facts, stack, packages) for stack in stacks), [s["packages"] for s in stacks]
    for packages in expect.get("excludes", ()):
        working = [s for s in stacks if s["verdict"] in ("works", "works-with-warnings")]
        assert not any(holds(facts, stack, packages) for stack in working)
    assert set(expect.get("python", ())) <= {python for stack in stacks for python in stack["python"]}
    assert not set(expect.get("not-python", ())) & {python for stack in stacks for python in stack["python"]}
    if "warnings" in expect:
        about = expect.get("first") or expect.get("contains", [{}])[0]
        stack = next(s for s in stacks if holds(facts, s, about))
        assert set(expect["warnings"]) <= {warning["kind"] for warning in stack["warnings"]}
    said = " ".join(cause["message"] + json.dumps(cause["sources"]) for cause in answer["causes"]).lower()
    for text in expect.get("causes", ()):
        assert text.lower() in said
    for packages in expect.get("nearest", ()):
        near = [n["stack"] for n in answer["nearest"]]
        assert any(holds(facts, stack, packages) for stack in near), [
            (n["relaxed"], n["stack"]["packages"]) for n in answer["nearest"]
        ]
    for product in expect.get("relaxed", ()):
        assert any(product in near["relaxed"] for near in answer["nearest"])


@pytest.mark.long
@pytest.mark.parametrize("path", CASES[::15], ids=lambda path: path.stem)
def test_first_answer_is_the_same(path: Path, cold_run: Callable[..., Run], request: pytest.FixtureRequest) -> None:
    """A command that has to read all that it needs prints what one prints that finds it read, as the other tests do."""
    args = tomllib.loads(path.read_text(encoding="utf-8"))["args"]
    fresh = cold_run("resolve", *args, "--format", "json")
    run = request.getfixturevalue("run")  # from here on the data are shared
    assert run("resolve", *args, "--format", "json") == fresh


def holds(facts: Snapshot, stack: Content, packages: Content) -> bool:
    """Return whether a stack shows these versions, read as typed on the command line."""
    for product, version in packages.items():
        shown = stack["packages"].get(product)
        if shown is None:
            return False
        wanted = find_versions(facts, facts.products[product], version)
        number = next(e.idx for e in facts.elements(product) if e.version == shown)
        if not wanted >> number & 1:
            return False
    return True


def test_there_are_enough_cases() -> None:
    """At least sixty requests are checked by hand, half of them negative."""
    codes = [tomllib.loads(path.read_text(encoding="utf-8"))["expect"]["exit"] for path in CASES]
    assert len(codes) >= 60
    assert sum(code != 0 for code in codes) * 2 >= len(codes)


@pytest.mark.parametrize(("system", "offered"), [("ubuntu20.04", False), ("windows", True)])
def test_a_way_out_is_not_the_family_of_a_system(system: str, offered: bool, run: Callable[..., Run]) -> None:
    """Who has Ubuntu 20.04 has a Linux: another distribution is a way out, and Linux one from Windows alone."""
    package = "vllm==0.33.0" if offered else "bitsandbytes==0.50.2"
    device = "cpu" if offered else "xpu"
    answer = json.loads(run("resolve", package, "--device", device, "--os", system, "--format", "json").out)
    systems = {name for near in answer["nearest"] if "os" in near["relaxed"] for name in near["stack"]["os"]}
    assert systems
    assert ("linux" in systems) is offered


def test_a_cause_is_about_what_was_asked_for(run: Callable[..., Run]) -> None:
    """What bars every device is said once, with nothing about a package that another route would bring."""
    args = ("onnxruntime-openvino==1.20.0", "--os", "windows", "--python", "3.10")
    answer = json.loads(run("resolve", *args, "--format", "json").out)
    assert [cause["products"] for cause in answer["causes"]] == [["onnxruntime-openvino"]]
