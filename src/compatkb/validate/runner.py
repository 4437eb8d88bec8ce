"""Runs cells in parallel and keeps what each one saw; a result is on disk before the next one is counted."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from functools import partial
from itertools import takewhile
from math import inf
from time import monotonic

from compatkb.schema import Observation, Outcome
from compatkb.validate.cell import Check, RunContext, ValidationCell, cell_of
from compatkb.validate.evidence import Journal


class Threads:
    """Threads of this process: the work is in the installers and interpreters that they wait for."""

    def __init__(self, jobs: int) -> None:
        self.jobs = jobs

    def run(self, function: Callable[[ValidationCell], Observation], cells: Iterable[ValidationCell]) -> Iterator[Observation]:
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
    progress: Callable[[str, int, int], None] = lambda *_: None,
    *,
    minutes: float | None = None,
) -> list[Observation]:
    """Return what the cells saw, what the open journal already holds included; `progress` is told how many are done.

    After `minutes` no cell is begun any more.
    """
    end = monotonic() + 60 * (inf if minutes is None else minutes)
    wanted = {cell.id: cell for cell in cells}
    observations = {key: o for o in journal.done if (key := cell_of(o).id) in wanted}
    left = [cell for cell in wanted.values() if cell.id not in observations]
    for observation in executor.run(partial(_guarded, check, context), takewhile(lambda _: monotonic() < end, left)):
        journal.add(observation)
        observations[cell_of(observation).id] = observation
        progress("cells", len(observations), len(wanted))
    return [observations[key] for key in sorted(observations)]


def _guarded(check: Check, context: RunContext, cell: ValidationCell) -> Observation:
    """Answer a cell; what goes wrong in the machinery itself checked nothing."""
    try:
        return check(cell, context)
    except Exception as error:  # one broken cell must not end a run of hours
        return cell.observed(
            Outcome.NOT_CHECKED, context.today, f"the check itself failed: {type(error).__name__}: {error}"[:500]
        )
