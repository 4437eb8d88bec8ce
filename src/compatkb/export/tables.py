"""The published views: as one SQLite database, which describes itself, or as one JSON document."""

import errno
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from compatkb.core.atomic_write import make_file
from compatkb.errors import UsageError
from compatkb.store.connection import connect
from compatkb.store.reader import Snapshot
from compatkb.store.tables import FORMAT, DatabaseView, ViewColumn, publish, read_views, views

APPLICATION = int.from_bytes(b"ckb\0", "big")
"""What SQLite stores in the file to say whose it is."""


def write_database(facts: Snapshot, target: Path, *, force: bool = False) -> None:
    """Write the database; the same data give the same bytes with the same SQLite.

    Raises UsageError where `target` is something else than an earlier database of ours and `force` is not given, and
    UnavailableError where it cannot be written.
    """
    if target.is_file() and target.stat().st_size and not force and not is_ours(target):
        raise UsageError(f"{target}: is no database of compatkb; --force overwrites it")

    def fill(path: Path) -> None:
        try:
            with closing(sqlite3.connect(path)) as db:
                publish(facts, db)
                db.execute(f"pragma application_id = {APPLICATION}")
        except sqlite3.OperationalError as error:  # the disk is full, or fails
            raise OSError(errno.EIO, str(error), str(path)) from None

    make_file(target, fill)


def is_ours(path: Path) -> bool:
    """Return whether a file is a database that this program wrote."""
    try:
        with closing(connect(str(path.resolve()))) as db:
            return bool(db.execute("pragma application_id").fetchone()[0] == APPLICATION)
    except sqlite3.Error:
        return False


Row = dict[str, Any]
Tables = dict[str, list[Row]]

_KINDS: dict[str, dict[str, Any]] = {
    "text": {"type": "string"},
    "date": {"type": "string", "format": "date"},
    "integer": {"type": "integer"},
    "boolean": {"type": "boolean"},
}


def tables() -> tuple[DatabaseView, ...]:
    """Return the views that are written as tables: those that do not answer a question from others."""
    return tuple(view for view in views() if view.columns)


def read_tables(facts: Snapshot) -> Tables:
    """Return the rows of all tables; truths are 0 and 1."""
    return read_views(facts, [table.name for table in tables()])


def json_text(rows: Tables) -> str:
    """Return every table as one JSON document, a line per record."""
    meta = {row["key"]: row["value"] for row in rows["meta"]}
    head = {"schema": FORMAT, "data_date": meta["data_date"], "program": meta["program"], "digest": meta["digest"]}
    parts = [f"  {_dumps(key)}: {_dumps(value)}" for key, value in head.items()]
    for table in tables():
        if table.name != "meta":
            lines = ",\n".join(f"    {_dumps(_record(table, row))}" for row in rows[table.name])
            parts.append(f"  {_dumps(table.name)}: " + (f"[\n{lines}\n  ]" if lines else "[]"))
    return "{\n" + ",\n".join(parts) + "\n}\n"


def bundle_schema() -> dict[str, Any]:
    """Return the JSON Schema of `json_text`."""
    shown = [table for table in tables() if table.name != "meta"]
    fields: dict[str, Any] = {
        "schema": {"const": FORMAT, "description": "The number of this contract."},
        "data_date": {**_KINDS["date"], "description": "The newest day on which something in the data was seen."},
        "program": {"type": "string", "description": "The program that wrote it."},
        "digest": {"type": "string", "description": "What tells these data from others."},
    }
    for table in shown:
        fields[table.name] = {"description": table.about, "type": "array", "items": {"$ref": f"#/$defs/{table.name}"}}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "compatkb export --format json",
        **_closed(fields),
        "$defs": {table.name: _closed({c.name: _column_schema(c) for c in table.columns}) for table in shown},
    }


def schema_text() -> str:
    """Return the JSON Schema of `json_text`, as text."""
    return json.dumps(bundle_schema(), indent=2, ensure_ascii=False) + "\n"


def _record(table: DatabaseView, row: Row) -> Row:
    return {c.name: bool(row[c.name]) if c.kind == "boolean" else row[c.name] for c in table.columns}


def _closed(fields: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}


def _column_schema(column: ViewColumn) -> dict[str, Any]:
    kind = dict(_KINDS[column.kind])
    if column.null:
        kind["type"] = [kind["type"], "null"]
    return {"description": f"{column.about[0].upper()}{column.about[1:]}.", **kind}


def _dumps(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
