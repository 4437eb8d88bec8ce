"""What can change is read again from time to time."""

from collections.abc import Iterator
from datetime import date

from compatkb.authoring.lint.subject import LintSubject
from compatkb.core.findings import Finding, Severity
from compatkb.core.toml_positions import Where
from compatkb.schema import IndexFile, ProductFile, SourceEntry

NAME, LEVEL = "review", Severity.WARNING
SUMMARY = "a source that can change was last read long ago"
DAYS = 180
"""After this many days a thread, a page, an index and an open list count as unread; a file at a tag or commit stays."""


def check(subject: LintSubject) -> Iterator[Finding]:
    """Yield one finding per file with something overdue, at the one that was read longest ago."""
    for document in subject.documents:
        overdue: list[tuple[date, Where, str]] = []
        record = document.record
        defined: dict[str, SourceEntry] = getattr(record, "source", {})
        overdue += [(s.seen, ("source", n), f"source {n}") for n, s in defined.items() if s.path is None]
        if isinstance(record, IndexFile):
            overdue.append((record.seen, ("seen",), "the index"))
        if isinstance(record, ProductFile):
            scopes = enumerate(record.product.complete)
            overdue += [(c.until, ("product", "complete", n), f"the list of {c.of}") for n, c in scopes if not c.ended]
        overdue = sorted((item for item in overdue if (subject.today - item[0]).days > DAYS), key=lambda item: item[0])
        if overdue:
            day, where, what = overdue[0]
            more = f", and {len(overdue) - 1} more of this file" if len(overdue) > 1 else ""
            message = f"{what} was last read on {day}, more than {DAYS} days ago{more}"
            fix = "compatkb refresh" if isinstance(record, IndexFile) else None
            yield subject.finding(NAME, LEVEL, document, where, message, fix=fix)
