"""Rules that documents and projects are both checked against."""

import re

from compatkb.check.rules import CheckRule
from compatkb.core.findings import Finding, Severity

ENDED = CheckRule("end-of-life", Severity.WARNING, "a version, or what an image holds, is out of support or soon will be")
LIBRARY_ENDED = CheckRule("end-of-life-library", Severity.INFO, "a library, such as NumPy, is out of support", optional=True)
UNLISTED = CheckRule("image-tag-unlisted", Severity.WARNING, "an image tag that no listing known to the data ever had")
GONE = CheckRule("image-tag-gone", Severity.INFO, "an image tag that is not listed any more, or not yet")
_RECORD = re.compile(r"(?:^|/)(?:archived?|deprecated|retired)[^/]*/", re.IGNORECASE)


def is_expected(finding: Finding) -> bool:
    """Return whether a finding says of a file that is kept as a record, by its folder, that what it has is out of support."""
    return finding.rule == ENDED.id and _RECORD.search(finding.path) is not None
