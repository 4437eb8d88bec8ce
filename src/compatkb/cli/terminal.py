"""What the terminal can show: whether there is one, whether it has colours, errors printed for it, how far work has come."""

import os
import sys
import time
from collections.abc import Callable, Iterable
from typing import Any, Literal, Self, TextIO

from compatkb.core.foreign import lines_shown
from compatkb.output.terminal import FORCED, is_forced


def is_terminal(stream: TextIO) -> bool:
    """Return whether people read a stream on a terminal that can draw; rich is loaded for it alone."""
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def choose_colour(chosen: str) -> None:
    """Have every library use colours always or never, as `--color` says; `auto` leaves that to streams and environment."""
    if chosen == "never":
        os.environ["NO_COLOR"] = "1"
    elif chosen == "always":
        os.environ.pop("NO_COLOR", None)
        os.environ[FORCED] = "1"


def print_less(chosen: bool) -> None:
    """Print of a screen its headline and its commands only, where `--quiet` is given."""
    if chosen:
        from compatkb.output import terminal

        terminal.is_brief = True


VERBOSE = "COMPATKB_VERBOSE"
"""Set where `--verbose` is given, for what opens the data and reads files."""


def print_more(chosen: bool) -> None:
    """Say on stderr what was read, where `--verbose` is given."""
    if chosen:
        os.environ[VERBOSE] = "1"


def help_markup() -> Literal["rich", None]:
    """Return how help is drawn: in panels on a terminal, as plain text elsewhere."""
    return "rich" if is_terminal(sys.stdout) or is_forced() else None


def tell(text: str) -> None:
    """Print a line on stderr."""
    print(lines_shown(text), file=sys.stderr)


def print_errors(messages: Iterable[str]) -> None:
    """Print each message on stderr after `error:`; the lines after the first are suggestions and stay as they are."""
    messages = [lines_shown(message) for message in messages]
    if not is_terminal(sys.stderr) and not is_forced():
        for message in messages:
            print(f"error: {message}", file=sys.stderr)
        return
    from rich.console import Console
    from rich.text import Text

    from compatkb.output.screen import laid_out, wrapped

    console = Console(stderr=True, soft_wrap=True, highlight=False)
    for message in messages:
        first, *more = message.split("\n")
        head, *tail = [part for line in wrapped(first, "error: ", "  ") for part in laid_out(line, console.width)]
        console.print(Text.assemble(("error:", "bold red"), (head.removeprefix("error:"), "bold")))
        for part in tail:
            console.print(Text(part, "bold"))
        for told in more:
            for part in (part for line in wrapped(told.strip(), "  ", "    ") for part in laid_out(line, console.width)):
                console.print(Text(part, "dim" if told.startswith("  see ") else "cyan"))


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
