"""What the store holds of a small data directory with a record of every kind, and what its queries return."""

import os
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from datetime import date
from pathlib import Path

import pytest
from builders import product, universe
from conftest import ROOT
from test_lint import SAYS, Data, good, written
from test_queries import EVERY

from compatkb.authoring.build_knowledge import build_knowledge
from compatkb.authoring.loader import load
from compatkb.errors import DataError
from compatkb.store.compiler.compile import compile_snapshot
from compatkb.store.reader import Snapshot
from compatkb.store.rows import form_of
from compatkb.store.suggestions import Suggestions
from compatkb.store.tables import TABLES, unpacked_rows

RECORDED = ROOT / "tests" / "cases" / "lint"
WHEN = {"python": [">=3.12", "3.11"], "device": ["xpu"]}
CLAIMS = (
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
    {"id": "pinned", "kind": "constrains", "of": "ipex==2.1.20", "to": ["numpy==1.25.0"]},
    {"id": "all", "kind": "breaks", "of": "ipex==2.1.20", "to": ["numpy"], "when": {"python": ["3.12"]}, "reason": "r"},
)
DECIDED = {**SAYS, "of": [], "sources": ["plan", "plan"], "decided": date(2026, 11, 1)}


def varied() -> Data:
    """Return the good data with more kinds of claims, disputes and tables of tags."""
    data = good()
    ipex = data["products/ipex.toml"]
    ipex["claim"] += [{**claim, "sources": ["plan"]} for claim in CLAIMS]
    sides = {"positions": [], "claims": ["ipex-2.1.10-numpy", "open"], "sources": ["plan"]}
    ipex["dispute"].append({**DECIDED, **sides, "id": "decided", "decision": "open"})
    data["images/ext.toml"]["column"] = [{"id": "ipex", "title": "IPEX", "product": "ipex"}]
    data["images/ext.toml"]["dispute"][0]["columns"] = ["ipex"]
    data["images/ext.toml"]["listing"][0]["runs"] = [[1, 1]]
    return data


def stored(data: Data, folder: Path) -> Path:
    """Return the store of data in a folder."""
    target = folder / "store.sqlite"
    compile_snapshot(build_knowledge(load(Path("data"), written(data))), target, "made-up")
    return target


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The store of the varied data."""
    return stored(varied(), tmp_path_factory.mktemp("compiled"))


def assert_recorded(name: str, lines: Iterable[str]) -> None:
    """Compare lines with a file; COMPATKB_UPDATE_GOLDEN=1 writes it anew."""
    shown = list(lines)
    if os.environ.get("COMPATKB_UPDATE_GOLDEN"):
        (RECORDED / name).write_text("\n".join(shown) + "\n", encoding="utf-8")
    assert shown == (RECORDED / name).read_text(encoding="utf-8").splitlines()


def rows_of(db: sqlite3.Connection, name: str) -> Iterable[tuple[object, ...]]:
    """Return the rows of a table, of a packed one those that it stands for."""
    if name in TABLES and form_of(TABLES[name].kind).packed_by:
        return sorted(unpacked_rows(db, name)) if name == "edge" else unpacked_rows(db, name)
    return db.execute(f"select * from {name}")


def test_data_compile_to_the_rows_recorded(store: Path) -> None:
    """What the store holds of data changes only on purpose; what is binary is shown in hexadecimal digits."""
    with closing(sqlite3.connect(store)) as db:
        names = [name for (name,) in db.execute("select name from sqlite_master where type = 'table' order by name")]
        found = [(name, row) for name in names if "search_" not in name for row in rows_of(db, name)]
    rows = ((name, [value.hex() if isinstance(value, bytes) else str(value) for value in row]) for name, row in found)
    assert_recorded("compiled.txt", (f"{name}: {' | '.join(values)}" for name, values in rows))


def test_queries_return_the_records_recorded(store: Path) -> None:
    """What queries make of the rows changes only on purpose."""
    facts = Snapshot(str(store))
    told = {name: query(facts) for name, query in EVERY.items()}
    told |= {f"columns of {name}": facts.columns_of(name) for name in facts.repositories()}
    told |= {f"runs of {name}": facts.runs_of(name) for name in facts.repositories()}
    told["subjects"] = facts.subjects
    items = ((name, found.items() if isinstance(found, dict) else found) for name, found in told.items())
    assert_recorded("queried.txt", (f"{name}: {one}" for name, found in items for one in found))


def test_a_glibc_that_is_inferred_is_not_stated(tmp_path: Path) -> None:
    """What the tag of a wheel says is stated; what is said as of others is not, and neither is no glibc at all."""
    data = good()
    row = {"os": ["linux"], "python": ["3.12"], "glibc": "2.35", "glibc-inferred": True, "sources": ["list"]}
    data["products/torch.toml"]["release"][0]["build"][1]["wheels"].append(row)
    facts = Snapshot(str(stored(data, tmp_path)))
    found = {floor.glibc: floor.stated for element in facts.elements("torch") for floor in facts.floors(element)}
    assert (found[2, 28], found[2, 35]) == (True, False)
    assert not found.get(None)


def test_hardware_is_a_product_like_others() -> None:
    """A condition on hardware needs the file that lists hardware."""
    data = good()
    data["products/ipex.toml"]["claim"][0]["when"] = {"hardware": ["max"]}
    del data["products/hardware.toml"]
    with pytest.raises(DataError, match="there is no product hardware"):
        build_knowledge(load(Path("data"), written(data)))


def test_the_nearest_versions_are_those_around(tmp_path: Path) -> None:
    """Two below and one above what nobody released; the first three where nothing is below."""
    facts = universe(tmp_path, [product("torch", releases=["5.0", "4.0", "3.0", "2.0", "1.0"])])
    told = [str(Suggestions(facts).unknown_version(facts.products["torch"], version)) for version in ("3.5", "0.5", "9.0")]
    assert [text.partition("nearest: ")[2] for text in told] == ["3.0, 2.0, 4.0", "1.0, 2.0, 3.0", "5.0, 4.0"]
