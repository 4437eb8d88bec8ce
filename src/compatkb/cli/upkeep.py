"""Options of the commands that keep the data: building, checking, refreshing and proving them."""

import argparse

from compatkb.cli.arguments import Commands, Parser, add_command, add_common, count, days, shard


def validate(commands: Commands) -> None:
    """Add `validate`."""

    def run(arguments: argparse.Namespace) -> int:
        from compatkb.cli.validating import validate

        return validate(arguments)

    command = add_command(
        commands, "validate", "check claims with real installers and interpreters, and keep the evidence", run
    )
    add = command.add_argument
    levels = ("published", "resolve", "gate", "import", "run")
    add("--level", action="append", choices=levels, help="how far to go: resolve unless given; may be repeated")
    add("--tool", action="append", metavar="NAME", help="ask this tool alone: index, pip, uv or python")
    add("--product", action="append", metavar="PRODUCT", help="only stacks about this product")
    add("--python", action="append", metavar="V", help="only this Python minor")
    add("--platform", default="linux-x86_64", metavar="OS-ARCH", help="linux-x86_64 unless given")
    add("--device", default="cpu", metavar="cpu|xpu", help="cpu unless given")
    add("--channel", default="default", metavar="ID", help="the index to ask: a channel of the data, or default")
    add("--changed-since", metavar="REF|DIR", help="only stacks that differ from those of a commit or another data directory")
    add("--denied", action="store_true", help="check neighbours that the data deny, not what they claim")
    add("--stack", action="append", metavar="PINS", help="these builds in place of what is claimed: 'PACKAGE==V PACKAGE==V'")
    add("--stubbed", action="store_true", help="replace the libraries of other devices by empty ones, and say so")
    add("--download", action="store_true", help="really download and hash the wheels")
    add("--record", metavar="DIR", help="ask a recorded index in place of the real one")
    add("--live", action="store_true", help="let pip and uv ask the real index themselves; else a record of today answers")
    add("--index", action="append", metavar="ID=URL", help="ask this address in place of a channel")
    add("--interpreter", action="append", metavar="V=PATH", help="a Python to use for a minor, beside those that are found")
    add("--use-pip-config", action="store_true", help="let pip and uv read their configuration; isolated unless given")
    add("--jobs", type=count, default=2, metavar="N", help="cells at a time; 2 unless given")
    add("--executor", choices=("threads", "dask"), default="threads", help="threads of this machine, or a Dask cluster")
    add("--scheduler", metavar="ADDRESS", help="the Dask scheduler")
    add("--shard", type=shard, default=(1, 1), metavar="I/N", help="only the I-th of N parts of the cells")
    add("--limit", type=count, metavar="N", help="at most N cells")
    add("--max-age", type=days, metavar="DAYS", help="check again what was checked longer ago, such as 30d")
    add("--again", action="store_true", help="check again what was checked before")
    add("--seconds", type=count, default=900, metavar="N", help="the most time for one cell; 900 unless given")
    add("--megabytes", type=count, default=12000, metavar="N", help="the most disk for one cell; 12000 unless given")
    add("--work", metavar="DIR", help="where environments and the journal of an unfinished run are kept")
    add("--out", metavar="FILE", help="write the observations to this file, not into the data")
    add("--list", action="store_true", help="list the cells and check none")
    add("--merge", nargs="+", metavar="FILE", help="add the observations of shards to the data, and check none")
    add_common(command)


def stats(commands: Commands) -> None:
    """Add `stats`."""

    def run(arguments: argparse.Namespace) -> int:
        from compatkb.cli.documents import stats

        return stats(arguments)

    command = add_command(commands, "stats", "say how large, how well supported and how fresh the data are", run)
    add_common(command, ("text", "json", "markdown", "badge", "badge-json"))


def docs(commands: Commands) -> None:
    """Add `docs`."""

    def run(arguments: argparse.Namespace) -> int:
        from compatkb.cli import documents

        actions = {"render": documents.docs_render, "check": documents.docs_check, "table": documents.docs_table}
        return actions.get(arguments.action, documents.docs_diff)(arguments)

    command = add_command(
        commands, "docs", "fill marked regions of documents, check them, print tables, compare a document's tables", run
    )
    actions = command.add_subparsers(dest="action", required=True, metavar="ACTION", parser_class=Parser)
    for name, summary in (
        ("render", "fill the marked regions of Markdown, reStructuredText and HTML files"),
        ("check", "print as a diff what render would change, and fail if there is any; writes nothing"),
    ):
        action = actions.add_parser(name, help=summary, description=summary, allow_abbrev=False)
        action.add_argument("files", nargs="*", metavar="FILE", help="files and folders; README.md and docs unless given")
        _docs_common(action, ("text", "json"))
    summary = "print what a region of a kind would hold"
    table = actions.add_parser("table", help=summary, description=summary, allow_abbrev=False)
    table.add_argument("kind", metavar="KIND", help="the kind of region, such as images; docs/regions.md lists them")
    table.add_argument("words", nargs="*", metavar="KEY=VALUE", help="its arguments, such as device=xpu")
    _docs_common(table, ("markdown", "rst", "html", "csv", "json"))
    summary = "list where a document's tables of image tags are not what the data make of them, with reasons and sources"
    diff = actions.add_parser("diff", help=summary, description=summary, allow_abbrev=False)
    diff.add_argument("file", metavar="FILE", help="the Markdown file")
    _docs_common(diff, ("text", "json"))


def _docs_common(action: argparse.ArgumentParser, forms: tuple[str, ...]) -> None:
    action.add_argument("--format", choices=forms, default=forms[0], help=f"form of the output; {forms[0]} unless given")
    action.add_argument(
        "--as-of", metavar="DATE", help="the day of what names none, YYYY-MM-DD; that of the data unless given"
    )
    action.add_argument("--data", metavar="DIR", help="use this data directory instead of the one that comes along")


def refresh(commands: Commands) -> None:
    """Add `refresh`."""

    def run(arguments: argparse.Namespace) -> int:
        from compatkb.cli.refreshing import refresh

        return refresh(arguments)

    command = add_command(commands, "refresh", "propose what the package index has that data/index/ lacks", run)
    what = command.add_mutually_exclusive_group()
    what.add_argument("--write", action="store_true", help="write the files of data/index/; otherwise only print")
    what.add_argument("--check", action="store_true", help="end with exit code 4 where a file would change")
    command.add_argument("--only", metavar="PRODUCT", action="append", help="only this product; may be given again")
    command.add_argument("--requirements", action="store_true", help="read Requires-Dist where the file has none so far, too")
    command.add_argument("--since", metavar="DATE", help="leave out releases before this day; the oldest upload recorded")
    command.add_argument("--index", metavar="URL", help="ask this index in place of the default one")
    command.add_argument("--jobs", type=count, default=4, metavar="N", help="things to ask for at a time; 4 unless given")
    command.add_argument("--format", choices=("text", "json"), default="text", help="form of the output")
    command.add_argument("--data", metavar="DIR", help="use this data directory instead of the checkout's")


def build(commands: Commands) -> None:
    """Add `build`."""

    def run(arguments: argparse.Namespace) -> int:
        from compatkb.cli.exporting import build

        return build(arguments)

    command = add_command(commands, "build", "write the knowledge base as a SQLite database for people", run)
    command.add_argument("--out", metavar="FILE", default="compatkb.sqlite", help="the file; compatkb.sqlite unless given")
    command.add_argument("--force", action="store_true", help="overwrite a file that is no database of compatkb")
    command.add_argument("--describe", action="store_true", help="write nothing; print what the tables and views are")
    command.add_argument("--data", metavar="DIR", help="use this data directory instead of the one that comes along")


def export(commands: Commands) -> None:
    """Add `export`."""

    def run(arguments: argparse.Namespace) -> int:
        from compatkb.cli.exporting import export

        return export(arguments)

    command = add_command(commands, "export", "write the knowledge base as tables, graph, diagram or calendar", run)
    forms = ("json", "csv", "graphml", "mermaid", "dot", "ical", "schema")
    command.add_argument("--format", choices=forms, required=True, help="form of the output; schema is that of json")
    command.add_argument("--out", metavar="FILE", help="write there instead of standard output; csv: a folder, or FILE.zip")
    command.add_argument("--table", metavar="NAME", help="csv: this table alone")
    command.add_argument("--product", metavar="PRODUCT", action="append", help="graphs and calendar: this product; repeatable")
    command.add_argument("--level", choices=("series", "release", "build"), help="diagrams: what a box is; series by default")
    command.add_argument("--data", metavar="DIR", help="use this data directory instead of the one that comes along")


def schema(commands: Commands) -> None:
    """Add `schema`."""

    def run(arguments: argparse.Namespace) -> int:
        from compatkb.cli.exporting import schema

        return schema(arguments)

    command = add_command(commands, "schema", "write the JSON Schemas of the data files", run)
    command.add_argument("--out", metavar="DIR", default="data/schema", help="the folder; data/schema unless given")
    command.add_argument("--check", action="store_true", help="write nothing; print what differs and exit with 4")


def lint(commands: Commands) -> None:
    """Add `lint`."""

    def run(arguments: argparse.Namespace) -> int:
        from compatkb.cli.curating import lint

        return lint(arguments)

    command = add_command(commands, "lint", "check the data files against the rules of docs/lint.md", run)
    add_common(command, ("text", "json", "github"))
    command.add_argument("--rule", action="append", metavar="NAME", help="run this rule alone; may be given more than once")
    command.add_argument("--rules", dest="list_rules", action="store_true", help="list the rules and end")
    command.add_argument("--fail-on", choices=("error", "warning"), default="error", help="exit 1 from this level on")


def fmt(commands: Commands) -> None:
    """Add `fmt`."""

    def run(arguments: argparse.Namespace) -> int:
        from compatkb.cli.curating import fmt

        return fmt(arguments)

    command = add_command(commands, "fmt", "write data files in their canonical form", run)
    command.add_argument("files", nargs="*", metavar="FILE", help="data files; all of the directory unless given")
    command.add_argument("--check", action="store_true", help="write nothing, and exit 1 where a file would change")
    command.add_argument("--format", choices=("text", "json"), default="text", help="form of the output")
    command.add_argument("--data", metavar="DIR", help="the data directory; that of the checkout unless given")


def web(commands: Commands) -> None:
    """Add `web`."""

    def run(arguments: argparse.Namespace) -> int:
        from compatkb.cli.web import build, serve

        return build(arguments) if arguments.action == "build" else serve(arguments)

    command = add_command(commands, "web", "write the static lookup page and the JSON API, or show them on this machine", run)
    actions = command.add_subparsers(dest="action", required=True, metavar="ACTION", parser_class=Parser)
    summary = "write the site: plain files that work from any web server, any folder of it, and a disk"
    action = actions.add_parser("build", help=summary, description=summary, allow_abbrev=False)
    action.add_argument("--out", metavar="DIR", default="site", help="the folder; site unless given")
    shown = "serve the site on this machine, built anew unless --dir names one"
    serving = actions.add_parser("serve", help=shown, description=shown, allow_abbrev=False)
    serving.add_argument("--dir", metavar="DIR", help="a folder that `web build` wrote")
    serving.add_argument("--host", default="localhost", help="the address to listen on; this machine alone unless given")
    serving.add_argument("--port", type=int, default=8000, metavar="N", help="8000 unless given; 0 takes a free one")
    for each in (action, serving):
        each.add_argument("--as-of", metavar="DATE", help="answer as of the end of this day, YYYY-MM-DD; today unless given")
        each.add_argument("--data", metavar="DIR", help="use this data directory instead of the one that comes along")
        each.add_argument(
            "--jobs", type=count, metavar="N", help="processes that work out answers; one for each processor unless given"
        )
