"""`compatkb refresh`: ask the index, print what the data lack, and write it when told to."""

import argparse
import json
import sys
import textwrap
from datetime import UTC, date, datetime, time
from pathlib import Path
from typing import TYPE_CHECKING

from compatkb.asking import parse_day
from compatkb.errors import DataError, UnavailableError, UsageError
from compatkb.snapshot.store import CHECKOUT

if TYPE_CHECKING:
    from compatkb.refresh.notes import Note
    from compatkb.refresh.run import Outcome

STALE = 4
SHOWN = 12


def refresh(arguments: argparse.Namespace) -> int:
    """Propose what the index has that data/index/ lacks; 0, or 4 with --check where a file would change."""
    try:
        from compatkb.refresh.network import Network
    except ImportError as error:
        message = f"refresh needs the package {error.name}, so: python -m pip install 'compatkb[refresh]'"
        raise UnavailableError(message) from None
    from compatkb.loader import load
    from compatkb.refresh.run import refresh as run
    from compatkb.refresh.run import select
    from compatkb.refresh.write import write

    if arguments.index and not arguments.index.startswith(("https://", "http://")):
        raise UsageError(f"{arguments.index!r} is not the address of a package index: it begins with https:// or http://")
    directory = _directory(arguments.data)
    files = load(directory)
    subjects = select(files, arguments.only or (), requirements=arguments.requirements)
    since = datetime.combine(parse_day(arguments.since), time(), UTC) if arguments.since else None
    index, today = Network(arguments.index), _today()
    outcome = run(files, directory, subjects, index, today, since=since, jobs=arguments.jobs, say=_say)
    print(_json(outcome, directory, today) if arguments.format == "json" else _text(outcome, directory), end="")
    if arguments.write:
        write((*outcome.changes, *outcome.looked_at))
    done = "written" if arguments.write else "would change"
    _say(f"{len(outcome.changes)} files {done}; {len(outcome.notes)} things to decide")
    return STALE if arguments.check and outcome.changes else 0


def _directory(named: str | None) -> Path:
    directory = Path(named or CHECKOUT).resolve()
    if not named and not directory.is_dir():
        raise DataError(("this installation has no data files to refresh; give a data directory with --data DIR",))
    return directory


def _today() -> date:
    return datetime.now(UTC).date()


def _say(line: str) -> None:
    print(line, file=sys.stderr)


def _text(outcome: "Outcome", directory: Path) -> str:
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


def _json(outcome: "Outcome", directory: Path, today: date) -> str:
    changes = [
        {"file": str(change.path.relative_to(directory)), "new": not change.before, "diff": change.diff(directory)}
        for change in outcome.changes
    ]
    todo = [
        {
            "kind": note.kind,
            "distribution": note.distribution,
            "product": note.product,
            "versions": note.versions,
            "message": note.message,
            "toml": note.toml,
        }
        for note in outcome.notes
    ]
    return json.dumps({"schema": 1, "seen": today.isoformat(), "changes": changes, "todo": todo}, indent=2) + "\n"
