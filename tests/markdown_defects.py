"""Markdown documents for the reviewer's tests: one without defects, rendered from the data, and ways to spoil it."""

from typing import Any

from compatkb.check import Report, check
from compatkb.check.document import Asked, Document
from compatkb.snapshot.read import Snapshot

HEAD = """# Images

Images of `intel/intel-extension-for-pytorch`, with [PyTorch] and what goes with it.

"""


def review(facts: Snapshot, text: str, day: Any, within: int = 0) -> Report:
    """Return what the reviewer finds in a Markdown text."""
    return check([Document("README.md", text)], Asked(facts, day, within))


def rules(report: Report) -> list[str]:
    """Return the rules of what was found, in order."""
    return [finding.rule for finding in report.findings]
