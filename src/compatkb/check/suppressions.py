"""What is accepted: comments such as `# compatkb: ignore[rule] reason`, also as a Markdown comment, and the baseline.

A baseline has the findings that were there when a project began to check, which no longer count.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from compatkb.check.document import TextDocument
from compatkb.check.rules import CheckRule
from compatkb.core.findings import Finding, Severity
from compatkb.core.record import NamedTuple
from compatkb.core.text_position import SourceText
from compatkb.errors import UsageError

IGNORE = CheckRule(
    "ignore", Severity.WARNING, "a comment that accepts findings names no rule, gives no reason, or accepts nothing"
)
RULES = (IGNORE,)

# bounded, since a line may hold thousands of beginnings of comments
_BODY = (
    r"compatkb:\s*(?P<word>ignore(?:-file)?)\b[ \t]*(?:\[(?P<rules>[^\]\n]{0,1000})\])?"
    r"[ \t]*(?P<reason>[^\n]{0,1000}?)[ \t]{0,9}"
)
_HASH = rf"(?:(?<=\s)|^)#[ \t]*{_BODY}$"
_ANGLE = rf"<!--[ \t]*{_BODY}-->"
_FENCE = r"[ \t]*(?:>[ \t]*)*(`{3,}|~{3,})"
_MARKDOWN = (".md", ".markdown", ".mdx")


class Suppression(NamedTuple):
    """A comment that accepts findings of `rules` on the lines from `first` to `last`; one in code may be an example."""

    rules: tuple[str, ...]
    reason: str
    start: int
    end: int
    first: int
    last: int
    shown: bool = False


def apply_suppressions(
    document: TextDocument, findings: Iterable[Finding], is_rule: Callable[[str], bool], others: frozenset[str] = frozenset()
) -> tuple[list[Finding], int]:
    """Return the findings of a document that no comment accepts, with those about its comments; and how many are accepted.

    `others` are rules that were not asked: a comment that names one may accept what another command finds.
    """
    all_findings = list(findings)
    if "compatkb:" not in document.text:
        return all_findings, 0
    suppressions = list(suppressions_of(document))
    used: set[int] = set()
    left = []
    for finding in all_findings:
        accepting = [
            n for n, i in enumerate(suppressions) if finding.rule in i.rules and i.reason and i.first <= finding.line <= i.last
        ]
        used.update(accepting)
        if not accepting:
            left.append(finding)
    real = [(n, i) for n, i in enumerate(suppressions) if not i.shown]
    used |= {n for n, suppression in real if others & set(suppression.rules)}
    wrong = [finding for n, suppression in real for finding in _wrong(document, suppression, is_rule, used=n in used)]
    return [*left, *wrong], len(all_findings) - len(left)


def suppressions_of(document: TextDocument) -> Iterator[Suppression]:
    """Yield the comments that accept findings, in order."""
    markdown = document.path.lower().endswith(_MARKDOWN)
    blocks = fenced_blocks(document) if markdown else []
    code = {line for opened, closed in blocks for line in range(opened + 1, closed + 1)}
    for pattern in (_HASH, _ANGLE) if markdown else (_HASH,):
        for match in re.finditer(pattern, document.text, re.MULTILINE):
            line = document.place(match.start()).line
            before = document.text[document.starts[line - 1] : match.start()]
            in_code = line in code or before.count("`") % 2 == 1
            if markdown and in_code != (pattern is _HASH):
                continue
            after = document.line(line)[len(before) + len(match[0]) :]
            alone = not before.strip(" \t>") and not after.strip()
            whole = match["word"] == "ignore-file"
            first, last = (0, len(document.starts)) if whole else _reach(document, line, alone, pattern)
            rules = tuple(name.strip() for name in (match["rules"] or "").split(",") if name.strip())
            yield Suppression(rules, match["reason"].strip(), match.start(), match.end(), first, last, in_code)


def _reach(document: TextDocument, line: int, alone: bool, pattern: str) -> tuple[int, int]:
    """Return the lines that a comment speaks of: its own; alone on its line, also the next one, in Markdown the next block."""
    if not alone:
        return line, line
    last = line + 1
    if pattern is _ANGLE:
        while last <= len(document.starts) and not document.line(last).strip(" \t>"):
            last += 1
        while last < len(document.starts) and document.line(last + 1).strip(" \t>"):
            last += 1
    return line, last


def _wrong(
    document: TextDocument, suppression: Suppression, is_rule: Callable[[str], bool], *, used: bool
) -> Iterator[Finding]:
    unknown = [name for name in suppression.rules if not is_rule(name)]
    if not suppression.rules:
        problem = "names no rule: write ignore[RULE] REASON"
    elif unknown:
        problem = f"names {unknown[0]!r}, which is no rule; `compatkb check --rules` lists them"
    elif not suppression.reason:
        problem = "gives no reason, so it accepts nothing: write it after the bracket"
    elif not used:
        problem = "accepts nothing any more: remove it"
    else:
        return
    yield document.finding(IGNORE, suppression.start, suppression.end, f"this comment {problem}")


def fenced_blocks(source: SourceText) -> list[tuple[int, int]]:
    """Return the lines at which blocks of code open and close in Markdown; one that nothing closes ends behind the last."""
    blocks = []
    opened, fence = 0, ""
    for number in range(1, len(source.starts) + 1):
        mark = re.match(_FENCE, source.line(number))
        if mark and not fence:
            opened, fence = number, mark[1]
        elif mark and mark[1].startswith(fence):
            blocks.append((opened, number))
            fence = ""
    return [*blocks, (opened, len(source.starts) + 1)] if fence else blocks


_FORMAT = 1
_LONG = 160


class BaselineEntry(NamedTuple):
    """A finding as a baseline keeps it: by what stands there, not by its line, so that edits elsewhere do not matter."""

    rule: str
    path: str
    subject: str
    message: str = ""  # of one that a revision of the same files has: so it is known again where its line was rewritten


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
    rows = [{"rule": e.rule, "path": e.path, "subject": e.subject, "count": counts[e]} for e in sorted(counts)]
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


def compare_with_baseline(
    findings: Iterable[Finding], line: Callable[[Finding], str], baseline: Counter[BaselineEntry]
) -> tuple[list[Finding], int, int]:
    """Return the findings that a baseline does not have, how many it has, and how many of its own are there no more.

    An entry is one finding: the same in all, else what stands at the same line, else what says the same of the same file.
    """
    left, old = Counter(baseline), 0
    fresh = [(finding, baseline_entry(finding, line(finding))._replace(message=finding.message)) for finding in findings]
    for unseen in ({}, {"message": ""}, {"subject": ""}):
        entries: dict[BaselineEntry, list[BaselineEntry]] = {}
        for entry in left.elements():
            entries.setdefault(entry._replace(**unseen), []).append(entry)
        among, fresh = fresh, []
        for finding, known in among:
            if same := entries.get(known._replace(**unseen)):
                left[same.pop()] -= 1
                old += 1
            else:
                fresh.append((finding, known))
    return [finding for finding, _ in fresh], old, sum(left.values())
