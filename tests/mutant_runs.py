"""Tests over a module as it does not stand in its file: in a fork of a process that has imported all but compatkb."""

import compileall
import importlib
import os
import resource
import signal
import sys
import tempfile
from collections.abc import Collection
from contextlib import suppress
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from multiprocessing import Pipe, get_context
from multiprocessing.connection import Connection
from pathlib import Path
from types import CodeType
from typing import NamedTuple

import pytest
from covering import QUICK, copy_checkout, enter

SURVIVED, TIME_LIMIT, START_FAILED = "survived", "time limit", "the start"
WARM = (
    "hypothesis",
    "jinja2",
    "markdown_it",
    "networkx",
    "packaging.requirements",
    "pydantic",
    "rich.console",
    "typer",
    "yaml",
)
_MEMORY = 6 << 30


class Chosen:
    """A plugin for pytest that runs chosen tests in their order, and before them those that nobody knows."""

    def __init__(self, tests: list[str], known: Collection[str]) -> None:
        """Choose tests; `known` are all that were ever measured."""
        self.order = {name: number for number, name in enumerate(tests)}
        self.known = known
        self.failed = ""

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Leave out what is not chosen."""
        wanted = [item for item in items if item.nodeid in self.order or item.nodeid not in self.known]
        items[:] = sorted(wanted, key=lambda item: self.order.get(item.nodeid, -1))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note the first that fails."""
        if report.failed and not self.failed:
            self.failed = report.nodeid


class Loader(SourceFileLoader):
    """Loads a module from a text that stands in no file."""

    def __init__(self, name: str, path: str, text: str) -> None:
        """Load `text` as if it stood at `path`."""
        super().__init__(name, path)
        self.text = text

    def get_code(self, _fullname: str) -> CodeType:
        """Return the text compiled."""
        code: CodeType = compile(self.text, self.path, "exec")
        return code


class Mutant(MetaPathFinder):
    """Finds a module in a text that stands in no file: the cache of compiled data sees no other compiler."""

    def __init__(self, path: Path, text: str) -> None:
        """Find the module of a file of src/."""
        parts = path.with_suffix("").parts[path.parts.index("compatkb") :]
        self.folders = [str(path.parent)] if parts[-1] == "__init__" else None
        self.name = ".".join(parts[:-1] if self.folders else parts)
        self.path, self.text = str(path), text

    def find_spec(self, fullname: str, *_: object) -> ModuleSpec | None:
        """Return where the module is."""
        if fullname != self.name:
            return None
        loader = Loader(fullname, self.path, self.text)
        return spec_from_file_location(fullname, self.path, loader=loader, submodule_search_locations=self.folders)


class Run(NamedTuple):
    """What to run: tests in their order, with whatever in the files is not known; the data compiled anew or as they were."""

    tests: list[str]
    files: list[str]
    known: Collection[str]
    limit: float
    anew: bool = False


class Runner:
    """Runs tests over a copy of the checkout, so that nothing can change the checkout itself."""

    def __init__(self, folder: Path) -> None:
        """Copy what tests read to a folder."""
        self.folder = folder
        copy_checkout(folder)
        compileall.compile_dir(folder / "src", quiet=2)
        for module in WARM:
            importlib.import_module(module)

    def outcome(self, run: Run, mutant: Mutant | None = None) -> str:
        """Return the test that fails first, `time limit`, `the start` where none can run, or `survived`."""
        if not run.tests and not run.files:
            return SURVIVED
        receive, send = Pipe(duplex=False)
        child = get_context("fork").Process(target=self._child, args=(send, run, mutant))
        child.start()
        send.close()
        try:
            said: str = receive.recv() if receive.poll(run.limit) else TIME_LIMIT
        except EOFError:
            said = START_FAILED
        with suppress(ProcessLookupError):
            os.killpg(child.pid or 0, signal.SIGKILL)
        child.join()
        return said

    def _child(self, send: Connection, run: Run, mutant: Mutant | None) -> None:
        """Run tests, and send what came of them."""
        os.setsid()
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
        with (self.folder / "said").open("w") as file:
            os.dup2(file.fileno(), 1)
            os.dup2(file.fileno(), 2)
        enter(self.folder)
        with tempfile.TemporaryDirectory() as cache:
            if run.anew:
                os.environ["COMPATKB_CACHE"] = cache
            if mutant:
                sys.meta_path.insert(0, mutant)
            chosen = Chosen(run.tests, run.known)
            files = list(dict.fromkeys(name.partition("::")[0] for name in [*run.tests, *run.files]))
            code = pytest.main([*QUICK, "-x", "-W", "ignore::pytest.PytestAssertRewriteWarning", *files], plugins=[chosen])
        passed = code in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
        send.send(SURVIVED if passed else chosen.failed or START_FAILED)
