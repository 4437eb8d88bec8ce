"""Parts of the machine that are named, a kernel or a compute runtime: facts, which deny, decide issues and need no voucher."""

import json
import re
from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest
from builders import bare_release, needs, platform, product, release, universe, verified
from conftest import Run
from test_known_issues import NONZERO, told
from test_promises import ask

from compatkb.core.versions import names_of_series
from compatkb.engine.answer import Answer
from compatkb.store.reader import Snapshot

OLD, NEW = date(2020, 1, 1), date(2024, 1, 1)


def machine(tmp_path: Path, basis: str = "stated", *said: dict[str, object]) -> Snapshot:
    """Return a world where a card needs kernel 6.11 and runtime 24.35, and torch came long after the oldest runtime."""
    minimums = [
        needs("hardware==card", "kernel>=6.11", basis=basis),
        needs("hardware==card", "runtime>=24.35.100", basis=basis),
    ]
    on_linux = [needs("kernel", "os==linux", basis="inferred")]
    dotted = {"role": "dimension", "scheme": "dotted"}
    dated = [bare_release(v, released={"on": day, "sources": ["page"]}) for v, day in (("26.5.1", NEW), ("24.40.3", OLD))]
    return universe(
        tmp_path,
        [
            product("torch", releases=[release("2.0.0", on=NEW)], claims=[verified("torch", "hardware==card"), *said]),
            product("hardware", role="dimension", scheme="listed", releases=["card", "other"], claims=minimums, shown=True),
            product("kernel", releases=["6.14", "6.11", "6.8"], claims=on_linux, machine="system", **dotted),
            product("runtime", releases=[*dated, "24.30.7"], machine="runtime", **dotted),
        ],
        dimensions=platform(),
    )


def of(facts: Snapshot, *words: str) -> Answer:
    """Return the answer to words about torch on the card."""
    return ask(facts, "torch", "hardware==card", *words)


@pytest.mark.parametrize(
    ("words", "verdict"),
    [
        (["kernel==6.11"], "works"),
        (["kernel==6.14", "runtime==26.5.1"], "works"),
        (["kernel==6.8"], "does-not-work"),
        (["runtime==24.30.7"], "does-not-work"),
        (["kernel==6.14", "runtime==24.30"], "does-not-work"),
    ],
    ids=["met", "both met", "too old a kernel", "too old a runtime", "one of two"],
)
def test_a_stated_minimum_decides(tmp_path: Path, words: list[str], verdict: str) -> None:
    """A minimum that is met takes nothing away, whoever names the pair; one that is not met denies for certain."""
    assert of(machine(tmp_path), *words).verdict == verdict


def test_an_inferred_minimum_denies_nothing_for_certain(tmp_path: Path) -> None:
    """Where the minimum is only concluded, a version below it is unknown, and one above it as good as none named."""
    facts = machine(tmp_path, "inferred")
    assert (of(facts, "kernel==6.8").verdict, of(facts, "kernel==6.11").verdict) == ("unknown", "works")


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("6.11.0-29-generic", "works"),
        ("6.8.0-45-generic", "does-not-work"),
        ("99.1", "works"),
        ("5.15.153.1-microsoft-standard-WSL2", "does-not-work"),
    ],
)
def test_versions_that_the_data_do_not_know_are_compared(tmp_path: Path, text: str, verdict: str) -> None:
    """A version as a machine prints it, a newer one among them, is judged by range."""
    assert of(machine(tmp_path), f"kernel=={text}").verdict == verdict


@pytest.mark.parametrize(("text", "verdict"), [("24.35", "likely"), ("24.34", "does-not-work"), ("24.35.99", "does-not-work")])
def test_a_series_is_denied_as_a_whole_only(tmp_path: Path, text: str, verdict: str) -> None:
    """Of a short version that only a part falls below the minimum, nothing is denied."""
    assert of(machine(tmp_path), f"runtime=={text}").verdict == verdict


def test_a_runtime_much_older_than_torch_is_no_more_than_likely(tmp_path: Path) -> None:
    """Packages are built against the runtimes of their time; a kernel keeps its interface, and who names the pair is heard."""
    assert of(machine(tmp_path / "a"), "runtime==24.40.3").verdict == "likely"
    assert of(machine(tmp_path / "b", "stated", verified("torch", "runtime==24.40.3")), "runtime==24.40.3").verdict == "works"


def test_what_binds_every_version_binds_one_that_is_not_listed(tmp_path: Path) -> None:
    """A Linux kernel is one of Linux, whichever it is."""
    (answer,) = [of(machine(tmp_path), "kernel==6.12.3")]
    assert {system for stack in answer.stacks for system in stack.os} == {"linux"}


def test_a_part_of_the_machine_vouches_for_no_package(tmp_path: Path) -> None:
    """That a package names a runtime speaks for the runtime, and not for the package beside torch."""
    extra = product("extra", rank=600, releases=["1.0"], claims=[verified("extra", "runtime==26.5.1")])
    dotted = {"role": "dimension", "scheme": "dotted"}
    runtime = product("runtime", releases=["26.5.1"], machine="runtime", **dotted)
    facts = universe(tmp_path, [product("torch", releases=["2.0.0"]), extra, runtime])
    assert ask(facts, "torch", "extra", "runtime==26.5.1").verdict == "unknown"


@pytest.mark.parametrize(
    ("spec", "version", "named"),
    [
        (">=24.35.100", "24.35", None),
        (">=24.35.100", "24.36", True),
        (">=24.35.100", "24.34", False),
        ("<26.22.38646.4", "26.22", None),
        ("<26.22.38646.4", "26.21.3", True),
        (">=6.11,<6.14", "6.11.0", True),
        ("==6.8.*", "6.8", True),
        ("==26.5.1", "26.5", None),
        (">=24.35.100,<24.40", "24.41", False),
    ],
)
def test_a_range_names_a_series_in_whole_or_in_part(spec: str, version: str, named: bool | None) -> None:
    """A short version stands for all that begin with it."""
    assert names_of_series(spec, version) is named


@pytest.mark.parametrize(
    ("runtime", "held"), [("26.05.37020.3", True), ("26.07", True), ("26.22.38646.4", False), ("99.1", False)]
)
def test_a_named_runtime_decides_a_known_issue(run: Callable[..., Run], runtime: str, held: bool) -> None:
    """An issue whose condition the runtime meets holds without a condition; one that it refutes vanishes."""
    issues = told(run, "torch==2.13.0", "b580", "ubuntu24.04", f"compute-runtime=={runtime}")
    assert (NONZERO in issues) is held
    assert not held or issues[NONZERO]["when"] == []


def test_an_issue_of_the_named_machine_ranks(run: Callable[..., Run]) -> None:
    """A release that the named runtime makes return wrong results does not lead, which it does with a mended one."""
    assert first_torch(run, "compute-runtime==26.05.37020.3") < first_torch(run, "compute-runtime==26.31.39395.13")


def first_torch(run: Callable[..., Run], *words: str) -> str:
    """Return which torch leads on an Arc Pro B70."""
    answer = json.loads(run("resolve", "b70", "linux", *words, "--format", "json").out)
    return str(answer["stacks"][0]["packages"]["torch"])


def test_the_way_out_names_the_version_that_is_needed(run: Callable[..., Run]) -> None:
    """Where a part of the machine is too old, it is what changes: neither the card nor the packages."""
    out = run("resolve", "b580", "linux", "linux-kernel==6.5").out
    assert re.search(r"1 +use kernel \d.* or newer: torch", out)
