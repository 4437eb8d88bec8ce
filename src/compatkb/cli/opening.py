"""How a command opens the facts that it answers from: which data, which day, and a remark where they are old."""

import os
import time
from collections.abc import Callable
from datetime import date
from typing import TYPE_CHECKING

from compatkb.cli.terminal import VERBOSE, tell
from compatkb.core.clock import Clock, current_day
from compatkb.errors import DataError
from compatkb.store.cache import locate, remove_damaged, updates_directory
from compatkb.store.reader import Snapshot
from compatkb.version import __version__

if TYPE_CHECKING:
    from compatkb.cli.terminal import Progress

STALE_DAYS = 180
PATIENCE = 10.0
"""Processor seconds after which a command gives up on an answer."""


def version_text() -> str:
    """Return the line of --version: the program's version and the date of the data that it answers from."""
    path = locate(None, _progress)
    taken = f", taken by `compatkb data update`: {path}" if path.startswith(updates_directory()) else ""
    return f"compatkb {__version__} (data of {_opened(None).meta['data_date']}{taken})\n"


def patience() -> Callable[[], bool]:
    """Return what tells whether the time for an answer is over."""
    end = time.process_time() + PATIENCE
    return lambda: time.process_time() > end


def open_facts(data: str | None, as_of: str | None) -> tuple[Snapshot, Clock]:
    """Return the facts of a data directory (None: those that come along), and the clock set to the day of --as-of."""
    day = None
    if as_of:
        from compatkb.request.parser import parse_day

        day = parse_day(as_of)
    facts, clock = open_data(data), Clock(current_day(), day)
    if os.environ.get(VERBOSE):
        tell(f"remark: data of {facts.meta['data_date']}, for {clock.day}: {locate(data, _progress)}")
    return facts, clock


def open_data(data: str | None) -> Snapshot:
    """Return the facts of a data directory, and remark on old ones."""
    return _opened(data)


def _progress() -> "Progress":
    from compatkb.cli.terminal import Progress

    return Progress()


def _opened(data: str | None) -> Snapshot:
    path = locate(data, _progress)
    try:
        facts = Snapshot(path)
    except DataError:
        if path not in remove_damaged():
            raise
        tell(f"remark: {path} was damaged, so it was removed")
        facts = Snapshot(locate(data, _progress))
    age = (current_day() - date.fromisoformat(facts.meta["data_date"])).days
    if age > STALE_DAYS:
        tell(
            f"remark: the data are {age} days old, of {facts.meta['data_date']}; a newer compatkb has newer ones, "
            "and `compatkb data update` takes them without it",
        )
    return facts
