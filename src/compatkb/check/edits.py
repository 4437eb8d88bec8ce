"""What mends findings: replacements put into a text, and shown as a diff."""

import difflib
import re
from collections.abc import Iterable

from compatkb.check.document import Document
from compatkb.findings import Edit, Finding


def mended(document: Document, findings: Iterable[Finding]) -> tuple[str, tuple[Finding, ...]]:
    """Return a text with the edits of findings in place, and the findings that they mend.

    A finding is mended whole or not at all; of findings whose edits overlap, the first in the order of reports is mended.
    """
    taken: list[Edit] = []
    done = []
    for finding in sorted(findings, key=lambda finding: finding.order):
        if not finding.edits or any(_overlap(edit, other) for edit in finding.edits for other in taken if edit != other):
            continue
        taken += [edit for edit in finding.edits if edit not in taken]
        done.append(finding)
    text = document.text
    for edit in sorted(taken, key=lambda edit: (edit.start, edit.end), reverse=True):
        text = text[: edit.start] + edit.text + text[edit.end :]
    return text, tuple(done)


def diff(document: Document, after: str) -> str:
    """Return what changes as a unified diff, empty where nothing does."""
    before, new = (re.findall(r"[^\n]*\n|[^\n]+", text) for text in (document.text, after))
    lines = difflib.unified_diff(before, new, document.path, f"{document.path} (mended)")
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def _overlap(one: Edit, other: Edit) -> bool:
    if one.start == one.end or other.start == other.end:  # an insertion and what it stands in or at
        return one.start <= other.end and other.start <= one.end
    return one.start < other.end and other.start < one.end
