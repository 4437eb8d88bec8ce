"""Serves a folder of static files, for a look at a site."""

import sys
from functools import partial
from http.server import SimpleHTTPRequestHandler
from pathlib import Path
from typing import Any

from compatkb.errors import UnavailableError, UsageError
from compatkb.listening import Listener


class _Quiet(SimpleHTTPRequestHandler):
    """Logs nothing, lets nothing be cached, and knows only what is below one path."""

    def __init__(self, *args: Any, at: str, **options: Any) -> None:
        self.at = at
        super().__init__(*args, **options)

    def translate_path(self, path: str) -> str:
        """Return the file that a path names; one outside of the site names none."""
        inside = path.startswith(f"{self.at}/")
        return super().translate_path(path.removeprefix(self.at) if inside else "/nothing here")

    def end_headers(self) -> None:
        """Send the headers."""
        self.send_header("Cache-Control", "no-cache")
        self.send_header("X-Content-Type-Options", "nosniff")
        super().end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def make_server(folder: Path, host: str, port: int, *, at: str = "") -> Listener:
    """Return a server of a folder, listening; it is found below the path `at`.

    Raises UsageError where there is no site, UnavailableError where it may not listen.
    """
    if not (folder / "index.html").is_file():
        raise UsageError(f"{folder}: holds no site; `compatkb web build --out {folder}` writes one")
    try:
        return Listener((host, port), partial(_Quiet, directory=str(folder), at=at))
    except OSError as error:
        raise UnavailableError(f"{host}:{port}: cannot be listened on: {error.strerror}") from None


def serve_folder(folder: Path, host: str, port: int) -> None:
    """Serve a folder until interrupted; raises as `make_server` does."""
    with make_server(folder, host, port) as server:
        print(f"http://{host}:{server.server_port}/ shows {folder}; Ctrl-C ends it", file=sys.stderr)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            return
