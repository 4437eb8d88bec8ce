"""What generated text is made of, whatever it is written in: tables, paragraphs, lists and code."""

from typing import NamedTuple


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
