"""How a command opens the facts that it answers from: which data, which day, and a remark where they are old."""

import argparse
import sys
import time
from collections.abc import Callable
from datetime import UTC, date, datetime

from compatkb import __version__
from compatkb.snapshot.read import Snapshot
from compatkb.snapshot.store import locate

STALE_DAYS = 180
PATIENCE = 10.0
"""Processor seconds after which a command gives up on an answer."""


def version_text() -> str:
    """Return the line of --version: the program's version and the date of the data that it answers from."""
    facts = Snapshot(locate())
    _remark_age(facts, _today())
    return f"compatkb {__version__} (data of {facts.meta['data_date']})\n"


def patience() -> Callable[[], bool]:
    """Return what tells whether the time for an answer is over."""
    end = time.process_time() + PATIENCE
    return lambda: time.process_time() > end


def open_facts(arguments: argparse.Namespace) -> tuple[Snapshot, date]:
    """Return the facts that a command answers from, and the day that it answers for."""
    day = _today()
    if getattr(arguments, "as_of", None):
        from compatkb.asking import parse_day

        day = parse_day(arguments.as_of)
    return open_data(arguments), day


def open_data(arguments: argparse.Namespace) -> Snapshot:
    """Return the facts that a command answers from, and remark on old ones."""
    facts = Snapshot(locate(arguments.data))
    _remark_age(facts, _today())
    return facts


def _today() -> date:
    return datetime.now(UTC).date()


def _remark_age(facts: Snapshot, today: date) -> None:
    age = (today - date.fromisoformat(facts.meta["data_date"])).days
    if age > STALE_DAYS:
        print(
            f"remark: the data are {age} days old, of {facts.meta['data_date']}; a newer compatkb may know more",
            file=sys.stderr,
        )
