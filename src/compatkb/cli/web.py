"""The commands of the site: write it, answer live."""

from typing import Annotated

import typer

from compatkb.cli import options as o
from compatkb.cli.progress import Progress

web = typer.Typer(add_completion=False)


@web.command("build", help="write the site: plain files for any web server, any folder of it, and a disk")
def build(
    out: Annotated[str, o.value("--out", "DIR", "the folder to write")] = "site",
    no_engine: Annotated[
        bool, typer.Option("--no-engine", help="leave out the engine that answers in the browser what no page was written for")
    ] = False,
    as_of: o.AsOf = None,
    data: o.Data = None,
) -> int:
    """Write the site."""
    from compatkb.web.commands import build_site

    with Progress() as count:
        return build_site(out, count, data=data, as_of=as_of, engine=not no_engine)


@web.command("serve", help="answer any question on this machine, as a page and as JSON, or show a folder that was written")
def serve(
    directory: Annotated[str | None, o.value("--dir", "DIR", "show a folder that was written")] = None,
    host: Annotated[str, o.value("--host", "NAME", "the address to listen on")] = "localhost",
    port: Annotated[int, o.value("--port", "N", "the port; 0 takes a free one")] = 8000,
    as_of: o.AsOf = None,
    data: o.Data = None,
) -> int:
    """Answer on this machine until interrupted, or show a folder that was written."""
    from compatkb.web.commands import serve_folder, serve_live

    if directory:
        return serve_folder(directory, host, port)
    return serve_live(host, port, data=data, as_of=as_of)
