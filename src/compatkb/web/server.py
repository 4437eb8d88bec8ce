"""The server on this machine: pages and API answered by the engine, or a folder that holds a static site."""

import asyncio
import json
import math
import os
import re
import signal
import socket
import sys
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote

import h11
import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import Response as HttpResponse
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from compatkb.errors import UnavailableError, UsageError
from compatkb.web.responses import CHECK, DIAGNOSE, KINDS, POSTED, PROBLEM, ProblemDetails, problem_response
from compatkb.web.workers import ANSWER, FAILED, HTML, MINE, MISSING, SHIELD, Sent, Source, Workers, sent

API = "api/v1/"
MOST_QUERY, MOST_FIELDS, MOST_PATH = 4000, 64, 300
MOST_BODY, SECONDS_BODY, SECONDS_HEAD = 700_000, 10.0, 10.0
MOST_KEPT, MOST_KEPT_BYTES = 4096, 64_000_000
SECONDS_GIVEN_UP = 30.0
INTERRUPTED = 130
HEADERS = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Expose-Headers": "ETag, Location, Retry-After",
    "Cache-Control": "no-cache",
    "Vary": "Accept-Encoding",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; "
    "form-action 'self'; frame-ancestors 'none'"
)
FOREVER = "public, max-age=31536000, immutable"
_HASHED = re.compile(r"/assets/[\w-]+-[0-9a-f]{12}\.\w+$")
LONG = ProblemDetails(414, "The address is too long", f"a path has at most {MOST_PATH} characters, a query {MOST_QUERY}")
UNREADABLE = ProblemDetails(400, "The question cannot be read", f"a query is UTF-8, with at most {MOST_FIELDS} parts")
NOT_GET = ProblemDetails(405, "Only GET is answered", "the API is read with GET; check and diagnose are posted to")
NOT_POSTED = ProblemDetails(405, "A text is posted here", "POST a form or JSON with the member text")
LARGE = ProblemDetails(413, "The text is too long", f"at most {MOST_BODY} bytes are read")
LATE = ProblemDetails(408, "The text did not come", f"it has to come within {SECONDS_BODY:.0f} seconds")


class Kept:
    """Responses that were made, by what was asked; the oldest are forgotten."""

    def __init__(self) -> None:
        self._kept: OrderedDict[object, tuple[Sent, float]] = OrderedDict()
        self._bytes = 0

    def get(self, key: object) -> Sent | None:
        """Return what was kept and is still good."""
        response, until = self._kept.get(key, (None, 0.0))
        if response is None or until < time.monotonic():
            return None
        self._kept.move_to_end(key)
        return response

    def add(self, key: object, response: Sent) -> None:
        """Keep a response; a search that gave up only for a while, since the next one may be quicker; no failure."""
        if response.status == FAILED.status:
            return
        if key in self._kept:
            self._bytes -= _size(self._kept.pop(key)[0])
        self._kept[key] = response, math.inf if response.status < 500 else time.monotonic() + SECONDS_GIVEN_UP
        self._bytes += _size(response)
        while len(self._kept) > MOST_KEPT or self._bytes > MOST_KEPT_BYTES:
            self._bytes -= _size(self._kept.popitem(last=False)[1][0])


def _size(response: Sent) -> int:
    return len(response.body) + len(response.packed)


def make_app(open_source: Callable[[], Source], *, at: str = "") -> Starlette:
    """Return the application below the path `at`; `open_source` is called once it runs, since it may take a while."""
    state: dict[str, Any] = {}

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        workers = state["workers"] = Workers(open_source())
        yield
        workers.stop()

    cache = Kept()

    async def reply(request: Request) -> HttpResponse:
        response = await made(request)
        if response.media == PROBLEM and _wants_page(request, at):  # a person looks at it: the same as a page
            page = await state["workers"].ask(PROBLEM, (*_members(response), ("path", request.url.path[len(at) + 1 :])))
            response = page._replace(status=response.status) if page.status == 200 else response
        return _reply(request, response)

    async def made(request: Request) -> Sent:
        key = await _posted(request, at) if request.method == "POST" else _key(request, at)
        if isinstance(key, ProblemDetails):
            return sent(problem_response(key))
        response = cache.get(key)
        if response is None:
            response = await state["workers"].ask(*key)
            if request.method != "POST":  # what somebody pasted is forgotten
                cache.add(key, response)
        return response

    class Everything:
        """Every path is one: what there is, the workers know."""

        async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
            await (await reply(Request(scope, receive)))(scope, receive, send)

    app = Starlette(lifespan=lifespan)
    endpoint: ASGIApp = Everything()
    app.mount("", endpoint)
    return app


def _wants_page(request: Request, at: str) -> bool:
    """Return whether a browser shows the response, as its Accept says; calls of the API are for programs."""
    return "text/html" in request.headers.get("accept", "") and not request.url.path.startswith(f"{at}/{API}")


def _members(response: Sent) -> tuple[tuple[str, str], ...]:
    members = json.loads(response.body)
    return tuple((name, str(members[name])) for name in ("status", "title", "detail"))


POSTS = {"mine.html": MINE, f"{API}{CHECK}": CHECK, f"{API}{DIAGNOSE}": DIAGNOSE}
"""The paths that take a text, and the calls that they are."""


async def _posted(request: Request, at: str) -> tuple[str, tuple[tuple[str, str], ...]] | ProblemDetails:
    """Return the call of a text that was posted, as a form or as JSON, or what is wrong with it."""
    kind = POSTS.get(unquote(request.url.path)[len(at) + 1 :])
    if kind is None:
        return NOT_GET
    body = bytearray()
    try:
        async with asyncio.timeout(SECONDS_BODY):
            async for chunk in request.stream():
                body += chunk
                if len(body) > MOST_BODY:
                    return LARGE
    except TimeoutError:
        return LATE
    try:
        text = body.decode()
        if request.headers.get("content-type", "").partition(";")[0].strip() == "application/json":
            members = json.loads(text)
            if not isinstance(members, dict) or not all(isinstance(value, str) for value in members.values()):
                return UNREADABLE
            return kind, tuple(members.items())
        return kind, tuple(parse_qsl(text, keep_blank_values=True, max_num_fields=MOST_FIELDS, errors="strict"))
    except ValueError:
        return UNREADABLE


def _key(request: Request, at: str) -> tuple[str, tuple[tuple[str, str], ...]] | ProblemDetails:
    """Return what a request asks for and its parameters, or what is wrong with it."""
    if request.method not in ("GET", "HEAD"):
        return NOT_GET
    path, query = unquote(request.url.path), request.url.query
    if len(query) > MOST_QUERY or len(path) > MOST_PATH:
        return LONG
    if not path.startswith(f"{at}/"):
        return MISSING
    path = path[len(at) + 1 :]
    try:
        parameters = tuple(parse_qsl(query, keep_blank_values=True, max_num_fields=MOST_FIELDS, errors="strict"))
    except ValueError:
        return UNREADABLE
    if any("\0" in name + text for name, text in parameters):
        return UNREADABLE
    if path in ("", "index.html"):
        return ANSWER, parameters
    if path.startswith(API) and path[len(API) :] in POSTED:
        return NOT_POSTED
    if path.startswith(API) and path[len(API) :] in (*KINDS, SHIELD):
        return path[len(API) :], parameters
    return f"./{path}" if path in (*KINDS, ANSWER, SHIELD, MINE) else path, ()  # a file of that name is no call


def _reply(request: Request, response: Sent) -> HttpResponse:
    """Return the HTTP response; only that it has not changed, where the asker has it."""
    headers = {**HEADERS, "ETag": response.tag, **({"Content-Security-Policy": POLICY} if response.media == HTML else {})}
    if _HASHED.search(request.url.path) and response.status == 200:
        headers["Cache-Control"] = FOREVER
    if response.status == 503:
        headers["Retry-After"] = "2"
    if response.location:
        headers["Location"] = response.location
    if response.status == 405:
        headers["Allow"] = "POST" if request.method in ("GET", "HEAD") else "GET, HEAD"
    known = [text.strip().removeprefix("W/") for text in request.headers.get("if-none-match", "").split(",")]
    if response.status == 200 and (response.tag in known or "*" in known):
        return HttpResponse(status_code=304, headers=headers)
    if response.packed and "gzip" in request.headers.get("accept-encoding", ""):
        return HttpResponse(response.packed, response.status, {**headers, "Content-Encoding": "gzip"}, response.media)
    return HttpResponse(response.body, response.status, headers, response.media)


class Connection(H11Protocol):
    """A connection that is closed where the head of a request has not come whole in time, however slowly it drips."""

    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn narrows it
        """Begin to wait for the first request."""
        super().connection_made(transport)
        self._late = self.loop.call_later(SECONDS_HEAD, transport.close)

    def data_received(self, data: bytes) -> None:
        """Read on: whole, a head is waited for no longer; the first bytes of the next one begin a wait."""
        super().data_received(data)
        begun = self.conn.their_state is h11.IDLE and bool(self.conn.trailing_data[0])
        if self._late and not begun:
            self._late.cancel()
            self._late = None
        elif begun and not self._late:
            self._late = self.loop.call_later(SECONDS_HEAD, self.transport.close)

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing more."""
        if self._late:
            self._late.cancel()
        super().connection_lost(exc)


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens, so that nobody is refused while the rest starts; raises UnavailableError."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        listener = socket.create_server((host, port), family=family, backlog=512)
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # head and body are two writes: neither waits 40 ms
        return listener
    except (OSError, OverflowError, UnicodeError) as error:
        raise UnavailableError(f"{host}:{port}: cannot be listened on: {getattr(error, 'strerror', None) or error}") from None


def run(open_source: Callable[[], Source], host: str, port: int) -> None:
    """Serve until interrupted; raises UnavailableError where it may not listen."""
    listener = listen(host, port)
    config = uvicorn.Config(
        make_app(open_source), log_level="warning", access_log=False, server_header=False, date_header=False,
        timeout_graceful_shutdown=1, timeout_keep_alive=15, http=Connection,
        h11_max_incomplete_event_size=16_384, lifespan="on",
    )  # fmt: skip
    server = uvicorn.Server(config)

    def end(*_: object) -> None:
        if server.started:
            raise KeyboardInterrupt
        os._exit(INTERRUPTED)  # an exception that is raised while modules are imported may get lost

    signal.signal(signal.SIGINT, end)
    shown = f"[{host}]" if ":" in host else host
    print(f"http://{shown}:{listener.getsockname()[1]}/ answers; Ctrl-C ends it", file=sys.stderr, flush=True)
    server.run(sockets=[listener])


class _Files(StaticFiles):
    """The files, none of which a browser may keep without asking."""

    def file_response(self, *args: Any, **options: Any) -> Any:
        """Return the response with the headers of a site that may change."""
        response = super().file_response(*args, **options)
        response.headers["Cache-Control"] = FOREVER if _HASHED.search(str(args[2]["path"])) else "no-cache"
        response.headers["X-Content-Type-Options"] = "nosniff"
        return response


def folder_app(folder: Path, *, at: str = "") -> Starlette:
    """Return the application that shows a folder below the path `at`; raises UsageError where there is no site."""
    from compatkb.web.static import MARK

    if not (folder / MARK).is_file():
        raise UsageError(f"{folder}: holds no site; `compatkb web build --out {folder}` writes one")
    files = Mount(at or "/", _Files(directory=folder, html=True))
    return Starlette(routes=[files], middleware=[Middleware(GZipMiddleware, minimum_size=500)])


def run_folder(folder: Path, host: str, port: int) -> None:
    """Serve a folder until interrupted; raises UsageError where there is no site, UnavailableError where it may not listen."""
    app = folder_app(folder)
    listener = listen(host, port)
    print(f"http://{host}:{listener.getsockname()[1]}/ shows {folder}; Ctrl-C ends it", file=sys.stderr, flush=True)
    config = uvicorn.Config(app, log_level="warning", access_log=False, server_header=False, timeout_graceful_shutdown=1)
    uvicorn.Server(config).run(sockets=[listener])
