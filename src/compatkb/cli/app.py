"""The application: its commands in panels, each imported when it runs."""

from collections.abc import Sequence
from importlib import import_module
from itertools import takewhile
from pathlib import Path
from shutil import get_terminal_size
from typing import Annotated, Any, Literal

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from compatkb.cli.terminal import choose_colour, help_markup, print_less, print_more
from compatkb.core.record import NamedTuple

USER = "User"
LOOK_UP = "Look up"
PUBLISH = "Publish"
CURATE = "Curator (compatkb data ...)"


class Entry(NamedTuple):
    """A command: its panel, the module of `compatkb.cli` and the function or application in it, what it does."""

    panel: str
    module: str
    name: str
    summary: str


COMMANDS = {
    "resolve": Entry(USER, "ask", "answer", "find versions that work together, or why none do and the nearest that do"),
    "explain": Entry(USER, "ask", "answer", "say whether versions work together, why or why not, with sources"),
    "diagnose": Entry(USER, "helping", "diagnose", "name the cause of an error that a program printed, and the fix"),
    "doctor": Entry(USER, "helping", "doctor", "report what works on this machine, what does not, and how to fix it"),
    "check": Entry(USER, "checking", "check", "check requirements, Dockerfiles, pipelines and documents against the data"),
    "migrate": Entry(USER, "checking", "migrate", "show what a project must change to leave discontinued products"),
    "show": Entry(USER, "catalog", "show_record", "show a product, one of its versions, a GPU, or an image tag"),
    "eol": Entry(USER, "catalog", "eol", "list what is at its end of life, or will be soon"),
    "list": Entry(LOOK_UP, "catalog", "list_products", "list the products, or the versions of one"),
    "search": Entry(LOOK_UP, "catalog", "search", "search names, notes and reasons for words"),
    "features": Entry(LOOK_UP, "catalog", "features", "list features and the releases that support them"),
    "changes": Entry(LOOK_UP, "catalog", "changes", "list what changed since a day: releases, yanks, ends of life, images"),
    "matrix": Entry(LOOK_UP, "catalog", "matrix", "show which releases of a product have wheels for which Pythons"),
    "timeline": Entry(LOOK_UP, "catalog", "timeline", "show releases, milestones and ends of life in order of time"),
    "verify": Entry(LOOK_UP, "helping", "verify", "run torch of this machine, and say whether it can use its device"),
    "docs": Entry(PUBLISH, "documents", "docs", "fill marked regions of documents, or check them"),
    "web": Entry(PUBLISH, "documents", "web", "write the lookup page and the JSON API, or serve them on this machine"),
    "export": Entry(PUBLISH, "exporting", "export", "write the knowledge base as tables, graph or calendar"),
    "build": Entry(PUBLISH, "exporting", "build", "write the knowledge base as a SQLite database for people"),
    "mcp": Entry(PUBLISH, "ask", "mcp", "answer coding agents: a server of the Model Context Protocol on stdin and stdout"),
    "data": Entry(CURATE, "exporting", "data", "download newer data; what follows keeps the data right and fresh"),
    "lint": Entry(CURATE, "curating", "lint", "check the data files against the rules of docs/lint.md"),
    "fmt": Entry(CURATE, "curating", "fmt", "write data files in their canonical form"),
    "refresh": Entry(CURATE, "curating", "refresh", "propose what the package index has that data/index/ lacks"),
    "validate": Entry(CURATE, "validating", "validate", "check claims with real installers and interpreters"),
    "schema": Entry(CURATE, "exporting", "schema", "write the JSON Schemas of the data files"),
}
"""Every command, in the order in which help lists them."""
CURATING = tuple(name for name, entry in COMMANDS.items() if entry.panel == CURATE and name != "data")
"""Commands that stand after `data` too, as help and documents write them."""
_MARGIN = 4
"""Columns beside an example."""
_USUAL = 3
"""Options for the versions of products that most need."""
_RARE = ("arch", "oneapi", "route", "stack", "index", "min_age", "shell", "unknown", "as_of", "data")
"""Parameters of resolve and explain that few need: `--help --all` lists them."""


def examples(name: str) -> list[str]:
    """Return what people type for a command, of the program itself without a name."""
    text = Path(__file__).with_name("examples.txt").read_text(encoding="utf-8")
    lines = text.partition(f"[{name}]\n")[2].splitlines()
    return list(takewhile(lambda line: not line.startswith("["), lines))


def _about(summary: str, name: str) -> str:
    """Return what a command does and its examples, as wide as the terminal."""
    room, fitting = get_terminal_size().columns - _MARGIN, []
    for line in examples(name):
        shown = line if len(line) <= room else line.partition("  ")[0]
        fitting += [shown] if len(shown) <= room else []
    return "\n".join([f"{summary}\n\n\b", *fitting])


class Commands(TyperGroup):
    """Lists every command without importing one, and imports the one that runs."""

    def __init__(self, **settings: Any) -> None:
        """Add what help lists."""
        super().__init__(**settings)
        for name, entry in COMMANDS.items():
            self.add_command(TyperCommand(name, help=entry.summary, rich_help_panel=entry.panel))
        self.shows_all = False
        """Whether help lists the options that few need."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command that `args` name, imported, and the words after it."""
        name, command, rest = super().resolve_command(ctx, args)
        shared = [param for param in self.params if param.name in SHARED]
        return name, command and load(name or "", shared, everything=self.shows_all), rest

    def invoke(self, ctx: Any) -> Any:
        """Run the command; a reader that leaves, as `| head` does, ends it in peace."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            from compatkb.cli import drop_output

            drop_output()
            return 0

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002  # as the group calls it
        """Write the commands of each panel below its name, where help is plain text."""
        for panel in dict.fromkeys(entry.panel for entry in COMMANDS.values()):
            with formatter.section(panel):
                formatter.write_dl([(name, entry.summary) for name, entry in COMMANDS.items() if entry.panel == panel])


SHARED = ("color", "no_color", "quiet", "talkative")
"""Options that stand before or after the command."""


def load(name: str, shared: Sequence[Any] = (), *, everything: bool = True) -> Any:
    """Return a command with its examples and the options that all `shared`, only its own module imported.

    Without `everything`, help leaves out the options that few need.
    """
    entry = COMMANDS[name]
    target = getattr(import_module(f"compatkb.cli.{entry.module}"), entry.name)
    about = _about(entry.summary, name)
    if isinstance(target, typer.Typer):
        app, target.info.help, target.rich_markup_mode = target, about, help_markup()
    else:
        app = _application()
        app.command(name, help=about)(target)
    command: Any = get_command(app)
    inner = getattr(command, "commands", {})
    for each in (command, *inner.values()):
        taken = {option for param in each.params for option in param.opts}
        each.params.extend(param for param in shared if not taken & set(param.opts))
    if name in ("resolve", "explain") and not everything:
        versions = [param.name for param in command.params if getattr(param, "rich_help_panel", None) == "Versions"]
        rare = {*_RARE, *versions[_USUAL:]}
        for param in command.params:
            param.hidden = param.name in rare
        command.epilog = f"More options: compatkb {name} --help --all"
    if name == "data":
        for other in CURATING:
            inner.setdefault(other, TyperCommand(other, help=COMMANDS[other].summary))
    return command


def application() -> Commands:
    """Return the command line."""
    app = _application(
        cls=Commands,
        add_completion=True,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120},
        help=_about("Find versions of PyTorch that work together on Intel hardware.", ""),
        epilog="Exit codes: 0 an answer; 1 does not work; 2 wrong usage; 3 invalid data; 4 a generated file is "
        "stale; 5 something needed is unavailable; 6 gave up within its budget; 7 unknown.",
    )
    app.callback()(_common)
    command = get_command(app)
    assert isinstance(command, Commands)
    return command


def _application(**settings: Any) -> typer.Typer:
    return typer.Typer(**{"add_completion": False, "rich_markup_mode": help_markup(), **settings})


def _print_version(chosen: bool) -> None:
    if chosen:
        from compatkb.cli.opening import version_text
        from compatkb.output.terminal import show

        show(version_text())
        raise typer.Exit


def _common(
    version: Annotated[
        bool,
        typer.Option(
            "-V",
            "--version",
            is_eager=True,
            expose_value=False,
            callback=_print_version,
            help="print the versions of program and data",
        ),
    ] = False,
    color: Annotated[
        Literal["auto", "always", "never"],
        typer.Option(
            "--color",
            is_eager=True,
            expose_value=False,
            callback=choose_colour,
            help="print with colours; auto: on a terminal",
        ),
    ] = "auto",
    no_color: Annotated[
        bool,
        typer.Option(
            "--no-color",
            is_eager=True,
            expose_value=False,
            hidden=True,
            callback=lambda chosen: choose_colour("never" if chosen else ""),
            help="the same as --color never",
        ),
    ] = False,
    quiet: Annotated[
        bool,
        typer.Option(
            "-q", "--quiet", is_eager=True, expose_value=False, callback=print_less, help="print headline and command only"
        ),
    ] = False,
    talkative: Annotated[
        bool,
        typer.Option(
            "-v",
            "--verbose",
            is_eager=True,
            expose_value=False,
            callback=print_more,
            help="also say on stderr what was read",
        ),
    ] = False,
) -> None:
    """Take the options of all commands."""
