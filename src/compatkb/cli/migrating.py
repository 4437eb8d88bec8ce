"""The command that leads away from products that have ended: migrate."""

import sys
from pathlib import Path
from typing import Annotated

from compatkb.check import CheckReport, files
from compatkb.check.config import Settings
from compatkb.check.document import CheckContext, TextDocument
from compatkb.check.migration_rules import RULES
from compatkb.check.report_text import Shown, rules_lines
from compatkb.cli import checking, completion
from compatkb.cli import options as o
from compatkb.cli.checking import finish, mend, print_diff, report_of, settings_of
from compatkb.cli.opening import open_facts
from compatkb.core.findings import Finding
from compatkb.errors import UsageError
from compatkb.migrate.project import migrate as migrate_documents
from compatkb.migrate.project import reads
from compatkb.output.registry import Wanted
from compatkb.output.shells import shell_here
from compatkb.output.terminal import show

_MOST_ROUNDS = 10


def migrate(
    paths: checking.Paths = None,
    device: Annotated[
        str | None,
        o.value("--device", "NAME", "the device that the project is for (default: what its files say)", completion.devices),
    ] = None,
    fix: o.Fix = False,
    show_diff: o.Diff = False,
    fail_on: Annotated[checking.Level, o.option("--fail-on", "exit 1 at this level or above")] = "warning",
    ignore: checking.Ignore = None,
    list_rules: checking.Rules = False,
    config: checking.Config = None,
    report_to: checking.Reports = None,
    why: checking.Why = False,
    everything: checking.All = False,
    shell: o.Shell = None,
    form: Annotated[str, o.form("migrate")] = "text",
    as_of: o.AsOf = None,
    data: o.Data = None,
) -> int:
    """Report what has to change in files; 1 where a finding is at or above --fail-on, or where --diff would change a file."""
    if list_rules:
        show(rules_lines(RULES))
        return 0
    settings = settings_of(config, fail_on, ignore or ())
    reports = [report_of(text) for text in report_to or ()]
    asked = CheckContext(*open_facts(data, as_of))
    _known_device(asked, device)
    file_paths = files.find(paths or ["."], reads, settings)
    report = _judged(file_paths, asked, settings, device)
    if show_diff:
        return print_diff(report)
    if fix:
        done = 0
        for _ in range(_MOST_ROUNDS):  # what overlaps is mended in the next round
            if not (mending := mend(file_paths, report)):
                break
            done += mending
            report = _judged(file_paths, asked, settings, device)
        print(f"remark: {done} {'finding was' if done == 1 else 'findings were'} fixed", file=sys.stderr)
    named = ("--device", device) if device else ()
    shown = Shown(report, asked, ("migrate", *named, *(paths or ())))
    return finish(shown, settings, form, reports, Wanted(why, everything, shell or shell_here()))


def _known_device(asked: CheckContext, device: str | None) -> None:
    names = [element.version for element in asked.facts.elements("device")]
    if device is not None and device not in names:
        raise UsageError(f"unknown device {device!r}; known: {', '.join(names)}")


def _judged(paths: list[Path], asked: CheckContext, settings: Settings, device: str | None) -> CheckReport:
    read = [files.read(path) for path in paths]
    documents = [item for item in read if isinstance(item, TextDocument)]
    unread = [item for item in read if isinstance(item, Finding) and not item.path.endswith((".py", ".pyi"))]
    return migrate_documents(documents, asked, settings, device=device, unread=unread)
