"""Growth: the real knowledge base, and 3, 10 and 30 times as many releases of its own shape; first answers and warm ones.

A copy of all releases, builds and claims is a later generation: torch 2.8.0 becomes 102.8.0, and says of its own generation
what 2.8.0 says of its own. There is one set of machines: systems, Pythons, hardware and drivers, asked about on all of them.
Times are milliseconds of processor time from the words of a question to its answer. `make bench-scale` runs it; 1 where the
bound is not kept.
"""

import random
import re
import shutil
import sqlite3
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, suppress
from datetime import date
from itertools import islice
from pathlib import Path
from time import process_time
from typing import Any

from common import ROOT, share, timed

sys.path.insert(0, str(ROOT / "src"))

from warm import PRODUCTS, Question, questions

from compatkb.core.clock import Clock
from compatkb.engine.answer import resolve
from compatkb.errors import GaveUpError, UsageError
from compatkb.request.lookup import find_product
from compatkb.request.parser import make_request
from compatkb.store.cache import locate
from compatkb.store.reader import Snapshot
from compatkb.store.records import part_of
from compatkb.store.rows import form_of, read_mask, write_mask
from compatkb.store.tables import TABLES, unpacked_rows

SIZES = (1, 3, 10, 30)
BOUND = 3.0
"""How many times as long a first answer may take over ten times the data."""
LIMIT = 10.0
"""Processor seconds after which the command line gives up."""
FIRST, WARM = 12, 12
"""Questions, each to a snapshot of which nothing is read yet, and to one that was asked before."""
LATER = 100
"""Added to the first number of a version for each generation: more than the numbers of one generation span."""
MASKS = {
    "word": {"mask": "product"},
    "scope": {"mask": "product"},
    "advisory": {"mask": "product", "to_mask": "to"},
    "edge": {"of_mask": "of", "to_mask": "to"},
    "waiver": {"mask": "product", "of_mask": "of_product"},
}
"""Tables that speak of sets of releases, with the column that says whose each set is."""
Row = dict[str, Any]


def grow(source: Path, target: Path, times: int) -> None:
    """Write a copy of a snapshot with so many times as many releases, builds and claims."""
    shutil.copy(source, target)
    with closing(sqlite3.connect(target)) as db, db:
        sizes = dict(db.execute("select id, size from product where role in ('package', 'companion', 'leaf')"))
        tables = {name: list(_rows(db, name)) for name in ("element", "release", *MASKS)}
        of_edge = {row["id"]: row["of"] for row in tables["edge"]}
        for row in tables["waiver"]:
            row["of_product"] = of_edge[row["edge"]]
        for name, rows in tables.items():
            own = [row for row in rows if row.get("product", row.get("of")) in sizes]
            later = [_later(name, row, generation, sizes) for generation in range(1, times) for row in own]
            if form_of(TABLES[name].kind).packed_by:
                db.execute(f"drop table [{name}]")
                TABLES[name].fill(db, name, [[*_of_all(row, sizes, times).values()] for row in (*rows, *later)], packs=True)
            else:
                _insert(db, name, [{column: row[column] for column in row if column != "of_product"} for row in later])
        db.executemany("update product set size = ? where id = ?", [(size * times, name) for name, size in sizes.items()])


def _of_all(row: Row, sizes: Mapping[str, int], times: int) -> Row:
    """Return a row as it is with more generations: what a system or a feature says, it says of all of them."""
    size = sizes.get(row.get("to", ""), 0)
    if not size or row["of"] in sizes:
        return row
    mask = sum(read_mask(row["to_mask"]) << size * generation for generation in range(times))
    return {**row, "to_mask": write_mask(mask), "to_part": part_of(mask)}


def _rows(db: sqlite3.Connection, table: str) -> Iterator[Row]:
    form = form_of(TABLES[table].kind)
    rows = unpacked_rows(db, table) if form.packed_by else db.execute(f"select {form.columns} from [{table}] order by rowid")
    yield from (dict(zip(form.names, row, strict=True)) for row in rows)


def _insert(db: sqlite3.Connection, table: str, rows: list[Row]) -> None:
    if rows:
        names = ", ".join(f"[{name}]" for name in rows[0])
        db.executemany(
            f"insert into {table} ({names}) values ({', '.join('?' * len(rows[0]))})", [[*r.values()] for r in rows]
        )


def _later(table: str, row: Row, generation: int, sizes: Mapping[str, int]) -> Row:
    """Return the row of a later generation: its versions, sets and numbers moved up."""
    new = dict(row)
    for column, owner in MASKS.get(table, {}).items():
        new[column] = write_mask(read_mask(row[column]) << generation * sizes.get(row[owner], 0))
    for column in ("version", "release", "word"):
        if column in row:
            new[column] = _version(row[column], generation)
    if table == "element":
        new["idx"] += generation * sizes[row["product"]]
    if table == "edge":
        new |= {"part": part_of(read_mask(new["of_mask"])), "to_part": part_of(read_mask(new["to_mask"]))}
    for column in ("id", "edge", "position"):
        if column in row:
            new[column] += generation * 1_000_000
    return new


def _version(text: str, generation: int) -> str:
    """Return a version of a later generation."""
    return re.sub(r"\d+", lambda number: str(int(number[0]) + LATER * generation), text, count=1)


class Counted(Snapshot):
    """A snapshot that counts the rows and records that were read of it."""

    read = 0

    def select(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        """Count the rows."""
        rows = super().select(query, *values)
        self.read += len(rows)
        return rows

    def made(self, kind: Callable[..., Any], rows: list[tuple[Any, ...]]) -> tuple[Any, ...]:
        """Count the records for which rows of a packed table stand."""
        records = super().made(kind, rows)
        self.read += len(records) if form_of(kind).packed_by else 0
        return records


def ask(facts: Snapshot, question: Question) -> None:
    """Answer a question from its words on, or give up as the command line does."""
    options = [(find_product(facts, name).id, text) for name, text in question.versions]
    devices = (question.device,) if question.device else ()
    end = process_time() + LIMIT
    with suppress(UsageError, GaveUpError):
        request = make_request(facts, options, (), devices, Clock(date(2026, 11, 21), question.day))
        resolve(facts, request, lambda: process_time() > end)


def asked_of(real: Path, times: int) -> list[Question]:
    """Return the same questions for every size, each about one generation of so many."""
    drawn = random.Random(7)
    return [_moved(question, drawn.randrange(times)) for question in islice(questions(Snapshot(str(real)), 7), WARM)]


def _moved(question: Question, generation: int) -> Question:
    """Return a question about the same versions of a later generation."""
    versions = ((name, _version(text, generation) if name in PRODUCTS else text) for name, text in question.versions)
    return question._replace(versions=tuple(versions))


def measure(path: Path, asked: list[Question]) -> dict[str, float]:
    """Return milliseconds of processor time an answer takes, by what is measured, and megabytes of the snapshot."""
    fresh = [Counted(str(path)) for _ in asked[:FIRST]]
    first = [timed(lambda pair=pair: ask(*pair)) for pair in zip(fresh, asked, strict=False)]
    facts = Snapshot(str(path))
    for question in asked:
        ask(facts, question)
    warm = [timed(lambda question=question: ask(facts, question)) for question in asked]
    return {
        "releases and builds": sum(facts.sizes.values()),
        "MB": path.stat().st_size / 2**20,
        "first: rows read": statistics.median(facts.read for facts in fresh),
        "first: median": statistics.median(first) * 1000,
        "first: 90th percentile": share(first, 0.9) * 1000,
        "warm: median": statistics.median(warm) * 1000,
        "warm: 99th percentile": share(warm, 0.99) * 1000,
    }


def main() -> int:
    """Measure every size and print the table."""
    figures: dict[int, dict[str, float]] = {}
    real = Path(locate(ROOT / "data"))
    with tempfile.TemporaryDirectory(prefix="compatkb-growth-") as folder:
        for times in SIZES:
            print(f"measuring: {times} times the data", file=sys.stderr)
            path = Path(folder, f"{times}.sqlite")
            grow(real, path, times)
            figures[times] = measure(path, asked_of(real, times))
    grown = figures[10]["first: median"] / figures[1]["first: median"]
    print(table(figures))
    print(f"ten times the data: a first answer takes {grown:.1f} times as long, at most {BOUND:g} allowed")
    return int(grown > BOUND)


def table(figures: Mapping[int, Mapping[str, float]]) -> str:
    """Return the figures of each size as a table."""
    rows = [("", *(f"{times} x" for times in figures)), ("---", *("---:" for _ in figures))]
    for name in figures[1]:
        values = [figure[name] for figure in figures.values()]
        rows.append((name, *(f"{value:,.{0 if value > 1000 else 1}f}" for value in values)))
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


if __name__ == "__main__":
    raise SystemExit(main())
