"""Edits that remove a requirement or an index from a file and leave the file valid."""

import re
from collections.abc import Iterable

from compatkb.check.document import TextDocument
from compatkb.core.findings import Edit
from compatkb.core.record import NamedTuple
from compatkb.parsers.statement import Include, IndexUse, ParsedFile, Requirement, Statement, Word

LINES = ("requirements", "constraints")
TABLES = ("pyproject", "setup.cfg")
COMMANDS = ("dockerfile", "shell", "github", "gitlab", "notebook", "markdown")
_CONTINUED = re.compile(r"\\[ \t]*(?:\r\n?|\n)")
_GLUE = re.compile(r"(?:[ \t]|\\[ \t]*(?:\r\n?|\n))*")
_BACK = re.compile(r"(?<![ \t])(?:[ \t]|\\[ \t]*+(?:\r\n?|\n))*+\Z")
_FLAG = re.compile(r"(-f|--find-links|--extra-index-url|-i|--index-url|--index|--default-index)([ \t]+|=)?\Z")
_RUN = re.compile(r"[ \t]*RUN[ \t]+(?:--[a-z][\w.-]*(?:=\S*)?[ \t]+)*\Z", re.IGNORECASE)


class TextSpan(NamedTuple):
    """A word of a command in a document."""

    start: int
    end: int


class Removals:
    """The statements that leave a file."""

    def __init__(self) -> None:
        self.statements: set[Statement] = set()
        self._alone: dict[tuple[str, int], bool] = {}

    def whole_step(self, reading: ParsedFile, statement: Statement) -> bool:
        """Return whether nothing is left of what the step of a statement installs."""
        key = (statement.group, statement.step)
        if key not in self._alone:
            step = reading.steps.get(key, []) if statement.step else []
            left = (s for s in step if isinstance(s, Include) or (isinstance(s, Requirement) and s not in self.statements))
            self._alone[key] = next(left, None) is None
        return self._alone[key]


def place_of(document: TextDocument, statement: Statement) -> TextSpan | None:
    """Return where a statement stands, as it is written; None where it is put together from elsewhere."""
    start = document.offset(*statement.place)
    end = start + len(statement.text)
    return TextSpan(start, end) if statement.text and document.text[start:end] == statement.text else None


def removal(document: TextDocument, reading: ParsedFile, statement: Statement, gone: Removals) -> Edit | None:
    """Return what takes a statement out, None where hands have to; `gone` has all that leave the file."""
    where = place_of(document, statement)
    if where is None:
        return None
    if reading.kind in LINES:
        return _logical_line(document, where)
    if reading.kind in TABLES:
        return _entry(document, where)
    if (word := reading.words.get(statement.place)) is not None:
        return _word(document, reading, word, statement, gone)
    if reading.kind in ("environment", "compose", "github", "gitlab"):
        return _item(document, where)
    return None


def line_bounds(document: TextDocument, offset: int) -> tuple[int, int]:
    """Return where the line of an offset starts, and where the next one does."""
    return document.line_bounds(document.place(offset).line)


def _logical_line(document: TextDocument, where: TextSpan) -> Edit:
    start, end = line_bounds(document, where.start)
    while end < len(document.text) and document.text[start:end].rstrip("\r\n").endswith("\\"):
        end = line_bounds(document, end)[1]
    return Edit(start, end, "")


def _entry(document: TextDocument, where: TextSpan) -> Edit | None:
    """Return what takes an entry out of a list or a table: its line, or itself with a comma."""
    start, end = line_bounds(document, where.start)
    text = document.text
    quoted = (
        where.start > start and text[where.start - 1] in "\"'" and text[where.end : where.end + 1] == text[where.start - 1]
    )
    first, last = (where.start - 1, where.end + 1) if quoted else where
    before, after = text[start:first], text[last:end]
    if not before.strip() and re.fullmatch(r"\s*+(?:,\s*+)?(?:#.*+)?\s*+", after):
        return Edit(start, end, "")
    if (
        not quoted
        and re.fullmatch(r"""\s*["']?""", before)
        and re.fullmatch(r"""["']?\s*=\s*("[^"]*"|'[^']*'|\{[^{}]*\})\s*+(?:#.*+)?\s*+""", after)
    ):
        return Edit(start, end, "")
    if re.fullmatch(r"""\s*["']?[\w.-]+["']?\s*=\s*(\{[^{}]*)?""", before) and "[" not in before:
        return Edit(start, end, "") if re.fullmatch(r"""[^\[\]{}#]*+\}?\s*+(?:#.*+)?\s*+""", after) else None
    if not quoted:
        return None
    if follows := re.match(r"\s*,\s*", text[last:end]):
        return Edit(first, last + follows.end(), "")
    if (leads := re.search(r",\s*\Z", before)) and re.match(r"\s*\]", after):
        return Edit(start + leads.start(), last, "")
    if before.rstrip().endswith("[") and re.match(r"\s*\]", after):
        return Edit(first, last, "")
    return None


def _item(document: TextDocument, where: TextSpan) -> Edit | None:
    """Return what takes an item out of a list of YAML, where others are left in it."""
    start, end = line_bounds(document, where.start)
    before, after = document.text[start : where.start], document.text[where.end : end]
    if not re.fullmatch(r"""\s*-\s*["']?""", before) or not re.fullmatch(r"""["']?\s*+(?:#.*+)?\s*+""", after):
        return None
    indent = before[: before.index("-")]
    number = document.place(start).line
    beside = (document.line(number - 1), document.line(number + 1))
    alone = not any(line.startswith(f"{indent}- ") and not line.rstrip().endswith(":") for line in beside)
    return None if alone else Edit(start, end, "")


def index_edit(document: TextDocument, kind: str, use: IndexUse, instead: str) -> tuple[Edit, ...]:
    """Return what puts another index in the place of one, or takes it out where `instead` is empty."""
    start = document.offset(*use.place)
    line_start, line_end = line_bounds(document, start)
    at = document.text.find(use.url, start, max(line_end, start + len(use.text) + len(use.url)))
    if at < 0:
        return ()
    past = at + len(use.url)
    flag = _FLAG.search(document.text[line_start:at].rstrip("\"'"))
    if instead:
        renamed: tuple[Edit, ...] = ()
        if flag and flag[1] in ("-f", "--find-links"):
            begin = line_start + flag.start(1)
            renamed = (Edit(begin, begin + len(flag[1]), "--extra-index-url"),)
        elif use.style == "find-links":
            return ()
        return (*renamed, Edit(at, past, instead))
    if kind in LINES:
        return (Edit(line_start, line_end, ""),)
    if kind in COMMANDS and flag:
        begin = line_start + flag.start(1)
        quote = document.text[at - 1] if document.text[at - 1] in "\"'" else ""
        end = past + len(quote)
        head = document.text[line_start:begin]
        tail = document.text[end:line_end]
        if not head.strip() and re.fullmatch(r"[ \t]*\\\s*", tail):
            return (Edit(line_start, line_end, ""),)
        if not head.strip() and not tail.strip():
            return ()
        gap = len(head) - len(head.rstrip(" \t"))
        return (Edit(begin - gap, end, ""),) if gap else ()
    return ()


# words of commands


def span_of(document: TextDocument, word: Word) -> TextSpan | None:
    """Return where a word stands, as it is written; None where the file writes it otherwise."""
    start = document.offset(*word.place)
    end = start + len(word.raw)
    return TextSpan(start, end) if word.raw and document.text[start:end] == word.raw else None


def _word(
    document: TextDocument, reading: ParsedFile, position: tuple[tuple[Word, ...], int], statement: Statement, gone: Removals
) -> Edit | None:
    words, number = position
    first, whole, last = (span_of(document, word) for word in (words[0], words[number], words[-1]))
    if first is None or whole is None or last is None:
        return None
    if isinstance(statement, Requirement) and gone.whole_step(reading, statement) and not _paths(words):
        return _command(document, reading, TextSpan(first.start, last.end))
    return cut(document, whole)


def _paths(words: Iterable[Word]) -> bool:
    """Return whether a command installs something that is no requirement: a folder, a file, an address."""
    for word in words:
        scheme, colon, _ = word.value.partition("://")
        if word.value == "." or word.value[:2] in ("./", ".[", "..") or word.value[:1] == "/" or (colon and "+" in scheme):
            return True
    return False


def cut(document: TextDocument, word: TextSpan) -> Edit | None:
    """Return what takes a word out of a command, with its line where it stands alone on a continued one."""
    text = document.text
    start, end = line_bounds(document, word.start)
    before, after = text[start : word.start], text[word.end : end]
    if "\n" in text[word.start : word.end]:
        return None
    if not before.strip():
        if _CONTINUED.fullmatch(after.lstrip(" \t")):
            return Edit(start, end, "")
        if back := re.search(r"(?<![ \t])[ \t]*+\\[ \t]*+(?:\r\n?|\n)[ \t]*\Z", text[: word.start][-400:]):
            return Edit(word.start - len(back[0]), word.end, "")
    gap = len(before) - len(before.rstrip(" \t"))
    return Edit(word.start - gap, word.end, "") if gap else None


def _command(document: TextDocument, reading: ParsedFile, whole: TextSpan) -> Edit | None:
    """Return what takes a command out: with the `&&` beside it, or with its lines where nothing else is on them."""
    text = document.text
    start, last = line_bounds(document, whole.start)[0], line_bounds(document, whole.end)
    head, tail = text[: whole.start], text[whole.end :]
    back = _BACK.search(head[-2000:])
    gap = len(back[0]) if back else 0
    if head[: len(head) - gap].endswith("&&"):
        outer = head[: len(head) - gap - 2]
        more = _BACK.search(outer[-2000:])
        return Edit(whole.start - gap - 2 - (len(more[0]) if more else 0), whole.end, "")
    forward = _GLUE.match(tail)
    gap = forward.end() if forward else 0
    if tail[gap : gap + 2] == "&&":
        onward = _GLUE.match(tail, gap + 2)
        return Edit(whole.start, whole.end + (onward.end() if onward else gap + 2), "")
    before, after = text[start : whole.start], text[whole.end : last[1]]
    if after.strip() and not re.fullmatch(r"\s*#.*\s*", after):
        return None
    if reading.kind == "dockerfile":
        return Edit(start, last[1], "") if _RUN.fullmatch(before) else None
    if before.strip() and not (reading.kind == "markdown" and before.strip() == "$"):
        return None
    fits = {"shell": _fits_between, "markdown": _beside_others}.get(reading.kind, _in_block)
    return Edit(start, last[1], "") if fits(document, start, last[1]) else None


def _beside_others(document: TextDocument, start: int, end: int) -> bool:
    """Return whether a fenced block keeps a line beside these."""
    beside = (document.line(document.place(start).line - 1), document.line(document.place(end).line))
    return any(line.strip() and not line.strip().startswith(("```", "~~~")) for line in beside)


def _fits_between(document: TextDocument, start: int, end: int) -> bool:
    """Return whether a branch of a script keeps something without these lines."""
    number, following = document.place(start).line, document.place(end).line
    above = document.line(number - 1).strip()
    below = document.line(following).strip()
    opens = re.search(r"(?:^|[\s;])(?:then|do|else|\{|\))$", above) is not None or above.endswith("\\")
    closes = re.match(r"(?:fi|done|else|elif|esac|\}|;;)", below) is not None
    return not (opens and closes) and not above.endswith("\\")


def _in_block(document: TextDocument, start: int, end: int) -> bool:
    """Return whether lines stand in a block of text that holds others."""
    number, following = document.place(start).line, document.place(end).line
    line = document.line(number)
    indent = line[: len(line) - len(line.lstrip())]
    beside = [document.line(number - 1), document.line(following)] if number > 1 else [document.line(following)]
    return bool(indent) and any(
        other.startswith(indent) and other[len(indent) :][:1].strip() and not other.lstrip().startswith(("-", "#"))
        for other in beside
    )
