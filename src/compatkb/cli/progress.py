"""How far long work has come, on stderr: bars with the time left on a terminal, else a line every few seconds."""

import sys
import time
from collections.abc import Callable
from typing import Any, Self

from compatkb.cli.terminal import is_terminal

QUIET = 2.0
"""Seconds of work before anything is shown."""
EVERY = 5.0
"""Seconds between two lines where there is no terminal."""


class Progress:
    """Is told what is done and of how much, for one kind of work after the other, and shows it."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._begun, self._said = clock, clock(), clock()
        self._started: dict[str, tuple[float, int]] = {}
        self._bars: Any = None
        self._tasks: dict[str, Any] = {}

    def __enter__(self) -> Self:
        """Begin."""
        return self

    def __exit__(self, *_: object) -> None:
        """Take the bars away."""
        if self._bars:
            self._bars.stop()

    def __call__(self, what: str, done: int, total: int) -> None:
        """Show that so many of a kind are done."""
        now = self._clock()
        begun, first = self._started.setdefault(what, (now, done - 1))
        if now - self._begun < QUIET:
            return
        if is_terminal(sys.stderr):
            self._draw(what, done, total)
        elif now - self._said >= EVERY:
            self._said = now
            left = (now - begun) / (done - first) * (total - done)
            print(f"{what}: {done} of {total}, about {left:.0f} s left", file=sys.stderr, flush=True)

    def _draw(self, what: str, done: int, total: int) -> None:
        if self._bars is None:
            from rich import progress
            from rich.console import Console

            columns = (progress.TextColumn("{task.description}"), progress.BarColumn(), progress.MofNCompleteColumn())
            shown = Console(stderr=True)
            self._bars = progress.Progress(
                *columns, progress.TimeRemainingColumn(), console=shown, transient=True, redirect_stdout=False
            )
            self._bars.start()
        if what not in self._tasks:
            self._tasks[what] = self._bars.add_task(what, total=total)
        self._bars.update(self._tasks[what], completed=done)
