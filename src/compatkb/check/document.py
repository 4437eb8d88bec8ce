"""The file under check and its context: what every checker and rule is given."""

from datetime import date
from typing import NamedTuple

from compatkb.check.rules import CheckRule
from compatkb.core.clock import Clock
from compatkb.core.findings import Edit, Finding
from compatkb.core.text_position import SourceText
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
