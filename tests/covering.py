"""Which tests execute which line of a package, measured once by coverage and kept in a folder.

What is worked out once for many tests (a fixture of a module or a session, what a snapshot or a cache keeps) counts for
each of them: fixtures have contexts of their own, and what is kept is dropped between tests.
"""

import difflib
import json
import os
import shutil
import sys
from collections import Counter
from collections.abc import Container, Iterator
from functools import _lru_cache_wrapper
from pathlib import Path
from typing import Any

import coverage
import pytest

ROOT = Path(__file__).resolve().parent.parent
COPIED = ("src", "tests", "data", "docs", "web", "README.md", "CHANGELOG.md", "pyproject.toml", "action.yml", "Makefile")
QUICK = ["-m", "not long and not online", "--hypothesis-profile=few", "-p", "no:cacheprovider", "-q", "--tb=no"]
START = ""
"""The context of what is executed before the first test: the data are compiled."""


def copy_checkout(folder: Path) -> None:
    """Copy what tests read to a new folder."""
    folder.mkdir()
    for part in COPIED:
        copied = shutil.copytree if (ROOT / part).is_dir() else shutil.copy2
        copied(ROOT / part, folder / part)


def enter(folder: Path) -> None:
    """Let this process and those that it starts work on the copy of the checkout in a folder."""
    os.environ |= {"PYTHONPATH": str(folder / "src"), "COMPATKB_CACHE": str(folder / "cache"), "TMPDIR": str(folder / "tmp")}
    (folder / "tmp").mkdir(exist_ok=True)
    os.chdir(folder)
    sys.path[:0] = [str(folder / "src")]


class Recorder:
    """A plugin for pytest that names the context of what is executed, and times tests."""

    def __init__(self, measure: coverage.Coverage, known: Container[str]) -> None:
        """Record into a running measure the tests that are not known."""
        self.measure, self.known, self.context = measure, known, START
        self.tests: dict[str, tuple[float, list[str]]] = {}
        self.failed: set[str] = set()
        self.snapshots: list[tuple[Any, dict[str, Any]]] = []

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Leave out what is known."""
        items[:] = [item for item in items if item.nodeid not in self.known]

    def switch(self, context: str) -> str:
        """Name the context from here on, and return the one before."""
        before, self.context = self.context, context
        self.measure.switch_context(context)
        return before

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any) -> Iterator[None]:
        """Give a fixture that several tests share a context of its own."""
        if fixturedef.scope == "function":
            return (yield)
        before = self.switch(f"{fixturedef.baseid}::{fixturedef.argname}")
        try:
            made = yield
        finally:
            self.switch(before)
        if type(made).__name__ == "Snapshot":
            self.snapshots.append((made, copied(vars(made))))
        return made

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Function) -> Iterator[None]:
        """Take the processor time of a test in a context of its own, with nothing kept from those before it."""
        forget(self.snapshots)
        shared = [f"{base}::{name}" for name in item.fixturenames for base in ("", "tests", item.nodeid.partition("::")[0])]
        begun = sum(os.times()[:4])
        self.switch(item.nodeid)
        made = yield
        self.switch("between")
        self.tests[item.nodeid] = (round(sum(os.times()[:4]) - begun, 4), shared)
        return made

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note what does not pass."""
        if not report.passed:
            self.failed.add(report.nodeid)


def forget(snapshots: list[tuple[Any, dict[str, Any]]]) -> None:
    """Drop what functions and snapshots keep; a snapshot comes with the attributes that it was opened with."""
    for name, module in list(sys.modules.items()):
        if name.startswith("compatkb"):
            for value in list(vars(module).values()):
                if isinstance(value, _lru_cache_wrapper):
                    value.cache_clear()
    for snapshot, opened in snapshots:
        vars(snapshot).clear()
        vars(snapshot).update(copied(opened))


def copied(attributes: dict[str, Any]) -> dict[str, Any]:
    """Return a copy of attributes in which no dictionary is shared."""
    return {name: dict(value) if isinstance(value, dict) else value for name, value in attributes.items()}


def measure(package: str, tests: list[str], folder: Path) -> None:
    """Run quick tests that were never measured in a copy of the checkout, and keep what each executes of a package.

    It is kept in a new folder below `folder`, beside that of the tests that were there before.
    """
    known = {name for part in parts(folder) for name in part.known}
    folder = folder / str(len(parts(folder)))
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    copy_checkout(folder / "checkout")
    enter(folder / "checkout")
    measuring = coverage.Coverage(data_file=folder / "lines", source=[f"src/compatkb/{package}"], config_file=False)
    measuring.start()
    recorder = Recorder(measuring, known)
    pytest.main([*QUICK, *tests], plugins=[recorder])
    measuring.stop()
    measuring.save()
    told = {name: (seconds, shared, name in recorder.failed) for name, (seconds, shared) in recorder.tests.items()}
    (folder / "tests.json").write_text(json.dumps(told), encoding="utf-8")


class Covering:
    """What was measured of a package."""

    def __init__(self, folder: Path) -> None:
        """Read what `measure` left in a folder."""
        self.folder = folder
        self.lines = coverage.CoverageData(str(folder / "lines"))
        self.lines.read()
        told = json.loads((folder / "tests.json").read_text(encoding="utf-8"))
        self.known = frozenset[str](told)
        self.seconds: dict[str, float] = {name: seconds for name, (seconds, _, failed) in told.items() if not failed}
        self.sharing: dict[str, list[str]] = {}
        for name in self.seconds:
            for fixture in told[name][1]:
                self.sharing.setdefault(fixture, []).append(name)

    def tests(self, inside: Path, line: int) -> tuple[dict[str, int], bool]:
        """Return the tests that execute a line of a file as it is now, and whether it was executed before the first of them.

        Each comes with how many lines of the file it executes. An expression of several lines may be noted at an earlier one.
        """
        measured = self.folder / "checkout" / inside
        if not measured.exists():
            return {}, False
        then, now = (path.read_text(encoding="utf-8").splitlines() for path in (measured, ROOT / inside))
        blocks = difflib.SequenceMatcher(None, then, now, autojunk=False).get_matching_blocks()
        line = max(block.a + min(line - block.b, block.size) for block in blocks if block.b < line)
        found = self.lines.contexts_by_lineno(str(measured))
        before = range(line, max(line - 6, 0), -1)
        contexts = next((found[near] for near in before if set(found.get(near, ())) - {START}), found.get(line, []))
        lines = Counter(test for names in found.values() for test in self._tests_in(names))
        return {test: lines[test] for test in self._tests_in(contexts)}, START in found.get(line, ())

    def _tests_in(self, contexts: list[str]) -> set[str]:
        """Return the tests of contexts: a fixture is in the tests that share it."""
        return {test for name in contexts for test in (name, *self.sharing.get(name, ())) if test in self.seconds}


def parts(folder: Path) -> list[Covering]:
    """Return what was measured at each time."""
    return [Covering(path.parent) for path in sorted(folder.glob("*/tests.json"))]


if __name__ == "__main__":
    measure(sys.argv[1], sys.argv[3:], Path(sys.argv[2]).resolve())
