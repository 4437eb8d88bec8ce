"""Sources as people read them, and the numbers by which an answer points at them."""

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from compatkb.output.json_types import SourceJson

CitedSource = tuple[str, str | None]
"""A source as people read it, and its address."""
_COMMIT = re.compile(r"\b([0-9a-f]{10})[0-9a-f]{30}\b")


class Numbers:
    """The sources that an answer points at, numbered in the order in which they are needed."""

    def __init__(self, most: int | None = None) -> None:
        """Keep at most so many."""
        self.sources: list[CitedSource] = []
        self._most = most

    def marks(self, sources: Iterable[CitedSource]) -> str:
        """Return the numbers of sources, as they stand behind a sentence."""
        marks = []
        for source in sources:
            if source not in self.sources and (self._most is None or len(self.sources) < self._most):
                self.sources.append(source)
            if source in self.sources:
                marks.append(f"[{self.sources.index(source) + 1}]")
        return "".join(dict.fromkeys(marks))


def short(source: CitedSource) -> str:
    """Return a source in words, commits shortened."""
    return _COMMIT.sub(r"\1", source[0])


def address(source: CitedSource) -> str:
    """Return the address of a source, or its words where it has none."""
    return source[1] or source[0]


def source_payloads(sources: Iterable[CitedSource]) -> "list[SourceJson]":
    """Return sources for programs: the text of each, and its address where it has one."""
    return [{"text": text, "url": url} for text, url in sources]
