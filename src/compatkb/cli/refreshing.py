"""`compatkb refresh`: ask the index, print what the data lack, and write it when told to."""

import json
import sys
import textwrap
from datetime import UTC, date, datetime, time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from compatkb.cli import completion
from compatkb.cli import options as o
from compatkb.cli.terminal import Progress
from compatkb.core.clock import current_day
from compatkb.errors import UnavailableError, UsageError
from compatkb.request.parser import parse_day
from compatkb.store.cache import data_directory
from compatkb.store.records import picked

if TYPE_CHECKING:
    from compatkb.refresh.comparison import Note
    from compatkb.refresh.run import RefreshOutcome

STALE = 4
SHOWN = 12


def refresh(
    write: Annotated[bool, o.option("--write", "write the files of data/index/; otherwise only print")] = False,
    check: Annotated[bool, o.option("--check", "exit with code 4 where a file would change")] = False,
    only: Annotated[o.Words, o.value("--only", "PRODUCT", "only this product (repeatable)", completion.products)] = None,
    requirements: Annotated[
        bool, o.option("--requirements", "read Requires-Dist where the file has none so far, too")
    ] = False,
    since: Annotated[
        str | None,
        o.value(
            "--since", "DATE", "leave out releases before this day (default: the oldest upload recorded of each distribution)"
        ),
    ] = None,
    index: Annotated[str | None, o.value("--index", "URL", "ask this index in place of the default one")] = None,
    jobs: Annotated[int, o.value("--jobs", "N", "requests at a time", min=1)] = 4,
    form: o.Format = "text",
    data: o.Data = None,
) -> int:
    """Propose what the index has that data/index/ lacks; 0, or 4 with --check where a file would change."""
    if write and check:
        raise UsageError("--write and --check cannot be used together")
    try:
        from compatkb.refresh.index_client import Network
    except ImportError as error:
        message = f"refresh needs the package {error.name}: python -m pip install 'compatkb[refresh]'"
        raise UnavailableError(message) from None
    from compatkb.authoring.loader import load
    from compatkb.refresh.run import refresh as run
    from compatkb.refresh.run import select
    from compatkb.refresh.run import write as write_changes

    if index and not index.startswith(("https://", "http://")):
        raise UsageError(f"{index!r} is not the address of a package index: it begins with https:// or http://")
    directory = data_directory(data).resolve()
    files = load(directory)
    subjects = select(files, only or (), requirements=requirements)
    first = datetime.combine(parse_day(since), time(), UTC) if since else None
    today = current_day()
    with Progress() as count:
        outcome = run(files, directory, subjects, Network(index), today, since=first, jobs=jobs, say=_say, count=count)
    print(_json(outcome, directory, today) if form == "json" else _text(outcome, directory), end="")
    if write:
        write_changes((*outcome.changes, *outcome.looked_at))
    done = "written" if write else "would change"
    _say(f"{len(outcome.changes)} files {done}; {len(outcome.notes)} things to decide")
    return STALE if check and outcome.changes else 0


def _say(line: str) -> None:
    print(line, file=sys.stderr)


def _text(outcome: "RefreshOutcome", directory: Path) -> str:
    """Return the diffs, then what is to decide as TOML with the reasons in comments."""
    diffs = "".join(change.diff(directory) for change in outcome.changes)
    if not outcome.notes:
        return diffs
    return diffs + "\n".join(("# To decide" if not diffs else "\n# To decide", *map(_decision, outcome.notes))) + "\n"


def _decision(note: "Note") -> str:
    more = [f"{len(note.versions) - SHOWN} more"] if len(note.versions) > SHOWN else []
    subject = " ".join((note.distribution, ", ".join([*note.versions[:SHOWN], *more]))).rstrip()
    lines = textwrap.wrap(
        f"{subject}: {note.message}", 118, initial_indent="# ", subsequent_indent="#   ", break_on_hyphens=False
    )
    return "\n".join(["", *lines, *note.toml.splitlines()])


def _json(outcome: "RefreshOutcome", directory: Path, today: date) -> str:
    changes = [
        {"file": str(change.path.relative_to(directory)), "new": not change.before, "diff": change.diff(directory)}
        for change in outcome.changes
    ]
    todo = [picked(note, "kind distribution product versions message toml") for note in outcome.notes]
    return json.dumps({"schema": 1, "seen": today.isoformat(), "changes": changes, "todo": todo}, indent=2) + "\n"
