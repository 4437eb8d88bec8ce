"""Columns, tables and views: what a published table is made of."""

from typing import NamedTuple


class TableColumn(NamedTuple):
    """A column; `refers` names the table whose key it holds."""

    name: str
    kind: str  # text, date, integer, boolean
    about: str
    null: bool = False
    refers: str | None = None


class TableSchema(NamedTuple):
    """A table, its key, and the columns that full-text search reads."""

    name: str
    about: str
    key: tuple[str, ...]
    columns: tuple[TableColumn, ...]
    search: tuple[str, ...] = ()


class DatabaseView(NamedTuple):
    """A query worth a name; the database and its documentation have it, CSV and JSON do not."""

    name: str
    about: str
    query: str


def text(name: str, about: str, refers: str | None = None) -> TableColumn:
    """Return a column of text."""
    return TableColumn(name, "text", about, refers=refers)


def maybe(name: str, about: str, refers: str | None = None, kind: str = "text") -> TableColumn:
    """Return a column that may be null."""
    return TableColumn(name, kind, about, null=True, refers=refers)


def number(name: str, about: str, refers: str | None = None) -> TableColumn:
    """Return a column of whole numbers."""
    return TableColumn(name, "integer", about, refers=refers)


def truth(name: str, about: str) -> TableColumn:
    """Return a column of truths."""
    return TableColumn(name, "boolean", about)


def day(name: str, about: str) -> TableColumn:
    """Return a column of days."""
    return TableColumn(name, "date", about)


def days(what: str) -> tuple[TableColumn, ...]:
    """Return the two columns that bound the day of an event, `what` in their names."""
    return (
        maybe(f"{what}_from", "the first day on which it may have happened", kind="date"),
        maybe(f"{what}_by", "the day by which it had happened; equal to the first where the day is known", kind="date"),
    )


def cites(owner: str, what: str) -> TableSchema:
    """Return the table that ties the records of a table to their documents."""
    kind = "integer" if owner in ("advisory", "completeness", "install") else "text"
    return TableSchema(
        f"{owner}_source",
        f"The documents that {what} rests on.",
        (owner, "position"),
        (
            TableColumn(owner, kind, f"the {owner}", refers=owner),
            number("position", "0 for the first"),
            number("source", "the document", "source"),
        ),
    )


ELEMENT = (
    text("product", "the product named", "product"),
    text("release", "the release named", "release"),
    maybe("build", "the build named; null where the release has none", "build"),
)
"""The columns that name a version: its product, release and build."""
