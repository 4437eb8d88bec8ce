"""`resolve` for this machine: what it is stands in the question, and what was said stands before it."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from conftest import Run

from compatkb.cli import helping
from compatkb.doctor.machine import Graphics, Machine

B580 = (Graphics("0", "8086", "e20b"),)


@pytest.fixture
def this_machine(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Set what this machine is."""

    def sets(graphics: tuple[Graphics, ...] | None) -> None:
        machine = Machine("here", "3.12", "linux", ("ubuntu", "24.04"), "6.8.0", arch="x86_64", graphics=graphics)
        monkeypatch.setattr(helping, "this_machine", lambda _: machine)

    return sets


def asked(run: Callable[..., Run], *words: str) -> dict[str, Any]:
    """Return the request that was asked."""
    request: dict[str, Any] = json.loads(run("resolve", *words, "--format", "json").out)["request"]
    return request


def test_without_words(run: Callable[..., Run], this_machine: Callable[..., None]) -> None:
    """A question without a word is one for this machine: system, Python, GPU."""
    this_machine(B580)
    request = asked(run)
    assert request == asked(run, "arc-b", "ubuntu24.04", "py3.12", "--arch", "x86_64")


def test_without_a_gpu(run: Callable[..., Run], this_machine: Callable[..., None]) -> None:
    """A machine without a GPU is asked for its CPU; where none could be looked for, for every device."""
    this_machine(())
    assert asked(run)["devices"] == ["cpu"]
    this_machine(None)
    assert len(asked(run)["devices"]) > 1


@pytest.mark.parametrize(
    ("words", "same"),
    [
        (["torch==2.8.0"], ["torch==2.8.0", "ubuntu24.04", "py3.12", "--arch", "x86_64"]),
        (["A770", "windows11"], ["A770", "windows11", "py3.12", "--arch", "x86_64"]),
        (["--device", "cpu"], ["--device", "cpu", "ubuntu24.04", "py3.12", "--arch", "x86_64"]),
    ],
    ids=["a pin", "another GPU and system", "another device"],
)
def test_what_was_said_comes_first(
    run: Callable[..., Run], this_machine: Callable[..., None], words: list[str], same: list[str]
) -> None:
    """`--here` fills in what was not said; that there is no GPU fixes no device of a question that names something."""
    this_machine(())
    assert asked(run, *words, "--here") == asked(run, *same)


def test_it_says_so(run: Callable[..., Run], this_machine: Callable[..., None]) -> None:
    """What was filled in is told on standard error; a question of one's own is not filled in."""
    this_machine(B580)
    assert "hardware arc-b" in run("resolve").err
    assert "this machine" not in run("resolve", "xpu").err
