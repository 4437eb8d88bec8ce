"""Runs cells in parallel and keeps what each one saw; a result is on disk before the next one is counted."""

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from functools import partial
from typing import Self

from compatkb.schema import Observation, Outcome
from compatkb.validate.cell import Check, RunContext, ValidationCell, cell_of
from compatkb.validate.evidence import Journal


class Threads:
    """Threads of this process: the work is in the installers and interpreters that they wait for."""

    def __init__(self, jobs: int) -> None:
        self.jobs = jobs

    def run(self, function: Callable[[ValidationCell], Observation], cells: Sequence[ValidationCell]) -> Iterator[Observation]:
        """Yield what the function returns, as it comes; at an interrupt what has not begun is dropped."""
        waiting = iter(cells)
        with ThreadPoolExecutor(self.jobs) as pool:
            running: set[Future[Observation]] = set()
            try:
                for cell in waiting:
                    running.add(pool.submit(function, cell))
                    if len(running) >= self.jobs:
                        done, running = wait(running, return_when=FIRST_COMPLETED)
                        yield from (future.result() for future in done)
                while running:
                    done, running = wait(running, return_when=FIRST_COMPLETED)
                    yield from (future.result() for future in done)
            finally:
                pool.shutdown(wait=True, cancel_futures=True)


def run(
    cells: Iterable[ValidationCell],
    check: Check,
    context: RunContext,
    executor: Threads,
    journal: Journal,
    progress: Callable[[int, int, Observation], None] = lambda *_: None,
) -> list[Observation]:
    """Return what the cells saw, what the open journal already holds included; `progress` gets done, total and the newest."""
    wanted = {cell.id: cell for cell in cells}
    observations = {key: o for o in journal.done if (key := cell_of(o).id) in wanted}
    left = [cell for cell in wanted.values() if cell.id not in observations]
    for observation in executor.run(partial(_guarded, check, context), left):
        journal.add(observation)
        observations[cell_of(observation).id] = observation
        progress(len(observations), len(wanted), observation)
    return [observations[key] for key in sorted(observations)]


def _guarded(check: Check, context: RunContext, cell: ValidationCell) -> Observation:
    """Answer a cell; what goes wrong in the machinery itself checked nothing."""
    try:
        return check(cell, context)
    except Exception as error:  # one broken cell must not end a run of hours
        return cell.observed(
            Outcome.NOT_CHECKED, context.today, f"the check itself failed: {type(error).__name__}: {error}"[:500]
        )


class ProgressLine:
    """A line on stderr with what is done, what failed and the time left; one line a cell where stderr is no terminal."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._start, self._first = clock, clock(), -1
        self._counts: dict[str, int] = {}

    def __enter__(self) -> Self:
        """Begin."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the line."""
        if self._first >= 0 and sys.stderr.isatty():
            print(file=sys.stderr)

    def __call__(self, done: int, total: int, newest: Observation) -> None:
        """Show the state."""
        if self._first < 0:
            self._first = done - 1
        self._counts[newest.outcome] = self._counts.get(newest.outcome, 0) + 1
        spent = self._clock() - self._start
        left = spent / (done - self._first) * (total - done)
        outcomes = ", ".join(f"{count} {name}" for name, count in sorted(self._counts.items()))
        end = "" if sys.stderr.isatty() else "\n"
        start = "\r\x1b[K" if sys.stderr.isatty() else ""
        print(f"{start}{done} of {total} cells ({outcomes}); {_span(left)} left", end=end, file=sys.stderr, flush=True)


def _span(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60} h {minutes % 60} min" if minutes >= 60 else f"{minutes} min {rest} s" if minutes else f"{rest} s"
