"""Shows a folder with a static site, as any web server would."""

import sys
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles

from compatkb.errors import UsageError
from compatkb.web.server import listen
from compatkb.web.static import MARK


class _Files(StaticFiles):
    """The files, none of which a browser may keep without asking."""

    def file_response(self, *args: Any, **options: Any) -> Any:
        """Return the response with the headers of a site that may change."""
        response = super().file_response(*args, **options)
        response.headers["Cache-Control"] = "no-cache"
        response.headers["X-Content-Type-Options"] = "nosniff"
        return response


def folder_app(folder: Path, *, at: str = "") -> Starlette:
    """Return the application that shows a folder below the path `at`; raises UsageError where there is no site."""
    if not (folder / MARK).is_file():
        raise UsageError(f"{folder}: holds no site; `compatkb web build --out {folder}` writes one")
    files = Mount(at or "/", _Files(directory=folder, html=True))
    return Starlette(routes=[files], middleware=[Middleware(GZipMiddleware, minimum_size=500)])


def run_folder(folder: Path, host: str, port: int, *, at: str = "") -> None:
    """Serve a folder until interrupted; raises UsageError where there is no site, UnavailableError where it may not listen."""
    app = folder_app(folder, at=at)
    listener = listen(host, port)
    print(f"http://{host}:{listener.getsockname()[1]}{at}/ shows {folder}; Ctrl-C ends it", file=sys.stderr, flush=True)
    config = uvicorn.Config(app, log_level="warning", access_log=False, server_header=False, timeout_graceful_shutdown=1)
    uvicorn.Server(config).run(sockets=[listener])
