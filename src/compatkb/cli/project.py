"""Options of the commands that look at files of other projects."""

import argparse

from compatkb.cli.arguments import Commands, add_command, add_common, days

FORMS = ("text", "json", "github", "gitlab", "junit", "markdown", "sarif")


def check(commands: Commands) -> None:
    """Add `check`."""

    def run(arguments: argparse.Namespace) -> int:
        from compatkb.cli.checking import check

        return check(arguments)

    command = add_command(
        commands, "check", "check files of a project against the data: requirements, Dockerfiles, pipelines, README", run
    )
    add = command.add_argument
    add("paths", nargs="*", metavar="PATH", help="files and folders; the working directory unless given")
    add("--fix", action="store_true", help="write what mends findings for certain, then report what is left")
    add("--diff", action="store_true", help="print what --fix would write, write nothing, and exit 1 if there is any")
    add("--eol-within", dest="within", type=days, metavar="DAYS", help="tell ends of life within so many days, such as 90d")
    add("--baseline", metavar="FILE", help="leave out the findings that this file has")
    add("--write-baseline", metavar="FILE", help="write the findings there, so that only new ones count from then on")
    _add_reporting(command, "error")


def migrate(commands: Commands) -> None:
    """Add `migrate`."""

    def run(arguments: argparse.Namespace) -> int:
        from compatkb.cli.migrating import migrate

        return migrate(arguments)

    command = add_command(
        commands, "migrate", "show what of a project has to change to do without products that have ended", run
    )
    add = command.add_argument
    add("paths", nargs="*", metavar="PATH", help="files and folders; the working directory unless given")
    add("--device", metavar="xpu|cpu", help="the device that the project is for; what its files say unless given")
    add("--fix", action="store_true", help="write what does the same for certain, then report what is left")
    add("--diff", action="store_true", help="print what --fix would write, write nothing, and exit 1 if there is any")
    command.set_defaults(within=None)
    _add_reporting(command, "warning")


def _add_reporting(command: argparse.ArgumentParser, level: str) -> None:
    """Add what decides which findings count and how they are told; from `level` on they make the command fail."""
    add = command.add_argument
    add("--fail-on", choices=("info", "warning", "error", "never"), help=f"exit 1 from this level on; {level} unless given")
    add("--ignore", action="append", metavar="RULE", help="leave out this rule; may be given more than once")
    add("--rules", dest="list_rules", action="store_true", help="list the rules with their levels and end")
    add("--config", metavar="FILE", help="read [tool.compatkb] of this file; that of the nearest pyproject.toml unless given")
    add("--report", action="append", metavar="FORM=FILE", help="write this form of the output there too; may be given often")
    add_common(command, FORMS)
