"""Writes findings for other programs: SARIF, GitLab code quality, GitHub annotations."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator
from urllib.parse import quote

from compatkb.check import CheckReport, rules_by_id
from compatkb.check.baseline import baseline_entry
from compatkb.check.report_text import Shown
from compatkb.core.findings import Edit, Finding, Severity
from compatkb.output.findings import findings_annotations
from compatkb.output.registry import Wanted
from compatkb.version import __version__

_SARIF = "2.1.0"
_SCHEMA = f"https://json.schemastore.org/sarif-{_SARIF}.json"
_SARIF_LEVELS = {Severity.INFO: "note", Severity.WARNING: "warning", Severity.ERROR: "error"}
_GITLAB_LEVELS = {Severity.INFO: "info", Severity.WARNING: "minor", Severity.ERROR: "major"}


def sarif_text(shown: Shown, _: Wanted | None = None) -> str:
    """Return a log of one run in SARIF; columns count Unicode characters, paths are relative to the working directory."""
    report = shown.report
    used = [rule for rule in dict.fromkeys(finding.rule for finding in report.findings) if rule in rules_by_id()]
    numbers = {rule: number for number, rule in enumerate(used)}
    results = [_result(finding, print_, numbers, report) for finding, print_ in _fingerprinted(report)]
    driver = {"name": "compatkb", "semanticVersion": __version__, "rules": [_rule(rule) for rule in used]}
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {"%SRCROOT%": {"description": {"text": "The working directory of the run."}}},
        "invocations": [{"executionSuccessful": True}],
        "properties": {"asOf": shown.dates["as_of"], "dataDate": shown.dates["data_date"]},
        "results": results,
    }
    return _json({"$schema": _SCHEMA, "version": _SARIF, "runs": [run]})


def _rule(name: str) -> dict[str, object]:
    rule = rules_by_id()[name]
    return {
        "id": rule.id,
        "shortDescription": {"text": rule.summary},
        "help": {"text": f"{rule.summary}; see {rule.anchor}", "markdown": f"{rule.summary}; see `{rule.anchor}`"},
        "defaultConfiguration": {"level": _SARIF_LEVELS[rule.level]},
    }


def _result(finding: Finding, fingerprint: str, numbers: dict[str, int], report: CheckReport) -> dict[str, object]:
    message = finding.message + (f"\nfix: {finding.fix}" if finding.fix else "")
    message += "".join(f"\nsource: {source}" for source in finding.sources)
    artifact = {"uri": quote(finding.path), "uriBaseId": "%SRCROOT%"}
    region: dict[str, object] = {"startLine": max(finding.line, 1)}
    if finding.column:
        region["startColumn"] = finding.column
        if finding.end_column and finding.end_column > finding.column:
            region["endColumn"] = finding.end_column
    result: dict[str, object] = {
        "ruleId": finding.rule,
        "level": _SARIF_LEVELS[finding.level],
        "message": {"text": message},
        "locations": [{"physicalLocation": {"artifactLocation": artifact, "region": region}}],
        "partialFingerprints": {"compatkb/v1": fingerprint},
    }
    if finding.rule in numbers:
        result["ruleIndex"] = numbers[finding.rule]
    if finding.edits and finding.path in report.documents:
        replacements = [_replacement(edit, finding, report) for edit in finding.edits]
        change = {"artifactLocation": artifact, "replacements": replacements}
        result["fixes"] = [{"description": {"text": finding.fix or "mend it"}, "artifactChanges": [change]}]
    return result


def _replacement(edit: Edit, finding: Finding, report: CheckReport) -> dict[str, object]:
    document = report.documents[finding.path]
    start, end = document.place(edit.start), document.place(edit.end)
    region = {"startLine": start.line, "startColumn": start.column, "endLine": end.line, "endColumn": end.column}
    return {"deletedRegion": region, "insertedContent": {"text": edit.text}}


def _fingerprinted(report: CheckReport) -> Iterator[tuple[Finding, str]]:
    """Yield findings with a fingerprint each that edits elsewhere in the file leave as it is; no two have the same."""
    seen: Counter[object] = Counter()
    for finding in report.findings:
        known = baseline_entry(finding, report.line(finding))
        seen[known] += 1
        yield finding, hashlib.sha256(json.dumps([*known, seen[known]]).encode()).hexdigest()


def gitlab_text(shown: Shown, _: Wanted | None = None) -> str:
    """Return the report of code quality that GitLab shows in a merge request."""
    return _json(
        [
            {
                "description": finding.message + (f" (fix: {finding.fix})" if finding.fix else ""),
                "check_name": finding.rule,
                "fingerprint": fingerprint,
                "severity": _GITLAB_LEVELS[finding.level],
                "location": {"path": finding.path, "lines": {"begin": max(finding.line, 1)}},
            }
            for finding, fingerprint in _fingerprinted(shown.report)
        ]
    )


def github_text(shown: Shown, _: Wanted | None = None) -> str:
    """Return findings as workflow commands, which GitHub shows beside the lines of a pull request."""
    return findings_annotations(shown.report.findings, "")


def _json(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"
