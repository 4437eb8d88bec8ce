"""Makes the edits that findings carry, and judges the result again, until none is left."""

from collections.abc import Callable, Iterable, Mapping

from compatkb.check import CheckReport
from compatkb.check.document import TextDocument, mended
from compatkb.core.record import NamedTuple

_MOST_ROUNDS = 10
Judge = Callable[[Iterable[TextDocument]], CheckReport]
"""What judges documents, as check and migrate do."""


class Fixed(NamedTuple):
    """Documents with all edits that mend findings, what is left to report, and how many findings are mended."""

    documents: Mapping[str, TextDocument]  # by path
    report: CheckReport
    fixes: int


def fixed(report: CheckReport, documents: Iterable[TextDocument], judge: Judge) -> Fixed:
    """Return what --fix writes and --diff shows: edits are made, and the result judged again, until none is left."""
    by_path = {document.path: document for document in documents}
    count = 0
    for _ in range(_MOST_ROUNDS):  # what overlaps is mended in the next round
        changed = {}
        for path, document in by_path.items():
            text, mending = mended(document, [finding for finding in report.findings if finding.path == path])
            if text != document.text:
                changed[path] = TextDocument(path, text, document.encoding, document.head)
                count += len(mending)
        if not changed:
            break
        by_path |= changed
        report = judge(by_path.values())
    return Fixed(by_path, report, count)
