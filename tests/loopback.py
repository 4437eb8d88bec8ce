"""A package index on this machine, and wheels made on the fly with the names, labels and metadata of real ones."""

import contextlib
import hashlib
import html
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

from builders import wheel_file
from listener import Listener
from packaging.utils import canonicalize_name


@dataclass
class Index:
    """What the index holds, and how much it sent."""

    url: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    wrong_hash: set[str] = field(default_factory=set)
    ranges: bool = True
    hashes: bool = True
    yanked: dict[str, str] = field(default_factory=dict)  # file: reason
    requires_python: dict[str, str] = field(default_factory=dict)  # by file
    silent: set[str] = field(default_factory=set)  # projects whose page is forbidden
    sent: int = 0  # bytes of files
    asked: list[str] = field(default_factory=list)  # the projects whose pages were asked for

    def add(self, name: str, version: str, init: str, **more: Any) -> str:
        """Add a wheel with one module, named like the distribution unless `module` says otherwise; returns its file name."""
        module = more.pop("module", name.replace("-", "_"))
        body = f"__version__ = {version!r}\n{init}\n"
        file, content = wheel_file(name, version, {f"{module}/__init__.py": body, **more.pop("files", {})}, **more)
        self.files[file] = content
        return file

    def content(self, file: str) -> bytes | None:
        """Return a file, None where there is none of this name."""
        return self.files.get(file)

    def page(self, name: str = "") -> str:
        """Return the page of a project, or one with the links of all."""
        rows = []
        for file, content in self.files.items():
            if canonicalize_name(file.split("-")[0]) == name or not name:
                digest = hashlib.sha256(content + (b"!" if file in self.wrong_hash else b"")).hexdigest()
                part = f"#sha256={digest}" if self.hashes else ""
                more = f' data-yanked="{self.yanked[file]}"' if file in self.yanked else ""
                if python := self.requires_python.get(file):
                    more += f' data-requires-python="{html.escape(python)}"'
                rows.append(f'<a href="/files/{file.replace("+", "%2B")}{part}"{more}>{file}</a>')
        return f"<!DOCTYPE html><html><body>{''.join(rows)}</body></html>" if rows else ""


@contextmanager
def serve(made: Index | None = None) -> Iterator[Any]:
    """Serve an index, an empty one unless given, on the loopback interface; its `url` is set."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            if found := re.fullmatch(r"/simple/([^/]+)/", self.path):
                index.asked.append(found[1])
                if found[1] in index.silent:
                    self.answer(403, b"", "text/html")
                    return
                text = index.page(found[1]).encode()
                self.answer(200 if text else 404, text, "text/html")
            elif self.path == "/links":
                self.answer(200, index.page().encode(), "text/html")
            elif self.path.startswith("/forbidden"):
                self.answer(403, b"<html><body>no</body></html>", "text/html")
            elif self.path.startswith("/broken/"):
                self.answer(500, b"", "text/html")
            elif self.path.startswith("/endless"):
                self.endless()
            elif self.path.startswith("/text/"):
                self.answer(200, b"sign in first", "text/plain")
            elif self.path.startswith("/hang/"):
                asleep.wait(60)
                self.close_connection = True
            elif self.path.startswith("/loop/"):
                self.answer(302, b"", "text/html", Location=self.path)
            elif self.path.startswith("/huge/"):
                self.answer(200, b"<a>" * (6 << 20), "text/html")
            elif found := re.fullmatch(r"/files/(.+)", self.path):
                body = index.content(found[1].replace("%2B", "+"))
                if body is None:
                    self.answer(404, b"", "text/plain")
                    return
                wanted = self.headers.get("Range", "")
                part = re.fullmatch(r"bytes=(\d*)-(\d*)", wanted)
                if part and index.ranges:
                    first = int(part[1]) if part[1] else max(0, len(body) - int(part[2]))
                    last = min(int(part[2]) if part[1] and part[2] else len(body) - 1, len(body) - 1)
                    index.sent += last - first + 1
                    span = f"bytes {first}-{last}/{len(body)}"
                    self.answer(206, body[first : last + 1], "application/zip", **{"Content-Range": span})
                else:
                    index.sent += len(body)
                    self.answer(200, body, "application/zip")
            else:
                self.answer(404, b"", "text/plain")

        def answer(self, code: int, body: bytes, kind: str, **headers: str) -> None:
            self.send_response(code)
            for name, value in {"Content-Type": kind, "Content-Length": str(len(body)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        def endless(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.close_connection = True
            with contextlib.suppress(OSError):
                for _ in range(1024):  # a gigabyte, should nobody hang up
                    self.wfile.write(b"<a href='x'>" * 87382)

        do_HEAD = do_GET  # noqa: N815  # the name that http.server calls

        def log_message(self, *words: Any) -> None:
            pass

    asleep = threading.Event()
    server = Listener(("127.0.0.1", 0), Handler)
    index = made or Index()
    index.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield index
    finally:
        asleep.set()
        server.shutdown()
        server.server_close()
        thread.join(5)
