"""Commands that write documents and pages: generated regions, tables, the site, its server."""

import importlib.util
import time
from datetime import date
from pathlib import Path
from typing import Annotated, Literal, get_args
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
Tables = Literal["markdown", "csv", "json"]


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


@docs.command("table", help="print what a region of a kind would hold")
def docs_table(
    kind: Annotated[str, o.word("KIND", "the kind of region, such as images; docs/regions.md lists them")],
    words: Annotated[list[str] | None, o.word("[KEY=VALUE]...", "its arguments, such as device=xpu")] = None,
    form: Annotated[Tables, o.one_of("--format", "form of the output", get_args(Tables))] = "markdown",
    as_of: Day = None,
    data: o.Data = None,
) -> int:
    """Print what a region of a kind would hold, in any form."""
    from compatkb.docgen.kinds import RegionContents, parse_arguments
    from compatkb.docgen.render import FORMS
    from compatkb.output.writers import Links

    facts = open_data(data)
    blocks = RegionContents(facts, _day(as_of)).content(kind, parse_arguments(words or []))
    show(FORMS[form](facts.meta["data_date"], blocks, Links()))
    return 0


@docs.command("diff", help="list where a document's tables of image tags differ from the data, with reasons and sources")
def docs_diff(
    file: Annotated[str, o.word("FILE", "the Markdown file")], form: o.Format = "text", as_of: Day = None, data: o.Data = None
) -> int:
    """Print where the image tables of a document are not what the data make of them; 1 where they differ anywhere."""
    from compatkb.docgen.render import read_text
    from compatkb.docgen.table_diff import Comparison, diff_json, diff_text
    from compatkb.output.documents import Edition

    facts = open_data(data)
    day = _day(as_of) or date.fromisoformat(facts.meta["data_date"])
    compared, differences = Comparison(facts, day).compare(read_text(file))
    edition = Edition(facts.meta["data_date"], day)
    as_json = form == "json"
    show(diff_json(edition, file, compared, differences) if as_json else diff_text(file, compared, differences))
    if not compared:
        tell(f"remark: {file} has no table of image tags that the data know")
    return 1 if differences else 0


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
