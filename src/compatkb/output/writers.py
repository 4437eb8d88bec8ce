"""What generated text is made of (tables, paragraphs, lists, code), and how it is written in Markdown.

In Markdown the cells of tables say exactly what they are given, and links have their definitions.
"""

import re
from collections.abc import Iterable, Mapping, Sequence

from compatkb.core.record import NamedTuple


class Span(NamedTuple):
    """A piece of text; with a topic, its link gets a definition of its own, so that many can share it."""

    text: str
    url: str | None = None
    code: bool = False
    topic: str = ""  # what the link is about: tells apart equal texts with different targets


Inline = str | Span | tuple[str | Span, ...]
"""Text in a cell, a paragraph or an item."""


class Table(NamedTuple):
    """A table; every row has as many cells as the head."""

    head: tuple[str, ...]
    rows: tuple[tuple[Inline, ...], ...]


class Paragraph(NamedTuple):
    """A paragraph."""

    text: Inline


class Bullets(NamedTuple):
    """A list without numbers."""

    items: tuple[Inline, ...]


class Code(NamedTuple):
    """Text that is shown as it stands, and the language that it is in."""

    text: str
    language: str


Block = Table | Paragraph | Bullets | Code


def spans(text: Inline) -> tuple[Span, ...]:
    """Return the pieces of a text, each as a span."""
    if isinstance(text, Span):
        return (text,)
    if isinstance(text, str):
        return (Span(text),)
    return tuple(piece if isinstance(piece, Span) else Span(piece) for piece in text)


def plain(text: Inline) -> str:
    """Return a text without its links."""
    return "".join(span.text for span in spans(text))


_MARKUP = re.compile(r"[\\`*\[\]~$]|(?<![^\W_])_|_(?![^\W_])")
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "|": "&#124;"}


class Links:
    """The link definitions of one document: each label has one target, however many tables use it."""

    def __init__(self, taken: Mapping[str, str] | None = None) -> None:
        """Start with the definitions that the document has by hand: targets by label."""
        self._targets = {_key(label): url for label, url in (taken or {}).items()}
        self._fresh: list[tuple[str, str]] = []

    def reference(self, span: Span) -> str:
        """Return a link by its label; a label that is taken for another target is told apart by the topic."""
        text = cell(span.text)
        labels = (span.text, f"{span.topic}-{span.text}", *(f"{span.topic}-{span.text}-{n}" for n in range(2, 100)))
        for label in labels:
            known = self._targets.get(_key(label))
            if known is None:
                self._targets[_key(label)] = str(span.url)
                self._fresh.append((label, str(span.url)))
            if known in (None, span.url):
                return f"[{text}]" if label == span.text else f"[{text}][{cell(label)}]"
        raise ValueError(f"too many targets for {span.text}")

    def definitions(self) -> str:
        """Return the definitions that were needed since this was last asked."""
        lines = [f"[{cell(label)}]: <{_target(url)}>\n" for label, url in self._fresh]
        self._fresh = []
        return "".join(lines)


def _key(label: str) -> str:
    return " ".join(label.split()).casefold()


def render(blocks: Iterable[Block], links: Links) -> str:
    """Return blocks in Markdown, followed by the definitions of links that are not there yet."""
    parts = [_block(block, links) for block in blocks]
    return "\n".join([*parts, *([definitions] if (definitions := links.definitions()) else [])])


def _block(block: Block, links: Links) -> str:
    if isinstance(block, Table):
        lines = [_line([cell(text) for text in block.head]), "|" + "---|" * len(block.head)]
        for row in block.rows:
            if len(row) != len(block.head):
                raise ValueError(f"{len(row)} cells in a table of {len(block.head)} columns")
            lines.append(_line([inline(text, links) for text in row]))
        return "\n".join(lines) + "\n"
    if isinstance(block, Code):
        return fence(block.text, block.language)
    if isinstance(block, Bullets):
        return "".join(f"- {inline(item, links)}\n" for item in block.items)
    return inline(block.text, links) + "\n"


def inline(text: Inline, links: Links) -> str:
    """Return a text that fits into a cell or a line, with its links."""
    if isinstance(text, str):
        return cell(text)
    pieces = spans(text)
    shown = [_span(piece, links) for piece in pieces]
    for number, piece in enumerate(pieces):  # the blanks between pieces are text too
        if not piece.url and not piece.code:
            head = " " if number and piece.text[:1].isspace() else ""
            tail = " " if number + 1 < len(pieces) and piece.text[-1:].isspace() else ""
            shown[number] = f"{head}{shown[number]}{tail}" if piece.text.strip() else " "
    return "".join(shown)


def _span(span: Span, links: Links) -> str:
    if span.url and span.topic and not span.code:
        return links.reference(span)
    shown = _code(span.text) if span.code else cell(span.text)
    return f"[{shown}](<{_target(span.url)}>)" if span.url else shown


def _code(text: str) -> str:
    """Return a code span; what would end it or the cell is left out."""
    shown = re.sub(r"[`|]", "", _printable(" ".join(text.split())))
    return f"`{shown}`" if shown else ""


def _target(url: str) -> str:
    return re.sub(r"[<>|\s\\]", lambda match: f"%{ord(match[0]):02X}", url)


def cell(text: str) -> str:
    """Return `text` as a table cell that shows it literally: markup escaped, line ends as `<br>`, control characters dropped.

    A pipe is written as an entity, since readers of Markdown differ about escaped pipes.
    """
    lines = [" ".join(_printable(line).split()) for line in text.strip().splitlines()]
    return "<br>".join(_escaped(line) for line in lines)


def fence(text: str, language: str) -> str:
    """Return `text` as a fenced block; the fence is longer than every run of backticks inside."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    mark = "`" * max(3, longest + 1)
    return f"{mark}{language}\n{text.rstrip()}\n{mark}\n"


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _escaped(line: str) -> str:
    marked = _MARKUP.sub(lambda match: "\\" + match[0], line)
    return re.sub(r"[&<>|]", lambda match: _ENTITIES[match[0]], marked)


def _printable(line: str) -> str:
    return "".join(mark if mark.isprintable() or mark.isspace() else "" for mark in line)
