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
        commands = [c for a in self._actions if isinstance(a.choices, dict) for c in a.choices.values()]
        actions = [action for parser in (self, *commands) for action in parser._actions]
        known = [word for action in actions for word in (*action.option_strings, *(action.choices or ()))]
        near = get_close_matches(typed[1].partition("=")[0], known, n=1, cutoff=0.7) if typed else []
        if near:
            return f"; did you mean {near[0]}?"
        option = re.search(r"unrecognized arguments: --([a-z0-9-]+)", message)
        takes_words = any(action.dest == "words" for action in actions)
        return f"; a product without an option of its own is a word: {option[1]}==VERSION" if option and takes_words else ""


def parse(argv: list[str]) -> argparse.Namespace:
    """Return the arguments, with the command's function as `run`; ends the process on wrong usage, --help, --version."""
    named = argv[0] if argv else None
    return build_parser(named if named in COMMANDS else None).parse_args(argv)


def build_parser(only: str | None = None) -> argparse.ArgumentParser:
    """Return the parser of every command, or of `only` one: the rest need not be built to run it."""
    parser = _Parser(
        prog="compatkb",
        description="Which versions of PyTorch and its companions work together on Intel hardware, and how we know.",
        epilog="Exit codes: 0 an answer; 1 does not work, or unknown; 2 wrong usage; 3 invalid data; 4 a generated file is "
        "stale; 5 something needed is unavailable; 6 gave up within its budget.",
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

    command = _add(commands, "show", "show a product, one of its versions, or an image tag, with sources and disputes", run)
    command.add_argument("product", metavar="PRODUCT", help="a product, or an image repository such as OWNER/NAME")
    command.add_argument("version", nargs="?", metavar="VERSION", help="a version or series of it, or a tag")
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


def _validate(commands: "argparse._SubParsersAction[_Parser]") -> None:
    def run(arguments: argparse.Namespace) -> int:
        from compatkb.cli.validating import validate

        return validate(arguments)

    command = _add(commands, "validate", "check claims with real installers and interpreters, and keep the evidence", run)
    add = command.add_argument
    levels = ("published", "resolve", "gate", "import", "run")
    add("--level", action="append", choices=levels, help="how far to go: resolve unless given; may be repeated")
    add("--tool", action="append", metavar="NAME", help="ask this tool alone: index, pip, uv or python")
    add("--product", action="append", metavar="PRODUCT", help="only stacks about this product")
    add("--python", action="append", metavar="V", help="only this Python minor")
    add("--platform", default="linux-x86_64", metavar="OS-ARCH", help="linux-x86_64 unless given")
    add("--device", default="cpu", metavar="cpu|xpu", help="cpu unless given")
    add("--channel", default="default", metavar="ID", help="the index to ask: a channel of the data, or default")
    add("--denied", action="store_true", help="check neighbours that the data deny, not what they claim")
    add("--stubbed", action="store_true", help="replace the libraries of other devices by empty ones, and say so")
    add("--download", action="store_true", help="really download and hash the wheels")
    add("--record", metavar="DIR", help="ask a recorded index in place of the real one")
    add("--live", action="store_true", help="let pip and uv ask the real index themselves; else a record of today answers")
    add("--index", action="append", metavar="ID=URL", help="ask this address in place of a channel")
    add("--interpreter", action="append", metavar="V=PATH", help="a Python to use for a minor, beside those that are found")
    add("--use-pip-config", action="store_true", help="let pip and uv read their configuration; isolated unless given")
    add("--jobs", type=_count, default=2, metavar="N", help="cells at a time; 2 unless given")
    add("--executor", choices=("threads", "dask"), default="threads", help="threads of this machine, or a Dask cluster")
    add("--scheduler", metavar="ADDRESS", help="the Dask scheduler")
    add("--shard", type=_shard, default=(1, 1), metavar="I/N", help="only the I-th of N parts of the cells")
    add("--limit", type=_count, metavar="N", help="at most N cells")
    add("--max-age", type=_days, metavar="DAYS", help="check again what was checked longer ago, such as 30d")
    add("--again", action="store_true", help="check again what was checked before")
    add("--seconds", type=_count, default=900, metavar="N", help="the most time for one cell; 900 unless given")
    add("--megabytes", type=_count, default=12000, metavar="N", help="the most disk for one cell; 12000 unless given")
    add("--work", metavar="DIR", help="where environments and the journal of an unfinished run are kept")
    add("--out", metavar="FILE", help="write the observations to this file, not into the data")
    add("--list", action="store_true", help="list the cells and check none")
    add("--merge", nargs="+", metavar="FILE", help="add the observations of shards to the data, and check none")
    _common(command)


def _count(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 on")
    return int(text)


def _days(text: str) -> int:
    return _count(text.removesuffix("d"))


def _shard(text: str) -> tuple[int, int]:
    number, _, of = text.partition("/")
    if not (number.isdigit() and of.isdigit() and 1 <= int(number) <= int(of)):
        raise argparse.ArgumentTypeError(f"{text!r} is not I/N, such as 1/4")
    return int(number), int(of)


def _stats(commands: "argparse._SubParsersAction[_Parser]") -> None:
    def run(arguments: argparse.Namespace) -> int:
        from compatkb.cli.documents import stats

        return stats(arguments)

    command = _add(commands, "stats", "say how large, how well supported and how fresh the data are", run)
    _common(command, ("text", "json", "markdown", "badge", "badge-json"))


def _docs(commands: "argparse._SubParsersAction[_Parser]") -> None:
    def run(arguments: argparse.Namespace) -> int:
        from compatkb.cli.documents import docs_check, docs_render

        return docs_render(arguments) if arguments.action == "render" else docs_check(arguments)

    command = _add(commands, "docs", "fill the marked regions of Markdown files, or check that they are up to date", run)
    actions = command.add_subparsers(dest="action", required=True, metavar="ACTION", parser_class=_Parser)
    for name, summary in (
        ("render", "fill the marked regions of Markdown files"),
        ("check", "print as a diff what render would change, and fail if there is any; writes nothing"),
    ):
        action = actions.add_parser(name, help=summary, description=summary, allow_abbrev=False)
        action.add_argument(
            "files", nargs="*", metavar="FILE", help="Markdown files and folders; README.md and docs unless given"
        )
        action.add_argument("--format", choices=("text", "json"), default="text", help="form of the output")
        action.add_argument("--data", metavar="DIR", help="use this data directory instead of the one that comes along")


def _refresh(commands: "argparse._SubParsersAction[_Parser]") -> None:
    def run(arguments: argparse.Namespace) -> int:
        from compatkb.cli.refreshing import refresh

        return refresh(arguments)

    command = _add(commands, "refresh", "propose what the package index has that data/index/ lacks", run)
    what = command.add_mutually_exclusive_group()
    what.add_argument("--write", action="store_true", help="write the files of data/index/; otherwise only print")
    what.add_argument("--check", action="store_true", help="end with exit code 4 where a file would change")
    command.add_argument("--only", metavar="PRODUCT", action="append", help="only this product; may be given again")
    command.add_argument("--requirements", action="store_true", help="read Requires-Dist where the file has none so far, too")
    command.add_argument("--since", metavar="DATE", help="leave out releases before this day; the oldest upload recorded")
    command.add_argument("--index", metavar="URL", help="ask this index in place of the default one")
    command.add_argument("--jobs", type=_count, default=4, metavar="N", help="things to ask for at a time; 4 unless given")
    command.add_argument("--format", choices=("text", "json"), default="text", help="form of the output")
    command.add_argument("--data", metavar="DIR", help="use this data directory instead of the checkout's")


def _timeline(commands: "argparse._SubParsersAction[_Parser]") -> None:
    def run(arguments: argparse.Namespace) -> int:
        from compatkb.cli.tables import timeline

        return timeline(arguments)

    command = _add(commands, "timeline", "show releases, milestones and ends of life in the order of time", run)
    command.add_argument(
        "--from", dest="since", metavar="DATE", help="leave out what came before: YYYY-MM-DD, YYYY-MM or YYYY"
    )
    command.add_argument("--to", dest="until", metavar="DATE", help="leave out what came after, likewise")
    command.add_argument("--vendor", action="append", metavar="NAME", help="only the events of these, by id")
    command.add_argument("--kind", action="append", choices=("release", "milestone", "end-of-life"), help="only these")
    command.add_argument("--width", metavar="PIXELS", default="960", help="how wide the SVG picture is; 960 unless given")
    _common(command, ("text", "json", "markdown", "mermaid", "svg"))


def _matrix(commands: "argparse._SubParsersAction[_Parser]") -> None:
    def run(arguments: argparse.Namespace) -> int:
        from compatkb.cli.tables import matrix

        return matrix(arguments)

    command = _add(commands, "matrix", "show which releases of a product have wheels for which Pythons", run)
    command.add_argument("product", metavar="PRODUCT")
    command.add_argument("--by", choices=("python",), default="python", help="what the columns are")
    command.add_argument("--device", metavar="xpu|cpu", help="only the builds for this device")
    _common(command, ("text", "json", "markdown", "csv"))


def _completion(commands: "argparse._SubParsersAction[_Parser]") -> None:
    def run(arguments: argparse.Namespace) -> int:
        from compatkb.cli.completion import script

        print(script(build_parser(), arguments.shell), end="")
        return 0

    command = _add(commands, "completion", "print the completion script of a shell", run)
    command.add_argument("shell", choices=("bash", "zsh", "tcsh"))


def _search(commands: "argparse._SubParsersAction[_Parser]") -> None:
    def run(arguments: argparse.Namespace) -> int:
        from compatkb.cli.finding import search

        return search(arguments)

    command = _add(commands, "search", "search names, notes and reasons for words, and say what to type next", run)
    command.add_argument("words", nargs="+", metavar="WORD", help="every word must match, from its start: arc a770, avx2 aten")
    command.add_argument("--limit", type=_count, default=20, metavar="N", help="show at most N records; 20 unless given")
    _common(command)


def _changes(commands: "argparse._SubParsersAction[_Parser]") -> None:
    def run(arguments: argparse.Namespace) -> int:
        from compatkb.cli.finding import changes

        return changes(arguments)

    command = _add(commands, "changes", "list what became true since a day: releases, withdrawals, ends, image tags", run)
    command.add_argument("product", nargs="?", metavar="PRODUCT")
    command.add_argument("--since", metavar="DATE", required=True, help="the first day, YYYY-MM-DD")
    command.add_argument("--until", metavar="DATE", dest="as_of", help="the last day; another name of --as-of")
    _common(command, ("text", "json", "markdown"))


def _build(commands: "argparse._SubParsersAction[_Parser]") -> None:
    def run(arguments: argparse.Namespace) -> int:
        from compatkb.cli.exporting import build

        return build(arguments)

    command = _add(commands, "build", "write the knowledge base as a SQLite database for people", run)
    command.add_argument("--out", metavar="FILE", default="compatkb.sqlite", help="the file; compatkb.sqlite unless given")
    command.add_argument("--force", action="store_true", help="overwrite a file that is no database of compatkb")
    command.add_argument("--describe", action="store_true", help="write nothing; print what the tables and views are")
    command.add_argument("--data", metavar="DIR", help="use this data directory instead of the one that comes along")


def _export(commands: "argparse._SubParsersAction[_Parser]") -> None:
    def run(arguments: argparse.Namespace) -> int:
        from compatkb.cli.exporting import export

        return export(arguments)

    command = _add(commands, "export", "write the knowledge base as tables, graph, diagram or calendar", run)
    forms = ("json", "csv", "graphml", "mermaid", "dot", "ical", "schema")
    command.add_argument("--format", choices=forms, required=True, help="form of the output; schema is that of json")
    command.add_argument("--out", metavar="FILE", help="write there instead of standard output; csv: a folder, or FILE.zip")
    command.add_argument("--table", metavar="NAME", help="csv: this table alone")
    command.add_argument("--product", metavar="PRODUCT", action="append", help="graphs and calendar: this product; repeatable")
    command.add_argument("--level", choices=("series", "release", "build"), help="diagrams: what a box is; series by default")
    command.add_argument("--data", metavar="DIR", help="use this data directory instead of the one that comes along")


def _schema(commands: "argparse._SubParsersAction[_Parser]") -> None:
    def run(arguments: argparse.Namespace) -> int:
        from compatkb.cli.exporting import schema

        return schema(arguments)

    command = _add(commands, "schema", "write the JSON Schemas of the data files", run)
    command.add_argument("--out", metavar="DIR", default="data/schema", help="the folder; data/schema unless given")
    command.add_argument("--check", action="store_true", help="write nothing; print what differs and exit with 4")


def _lint(commands: "argparse._SubParsersAction[_Parser]") -> None:
    def run(arguments: argparse.Namespace) -> int:
        from compatkb.cli.curating import lint

        return lint(arguments)

    command = _add(commands, "lint", "check the data files against the rules of docs/lint.md", run)
    _common(command, ("text", "json", "github"))
    command.add_argument("--rule", action="append", metavar="NAME", help="run this rule alone; may be given more than once")
    command.add_argument("--rules", dest="list_rules", action="store_true", help="list the rules and end")
    command.add_argument("--fail-on", choices=("error", "warning"), default="error", help="exit 1 from this level on")


def _fmt(commands: "argparse._SubParsersAction[_Parser]") -> None:
    def run(arguments: argparse.Namespace) -> int:
        from compatkb.cli.curating import fmt

        return fmt(arguments)

    command = _add(commands, "fmt", "write data files in their canonical form", run)
    command.add_argument("files", nargs="*", metavar="FILE", help="data files; all of the directory unless given")
    command.add_argument("--check", action="store_true", help="write nothing, and exit 1 where a file would change")
    command.add_argument("--format", choices=("text", "json"), default="text", help="form of the output")
    command.add_argument("--data", metavar="DIR", help="the data directory; that of the checkout unless given")


COMMANDS = {
    "resolve": _resolve,
    "explain": _explain,
    "show": _show,
    "list": _list,
    "features": _features,
    "eol": _eol,
    "validate": _validate,
    "refresh": _refresh,
    "timeline": _timeline,
    "matrix": _matrix,
    "stats": _stats,
    "docs": _docs,
    "search": _search,
    "changes": _changes,
    "build": _build,
    "export": _export,
    "schema": _schema,
    "lint": _lint,
    "fmt": _fmt,
    "completion": _completion,
}
"""Every command, in the order in which help lists them."""
