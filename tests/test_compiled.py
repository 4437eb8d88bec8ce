"""What the store holds of a small data directory with a record of every kind."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path

from conftest import ROOT
from test_lint import good, written

from compatkb.authoring.build_knowledge import build_knowledge
from compatkb.authoring.loader import load
from compatkb.store.compiler.compile import compile_snapshot
from compatkb.store.reader import Snapshot

COMPILED = ROOT / "tests" / "cases" / "lint" / "compiled.txt"
WHEN = {"python": [">=3.12", "3.11"], "device": ["xpu"]}


def test_data_compile_to_the_rows_recorded(tmp_path: Path) -> None:
    """What the store holds of data changes only on purpose; COMPATKB_UPDATE_GOLDEN=1 writes it down anew."""
    target = tmp_path / "store.sqlite"
    data = good()
    more = [
        {"id": "pythons", "kind": "verified", "of": "ipex==2.1.20", "to": ["hardware==max"], "when": WHEN},
        {
            "id": "open",
            "kind": "breaks",
            "of": "ipex==2.1.10",
            "to": ["numpy>=2"],
            "basis": "inferred",
            "note": "n",
            "reason": "r",
        },
        {"id": "all", "kind": "breaks", "of": "ipex==2.1.20", "to": ["numpy"], "when": {"python": ["3.12"]}, "reason": "r"},
    ]
    data["products/ipex.toml"]["claim"] += [{**claim, "sources": ["plan"]} for claim in more]
    compile_snapshot(build_knowledge(load(Path("data"), written(data))), target, "made-up")
    with closing(sqlite3.connect(target)) as store:
        names = [name for (name,) in store.execute("select name from sqlite_master where type = 'table' order by name")]
        shown = [line for name in names if "search_" not in name for line in rows(store, name)]
    if os.environ.get("COMPATKB_UPDATE_GOLDEN"):
        COMPILED.write_text("\n".join(shown) + "\n", encoding="utf-8")
    assert shown == COMPILED.read_text(encoding="utf-8").splitlines()


def rows(store: sqlite3.Connection, table: str) -> list[str]:
    """Return the rows of a table, each with its name; what is binary in hexadecimal digits."""
    found = store.execute(f"select * from {table}").fetchall()
    return [f"{table}: " + " | ".join(v.hex() if isinstance(v, bytes) else str(v) for v in row) for row in found]


def test_a_glibc_that_is_inferred_is_not_stated(tmp_path: Path) -> None:
    """What the tag of a wheel says is stated; what is said as of others is not, and neither is no glibc at all."""
    target = tmp_path / "store.sqlite"
    data = good()
    row = {"os": ["linux"], "python": ["3.12"], "glibc": "2.35", "glibc-inferred": True, "sources": ["list"]}
    data["products/torch.toml"]["release"][0]["build"][1]["wheels"].append(row)
    compile_snapshot(build_knowledge(load(Path("data"), written(data))), target, "made-up")
    facts = Snapshot(str(target))
    found = {floor.glibc: floor.stated for element in facts.elements("torch") for floor in facts.floors(element)}
    assert (found[2, 28], found[2, 35]) == (True, False)
    assert not found.get(None)
