"""Pasted error text: normalised, and searched for patterns in time linear in its length."""

import re
from array import array
from bisect import bisect_right
from collections import deque
from collections.abc import Iterator
from functools import cache, cached_property
from io import SEEK_END, BytesIO
from typing import BinaryIO

from compatkb.core.foreign import shown
from compatkb.core.record import NamedTuple

LIMIT = 131_072
"""How many bytes of a pasted text count: of longer texts the beginning, the end, and lines between that tell of a failure."""
_TELLING = (b"rror:", b"xception", b"undefined symbol", b"cannot open", b"ailed to", b"WARN", b"RESULT_ERROR", b" not found")
_CHUNK = 1_048_576
_CUT = 400  # bytes of a line from the middle of a long text
_WINDOW = 2_000  # how far a match reaches
_TRIES = 200  # places at which one pattern is tried
_GAP = 400
_QUOTED = 200

_FAILURE = re.compile(r"error|exception|fault|failed|abort|assert|cannot|not found|crash|wrong")
_ASKING = re.compile(r">>>|print ?\(|\bin \[\d")
_ELSEWHERE = re.compile(  # "the same script passes in cuda(A100)"
    r"\b(?:pass|passes|passed|works|worked)(?: \w{1,12})? (?:in|on|with|under) (?:the |an? )?(?:nvidia |\w{1,8}\()?\Z"
)
_DRIVE = re.compile(r"(?:^|[^a-z0-9/])[a-z]:\Z")
_SLOT = re.compile(r"\{([a-z0-9_.-]*)\}")
_VERSION = r"v?([0-9][0-9a-z.+_-]{0,40})"
_REQUIREMENT = r"([a-z0-9][a-z0-9._-]{0,80}(?:\[[a-z0-9,._-]{0,80}\])?(?:===?[0-9][0-9a-z.+!_-]{0,40})?)"
# the sentence of PyTorch's allocator, the same for each device; patterns of the data have no numbers to compare
_ASKED = re.compile(
    r"tried to allocate (\d{1,6}(?:\.\d{1,4})?) ([kmgt])ib.{0,300}?of which (\d{1,6}(?:\.\d{1,4})?) ([kmgt])ib is free"
)
_GIB = {"k": 2.0**-20, "m": 2.0**-10, "g": 1.0, "t": 2.0**10}
_ESCAPES = re.compile(r"\x1b\[[0-9;?]{0,20}[A-Za-z]")
_BLANKS = re.compile(" {2,}")
_MISSING = re.compile("no module named ([a-z_][a-z0-9_.]{0,80})")
_PLAIN = str.maketrans({
    "\\": "/", "`": "'", "\u2018": "'", "\u2019": "'", "\u00b4": "'", '"': "'", "\u201c": "'", "\u201d": "'",
    "\u00ae": "", "\u2122": "", "\t": " ", "\x00": "", "\u00a0": " ", "\r": "",
})  # fmt: skip


class PatternMatch(NamedTuple):
    """Where a pattern stands: the line, counted from 1, as it was pasted; what its slots hold, by name."""

    line: int
    text: str
    slots: tuple[tuple[str, str], ...]


def decode(content: bytes) -> str:
    """Return bytes as text: UTF-8, or UTF-16 where a mark says so; what cannot be read is replaced."""
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return content.decode("utf-16", errors="replace")
    return content.decode("utf-8-sig", errors="replace")


def read_ends(stream: BinaryIO, most: int = LIMIT) -> tuple[bytes, int]:
    """Return the part of a stream that counts, of so many bytes at the most, and how many bytes were left out.

    Of a long stream these are the first quarter, the last half, and from between lines that tell of a failure.
    """
    head, middle, tail, size = stream.read(most // 4), b"", b"", 0
    while chunk := stream.read(_CHUNK):
        size += len(chunk)
        if len(tail) + len(chunk) > most // 2 and len(middle) < most // 8:
            middle += _telling_lines(tail + chunk[: -most // 2], most // 8 - len(middle))
        tail = (tail + chunk)[-most // 2 :]
        if len(middle) >= most // 8 and stream.seekable() and len(chunk) == _CHUNK:
            at = stream.tell()
            size += max(0, stream.seek(0, SEEK_END) - at - most // 2)
            stream.seek(max(at, stream.tell() - most // 2))
    if size <= most // 2:
        return head + tail, 0
    return b"\n\n".join((head, middle, tail)), size - len(middle) - len(tail)


def _telling_lines(content: bytes, most: int) -> bytes:
    """Return lines that tell of a failure, of so many bytes at the most."""
    lines: dict[bytes, None] = {}
    for word in _TELLING:
        at = content.find(word)
        while at >= 0 and sum(map(len, lines)) < most // len(_TELLING):
            start = max(content.rfind(b"\n", max(0, at - _CUT), at) + 1, at - _CUT)
            end = content.find(b"\n", at, at + _CUT)
            lines[content[start : end if end >= 0 else at + _CUT]] = None
            at = content.find(word, at + _CUT)
    return b"".join(line + b"\n" for line in lines)[:most]


def plain(text: str) -> str:
    """Return text as patterns are compared with it: lower case, one kind of quote and slash, single blanks, same lines."""
    text = (_ESCAPES.sub("", text) if "\x1b" in text else text).translate(_PLAIN)
    text = text.replace("%2B", "+").replace("%2b", "+").replace("(R)", "").replace("(TM)", "").replace("**", "").lower()
    text = _BLANKS.sub(" ", text) if "  " in text else text
    return _MISSING.sub(r"no module named '\1'", text) if "no module named " in text else text


class ErrorText:
    """A pasted text, to be asked for patterns."""

    def __init__(self, text: str) -> None:
        """Keep the part of a text that counts, and its plain form."""
        if len(text) > LIMIT:
            text = decode(read_ends(BytesIO(text.encode(errors="replace")))[0])
        self.text = text
        self.plain = plain(text)

    @cached_property
    def _ends(self) -> "array[int]":
        return array("I", (newline.start() for newline in re.finditer("\n", self.plain)))

    @cached_property
    def _pasted_ends(self) -> "array[int]":
        return array("I", (newline.start() for newline in re.finditer("\n", self.text)))

    def line_at(self, position: int) -> tuple[int, str]:
        """Return number and text of the line at a position of the plain text; a long line is cut."""
        number = bisect_right(self._ends, position - 1)
        ends = self._pasted_ends  # the plain text has the same lines
        first = ends[number - 1] + 1 if number else 0
        last = ends[number] if number < len(ends) else len(self.text)
        text = shown(_ESCAPES.sub("", self.text[first : min(last, first + _WINDOW)]).strip())
        return number + 1, text if len(text) <= _QUOTED else f"{text[: _QUOTED - 1]}…"

    def failure(self) -> PatternMatch | None:
        """Return the last line that tells of a failure; None where none does."""
        found = deque(_FAILURE.finditer(self.plain, max(0, len(self.plain) - 8 * _WINDOW)), maxlen=1)
        return PatternMatch(*self.line_at(found[0].start()), ()) if found else None

    @cached_property
    def asked_though_free(self) -> float | None:
        """The GiB that an allocation asked for in vain although as much was free, None where the text says no such thing."""
        amounts = [(float(asked) * _GIB[unit], float(free) * _GIB[of]) for asked, unit, free, of in _ASKED.findall(self.plain)]
        return next((asked for asked, free in amounts if asked <= free), None)

    def find(self, pattern: str) -> PatternMatch | None:
        """Return the first place of a pattern."""
        return next(self.find_all(pattern), None)

    def find_word(self, pattern: str, *, failing: bool = False) -> PatternMatch | None:
        """Return the first place of a pattern at which a word begins: not `e:/` in `file:/`, nor `/users/` in `c:/users/`.

        With `failing`, what a text says to work does not count: that is elsewhere.
        """
        literal = _literal(pattern)
        for at in self.places(literal):
            if failing and _ELSEWHERE.search(self.plain, max(0, at - _GAP // 4), at):
                continue
            if self._begins_word(at, literal) and (slots := self._slots(at, pattern)) is not None:
                return PatternMatch(*self.line_at(at), slots)
        return None

    def _begins_word(self, at: int, literal: str) -> bool:
        if literal.startswith("/"):
            return not _DRIVE.search(self.plain[max(0, at - 3) : at])
        return not (literal[:1].isalnum() and self.plain[at - 1 : at].isalnum())

    def _slots(self, at: int, pattern: str) -> tuple[tuple[str, str], ...] | None:
        return _match(self.plain[at : self._end(at)], _segments(pattern))

    def find_all(self, pattern: str) -> Iterator[PatternMatch]:
        """Yield the places of a pattern, at most one for each line, and of very many the first ones."""
        seen = 0
        for at in self.places(_literal(pattern)):
            slots = self._slots(at, pattern)
            if slots is not None:
                number, text = self.line_at(at)
                if number != seen:
                    seen = number
                    yield PatternMatch(number, text, slots)

    def places(self, literal: str) -> Iterator[int]:
        """Yield the positions of a piece of plain text, of very many the first and the last."""
        at, count = self.plain.find(literal), 0
        while at >= 0 and count < _TRIES:
            yield at
            count += 1
            at = self.plain.find(literal, at + len(literal))
        if at >= 0:
            last, count = self.plain.rfind(literal), 0
            late = []
            while last > at and count < _TRIES:
                late.append(last)
                count += 1
                last = self.plain.rfind(literal, 0, last)
            yield from reversed(late)

    def _end(self, at: int) -> int:
        """Return where the line ends; where a line asks an interpreter to print something, where its answer ends."""
        end = self.plain.find("\n", at, at + _WINDOW)
        if end >= 0 and _ASKING.search(self.plain, self.plain.rfind("\n", 0, at) + 1, at):
            end = self.plain.find("\n", end + 1, at + _WINDOW)
        return end if end >= 0 else min(at + _WINDOW, len(self.plain))


class _Segment(NamedTuple):
    names: tuple[str, ...]
    form: re.Pattern[str]


@cache
def _literal(pattern: str) -> str:
    """Return the plain text that a pattern begins with."""
    return plain(_SLOT.split(pattern.split("*", maxsplit=1)[0])[0])


@cache
def _segments(pattern: str) -> tuple[_Segment, ...]:
    """Return what stands between the gaps of a pattern, each in a form without unbounded repetition."""
    segments = []
    for piece in pattern.split("*"):
        parts = _SLOT.split(piece)
        form = "".join(
            re.escape(plain(part)) if n % 2 == 0 else _REQUIREMENT if part == "requirement" else _VERSION
            for n, part in enumerate(parts)
        )
        segments.append(_Segment(tuple(parts[1::2]), re.compile(form)))
    return tuple(segments)


def _match(window: str, segments: tuple[_Segment, ...]) -> tuple[tuple[str, str], ...] | None:
    """Match the first segment where the window begins, and each other one within the gap after the one before it."""
    at = 0
    slots: list[tuple[str, str]] = []
    for number, segment in enumerate(segments):
        match = segment.form.match(window, at) if number == 0 else segment.form.search(window, at, at + _GAP + _WINDOW // 2)
        if match is None:
            return None
        at = match.end()
        slots += ((name, value.rstrip(".-_+")) for name, value in zip(segment.names, match.groups(), strict=True))
    return tuple(slots)
