"""A package index on the loopback interface: pages as HTML or JSON, wheels that are served in parts, and worse."""

import hashlib
import html
import io
import json
import re
import tarfile
import threading
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler

from listener import Listener

from compatkb.schema import IndexFile

LAST_MODIFIED = "Tue, 01 Jul 2025 10:00:00 GMT"


@dataclass
class Served:
    """A file that the index offers."""

    name: str
    content: bytes = b""
    uploaded: str = "2025-06-30T10:00:00.123456Z"
    requires_python: str = ""
    yanked: str | None = None
    metadata: bytes = b""


@dataclass
class Index:
    """What the server answers; tests change it while it runs."""

    projects: dict[str, list[Served]] = field(default_factory=dict)
    as_json: bool = False
    upload_times: bool = True
    offers_metadata: bool = False
    ranges: str = "all"  # all, from-start, none
    last_modified: bool = True
    raw: dict[str, tuple[int, dict[str, str], bytes]] = field(default_factory=dict)  # by path, before all else
    drip: float = 0.0  # seconds between the bytes of raw answers
    asked: list[tuple[str, str, str]] = field(default_factory=list)
    url: str = ""

    def page(self, project: str) -> tuple[str, bytes]:
        """Return content type and body of a project's page."""
        files = self.projects[project]
        if self.as_json:
            listed = [
                {
                    "filename": file.name,
                    "url": f"../../files/{file.name}",
                    "hashes": {},
                    **({"requires-python": file.requires_python} if file.requires_python else {}),
                    **({"upload-time": file.uploaded} if self.upload_times else {}),
                    **({"core-metadata": {"sha256": digest(file)}} if self.offers_metadata and file.metadata else {}),
                    "yanked": False if file.yanked is None else file.yanked or True,
                }
                for file in files
            ]
            body = json.dumps({"meta": {"api-version": "1.1"}, "name": project, "versions": [], "files": listed})
            return "application/vnd.pypi.simple.v1+json", body.encode()
        lines = ["<!DOCTYPE html><html><head><title>Links</title></head><body>"]
        for file in files:
            said = {
                "data-requires-python": file.requires_python or None,
                "data-yanked": file.yanked,
                "data-upload-time": file.uploaded if self.upload_times else None,
                "data-core-metadata": f"sha256={digest(file)}" if self.offers_metadata and file.metadata else None,
            }
            attributes = "".join(f' {key}="{html.escape(value)}"' for key, value in said.items() if value is not None)
            lines.append(f'<a href="../../files/{file.name}#sha256={"0" * 64}"{attributes}>{file.name}</a><br/>')
        return "text/html; charset=utf-8", "\n".join([*lines, "</body></html>", ""]).encode()


def digest(file: Served) -> str:
    """Return the SHA-256 of a file's metadata."""
    return hashlib.sha256(file.metadata).hexdigest()


def metadata(name: str, version: str, requires: tuple[str, ...] = ()) -> bytes:
    """Return the METADATA of a wheel."""
    lines = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}", *(f"Requires-Dist: {text}" for text in requires)]
    return ("\n".join(lines) + "\n\nA description.\n").encode()


def wheel(file_name: str, requires: tuple[str, ...] = (), *, padding: int = 0, said_version: str = "", **said: str) -> Served:
    """Return a real wheel with that metadata, with `padding` bytes in front of them."""
    name, version = file_name.split("-")[:2]
    content = metadata(name, said_version or version, requires)
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        archive.writestr(f"{name}/big.bin", b"\0" * padding)
        archive.writestr(f"{name}-{version}.dist-info/METADATA", content, zipfile.ZIP_DEFLATED)
        archive.writestr(f"{name}-{version}.dist-info/RECORD", b"")
    return Served(file_name, target.getvalue(), metadata=content, **said)


def archive(file_name: str, files: dict[str, str]) -> Served:
    """Return a source archive with these files in it."""
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w:gz") as packed:
        for path, text in files.items():
            member = tarfile.TarInfo(f"{file_name.removesuffix('.tar.gz')}/{path}")
            member.size = len(text)
            packed.addfile(member, io.BytesIO(text.encode()))
    return Served(file_name, target.getvalue())


def served(file: IndexFile) -> list[Served]:
    """Return files that say what a file of data/index/ says: every wheel is a real one."""
    found = []
    for release in file.release:
        first = release.uploaded.isoformat().replace("+00:00", ".654321Z")
        said = {"uploaded": first, "requires_python": release.requires_python}
        reason = release.yanked.reason if release.yanked else None
        names = [
            f"{file.distribution.replace('-', '_')}-{release.version}-{_tags(key)}-{platform}.whl"
            for key, platforms in release.wheels.items()
            for platform in platforms
        ]
        if not names:
            names = [f"{file.distribution}-{release.version}.tar.gz"]
        if release.file and release.file not in names:  # a build number, or an ABI of its own
            names.append(release.file)
        for name in names:
            found.append(wheel(name, release.requires, **said) if name.endswith(".whl") else Served(name, **said))
            found[-1].yanked = reason
    for one in file.metadata:
        for version in one.versions:
            stem = f"{file.distribution.replace('-', '_')}-{version}"
            whole = wheel(f"{stem}-py3-none-any.whl", one.requires or (), requires_python=one.requires_python)
            found.append(Served(f"{stem}.tar.gz", requires_python=one.requires_python) if one.requires is None else whole)
            found[-1].yanked = "a reason" if version in one.yanked else None
    return found


def _tags(key: str) -> str:
    if key.endswith("-abi3"):
        return key
    plain = key.rstrip("t") if re.fullmatch(r"cp\d+t", key) else key
    return f"{plain}-{key if key.startswith('cp') else 'none'}"


@contextmanager
def serving(index: Index) -> Iterator[Index]:
    """Serve an index on a free port until the end of the block; `index.url` is its address."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            """Keep quiet."""

        def do_HEAD(self) -> None:
            self.answer()

        def do_GET(self) -> None:
            self.answer()

        def send(self, status: int, headers: dict[str, str], body: bytes) -> None:
            self.send_response(status)
            for key, value in {"Content-Length": str(len(body)), **headers}.items():
                if value:
                    self.send_header(key, value)
            if "Connection" in headers:
                self.close_connection = True
            self.end_headers()
            if self.command != "HEAD":
                for piece in [body[n : n + 1] for n in range(len(body))] if index.drip else [body]:
                    self.wfile.write(piece)
                    time.sleep(index.drip)

        def answer(self) -> None:
            index.asked.append((self.command, self.path, self.headers.get("Range", "")))
            parts = self.path.strip("/").split("/")
            if self.path in index.raw:
                return self.send(*index.raw[self.path])
            if parts[0] == "simple" and parts[1] in index.projects:
                kind, body = index.page(parts[1])
                return self.send(200, {"Content-Type": kind}, body)
            files = {file.name: file for listed in index.projects.values() for file in listed}
            if parts[0] == "files" and parts[1] in files:
                return self.file(files[parts[1]])
            if index.offers_metadata and parts[1].removesuffix(".metadata") in files:
                return self.send(200, {}, files[parts[1].removesuffix(".metadata")].metadata)
            return self.send(404, {}, b"")

        def file(self, file: Served) -> None:
            headers = {"Last-Modified": LAST_MODIFIED} if index.last_modified else {}
            size = len(file.content)
            match = re.fullmatch(r"bytes=(\d*)-(\d*)", self.headers.get("Range", ""))
            if not match or index.ranges == "none" or (index.ranges == "from-start" and not match[1]):
                return self.send(200, headers, file.content)
            start = int(match[1]) if match[1] else max(0, size - int(match[2]))
            end = min(size, int(match[2]) + 1) if match[1] and match[2] else size
            headers["Content-Range"] = f"bytes {start}-{end - 1}/{size}"
            return self.send(206, headers, file.content[start:end])

    with Listener(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        index.url = f"http://127.0.0.1:{server.server_address[1]}/simple"
        try:
            yield index
        finally:
            server.shutdown()
