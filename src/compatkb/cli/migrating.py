"""The command that leads away from products that have ended: migrate."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from compatkb.check import CheckReport, files
from compatkb.check.config import NEVER, Settings
from compatkb.check.document import CheckContext, TextDocument
from compatkb.check.fixes import diff, mended
from compatkb.check.migration_rules import RULES
from compatkb.check.report_text import rules_text
from compatkb.cli import checking, completion
from compatkb.cli import options as o
from compatkb.cli.checking import FORMS, Shown, findings_of, mend, remark_on, report_of, settings_of
from compatkb.cli.opening import open_facts
from compatkb.core.atomic_write import write_file
from compatkb.core.findings import Finding, Severity, worst
from compatkb.errors import UsageError
from compatkb.migrate.project import migrate as migrate_documents
from compatkb.migrate.project import reads
from compatkb.migrate.report_text import migrating_json, migrating_text

_MOST_ROUNDS = 10


def migrate(
    paths: checking.Paths = None,
    device: Annotated[
        str | None,
        typer.Option(
            "--device",
            metavar="NAME",
            help="the device that the project is for (default: what its files say)",
            autocompletion=completion.devices,
        ),
    ] = None,
    fix: o.Fix = False,
    show_diff: o.Diff = False,
    fail_on: Annotated[checking.Level, typer.Option("--fail-on", help="exit 1 from this level on")] = "warning",
    ignore: checking.Ignore = None,
    list_rules: checking.Rules = False,
    config: checking.Config = None,
    report_to: checking.Reports = None,
    form: checking.Form = "text",
    as_of: o.AsOf = None,
    data: o.Data = None,
) -> int:
    """Report what has to change in files; 1 where a finding is at or above --fail-on, or where --diff would change a file."""
    if list_rules:
        print(rules_text(RULES), end="")
        return 0
    settings = settings_of(config, fail_on, ignore or ())
    reports = [report_of(text) for text in report_to or ()]
    asked = CheckContext(*open_facts(data, as_of))
    _known_device(asked, device)
    found = files.find(paths or ["."], reads, settings)
    report = _judged(found, asked, settings, device)
    if show_diff:
        changes = [(document, mended(document, findings_of(report, document))[0]) for document in report.documents.values()]
        print("".join(diff(document, after) for document, after in changes), end="")
        return int(any(after != document.text for document, after in changes))
    if fix:
        done = 0
        for _ in range(_MOST_ROUNDS):  # what overlaps is mended in the next round
            if not (mending := mend(found, report)):
                break
            done += mending
            report = _judged(found, asked, settings, device)
        print(f"remark: {done} {'finding was' if done == 1 else 'findings were'} mended", file=sys.stderr)
    shown = Shown(report, asked.day, asked.facts.meta["data_date"])
    for name, target in reports:
        write_file(target, _formed(name, shown).encode())
    print(_formed(form, shown), end="")
    remark_on(report)
    return int(settings.fail_on != NEVER and worst(report.findings, Severity(settings.fail_on)))


def _formed(form: str, shown: Shown) -> str:
    if form == "text":
        return migrating_text(shown.report)
    return migrating_json(*shown) if form == "json" else FORMS[form](shown)


def _known_device(asked: CheckContext, device: str | None) -> None:
    names = [element.version for element in asked.facts.elements("device")]
    if device is not None and device not in names:
        raise UsageError(f"{device!r} is no device; there are {', '.join(names)}")


def _judged(paths: list[Path], asked: CheckContext, settings: Settings, device: str | None) -> CheckReport:
    read = [files.read(path) for path in paths]
    documents = [item for item in read if isinstance(item, TextDocument)]
    unread = [item for item in read if isinstance(item, Finding) and not item.path.endswith((".py", ".pyi"))]
    return migrate_documents(documents, asked, settings, device=device, unread=unread)
