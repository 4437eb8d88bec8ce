"""Known issues: all conditions must hold, what nobody said leaves an issue open, a cure leads out of it."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import Run, clock
from test_lint import good, written

from compatkb.authoring.lint import lint
from compatkb.doctor.diagnose import diagnose
from compatkb.doctor.error_text import ErrorText
from compatkb.doctor.machine_reading import MachineReader
from compatkb.engine.known_issues import KnownIssue, Surroundings, known_issues
from compatkb.request.lookup import find_versions
from compatkb.store.reader import Snapshot

NONZERO = "torch-2.13-xpu-nonzero-truncated"


def found(facts: Snapshot, versions: dict[str, str], **dimensions: str) -> dict[str, int]:
    """Return the issues of a place, with how many of their conditions nobody said."""
    masks = {name: find_versions(facts, facts.products[name], value) for name, value in dimensions.items()}
    place = Surroundings({product: (version,) for product, version in versions.items()}, masks)
    matches = (known_issues(facts).match_at(issue, place) for issue in known_issues(facts).all)
    return {match.issue.id: len(match.unsaid) for match in matches if match}


def products_of(issue: KnownIssue) -> list[str]:
    """Return the products whose releases an issue is about."""
    return [condition.product for condition in issue.conditions if condition.spec]


def test_all_conditions_met(facts: Snapshot) -> None:
    """A place that meets every condition has the issue."""
    versions = {"torch": "2.13.0+xpu", "compute-runtime": "26.05.37020.3"}
    assert found(facts, versions, device="xpu", hardware="b580")[NONZERO] == 0


@pytest.mark.parametrize(
    ("versions", "dimensions"),
    [
        ({"torch": "2.14.0+xpu", "compute-runtime": "26.05.37020.3"}, {"device": "xpu", "hardware": "b580"}),
        ({"torch": "2.13.0+xpu", "compute-runtime": "26.22.38646.4"}, {"device": "xpu", "hardware": "b580"}),
        ({"torch": "2.13.0+xpu", "compute-runtime": "26.05.37020.3"}, {"device": "xpu", "hardware": "max1550"}),
        ({"torch": "2.13.0+cpu", "compute-runtime": "26.05.37020.3"}, {"device": "cpu", "hardware": "b580"}),
    ],
    ids=["another release", "a newer runtime", "another GPU", "another device"],
)
def test_one_condition_refuted(facts: Snapshot, versions: dict[str, str], dimensions: dict[str, str]) -> None:
    """One condition that does not hold refutes an issue, whatever the others say."""
    assert NONZERO not in found(facts, versions, **dimensions)


def test_what_nobody_said_leaves_it_open(facts: Snapshot) -> None:
    """Without the runtime and the GPU the issue is told of with both conditions."""
    assert found(facts, {"torch": "2.13.0+xpu"}, device="xpu")[NONZERO] == 2


def test_an_issue_of_another_package_is_not_told(facts: Snapshot) -> None:
    """A package that the whole environment lacks has no issue there."""
    told = found(facts, {"torch": "2.13.0+xpu"}, device="xpu")
    assert all("vllm" not in products_of(issue) for issue in known_issues(facts).all if issue.id in told)


def told(run: Callable[..., Run], *words: str) -> dict[str, Any]:
    """Return the known issues of the best stack by their ids."""
    answer = json.loads(run("resolve", *words, "--format", "json").out)
    return {issue["id"]: issue for issue in answer["stacks"][0]["known_issues"]}


def test_an_answer_tells_them(run: Callable[..., Run]) -> None:
    """What the best stack has on the GPU that was named is told, on the screen and for programs; what decides is said."""
    words = ("torch==2.13.0", "b580", "ubuntu24.04")
    issues = told(run, *words)
    assert issues[NONZERO]["when"] == ["compute runtime older than 26.22.38646.4"]
    assert "compute runtime 26.22.38646.4 or newer" in issues[NONZERO]["cures"][0]
    assert "known issues" in run("resolve", *words).out
    assert NONZERO in " ".join(issues)
    assert "lose rows" in run("resolve", *words, "--why").out


@pytest.mark.parametrize(
    "words",
    [
        ("torch==2.12.0", "b580", "ubuntu24.04"),
        ("torch==2.13.0", "max1550", "ubuntu24.04"),
        ("torch==2.13.0", "xpu", "linux"),
        ("torch==2.13.0", "cpu", "linux"),
    ],
    ids=["another release", "another GPU", "no GPU named", "CPU"],
)
def test_an_answer_tells_no_others(run: Callable[..., Run], words: tuple[str, ...]) -> None:
    """An issue of another release, GPU or device, or of a GPU that nobody named, is not told."""
    assert NONZERO not in told(run, *words)


def test_a_cure_brings_no_grave_issue(run: Callable[..., Run]) -> None:
    """No cure is told that leads to a release which is sure to have another grave issue on the same GPU."""
    grave = {"wrong results", "crash", "hang", "cannot be installed or imported"}
    issues = told(run, "torch==2.13.0", "b580", "ubuntu24.04")
    for issue in issues.values():
        for spec in re.findall(r"torch (\d\S+) or newer", " ".join(issue["cures"])):
            there = told(run, f"torch>={spec}", "b580", "ubuntu24.04")
            assert not [
                other
                for other in there.values()
                if other["effect"] in grave and not other["when"] and other["id"] not in issues
            ], issue["id"]


def test_cures_lead_out(facts: Snapshot) -> None:
    """No release that a cure names is one that the issue is about: by the range of the very product that it changes."""
    for issue in known_issues(facts).all:
        affected = {condition.product: condition.mask for condition in issue.conditions if condition.spec}
        for cure in issue.cures:
            assert not affected.get(cure.product or "", 0) & cure.mask, (issue.id, cure.to)


def affected(facts: Snapshot, issue: KnownIssue) -> Surroundings:
    """Return a place that has an issue: the newest release of each range, the first value of each dimension."""
    versions, masks = {}, {}
    for condition in issue.conditions:
        if not condition.spec:
            masks[condition.product] = condition.mask & -condition.mask
        elif condition.product in facts.products:
            among = [element.version for element in facts.elements(condition.product).of(condition.mask)]
            versions[condition.product] = tuple(among[-1:])
    return Surroundings({name: found for name, found in versions.items() if found}, masks, is_whole=False)


def test_cures_are_consistent(facts: Snapshot) -> None:
    """Each cure that is offered, put in place, has no grave issue under the same conditions that was not there before."""
    offered, issues = 0, known_issues(facts)
    for issue in issues.all:
        place = affected(facts, issue)
        before = issues.grave_at(place) | {issue.id}
        for cure in issues.clean_cures(issue, place):
            releases = (
                [element.version for element in facts.elements(cure.product or "").of(cure.mask)] if cure.product else []
            )
            if releases:
                masks = {name: mask for name, mask in place.masks.items() if name != cure.product}
                there = place._replace(versions={**place.versions, str(cure.product): (releases[-1],)}, masks=masks)
                assert issues.grave_at(there) <= before, (issue.id, cure.to)
                offered += 1
    assert offered > 100


def test_a_cure_with_another_grave_issue_is_not_offered(facts: Snapshot) -> None:
    """Torch 2.13 is faster than 2.14 on an Arc Pro B60, and sorts wrongly: it is no cure there."""
    issues = known_issues(facts)
    slow = next(issue for issue in issues.all if issue.id == "torch-2.14-xpu-b60-inductor-slow")
    assert slow.cures
    assert issues.clean_cures(slow, affected(facts, slow)) == ()


@pytest.mark.parametrize(
    ("line", "product", "version"),
    [
        ("Device name: Intel(R) Arc(TM) B580 Graphics", "hardware", "arc-b"),
        ("03:00.0 VGA compatible controller [0300]: Intel Corporation Device [8086:e20b]", "hardware", "arc-b"),
        ("| `Intel(R) Data Center GPU Max 1550` |", "hardware", "max"),
        ("name='Intel(R) Arc(TM) A770 Graphics', platform_name='Intel(R) oneAPI Unified Runtime'", "hardware", "arc-a"),
        ("Linux-6.11.0-17-generic-x86_64-with-glibc2.39", "linux-kernel", "6.11"),
        ("Linux host 6.8.0-45-generic #45-Ubuntu SMP", "linux-kernel", "6.8"),
        ("intel-opencl-icd 24.39.31294.20", "compute-runtime", "24.39.31294.20"),
        ("[level_zero:gpu][level_zero:0] ... 20.1.0 [1.15.38308]", "compute-runtime", "26.18.38308.4"),
    ],
)
def test_machine_is_read(facts: Snapshot, line: str, product: str, version: str) -> None:
    """GPU, kernel and runtime are read as the tools print them."""
    assert (product, version) in {(read.product, read.version) for read in MachineReader(facts, ErrorText(line)).hardware()}


@pytest.mark.parametrize(
    "line",
    [
        "max of an arc",
        "the flex layout",
        "core 7 of 8",
        "python 3.11.2 on linux",
        "commit a1b2c3d4 26.1",
        "in a730b line",
    ],
)
def test_what_is_no_machine_is_not_read(facts: Snapshot, line: str) -> None:
    """Words and numbers of other things are no part of a machine."""
    assert MachineReader(facts, ErrorText(line)).hardware() == ()


def test_diagnosis_names_the_issue_first(facts: Snapshot) -> None:
    """A text that meets all conditions and shows a sign has the issue as its cause; a refuting version has not."""
    issue = next(
        i for i in known_issues(facts).all if i.signs and i.ranks and products_of(i) == ["torch"] and len(i.conditions) == 2
    )
    sign = issue.signs[0].replace("*", " ")
    inside = next(e for e in facts.elements("torch") if e.version.endswith("+xpu") and holds_version(facts, issue, e.version))
    text = f"PyTorch version: {inside.version}\nXPU available: True\n{sign}\n"
    assert diagnose(facts, text, clock()).candidates[0].id == issue.id


def holds_version(facts: Snapshot, issue: KnownIssue, version: str) -> bool:
    """Return whether an issue is about a version of torch."""
    return bool(known_issues(facts).holds(next(c for c in issue.conditions if c.spec), Surroundings({"torch": (version,)})))


def test_lint_names_a_cure_inside_its_range(tmp_path: Path) -> None:
    """A range that cannot be read, an unknown product, and a cure inside the range are told with their lines."""
    text = """[[issue]]
id = "x"
title = "something fails"
effect = "crash"
where = [{ product = "torch", range = ">=2" }]
cures = [{ to = "torch>=2" }, { to = "nothing>=1" }]
state = "open"
read = 2026-11-28
sources = ["https://github.com/pytorch/pytorch/issues/1"]
"""
    contents = {**written(good()), "issues/x.toml": text.encode()}
    told = [str(finding.message) for finding in lint(contents, clock().today, ["known-issues"]).findings]
    assert any("nothing is no product" in message for message in told)
    assert any("is in torch>=2 and has the issue" in message for message in told)


def test_not_a_version_problem_is_never_said(run: Callable[..., Run]) -> None:
    """No diagnosis says that other versions will not help: nobody knows."""
    done = run("diagnose", "RuntimeError: Permission denied: /dev/dri/renderD128")
    assert "render node" in done.out
    assert "version problem" not in done.out


def test_json_says_what_the_screen_says(run: Callable[..., Run], tmp_path: Path) -> None:
    """An issue that the text leaves open is possible in both forms, with the same title."""
    text = tmp_path / "text.txt"
    text.write_text("PyTorch version: 2.13.0+xpu\nRuntimeError: tensor does not have a device\n", encoding="utf-8")
    title = json.loads(run("diagnose", str(text), "--format", "json").out)["causes"][0]["title"]
    assert title.startswith("known issue: ")
    assert title in " ".join(run("diagnose", str(text)).out.split())
