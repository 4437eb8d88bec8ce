"""The published views as one JSON document or as CSV files."""

import csv
import io
import json
import zipfile
from datetime import date
from typing import Any

from compatkb.errors import UsageError
from compatkb.store.reader import Snapshot
from compatkb.store.tables import FORMAT, DatabaseView, ViewColumn, read_views, views

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


def read_tables(facts: Snapshot, *names: str) -> Tables:
    """Return the rows of some tables, or of all; truths are 0 and 1. Raises UsageError for an unknown one."""
    known = [table.name for table in tables()]
    if unknown := [name for name in names if name not in known]:
        raise UsageError(f"there is no table {unknown[0]!r}; there are {', '.join(known)}")
    return read_views(facts, names or known)


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


def csv_files(rows: Tables) -> dict[str, bytes]:
    """Return a CSV file for each of these tables, by file name."""
    return {f"{table.name}.csv": csv_text(table, rows[table.name]).encode() for table in tables() if table.name in rows}


def csv_text(table: DatabaseView, rows: list[Row]) -> str:
    """Return rows of a table as CSV with a head line; null is an empty field."""
    out = io.StringIO()
    writer = csv.DictWriter(out, [column.name for column in table.columns], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def zip_bytes(files: dict[str, bytes], day: date) -> bytes:
    """Return a zip archive of files, all of them dated `day`."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in sorted(files.items()):
            entry = zipfile.ZipInfo(name, (max(day.year, 1980), day.month, day.day, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, content)
    return out.getvalue()


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
