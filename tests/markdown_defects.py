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


UNPROVEN = (
    "command-name", "image-tag-gone", "image-tag-twice", "install-index", "install-unpinned", "link-undefined", "pin-missing",
    "row-twice", "table-shape", "text-together", "text-version", "version-unknown",
)  # fmt: skip
"""Rules that are off by themselves for having been wrong or of no use too often: the cases say what they find."""


def review(facts: Snapshot, text: str, day: date | None = None, within: int = 0) -> CheckReport:
    """Return what the reviewer finds in a Markdown text, as of a day if one is named."""
    optional = ("link-unused", "unread", *UNPROVEN)
    settings = Settings(levels=dict.fromkeys(optional, Severity.INFO))
    return check([TextDocument("README.md", text)], CheckContext(facts, clock(day), within), settings)


def rules(report: CheckReport) -> list[str]:
    """Return the rules of what was found, in order."""
    return [finding.rule for finding in report.findings]
