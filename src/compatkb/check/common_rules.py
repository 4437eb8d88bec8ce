"""Rules that documents and projects are both checked against."""

from compatkb.check.places import FileRole
from compatkb.check.rules import CheckRule
from compatkb.core.findings import Severity

ENDED = CheckRule(
    "end-of-life",
    Severity.WARNING,
    "a version, or what an image holds, is out of support or soon will be",
    off_in=(FileRole.LOCK, FileRole.PIPELINE),
)
LIBRARY_ENDED = CheckRule("end-of-life-library", Severity.INFO, "a library, such as NumPy, is out of support", optional=True)
UNLISTED = CheckRule("image-tag-unlisted", Severity.WARNING, "an image tag that no listing known to the data ever had")
GONE = CheckRule("image-tag-gone", Severity.INFO, "an image tag that is not listed any more, or not yet", optional=True)
