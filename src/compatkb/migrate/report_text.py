"""What `migrate` found, as a string: text with lines before and after, and JSON."""

import json
from datetime import date

from compatkb.check import CheckReport
from compatkb.check.report_text import checking_payload, excerpt
from compatkb.core.findings import Finding
from compatkb.output.findings import count_text

_WIDE = 140
_MOST_LINES = 6


def migrating_text(report: CheckReport) -> str:
    """Return findings as people read them: what mends one for certain as lines before and after, the others with a caret."""
    lines = []
    for finding in report.findings:
        place = ":".join([finding.path, *(str(n) for n in (finding.line, finding.column) if n)])
        lines.append(f"{place}: {finding.level}: {finding.message} [{finding.rule}]")
        if changed := change_of(finding, report):
            before, after = changed
            lines += [*_marked("-", before), *_marked("+", after)]
        else:
            lines += excerpt(finding, report.line(finding))
        if finding.fix:
            lines.append(f"    fix: {finding.fix}" + (" (--fix does it)" if finding.edits else ""))
        lines += [f"    source: {source}" for source in finding.sources]
    count = sum(bool(finding.edits) for finding in report.findings)
    more = f"; --fix does {'all' if count == len(report.findings) else count} of them" if count else ""
    return "\n".join([*lines, count_text(report.findings) + more]) + "\n"


def _marked(sign: str, text: str) -> list[str]:
    lines = text.splitlines()
    shown = [f"    {sign} {line[:_WIDE]}".rstrip() for line in lines[:_MOST_LINES]]
    return [*shown, f"    {sign} ... {len(lines) - _MOST_LINES} more lines"] if len(lines) > _MOST_LINES else shown


def change_of(finding: Finding, report: CheckReport) -> tuple[str, str] | None:
    """Return the lines of a finding before and after its edits there, None where nothing mends it for certain."""
    document = report.documents.get(finding.path)
    if not finding.edits or document is None:
        return None
    line = finding.line
    near = [e for e in finding.edits if document.place(e.start).line <= line <= document.place(max(e.start, e.end - 1)).line]
    near = near or [finding.edits[-1]]
    first = document.place(min(edit.start for edit in near)).line
    last = document.place(max(max(edit.start, edit.end - 1) for edit in near)).line
    start, end = document.offset(first), document.offset(last + 1)
    after = document.text[start:end]
    for edit in sorted(near, key=lambda edit: (edit.start, edit.end), reverse=True):
        after = after[: edit.start - start] + edit.text + after[edit.end - start :]
    return document.text[start:end].rstrip("\r\n"), after.rstrip("\r\n")


def migrating_json(report: CheckReport, day: date, data_date: str) -> str:
    """Return what was found as JSON text: the object of `check`, each finding with the lines before and after."""
    payload = checking_payload(report, day, data_date)
    found = payload["findings"]
    assert isinstance(found, list)
    for item, finding in zip(found, report.findings, strict=True):
        before, after = change_of(finding, report) or (report.line(finding) or None, None)
        item["before"], item["after"] = before, after
    return json.dumps(payload, indent=2, ensure_ascii=False) + "\n"
