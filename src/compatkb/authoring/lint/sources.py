"""Every record says where it is from, and a file defines the sources that it cites, no others."""

from collections.abc import Iterator

from compatkb.authoring.lint.subject import LintSubject, walk
from compatkb.core.findings import Finding, Severity
from compatkb.schema import Channel

NAME, LEVEL = "sources", Severity.ERROR
SUMMARY = "a cited source is not defined, a defined one is not cited, or a record has none"


def check(subject: LintSubject) -> Iterator[Finding]:
    """Yield undefined and unused sources, and records without one; the models see to most of the latter."""
    for document in subject.documents:
        defined = getattr(document.record, "source", None)
        if defined is None:
            continue
        cited: set[str] = set()
        for where, record in walk(document.record):
            names = getattr(record, "sources", None)
            if names is None:
                continue
            cited.update(names)
            for number, name in enumerate(names):
                if name not in defined:
                    yield subject.finding(
                        NAME, LEVEL, document, (*where, "sources", number), f"source {name} is not defined in this file"
                    )
            if not names and isinstance(record, Channel) and not record.note:
                message = "a channel without sources needs a `note` that says why"
                yield subject.finding(NAME, LEVEL, document, where, message)
        for name in defined:
            if name not in cited:
                yield subject.finding(NAME, LEVEL, document, ("source", name), f"source {name} is cited by no record")
