"""The baseline: findings recorded when a project began to check, which no longer count."""

from collections import Counter
from collections.abc import Callable, Iterable
from typing import NamedTuple

from compatkb.core.findings import Finding
from compatkb.errors import UsageError

_FORMAT = 1
_LONG = 160


class BaselineEntry(NamedTuple):
    """A finding as a baseline keeps it: by what stands there, not by its line, so that edits elsewhere do not matter."""

    rule: str
    path: str
    subject: str


def baseline_entry(finding: Finding, line: str) -> BaselineEntry:
    """Return how a baseline keeps a finding, given the text of its line."""
    text = finding.subject or line.strip()
    if len(text) > _LONG:
        from hashlib import sha256

        text = f"sha256:{sha256(text.encode()).hexdigest()}"
    return BaselineEntry(finding.rule, finding.path, text)


def baseline_text(findings: Iterable[BaselineEntry]) -> str:
    """Return findings as a baseline file keeps them, sorted."""
    import json

    counts = Counter(findings)
    rows = [{**known._asdict(), "count": counts[known]} for known in sorted(counts)]
    return json.dumps({"compatkb-baseline": _FORMAT, "findings": rows}, indent=2, ensure_ascii=False) + "\n"


def parse_baseline(text: str, path: str) -> Counter[BaselineEntry]:
    """Return what a baseline file keeps, with how often; raises UsageError where it is none."""
    import json

    try:
        value = json.loads(text)
        if value["compatkb-baseline"] != _FORMAT:
            raise UsageError(f"{path}: is a baseline of another format; write it anew with --write-baseline")
        return Counter(
            {BaselineEntry(str(r["rule"]), str(r["path"]), str(r["subject"])): int(r["count"]) for r in value["findings"]}
        )
    except (ValueError, KeyError, TypeError, RecursionError):
        raise UsageError(f"{path}: is no baseline of `compatkb check`") from None


def compare(
    findings: Iterable[Finding], line: Callable[[Finding], str], baseline: Counter[BaselineEntry]
) -> tuple[list[Finding], int, int]:
    """Return the findings that a baseline does not have, how many it has, and how many of its own are there no more."""
    left = Counter(baseline)
    fresh = []
    old = 0
    for finding in findings:
        known = baseline_entry(finding, line(finding))
        if left[known] > 0:
            left[known] -= 1
            old += 1
        else:
            fresh.append(finding)
    return fresh, old, sum(left.values())
