"""The platform grid, wheel tags (PEP 425, PEP 600) and markers (PEP 508)."""

import pytest

from compatkb import KnowledgeBase
from compatkb.core.platforms import Grid, TagTarget, target

GRID = Grid(
    {"linux": (), "ubuntu": ("linux",), "windows": (), "macos": ()},
    ("x86_64", "aarch64", "arm64"),
    ("3.9", "3.10", "3.13", "3.13t"),
)


@pytest.mark.parametrize(
    ("tag", "expected"),
    [
        ("manylinux1_x86_64", TagTarget("linux", "x86_64", "2.5")),
        ("manylinux2014_aarch64", TagTarget("linux", "aarch64", "2.17")),
        ("manylinux_2_28_x86_64", TagTarget("linux", "x86_64", "2.28")),
        ("linux_x86_64", TagTarget("linux", "x86_64", None)),
        ("win_amd64", TagTarget("windows", "x86_64", None)),
        ("macosx_11_0_arm64", TagTarget("macos", "arm64", None, 11)),
        ("any", TagTarget(None, None, None)),
        ("musllinux_1_1_x86_64", None),
        ("win32", None),
        ("linux_armv7l", None),
    ],
)
def test_platform_tag(tag: str, expected: TagTarget | None) -> None:
    """A platform tag says which system, architecture and oldest glibc it admits; the rest of the world is outside."""
    assert target(tag) == expected


@pytest.mark.parametrize(
    ("tag", "requires", "pythons"),
    [
        pytest.param("cp310", "", ["3.10"], id="one-minor"),
        pytest.param("cp313t", "", ["3.13t"], id="free-threaded-alone"),
        pytest.param("cp313", "", ["3.13"], id="not-free-threaded"),
        pytest.param("py3", ">=3.10", ["3.10", "3.13", "3.13t"], id="pure-within-requires-python"),
        pytest.param("py2.py3", "", ["3.9", "3.10", "3.13", "3.13t"], id="both-pythons"),
        pytest.param("py3", ">=3.9.5", ["3.9", "3.10", "3.13", "3.13t"], id="a-later-patch-of-the-minor-will-do"),
        pytest.param("py3", ">=3.9.105,<3.10", ["3.9"], id="however-late-the-patch"),
        pytest.param("py3", ">3.9.17,<3.9.19,!=3.9.18", [], id="no-patch-of-it"),
        pytest.param("cp37", "", [], id="a-python-outside-the-grid"),
        pytest.param("py310", "", ["3.10", "3.13", "3.13t"], id="pure-from-a-minor-on"),
        pytest.param("cp310-abi3", "", ["3.10", "3.13"], id="stable-abi-from-a-minor-on"),
        pytest.param("cp38-abi3", ">=3.9,<3.13", ["3.9", "3.10"], id="stable-abi-within-requires-python"),
    ],
)
def test_python_tag(tag: str, requires: str, pythons: list[str]) -> None:
    """A Python tag and Requires-Python together say which Pythons a wheel serves."""
    (cells,) = GRID.wheel_cells(tag, ("any",), requires).values()
    assert cells == GRID.cells(pythons=pythons)


def test_families_hold_their_members() -> None:
    """What is for Linux is for Ubuntu; what is for Ubuntu is not for Linux at large."""
    assert GRID.cells(("linux",)) == GRID.cells(("linux", "ubuntu"), members=False)
    assert not GRID.cells(("ubuntu",)) & GRID.cells(("linux",), members=False)


def test_several_platform_tags_in_one_name() -> None:
    """A compressed tag set admits what each of its tags admits."""
    found = GRID.wheel_cells("cp310", ("manylinux_2_17_x86_64.manylinux2014_x86_64",), "")
    assert found == {"2.17": GRID.cells(("linux",), ("x86_64",), ("3.10",))}


@pytest.mark.parametrize(
    ("marker", "expected"),
    [
        ("platform_system == 'Linux' and platform_machine == 'x86_64'", GRID.cells(("linux",), ("x86_64",))),
        ("sys_platform == 'win32'", GRID.cells(("windows",))),
        ("python_version < '3.13'", GRID.cells(pythons=("3.9", "3.10"))),
        ("python_version >= '3.13'", GRID.cells(pythons=("3.13", "3.13t"))),
        ("extra == 'dev'", 0),
    ],
)
def test_marker(marker: str, expected: int) -> None:
    """A marker holds where its environment says so; free-threaded Pythons have the version of their minor."""
    assert GRID.marker_cells(marker) == expected


def test_a_mac_that_nobody_names_is_none_of_intel(base: KnowledgeBase) -> None:
    """Who names no system gets no wheel for Macs of another architecture than the one that is meant by a Mac."""
    for words in (("torch==1.5.0", "cpu"), ("torch==2.2.2", "cpu")):
        alone, named = base.resolve(words=words), base.resolve(words=(*words, "arch==x86_64"))
        assert not any("macos" in stack.os for stack in alone.stacks)
        assert any("macos" in stack.os for stack in named.stacks)
