"""The one table of commands and options."""

import argparse
from collections.abc import Callable
from functools import partial
from typing import Any

from compatkb.cli.arguments import Commands, Parser, add_command, add_common, count
from compatkb.cli.options import HEADLINES

VERSION = "--version"


def parse(argv: list[str]) -> argparse.Namespace:
    """Return the arguments, with the command's function as `run`; ends the process on wrong usage, --help, --version."""
    named = argv[0] if argv else None
    return build_parser(named if named in COMMANDS or named == VERSION else None).parse_args(argv)


def build_parser(only: str | None = None) -> argparse.ArgumentParser:
    """Return the parser of every command, or of `only` one: the rest need not be built to run it, none for the version."""
    parser = Parser(
        prog="compatkb",
        description="Which versions of PyTorch and its companions work together on Intel hardware, and how we know.",
        epilog="Exit codes: 0 an answer; 1 does not work, or unknown; 2 wrong usage; 3 invalid data; 4 a generated file is "
        "stale; 5 something needed is unavailable; 6 gave up within its budget.",
        allow_abbrev=False,
    )
    parser.add_argument(VERSION, action=_Version, nargs=0, help="print the versions of program and data")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND", parser_class=Parser)
    for name, add in COMMANDS.items():
        if only in (None, name):
            add(commands)
    return parser


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: object, **__: object) -> None:
        from compatkb.cli.opening import version_text

        print(version_text(), end="")
        parser.exit(0)


def _pins(command: argparse.ArgumentParser) -> None:
    for option, others, product, text in HEADLINES:
        command.add_argument(option, *others, dest=f"pin_{product}", metavar="V", action="append", help=text)


def _needs(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--needs", action="append", default=[], metavar="FEATURE", help="what the stack must support, such as torch.compile"
    )


def _resolve(commands: Commands) -> None:
    def run(arguments: argparse.Namespace) -> int:
        from compatkb.cli.commands import resolve

        return resolve(arguments)

    command = add_command(
        commands, "resolve", "find the best stacks for what is fixed; or say why there is none and what is near", run
    )
    command.add_argument("words", nargs="*", metavar="PRODUCT[==V]", help="any product, in any version or pinned as pip does")
    _pins(command)
    command.add_argument("--device", action="append", metavar="xpu|cpu", help="device to run on; every one unless given")
    command.add_argument("--route", metavar="ID", help="only this way to reach the device, such as native; any unless given")
    _needs(command)
    command.add_argument("--why", action="store_true", help="trace every edge to its source or observation")
    command.add_argument("--all", action="store_true", help="show every stack, not only the first ones")
    add_common(command, ("text", "json", "requirements"))


def _explain(commands: Commands) -> None:
    def run(arguments: argparse.Namespace) -> int:
        from compatkb.cli.commands import explain

        return explain(arguments)

    command = add_command(commands, "explain", "say whether these versions work together, why or why not, with sources", run)
    command.add_argument("words", nargs="+", metavar="PRODUCT[==V]", help="what stands together, pinned as pip does")
    command.add_argument("--device", action="append", metavar="xpu|cpu", help="device to run on; every one unless given")
    _needs(command)
    add_common(command)


def _show(commands: Commands) -> None:
    def run(arguments: argparse.Namespace) -> int:
        from compatkb.cli.commands import show

        return show(arguments)

    command = add_command(
        commands, "show", "show a product, one of its versions, or an image tag, with sources and disputes", run
    )
    command.add_argument("product", metavar="PRODUCT", help="a product, or an image repository such as OWNER/NAME")
    command.add_argument("version", nargs="?", metavar="VERSION", help="a version or series of it, or a tag")
    add_common(command)


def _list(commands: Commands) -> None:
    def run(arguments: argparse.Namespace) -> int:
        from compatkb.cli.commands import list_products

        return list_products(arguments)

    command = add_command(commands, "list", "list the products, or the versions of one", run)
    command.add_argument("product", nargs="?", metavar="PRODUCT")
    add_common(command)


def _features(commands: Commands) -> None:
    def run(arguments: argparse.Namespace) -> int:
        from compatkb.cli.features import features

        return features(arguments)

    command = add_command(
        commands, "features", "list features, and which releases are said to support them, with sources", run
    )
    command.add_argument("product", nargs="?", metavar="PRODUCT", help="a product, or one feature; all unless given")
    add_common(command, ("text", "json", "markdown"))


def _eol(commands: Commands) -> None:
    def run(arguments: argparse.Namespace) -> int:
        from compatkb.cli.commands import eol

        return eol(arguments)

    command = add_command(commands, "eol", "list what is out of support, or will be soon", run)
    command.add_argument("product", nargs="?", metavar="PRODUCT")
    command.add_argument("--within", metavar="DAYS", default="90d", help="look this far ahead, such as 90d (default) or 1y")
    add_common(command)


def _timeline(commands: Commands) -> None:
    def run(arguments: argparse.Namespace) -> int:
        from compatkb.cli.tables import timeline

        return timeline(arguments)

    command = add_command(commands, "timeline", "show releases, milestones and ends of life in the order of time", run)
    command.add_argument(
        "--from", dest="since", metavar="DATE", help="leave out what came before: YYYY-MM-DD, YYYY-MM or YYYY"
    )
    command.add_argument("--to", dest="until", metavar="DATE", help="leave out what came after, likewise")
    command.add_argument("--vendor", action="append", metavar="NAME", help="only the events of these, by id")
    command.add_argument("--kind", action="append", choices=("release", "milestone", "end-of-life"), help="only these")
    command.add_argument("--width", metavar="PIXELS", default="960", help="how wide the SVG picture is; 960 unless given")
    add_common(command, ("text", "json", "markdown", "mermaid", "svg"))


def _matrix(commands: Commands) -> None:
    def run(arguments: argparse.Namespace) -> int:
        from compatkb.cli.tables import matrix

        return matrix(arguments)

    command = add_command(commands, "matrix", "show which releases of a product have wheels for which Pythons", run)
    command.add_argument("product", metavar="PRODUCT")
    command.add_argument("--by", choices=("python",), default="python", help="what the columns are")
    command.add_argument("--device", metavar="xpu|cpu", help="only the builds for this device")
    add_common(command, ("text", "json", "markdown", "csv"))


def _completion(commands: Commands) -> None:
    def run(arguments: argparse.Namespace) -> int:
        from compatkb.cli.completion import script

        print(script(build_parser(), arguments.shell), end="")
        return 0

    command = add_command(commands, "completion", "print the completion script of a shell", run)
    command.add_argument("shell", choices=("bash", "zsh", "tcsh"))


def _search(commands: Commands) -> None:
    def run(arguments: argparse.Namespace) -> int:
        from compatkb.cli.finding import search

        return search(arguments)

    command = add_command(commands, "search", "search names, notes and reasons for words, and say what to type next", run)
    command.add_argument("words", nargs="+", metavar="WORD", help="every word must match, from its start: arc a770, avx2 aten")
    command.add_argument("--limit", type=count, default=20, metavar="N", help="show at most N records; 20 unless given")
    add_common(command)


def _changes(commands: Commands) -> None:
    def run(arguments: argparse.Namespace) -> int:
        from compatkb.cli.finding import changes

        return changes(arguments)

    command = add_command(
        commands, "changes", "list what became true since a day: releases, withdrawals, ends, image tags", run
    )
    command.add_argument("product", nargs="?", metavar="PRODUCT")
    command.add_argument("--since", metavar="DATE", required=True, help="the first day, YYYY-MM-DD")
    command.add_argument("--until", metavar="DATE", dest="as_of", help="the last day; another name of --as-of")
    add_common(command, ("text", "json", "markdown"))


def _diagnose(commands: Commands) -> None:
    def run(arguments: argparse.Namespace) -> int:
        from compatkb.cli.helping import diagnose

        return diagnose(arguments)

    command = add_command(commands, "diagnose", "name what may be behind an error that a program printed", run)
    command.add_argument("file", nargs="?", default="-", metavar="FILE", help="the printed text; - (default) reads the input")
    add_common(command)


def _doctor(commands: Commands) -> None:
    def run(arguments: argparse.Namespace) -> int:
        from compatkb.cli.helping import doctor

        return doctor(arguments)

    command = add_command(
        commands, "doctor", "say what of this machine works, what does not, and the way to the nearest working stack", run
    )
    command.add_argument(
        "file",
        nargs="?",
        metavar="REPORT",
        help="judge the JSON of `pip inspect` or the output of a collect_env script; - reads it",
    )
    command.add_argument("--python", metavar="PATH", help="the interpreter to look at; the one that runs this unless given")
    command.add_argument("--sysfs", metavar="ROOT", help="read the graphics from this copy of /sys")
    add_common(command)


def _upkeep(name: str, commands: Any) -> None:
    """Add a command that keeps the data; answering loads none of them."""
    from compatkb.cli import upkeep

    getattr(upkeep, name)(commands)


def _project(name: str, commands: Any) -> None:
    """Add a command that looks at files of other projects."""
    from compatkb.cli import project

    getattr(project, name)(commands)


COMMANDS: dict[str, Callable[[Any], None]] = {
    "resolve": _resolve,
    "explain": _explain,
    "show": _show,
    "list": _list,
    "features": _features,
    "eol": _eol,
    "check": partial(_project, "check"),
    "migrate": partial(_project, "migrate"),
    "validate": partial(_upkeep, "validate"),
    "refresh": partial(_upkeep, "refresh"),
    "timeline": _timeline,
    "matrix": _matrix,
    "stats": partial(_upkeep, "stats"),
    "docs": partial(_upkeep, "docs"),
    "search": _search,
    "changes": _changes,
    "diagnose": _diagnose,
    "doctor": _doctor,
    "build": partial(_upkeep, "build"),
    "export": partial(_upkeep, "export"),
    "web": partial(_upkeep, "web"),
    "schema": partial(_upkeep, "schema"),
    "lint": partial(_upkeep, "lint"),
    "fmt": partial(_upkeep, "fmt"),
    "completion": _completion,
}
"""Every command, in the order in which help lists them."""
