"""Applies the fixes of findings: replacements in a text, also shown as a diff."""

import re
from bisect import bisect_left
from collections.abc import Iterable

from compatkb.check.document import TextDocument
from compatkb.core.findings import Finding


def mended(document: TextDocument, findings: Iterable[Finding]) -> tuple[str, tuple[Finding, ...]]:
    """Return a text with the edits of findings in place, and the findings that they mend.

    A finding is mended whole or not at all; of findings whose edits overlap, the first in the order of reports is mended.
    """
    taken: list[tuple[int, int, str]] = []  # in order; no two overlap
    done = []
    for finding in sorted(findings, key=lambda finding: finding.order):
        edits = [(edit.start, edit.end, edit.text) for edit in finding.edits]
        if not edits or any(_is_taken(edit, taken) for edit in edits):
            continue
        for edit in edits:
            at = bisect_left(taken, edit)
            if taken[at : at + 1] != [edit]:
                taken.insert(at, edit)
        done.append(finding)
    pieces = []
    at = 0
    for start, end, text in taken:
        pieces += [document.text[at:start], text]
        at = max(at, end)
    return "".join([*pieces, document.text[at:]]), tuple(done)


def _is_taken(edit: tuple[int, int, str], taken: list[tuple[int, int, str]]) -> bool:
    """Return whether an edit overlaps with others that are taken; the same one does not."""
    start, end, _ = edit
    at = bisect_left(taken, edit)
    if taken[at : at + 1] == [edit]:
        return False
    before = at - 1
    while before >= 0 and taken[before][1] >= start:
        if _overlap(edit, taken[before]):
            return True
        before -= 1
    while at < len(taken) and taken[at][0] <= end:
        if _overlap(edit, taken[at]):
            return True
        at += 1
    return False


def diff(document: TextDocument, after: str) -> str:
    """Return what changes as a unified diff, empty where nothing does."""
    from difflib import unified_diff

    before, new = (re.findall(r"[^\n]*\n|[^\n]+", text) for text in (document.text, after))
    lines = unified_diff(before, new, document.path, f"{document.path} (fixed)")
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def _overlap(one: tuple[int, int, str], other: tuple[int, int, str]) -> bool:
    if one[0] == one[1] or other[0] == other[1]:  # an insertion and what it stands in or at
        return one[0] <= other[1] and other[0] <= one[1]
    return one[0] < other[1] and other[0] < one[1]
