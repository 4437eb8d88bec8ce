"""Markdown documents for the reviewer's tests: one without defects, rendered from the data, and ways to spoil it."""

from datetime import date

from conftest import clock

from compatkb.check import CheckReport, check
from compatkb.check.config import Settings
from compatkb.check.document import CheckContext, TextDocument
from compatkb.core.findings import Severity
from compatkb.store.reader import Snapshot

HEAD = """# Images

Images of `intel/intel-extension-for-pytorch`, with [PyTorch] and what goes with it.

"""


def review(facts: Snapshot, text: str, day: date | None = None, within: int = 0) -> CheckReport:
    """Return what the reviewer finds in a Markdown text, as of a day if one is named."""
    settings = Settings(levels={"unread": Severity.INFO})
    return check([TextDocument("README.md", text)], CheckContext(facts, clock(day), within), settings)


def rules(report: CheckReport) -> list[str]:
    """Return the rules of what was found, in order."""
    return [finding.rule for finding in report.findings]
