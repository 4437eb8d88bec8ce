"""The page that describes the published tables, written from their definition."""

from compatkb.export.columns import TableSchema
from compatkb.export.tables import FORMAT, TABLES
from compatkb.export.views import VIEWS

_HEAD = f"""# The database

`compatkb build` writes the knowledge base as one SQLite database, for people and their tools: sqlite-utils, Datasette,
pandas, a shell. `compatkb export --format csv` and `--format json` give the same tables without the views
([export.md](export.md)). The engine does not read it.

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

This page is written by `compatkb build --describe`.
"""


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
