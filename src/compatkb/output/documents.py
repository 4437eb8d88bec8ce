"""What every output has: the data and day that it is of, its JSON as text, its sources and the numbers that point at them."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import TYPE_CHECKING, Any, Final

from compatkb.core.record import NamedTuple

if TYPE_CHECKING:
    from compatkb.output.json_types import SourceJson
    from compatkb.output.screen import Line

CitedSource = tuple[str, str | None]
"""A source as people read it, and its address."""
_OBEYED = re.compile("[\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]")
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


_LAST = date.max.toordinal()
SCHEMA: Final = 1
"""The version of the contract, whose text is docs/json.md."""


class Edition(NamedTuple):
    """Which data an output is of, and the day that it is for, where it is for one."""

    data_date: str
    day: date | None = None

    @property
    def head(self) -> dict[str, Any]:
        """What a document begins with: the contract's version, the day of the data, and the day that it is for."""
        as_of = {"as_of": self.day.isoformat()} if self.day else {}
        return {"schema": SCHEMA, "data_date": self.data_date, **as_of}

    def footer(self, *more: str) -> "list[Line]":
        """Return the last lines of a screen: the day of the data, that asked about if it is earlier, where more is."""
        from compatkb.output.messages import footer
        from compatkb.output.screen import BLANK, wrapped

        return [BLANK, *wrapped(footer(self.data_date, self.day.toordinal() if self.day else _LAST, more), "  ", style="dim")]

    def record(self, content: Mapping[str, Any]) -> dict[str, Any]:
        """Return a document: its head, then what it is about."""
        return {**self.head, **content}

    def document(self, content: Mapping[str, Any]) -> str:
        """Return the same as text."""
        return json_text(self.record(content))


def json_text(content: object) -> str:
    """Return a value as indented JSON, in Unicode but for what a terminal obeys, with a line end."""
    return _OBEYED.sub(lambda mark: json.dumps(mark[0])[1:-1], json.dumps(content, indent=2, ensure_ascii=False)) + "\n"


_KINDS = {2: "usage", 3: "data", 5: "unavailable", 6: "gave-up", 7: "unknown"}


def refusal(problems: Sequence[str], exit_code: int) -> str:
    """Return what is printed where there is no result; the lines of a problem after the first are its hints."""
    split = ([line.strip() for line in problem.splitlines()] for problem in problems)
    shown = [{"message": first, "hints": hints} for first, *hints in split]
    error = {"exit_code": exit_code, "kind": _KINDS.get(exit_code, "other"), "problems": shown}
    return json_text({"schema": SCHEMA, "error": error})
