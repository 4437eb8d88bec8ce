"""Markers of regions in reStructuredText and HTML; `docs.regions` has those of Markdown."""

import re
from collections.abc import Iterator
from typing import NamedTuple

_COMMENT = re.compile(r"^\.\. compatkb:(?P<word>[\w-]*)(?P<rest>.*(?:\r\n?|\n|$)(?:[ \t]+\S.*(?:\r\n?|\n|$))*)", re.MULTILINE)
_RAW = re.compile(r"<(script|style|textarea|title)\b.*?</\1\s*>", re.DOTALL | re.IGNORECASE)
_WORD = "compatkb:"


class MarkerProblem(NamedTuple):
    """What is wrong, and on which line of the text, counted from 1."""

    line: int
    message: str


class Marker(NamedTuple):
    """A comment that begins or ends a region."""

    word: str
    rest: str
    line: int
    start: int  # of its first line
    end: int  # past its last line
    indent: str
    newline: str


def restructured_markers(text: str, problems: list[MarkerProblem]) -> Iterator[Marker]:
    """Yield the markers of a reStructuredText: comments that start at the beginning of a line, after a blank one."""
    for match in _COMMENT.finditer(text):
        line = _line_of(text, match.start())
        before = text[: match.start()].rstrip(" \t")
        if before and not re.search(r"(?:^|\r\n?|\n)[ \t]*(?:\r\n?|\n)$", before):
            problems.append(MarkerProblem(line, "a marker needs a blank line before it"))
            continue
        ending = re.search(r"\r\n?|\n", match[0])
        rest = " ".join(match["rest"].split())
        yield Marker(match["word"], f" {rest}", line, match.start(), match.end(), "", ending[0] if ending else "\n")


def without_raw_text(text: str) -> str:
    """Return HTML of the same length in which scripts and the like hold no markers: what stands there is no comment."""
    return _RAW.sub(lambda match: match[0].replace(_WORD, "-" * len(_WORD)), text)


def _line_of(text: str, place: int) -> int:
    return len(re.findall(r"\r\n?|\n", text[:place])) + 1
