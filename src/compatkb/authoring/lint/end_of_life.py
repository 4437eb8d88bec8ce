"""The end of life of a release is known, or it is said why not."""

from collections.abc import Iterator

from compatkb.authoring.lint.subject import LintSubject
from compatkb.core.findings import Finding, Severity
from compatkb.core.versions import Scheme
from compatkb.schema import ProductFile, Role

NAME, LEVEL = "end-of-life", Severity.ERROR
SUMMARY = "a release has neither an end of life nor an explanation why none is known"


def check(subject: LintSubject) -> Iterator[Finding]:
    """Yield what lacks both: a product none of whose releases has an end of life, else each release that has none."""
    for document, file in subject.products:
        head = file.product
        if head.eol or not _has_lives(file):
            if head.eol_note or (head.eol and head.eol_rule):
                message = "`eol-note` or `eol-rule` explains an absence, and there is an end of life, or nothing that ends"
                key = "eol-note" if head.eol_note else "eol-rule"
                yield subject.finding(NAME, LEVEL, document, ("product", key), message)
            continue
        some = any(release.eol for release in file.release)
        if not some and not head.eol_note and not head.eol_rule:
            message = f"no end of life is known of any {head.id}: give `eol` or `eol-rule`, or say why in `eol-note`"
            yield subject.finding(NAME, LEVEL, document, ("product",), message)
        if some and head.eol_note:
            message = "some releases have an end of life, so `eol-note` belongs to the releases that have none"
            yield subject.finding(NAME, LEVEL, document, ("product", "eol-note"), message)
        if some and head.eol_rule and not head.eol_rule.published:
            message = "`eol-rule` says that no end of life is published, and some releases have one"
            yield subject.finding(NAME, LEVEL, document, ("product", "eol-rule"), message)
        for number, release in enumerate(file.release):
            if some and not release.eol and not release.eol_note:
                message = f"{release.version} has no end of life: give `eol`, or say in `eol-note` why there is none"
                yield subject.finding(NAME, LEVEL, document, ("release", number), message)
            if release.eol_note and (release.eol or not some):
                message = "`eol-note` explains an absence" + ("" if release.eol else " that the product explains for all")
                yield subject.finding(NAME, LEVEL, document, ("release", number, "eol-note"), message)


def _has_lives(file: ProductFile) -> bool:
    """Return whether versions of a product go out of support: what is only named by others, or is no software, does not."""
    if not file.release:
        return False
    if any(release.eol for release in file.release):
        return True
    return file.product.role is not Role.LEAF and file.product.scheme is not Scheme.LISTED
