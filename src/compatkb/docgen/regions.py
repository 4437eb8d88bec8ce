"""Finds and checks the marked regions of Markdown.

markdown-it tells comments from code blocks, code spans and plain text, as those who show the page will.
"""

import re
import shlex
from collections.abc import Iterator

from markdown_it import MarkdownIt
from markdown_it.token import Token

from compatkb.core.record import NamedTuple

_MARKER = re.compile(r"<!--\s*compatkb:(?!\s+ignore)(?P<word>[\w-]*)(?P<rest>.*?)-->", re.DOTALL)
_OPENING = re.compile(r"<!--\s*compatkb:(?!\s+ignore)")  # with a space before it, it is a word to `compatkb check`
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_LINE = re.compile(r"[^\r\n]*(?:\r\n?|\n)|[^\r\n]+")
_BLOCKS = MarkdownIt("commonmark").disable("inline")
_SPANS = MarkdownIt("commonmark")


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


class Region(NamedTuple):
    """What stands between two markers: `text[start:end]`, whole lines."""

    name: str
    kind: str
    arguments: dict[str, str]
    line: int  # of the marker that begins it
    start: int
    end: int
    indent: str  # of the marker that begins it
    newline: str  # how its line ends


def find_regions(text: str) -> tuple[list[Region], list[MarkerProblem]]:
    """Return the regions of a text in order, and all that is wrong with its markers, by line."""
    problems: list[MarkerProblem] = []
    regions = list(_paired(list(_markers(text, problems)), problems))
    known: dict[str, int] = {}
    for region in regions:
        first = known.setdefault(region.name, region.line)
        if first != region.line:
            problems.append(MarkerProblem(region.line, f"region {region.name} is there twice, first on line {first}"))
    return regions, sorted(set(problems))


def _markers(text: str, problems: list[MarkerProblem]) -> Iterator[Marker]:
    lines = [match.span() for match in _LINE.finditer(text)]
    for token in _BLOCKS.parse(text):
        if "compatkb:" not in token.content or token.map is None:
            continue
        if token.type == "html_block":
            last = min(token.map[1], len(lines))
            yield from _block_markers(text, lines[token.map[0] : last], token.map[0] + 1, problems)
        elif token.type == "inline":
            problems += _inline_markers(token, token.map[0] + 1)


def _block_markers(text: str, lines: list[tuple[int, int]], first: int, problems: list[MarkerProblem]) -> Iterator[Marker]:
    place, end = lines[0][0], lines[-1][1]
    while opening := _OPENING.search(text, place, end):
        number = next(n for n, (start, stop) in enumerate(lines) if start <= opening.start() < stop)
        match = _MARKER.match(text, opening.start(), end)
        if match is None:
            problems.append(MarkerProblem(first + number, "the comment of this marker is not closed: --> is missing"))
            return
        place = match.end()
        start = lines[number][0]
        stop = next(stop for _, stop in lines if match.end() <= stop)
        after = text[match.end() : stop]
        indent = text[start : match.start()]
        if indent.strip() or after.strip():
            problems.append(MarkerProblem(first + number, "a marker stands alone on its line"))
            continue
        yield Marker(match["word"], match["rest"], first + number, start, stop, indent, after.lstrip(" \t") or "\n")


def _inline_markers(token: Token, line: int) -> Iterator[MarkerProblem]:
    for inner in _SPANS.parseInline(token.content)[0].children or ():
        if inner.type == "html_inline" and _OPENING.match(inner.content):
            yield MarkerProblem(line, "a marker stands alone on its line")
        line += inner.content.count("\n") if inner.type == "html_inline" else inner.type in ("softbreak", "hardbreak")


def _paired(markers: list[Marker], problems: list[MarkerProblem]) -> Iterator[Region]:
    begun: Marker | None = None
    head: tuple[str, str, dict[str, str]] = ("", "", {})
    inner: list[str] = []  # names of regions that were begun inside another one
    lost: list[str] = []  # names of regions whose beginning could not be read
    for marker in markers:
        try:
            if marker.word == "begin":
                name, kind, arguments = _head(marker.rest)
                if begun is None:
                    begun, head = marker, (name, kind, arguments)
                else:
                    inner.append(name)
                    raise ValueError(f"region {name} begins inside region {head[0]} of line {begun.line}; regions do not nest")
            elif marker.word == "end":
                name = _end(marker.rest)
                if begun is None and name in lost:
                    lost.remove(name)
                elif begun is None:
                    raise ValueError(f"region {name} ends here, but none has begun")
                elif name == head[0]:
                    yield Region(*head, begun.line, begun.end, marker.start, begun.indent, begun.newline)
                    begun, inner = None, []
                elif name in inner:
                    inner.remove(name)
                else:
                    raise ValueError(f"region {name} ends here, but the one that has begun is {head[0]} of line {begun.line}")
            else:
                raise ValueError(f"compatkb:{marker.word} is no marker; there are compatkb:begin and compatkb:end")
        except ValueError as error:
            problems.append(MarkerProblem(marker.line, str(error)))
            if marker.word == "begin" and begun is None:
                lost += marker.rest.split()[:1]
    if begun:
        problems.append(
            MarkerProblem(begun.line, f"region {head[0]} has no end; write <!-- compatkb:end {head[0]} --> after it")
        )


def _head(rest: str) -> tuple[str, str, dict[str, str]]:
    """Return name, kind and arguments of a region; raises ValueError."""
    try:
        name, *words = shlex.split(rest)
    except ValueError as error:
        reason = f"its arguments cannot be read: {error}" if rest.strip() else "it needs a name: <!-- compatkb:begin NAME -->"
        raise ValueError(reason) from None
    if not _NAME.fullmatch(name):
        raise ValueError(f"{name!r} is no name of a region: letters, digits, dots, hyphens and underscores")
    arguments: dict[str, str] = {}
    for word in words:
        key, mark, value = word.partition("=")
        if not mark or not _NAME.fullmatch(key):
            raise ValueError(f"{word!r} is not KEY=VALUE")
        if key in arguments:
            raise ValueError(f"argument {key} is there twice")
        arguments[key] = value
    return name, arguments.pop("kind", name), arguments


def _end(rest: str) -> str:
    if not _NAME.fullmatch(rest.strip()):
        raise ValueError("the end of a region is <!-- compatkb:end NAME -->")
    return rest.strip()
