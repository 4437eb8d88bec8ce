"""What `check` found, as a string: text with the source line, JSON, and the list of rules."""

from collections.abc import Iterable
from datetime import date

from compatkb.check import CheckReport, rules_by_id
from compatkb.check.rules import CheckRule
from compatkb.core.findings import Finding
from compatkb.output.findings import count_text

SCHEMA = 1
_WIDE = 140


def checking_text(report: CheckReport) -> str:
    """Return findings as people and editors read them, each with its line and a caret, and a count at the end."""
    lines = []
    for finding in report.findings:
        place = ":".join([finding.path, *(str(n) for n in (finding.line, finding.column) if n)])
        lines.append(f"{place}: {finding.level}: {finding.message} [{finding.rule}]")
        lines += excerpt(finding, report.line(finding))
        if finding.fix:
            lines.append(f"    fix: {finding.fix}" + (" (--fix does it)" if finding.edits else ""))
        lines += [f"    source: {source}" for source in finding.sources]
    return "\n".join([*lines, count_text(report.findings)]) + "\n"


def excerpt(finding: Finding, line: str) -> list[str]:
    """Return the line of a finding with carets below what is meant; nothing where no place in it is known."""
    if not line.strip() or not finding.column:
        return []
    start = finding.column - 1
    end = max(start + 1, min((finding.end_column or len(line) + 1) - 1, len(line)))
    cut = max(0, min(start - 20, len(line) - _WIDE)) if len(line) > _WIDE else 0
    shown = "".join(" " if mark.isspace() or not mark.isprintable() else mark for mark in line[cut : cut + _WIDE])
    marks = "^" * max(1, min(end, cut + _WIDE) - start)
    number = f"{finding.line:>6} | "
    return [f"{number}{shown.rstrip()}", f"{' ' * (len(number) - 2)}| {' ' * (start - cut)}{marks}"]


def checking_payload(report: CheckReport, day: date, data_date: str) -> dict[str, object]:
    """Return what was found as JSON has it; see docs/check.md."""
    return {
        "schema": SCHEMA,
        "data_date": data_date,
        "as_of": day.isoformat(),
        "files": len(report.documents),
        "findings": [finding_payload(finding) for finding in report.findings],
    }


def finding_payload(finding: Finding) -> dict[str, object]:
    """Return one finding as JSON has it."""
    rule = rules_by_id().get(finding.rule)
    return {
        "rule": finding.rule,
        "level": str(finding.level),
        "path": finding.path,
        "line": finding.line,
        "column": finding.column,
        "end_column": finding.end_column,
        "message": finding.message,
        "fix": finding.fix,
        "fixable": bool(finding.edits),
        "sources": list(finding.sources),
        "help": rule.anchor if rule else None,
    }


def checking_json(report: CheckReport, day: date, data_date: str) -> str:
    """Return what was found as JSON text."""
    import json

    return json.dumps(checking_payload(report, day, data_date), indent=2, ensure_ascii=False) + "\n"


def rules_text(rules: Iterable[CheckRule]) -> str:
    """Return the rules with their levels, one a line."""
    return "".join(f"{rule.id:22} {rule.level:8} {rule.summary}\n" for rule in rules)
