"""Shared fixtures: the compiled real data, and a runner for the command line in this process."""

import os
import re
import shutil
import tempfile
from collections.abc import Callable, Container, Iterable
from contextlib import suppress
from datetime import date, timedelta
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

import pytest
import typer
from hypothesis import settings

from compatkb.api import KnowledgeBase
from compatkb.authoring.build_knowledge import build_knowledge
from compatkb.authoring.knowledge_base import Knowledge
from compatkb.authoring.loader import Files, load
from compatkb.core.clock import TODAY_VARIABLE, Clock, current_day
from compatkb.errors import DataError
from compatkb.store.cache import locate
from compatkb.store.reader import Snapshot

# No test asserts a time: machines are noisy. The same examples every time, so that a change is judged by what it changed;
# `make test` takes a tenth of them, `make test-soak` all, and `make soak-properties` draws new ones.
settings.register_profile("same", deadline=None, derandomize=True)
settings.register_profile("few", settings.get_profile("same"), max_examples=settings.get_profile("same").max_examples // 10)
settings.register_profile("new", deadline=None, derandomize=False)
settings.load_profile("same")

ROOT = Path(__file__).resolve().parent.parent
SEEN = re.compile(r"seen = ([0-9-]{10})")
TOGETHER = {
    "tests/web/test_engine.py": "engine",
    "tests/web/": "site",
    **{f"tests/test_{name}.py": name for name in ("package", "database", "doctor", "export")},
    **{f"tests/test_{name}.py": "code" for name in ("layers", "foreign", "queries")},
    "tests/test_newer.py": "knowledge",
    "tests/test_refusals.py": "knowledge",
    "tests/test_kinds.py": "knowledge",
    "tests/test_proofs.py::test_shipped": "knowledge",
    "tests/test_disputes.py::test_every_open": "knowledge",
}
"""Tests that share what takes long to make, by how their names begin: a site, a knowledge base, a wheel, answers."""


DATA_DAY = "COMPATKB_TESTS_DATA_DAY"
"""The variable in which the processes of a run find the day of the data."""
LATER = {90: pytest.mark.soak, 400: pytest.mark.long}
"""Days after that of the data on which tests of verdicts run too: what has ended after 90 days has after 400."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let a run choose its today."""
    described = "run as if it were so many days after the day of the data: no verdict may depend on it"
    parser.addoption("--days-later", type=int, default=0, metavar="DAYS", help=described)


def pytest_configure(config: pytest.Config) -> None:
    """Set the clock, since no test leans on the real date; compile the data before the processes begin that all need them.

    What this run compiles goes with it, and nobody else sees it; the snapshot of this checkout is kept for the next run. Nor
    does a run see the configuration and the data that its user has.
    """
    if hasattr(config, "workerinput"):  # a process that inherits what follows
        return
    kept = ROOT / ".pytest_cache" / "compatkb"
    os.environ["COMPATKB_CACHE"] = str(kept)
    with suppress(DataError):  # which tests of the data tell
        snapshot = locate(ROOT / "data")
        os.environ[DATA_DAY] = Snapshot(snapshot).meta["data_date"]
        os.environ[TODAY_VARIABLE] = shown(config.getoption("--days-later"))
        own = os.environ["COMPATKB_CACHE"] = tempfile.mkdtemp(prefix="compatkb-tests-")
        os.environ |= {"COMPATKB_CONFIG": f"{own}/config.toml", "COMPATKB_UPDATES": f"{own}/updates"}
        config.add_cleanup(lambda: shutil.rmtree(own, ignore_errors=True))
        for path in kept.glob(f"{Path(snapshot).name}*"):
            shutil.copy2(path, own)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run tests of verdicts on later days too, in runs that name marks and do not leave the long ones out."""
    marks = metafunc.config.option.markexpr
    if metafunc.definition.get_closest_marker("verdict") and marks and "not long" not in marks:
        metafunc.fixturenames.insert(0, "later")
        days = [pytest.param(days, marks=mark, id=f"{days}-days-later") for days, mark in LATER.items()]
        metafunc.parametrize("later", [pytest.param(0, id="today"), *days], indirect=True)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Of several processes one runs those that go together, from the beginning; the others come in pieces, as one is free.

    A piece is a test, or a quarter of its parameters: with thousands of pieces the one that deals them out is as busy.
    """
    from xdist.scheduler import LoadScopeScheduling

    class Scheduling(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            piece = f"{nodeid.partition('[')[0]} {crc32(nodeid.encode()) % 4}"
            return next((shared for start, shared in TOGETHER.items() if nodeid.startswith(start)), piece)

    return Scheduling(config, log)


def shown(days: int) -> str:
    """Return what the clock shows so many days after the day of the data."""
    return (date.fromisoformat(os.environ[DATA_DAY]) + timedelta(days)).isoformat()


def days_later() -> int:
    """Return how many days after the day of the data the clock shows."""
    return (current_day() - date.fromisoformat(os.environ[DATA_DAY])).days


def without_age(said: str) -> str:
    """Return remarks without the one that data have aged, in a run on a later day: it is said of every answer from then on."""
    late = days_later() > 0
    lines = said.splitlines(keepends=True)
    return "".join(line for line in lines if not (late and line.startswith("remark: the data are ")))


def last_read() -> date:
    """Return the day on which a document of the shipped data was read last, which may be after the day of the data."""
    files = (ROOT / "data").rglob("*.toml")
    return date.fromisoformat(max(day for file in files for day in SEEN.findall(file.read_text(encoding="utf-8"))))


def examples(whole: int) -> int:
    """Return how many examples of a rule to try: the `whole` number; with the profile `few` a tenth, 5 at the least."""
    return max(min(whole, 5), whole * settings.default.max_examples // settings.get_profile("same").max_examples)


def parted(every: Iterable[Any], quick: Container[Any], later: pytest.MarkDecorator = pytest.mark.long) -> list[Any]:
    """Return values as parameters: those of `quick` for every run of the test, the others for the `later` ones."""
    return [one if one in quick else pytest.param(one, marks=later) for one in every]


def clock(as_of: date | None = None) -> Clock:
    """Return the clock of this run, asking about another day if one is named."""
    return Clock(current_day(), as_of)


class Run(NamedTuple):
    """What a command printed, and its exit code."""

    code: int
    out: str
    err: str


@pytest.fixture(scope="session")
def shipped() -> str:
    """The path of the snapshot of the data in this checkout."""
    return locate(ROOT / "data")


@pytest.fixture(scope="session")
def facts(shipped: str) -> Snapshot:
    """The snapshot of the data in this checkout, shared by the tests: what one of them made it read, the next finds there."""
    return Snapshot(shipped)


@pytest.fixture(scope="session")
def base(facts: Snapshot) -> KnowledgeBase:
    """The Python interface to the same facts."""
    made = KnowledgeBase(ROOT / "data")
    made.facts = facts
    return made


@pytest.fixture(scope="session")
def files() -> Files:
    """The data of this checkout as curators wrote them."""
    return load(ROOT / "data")


@pytest.fixture(scope="session")
def knowledge(files: Files) -> Knowledge:
    """What the data of this checkout say, with all that follows from it."""
    return build_knowledge(files)


@pytest.fixture
def later(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the clock show a later day."""
    if request.param:
        monkeypatch.setenv(TODAY_VARIABLE, shown(request.param))


@pytest.fixture
def cold_run(capsys: pytest.CaptureFixture[str]) -> Callable[..., Run]:
    """Return a function that runs `compatkb WORDS...` in this process; that the data have aged in this run is not repeated."""
    from compatkb.cli import main

    aged = f"remark: the data are {days_later()} days old"

    def runner(*words: str) -> Run:
        with pytest.raises(SystemExit) as ended:
            main(list(words))
        captured = capsys.readouterr()
        said = [line for line in captured.err.splitlines(keepends=True) if not line.startswith(aged)]
        return Run(int(ended.value.code or 0), captured.out, "".join(said))

    return runner


@pytest.fixture
def run(cold_run: Callable[..., Run], shipped: str, facts: Snapshot, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Run]:
    """Return what `cold_run` does, but that a command which opens the shipped data gets those that the tests share."""
    monkeypatch.setattr("compatkb.cli.opening.Snapshot", lambda path: facts if path == shipped else Snapshot(path))
    return cold_run


def parse(words: list[str]) -> dict[str, Any]:
    """Return what the command line reads from words, the command's name as `command`; nothing is run."""
    from compatkb.cli.app import application

    with suppress(typer.Exit):  # as --version and --help end
        context = application().make_context("compatkb", list(words))
        rest = [*context._protected_args, *context.args]
        while hasattr(context.command, "resolve_command"):
            name, command, rest = context.command.resolve_command(context, rest)
            context = command.make_context(name, list(rest), parent=context)
            rest = [*getattr(context, "_protected_args", ()), *context.args]
        given = {name: tuple(value) if isinstance(value, list) else value for name, value in context.params.items()}
        return {"command": context.info_name, **given}  # before 0.29, Typer collected what is repeatable in tuples
    return {}
