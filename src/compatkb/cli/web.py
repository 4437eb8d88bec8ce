"""The commands of the site: write it, answer live."""

import importlib.util
import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from compatkb.cli import options as o
from compatkb.cli.terminal import Progress
from compatkb.core.clock import Clock, current_day
from compatkb.errors import UnavailableError
from compatkb.request.parser import parse_day
from compatkb.store.cache import locate

web = typer.Typer(add_completion=False)


@web.command("build", help="write the site: plain files for any web server, any folder of it, and a disk")
def build(
    out: Annotated[str, o.value("--out", "DIR", "the folder to write")] = "site",
    no_engine: Annotated[
        bool, o.option("--no-engine", "leave out the engine that answers in the browser what no page was written for")
    ] = False,
    as_of: o.AsOf = None,
    data: o.Data = None,
) -> int:
    """Write the static site, whole or not at all, counting its files."""
    from compatkb.web.static import write_site

    begun = time.process_time()
    with Progress() as count:
        written = write_site(locate(data), _clock(as_of), Path(out), count, engine=not no_engine)
    taken = time.process_time() - begun
    where = Path(out) / "index.html"
    print(f"wrote {written} files to {out} in {taken:.0f} s of processor time; open {where}", file=sys.stderr)
    return 0


@web.command("serve", help="answer any question on this machine, as a page and as JSON, or show a folder that was written")
def serve(
    directory: Annotated[str | None, o.value("--dir", "DIR", "show a folder that was written")] = None,
    host: Annotated[str, o.value("--host", "NAME", "the address to listen on")] = "localhost",
    port: Annotated[int, o.value("--port", "N", "the port; 0 takes a free one")] = 8000,
    as_of: o.AsOf = None,
    data: o.Data = None,
) -> int:
    """Answer on this machine until interrupted, or show a folder that was written."""
    missing = [name for name in ("starlette", "uvicorn") if importlib.util.find_spec(name) is None]
    if missing:
        raise UnavailableError(f"the server needs {' and '.join(missing)}: python -m pip install 'compatkb[web]'")
    from compatkb.web.server import run, run_folder
    from compatkb.web.workers import Source

    if directory:
        run_folder(Path(directory), host, port)
        return 0
    clock = _clock(as_of)
    run(lambda: Source(locate(data), clock), host, port)
    return 0


def _clock(as_of: str | None) -> Clock:
    return Clock(current_day(), parse_day(as_of) if as_of else None)
