"""The end of life of a release is known, or it is said why not."""

from collections.abc import Iterator

from compatkb.findings import Finding, Severity
from compatkb.lint.subject import Subject
from compatkb.models import ProductFile, Role
from compatkb.versions import Scheme

NAME, LEVEL = "end-of-life", Severity.ERROR
SUMMARY = "releases have neither an end of life nor an explanation why none is known"


def check(subject: Subject) -> Iterator[Finding]:
    """Yield one finding per product: `eol-note` speaks for all its releases that have no end of life."""
    for document, file in subject.products:
        if not _has_lives(file):
            continue
        without = [release.version for release in file.release if release.eol is None]
        known = file.product.eol is not None or not without
        if not known and not file.product.eol_note:
            names = ", ".join(without[:3]) + (f" and {len(without) - 3} more" if len(without) > 3 else "")
            message = f"no end of life is known of {names}: give `eol`, or say in `eol-note` why there is none"
            yield subject.finding(NAME, LEVEL, document, ("product",), message)
        if known and file.product.eol_note:
            message = "`eol-note` explains an absence, and every release has an end of life"
            yield subject.finding(NAME, LEVEL, document, ("product", "eol-note"), message)


def _has_lives(file: ProductFile) -> bool:
    """Return whether versions of a product go out of support: what is only named by others, or is no software, does not."""
    if not file.release or file.product.role is Role.LEAF:
        return False
    return file.product.scheme is not Scheme.LISTED or any(release.eol for release in file.release)
