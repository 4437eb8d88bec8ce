"""The application: its commands in panels, each imported when it runs."""

from collections.abc import Sequence
from importlib import import_module
from typing import Annotated, Any, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from compatkb.cli.terminal import help_markup, switch_colour_off

ASK = "Ask"
PROJECT = "Check a project"
WRITE = "Write documents and pages"
KEEP = "Keep the data"


class Entry(NamedTuple):
    """A command: its panel, the module of `compatkb.cli` and the function or application in it, what it does."""

    panel: str
    module: str
    name: str
    summary: str


COMMANDS = {
    "resolve": Entry(ASK, "ask", "answer", "find versions that work together, or why none do and the nearest that do"),
    "explain": Entry(ASK, "ask", "answer", "say whether these versions work together, why or why not, with sources"),
    "diagnose": Entry(ASK, "helping", "diagnose", "name likely causes of an error that a program printed, and what to do"),
    "show": Entry(ASK, "catalog", "show_record", "show a product, one of its versions, or an image tag, with sources"),
    "list": Entry(ASK, "catalog", "list_products", "list the products, or the versions of one"),
    "features": Entry(ASK, "catalog", "features", "list features and the releases that support them"),
    "search": Entry(ASK, "catalog", "search", "search names, notes and reasons for words"),
    "eol": Entry(ASK, "catalog", "eol", "list what is out of support, or will be soon"),
    "changes": Entry(ASK, "catalog", "changes", "list what changed since a day: releases, withdrawals, ends, image tags"),
    "timeline": Entry(ASK, "catalog", "timeline", "show releases, milestones and ends of life in order of time"),
    "matrix": Entry(ASK, "catalog", "matrix", "show which releases of a product have wheels for which Pythons"),
    "check": Entry(PROJECT, "checking", "check", "check requirements, Dockerfiles, pipelines and documents against the data"),
    "doctor": Entry(PROJECT, "helping", "doctor", "report what works on this machine, what does not, and how to fix it"),
    "verify": Entry(PROJECT, "helping", "verify", "run torch of this machine, and say whether it can use its device"),
    "mcp": Entry(PROJECT, "ask", "mcp", "answer coding agents: a server of the Model Context Protocol on stdin and stdout"),
    "migrate": Entry(PROJECT, "checking", "migrate", "show what a project must change to leave discontinued products"),
    "docs": Entry(WRITE, "documents", "docs", "fill marked regions of documents, check them, print and compare tables"),
    "web": Entry(WRITE, "documents", "web", "write the lookup page and the JSON API, or serve them on this machine"),
    "build": Entry(WRITE, "exporting", "build", "write the knowledge base as a SQLite database for people"),
    "export": Entry(WRITE, "exporting", "export", "write the knowledge base as tables, graph, diagram or calendar"),
    "data": Entry(KEEP, "exporting", "data", "download newer data, or write a data file that others can download"),
    "stats": Entry(KEEP, "documents", "stats", "show how large, how well supported and how fresh the data are"),
    "validate": Entry(KEEP, "validating", "validate", "check claims with real installers and interpreters"),
    "refresh": Entry(KEEP, "curating", "refresh", "propose what the package index has that data/index/ lacks"),
    "lint": Entry(KEEP, "curating", "lint", "check the data files against the rules of docs/lint.md"),
    "fmt": Entry(KEEP, "curating", "fmt", "write data files in their canonical form"),
    "schema": Entry(KEEP, "exporting", "schema", "write the JSON Schemas of the data files"),
}
"""Every command, in the order in which help lists them."""


class Commands(TyperGroup):
    """Lists every command without importing one, and imports the one that runs."""

    def __init__(self, **settings: Any) -> None:
        """Add what help lists."""
        super().__init__(**settings)
        for name, entry in COMMANDS.items():
            self.add_command(TyperCommand(name, help=entry.summary, rich_help_panel=entry.panel))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command that `args` name, imported, and the words after it."""
        name, command, rest = super().resolve_command(ctx, args)
        return name, command and load(name or "", [param for param in self.params if param.name == "no_color"]), rest

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


def load(name: str, shared: Sequence[Any] = ()) -> Any:
    """Return a command with the options that all `shared`; of the modules of commands only its own is imported."""
    entry = COMMANDS[name]
    target = getattr(import_module(f"compatkb.cli.{entry.module}"), entry.name)
    if isinstance(target, typer.Typer):
        app, target.info.help, target.rich_markup_mode = target, entry.summary, help_markup()
    else:
        app = _application()
        app.command(name, help=entry.summary)(target)
    command: Any = get_command(app)
    for each in (command, *getattr(command, "commands", {}).values()):
        each.params.extend(shared)
    return command


def application() -> TyperGroup:
    """Return the command line."""
    app = _application(
        cls=Commands,
        add_completion=True,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120},
        help="Which versions of PyTorch and its companions work together on Intel hardware, and how we know.",
        epilog="Exit codes: 0 an answer; 1 does not work; 2 wrong usage; 3 invalid data; 4 a generated file is "
        "stale; 5 something needed is unavailable; 6 gave up within its budget; 7 unknown.",
    )
    app.callback()(_common)
    command = get_command(app)
    assert isinstance(command, TyperGroup)
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
    no_color: Annotated[
        bool,
        typer.Option(
            "--no-color", is_eager=True, expose_value=False, callback=switch_colour_off, help="print without colours"
        ),
    ] = False,
) -> None:
    """Take the options of all commands."""
