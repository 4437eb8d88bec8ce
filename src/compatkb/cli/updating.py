"""The commands for data that are newer than the program: take them, and publish them."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from compatkb.cli import options as o
from compatkb.errors import UsageError

data = typer.Typer(add_completion=False)


@data.command("update", help="download newer data, verified before they are used")
def update(
    source: Annotated[
        str | None, o.value("--from", "URL|FILE", "where it is, with its .sha256 (default: as the package names it)")
    ] = None,
) -> int:
    """Take newer data."""
    from compatkb.store.downloaded_data import update as take

    done = take(source or _published())
    now = f"data of {done.data_date}"
    print(
        f"taken: {now}; --data builtin uses those of the program" if done.taken else f"nothing newer: {now}",
        file=sys.stderr,
    )
    return 0


@data.command("pack", help="write the data and their digest as files for `data update`")
def pack(
    out: Annotated[str | None, o.value("--out", "FILE", "the file to write (default: by its format)")] = None,
    directory: o.Data = None,
) -> int:
    """Write a store for others."""
    from compatkb.store.downloaded_data import FILE
    from compatkb.store.downloaded_data import pack as write

    day = write(directory, Path(out or FILE))
    print(f"wrote {out or FILE} and its .sha256: data of {day}", file=sys.stderr)
    return 0


def _published() -> str:
    """Return the address that the metadata of the installed package name for its data; raises UsageError without one."""
    from importlib.metadata import PackageNotFoundError, metadata

    try:
        known = metadata("compatkb").get_all("Project-URL") or []
    except PackageNotFoundError:
        known = []
    for entry in known:
        label, _, address = entry.partition(",")
        if label.strip().lower() == "data":
            return f"{address.strip().rstrip('/')}/"
    raise UsageError(
        "this installation has no address for newer data; give one with --from URL or --from FILE"
        "\n  a newer compatkb has newer data: pull its checkout and install it again"
    )
