"""The SQLite database for people: complete, consistent, searchable, described, and never written over something else."""

import json
import re
import sqlite3
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from builders import data_directory, product, universe
from conftest import Run
from hostile import TEXT, hostile_directory, hostile_facts

from compatkb.errors import UnavailableError, UsageError
from compatkb.export.tables import tables, write_database
from compatkb.store.cache import compile_directory
from compatkb.store.reader import Snapshot
from compatkb.store.tables import views

Database = sqlite3.Connection
pytestmark = pytest.mark.long  # all of the real data, written out: test_export has the tables of the quick tests


@pytest.fixture(scope="module")
def path(facts: Snapshot, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The database of the real data."""
    target = tmp_path_factory.mktemp("database") / "compatkb.sqlite"
    write_database(facts, target)
    return target


@pytest.fixture(scope="module")
def database(path: Path) -> Iterator[Database]:
    """The database of the real data, open."""
    found = sqlite3.connect(path)
    found.row_factory = sqlite3.Row
    yield found
    found.close()


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    """A database whose every text is hostile, open."""
    folder = tmp_path_factory.mktemp("hostile")
    write_database(hostile_facts(folder), folder / "out.sqlite")
    found = sqlite3.connect(folder / "out.sqlite")
    found.row_factory = sqlite3.Row
    yield found
    found.close()


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Snapshot:
    """Facts without a package."""
    return universe(tmp_path_factory.mktemp("small"), [])


def all_of(database: Database, query: str, *values: object) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in database.execute(query, values)]


def test_columns_are_as_declared(database: Database, hostile: Database) -> None:
    """A view has the columns that are declared, each of its kind, and null only where that is said."""
    for found in (database, hostile):
        assert all_of(found, "pragma integrity_check") == [("ok",)]
        for table in tables():
            rows = found.execute(f"select * from {table.name}")
            assert [column[0] for column in rows.description] == [column.name for column in table.columns]
            for row in rows:
                for column, value in zip(table.columns, row, strict=True):
                    assert _is_of_kind(value, column.kind) if value is not None else column.null, (table.name, column.name)


def _is_of_kind(value: object, kind: str) -> bool:
    if kind == "date":
        return bool(re.fullmatch(r"\d{4}-\d\d-\d\d", str(value)))
    return value in (0, 1) if kind == "boolean" else isinstance(value, int if kind == "integer" else str)


REFERS = {
    "product": [("release", "product"), ("build", "product"), ("claim_side", "product"), ("statement", "product")],
    "release": [("build", "release"), ("claim_side", "release"), ("image_content", "release"), ("event", "release")],
    "build": [("wheel", "build"), ("build_channel", "build"), ("claim_side", "build"), ("dispute_subject", "build")],
    "claim": [("claim_source", "claim"), ("claim_side", "claim"), ("dispute_claim", "claim"), ("dispute_position", "claim")],
    "statement": [("statement_version", "statement"), ("dispute_statement", "statement")],
    "image_tag": [("image_content", "image_tag"), ("dispute_subject", "image_tag")],
    "channel": [("build_channel", "channel"), ("completeness", "channel"), ("dispute_subject", "channel")],
    "event": [("event_source", "event"), ("dispute_subject", "event")],
    "dispute": [("dispute_position", "dispute"), ("dispute_claim", "dispute")],
}


@pytest.mark.parametrize("table", REFERS)
def test_what_is_named_is_there(table: str, database: Database, hostile: Database) -> None:
    """An id stands once in its own view, and what other views name is in it."""
    for found in (database, hostile):
        ids = [row[0] for row in all_of(found, f"select id from {table}")]
        assert len(set(ids)) == len(ids)
        for view, column in REFERS[table]:
            named = {row[0] for row in all_of(found, f"select distinct {column} from {view}")}
            assert named <= {*ids, None}, (view, column)


def test_facts_are_in_it(database: Database) -> None:
    """Facts that people know are found by plain queries."""
    assert all_of(database, "select eol from release where id = 'ipex==2.8.0'") == [("2026-03-31",)]
    assert all_of(database, "select yanked from release where id = 'ipex==2.4.0'") == [(1,)]
    assert all_of(database, "select released_by from release where id = 'torch==2.8.0'") == [("2025-08-06",)]
    query = (
        "select distinct other_build from claims_by_version "
        "where build = 'ipex==2.3.110+xpu' and other_product = 'torch' and kind = 'needs' order by 1"
    )
    assert all_of(database, query) == [(None,), ("torch==2.3.1+cxx11.abi",)]  # a torch at all, and that one
    query = "select distinct python from wheel where build = 'torch==2.8.0+xpu' and os = 'linux' and arch = 'x86_64'"
    assert "3.13t" in [row[0] for row in all_of(database, query)]


def test_every_claim_has_a_source_with_its_day(database: Database) -> None:
    """A claim in the view names a document and the day on which it was read; the overruled side says so."""
    assert all_of(database, "select claim from claims_with_sources where source is null or seen is null") == []
    query = (
        "select count(*) from claim c where standing = 'overruled' and exists (select 1 from claim_side where claim = c.id)"
    )
    assert all_of(database, query) == [(0,)]
    assert all_of(database, "select count(*) > 0 from claim where standing = 'overruled'") == [(1,)]


def test_views_answer(database: Database) -> None:
    """Every view returns rows from the real data, but for what they do not have; names of columns are unique."""
    for view in views():
        cursor = database.execute(f"select * from {view.name}")
        names = [column[0] for column in cursor.description]
        assert len(set(names)) == len(names)
        assert cursor.fetchone() is not None or view.name == "dispute_statement", view.name


def test_current_support_is_current(database: Database) -> None:
    """The view leaves out what is withdrawn or past its end on the day of the query, and keeps the newest torch."""
    found = all_of(database, "select product, version, eol, days_left from current_support")
    today = datetime.now(UTC).date().isoformat()
    assert all(eol is None or (eol >= today and left >= 0) for _, _, eol, left in found)
    assert ("torch", "2.15.0") in [row[:2] for row in found]
    assert "ipex" not in {row[0] for row in found}


def test_image_contents_name_versions(database: Database) -> None:
    """An image tag is shown with the builds that it contains and the day of its first listing."""
    query = "select term, versions, first_listed from image_contents where tag = '2.8.10-xpu' and product = 'ipex'"
    ((term, versions, first),) = all_of(database, query)
    assert (term, versions) == ("ipex==2.8.10+xpu", "ipex==2.8.10+xpu")
    assert first > "2025"


@pytest.mark.parametrize(
    ("kind", "words", "wanted"),
    [
        ("product", "neural compressor", "Neural Compressor"),
        ("value", "battlemage", "arc-b"),
        ("claim", '"2.3.110" torch', "ipex==2.3.110"),
        ("event", "forerunner", "Torch7"),
        ("image", '"2.8.10" jupyter', "intel/intel-extension-for-pytorch:2.8.10-xpu-pip-jupyter"),
    ],
)
def test_full_text_search_finds(database: Database, kind: str, words: str, wanted: str) -> None:
    """The search of the program works in the published file."""
    query = "select title from search join searchable on id = search.rowid where search match ? and kind = ? order by rank"
    assert any(wanted in row[0] for row in all_of(database, query, words, kind))


def test_hostile_text_stays_text(hostile: Database) -> None:
    """Text comes back letter by letter, is searched as text, and breaks no view."""
    assert all_of(hostile, "select name, note from product where id = 'torch'") == [(TEXT, TEXT)]
    assert all_of(hostile, "select names from release where id = 'hardware==arc-x'") == [(f"{TEXT}, XG-1",)]
    assert all_of(hostile, "select reason from claim where id = 'check'") == [(TEXT,)]
    empty = {view.name for view in views() if not list(hostile.execute(f"select * from {view.name}"))}
    assert empty <= {"channel_mirror", "completeness", "completeness_source", "observation", "observation_package"} | {
        f"install{rest}" for rest in ("", "_version", "_source")
    }
    found = all_of(hostile, "select title from search join searchable on id = search.rowid where search match 'onerror'")
    assert len(found) > 2


def test_standing_follows_disputes(hostile: Database) -> None:
    """A claim holds, is open, or was overruled, as the disputes say."""
    found = dict(all_of(hostile, "select id, standing from claim where id in ('yes', 'no', 'doubt', 'check')"))
    assert found == {"yes": "holds", "no": "overruled", "doubt": "open", "check": "holds"}


def test_disputes_have_both_sides(database: Database, hostile: Database) -> None:
    """Every dispute has two sides with their documents, names whom it concerns, and says whose data record it."""
    for found in (database, hostile):
        query = "select id from dispute d where (select count(*) from dispute_position where dispute = d.id) < 2"
        assert all_of(found, query) == []
        assert all_of(found, "select dispute from disputes_with_sides where says is null or source is null") == []
        about = " union ".join(f"select dispute from dispute_{name}" for name in ("claim", "statement", "subject"))
        assert all_of(found, f"select id from dispute where id not in ({about})") == []
        kinds = {"product", "image", "timeline"} | ({"channel"} if found is database else {"feature"})
        assert {row[0] for row in all_of(found, "select kind from dispute")} == kinds
        assert all_of(found, "select id from dispute where (holds is null) != (decision = 'open')") == []


def test_dispute_subjects(database: Database) -> None:
    """Builds, image tags, channels and events are named as such, and where a dispute matters only somewhere, where."""
    query = "select build, image_tag, channel, event from dispute_subject where dispute = ?"
    assert all_of(database, query, "ipex-dispute-2.0.110-windows") == [("ipex==2.0.110+xpu", None, None, None)]
    assert all_of(database, query, "channel-intel-xpu-files") == [(None, None, "intel-xpu", None)]
    assert all_of(database, query, "torch7-year") == [(None, None, None, "torch7")]
    tag = "intel/intel-extension-for-pytorch:latest"
    assert all_of(database, query, "image-latest-rows") == [(None, tag, None, None)]
    query = "select os, arch, python, devices from dispute where id = ?"
    assert all_of(database, query, "ipex-dispute-2.0.110-windows") == [("windows", "", "", "")]
    assert all_of(database, query, "torch7-year") == [("", "", "", "")]


def test_features_and_events_are_rows(database: Database, hostile: Database) -> None:
    """A feature has its statements with versions and documents; an event its days, release and documents."""
    query = "select distinct status, os, devices from features_by_version where feature = ? and build = ? and devices = ?"
    assert ("not-supported", "windows", "xpu") in all_of(database, query, "torch.compile", "torch==2.6.0+xpu", "xpu")
    query = "select first_day, last_day, vendor, release, announced from timeline where event = ?"
    assert all_of(database, query, "torch7") == [("2011-01-01", "2011-12-31", "PyTorch", None, None)]
    assert all_of(database, query, "torch-2.10")[0][3] == "torch==2.10.0"
    for found in (database, hostile):
        for name in ("statement", "event"):
            assert all_of(found, f"select id from {name} where id not in (select {name} from {name}_source)") == []
    standing = dict(all_of(hostile, "select id, standing from statement"))
    assert standing == {"trick-can": "holds", "trick-cannot": "overruled", "trick-maybe": "holds"}
    assert all_of(hostile, "select statement, build from statement_version where statement = 'trick-cannot'") == []
    assert all_of(hostile, "select feature, product from feature_need") == [("trick", "ipex")]
    assert all_of(hostile, "select statement from dispute_position where dispute = 'feature'") == [
        ("trick-can",),
        ("trick-cannot",),
    ]


def test_unknown_contents_are_kept(hostile: Database) -> None:
    """What an image contains of a product that the data do not know is shown without a reference."""
    query = "select product, release, build from image_content where term = 'stranger==1' and image_tag = 'maker/box:new'"
    assert all_of(hostile, query) == [(None, None, None)]


def test_same_data_same_bytes(facts: Snapshot, path: Path, tmp_path: Path) -> None:
    """The database is a function of the data, also over an older one."""
    write_database(facts, tmp_path / "again.sqlite")
    assert (tmp_path / "again.sqlite").read_bytes() == path.read_bytes()
    assert [p.name for p in tmp_path.iterdir()] == ["again.sqlite"]


def test_it_describes_itself(database: Database) -> None:
    """Every view and column has a sentence in the database."""
    described = all_of(database, "select table_name, column_name from description where text != ''")
    wanted = [(view.name, name) for view in views() for name in ("", *(column.name for column in view.columns))]
    assert sorted(described) == sorted(wanted)
    made = {
        row[0]
        for row in all_of(database, "select name from sqlite_master where type = 'view' and name not like '\\_%' escape '\\'")
    }
    assert made == {view.name for view in views()}


def test_observations_are_rows(tmp_path: Path) -> None:
    """What a command saw is a record with its packages, which need not be products of the data."""
    data = data_directory(tmp_path / "data", [product("torch", releases=["2.8.0"])])
    (data / "evidence").mkdir()
    seen = {
        "level": "import",
        "outcome": "ok",
        "packages": {"torch": "2.8.0", "Other": "1"},
        "python": "3.12",
        "device": "cpu",
    }
    more = {"platform": "linux-x86_64", "tool": "python", "index": "extra", "checked": "2026-11-20", "detail": TEXT}
    (data / "evidence" / "a.jsonl").write_text(json.dumps(seen | more) + "\n", encoding="utf-8")
    compile_directory(data, tmp_path / "snapshot.sqlite")
    write_database(Snapshot(str(tmp_path / "snapshot.sqlite")), tmp_path / "out.sqlite")
    found = sqlite3.connect(tmp_path / "out.sqlite")
    query = "select level, outcome, os, arch, checked, stubbed, detail from observation"
    assert all_of(found, query) == [("import", "ok", "linux", "x86_64", "2026-11-20", 0, TEXT)]
    assert all_of(found, "select name, version from observation_package") == [("Other", "1"), ("torch", "2.8.0")]
    found.close()


def test_empty_data_make_an_empty_database(small: Snapshot, tmp_path: Path) -> None:
    """Data without a package are exported, with tables that are there and views that answer."""
    write_database(small, tmp_path / "out.sqlite")
    found = sqlite3.connect(tmp_path / "out.sqlite")
    assert all_of(found, "select count(*) from claim") == [(0,)]
    assert all_of(found, "select count(*) > 0 from release where product = 'python'") == [(1,)]
    assert all(list(found.execute(f"select count(*) from {view.name}")) for view in views())
    found.close()


@pytest.mark.parametrize("content", [b"my notes", b"SQLite format 3\0 and nothing else"])
def test_something_else_is_left_alone(content: bytes, small: Snapshot, tmp_path: Path) -> None:
    """A file that is no database of ours is overwritten only by force; an empty one holds nothing to lose."""
    target = tmp_path / "mine.sqlite"
    target.write_bytes(content)
    with pytest.raises(UsageError, match="--force"):
        write_database(small, target)
    assert target.read_bytes() == content
    write_database(small, target, force=True)
    assert target.read_bytes().startswith(b"SQLite format 3\0")
    (tmp_path / "empty").touch()
    write_database(small, tmp_path / "empty")


def test_a_foreign_database_is_left_alone(small: Snapshot, tmp_path: Path) -> None:
    """A database of another program is no database of ours."""
    target = tmp_path / "other.sqlite"
    other = sqlite3.connect(target)
    other.execute("create table meta (key text, value text)")
    other.close()
    with pytest.raises(UsageError, match="no database of compatkb"):
        write_database(small, target)


def test_targets_that_cannot_be(small: Snapshot, tmp_path: Path) -> None:
    """A folder, a missing folder and a file in the way are refused with one sentence, and leave nothing behind."""
    (tmp_path / "file").write_text("x", encoding="utf-8")
    with pytest.raises(UsageError, match="is no file"):
        write_database(small, tmp_path)
    for target in (tmp_path / "missing" / "out", tmp_path / "file" / "out"):
        with pytest.raises(UnavailableError, match="cannot be written"):
            write_database(small, target)
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


def test_a_failure_leaves_the_old_database(small: Snapshot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When writing fails half-way, the old file is as it was and no other is there."""
    target = tmp_path / "out.sqlite"
    write_database(small, target)
    before = target.read_bytes()

    def fail(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("compatkb.export.tables.publish", fail)
    with pytest.raises(UnavailableError, match="No space left"):
        write_database(small, target)
    assert target.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["out.sqlite"]


def test_command_writes(run: Callable[..., Run], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`compatkb build` writes compatkb.sqlite here; remarks go to standard error."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COMPATKB_CACHE", str(tmp_path / "cache"))
    data = ("--data", str(hostile_directory(tmp_path)))
    done = run("build", *data)
    assert (done.code, done.out) == (0, "")
    assert "compatkb.sqlite" in done.err
    assert (tmp_path / "compatkb.sqlite").is_file()
    assert run("build", "--out", str(tmp_path / "none" / "x"), *data).code == 5
    (tmp_path / "notes").write_text("mine", encoding="utf-8")
    assert run("build", "--out", "notes", *data).code == 2
    assert run("build", "--out", "", *data).code == 2
