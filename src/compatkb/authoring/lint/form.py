"""Data files have one form, so that reviews show facts and nothing else."""

from collections.abc import Iterator

from compatkb.authoring.canonical import canonical
from compatkb.authoring.lint.subject import LintSubject
from compatkb.core.findings import Finding, Severity

NAME, LEVEL = "form", Severity.ERROR
SUMMARY = "a file differs from its canonical form, or holds a comment that the form would lose"


def check(subject: LintSubject) -> Iterator[Finding]:
    """Yield a finding per file that is not as `fmt` would write it, at the first line that differs."""
    for document in subject.documents:
        wanted = canonical(document.record)
        if document.text == wanted:
            continue
        if comments := subject.places(document).comments:
            message = "a comment, which the form has no place for: make it a `note`, or delete it"
            finding = subject.finding(NAME, LEVEL, document, (), message)
            yield _at(finding, comments[0].line, comments[0].column)
            continue
        pairs = enumerate(zip(document.text.split("\n"), wanted.split("\n"), strict=False), 1)
        line = next((n for n, (is_, should) in pairs if is_ != should), document.text.count("\n") + 1)
        finding = subject.finding(
            NAME, LEVEL, document, (), "not in canonical form from here on", fix=f"compatkb fmt {document.path}"
        )
        yield _at(finding, line, 1)


def _at(finding: Finding, line: int, column: int) -> Finding:
    return finding._replace(line=line, column=column)
