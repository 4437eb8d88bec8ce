"""An exception has a reason and an end, and there is something that it excepts."""

from collections.abc import Iterable, Iterator
from datetime import timedelta
from fnmatch import fnmatchcase

from compatkb.authoring.lint.subject import LintSubject
from compatkb.core.findings import Finding, Severity
from compatkb.schema import ExceptionFile, Exemption

NAME, LEVEL = "exceptions", Severity.ERROR
SUMMARY = "an exception has expired, lasts too long, names no rule, or excepts nothing any more"
LONGEST = timedelta(days=366)


def check(subject: LintSubject) -> Iterator[Finding]:
    """Yield nothing: what is wrong with exceptions shows when the other rules have run, in `settle`."""
    del subject
    return iter(())


def apply_exceptions(
    subject: LintSubject, findings: Iterable[Finding], ran: tuple[str, ...], known: tuple[str, ...]
) -> tuple[list[Finding], int]:
    """Return the findings that no valid exception accepts, what is wrong with exceptions, and how many are accepted.

    `ran` are the rules that were run: an exception from another one is not called idle. `known` are all rules.
    """
    left = list(findings)
    accepted = 0
    for document, file in subject.of(ExceptionFile):
        for number, exemption in enumerate(file.exception):
            message = _wrong(exemption, subject, known)
            if not message:
                hit = [finding for finding in left if _fits(exemption, finding)]
                left = [finding for finding in left if finding not in hit]
                accepted += len(hit)
                if not hit and exemption.rule in ran and subject.knowledge:  # else rules had less to look at
                    message = f"{exemption.rule} finds nothing at {exemption.subject} any more: delete the exception"
            if message and NAME in ran:
                left.append(subject.finding(NAME, LEVEL, document, ("exception", number), message))
    return left, accepted


def _fits(exemption: Exemption, finding: Finding) -> bool:
    return finding.rule == exemption.rule and fnmatchcase(finding.subject, exemption.subject.replace("[", "[[]"))


def _wrong(exemption: Exemption, subject: LintSubject, known: tuple[str, ...]) -> str | None:
    if exemption.rule not in known or exemption.rule == NAME:
        return f"{exemption.rule} is no rule that can have exceptions"
    if exemption.until < subject.today:
        return f"ended on {exemption.until}: mend what {exemption.rule} finds, or decide anew"
    if exemption.until - subject.today > LONGEST:
        return f"until {exemption.until} is more than a year: choose a nearer day"
    return None
