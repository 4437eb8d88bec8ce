"""Serves recorded indexes on the loopback interface as simple indexes (PEP 503, 658, 714) for real pip and uv.

Each question gets an address of its own, so that what was served to it, and what the record lacked, are known.
"""

import html
import io
import re
import threading
import time
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from http.server import BaseHTTPRequestHandler
from ipaddress import IPv4Address
from itertools import count
from socket import INADDR_LOOPBACK
from urllib.parse import unquote

from compatkb.core.http_server import Listener
from compatkb.errors import UnavailableError
from compatkb.validate.record import RecordedIndex, Wheel
from compatkb.validate.targets import is_for

_PAUSE = 30.0  # seconds between saves: what a kill loses is read again
LOOPBACK = str(IPv4Address(INADDR_LOOPBACK))
_PATH = re.compile(r"/(\d+)/([^/]+)/(?:simple/([^/]+)/|w/([^/]+)/([^/]+?)(\.metadata)?)")


@dataclass
class IndexSession:
    """What one question asked and got."""

    base: str
    platform: str = ""  # the only one whose wheels are listed; empty for all
    served: dict[str, str] = field(default_factory=dict)  # path without the question's number: SHA-256
    missing: list[str] = field(default_factory=list)  # why something could not be served
    unread: list[str] = field(default_factory=list)  # the same of whole pages

    def url(self, channel: str) -> str:
        """Return the address at which a channel answers this question."""
        return f"{self.base}{channel}/simple/"

    @property
    def digest(self) -> str:
        """SHA-256 over all that was served, whatever the order."""
        return sha256("".join(f"{path} {digest}\n" for path, digest in sorted(self.served.items())).encode()).hexdigest()


class Server:
    """A loopback server of recorded indexes by channel; a context manager."""

    def __init__(self, records: Mapping[str, RecordedIndex]) -> None:
        self.records = records
        self._saved = time.monotonic()
        self._saving = threading.Lock()
        self._visits: dict[str, IndexSession] = {}
        self._pages: dict[tuple[str, str, str], bytes] = {}
        self._numbers = count(1)
        handler = type("Handler", (_Handler,), {"owner": self})
        self._http = Listener((LOOPBACK, 0), handler)
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)

    def __enter__(self) -> "Server":
        """Begin to serve."""
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop, and write what the records gained."""
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()
        self.save()

    def save(self, *, every: float = 0.0) -> None:
        """Write what the records gained, unless that was done less than `every` seconds ago."""
        with self._saving:
            if time.monotonic() - self._saved >= every:
                for record in self.records.values():
                    record.save()
                self._saved = time.monotonic()

    @contextmanager
    def visit(self, platform: str = "") -> Iterator[IndexSession]:
        """Return an address for one question; pages leave out what can be installed on other platforms alone.

        Installers read thousands of links only to skip most of them; what is left decides the same.
        """
        number = str(next(self._numbers))
        port = self._http.server_address[1]
        visit = self._visits[number] = IndexSession(f"http://{LOOPBACK}:{port}/{number}/", platform)
        try:
            yield visit
        finally:
            del self._visits[number]
            self.save(every=_PAUSE)

    def answer(self, path: str) -> tuple[int, str, bytes]:
        """Return status, content type and body for a path."""
        match = _PATH.fullmatch(unquote(path))
        visit = self._visits.get(match[1]) if match else None
        if match is None or visit is None:
            return 404, "text/plain", b"no such page"
        try:
            status, kind, body = self._content(match, visit.platform)
        except (LookupError, UnavailableError) as error:
            visit.missing.append(str(error.args[0]))
            if match[3]:
                visit.unread.append(str(error.args[0]))
            return 404, "text/plain", b"not in the record"
        visit.served[path.partition(f"/{match[1]}/")[2]] = sha256(f"{status}\n".encode() + body).hexdigest()
        return status, kind, body

    def _content(self, match: re.Match[str], platform: str) -> tuple[int, str, bytes]:
        record = self.records.get(match[2])
        if record is None:
            raise LookupError(f"there is no record of {match[2]}")
        if match[3]:
            wheels = record.page(match[3])
            if wheels is None:
                return 404, "text/plain", b"the index has no such distribution"
            key = (match[2], match[3], platform)  # which wheels there are does not change while a record is open
            if key not in self._pages:
                self._pages[key] = page_of(match[3], [w for w in wheels if is_for(w.file, platform)]).encode()
            return 200, "text/html; charset=utf-8", self._pages[key]
        text = record.metadata(match[4], match[5])
        if text is None:
            return 404, "text/plain", b"the index offers none"
        if not match[6]:
            return 200, "application/zip", hollow_wheel(match[5], text)
        return 200, "text/plain", text.encode()


def page_of(distribution: str, wheels: list[Wheel]) -> str:
    """Return the project page of a distribution (PEP 503 with PEP 592, 658 and 714).

    It gives no digests: the wheels behind it are hollow.
    """
    lines = ["<!DOCTYPE html>", "<html><head><meta name='pypi:repository-version' content='1.0'></head><body>"]
    for wheel in wheels:
        extra = ' data-core-metadata="true" data-dist-info-metadata="true"'
        if wheel.requires_python:
            extra += f' data-requires-python="{html.escape(wheel.requires_python)}"'
        if wheel.yanked is not None:
            extra += f' data-yanked="{html.escape(wheel.yanked)}"'
        name = html.escape(wheel.file)
        lines.append(f'<a href="../../w/{html.escape(distribution)}/{name}"{extra}>{name}</a><br>')
    return "\n".join([*lines, "</body></html>"]) + "\n"


def hollow_wheel(file: str, metadata: str) -> bytes:
    """Return a wheel of this name that holds its metadata and nothing else: older pips resolve from no less."""
    name, version, *_ = file.split("-")
    tag = "-".join(file.removesuffix(".whl").split("-")[-3:])
    folder = f"{name}-{version}.dist-info"
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as wheel:
        for path, text in (
            ("METADATA", metadata),
            ("WHEEL", f"Wheel-Version: 1.0\nGenerator: compatkb\nRoot-Is-Purelib: false\nTag: {tag}\n"),
            ("RECORD", f"{folder}/METADATA,,\n{folder}/WHEEL,,\n{folder}/RECORD,,\n"),
        ):
            wheel.writestr(zipfile.ZipInfo(f"{folder}/{path}"), text)
    return buffer.getvalue()


class _Handler(BaseHTTPRequestHandler):
    owner: Server
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = 1 << 16  # headers and body in one packet: two cost a delayed acknowledgement each

    def do_GET(self) -> None:
        self._send(with_body=True)

    def do_HEAD(self) -> None:
        self._send(with_body=False)

    def _send(self, *, with_body: bool) -> None:
        status, kind, body = self.owner.answer(self.path.partition("?")[0])
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if with_body:
            self.wfile.write(body)
            self.wfile.flush()

    def log_message(self, *_: object) -> None:  # the report says what matters
        pass
