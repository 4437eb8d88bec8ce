"""What is published: tables and columns with a sentence for each; SQLite, CSV and JSON all have this shape.

A module defines the tables of a topic and fills them. Days are ISO dates, truths 0 and 1, and what is not known is null.
`compatkb build --describe` prints these definitions.
"""

from compatkb.export.columns import TableSchema, maybe, number, table, text
from compatkb.export.table_reader import Reader, Row, Tables
from compatkb.export.tables import advice, builds, claims, disputes, features, images, observations, products, timeline
from compatkb.store.queries.claims import citations
from compatkb.store.queries.provenance import documents
from compatkb.store.reader import Snapshot
from compatkb.version import __version__

__all__ = ["FORMAT", "TABLES", "Tables", "read_tables"]

FORMAT = 1
"""The number of this contract; within one number tables, columns and views are only added."""

_TOPICS = (products, builds, claims, features, advice, images, timeline, disputes, observations)
"""In the order in which they are filled: a table refers only to tables of its own topic or of one before it."""

TABLES: tuple[TableSchema, ...] = (
    table(
        "meta",
        "What this is: the number of its format, and the dates and digest of the data.",
        ("key",),
        text("key", "format, data_date, digest or program"),
        text("value", "its value"),
    ),
    table(
        "source",
        "Cited documents, each once.",
        ("id",),
        number("id", "a number without meaning"),
        text("text", "the document as people read it: repository, ref, path, line or heading"),
        maybe("url", "its address; null for a file on a package index"),
        maybe("seen", "the last day on which it was read", kind="date"),
        maybe("document", "of a source of claims: equal for all revisions, lines and headings of one document"),
        maybe("publisher", "of a source of claims: the owner of the repository, or the name of the site"),
    ),
    *(table for topic in _TOPICS for table in topic.TABLES),
)
"""Every table; a table refers only to tables above it, or to itself."""


def read_tables(facts: Snapshot) -> Tables:
    """Return the rows of every table by its name; sorted, so that the same data give the same rows."""
    reader = Reader(facts)
    tables: Tables = {table.name: [] for table in TABLES} | {"meta": _meta(facts)}
    for topic in _TOPICS:
        topic.fill(reader, tables)
    tables["source"] = _sources(facts, reader.numbers)
    return tables


def _meta(facts: Snapshot) -> list[Row]:
    values = {"format": str(FORMAT), "program": f"compatkb {__version__}"}
    values |= {name: facts.meta[name] for name in ("data_date", "digest")}
    return [{"key": key, "value": value} for key, value in sorted(values.items())]


def _sources(facts: Snapshot, numbers: dict[tuple[str, str | None], int]) -> list[Row]:
    """Return the cited documents; what only claims tell of them is null for the others."""
    cited = {(source.text, source.url): source for source in citations(facts)}
    seen: dict[tuple[str, str | None], str] = {}
    dated = [(source.text, source.url, source.seen) for source in citations(facts)]
    for name, url, day in (*documents(facts), *dated):
        seen[name, url] = max(seen.get((name, url), ""), day)
    return [
        {
            "id": number,
            "text": source[0],
            "url": source[1],
            "seen": seen.get(source),
            "document": cited[source].document if source in cited else None,
            "publisher": cited[source].publisher if source in cited else None,
        }
        for source, number in numbers.items()
    ]
