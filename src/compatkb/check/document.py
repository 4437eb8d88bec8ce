"""The file under check and its context, which every checker and rule is given; its text with the edits of findings."""

from bisect import bisect_left
from collections.abc import Iterable
from datetime import date

from compatkb.check.rules import CheckRule
from compatkb.core.clock import Clock
from compatkb.core.findings import Edit, Finding
from compatkb.core.record import NamedTuple
from compatkb.core.text_position import SourceText, unified
from compatkb.parsers.statement import Word
from compatkb.store.reader import Snapshot


class TextDocument(SourceText):
    """The text of one file that is checked."""

    def __init__(self, path: str, text: str, encoding: str = "utf-8", head: bytes = b"") -> None:
        """Take a path as findings shall name it, and a text without byte order mark; `head` is the mark that stood there."""
        super().__init__(text)
        self.path = path
        self.encoding = encoding
        self.head = head

    def span(self, word: Word) -> tuple[int, int]:
        """Return where a word stands, with its quotes."""
        start = self.offset(*word.place)
        return start, start + len(word.raw)

    def finding(
        self,
        rule: CheckRule,
        start: int,
        end: int,
        message: str,
        *,
        fix: str | None = None,
        sources: tuple[str, ...] = (),
        edits: tuple[Edit, ...] = (),
        subject: str = "",
    ) -> Finding:
        """Return what is wrong with the characters from `start` to `end`; `edits` only where they mend it for certain."""
        place, last = self.place(start), self.place(max(start, end))
        end_column = last.column if last.line == place.line else None
        return Finding(
            rule.id, rule.level, self.path, place.line, message, place.column, fix, sources, subject, end_column, edits
        )


class ProjectScope(NamedTuple):
    """What a project is for, as its configuration says: a device, operating systems, indexes; what is open counts for all."""

    device: str | None = None
    systems: tuple[str, ...] = ()
    indexes: tuple[str, ...] = ()


class CheckContext(NamedTuple):
    """What a checker is told beside the documents."""

    facts: Snapshot
    clock: Clock
    within: int = 0  # an end of life within so many days is told, too
    scope: ProjectScope = ProjectScope()
    documents: "tuple[TextDocument, ...]" = ()  # all that are checked, whoever reads them

    @property
    def day(self) -> date:
        """The day by which ends of life are judged."""
        return self.clock.day


def mended(document: TextDocument, findings: Iterable[Finding]) -> tuple[str, tuple[Finding, ...]]:
    """Return a text with the edits of findings in place, and the findings that they mend.

    A finding is mended whole or not at all; of findings whose edits overlap, the first in the order of reports is mended.
    """
    taken: list[tuple[int, int, str]] = []  # in order; no two overlap
    done = []
    for finding in sorted(findings, key=lambda finding: finding.order):
        edits = [(edit.start, edit.end, edit.text) for edit in finding.edits]
        if not edits or any(_is_taken(edit, taken) for edit in edits):
            continue
        for edit in edits:
            at = bisect_left(taken, edit)
            if taken[at : at + 1] != [edit]:
                taken.insert(at, edit)
        done.append(finding)
    pieces = []
    at = 0
    for start, end, text in taken:
        pieces += [document.text[at:start], text]
        at = max(at, end)
    return "".join([*pieces, document.text[at:]]), tuple(done)


def _is_taken(edit: tuple[int, int, str], taken: list[tuple[int, int, str]]) -> bool:
    """Return whether an edit overlaps with others that are taken; the same one does not."""
    start, end, _ = edit
    at = bisect_left(taken, edit)
    if taken[at : at + 1] == [edit]:
        return False
    before = at - 1
    while before >= 0 and taken[before][1] >= start:
        if _overlap(edit, taken[before]):
            return True
        before -= 1
    while at < len(taken) and taken[at][0] <= end:
        if _overlap(edit, taken[at]):
            return True
        at += 1
    return False


def diff(document: TextDocument, after: str) -> str:
    """Return what changes as a unified diff, empty where nothing does."""
    return unified(document.text, after, document.path, f"{document.path} (fixed)")


def _overlap(one: tuple[int, int, str], other: tuple[int, int, str]) -> bool:
    if one[:2] == other[:2]:  # two insertions at one place have no order
        return True
    return one[0] < other[1] and other[0] < one[1]  # an insertion before or behind what is replaced stands beside it
