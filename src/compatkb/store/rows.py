"""Converts rows of the snapshot into records, as the annotations of their fields say."""

import json
from collections.abc import Callable
from functools import cache
from typing import Annotated, Any, NamedTuple

Read = Callable[[Any], Any]
_Sources = tuple[tuple[str, str | None], ...]


def read_sources(text: str) -> _Sources:
    """Return sources as the snapshot keeps them."""
    return tuple((name, url) for name, url in json.loads(text))


def read_list(text: str) -> tuple[Any, ...]:
    """Return the values of a JSON list."""
    return tuple(json.loads(text))


class Column(NamedTuple):
    """A column that is not named as its field is."""

    name: str


Words = Annotated[tuple[str, ...], lambda text: tuple(text.split())]
"""Words between blanks."""
Texts = Annotated[tuple[str, ...], read_list]
"""A JSON list of texts."""
Mask = Annotated[int, lambda text: int(text, 16)]
"""Elements of one product, as hexadecimal text."""
SourceList = Annotated[_Sources, read_sources]
"""Sources, as JSON."""
TextMap = Annotated[dict[str, str], json.loads]
"""A JSON object of texts."""


class RecordForm(NamedTuple):
    """How a kind of record is read: the columns to select, and the place and reader of each that is kept otherwise."""

    columns: str
    readers: tuple[tuple[int, Read], ...]


@cache
def form_of(kind: type[tuple[Any, ...]]) -> RecordForm:
    """Return how a kind of record is read: a column for each field, by the field's name unless a `Column` gives another."""
    columns: list[str] = []
    readers: list[tuple[int, Read]] = []
    for place, (name, hint) in enumerate(kind.__annotations__.items()):
        metadata = getattr(hint, "__metadata__", ())
        columns.append(next((each.name for each in metadata if isinstance(each, Column)), name))
        readers += [(place, each) for each in metadata if not isinstance(each, Column)]
    return RecordForm(", ".join(columns), tuple(readers))
