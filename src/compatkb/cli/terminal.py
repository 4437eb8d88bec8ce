"""What the terminal can show: whether there is one, whether it has colours, and errors printed for it."""

import os
import sys
from collections.abc import Iterable
from typing import Literal, TextIO


def is_terminal(stream: TextIO) -> bool:
    """Return whether people read a stream on a terminal that can draw; rich is loaded for it alone."""
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def switch_colour_off(chosen: bool) -> None:
    """Keep every library from using colours, where `--no-color` is given."""
    if chosen:
        os.environ["NO_COLOR"] = "1"


def help_markup() -> Literal["rich", None]:
    """Return how help is drawn: in panels on a terminal, as plain text elsewhere."""
    return "rich" if is_terminal(sys.stdout) else None


def print_errors(messages: Iterable[str]) -> None:
    """Print each message on stderr after `error:`; the lines after the first are suggestions and stay as they are."""
    if not is_terminal(sys.stderr):
        for message in messages:
            print(f"error: {message}", file=sys.stderr)
        return
    from rich.console import Console
    from rich.text import Text

    from compatkb.output.screen import wrapped

    console = Console(stderr=True, soft_wrap=True, highlight=False)
    for message in messages:
        first, *more = message.split("\n")
        head, *tail = wrapped(first, "error: ", "  ", width=console.width)
        console.print(Text.assemble(("error:", "bold red"), (head.text.removeprefix("error:"), "bold")))
        for part in tail:
            console.print(Text(part.text, "bold"))
        for line in more:
            for part in wrapped(line.strip(), "  ", "    ", width=console.width):
                console.print(Text(part.text, "dim" if line.startswith("  see ") else "cyan"))
