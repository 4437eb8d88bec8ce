"""The command that leads away from products that have ended: migrate."""

import argparse
import sys
from pathlib import Path

from compatkb.check import Report, files
from compatkb.check.document import Asked, Document
from compatkb.check.edits import diff, mended
from compatkb.check.migration import RULES
from compatkb.check.settings import NEVER, Settings
from compatkb.cli.checking import FORMS, Shown, findings_of, mend, remark_on, report_of, settings_of
from compatkb.cli.commands import open_facts
from compatkb.errors import UsageError
from compatkb.findings import Finding, Severity, worst
from compatkb.migrate.project import migrate as migrate_documents
from compatkb.migrate.project import reads
from compatkb.rendering.checking import rules_text
from compatkb.rendering.migrating import migrating_json, migrating_text
from compatkb.writing import write_file

_MOST_ROUNDS = 10


def migrate(arguments: argparse.Namespace) -> int:
    """Report what has to change in files; 1 where a finding is at or above --fail-on, or where --diff would change a file."""
    if arguments.list_rules:
        print(rules_text(RULES), end="")
        return 0
    arguments.fail_on = arguments.fail_on or Severity.WARNING
    settings = settings_of(arguments)
    reports = [report_of(text) for text in arguments.report or ()]
    asked = Asked(*open_facts(arguments))
    _known_device(asked, arguments.device)
    paths = files.find(arguments.paths or ["."], reads, settings)
    report = _judged(paths, asked, settings, arguments.device)
    if arguments.diff:
        changes = [(document, mended(document, findings_of(report, document))[0]) for document in report.documents.values()]
        print("".join(diff(document, after) for document, after in changes), end="")
        return int(any(after != document.text for document, after in changes))
    if arguments.fix:
        done = 0
        for _ in range(_MOST_ROUNDS):  # what overlaps is mended in the next round
            if not (mending := mend(paths, report)):
                break
            done += mending
            report = _judged(paths, asked, settings, arguments.device)
        print(f"remark: {done} {'finding was' if done == 1 else 'findings were'} mended", file=sys.stderr)
    shown = Shown(report, asked.day, asked.facts.meta["data_date"])
    for form, target in reports:
        write_file(target, _formed(form, shown).encode())
    print(_formed(arguments.format, shown), end="")
    remark_on(report)
    return int(settings.fail_on != NEVER and worst(report.findings, Severity(settings.fail_on)))


def _formed(form: str, shown: Shown) -> str:
    if form == "text":
        return migrating_text(shown.report)
    return migrating_json(*shown) if form == "json" else FORMS[form](shown)


def _known_device(asked: Asked, device: str | None) -> None:
    names = [element.version for element in asked.facts.elements("device")]
    if device is not None and device not in names:
        raise UsageError(f"{device!r} is no device; there are {', '.join(names)}")


def _judged(paths: list[Path], asked: Asked, settings: Settings, device: str | None) -> Report:
    read = [files.read(path) for path in paths]
    documents = [item for item in read if isinstance(item, Document)]
    unread = [item for item in read if isinstance(item, Finding) and not item.path.endswith((".py", ".pyi"))]
    return migrate_documents(documents, asked, settings, device=device, unread=unread)
