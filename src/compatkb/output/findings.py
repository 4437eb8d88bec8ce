"""Findings in, a string out: text, JSON, and annotations for code review."""

from collections import Counter

from compatkb.core.findings import Finding, Severity
from compatkb.store.records import picked

_ANNOTATED = {Severity.INFO: "notice"}
"""Levels that GitHub calls otherwise."""


def findings_text(findings: tuple[Finding, ...]) -> str:
    """Return findings as people and editors read them, with a count at the end."""
    lines = []
    for finding in findings:
        lines.append(f"{_place(finding)}: {finding.level}: {finding.message} [{finding.rule}]")
        if finding.fix:
            lines.append(f"    fix: {finding.fix}")
        lines += [f"    source: {source}" for source in finding.sources]
    return "\n".join([*lines, count_text(findings)]) + "\n"


def findings_payload(findings: tuple[Finding, ...]) -> dict[str, object]:
    """Return findings as JSON has them; see docs/lint.md."""
    return {"findings": [picked(finding, "rule level path line message column fix sources subject") for finding in findings]}


def findings_annotations(findings: tuple[Finding, ...], folder: str) -> str:
    """Return findings as workflow commands of GitHub, for files under `folder`, or for paths as they are where it is empty."""
    lines = []
    for finding in findings:
        path = f"{folder}/{finding.path}" if folder else finding.path
        place = f"file={_property(path)},line={max(finding.line, 1)}"
        column = f",col={finding.column}" if finding.column else ""
        title = f",title={_property(finding.rule)}"
        fix = f"\nfix: {finding.fix}" if finding.fix else ""
        lines.append(
            f"::{_ANNOTATED.get(finding.level, finding.level)} {place}{column}{title}::{_data(finding.message + fix)}"
        )
    return "".join(f"{line}\n" for line in lines)


def _place(finding: Finding) -> str:
    parts = [finding.path, *(str(n) for n in (finding.line, finding.column) if n)]
    return ":".join(parts)


def count_text(findings: tuple[Finding, ...]) -> str:
    """Return how many findings of each level there are, the gravest first."""
    counts = Counter(finding.level for finding in findings)
    levels = [level for level in reversed(Severity) if counts[level]]
    named = [f"{counts[n]} {n}{'' if counts[n] == 1 or n is Severity.INFO else 's'}" for n in levels]
    return ", ".join(named) or "no findings"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
