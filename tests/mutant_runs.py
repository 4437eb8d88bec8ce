"""Tests over changed functions: in forks of a process that has imported everything and collected the tests."""

import gc
import importlib
import os
import resource
import signal
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from itertools import pairwise
from multiprocessing import Pipe, get_context
from multiprocessing.connection import Connection
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, NamedTuple

import pytest
from covering import QUICK, copy_checkout, enter, forget

SURVIVED, TIME_LIMIT, DIED, NOT_PLANTED = "survived", "time limit", "process died", "not planted"
_MEMORY = 6 << 30
_FORK = get_context("fork")


class Mutant(NamedTuple):
    """A module as it is to be: its path inside the checkout, its text, and the function that differs."""

    inside: Path
    text: str
    function: str


class Run(NamedTuple):
    """What to run: tests in their order; with the data compiled anew, or as they were."""

    tests: list[str]
    limit: float
    anew: bool = False


def codes(code: CodeType, *, inner: bool = False) -> Iterator[CodeType]:
    """Yield the code of functions in the order of the text; of those within functions only where they are asked for."""
    for one in code.co_consts:
        if isinstance(one, CodeType):
            is_function = bool(one.co_flags & 2)  # CO_NEWLOCALS, which the body of a class has not
            if is_function:
                yield one
            if inner or not is_function:
                yield from codes(one, inner=inner)


def code_of(text: str, path: str, function: str) -> list[CodeType]:
    """Return the code of a function that stands in no other, or of the one around it, and of those within."""
    tops = [c for c in codes(compile(text, path, "exec")) if f"{function}.".startswith(f"{c.co_qualname}.")]
    return [code for top in tops for code in (top, *codes(top, inner=True))]


def plant(mutant: Mutant, folder: Path) -> None:
    """Give the functions of a module that is imported the code that they have in a text; raises ValueError where none has."""
    path = str(folder / mutant.inside)
    parts = mutant.inside.with_suffix("").parts[1:]
    importlib.import_module(".".join(parts[:-1] if parts[-1] == "__init__" else parts))
    old = code_of(Path(path).read_text(encoding="utf-8"), path, mutant.function)
    new = code_of(mutant.text, path, mutant.function)
    instead = dict(zip(old, new, strict=[c.co_name for c in old] == [c.co_name for c in new]))
    planted = [one for one in gc.get_objects() if isinstance(one, FunctionType) and one.__code__ in instead]
    for function in planted:
        function.__code__ = instead[function.__code__]
    if not planted:
        raise ValueError(f"{path}: {mutant.function} is not imported")


class Server:
    """A plugin for pytest: in the place of the tests it runs what it is asked to, each in a fork."""

    def __init__(self, questions: Connection, folder: Path) -> None:
        """Answer questions, which are pairs of a Run and a Mutant or None, over a copy of the checkout."""
        self.questions, self.folder = questions, folder
        self.failed = ""

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Answer until nobody asks."""
        with suppress(EOFError):
            self.questions.send([item.nodeid for item in session.items])
            while True:
                run, mutant = self.questions.recv()
                self.questions.send(self.outcome(session, run, mutant))
        return True

    def outcome(self, session: pytest.Session, run: Run, mutant: Mutant | None) -> str:
        """Return the test that fails first, `time limit`, `process died`, or `survived`."""
        receive, send = Pipe(duplex=False)
        child = _FORK.Process(target=self._child, args=(send, session, run, mutant))
        child.start()
        send.close()
        try:
            said: str = receive.recv() if receive.poll(run.limit) else TIME_LIMIT
        except EOFError:
            said = DIED
        with suppress(ProcessLookupError):
            os.killpg(child.pid or 0, signal.SIGKILL)
        child.join()
        return said

    def _child(self, send: Connection, session: pytest.Session, run: Run, mutant: Mutant | None) -> None:
        """Run tests, and send what came of them."""
        os.setsid()
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
        forget([])
        if mutant:
            try:
                plant(mutant, self.folder)
            except ValueError as error:
                send.send(f"{NOT_PLANTED}: {error}")
                return
        with tempfile.TemporaryDirectory() as cache:
            if run.anew:
                os.environ["COMPATKB_CACHE"] = cache
            for item, following in self._chosen(session, run):
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
                if self.failed:
                    break
        send.send(self.failed or SURVIVED)

    def _chosen(self, session: pytest.Session, run: Run) -> list[tuple[Any, Any]]:
        """Return the tests to run, each with the next."""
        named = {item.nodeid: item for item in session.items}
        wanted = [named[name] for name in run.tests]
        return list(pairwise([*wanted, None]))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note the first that fails."""
        if report.failed and not self.failed:
            self.failed = report.nodeid


class Runner:
    """A process with the tests of some files, over a copy of the checkout, so that nothing can change the checkout itself."""

    def __init__(self, folder: Path, files: list[str]) -> None:
        """Copy what tests read to a folder, and collect the tests there."""
        copy_checkout(folder)
        self.questions, answers = Pipe()
        self.server = _FORK.Process(target=serve, args=(self.questions, answers, folder, files))
        self.server.start()
        answers.close()
        self.collected = frozenset[str](self.questions.recv())

    def outcome(self, run: Run, mutant: Mutant | None = None) -> str:
        """Return the test that fails first, `time limit`, `process died`, or `survived`."""
        self.questions.send((run, mutant))
        said: str = self.questions.recv()
        return said

    def close(self) -> None:
        """End the process."""
        self.questions.close()
        self.server.join()


def serve(asking: Connection, questions: Connection, folder: Path, files: list[str]) -> None:
    """Answer questions in this process until the one that asks ends."""
    asking.close()
    enter(folder)
    with (folder / "said").open("w") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    pytest.main([*QUICK, *files], plugins=[Server(questions, folder)])
