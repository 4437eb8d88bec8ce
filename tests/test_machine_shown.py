"""What answers and `show` say of the machine below the packages: what hardware requires, and what is known of its parts."""

import json
from collections.abc import Callable

import pytest
from conftest import Run

from compatkb.store.reader import Snapshot


def row(out: str, label: str) -> str:
    """Return the text of a row, on one line."""
    lines = iter(out.splitlines())
    texts = [next((line[17:] for line in lines if line.startswith(f"  {label} ")), "")]
    for line in lines:
        if line[:17].strip() or not line:
            break
        texts.append(line[17:])
    return " ".join(texts)


def test_an_answer_says_what_a_card_requires(run: Callable[..., Run]) -> None:
    """Kernel and runtime, why, what documents it, and whether the system has it."""
    requires = row(run("resolve", "b580", "ubuntu24.04", "py3.12").out, "requires")
    assert "Linux kernel 6.11 or newer; documented from 6.12" in requires
    assert "Ubuntu 24.04 has 6.8, which is older: linux-generic-hwe-24.04 brings 6.17" in requires
    assert "compute runtime 24.31.30508.5 or newer, the first to list it" in requires
    assert "documented: 25.22 to 26.31" in requires
    assert "Ubuntu 24.04 has 26.22.38646.6 in ppa:kobuk-team/intel-graphics" in requires


@pytest.mark.parametrize(
    ("card", "least"),
    [("b50", "24.31.30508.5"), ("b60", "25.18.33578.5"), ("b70", "25.27.34303.5"), ("Arc 140T", "23.52.28202.13")],
)
def test_a_card_has_its_own_first_release(run: Callable[..., Run], card: str, least: str) -> None:
    """Cards of one family were listed at different tags."""
    assert f"compute runtime {least} or newer" in row(run("resolve", card, "linux").out, "requires")


def test_what_was_said_is_not_required_again(run: Callable[..., Run]) -> None:
    """A kernel or a runtime that the request names has no line of its own."""
    requires = row(run("resolve", "b580", "ubuntu24.04", "kernel==6.17").out, "requires")
    assert "Linux kernel" not in requires
    assert "compute runtime" in requires


@pytest.mark.parametrize("system", ["windows11", "wsl2"])
def test_other_kernels_are_not_measured_by_linux(run: Callable[..., Run], system: str) -> None:
    """Windows has a driver of its own, and in WSL 2 the kernel of Windows drives the GPU."""
    assert "Linux kernel" not in row(run("resolve", "b580", system).out, "requires")


def test_several_kinds_of_hardware_have_no_one_minimum(run: Callable[..., Run]) -> None:
    """Nothing is said of a word that stands for several families."""
    assert "compute runtime" not in row(run("resolve", "core-ultra", "linux").out, "requires")


def test_a_card_is_shown_with_ids_and_drivers(run: Callable[..., Run]) -> None:
    """Its PCI ids with their first releases, the driver of the kernel, and known issues."""
    out = run("show", "b580").out
    cards = "Arc B580 since compute runtime 24.31.30508.5 (e20b); Arc B580 since compute runtime 25.31.34666.3 (e209)"
    assert row(out, "platforms").startswith(cards)
    assert "xe takes it by default in kernel 6.12 to 7.1.5" in row(out, "platforms")
    assert row(out, "known issues")


def test_a_kernel_is_shown_with_what_its_drivers_take(run: Callable[..., Run]) -> None:
    """By default and by force_probe are told apart; what a driver does not have is not named."""
    platforms = row(run("show", "linux-kernel", "6.8").out, "platforms")
    assert "i915 by force_probe alone: Data Center GPU Flex Series" in platforms
    assert "i915 by default: Arc A-Series graphics" in platforms
    assert "B-Series" not in platforms


def test_a_runtime_is_shown_with_what_it_was_built_with(run: Callable[..., Run]) -> None:
    """Compiler, library and loader of its manifest, and the cards that it is the first to list."""
    assert row(run("show", "compute-runtime", "26.18.38308.4").out, "works with") == (
        "Level Zero 1.28.2; graphics compiler 2.34.4; gmmlib 22.10.0; Windows driver 32.0.101.8860"
    )
    assert "Arc Pro B65 (e222); Arc Pro B70 (e223)" in row(run("show", "compute-runtime", "25.27.34303.5").out, "platforms")


def test_a_windows_driver_is_shown_with_its_build(run: Callable[..., Run]) -> None:
    """A number whose build was seen names the branch of the runtime."""
    out = run("show", "windows-driver", "32.0.101.8860").out
    assert "compute runtime 26.18.*" in row(out, "works with")
    assert row(out, "known issues")


@pytest.mark.parametrize("order", [1, -1], ids=["as they stand", "turned round"])
def test_of_two_records_of_an_archive_the_newest_counts(
    run: Callable[..., Run], facts: Snapshot, monkeypatch: pytest.MonkeyPatch, order: int
) -> None:
    """Whatever their order in the file: beside hardware, in the contents of a system, and in the JSON of it both."""
    known = facts.guide_records
    monkeypatch.setitem(facts.__dict__, "guide_records", lambda kind: known(kind)[::order])
    said = run("resolve", "B580", "fedora43", "py3.12").out
    assert "Fedora Linux 43 has 26.18.38308.1 in updates" in row(said, "requires")
    contents = row(run("show", "os", "fedora43").out, "contents")
    assert "compute runtime 26.18.38308.1 in updates" in contents
    assert "25.48" not in contents
    release = json.loads(run("show", "os", "fedora43", "--format", "json").out)["releases"][0]
    assert [record["archive"] for record in release["machine"]["carried"]] == ["updates", "updates"]


def test_a_system_is_shown_with_what_it_carries(run: Callable[..., Run]) -> None:
    """Kernels by their packages, and the parts of a driver by archive, as where a product is shown on that system."""
    shown = row(run("show", "os", "fedora44").out, "contents")
    assert "compute runtime 26.18.38308.1 in updates" in shown
    assert "compute runtime 25.48.36300.8 in release" in shown
    ubuntu = row(run("show", "os", "ubuntu24.04").out, "contents")
    assert "kernel 6.17 (linux-generic-hwe-24.04) in main" in ubuntu
    assert ubuntu == row(run("show", "driver", "ubuntu24.04").out, "contents")


def test_the_json_has_the_same(run: Callable[..., Run]) -> None:
    """Cards, drivers, carriers and issues are records there."""
    release = json.loads(run("show", "b60", "--format", "json").out)["releases"][0]
    assert [card["id"] for card in release["machine"]["devices"]] == ["e211"]
    assert {record["driver"] for record in release["machine"]["kernel_drivers"]} == {"xe"}
    assert release["machine"]["known_issues"]
    kernel = json.loads(run("show", "linux-kernel", "6.8", "--format", "json").out)["releases"][0]
    assert [record["system"] for record in kernel["machine"]["carried"]] == ["ubuntu24.04"]


def test_a_number_that_is_not_listed_is_a_version(run: Callable[..., Run]) -> None:
    """Its neighbours and the issues whose range it is in are told; what is no number stays an error."""
    done = run("show", "windows-driver", "32.0.101.6700")
    assert (done.code, row(done.out, "known issues") != "") == (0, True)
    assert "after 32.0.101.6314 and before 32.0.101.6881" in row(done.out, "evidence")
    assert "xe by default" in row(run("show", "linux-kernel", "6.18.5").out, "platforms")
    assert run("show", "compute-runtime", "99.1").code == 7
    assert run("show", "windows-driver", "nonsense").code == 2
    assert run("show", "torch", "2.13.9").code == 2
