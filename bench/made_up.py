"""Made-up knowledge bases of any size, as problems for any solver and as snapshots for our engine.

Products require up to three earlier ones. A product's releases fall into blocks that each require an interval of the
other's; one stack is planted, so there is always an answer. `easy`: 2 % of the blocks misplaced, eight broken pairs a
relation. `adversarial`: 10 % misplaced, and two broken pairs per release and relation, each said one by one.
"""

import random
import sqlite3
import sys
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from common import ROOT

sys.path.insert(0, str(ROOT / "src"))

from compatkb.store.schema import FORMAT, INDEXES, TABLES

MOST_BLOCKS = 40


class Relation(NamedTuple):
    """What one product requires of another: rectangles of releases that go together, as sets of bits."""

    of: int
    to: int
    rectangles: tuple[tuple[int, int], ...]


class MadeUp(NamedTuple):
    """A problem: every product in one release each, newest first by the order of products."""

    products: int
    releases: int
    relations: tuple[Relation, ...]


def make(products: int, releases: int, *, adversarial: bool = False, dense: bool = True, seed: int = 1) -> MadeUp:
    """Return a problem; the same one for a seed. Dense ones have three relations a product, sparse ones one."""
    drawn = random.Random(seed)
    planted = [drawn.randrange(releases // 2, releases) for _ in range(products)]
    relations = [
        _relation(drawn, of, to, releases, planted, adversarial=adversarial)
        for of in range(1, products)
        for to in drawn.sample(range(of), min(3 if dense else 1, of))
    ]
    return MadeUp(products, releases, tuple(relations))


def _relation(drawn: random.Random, of: int, to: int, releases: int, planted: list[int], *, adversarial: bool) -> Relation:
    blocks = min(MOST_BLOCKS, releases)
    edges = sorted({0, releases, *drawn.sample(range(1, releases), blocks - 1)})
    rows: dict[int, int] = {}
    for low, high in pairwise(edges):
        middle = (low + high) // 2
        if drawn.random() < (0.1 if adversarial else 0.02):
            middle = drawn.randrange(releases)
        if low <= planted[of] < high:
            middle = planted[to]
        width = max(2, releases // 20)
        first, last = max(0, middle - width), min(releases - 1, middle + width)
        rows[(1 << high) - (1 << low)] = (1 << last + 1) - (1 << first)
    broken: dict[int, int] = {}
    for _ in range(2 * releases if adversarial else 8):
        one, other = drawn.randrange(releases), drawn.randrange(releases)
        if (one, other) != (planted[of], planted[to]):
            broken[one] = broken.get(one, 0) | 1 << other
    merged: dict[int, int] = {}
    for mask, admitted in rows.items():
        left = mask
        for one, others in broken.items():
            if mask >> one & 1:
                left &= ~(1 << one)
                merged[admitted & ~others] = merged.get(admitted & ~others, 0) | 1 << one
        merged[admitted] = merged.get(admitted, 0) | left
    return Relation(of, to, tuple((mask, admitted) for admitted, mask in merged.items() if mask))


def store(problem: MadeUp, path: Path) -> None:
    """Write a problem as a snapshot: one Python, system and architecture, one route, what is said stated."""
    with sqlite3.connect(path) as db:
        for name, (columns, key) in TABLES.items():
            keys = [f"primary key ({key if isinstance(key, str) else ', '.join(key)})"] if key else []
            db.execute(f"create table {name} ({', '.join([*columns, *keys])})")
        _add(db, "meta", [{"key": "format", "value": FORMAT}, {"key": "data_date", "value": "2026-01-01"}])
        _add(db, "cells", [{"id": 0, "mask": b""}, {"id": 1, "mask": b"\1"}])
        dimensions = {"python": "3.12", "os": "linux", "arch": "x86_64", "device": "cpu"}
        heads = [{"id": f"p{n}", "role": "package", "rank": n, "size": problem.releases} for n in range(problem.products)]
        heads += [
            {"id": name, "role": "dimension", "rank": 10_000, "platform": int(name != "device"), "default_value": value}
            for name, value in dimensions.items()
        ]
        plain = {"scheme": "dotted", "series": 1, "automatic": 1, "platform": 0, "open": 0, "size": 1}
        _add(db, "product", [{**plain, "name": head["id"], **head} for head in heads])
        grid = [{"dimension": d, "value": v, "wider": "", "idx": 0} for d, v in dimensions.items() if d != "device"]
        _add(db, "grid", grid)
        _add(
            db, "route", [{"id": "r", "name": "r", "devices": "cpu", "provider": "p0", "with_": "", "without": "", "rank": 1}]
        )
        built = {
            "stage": "stable", "devices": "cpu", "channels": "x", "only_with": "", "distribution": None, "floors": "",
            "installable": 1, "since": 1, "strong": 1, "weak": 0, "complete": 10**7, "extras": "",
            "foreign": 0, "foreign_cells": 0, "kind": "", "kinds": "", "published": 1, "requires_python": "",
        }  # fmt: skip
        ids = [*(f"p{n}" for n in range(problem.products))]
        listed = [
            {**built, "product": name, "idx": n, "version": f"{n}.0", "release": f"{n}.0"}
            for name in ids
            for n in range(problem.releases)
        ]
        listed += [{**built, "product": name, "idx": 0, "version": v, "release": v} for name, v in dimensions.items()]
        unknown = dict.fromkeys(("by", "yank_after", "yank_by", "yank_reason", "eol", "maker"))
        listed = [{**unknown, **element} for element in listed]
        _add(db, "element", listed)
        said = {
            "kind": "needs", "spec": "x", "basis": "stated", "devices": "", "hardware": "0", "unlisted": "0",
            "denies": 1, "vouches": 1, "open": 0, "listed": 0,
        }  # fmt: skip
        rows = ((r.of, mask, r.to, admitted) for r in problem.relations for mask, admitted in r.rectangles)
        edges = [
            {
                **said,
                "id": n,
                "claim": f"c{n}",
                "of_product": f"p{of}",
                "of_mask": f"{mask:x}",
                "to_product": f"p{to}",
                "to_mask": f"{admitted:x}",
            }
            for n, (of, mask, to, admitted) in enumerate(rows)
        ]
        _add(db, "edge", edges)
        for table, columns in INDEXES:
            db.execute(f"create index {table}_{'_'.join(columns)} on {table} ({', '.join(columns)})")


def _add(db: sqlite3.Connection, table: str, rows: object) -> None:
    first = True
    statement = ""
    for row in rows:  # type: ignore[attr-defined]
        if first:
            statement = f"insert into {table} ({', '.join(row)}) values ({', '.join(':' + name for name in row)})"
            first = False
        db.execute(statement, row)
