"""Known issues can be asked about: their ranges are readable, and their cures lead out of them."""

from collections.abc import Iterator

from compatkb.authoring.knowledge_base import split_term
from compatkb.authoring.lint.subject import LintProblem, LintSubject
from compatkb.core.versions import Scheme, admits, matches
from compatkb.schema import IssueEntry, IssueFile


def issues(subject: LintSubject) -> Iterator[LintProblem]:
    """Yield ids that stand twice, ranges that their product cannot read, and cures inside the range that they cure."""
    seen: dict[str, str] = {}
    for document, file in subject.of(IssueFile):
        for number, issue in enumerate(file.issue):
            if issue.id in seen:
                yield LintProblem(document, ("issue", number, "id"), f"{issue.id} is there twice, also in {seen[issue.id]}")
            seen[issue.id] = document.path
            for key, message in _wrong(issue, subject):
                yield LintProblem(document, ("issue", number, *key), message)


def _wrong(issue: IssueEntry, subject: LintSubject) -> Iterator[tuple[tuple[str | int, ...], str]]:
    ranges = {}
    for number, condition in enumerate(issue.where):
        if condition.product in subject.by_id and condition.range is not None:
            ranges[condition.product] = condition.range
            if not _reads(subject, condition.product, condition.range):
                yield ("where", number, "range"), f"{condition.range!r} is no range of {condition.product}"
    for number, cure in enumerate(issue.cures):
        product, spec = split_term(cure.to) if cure.to else ("", "")
        if cure.to and product not in subject.by_id:
            yield ("cures", number, "to"), f"{product} is no product"
        elif cure.to and not _reads(subject, product, spec):
            yield ("cures", number, "to"), f"{spec!r} is no range of {product}"
        elif cure.to and product in ranges and (both := _in_both(subject, product, spec, ranges[product])):
            yield ("cures", number, "to"), f"{product} {both} is in {cure.to} and has the issue ({ranges[product]})"


def _reads(subject: LintSubject, product: str, spec: str) -> bool:
    scheme = subject.by_id[product].product.scheme
    sample = {Scheme.PEP440: "1", Scheme.DOTTED: "1", Scheme.MINOR: "3.12", Scheme.LISTED: "x"}[scheme]
    try:
        _names(scheme, spec, sample)
    except ValueError:
        return False
    return True


def _names(scheme: Scheme, spec: str, version: str) -> bool:
    return matches(spec, version) if scheme is Scheme.PEP440 else admits(scheme, spec, version)


def _in_both(subject: LintSubject, product: str, cure: str, affected: str) -> str | None:
    """Return the newest release that both a cure and the range of its issue name."""
    file = subject.by_id[product]
    versions = [release.version for release in file.release]
    scheme = file.product.scheme
    return next((v for v in reversed(versions) if _names(scheme, cure, v) and _names(scheme, affected, v)), None)
