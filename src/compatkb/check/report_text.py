"""Writes the findings of `check` and `migrate`: the first screen, JSON, SARIF, GitLab, GitHub, and the list of rules."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from urllib.parse import quote as quote_url

from compatkb.check import CheckReport, rules_by_id
from compatkb.check.document import CheckContext
from compatkb.check.rules import CheckRule, explanation
from compatkb.check.suppressions import baseline_entry
from compatkb.core import foreign
from compatkb.core.findings import Edit, Finding, Severity
from compatkb.core.record import NamedTuple
from compatkb.errors import UnavailableError
from compatkb.output.commands import POSIX, quote
from compatkb.output.documents import json_text
from compatkb.output.findings import count_text, findings_annotations
from compatkb.output.messages import footer
from compatkb.output.registry import Wanted
from compatkb.output.screen import BLANK, WIDTH, Line, columns, command, wrapped
from compatkb.version import __version__

SCHEMA = 1
_BESIDE = 8
"""Columns before the text of a quoted line: its number and a bar."""
QUOTED, CARETS = "quoted", "carets"
_SIGN = 6
"""Columns before the text of a changed line."""
_MOST_LINES = 6
_STYLES = {Severity.ERROR: "does-not-work", Severity.WARNING: "likely", Severity.INFO: "unknown"}


class Shown(NamedTuple):
    """What a form of output is made from; `words` are those of the command, as they are typed again with --fix."""

    report: CheckReport
    asked: CheckContext
    words: tuple[str, ...] = ("check",)
    passed: int = 0  # files that nothing reads

    @property
    def dates(self) -> dict[str, str]:
        """The day of the data, and the one that was asked about, as JSON has them."""
        return {"data_date": self.asked.facts.meta["data_date"], "as_of": self.asked.day.isoformat()}


def report_lines(shown: Shown, wanted: Wanted | None = None) -> list[Line]:
    """Return every finding with what mends it, and how many there are; `why` adds the line with a caret, and sources."""
    why, _, shell, *_ = wanted or Wanted()
    findings, report = shown.report.findings, shown.report
    dates = shown.asked.facts.meta["data_date"], shown.asked.day.toordinal()
    foot = wrapped(footer(*dates, _more(shown, why=why)), "  ", style="dim")
    if not report.documents and not findings:
        nothing = f"Nothing to check: no file of a kind that is read{_passed(shown)}."
        return [*wrapped(nothing, "", "  ", "unknown"), BLANK, *foot]
    if not findings:
        return [*wrapped(f"No findings in {_files(report)}{_passed(shown)}.", "", "  ", "works"), BLANK, *foot]
    lines: list[Line] = []
    for number, finding in enumerate(findings):
        lines += _finding(finding, report, why=why)
        following = findings[number + 1].path if number + 1 < len(findings) else ""
        if following != finding.path:
            lines += _sets(one for one in findings if one.path == finding.path)
    mendable = sum(bool(finding.edits) for finding in findings)
    total = f"Found {count_text(findings)} in {_files(report)}{_passed(shown)}."
    gravest = max((finding.level for finding in findings), key=list(Severity).index)
    lines += [BLANK, *wrapped(total, "", "  ", _STYLES[gravest])]
    if mendable:
        fixes = quote(("compatkb", *shown.words, "--fix"), shell or POSIX)
        lines += [Line(f"{mendable} fixable:"), command(fixes)]
    return [*lines, BLANK, *foot]


def _more(shown: Shown, *, why: bool) -> list[str]:
    return [] if why or not any(finding.sources for finding in shown.report.findings) else ["--why: lines and sources"]


def _files(report: CheckReport) -> str:
    in_part = f", {report.in_part} of them in part (--verbose)" if report.in_part else ""
    return f"{len(report.documents)} {'file' if len(report.documents) == 1 else 'files'}{in_part}"


def _passed(shown: Shown) -> str:
    count = shown.passed
    return f" ({count} {'file' if count == 1 else 'files'} not read: --verbose)" if count else ""


def _finding(finding: Finding, report: CheckReport, *, why: bool) -> list[Line]:
    place = ":".join([finding.path, *(str(n) for n in (finding.line, finding.column) if n)])
    lines = wrapped(f"{place}: {finding.level}: {finding.message} [{finding.rule}]", "", "    ", finding.level)
    before, after = (_marked(sign, text) for sign, text in zip("-+", change_of(finding, report) or ("", ""), strict=True))
    seen = [line.text[_SIGN:] for line in before] != [line.text[_SIGN:] for line in after]
    if why:
        lines += before + after if seen else excerpt(finding, report.line(finding))
    if finding.fix and not finding.environment:
        lines += wrapped(f"fix: {finding.fix}", "    ", "      ")
    return lines + [Line(f"    source: {source}", "dim") for source in finding.sources if why]


def _sets(findings: Iterable[Finding]) -> Iterator[Line]:
    """Yield what mends the findings of one environment together, once."""
    sets: dict[tuple[str, str], list[Finding]] = {}
    for finding in findings:
        if finding.environment and finding.fix:
            sets.setdefault((finding.environment, finding.fix), []).append(finding)
    for (environment, fix), several in sets.items():
        places = ",".join(dict.fromkeys(str(one.line) for one in several))
        yield Line(f"{several[0].path}:{places}: fixed together{environment and f', {environment}'}:")
        yield from (Line(f"    {line}") for line in fix.split("\n"))


def excerpt(finding: Finding, line: str) -> list[Line]:
    """Return the line of a finding with carets below what is meant; nothing where no place in it is known."""
    if not line.strip() or not finding.column:
        return []
    wide = WIDTH - _BESIDE - 1
    start = finding.column - 1
    end = max(start + 1, min((finding.end_column or len(line) + 1) - 1, len(line)))
    cut = max(0, min(start - 20, len(line) - wide)) if len(line) > wide else 0
    shown = "".join(" " if mark.isspace() or not mark.isprintable() else mark for mark in line[cut : cut + wide])
    number = f"{finding.line:>6} | "
    first, last = len(number) + start - cut, len(number) + min(end, cut + wide) - cut
    marks = "^" * max(1, last - first)
    return [
        Line(f"{number}{shown.rstrip()}", QUOTED, (first, last)),
        Line(f"{' ' * (len(number) - 2)}| {' ' * (start - cut)}{marks}", CARETS),
    ]


def _marked(sign: str, text: str) -> list[Line]:
    lines = text.splitlines()
    cut = [foreign.shown(line)[: WIDTH - _BESIDE] for line in lines[:_MOST_LINES]]
    shown = [Line(f"    {sign} {line}".rstrip(), sign) for line in cut]
    more = len(lines) - _MOST_LINES
    return [*shown, Line(f"    {sign} ... {more} more lines", sign)] if more > 0 else shown


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
    start = document.starts[first - 1]
    end = document.starts[last] if last < len(document.starts) else len(document.text)
    after = document.text[start:end]
    for edit in sorted(near, key=lambda edit: (edit.start, edit.end), reverse=True):
        after = after[: edit.start - start] + edit.text + after[edit.end - start :]
    return document.text[start:end].rstrip("\r\n"), after.rstrip("\r\n")


def report_payload(shown: Shown) -> dict[str, object]:
    """Return what was found as JSON has it; see docs/check.md."""
    report = shown.report
    findings = [finding_payload(finding, report) for finding in report.findings]
    return {"schema": SCHEMA, **shown.dates, "files": len(report.documents), "findings": findings}


def finding_payload(finding: Finding, report: CheckReport) -> dict[str, object]:
    """Return one finding as JSON has it, with its lines before and after where --fix mends it."""
    rule = rules_by_id().get(finding.rule)
    before, after = change_of(finding, report) or (report.line(finding) or None, None)
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
        "before": before,
        "after": after,
        "sources": list(finding.sources),
        "help": f"compatkb check --explain {rule.id}" if rule else None,
    }


def report_json(shown: Shown, _: Wanted | None = None) -> str:
    """Return what was found as JSON text."""
    return json_text(report_payload(shown))


def rules_lines(rules: Iterable[CheckRule]) -> list[Line]:
    """Return the rules with their levels, a row each."""
    return columns([(rule.id, rule.level, rule.summary) for rule in rules], ("rule", "level", "reports"), 0)


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
    return json_text({"$schema": _SCHEMA, "version": _SARIF, "runs": [run]})


def _rule(name: str) -> dict[str, object]:
    rule = rules_by_id()[name]
    try:
        help_ = explanation(rule)  # the whole of it: a path of another repository would lead nowhere
    except UnavailableError:
        help_ = f"{rule.summary}; compatkb check --explain {rule.id}"
    return {
        "id": rule.id,
        "shortDescription": {"text": rule.summary},
        "help": {"text": help_, "markdown": help_},
        "defaultConfiguration": {"level": _SARIF_LEVELS[rule.level]},
    }


def _result(finding: Finding, fingerprint: str, numbers: dict[str, int], report: CheckReport) -> dict[str, object]:
    message = finding.message + (f"\nfix: {finding.fix}" if finding.fix else "")
    message += "".join(f"\nsource: {source}" for source in finding.sources)
    artifact = {"uri": quote_url(finding.path), "uriBaseId": "%SRCROOT%"}
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
    import hashlib

    seen: Counter[object] = Counter()
    for finding in report.findings:
        known = baseline_entry(finding, report.line(finding))
        seen[known] += 1
        yield finding, hashlib.sha256(json.dumps([*known[:3], seen[known]]).encode()).hexdigest()


def gitlab_text(shown: Shown, _: Wanted | None = None) -> str:
    """Return the report of code quality that GitLab shows in a merge request."""
    return json_text(
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
