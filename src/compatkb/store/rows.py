"""How records are kept: the annotation of each field of a record makes its column, writes its value and reads it.

A record is a NamedTuple. Its table has a column for each field, by the field's name.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import Enum
from functools import cache, lru_cache
from operator import attrgetter
from types import NoneType
from typing import Annotated, Any, TypeVar, get_args

from compatkb.core.record import NamedTuple

R = TypeVar("R")
Convert = Callable[[Any], Any]
_Sources = tuple[tuple[str, str | None], ...]


class FieldForm(NamedTuple):
    """How values of a kind are kept: the type of the column, what writes and what reads them; None: as they are."""

    column: str
    write: Convert | None = None
    read: Convert | None = None


INTERNED = FieldForm("INTEGER")
"""Platforms, kept once each: the column has their number in the table `cells`."""


@cache
def _to_json() -> Callable[[object], bytes]:
    from pydantic_core import to_json  # who compiles has it, and it takes a quarter of the time; who reads does without

    return to_json


def dumps(value: object) -> str:
    """Return compact JSON."""
    return _to_json()(value).decode()


def _frozen(values: list[Any]) -> tuple[Any, ...]:
    """Return the values of a list of JSON, with tuples for the lists in it."""
    return tuple([_frozen(value) if type(value) is list else value for value in values])


@lru_cache(4096)  # few different ones stand in thousands of places
def read_list(text: str) -> tuple[Any, ...]:
    """Return the values of a JSON list, and of the lists in it."""
    return _frozen(json.loads(text)) if text != "[]" else ()


@lru_cache(maxsize=65536)  # thousands of records cite the same few sources
def _write_list(values: tuple[Any, ...]) -> str:
    return dumps(values) if values else "[]"


def nested(kind: Callable[..., Any]) -> FieldForm:
    """Return how one record inside another is kept: as the JSON list of its values."""
    return FieldForm("TEXT", dumps, lambda text: kind(*read_list(text)))


def each_nested(kind: Callable[..., Any]) -> FieldForm:
    """Return how several records inside another are kept: as a JSON list of lists."""
    return FieldForm("TEXT", _write_list, lambda text: tuple(kind(*values) for values in read_list(text)))


@cache
def _word_set(text: str) -> frozenset[str]:
    """Return words between blanks as a set: few different ones stand in thousands of places."""
    return frozenset(text.split())


@lru_cache(4096)
def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


Words = Annotated[tuple[str, ...], FieldForm("TEXT", " ".join, _words)]
"""Words between blanks."""
WordSet = Annotated[frozenset[str], FieldForm("TEXT", lambda words: " ".join(sorted(words)), _word_set)]
"""A set of words, between blanks."""
Texts = Annotated[tuple[str, ...], FieldForm("TEXT", _write_list, read_list)]
"""A JSON list of texts."""


@lru_cache(16_384)
def read_mask(text: str) -> int:
    """Return elements of one product that are kept as text."""
    digits, _, zeros = text.partition("~")
    return int(digits, 16) << int(zeros) if zeros else int(digits, 16)


def write_mask(mask: int) -> str:
    """Return elements of one product as text: hexadecimal digits, and where they are many how many zero bits follow."""
    zeros = (mask & -mask).bit_length() - 1 if mask else 0
    return f"{mask >> zeros:x}~{zeros}" if zeros > 16 else f"{mask:x}"  # what is shorter


Mask = Annotated[int, FieldForm("TEXT", write_mask, read_mask)]
"""Elements of one product, as text: they are more than an integer of SQLite has bits."""
SourceList = Annotated[_Sources, FieldForm("TEXT", _write_list, read_list)]
"""Sources, as a JSON list of pairs."""
TextMap = Annotated[dict[str, str], FieldForm("TEXT", dumps, json.loads)]
"""A JSON object of texts."""
Json = FieldForm("TEXT", dumps, json.loads)
"""Any value as JSON."""

_PLAIN = {str: FieldForm("TEXT"), int: FieldForm("INTEGER"), bytes: FieldForm("BLOB"), bool: FieldForm("INTEGER", int, bool)}


def record_of(kind: Callable[..., R], /, *sources: object, **given: Any) -> R:
    """Return a record of what is given, and, for its other fields, of what the first source that has it calls so.

    Raises AttributeError for a field that nobody has.
    """
    values = [
        given[name] if place is None else getattr(sources[place], name)
        for name, place in _places(kind, tuple(given), tuple(map(type, sources)))
    ]
    return kind(*values)


@cache
def _places(kind: Callable[..., R], given: tuple[str, ...], sources: tuple[type, ...]) -> tuple[tuple[str, int | None], ...]:
    """Return the fields of a record with the place of the first source whose kind has it, None for what is given."""
    fields: tuple[str, ...] = getattr(kind, "_fields")  # noqa: B009  # mypy knows of no fields: a kind is any callable that makes a record
    if unknown := {*given} - {*fields}:
        raise TypeError(f"{kind} has no {', '.join(sorted(unknown))}")
    names = [
        {*dir(source), *getattr(source, "model_fields", ()), *getattr(source, "__annotations__", ())} for source in sources
    ]
    return tuple(
        (name, None if name in given else next((place for place, known in enumerate(names) if name in known), 0))
        for name in fields
    )


class RecordForm(NamedTuple):
    """How a kind of record is kept: its columns, and the places of fields that are written, read or numbered otherwise.

    Records that are read by the hundred are packed: those equal in some fields are one row, of these fields and of `rows`.
    """

    names: tuple[str, ...]
    types: tuple[str, ...]
    writers: tuple[tuple[int, Convert], ...]
    readers: tuple[tuple[int, Convert], ...]
    interned: tuple[int, ...]
    packed_by: tuple[str, ...]
    places: tuple[int, ...]  # where a packed row has each field: those that it is packed by first, then the others
    columns: str  # as a query selects them


ROWS = "rows"
"""The column of packed rows: a JSON list of how many they are, and of each other column, one value where all are equal."""


def packed(rows: Iterable[Sequence[Any]], form: RecordForm) -> Iterator[tuple[Any, ...]]:
    """Yield rows of a packed table for rows of all columns, in the order in which the first of each comes."""
    by = tuple(form.names.index(name) for name in form.packed_by)
    rows_by_key: dict[tuple[Any, ...], list[Sequence[Any]]] = {}
    for row in rows:
        rows_by_key.setdefault(tuple([row[place] for place in by]), []).append(row)
    for key, group in rows_by_key.items():
        rest = [column for place, column in enumerate(zip(*group, strict=True)) if place not in by]
        yield *key, dumps([len(group), *(column[0] if len({*column}) == 1 else column for column in rest)])


def unpacked(row: Sequence[Any], form: RecordForm) -> tuple[int, list[Any]]:
    """Return how many rows one of a packed table stands for, and their columns: a list, or the value that all have."""
    size, *rest = json.loads(row[-1])
    values = (*row[:-1], *rest)
    return size, [values[place] for place in form.places]


@cache
def form_of(kind: type[tuple[Any, ...]]) -> RecordForm:
    """Return how a kind of record is kept; raises TypeError for a field whose annotation does not say how."""
    forms = {name: _kept(hint) for name, hint in kind.__annotations__.items()}
    kept = tuple(enumerate(forms.values()))
    packed_by = kind.packed_by() if hasattr(kind, "packed_by") else ()
    return RecordForm(
        tuple(forms),
        tuple(form.column for form in forms.values()),
        tuple((place, form.write) for place, form in kept if form.write),
        tuple((place, form.read) for place, form in kept if form.read),
        tuple(place for place, form in kept if form is INTERNED),
        packed_by,
        tuple(map([*packed_by, *(name for name in forms if name not in packed_by)].index, forms)),
        ", ".join(f"[{name}]" for name in ((*packed_by, ROWS) if packed_by else forms)),
    )


@cache
def _kept(hint: Any) -> FieldForm:
    if kept := next((each for each in getattr(hint, "__metadata__", ()) if isinstance(each, FieldForm)), None):
        return kept
    if NoneType in get_args(hint):
        (inner,) = (each for each in get_args(hint) if each is not NoneType)
        kept = _kept(inner)
        return FieldForm(kept.column, _unless_none(kept.write), _unless_none(kept.read))
    if hint in _PLAIN:
        return _PLAIN[hint]
    if isinstance(hint, type) and issubclass(hint, Enum):
        column = "INTEGER" if issubclass(hint, int) else "TEXT"
        return FieldForm(column, attrgetter("_value_"), {each.value: each for each in hint}.__getitem__)
    raise TypeError(f"{hint}: how is it kept?")


def _unless_none(convert: Convert | None) -> Convert | None:
    return convert and (lambda value: None if value is None else convert(value))
