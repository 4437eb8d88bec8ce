"""The published tables as one JSON document or as CSV files."""

import csv
import io
import json
import zipfile
from datetime import date
from typing import Any

from compatkb.errors import UsageError
from compatkb.export.columns import TableColumn, TableSchema
from compatkb.export.table_reader import Row, Tables
from compatkb.export.tables import FORMAT, TABLES

_KINDS: dict[str, dict[str, Any]] = {
    "text": {"type": "string"},
    "date": {"type": "string", "format": "date"},
    "integer": {"type": "integer"},
    "boolean": {"type": "boolean"},
}


def json_text(tables: Tables) -> str:
    """Return every table as one JSON document, a line per record."""
    meta = {row["key"]: row["value"] for row in tables["meta"]}
    head = {"schema": FORMAT, "data_date": meta["data_date"], "program": meta["program"], "digest": meta["digest"]}
    lines = [f"  {_dumps(key)}: {_dumps(value)}," for key, value in head.items()]
    shown = [table for table in TABLES if table.name != "meta"]
    for table in shown:
        rows = ",\n".join(f"    {_dumps(_record(table, row))}" for row in tables[table.name])
        body = f"[\n{rows}\n  ]" if rows else "[]"
        lines.append(f"  {_dumps(table.name)}: {body}{'' if table is shown[-1] else ','}")
    return "{\n" + "\n".join(lines) + "\n}\n"


def bundle_schema() -> dict[str, Any]:
    """Return the JSON Schema of `json_text`."""
    shown = [table for table in TABLES if table.name != "meta"]
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
        "type": "object",
        "properties": fields,
        "required": list(fields),
        "additionalProperties": False,
        "$defs": {table.name: _record_schema(table) for table in shown},
    }


def schema_text() -> str:
    """Return the JSON Schema of `json_text`, as text."""
    return json.dumps(bundle_schema(), indent=2, ensure_ascii=False) + "\n"


def csv_files(tables: Tables) -> dict[str, bytes]:
    """Return a CSV file for each table, by file name."""
    return {f"{table.name}.csv": csv_text(tables, table.name).encode() for table in TABLES}


def csv_text(tables: Tables, name: str) -> str:
    """Return one table as CSV with a head line; null is an empty field. Raises UsageError for an unknown table."""
    table = next((table for table in TABLES if table.name == name), None)
    if table is None:
        raise UsageError(f"there is no table {name!r}; there are {', '.join(table.name for table in TABLES)}")
    out = io.StringIO()
    writer = csv.DictWriter(out, [column.name for column in table.columns], lineterminator="\n")
    writer.writeheader()
    writer.writerows(tables[name])
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


def _record(table: TableSchema, row: Row) -> Row:
    return {c.name: bool(row[c.name]) if c.kind == "boolean" else row[c.name] for c in table.columns}


def _record_schema(table: TableSchema) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {column.name: _column_schema(column) for column in table.columns},
        "required": [column.name for column in table.columns],
        "additionalProperties": False,
    }


def _column_schema(column: TableColumn) -> dict[str, Any]:
    kind = dict(_KINDS[column.kind])
    if column.null:
        kind["type"] = [kind["type"], "null"]
    about = column.about + (f"; the key of a record of {column.refers}" if column.refers else "")
    return {"description": f"{about[0].upper()}{about[1:]}.", **kind}


def _dumps(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
