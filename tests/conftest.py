"""Shared fixtures: the compiled real data, and a runner for the command line in this process."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import settings

from compatkb.errors import DataError
from compatkb.snapshot.read import Snapshot
from compatkb.snapshot.store import locate

# No test asserts a time: machines are noisy. The same examples every time, so that a change is judged by what it changed;
# `make test` takes a tenth of them, `make test-long` all, and `make soak-properties` draws new ones.
settings.register_profile("same", deadline=None, derandomize=True)
settings.register_profile("few", settings.get_profile("same"), max_examples=settings.get_profile("same").max_examples // 10)
settings.register_profile("new", deadline=None, derandomize=False)
settings.load_profile("same")

ROOT = Path(__file__).resolve().parent.parent
TOGETHER = ("tests/web/", *(f"tests/test_{name}.py" for name in ("oracle", "package", "layers", "database", "doctor")))
"""Tests that share what takes long to make: a site, a knowledge base, a wheel."""


def pytest_configure(config: pytest.Config) -> None:
    """Compile the data once, before the processes begin that all need them."""
    if getattr(config.option, "numprocesses", None):
        with suppress(DataError):  # which tests of the data tell
            locate(ROOT / "data")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Of several processes one runs those that go together, from the beginning; the others come one by one, as one is free."""
    from xdist.scheduler import LoadScopeScheduling

    class Scheduling(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return next((start for start in TOGETHER if nodeid.startswith(start)), nodeid)

    return Scheduling(config, log)


def examples(whole: int) -> int:
    """Return how many examples of a rule to try: the `whole` number; with the profile `few` a tenth, 5 at the least."""
    return max(min(whole, 5), whole * settings.default.max_examples // settings.get_profile("same").max_examples)


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
