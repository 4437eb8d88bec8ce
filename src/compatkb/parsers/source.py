"""The text of a file, and fragments of it that know their position.

A shell command may stand in a YAML block, in a JSON string or in a Dockerfile; whatever reads it asks the piece for
lines and columns of the file.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from itertools import pairwise

from compatkb.core.record import NamedTuple
from compatkb.core.text_position import Place, SourceText

MOST_CHARACTERS = 4_000_000
"""Longer files are not read."""

MOST_SHELL = 500_000
"""Longer scripts, Dockerfiles and requirements files are not read; nor more than that of the cells of a notebook."""


class TreeError(Exception):
    """The text is no tree of YAML or JSON; `place` is where it ends to be one."""

    def __init__(self, place: Place, message: str) -> None:
        super().__init__(message)
        self.place = place


class SourceFile(SourceText):
    """A text with one kind of line break and no byte order mark; lines and columns stay those of the file."""

    def __init__(self, path: str, text: str) -> None:
        super().__init__(text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n"))
        self.path = path

    def whole(self) -> "Fragment":
        """Return the text as a fragment."""
        return Fragment(self, [Segment(self.text, 0)])


class Segment(NamedTuple):
    """Text whose characters stand one after the other in the source, from `start` on."""

    text: str
    start: int


class Fragment:
    """Text put together from pieces of a source."""

    def __init__(self, source: SourceText, pieces: Iterable[Segment]) -> None:
        self.source = source
        self._at: list[int] = []
        self._to: list[int] = []
        texts = []
        length = 0
        for text, start in pieces:
            if text:
                self._at.append(length)
                self._to.append(start)
                texts.append(text)
                length += len(text)
        self.text = "".join(texts)

    def origin(self, offset: int) -> int:
        """Return the offset in the source of an offset in the fragment."""
        if not self._at:
            return 0
        number = max(bisect_right(self._at, offset) - 1, 0)
        return self._to[number] + offset - self._at[number]

    def place(self, offset: int) -> Place:
        """Return line and column in the file of an offset in the fragment."""
        return self.source.place(self.origin(offset))

    def bounds(self) -> tuple[int, ...]:
        """Return the offsets at which a new stretch of the source begins."""
        return tuple(self._at)

    def segments(self) -> list[Segment]:
        """Return the pieces that it is put together from."""
        return [Segment(self.text[a:b], self.origin(a)) for a, b in pairwise([*self.bounds(), len(self.text)])]

    def cut(self, start: int, end: int | None = None) -> "Fragment":
        """Return the part between two offsets."""
        stop = len(self.text) if end is None else end
        first, last = bisect_right(self._at, start), bisect_left(self._at, stop)
        bounds = [start, *self._at[first:last], stop]
        pieces = (Segment(self.text[a:b], self.origin(a)) for a, b in pairwise(bounds))
        return Fragment(self.source, pieces)
