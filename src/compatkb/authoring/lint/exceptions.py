"""An exception has a reason and an end date, and matches a finding."""

from datetime import timedelta
from fnmatch import fnmatchcase

from compatkb.authoring.lint.subject import LintProblem, LintSubject
from compatkb.core.findings import Finding
from compatkb.schema import ExceptionFile, Exemption

NAME = "exceptions"
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
    if exemption.rule not in known or exemption.rule == NAME:
        return f"{exemption.rule} is no rule that can have exceptions"
    if exemption.until < subject.today:
        return f"ended on {exemption.until}: mend what {exemption.rule} finds, or decide anew"
    if exemption.until - subject.today > LONGEST:
        return f"until {exemption.until} is more than a year: choose a nearer day"
    return None
