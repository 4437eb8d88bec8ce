"""Writes the static site: every page, the API, and the engine that answers the rest in the browser."""

from collections.abc import Callable
from pathlib import Path

from compatkb.core.atomic_write import write_tree
from compatkb.core.clock import Clock
from compatkb.store.reader import Snapshot
from compatkb.web.asker import Asker
from compatkb.web.engine_bundle import engine_files, engine_size, fetch_pyodide
from compatkb.web.files import site_files
from compatkb.web.pages import Site

MARK = ".compatkb-site"
"""The file by which a folder is known to hold a site."""


def write_site(
    snapshot: str, clock: Clock, out: Path, count: Callable[[str, int, int], None] | None = None, *, engine: bool = True
) -> int:
    """Write the site of a snapshot file into a folder, whole or not at all, and return the number of files.

    A folder that holds anything but a site is left alone. Raises UsageError and UnavailableError.
    """
    asker = Asker(Snapshot(snapshot), clock)
    if engine:
        pyodide = fetch_pyodide()
        site = Site(asker, live=False, engine_size=engine_size(Path(snapshot), pyodide))
        files = make_site(site, count) | engine_files(site, Path(snapshot), pyodide)
    else:
        files = make_site(Site(asker, live=False), count)
    write_tree(out, files, ours=MARK)
    return len(files)


def make_site(site: Site, count: Callable[[str, int, int], None] | None = None) -> dict[str, bytes]:
    """Return every file of a static site by its path, counting them."""
    files, wanted = {}, site_files(site)
    for number, (path, make) in enumerate(wanted.items(), 1):
        files[path] = make().encode()
        if count:
            count("pages", number, len(wanted))
    return {**files, MARK: f"{site.build}\n".encode(), ".nojekyll": b""}
