"""Markdown documents for the reviewer's tests: one without defects, rendered from the data, and ways to spoil it."""

from datetime import date

from conftest import clock

from compatkb.check import Report, check
from compatkb.check.document import Asked, Document
from compatkb.store.reader import Snapshot

HEAD = """# Images

Images of `intel/intel-extension-for-pytorch`, with [PyTorch] and what goes with it.

"""


def review(facts: Snapshot, text: str, day: date | None = None, within: int = 0) -> Report:
    """Return what the reviewer finds in a Markdown text, as of a day if one is named."""
    return check([Document("README.md", text)], Asked(facts, clock(day), within))


def rules(report: Report) -> list[str]:
    """Return the rules of what was found, in order."""
    return [finding.rule for finding in report.findings]
