"""Columns, tables and views: what a published table is made of."""

from functools import partial
from typing import NamedTuple


class TableColumn(NamedTuple):
    """A column; `refers` names the table whose key it holds."""

    name: str
    about: str
    refers: str | None = None
    kind: str = "text"  # or date, integer, boolean
    null: bool = False


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


def table(name: str, about: str, key: tuple[str, ...], *columns: TableColumn, search: tuple[str, ...] = ()) -> TableSchema:
    """Return a table of these columns."""
    return TableSchema(name, about, key, columns, search)


text = TableColumn
number = partial(TableColumn, kind="integer")
truth = partial(TableColumn, kind="boolean")
day = partial(TableColumn, kind="date")
maybe = partial(TableColumn, null=True)


def days(what: str) -> tuple[TableColumn, ...]:
    """Return the two columns that bound the day of an event, `what` in their names."""
    return (
        maybe(f"{what}_from", "the first day on which it may have happened", kind="date"),
        maybe(f"{what}_by", "the day by which it had happened; equal to the first where the day is known", kind="date"),
    )


def cites(owner: str, what: str) -> TableSchema:
    """Return the table that ties the records of a table to their documents."""
    kind = "integer" if owner in ("advisory", "completeness", "install") else "text"
    return table(
        f"{owner}_source",
        f"The documents that {what} rests on.",
        (owner, "position"),
        TableColumn(owner, f"the {owner}", owner, kind),
        number("position", "0 for the first"),
        number("source", "the document", "source"),
    )


ELEMENT = (
    text("product", "the product named", "product"),
    text("release", "the release named", "release"),
    maybe("build", "the build named; null where the release has none", "build"),
)
"""The columns that name a version: its product, release and build."""
