"""Converts between offsets in a text and lines with columns."""

import re
from array import array
from bisect import bisect_right
from functools import cached_property
from typing import NamedTuple

_BREAK = re.compile(r"\r\n?|\n")


class Place(NamedTuple):
    """A position in a file, both counted from 1; columns count characters."""

    line: int
    column: int


class SourceText:
    """A text whose offsets (from 0) and places (from 1) are turned into each other."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def starts(self) -> "array[int]":
        """The offset at which each line begins."""
        offsets = array("q", (0,))
        offsets.extend(match.end() for match in _BREAK.finditer(self.text))
        return offsets

    def place(self, offset: int) -> Place:
        """Return line and column of a character."""
        line = bisect_right(self.starts, offset)
        return Place(line, offset - self.starts[line - 1] + 1)

    def offset(self, line: int, column: int = 1) -> int:
        """Return the offset of a place; the end of the text for a line past the last one."""
        return self.starts[line - 1] + column - 1 if line <= len(self.starts) else len(self.text)

    def line(self, number: int) -> str:
        """Return the text of a line without its end; empty for a line that is not there."""
        if not 1 <= number <= len(self.starts):
            return ""
        start, end = self.line_bounds(number)
        return self.text[start:end].rstrip("\r\n")

    def line_bounds(self, number: int) -> tuple[int, int]:
        """Return where a line starts, and where the next one does."""
        return self.starts[number - 1], self.starts[number] if number < len(self.starts) else len(self.text)
