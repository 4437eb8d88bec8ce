"""What befalls a program on other people's machines: the scenarios of `resilience`, the long ones in part."""

import os
import shutil
from pathlib import Path

import pytest
import resilience
from conftest import parted

NEVER = 10_000
"""Before more writes than there are: the command ends by itself."""


@pytest.mark.long
@pytest.mark.parametrize("moments", [(1, NEVER), pytest.param((0, 1, 2, 4, 7, NEVER), marks=pytest.mark.soak)], ids=len)
@pytest.mark.parametrize("command", ["fmt", pytest.param("export csv", marks=pytest.mark.soak), "the cache"])
def test_kill_in_a_write_leaves_old_or_new(command: str, moments: tuple[int, ...], tmp_path: Path) -> None:
    """A command killed before a write leaves each file as it was or as it shall be, and going on ends well."""
    assert resilience.killed_in_every_write(tmp_path, [command], moments)


@pytest.mark.soak
def test_kill_at_random_leaves_a_cache_that_answers(tmp_path: Path) -> None:
    """After kills at random moments the cache is whole, and the answer there."""
    assert resilience.killed_at_random(tmp_path / "home", 4)


@pytest.mark.long
@pytest.mark.parametrize("scenario", [resilience.read_only, pytest.param(resilience.no_room, marks=pytest.mark.soak)])
def test_want_is_said_in_a_line(scenario: resilience.Scenario, tmp_path: Path) -> None:
    """Without room or permission there is an answer or a line that says what is missing."""
    assert scenario(tmp_path / "home")


@pytest.mark.parametrize("whole", [False, pytest.param(True, marks=pytest.mark.soak)])
def test_small_machine(tmp_path: Path, *, whole: bool) -> None:
    """With one core and little memory data compile and answer: small ones, and the real ones."""
    assert resilience.small_machine(tmp_path / "home", whole=whole)


@pytest.mark.long
@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("mount"), reason="only root can mount a small file system")
@pytest.mark.parametrize("scenario", [resilience.full_disk, pytest.param(resilience.read_only_disk, marks=pytest.mark.soak)])
def test_disks_that_take_nothing(scenario: resilience.Scenario, tmp_path: Path) -> None:
    """A full file system, or one that is mounted read-only, costs the result, and nothing that was there."""
    assert scenario(tmp_path / "home")


@pytest.mark.long
def test_side_by_side(tmp_path: Path) -> None:
    """Processes that share a cache while the data change answer from old or new data, never from a mixture."""
    assert resilience.side_by_side(tmp_path / "home", 2)


@pytest.mark.soak
@pytest.mark.parametrize("at_once", [2, 4])
def test_validations_side_by_side(at_once: int, tmp_path: Path) -> None:
    """Validations that end at the same time lose nothing of each other."""
    assert resilience.validations_side_by_side(tmp_path / "home", at_once)


@pytest.mark.long
def test_far_off_clock(tmp_path: Path) -> None:
    """A wrong clock changes no answer for a day."""
    assert resilience.far_off_clock(tmp_path / "home")


@pytest.mark.long
def test_odd_surroundings(tmp_path: Path) -> None:
    """Locale, encoding, clock and closed pipes change no answer."""
    assert resilience.odd_surroundings(tmp_path / "home")


QUICK = ("a-cycle-of-needs", "an-endless-device")
"""Of the ways to break the reader one each: what records say, which files."""


@pytest.mark.long
@pytest.mark.parametrize("name", parted(resilience.HOSTILE, QUICK, pytest.mark.soak))
def test_hostile_data(name: str, tmp_path: Path) -> None:
    """Data made to break the reader are refused in a line, within 500 MB and ten seconds of work."""
    assert resilience.hostile_data(tmp_path / "home", [name])
