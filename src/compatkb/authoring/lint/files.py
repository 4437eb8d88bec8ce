"""Data files are in canonical form and named after what they hold; an exception ends, and matches a finding."""

from collections.abc import Iterator
from datetime import timedelta
from fnmatch import fnmatchcase
from pathlib import PurePosixPath

from packaging.utils import canonicalize_name

from compatkb.authoring.canonical import canonical
from compatkb.authoring.lint.subject import LintProblem, LintSubject
from compatkb.core.findings import Finding
from compatkb.core.text_position import Place, Where
from compatkb.schema import ExceptionFile, Exemption, FeatureFile, ImageFile, IndexFile, ProductFile


def form(subject: LintSubject) -> Iterator[LintProblem]:
    """Yield a problem per file that is not as `fmt` would write it, at the first line that differs."""
    for document in subject.documents:
        wanted = canonical(document)
        if document.text == wanted:
            continue
        if comments := subject.places(document).comments:
            message = "a comment, which the form has no place for: make it a `note`, or delete it"
            yield LintProblem(document, (), message, place=comments[0])
            continue
        pairs = enumerate(zip(document.text.split("\n"), wanted.split("\n"), strict=False), 1)
        line = next((n for n, (is_, should) in pairs if is_ != should), document.text.count("\n") + 1)
        fix = f"compatkb fmt {document.path}"
        yield LintProblem(document, (), "not in canonical form from here on", fix, place=Place(line, 1))


def file_name(subject: LintSubject) -> Iterator[LintProblem]:
    """Yield a problem per file whose name is not the id of its product, repository or distribution."""
    for document in subject.documents:
        record = document.record
        key: Where
        if isinstance(record, ProductFile):
            name, key = record.product.id, ("product", "id")
        elif isinstance(record, FeatureFile):
            name, key = record.feature.id, ("feature", "id")
        elif isinstance(record, ImageFile):
            name, key = record.repository.id, ("repository", "id")
        elif isinstance(record, IndexFile):
            name, key = str(canonicalize_name(record.distribution)), ("distribution",)
        else:
            continue
        path = PurePosixPath(document.path)
        if path.stem != name:
            fix = f"git mv {path} {path.with_stem(name)}"
            yield LintProblem(document, key, f"holds {name}, so its name should be {name}.toml", fix)


EXCEPTIONS = "exceptions"
LONGEST = timedelta(days=366)


def apply_exceptions(
    subject: LintSubject, findings: list[Finding], ran: tuple[str, ...], known: tuple[str, ...]
) -> tuple[list[Finding], list[LintProblem]]:
    """Return the findings that no valid exception accepts, and what is wrong with exceptions.

    `ran` are the rules that were run: an exception from another one is not called idle. `known` are all rules.
    """
    left, problems = findings, []
    for document, file in subject.of(ExceptionFile):
        for number, exemption in enumerate(file.exception):
            message = _wrong(exemption, subject, known)
            if not message:
                hit = [finding for finding in left if _fits(exemption, finding)]
                left = [finding for finding in left if finding not in hit]
                if not hit and exemption.rule in ran and subject.knowledge:  # else rules had less to look at
                    message = f"{exemption.rule} finds nothing at {exemption.subject} any more: delete the exception"
            if message:
                problems.append(LintProblem(document, ("exception", number), message))
    return left, problems


def _fits(exemption: Exemption, finding: Finding) -> bool:
    return finding.rule == exemption.rule and fnmatchcase(finding.subject, exemption.subject.replace("[", "[[]"))


def _wrong(exemption: Exemption, subject: LintSubject, known: tuple[str, ...]) -> str | None:
    if exemption.rule not in known or exemption.rule == EXCEPTIONS:
        return f"{exemption.rule} is no rule that can have exceptions"
    if exemption.until < subject.today:
        return f"ended on {exemption.until}: mend what {exemption.rule} finds, or decide anew"
    if exemption.until - subject.today > LONGEST:
        return f"until {exemption.until} is more than a year: choose a nearer day"
    return None
