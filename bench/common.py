"""What the subjects of the benchmark share: figures, floors, an installed compatkb."""

import os
import statistics
import subprocess
import sys
import time
import venv
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
NULL = ((os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),) if hasattr(os, "POSIX_SPAWN_OPEN") else ()


class Figure(NamedTuple):
    """One result; `noise` is how many times a kept value may be exceeded before it counts as a regression."""

    value: float
    unit: str
    aim: float | None = None
    noise: float = 1.5
    is_ratio: bool = False


def ratio(value: float, of: str, aim: float | None = None, noise: float = 1.5) -> Figure:
    """Return a figure that is a multiple of something measured in the same run."""
    return Figure(value, f"x {of}", aim, noise, True)


class Run:
    """One run of the benchmark."""

    def __init__(self, folder: Path, rounds: int, requests: int) -> None:
        self.folder, self.rounds, self.requests = folder, rounds, requests

    @cached_property
    def commands(self) -> Path:
        """Where the commands of a fresh environment are, with a wheel of this tree installed and compiled."""
        commands = self.folder / "env" / "bin"
        if commands.is_dir():  # another subject made it
            return commands
        print("building and installing a wheel", file=sys.stderr)
        pip = [sys.executable, "-m", "pip"]
        wheel = [*pip, "wheel", "--quiet", "--no-deps", "--wheel-dir", self.folder, ROOT]
        subprocess.run(wheel, check=True, cwd=self.folder)
        venv.create(self.folder / "env", with_pip=True)
        (built,) = self.folder.glob("compatkb-*.whl")
        install = [commands / "python", "-m", "pip", "install", "--quiet", "--compile", built]
        subprocess.run(install, check=True, cwd=self.folder)
        return commands


def environment() -> dict[str, str]:
    """Return our environment without what would keep Python from using compiled files."""
    return {name: value for name, value in os.environ.items() if name not in ("PYTHONDONTWRITEBYTECODE", "PYTHONPATH")}


def processor_seconds(command: Sequence[str | os.PathLike[str]]) -> float:
    """Return the processor time of one command, its children's included: other work on the machine changes it little."""
    words = [os.fspath(word) for word in command]
    child = os.posix_spawn(words[0], words, environment(), file_actions=NULL)
    _, _, used = os.wait4(child, 0)
    return used.ru_utime + used.ru_stime


def round_robin(commands: dict[str, Sequence[str | os.PathLike[str]]], rounds: int) -> dict[str, float]:
    """Return the fewest processor seconds of each command over rounds that start every command once.

    Noise only ever adds; the more memory a command uses, the more of it, so that a share of all would not compare.
    """
    taken: dict[str, list[float]] = {name: [] for name in commands}
    for number in range(rounds + 1):
        print(f"\rround {number} of {rounds}", end="", file=sys.stderr)
        for name, command in commands.items():
            seconds = processor_seconds(command)
            if number:  # the first one warms the disk
                taken[name].append(seconds)
    print(file=sys.stderr)
    return {name: min(times) for name, times in taken.items()}


def share(values: Sequence[float], part: float) -> float:
    """Return the value below which that part of all values lies."""
    return sorted(values)[min(int(len(values) * part), len(values) - 1)]


def timed(call: Callable[[], object]) -> float:
    """Return the processor seconds of a call."""
    start = time.process_time()
    call()
    return time.process_time() - start


def loop() -> float:
    """Return the processor seconds of the floor of one process: ten thousand entries into a dictionary."""
    start = time.process_time()
    kept: dict[tuple[int, int], int] = {}
    for number in range(10_000):
        kept[number & 255, number & 7] = number | 1 << 200
    return time.process_time() - start


def floor_of(samples: Sequence[float]) -> float:
    """Return the floor of a run from samples taken between the measurements."""
    return statistics.median(samples)
