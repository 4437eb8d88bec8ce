"""The one table of commands and options."""

import argparse
from collections.abc import Callable
from typing import NoReturn

from compatkb.cli.options import HEADLINES


class _Parser(argparse.ArgumentParser):
    """Wrong usage is one line, with the closest right word where there is one."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"error: {message}{self._closest(message)}; see `{self.prog} --help`\n")

    def _closest(self, message: str) -> str:
        """Return the right word that is closest to the wrong one, as the end of a sentence."""
        import re
        from difflib import get_close_matches

        typed = re.search(r"invalid choice: '([^']*)'", message) or re.search(r"unrecognized arguments: (-\S+)", message)
        known = [word for action in self._actions for word in (*action.option_strings, *(action.choices or ()))]
        near = get_close_matches(typed[1].partition("=")[0], known, n=1) if typed else []
        return f"; did you mean {near[0]}?" if near else ""


def parse(argv: list[str]) -> argparse.Namespace:
    """Return the arguments, with the command's function as `run`; ends the process on wrong usage, --help, --version."""
    named = argv[0] if argv else None
    return build_parser(named if named in COMMANDS else None).parse_args(argv)


def build_parser(only: str | None = None) -> argparse.ArgumentParser:
    """Return the parser of every command, or of `only` one: the rest need not be built to run it."""
    parser = _Parser(
        prog="compatkb",
        description="Which versions of PyTorch and its companions work together on Intel hardware, and how we know.",
        epilog="Exit codes: 0 an answer; 1 does not work, or unknown; 2 wrong usage; 3 invalid data; 5 something needed is "
        "unavailable; 6 gave up within its budget.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="print the versions of program and data")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND", parser_class=_Parser)
    for name, add in COMMANDS.items():
        if only in (None, name):
            add(commands)
    return parser


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: object, **__: object) -> None:
        from compatkb.cli.commands import version_text

        print(version_text(), end="")
        parser.exit(0)


def _add(
    commands: "argparse._SubParsersAction[_Parser]", name: str, summary: str, run: Callable[[argparse.Namespace], int]
) -> argparse.ArgumentParser:
    command = commands.add_parser(name, help=summary, description=summary, allow_abbrev=False)
    command.set_defaults(run=run)
    return command


def _common(command: argparse.ArgumentParser, formats: tuple[str, ...] = ("text", "json")) -> None:
    command.add_argument("--format", choices=formats, default="text", help="form of the output")
    command.add_argument("--as-of", metavar="DATE", help="answer as of the end of this day, YYYY-MM-DD; today unless given")
    command.add_argument("--data", metavar="DIR", help="use this data directory instead of the one that comes along")


def _pins(command: argparse.ArgumentParser) -> None:
    for option, others, product, text in HEADLINES:
        command.add_argument(option, *others, dest=f"pin_{product}", metavar="V", action="append", help=text)


def _needs(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--needs", action="append", default=[], metavar="FEATURE", help="what the stack must support, such as torch.compile"
    )


def _resolve(commands: "argparse._SubParsersAction[_Parser]") -> None:
    def run(arguments: argparse.Namespace) -> int:
        from compatkb.cli.commands import resolve

        return resolve(arguments)

    command = _add(
        commands, "resolve", "find the best stacks for what is fixed; or say why there is none and what is near", run
    )
    command.add_argument("words", nargs="*", metavar="PRODUCT[==V]", help="any product, in any version or pinned as pip does")
    _pins(command)
    command.add_argument("--device", action="append", metavar="xpu|cpu", help="device to run on; every one unless given")
    _needs(command)
    command.add_argument("--why", action="store_true", help="trace every edge to its source or observation")
    command.add_argument("--all", action="store_true", help="show every stack, not only the first ones")
    _common(command, ("text", "json", "requirements"))


def _explain(commands: "argparse._SubParsersAction[_Parser]") -> None:
    def run(arguments: argparse.Namespace) -> int:
        from compatkb.cli.commands import explain

        return explain(arguments)

    command = _add(commands, "explain", "say whether these versions work together, why or why not, with sources", run)
    command.add_argument("words", nargs="+", metavar="PRODUCT[==V]", help="what stands together, pinned as pip does")
    command.add_argument("--device", action="append", metavar="xpu|cpu", help="device to run on; every one unless given")
    _needs(command)
    _common(command)


def _show(commands: "argparse._SubParsersAction[_Parser]") -> None:
    def run(arguments: argparse.Namespace) -> int:
        from compatkb.cli.commands import show

        return show(arguments)

    command = _add(commands, "show", "show a product, or one of its versions, with dates, claims and sources", run)
    command.add_argument("product", metavar="PRODUCT")
    command.add_argument("version", nargs="?", metavar="VERSION")
    _common(command)


def _list(commands: "argparse._SubParsersAction[_Parser]") -> None:
    def run(arguments: argparse.Namespace) -> int:
        from compatkb.cli.commands import list_products

        return list_products(arguments)

    command = _add(commands, "list", "list the products, or the versions of one", run)
    command.add_argument("product", nargs="?", metavar="PRODUCT")
    _common(command)


def _features(commands: "argparse._SubParsersAction[_Parser]") -> None:
    def run(arguments: argparse.Namespace) -> int:
        from compatkb.cli.features import features

        return features(arguments)

    command = _add(commands, "features", "list features, and which releases are said to support them, with sources", run)
    command.add_argument("product", nargs="?", metavar="PRODUCT", help="a product, or one feature; all unless given")
    _common(command, ("text", "json", "markdown"))


def _eol(commands: "argparse._SubParsersAction[_Parser]") -> None:
    def run(arguments: argparse.Namespace) -> int:
        from compatkb.cli.commands import eol

        return eol(arguments)

    command = _add(commands, "eol", "list what is out of support, or will be soon", run)
    command.add_argument("product", nargs="?", metavar="PRODUCT")
    command.add_argument("--within", metavar="DAYS", default="90d", help="look this far ahead, such as 90d (default) or 1y")
    _common(command)


def _completion(commands: "argparse._SubParsersAction[_Parser]") -> None:
    def run(arguments: argparse.Namespace) -> int:
        from compatkb.cli.completion import script

        print(script(build_parser(), arguments.shell), end="")
        return 0

    command = _add(commands, "completion", "print the completion script of a shell", run)
    command.add_argument("shell", choices=("bash", "zsh", "tcsh"))


COMMANDS = {
    "resolve": _resolve,
    "explain": _explain,
    "show": _show,
    "list": _list,
    "features": _features,
    "eol": _eol,
    "completion": _completion,
}
"""Every command, in the order in which help lists them."""
