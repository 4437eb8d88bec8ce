"""What the parsers of all commands share: one-line errors, the usual options, small values."""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NoReturn


class Parser(argparse.ArgumentParser):
    """Wrong usage is one line, with the closest right word where there is one; words may stand between options."""

    _is_mixing = False

    def _get_formatter(self) -> argparse.HelpFormatter:
        return argparse.HelpFormatter(prog=self.prog, width=_columns() - 2)

    def parse_known_args(  # type: ignore[override]  # typeshed has overloads for namespaces of other types
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Return what was recognized and what was not; a word that is left over is tried again as one between options."""
        found, left = super().parse_known_args(args, namespace)
        if self._is_mixing or namespace is not None or self._subparsers or all(word.startswith("-") for word in left):
            return found, left
        self._is_mixing = True
        try:
            return self.parse_known_intermixed_args(args)
        finally:
            self._is_mixing = False

    def error(self, message: str) -> NoReturn:
        """End the process with the line."""
        self.exit(2, f"error: {message}{self._closest(message)}; see `{self.prog} --help`\n")

    def _closest(self, message: str) -> str:
        """Return the right word that is closest to the wrong one, as the end of a sentence."""
        import re
        from difflib import get_close_matches

        typed = re.search(r"invalid choice: '([^']*)'", message) or re.search(r"unrecognized arguments: (-\S+)", message)
        commands = [c for a in self._actions if isinstance(a.choices, dict) for c in a.choices.values()]
        actions = [action for parser in (self, *commands) for action in parser._actions]
        known = [word for action in actions for word in (*action.option_strings, *(action.choices or ()))]
        near = get_close_matches(typed[1].partition("=")[0], known, n=1, cutoff=0.7) if typed else []
        if near:
            return f"; did you mean {near[0]}?"
        option = re.search(r"unrecognized arguments: --([a-z0-9-]+)", message)
        takes_words = any(action.dest == "words" for action in actions)
        return f"; a product without an option of its own is a word: {option[1]}==VERSION" if option and takes_words else ""


def _columns() -> int:
    """Return the width of the terminal as shutil does, which argparse would import for every option that is added."""
    try:
        if (named := int(os.environ.get("COLUMNS", "0"))) > 0:
            return named
    except ValueError:
        pass
    try:
        return os.get_terminal_size(sys.__stdout__.fileno()).columns or 80 if sys.__stdout__ else 80
    except (AttributeError, ValueError, OSError):
        return 80


if TYPE_CHECKING:
    Commands = argparse._SubParsersAction[Parser]
else:
    Commands = object
"""What commands are added to."""


def add_command(
    commands: Commands, name: str, summary: str, run: Callable[[argparse.Namespace], int]
) -> argparse.ArgumentParser:
    """Add a command that `run` carries out."""
    command = commands.add_parser(name, help=summary, description=summary, allow_abbrev=False)
    command.set_defaults(run=run)
    return command


def add_common(command: argparse.ArgumentParser, formats: tuple[str, ...] = ("text", "json")) -> None:
    """Add the options that nearly every command has."""
    command.add_argument("--format", choices=formats, default="text", help="form of the output")
    command.add_argument("--as-of", metavar="DATE", help="answer as of the end of this day, YYYY-MM-DD; today unless given")
    command.add_argument("--data", metavar="DIR", help="use this data directory instead of the one that comes along")


def count(text: str) -> int:
    """Return a number from 1 on."""
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 on")
    return int(text)


def days(text: str) -> int:
    """Return a number of days, such as 30d."""
    return count(text.removesuffix("d"))


def shard(text: str) -> tuple[int, int]:
    """Return part and number of parts, such as 1/4."""
    number, _, of = text.partition("/")
    if not (number.isdigit() and of.isdigit() and 1 <= int(number) <= int(of)):
        raise argparse.ArgumentTypeError(f"{text!r} is not I/N, such as 1/4")
    return int(number), int(of)
