"""The tables of the snapshot: the record of each, its keys, its indexes; and the published views over them (views.sql)."""

import re
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from functools import cache
from itertools import product, repeat
from pathlib import Path
from typing import Any

from compatkb.core.record import NamedTuple
from compatkb.store.queries.claims import Citation, ClaimRecord, FeatureRecord, InstallRecord, StatementRecord
from compatkb.store.queries.disputes import ConcernedRecord, DisputeRecord
from compatkb.store.queries.images import ColumnRecord, ContentRecord, ImageRecord, ListingRecord, RunRecord
from compatkb.store.queries.products import ChannelRecord, ElementDetails, ProductDetails, ReleaseRecord
from compatkb.store.queries.provenance import DocumentRecord, GuideRecord, ObservationRecord
from compatkb.store.reader import Snapshot
from compatkb.store.records import (
    Advisory,
    CellsRecord,
    CompleteScope,
    Defect,
    Edge,
    Element,
    Event,
    GridValue,
    MetaRecord,
    ModelPattern,
    Name,
    OutsideRequirement,
    Pair,
    Product,
    Route,
    VendorRecord,
    VersionWord,
    Waiver,
    newest_first,
)
from compatkb.store.rows import ROWS, form_of, packed, read_mask, unpacked
from compatkb.version import __version__


class StoredTable(NamedTuple):
    """A table: its kind of record, the columns of its key (none: its rows are numbered), and those that it is looked up by."""

    kind: type[tuple[Any, ...]]
    key: str = ""
    indexes: tuple[str, ...] = ()

    def fill(self, db: sqlite3.Connection, name: str, rows: Iterable[Sequence[Any]], *, packs: bool) -> None:
        """Make the table under a name, with its rows of all columns and its indexes; `packs` where its kind is packed."""
        form = form_of(self.kind)
        types, key = dict(zip(form.names, form.types, strict=True)), self.key.split()
        if packs and form.packed_by:
            types, key = {each: types[each] for each in form.packed_by} | {ROWS: "TEXT"}, list(form.packed_by)
            rows = packed(rows, form)
        columns = [f"[{column}] {kind}" for column, kind in types.items()]
        columns += [f"primary key ({', '.join(f'[{column}]' for column in key)})"] if key else []
        db.execute(f"create table [{name}] ({', '.join(columns)})")
        db.executemany(f"insert into [{name}] values ({', '.join('?' for _ in types)})", rows)
        for column in self.indexes:
            db.execute(f"create index [{name}_{column}] on [{name}] ([{column}])")


TABLES = {
    "meta": StoredTable(MetaRecord, "key"),
    "product": StoredTable(Product, "id"),
    "product_details": StoredTable(ProductDetails, "id"),
    "name": StoredTable(Name, "name"),
    "grid": StoredTable(GridValue, "dimension idx"),
    "release": StoredTable(ReleaseRecord, "product version"),
    "element": StoredTable(Element, "product idx"),
    "element_details": StoredTable(ElementDetails, "product idx"),
    "word": StoredTable(VersionWord, "product word strict"),
    "model": StoredTable(ModelPattern, "product pattern"),
    "edge": StoredTable(Edge, "id"),
    "pair": StoredTable(Pair, "of to"),
    "claim": StoredTable(ClaimRecord, "id"),
    "citation": StoredTable(Citation, "claim n"),
    "dispute": StoredTable(DisputeRecord, "id"),
    "concerned": StoredTable(ConcernedRecord, indexes=("name", "claim")),
    "scope": StoredTable(CompleteScope),
    "advisory": StoredTable(Advisory),
    "defect": StoredTable(Defect),
    "install": StoredTable(InstallRecord, "id"),
    "waiver": StoredTable(Waiver),
    "outside": StoredTable(OutsideRequirement, indexes=("product",)),
    "channel": StoredTable(ChannelRecord, "id"),
    "route": StoredTable(Route, "id"),
    "image": StoredTable(ImageRecord, "id"),
    "listing": StoredTable(ListingRecord),
    "column": StoredTable(ColumnRecord, "repository name"),
    "run": StoredTable(RunRecord),
    "feature": StoredTable(FeatureRecord, "id"),
    "statement": StoredTable(StatementRecord, "claim", ("product",)),
    "content": StoredTable(ContentRecord, indexes=("product",)),
    "guide": StoredTable(GuideRecord, "kind position"),
    "vendor": StoredTable(VendorRecord, "id"),
    "event": StoredTable(Event, "id"),
    "document": StoredTable(DocumentRecord),
    "observation": StoredTable(ObservationRecord, "id"),
    "cells": StoredTable(CellsRecord, "id"),
}
"""Every table by its name, in the order in which they are filled."""


def unpacked_rows(db: sqlite3.Connection, name: str) -> Iterator[tuple[Any, ...]]:
    """Yield the rows for which those of a packed table stand, with all columns."""
    form = form_of(TABLES[name].kind)
    for row in db.execute(f"select {form.columns} from [{name}] order by rowid"):
        size, columns = unpacked(row, form)
        yield from zip(*(column if type(column) is list else repeat(column, size) for column in columns), strict=True)


FORMAT = 3
"""The number of this contract; within one number views and columns are only added."""
_VIEW = re.compile(r"((?:--[^\n]*\n)*)(create view (\w+) as\b.*?;)\n", re.DOTALL)
_COLUMN = re.compile(r"(\w+),? -- (text|integer|date|boolean)( or null)?: (.*)")
_WORDS = re.compile(r"\bWORDS\(([\w.]+)\)")
_MASKS = (
    ("edge", "of", "of_mask"),
    ("edge", "to", "to_mask"),
    ("statement", "product", "mask"),
    ("content", "product", "mask"),
    ("concerned", "name", "mask"),
    ("advisory", "product", "mask"),
    ("install", "product", "mask"),
)
"""The columns that name versions: the table, its column of products, and that of masks."""


_GRID = ("os", "arch", "python")


class ViewColumn(NamedTuple):
    """A column of a view."""

    name: str
    kind: str  # text, integer, date or boolean
    null: bool
    about: str


class DatabaseView(NamedTuple):
    """A view: what it is, the statement that makes it, and its columns; one that answers a question declares none."""

    name: str
    about: str
    statement: str
    columns: tuple[ViewColumn, ...]


@cache
def views() -> tuple[DatabaseView, ...]:
    """Return the published views; each reads only from those above it."""
    return tuple(view for view in _declared() if view.about)


def _declared() -> list[DatabaseView]:
    text = Path(__file__).with_name("views.sql").read_text(encoding="utf-8")
    declared = []
    for about, statement, name in _VIEW.findall(text):
        columns = (ViewColumn(column, kind, bool(null), what) for column, kind, null, what in _COLUMN.findall(statement))
        statement = _WORDS.sub(r"""iif(\1 = '', '[]', '["' || replace(\1, ' ', '","') || '"]')""", statement)
        declared.append(DatabaseView(name, " ".join(about.replace("-- ", "").split()), statement, tuple(columns)))
    return declared


def publish(facts: Snapshot, db: sqlite3.Connection) -> None:
    """Copy a snapshot into an empty database: its tables with an underscore in front, and the views over them."""
    facts.copy_to(db)
    with db:
        _publish(db)


def read_views(facts: Snapshot, names: Iterable[str]) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of some views by their names; truths are 0 and 1."""
    with closing(sqlite3.connect(":memory:")) as db:
        publish(facts, db)
        db.row_factory = sqlite3.Row
        return {name: [dict(row) for row in db.execute(f"select * from [{name}]")] for name in names}


def _publish(db: sqlite3.Connection) -> None:
    for name, table in TABLES.items():
        if form_of(table.kind).packed_by:
            table.fill(db, f"_{name}", unpacked_rows(db, name), packs=False)
            db.execute(f"drop table [{name}]")
        else:
            db.execute(f"alter table [{name}] rename to [_{name}]")
    db.execute("insert or replace into _meta values ('format', ?), ('program', ?)", (str(FORMAT), f"compatkb {__version__}"))
    db.execute("create table _member (product text, mask text, idx integer, primary key (product, mask, idx)) without rowid")
    db.executemany("insert into _member values (?, ?, ?)", _members(db))
    db.execute("create table _platform (cells integer, os text, arch text, python text)")
    db.executemany("insert into _platform values (?, ?, ?, ?)", _platforms(db))
    db.execute("create index _platform_cells on _platform (cells)")
    for view in _declared():
        db.execute(view.statement)
    described = [(view.name, "", view.about) for view in views()]
    described += [(view.name, column.name, column.about) for view in views() for column in view.columns]
    db.execute(
        "create table description (table_name text, column_name text, text text, primary key (table_name, column_name))"
    )
    db.executemany("insert into description values (?, ?, ?)", described)
    db.execute(f"pragma user_version = {FORMAT}")


def _members(db: sqlite3.Connection) -> Iterator[tuple[str, str, int]]:
    """Yield the elements of each mask of each product."""
    masks = " union ".join(f"select [{product}], [{mask}] from [_{name}]" for name, product, mask in _MASKS)
    for of, mask in db.execute(masks).fetchall():
        yield from ((of, mask, idx) for idx in newest_first(read_mask(mask)))


def _platforms(db: sqlite3.Connection) -> Iterator[tuple[int, str, str, str]]:
    """Yield the platforms of families of systems that are in each set of cells which elements name."""
    grid = [db.execute("select value, wider from _grid where dimension = ? order by idx", [name]).fetchall() for name in _GRID]
    named = "select certain from _element union select inferred from _element"
    for number, mask in db.execute(f"select id, mask from _cells where id in ({named})").fetchall():
        for bit, ((system, wider), (arch, _), (python, _)) in enumerate(product(*grid)):
            if not wider and int.from_bytes(mask) >> bit & 1:
                yield number, system, arch, python
