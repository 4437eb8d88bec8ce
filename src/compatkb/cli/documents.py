"""Commands that write documents and pages: generated regions, the site, its server."""

import importlib.util
import time
from datetime import date
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

import typer

from compatkb.cli import options as o
from compatkb.cli.opening import open_data
from compatkb.cli.terminal import Progress, tell
from compatkb.core.clock import Clock, current_day
from compatkb.core.foreign import shown
from compatkb.errors import UnavailableError, UsageError
from compatkb.output.terminal import show
from compatkb.request.parser import parse_day
from compatkb.store.cache import locate

docs, web = typer.Typer(add_completion=False), typer.Typer(add_completion=False)

Files = Annotated[list[str] | None, o.word("[FILE]...", "files and folders (default: README.md and docs)")]
Day = Annotated[str | None, o.value("--as-of", "DATE", "the day of what names none, YYYY-MM-DD (default: that of the data)")]


@docs.command("render", help="fill the marked regions of Markdown files")
def docs_render(files: Files = None, form: o.Format = "text", as_of: Day = None, data: o.Data = None) -> int:
    """Fill the regions of the files; says which ones held something else."""
    from compatkb.docgen.render import Documents, find_files, report_json, report_text, write_document

    facts = open_data(data)
    documents = Documents(facts, _day(as_of)).documents(find_files(files or []))
    for document in documents:
        if document.stale:
            write_document(document)
    show(report_json(facts.meta["data_date"], documents) if form == "json" else report_text(documents))
    return 0


@docs.command("check", help="print as a diff what render would change, and fail if there is anything")
def docs_check(files: Files = None, form: o.Format = "text", as_of: Day = None, data: o.Data = None) -> int:
    """Compare the regions of the files with what they should hold; raises StaleError where one differs."""
    from compatkb.docgen.render import Documents, diff_of, find_files, mend, report_json
    from compatkb.errors import StaleError

    facts = open_data(data)
    documents = Documents(facts, _day(as_of)).documents(find_files(files or []))
    show(report_json(facts.meta["data_date"], documents) if form == "json" else "".join(map(diff_of, documents)))
    if any(document.stale for document in documents):
        raise StaleError(mend(documents, data, as_of))
    return 0


def _day(as_of: str | None) -> date | None:
    """Return the day of --as-of, None unless given: documents are for the date of the data, whatever day it is."""
    return parse_day(as_of) if as_of else None


@web.command("build", help="write the site: plain files for any web server, any folder of it, and a disk")
def build(
    out: Annotated[str, o.value("--out", "DIR", "the folder to write")] = "site",
    no_engine: Annotated[
        bool, o.option("--no-engine", "leave out the engine that answers in the browser what no page was written for")
    ] = False,
    url: Annotated[
        str, o.value("--url", "URL", "the address where the site will be found: for links that are shared, and search engines")
    ] = "",
    as_of: o.AsOf = None,
    data: o.Data = None,
) -> int:
    """Write the static site, whole or not at all, counting its files."""
    from compatkb.web.static import write_site

    begun = time.process_time()
    with Progress() as count:
        written = write_site(locate(data), _clock(as_of), Path(out), count, engine=not no_engine, url=_address(url))
    taken = time.process_time() - begun
    where = Path(out) / "index.html"
    tell(f"wrote {written} files to {out} in {taken:.0f} s of processor time; open {where}")
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


def _address(url: str) -> str:
    """Return the address of a site; raises UsageError unless it is one of the web, without a query."""
    parts = urlsplit(url)
    if url and not (parts.scheme in ("http", "https") and parts.hostname and not parts.query and not parts.fragment):
        raise UsageError(f"--url {shown(url)}: is no address of a site; write it as https://example.org/compatkb/")
    return url


def _clock(as_of: str | None) -> Clock:
    return Clock(current_day(), _day(as_of))
