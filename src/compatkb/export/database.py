"""The published database: a copy of the snapshot with documented views, and what it says of itself."""

import errno
import sqlite3
from contextlib import closing
from pathlib import Path

from compatkb.core.atomic_write import make_file
from compatkb.errors import UsageError
from compatkb.store.connection import connect
from compatkb.store.reader import Snapshot
from compatkb.store.tables import FORMAT, DatabaseView, publish, views

APPLICATION = int.from_bytes(b"ckb\0", "big")
"""What SQLite stores in the file to say whose it is."""

_HEAD = f"""# The database

`compatkb build` writes the knowledge base as one SQLite database, for people and their tools: sqlite-utils, Datasette,
pandas, a shell. It is the compiled data that answers come from, with views that keep their names and columns.
`compatkb export --format csv` and `--format json` give the same views but for those that answer questions.

```console
$ compatkb build --out compatkb.sqlite
```

- The number of this contract is {FORMAT}: `meta` has it as `format`, and so does `pragma user_version`. Within one number,
  views and columns are only added. Tables that begin with an underscore are the program's own: no promise holds for them.
- Days are ISO dates, booleans are 0 and 1, null means that nothing is known. A release or a build is named `product==version`.
- Full-text search: `select title, command from search join searchable on id = search.rowid where search match 'dg2'`. Put a
  version between double quotes, inside the single ones.
- The table `description` holds the sentences of this page: `table_name`, `column_name` (empty for the view itself), `text`.
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
    make_file(target, lambda new: _fill(new, facts))


def is_ours(path: Path) -> bool:
    """Return whether a file is a database that this program wrote."""
    try:
        with closing(connect(str(path.resolve()))) as db:
            return bool(db.execute("pragma application_id").fetchone()[0] == APPLICATION)
    except sqlite3.Error:
        return False


def _fill(path: Path, facts: Snapshot) -> None:
    try:
        with closing(sqlite3.connect(path)) as db:
            publish(facts, db)
            db.execute(f"pragma application_id = {APPLICATION}")
    except sqlite3.OperationalError as error:  # the disk is full, or fails
        raise OSError(errno.EIO, str(error), str(path)) from None


def database_page() -> str:
    """Return the page in Markdown: every view with its columns, or with its query where it answers a question."""
    return "\n".join([_HEAD, *map(_section, views())])


def _section(view: DatabaseView) -> str:
    head = f"### {view.name}\n\n{view.about}\n\n"
    if not view.columns:
        return f"{head}```sql\n{view.statement}\n```\n"
    rows = (f"| `{c.name}` | {c.kind}{' or null' if c.null else ''} | {c.about} |\n" for c in view.columns)
    return f"{head}| column | type | what it is |\n|---|---|---|\n{''.join(rows)}"
