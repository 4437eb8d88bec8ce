"""Places in texts; finds those of the values in a TOML text, so that a problem can name its line; quotes text for TOML.

The standard parser gives values without places. This one gives places without values: it reads only text that the
standard parser has accepted, so it need not notice mistakes.
"""

import json
import re
from array import array
from bisect import bisect_right
from collections.abc import Iterable
from functools import cached_property

from compatkb.core.record import NamedTuple

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


Where = tuple[int | str, ...]

_TOKEN = (
    r'(?P<text>"""(?:\\.|[^\\])*?"""+|\'\'\'.*?\'\'\'+|"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\')'
    r"|(?P<comment>#[^\n]*)|(?P<newline>\n)|(?P<mark>[\[\]{}=,.])|(?P<bare>[^\s\[\]{}=,.\"'#]+)"
)


_DEEPEST = 16
"""Parts of a dotted key; what is deeper has the place of these."""


class _Token(NamedTuple):
    kind: str
    text: str
    place: Place


class Places:
    """The place of every key and item of a TOML text, and of every comment."""

    def __init__(self, text: str) -> None:
        self.of: dict[Where, Place] = {}
        self.comments: list[Place] = []
        self._tokens = self._read(text)
        self._next = 0
        self._counts: dict[Where, int] = {}
        self._document()

    def nearest(self, where: Where) -> Place:
        """Return the place of the value at `where`, or of the nearest thing around it."""
        for end in range(len(where), 0, -1):
            if place := self.of.get(where[:end]):
                return place
        return Place(1, 1)

    def first(self, candidates: Iterable[Where]) -> Place:
        """Return the place of the first of several values that is there, and else of what is nearest to the last."""
        where: Where = ()
        for where in candidates:
            if where in self.of:
                return self.of[where]
        return self.nearest(where)

    def _read(self, text: str) -> list[_Token]:
        tokens = []
        line, start = 1, 0
        for match in re.finditer(_TOKEN, text, re.DOTALL):
            kind = match.lastgroup or ""
            place = Place(line, match.start() - start + 1)
            if kind == "comment":
                self.comments.append(place)
                continue
            tokens.append(_Token(kind, match[0], place))
            if breaks := match[0].count("\n"):
                line += breaks
                start = match.start() + match[0].rindex("\n") + 1
        return tokens

    def _document(self) -> None:
        table: Where = ()
        while (token := self._peek()) is not None:
            if token.kind == "newline":
                self._next += 1
            elif token.text == "[":
                self._next += 1
                many = (following := self._peek()) is not None and following.text == "["
                self._next += many
                table = self._table(self._key(), token.place, many=many)
                self._next += 1 + many
            else:
                self._pair(table)

    def _table(self, key: list[str], place: Place, *, many: bool) -> Where:
        where: Where = ()
        key = key[:_DEEPEST]
        for number, part in enumerate(key, 1):
            where += (part,)
            self.of.setdefault(where, place)
            if many and number == len(key):
                count = self._counts[where] = self._counts.get(where, 0) + 1
                where += (count - 1,)
                self.of[where] = place
            elif where in self._counts:
                where += (self._counts[where] - 1,)
        if not many:
            self.of[where] = place
        return where

    def _key(self) -> list[str]:
        """Read a dotted key; a bare part holds no dot, since a dot is a mark."""
        parts = []
        while (token := self._peek()) is not None and (token.kind in ("bare", "text") or token.text == "."):
            if token.text != ".":
                parts.append(token.text[1:-1] if token.kind == "text" else token.text)
            self._next += 1
        return parts

    def _pair(self, table: Where) -> None:
        token = self._peek()
        assert token
        where = table
        for part in self._key()[:_DEEPEST]:
            where += (part,)
            self.of.setdefault(where, token.place)
        self._next += 1  # the equals sign
        self._value(where)

    def _value(self, where: Where) -> None:
        token = self._take()
        if token is None:
            return
        if token.text == "[":
            number = 0
            while (inner := self._skip()) is not None and inner.text != "]":
                if inner.text == ",":
                    self._next += 1
                    continue
                self.of[(*where, number)] = inner.place
                self._value((*where, number))
                number += 1
            self._next += 1
        elif token.text == "{":
            while (inner := self._skip()) is not None and inner.text != "}":
                if inner.text == ",":
                    self._next += 1
                else:
                    self._pair(where)
            self._next += 1
        else:  # a number or date is several bare words and dots
            while (inner := self._peek()) is not None and token.kind != "text" and (inner.kind == "bare" or inner.text == "."):
                self._next += 1

    def _peek(self) -> _Token | None:
        return self._tokens[self._next] if self._next < len(self._tokens) else None

    def _take(self) -> _Token | None:
        token = self._peek()
        self._next += 1
        return token

    def _skip(self) -> _Token | None:
        while (token := self._peek()) is not None and token.kind == "newline":
            self._next += 1
        return self._peek()


def quoted(text: str) -> str:
    """Return a text as a string of JSON, of YAML if it is one line, and of TOML, which takes no bare U+007F."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def unified(before: str, after: str, old: str, new: str) -> str:
    """Return what changes as a unified diff between two names, empty where nothing does; line ends stay as they are."""
    from difflib import unified_diff

    one, other = (re.findall(r"[^\n]*\n|[^\n]+", text) for text in (before, after))
    lines = unified_diff(one, other, old, new)
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)
