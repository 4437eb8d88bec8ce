"""A file that is checked, the rules, and what a checker is told: what every checker of `check` works with."""

import re
from array import array
from bisect import bisect_right
from collections.abc import Iterator
from datetime import date
from functools import cached_property
from typing import NamedTuple, Protocol

from compatkb.core.clock import Clock
from compatkb.core.findings import Edit, Finding, Severity
from compatkb.core.toml_positions import Place
from compatkb.store.reader import Snapshot

_BREAK = re.compile(r"\r\n?|\n")


class Rule(NamedTuple):
    """A rule that files of users are checked against; `docs/check.md` has a heading for each."""

    id: str
    level: Severity
    summary: str

    @property
    def anchor(self) -> str:
        """Where the rule is described."""
        return f"docs/check.md#{self.id}"


class Document:
    """The text of one file, and where things stand in it; lines and columns count from 1, columns in characters."""

    def __init__(self, path: str, text: str, encoding: str = "utf-8", head: bytes = b"") -> None:
        """Take a path as findings shall name it, and a text without byte order mark; `head` is the mark that stood there."""
        self.path = path
        self.text = text
        self.encoding = encoding
        self.head = head

    @cached_property
    def starts(self) -> "array[int]":
        """The offset at which each line begins."""
        found = array("q", (0,))
        found.extend(match.end() for match in _BREAK.finditer(self.text))
        return found

    def place(self, offset: int) -> Place:
        """Return line and column of a character."""
        line = bisect_right(self.starts, offset)
        return Place(line, offset - self.starts[line - 1] + 1)

    def line(self, number: int) -> str:
        """Return the text of a line, from 1 on, without its end; empty for a line that is not there."""
        if not 1 <= number <= len(self.starts):
            return ""
        end = self.starts[number] if number < len(self.starts) else len(self.text)
        return self.text[self.starts[number - 1] : end].rstrip("\r\n")

    def offset(self, line: int, column: int = 1) -> int:
        """Return the offset of a line and column, both from 1."""
        return self.starts[line - 1] + column - 1

    def finding(
        self,
        rule: Rule,
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


class Asked(NamedTuple):
    """What a checker is told beside the documents."""

    facts: Snapshot
    clock: Clock
    within: int = 0  # an end of life within so many days is told, too

    @property
    def day(self) -> date:
        """The day by which ends of life are judged."""
        return self.clock.day


class Checker(Protocol):
    """What a module of this package offers that looks at one document at a time; `check` yields in any order."""

    RULES: tuple[Rule, ...]

    @staticmethod
    def check(document: Document, asked: Asked) -> Iterator[Finding]:
        """Yield what is wrong with a document."""


class RepositoryChecker(Protocol):
    """What a module of this package offers that looks at all documents together."""

    RULES: tuple[Rule, ...]

    @staticmethod
    def check(documents: tuple[Document, ...], asked: Asked) -> Iterator[Finding]:
        """Yield what is wrong with documents."""
