"""Findings in, a string out: text, JSON, and annotations for code review."""

from collections import Counter
from dataclasses import asdict

from compatkb.findings import Finding, Severity


def findings_text(findings: tuple[Finding, ...]) -> str:
    """Return findings as people and editors read them, with a count at the end."""
    lines = []
    for finding in findings:
        lines.append(f"{_place(finding)}: {finding.level}: {finding.message} [{finding.rule}]")
        if finding.fix:
            lines.append(f"    fix: {finding.fix}")
        lines += [f"    source: {source}" for source in finding.sources]
    return "\n".join([*lines, _count(findings)]) + "\n"


def findings_payload(findings: tuple[Finding, ...]) -> dict[str, object]:
    """Return findings as JSON has them; see docs/lint.md."""
    return {"findings": [{**asdict(finding), "sources": list(finding.sources)} for finding in findings]}


def findings_annotations(findings: tuple[Finding, ...], folder: str) -> str:
    """Return findings as workflow commands of GitHub, for files under `folder`."""
    lines = []
    for finding in findings:
        place = f"file={_property(f'{folder}/{finding.path}')},line={max(finding.line, 1)}"
        column = f",col={finding.column}" if finding.column else ""
        title = f",title={_property(finding.rule)}"
        fix = f"\nfix: {finding.fix}" if finding.fix else ""
        lines.append(f"::{finding.level} {place}{column}{title}::{_data(finding.message + fix)}")
    return "".join(f"{line}\n" for line in lines)


def _place(finding: Finding) -> str:
    parts = [finding.path, *(str(n) for n in (finding.line, finding.column) if n)]
    return ":".join(parts)


def _count(findings: tuple[Finding, ...]) -> str:
    counts = Counter(finding.level for finding in findings)
    named = [f"{counts[level]} {level}{'' if counts[level] == 1 else 's'}" for level in reversed(Severity) if counts[level]]
    return ", ".join(named) or "no findings"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
