"""Removes from a copy of a snapshot the tables that its reader does not need."""

import os
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

from compatkb.store.connection import connect


def without_rows(snapshot: Path, tables: Iterable[str]) -> bytes:
    """Return a snapshot of which some tables are empty; the same one gives the same bytes."""
    with (
        closing(connect(os.fspath(snapshot))) as whole,
        closing(sqlite3.connect(":memory:", isolation_level=None)) as trimmed,
    ):
        whole.backup(trimmed)
        for table in tables:
            trimmed.execute(f"delete from [{table}]")
        trimmed.execute("vacuum")
        return trimmed.serialize()
