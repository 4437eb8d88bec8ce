"""A SQLite database for people, made with sqlite-utils: keys, indexes, full-text search, views, and what it says of itself."""

import errno
import sqlite3
from pathlib import Path
from typing import Any

from compatkb.core.atomic_write import make_file
from compatkb.errors import UsageError
from compatkb.export.columns import TableSchema
from compatkb.export.table_reader import Tables
from compatkb.export.tables import FORMAT, TABLES, read_tables
from compatkb.export.views import VIEWS
from compatkb.store.connection import connect
from compatkb.store.reader import Snapshot

APPLICATION = int.from_bytes(b"ckb\0", "big")
"""What SQLite stores in the file to say whose it is."""

DESCRIPTION = "description"
_TYPES: dict[str, type] = {"text": str, "date": str, "integer": int, "boolean": int}
_HEAD = f"""# The database

`compatkb build` writes the knowledge base as one SQLite database, for people and their tools: sqlite-utils, Datasette,
pandas, a shell. `compatkb export --format csv` and `--format json` give the same tables without the views.
The engine does not read it.

```console
$ compatkb build --out compatkb.sqlite
```

- The number of this contract is {FORMAT}: `meta` has it as `format`, and so does `pragma user_version`. Within one number,
  tables, columns and views are only added.
- Days are ISO dates, truths are 0 and 1, null means that nothing is known. A release or a build is named `product==version`.
- Foreign keys hold (`pragma foreign_key_check` is empty). Columns that refer to a table have an index.
- Tables marked *searchable* have full-text search over the columns in bold: `select r.id from release_fts f join release r
  on r.rowid = f.rowid where release_fts match 'dg2'`. Put a version between double quotes, inside the single ones.
- The table `description` holds the sentences of this page: `table_name`, `column_name` (empty for the table itself), `text`.
- The same data give the same bytes with the same version of SQLite.
- The file is written whole or not at all. A file that is no database of compatkb is left alone unless `--force` is given.
"""


def write_database(facts: Snapshot, target: Path, *, force: bool = False) -> None:
    """Write the database; the same data give the same bytes with the same SQLite.

    Raises UsageError where `target` is something else than an earlier database of ours and `force` is not given, and
    UnavailableError where it cannot be written.
    """
    if target.is_file() and target.stat().st_size and not force and not is_ours(target):
        raise UsageError(f"{target}: is no database of compatkb; --force overwrites it")
    tables = read_tables(facts)
    make_file(target, lambda new: _fill(new, tables))


def is_ours(path: Path) -> bool:
    """Return whether a file is a database that this program wrote."""
    try:
        db = connect(str(path.resolve()))
    except sqlite3.Error:
        return False
    try:
        return bool(db.execute("pragma application_id").fetchone()[0] == APPLICATION)
    except sqlite3.Error:
        return False
    finally:
        db.close()


def _fill(path: Path, rows: Tables) -> None:
    import sqlite_utils

    db = sqlite_utils.Database(path)
    try:
        db.execute("pragma journal_mode = off")
        db.execute("pragma foreign_keys = off")
        with db.conn:
            for table in TABLES:
                _create(db, table)
                columns = [column.name for column in table.columns]
                ordered = ({name: row[name] for name in columns} for row in rows[table.name])
                db.table(table.name).insert_all(ordered)
            _describe(db)
            for view in VIEWS:
                db.create_view(view.name, view.query)
            for table in TABLES:
                for column in table.columns:
                    if column.refers and (column.name,) != table.key[:1]:
                        db.table(table.name).create_index([column.name])
                if table.search:
                    db.table(table.name).enable_fts(list(table.search))
        db.execute(f"pragma application_id = {APPLICATION}")
        db.execute(f"pragma user_version = {FORMAT}")
        db.execute("vacuum")
    except sqlite3.OperationalError as error:  # the disk is full, or fails
        raise OSError(errno.EIO, str(error), str(path)) from None
    finally:
        db.close()


def _create(db: Any, table: TableSchema) -> None:
    key: Any = table.key[0] if len(table.key) == 1 else table.key or None
    db.table(table.name).create(
        {column.name: _TYPES[column.kind] for column in table.columns},
        pk=key,
        not_null={column.name for column in table.columns if not column.null},
        foreign_keys=[(c.name, c.refers, _key(c.refers)) for c in table.columns if c.refers],
    )


def _key(name: str) -> str:
    return next(table.key[0] for table in TABLES if table.name == name)


def _describe(db: Any) -> None:
    """Write what each table, column and view is into the database itself."""
    rows = []
    for table in TABLES:
        rows.append({"table_name": table.name, "column_name": "", "text": table.about})
        rows += [{"table_name": table.name, "column_name": c.name, "text": c.about} for c in table.columns]
    rows += [{"table_name": view.name, "column_name": "", "text": view.about} for view in VIEWS]
    columns = {"table_name": str, "column_name": str, "text": str}
    db.table(DESCRIPTION).create(columns, pk=("table_name", "column_name"), not_null=set(columns))
    db.table(DESCRIPTION).insert_all(rows)


def database_page() -> str:
    """Return the page in Markdown: every table, column and view."""
    parts = [_HEAD, "## Tables\n", *(_table(table) for table in TABLES), "## Views\n"]
    parts += [f"### {view.name}\n\n{view.about}\n\n```sql\n{view.query}\n```\n" for view in VIEWS]
    return "\n".join(parts)


def _table(table: TableSchema) -> str:
    key = f" Key: {', '.join(f'`{name}`' for name in table.key)}." if table.key else ""
    lines = [f"### {table.name}\n", f"{table.about}{key}{' *Searchable.*' if table.search else ''}\n"]
    lines += ["| column | type | what it is |", "|---|---|---|"]
    for column in table.columns:
        name = f"**`{column.name}`**" if column.name in table.search else f"`{column.name}`"
        refers = f" → `{column.refers}`" if column.refers else ""
        lines.append(f"| {name} | {column.kind}{' or null' if column.null else ''}{refers} | {column.about} |")
    return "\n".join(lines) + "\n"
