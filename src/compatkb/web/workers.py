"""The processes that work for the server: each opens the snapshot for itself and makes responses, to the API and of pages.

A worker keeps what the engine looked up and the answers that pages share; whole responses are kept by the server alone.
"""

import asyncio
import gc
import gzip
import hashlib
import json
import multiprocessing
import os
import re
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager

from compatkb.core.clock import Clock
from compatkb.core.record import NamedTuple
from compatkb.core.vocabulary import Role
from compatkb.errors import CompatkbError
from compatkb.store.reader import Snapshot
from compatkb.web.questions import read_question
from compatkb.web.responses import JSON, KINDS, POSTED, PROBLEM, Api, ProblemDetails, Response, problem_of, problem_response
from compatkb.web.systems import file_name

ANSWER, SHIELD, MINE = "answer", "shield", "mine"
HTML = "text/html; charset=utf-8"
MOST_WAITING = 64
"""Calls that wait for a worker; those beyond are told to come again."""
LEAST_PACKED, LEVEL = 500, 4
_YOUNG = 100_000  # objects between two looks for garbage: what an answer makes is mostly gone once it is sent
LONGEST = 10.0
"""Seconds after which a call that waits for a worker is refused."""
LONGEST_TEXT = 60.0
"""The same for a text that was posted, which has the checkers imported, and for a map, which is made once."""
GONE = ProblemDetails(503, "The server is busy", "the answer took too long; ask again")
FAILED = ProblemDetails(500, "The server failed", "this should not happen; please report the address")
MISSING = ProblemDetails(404, "There is nothing here", "see openapi.yaml for what there is")


class Source(NamedTuple):
    """What a worker answers from."""

    snapshot: str
    clock: Clock


class _Desk:
    """What a worker keeps between calls."""

    def __init__(self, source: Source) -> None:
        from compatkb.web.asker import Asker
        from compatkb.web.pages import Site

        facts = Snapshot(source.snapshot)
        self.api, self.site = Api(facts, source.clock), Site(Asker(facts, source.clock), live=True)
        self.files: dict[str, Callable[[], str]] | None = None

    def shield(self, parameters: tuple[tuple[str, str], ...]) -> str:
        """Return the verdict on a question as a badge."""
        from compatkb.web.machine_files import shield

        question = read_question(parameters)
        return json.dumps(shield(self.site.asker.view(question)), ensure_ascii=False) + "\n"

    def moved(self, path: str) -> Response | None:
        """Return the way to the file of a product that was asked for by another of its names; None for no such name."""
        match = re.fullmatch(r"(api/v1/(?:products|latest|endoflife|renovate)|products)/([^/]+)\.(json|html)", path)
        product = self.site.facts.product(match[2]) if match else None
        if match is None or product is None or product.role == Role.FEATURE or product.id == match[2]:
            return None
        return Response(308, JSON, "{}\n", f"{file_name(product.id)}.{match[3]}")

    def file(self, path: str) -> str | None:
        """Return a file of the site, None where there is none of that path."""
        if self.files is None:
            from compatkb.web.static import site_files

            self.files = site_files(self.site)
        return self.files[path]() if path in self.files else None


_desks: list[_Desk] = []


def start(source: Source) -> None:
    """Open what this process answers from; an interrupt is for the server alone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.set_threshold(_YOUNG)
    _desks[:] = [_Desk(source)]


class Sent(NamedTuple):
    """A response as it goes out: its bytes, compressed too where that is worth it, and its tag."""

    status: int
    media: str
    body: bytes
    packed: bytes
    tag: str
    location: str = ""


def sent(response: Response) -> Sent:
    """Return the bytes of a response."""
    body = response.text.encode()
    packed = gzip.compress(body, LEVEL, mtime=0) if len(body) >= LEAST_PACKED else b""
    return Sent(response.status, response.media, body, packed, f'"{hashlib.sha256(body).hexdigest()[:20]}"', response.location)


def answer(kind: str, parameters: tuple[tuple[str, str], ...]) -> Sent:
    """Return the response to a call: to the API, to the page that answers, or to another page by its path."""
    return sent(_answer(_desks[0], kind, parameters))


def _answer(desk: _Desk, kind: str, parameters: tuple[tuple[str, str], ...]) -> Response:
    if kind in KINDS or kind in POSTED:
        return desk.api.respond(kind, parameters)
    try:
        if kind == ANSWER:
            return Response(200, HTML, desk.site.question_page(parameters))
        if kind == PROBLEM:
            given = dict(parameters)
            problem = ProblemDetails(int(given["status"]), given["title"], given["detail"])
            return Response(200, HTML, desk.site.problem_page(problem, given["path"]))
        if kind == MINE:
            return Response(200, HTML, desk.site.mine_page(parameters))
        if kind == SHIELD:
            return Response(200, JSON, desk.shield(parameters))
        from compatkb.web.static import media_type

        content = desk.file(kind)
        if content is not None:
            return Response(200, media_type(kind), content)
        return desk.moved(kind) or problem_response(MISSING)
    except CompatkbError as error:
        problem = problem_of(error)
        if kind == ANSWER:
            return Response(problem.status, HTML, desk.site.problem_page(problem))
        return problem_response(problem)


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Have the processes that are started meanwhile see no interrupt, not even before they can ignore it."""
    if hasattr(signal, "pthread_sigmask"):
        before = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT,))
        yield
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    else:
        yield


class Workers:
    """A pool of processes; one that dies is replaced."""

    def __init__(self, source: Source, count: int = 0) -> None:
        self.source, self.count = source, count or max(2, min(8, os.cpu_count() or 2))
        self._pool = self._made()
        self._waiting = 0

    def _made(self) -> ProcessPoolExecutor:
        """Return a pool whose processes start at once, so that the first visitor need not wait."""
        pool = ProcessPoolExecutor(self.count, multiprocessing.get_context("spawn"), start, (self.source,))
        with _uninterrupted():
            for _ in range(self.count):
                pool.submit(os.getpid)
        return pool

    async def ask(self, kind: str, parameters: tuple[tuple[str, str], ...]) -> Sent:
        """Return the response of a worker; a problem where it fails or takes too long."""
        if self._waiting >= MOST_WAITING:
            return sent(problem_response(GONE))
        loop = asyncio.get_running_loop()
        self._waiting += 1
        longest = LONGEST if kind in (*KINDS, ANSWER, SHIELD) else LONGEST_TEXT
        try:
            return await asyncio.wait_for(loop.run_in_executor(self._pool, answer, kind, parameters), longest)
        except TimeoutError:
            return sent(problem_response(GONE))
        except BrokenProcessPool:
            self._pool = self._made()
            return sent(problem_response(GONE))
        except Exception:  # a bug of ours: the asker is told no more than that
            import logging

            logging.getLogger(__name__).exception("a call failed: %s %s", kind, parameters)
            return sent(problem_response(FAILED))
        finally:
            self._waiting -= 1

    def stop(self) -> None:
        """End the processes at once."""
        processes = list(self._pool._processes.values()) if self._pool._processes else []
        self._pool.shutdown(wait=False, cancel_futures=True)
        for process in processes:
            process.kill()
