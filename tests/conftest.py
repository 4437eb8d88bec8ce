"""Shared fixtures: the compiled real data, and a runner for the command line in this process."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import settings

from compatkb.snapshot.read import Snapshot
from compatkb.snapshot.store import locate

# No test asserts a time: machines are noisy. The same examples every time, so that a change is judged by what it changed;
# `make soak-properties` draws new ones.
settings.register_profile("same", deadline=None, derandomize=True)
settings.register_profile("new", deadline=None, derandomize=False)
settings.load_profile("same")

ROOT = Path(__file__).resolve().parent.parent


class Run(NamedTuple):
    """What a command printed, and its exit code."""

    code: int
    out: str
    err: str


@pytest.fixture(scope="session")
def facts() -> Snapshot:
    """The snapshot of the data in this checkout."""
    return Snapshot(locate(ROOT / "data"))


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., Run]:
    """Return a function that runs `compatkb WORDS...` in this process."""
    from compatkb.cli import main

    def runner(*words: str) -> Run:
        with pytest.raises(SystemExit) as ended:
            main(list(words))
        captured = capsys.readouterr()
        return Run(int(ended.value.code or 0), captured.out, captured.err)

    return runner
