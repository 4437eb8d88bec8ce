"""Exports, read back by the programs that they are made for."""

import io
import json
import re
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import icalendar
import networkx
import pytest
from builders import universe
from conftest import ROOT, Run
from hostile import LINE, TEXT, hostile_directory, hostile_facts
from jsonschema import Draft202012Validator, FormatChecker

from compatkb.core.atomic_write import write_file
from compatkb.errors import UnavailableError, UsageError
from compatkb.export import tables as published
from compatkb.export.calendar import calendar_text
from compatkb.export.graph import build_graph, graphml_text
from compatkb.export.tables import Tables, read_tables
from compatkb.store.reader import Snapshot

Graph = Any  # networkx.MultiDiGraph
NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f]")


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Snapshot:
    """Facts whose every text is hostile."""
    return hostile_facts(tmp_path_factory.mktemp("hostile"))


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Snapshot:
    """Facts without a package."""
    return universe(tmp_path_factory.mktemp("empty"), [])


@pytest.fixture(scope="module")
def tables(facts: Snapshot) -> Tables:
    """The tables of the real data."""
    return read_tables(facts)


@pytest.fixture(scope="module")
def graph(facts: Snapshot) -> Graph:
    """The graph of the real data."""
    return build_graph(facts)


# -- JSON and CSV -------------------------------------------------------------------------------------------------


def test_bundle_schema_is_shipped_and_closed() -> None:
    """docs/schema/export.schema.json is the schema that the tables make, valid, and admits nothing else."""
    shipped = (ROOT / "docs/schema/export.schema.json").read_text(encoding="utf-8")
    assert shipped == published.schema_text(), "stale; run `make generate`"
    schema = json.loads(shipped)
    Draft202012Validator.check_schema(schema)
    assert all(found["additionalProperties"] is False for found in (schema, *schema["$defs"].values()))


@pytest.mark.long
def test_bundle_fits_its_schema(tables: Tables, hostile: Snapshot, empty: Snapshot) -> None:
    """Real, hostile and empty bundles fit the schema; a field too many does not."""
    validator = Draft202012Validator(published.bundle_schema(), format_checker=FormatChecker())
    small = {name: rows[:150] for name, rows in tables.items()} | {"meta": tables["meta"]}
    for found in (small, read_tables(hostile), read_tables(empty)):
        assert not list(validator.iter_errors(json.loads(published.json_text(found))))
    content = json.loads(published.json_text(read_tables(empty)))
    content["product"][0]["more"] = 1
    assert list(validator.iter_errors(content))


@pytest.mark.long
def test_json_holds_every_record(tables: Tables) -> None:
    """Each table comes back whole, truths as truths."""
    content = json.loads(published.json_text(tables))
    assert {name: len(rows) for name, rows in content.items() if isinstance(rows, list)} == {
        name: len(rows) for name, rows in tables.items() if name != "meta"
    }
    ipex = next(row for row in content["release"] if row["id"] == "ipex==2.4.0")
    assert (ipex["yanked"], ipex["eol"]) == (True, "2026-03-31")


# -- graph --------------------------------------------------------------------------------------------------------


def same(one: Graph, other: Graph) -> bool:
    """Return whether two graphs have the same nodes and edges with the same contents."""
    edges = [sorted((a, b, sorted(data.items())) for a, b, data in g.edges(data=True)) for g in (one, other)]
    return dict(one.nodes(data=True)) == dict(other.nodes(data=True)) and edges[0] == edges[1]


@pytest.mark.long
def test_graph_comes_back(facts: Snapshot) -> None:
    """The library networkx reads what was written: the same nodes, edges, kinds, bases and sources."""
    graph = build_graph(facts, ("ipex",))
    back = networkx.read_graphml(io.BytesIO(graphml_text(graph).encode()), force_multigraph=True)
    assert same(graph, back)
    edge = back.get_edge_data("ipex==2.3.110+xpu", "torch==2.3.1+cxx11.abi")
    needs = next(data for data in edge.values() if data["kind"] == "needs")
    assert needs["basis"] == "stated"
    assert "https://github.com/intel/intel-extension-for-pytorch/" in needs["sources"]


@pytest.mark.long
def test_graph_has_what_the_data_have(graph: Graph, tables: Tables) -> None:
    """Every build, release without build and value is a node; every claim that names versions on both sides has an edge."""
    names = {row["id"] for row in tables["build"]}
    built = {row["release"] for row in tables["build"]}
    assert {n for n, what in graph.nodes(data="what") if what == "build"} == names
    assert {n for n, what in graph.nodes(data="what") if what in ("release", "value")} == {
        row["id"] for row in tables["release"] if row["id"] not in built
    }
    sides: dict[str, set[str]] = {}
    for row in tables["claim_side"]:
        sides.setdefault(row["claim"], set()).add(row["side"])
    claims = {claim for *_, claim in graph.edges(data="claim")}
    assert {claim for claim, named in sides.items() if len(named) == 2} <= claims
    needs = {f"{row['feature']}-needs-{row['product']}" for row in tables["feature_need"]}
    assert claims <= {row["id"] for name in ("claim", "statement") for row in tables[name]} | needs
    kinds = {"needs", "constrains", "verified", "breaks"}
    assert {kind for *_, kind in graph.edges(data="kind")} == kinds | {row["status"] for row in tables["statement"]}


@pytest.mark.long
def test_features_are_features(graph: Graph, tables: Tables, hostile: Snapshot) -> None:
    """A feature is a node and a record of its own, never a product, release or claim; its edges are its statements."""
    names = {row["id"] for row in tables["feature"]}
    assert "torch.compile" in names
    assert names.isdisjoint(row["id"] for row in tables["product"])
    for name in ("release", "claim", "claim_side", "statement_version", "dispute_subject"):
        assert names.isdisjoint(row["product"] for row in tables[name])
    assert {n for n, what in graph.nodes(data="what") if what == "feature"} == names
    covered = {(row["statement"], row["build"] or row["release"]) for row in tables["statement_version"]}
    ids = {row["id"]: row for row in tables["statement"]}
    drawn = {(data["claim"], other) for _, other, data in graph.edges(data=True) if data["claim"] in ids}
    assert drawn == covered
    edges = build_graph(hostile, ("trick",)).edges("trick", data=True)
    assert {(other, data["kind"], data["disputes"]) for _, other, data in edges} == {
        ("torch==2.8.0", "supported", "feature"),  # the side that lost has no edge
        ("torch==2.7.0", "beta", ""),
        ("ipex", "needs", ""),
    }


def test_graph_names_disputes(facts: Snapshot) -> None:
    """A build that a dispute is about, and a claim that is a side of one, name it."""
    graph = build_graph(facts, ("ipex",))
    assert "ipex-dispute-2.0.110-windows" in graph.nodes["ipex==2.0.110+xpu"]["disputes"].split()
    said = [data for *_, data in graph.edges(data=True) if data["claim"] == "ipex-2.3.110-torchvision"]
    assert {data["disputes"] for data in said} == {"ipex-dispute-2.3.110-torchvision"}


def test_edge_ids_are_unique_in_the_file(hostile: Snapshot) -> None:
    """A GraphML document names each edge once, and carries no letter that XML forbids."""
    text = graphml_text(build_graph(hostile))
    ids = re.findall(r'<edge [^>]*id="([^"]*)"', text)
    assert ids
    assert len(set(ids)) == len(ids)
    assert not NOT_XML.search(text)


def test_hostile_graph_comes_back(hostile: Snapshot, empty: Snapshot) -> None:
    """Text that looks like mark-up is text; only letters that XML cannot carry are replaced; no graph is a graph too."""
    back = networkx.read_graphml(io.BytesIO(graphml_text(build_graph(hostile)).encode()), force_multigraph=True)
    reasons = {data["reason"] for *_, data in back.edges(data=True) if data["kind"] == "breaks"}
    assert reasons == {TEXT.replace("\u0001", "\ufffd").replace("\r\n", "\n")} or reasons == {TEXT.replace("\u0001", "\ufffd")}
    assert len(networkx.read_graphml(io.BytesIO(graphml_text(build_graph(empty)).encode()))) == len(build_graph(empty))


# -- calendar -----------------------------------------------------------------------------------------------------


def events(text: str) -> list[icalendar.Event]:
    """Return the events of a calendar after checking what RFC 5545 demands of every line."""
    assert text.endswith("\r\n")
    lines = text.removesuffix("\r\n").split("\r\n")
    assert all(len(line.encode()) <= 75 and "\n" not in line and "\r" not in line for line in lines)
    calendar = icalendar.Calendar.from_ical(text.encode())
    assert isinstance(calendar, icalendar.Calendar)
    found = list(calendar.walk("VEVENT"))
    assert not calendar.errors
    assert not any(event.errors for event in found)
    ids = [str(event["UID"]) for event in found]
    assert len(set(ids)) == len(ids)
    return found  # type: ignore[return-value]  # walk promises components


def test_calendar_is_read(facts: Snapshot, tables: Tables) -> None:
    """Every end of life is an event of its day; releases that end with their product share one; nothing reads a clock."""
    found = {str(event["UID"]): event for event in events(calendar_text(facts))}
    ends = {row["id"]: row["eol"] for row in tables["product"] if row["eol"]}
    wanted = {
        f"eol-{row['product']}{'' if row['eol'] == ends.get(row['product']) else '-' + row['version']}@compatkb": row["eol"]
        for row in tables["release"]
        if row["eol"]
    }
    others = [row for row in tables["event"] if row["kind"] == "end-of-life" and not row["product"]]
    wanted |= {f"event-{row['id']}@compatkb": row["last_day"] for row in others}
    assert {uid: event.start.isoformat() for uid, event in found.items()} == wanted
    ipex = found["eol-ipex@compatkb"]
    assert (ipex.start, ipex.end) == (date(2026, 3, 31), date(2026, 4, 1))
    assert "2.8.0" in ipex["DESCRIPTION"]
    assert "Sources disagree on how long IPEX is maintained: " in ipex["DESCRIPTION"]
    assert "Sources disagree on when active development" in found["event-ipex-stops@compatkb"]["DESCRIPTION"]
    assert {event["DTSTAMP"].dt.date().isoformat() for event in found.values()} == {facts.meta["data_date"]}
    assert all("Source: " in event["DESCRIPTION"] for event in found.values())


def test_hostile_calendar(hostile: Snapshot, empty: Snapshot) -> None:
    """Line ends, separators and END:VEVENT in a name stay in it; letters are never cut; no end makes an empty calendar."""
    (torch,) = (event for event in events(calendar_text(hostile)) if "eol-torch-2.7.0@" in event["UID"])
    wanted = TEXT.replace("\r\n", "\n").replace("\u0001", "")
    assert str(torch["SUMMARY"]) == f"{wanted} 2.7.0: end of life"
    assert torch.start == date(2026, 4, 30)
    (stop,) = (event for event in events(calendar_text(hostile)) if event["UID"] == "event-stop@compatkb")
    assert (str(stop["SUMMARY"]), stop.start) == (LINE, date(2026, 6, 30))
    assert events(calendar_text(empty)) == []
    assert [str(event["UID"]) for event in events(calendar_text(hostile, ("ipex",)))] == ["eol-ipex@compatkb"]


def test_last_day_of_all_has_no_next_one(tmp_path: Path) -> None:
    """An end in the last year that dates have is written, without a day after it."""
    from builders import bare_release, product

    end = {"last-day": date.max, "sources": ["page"]}
    made = product("thing", role="leaf", releases=[bare_release("1", eol=end), bare_release("0", eol=dict(end))])
    facts = universe(tmp_path, [made])
    assert {event.start for event in events(calendar_text(facts))} == {date.max}
    assert date.max - timedelta(days=1) < date.max


# -- files and commands -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words",
    [
        ("export", "--format", "json", "--product", "torch"),
        ("export", "--format", "yaml"),
        ("export",),
    ],
    ids=" ".join,
)
def test_words_that_do_not_go_together(words: tuple[str, ...], run: Callable[..., Run]) -> None:
    """Wrong usage is said in one line, and nothing is printed but what `--format json` says of the error."""
    done = run(*words)
    assert (done.code, done.err.count("error: ")) == (2, 1)
    assert json.loads(done.out).keys() == {"schema", "error"} if "json" in words else done.out == ""


@pytest.mark.soak
@pytest.mark.parametrize(
    "words",
    [
        ("ical",),
        *(
            pytest.param(words, marks=pytest.mark.long)
            for words in (
                ("json",),
                ("graphml", "--product", "ipex"),
            )
        ),
    ],
    ids=" ".join,
)
def test_standard_output_and_file_are_the_same(words: tuple[str, ...], run: Callable[..., Run], tmp_path: Path) -> None:
    """--out writes the bytes that would be printed."""
    printed = run("export", "--format", *words)
    assert printed.code == 0
    assert run("export", "--format", *words, "--out", str(tmp_path / "x")).code == 0
    assert (tmp_path / "x").read_bytes() == printed.out.encode()


def test_hostile_directory_is_exported(run: Callable[..., Run], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """--data exports another directory, in every form."""
    monkeypatch.setenv("COMPATKB_CACHE", str(tmp_path / "cache"))
    data = str(hostile_directory(tmp_path))
    for words in (("json",), ("graphml",), ("ical",)):
        done = run("export", "--format", *words, "--data", data)
        assert done.code == 0, done.err
        assert done.out
    assert run("export", "--format", "json", "--data", str(tmp_path / "none")).code == 3


def test_files_are_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A failed write leaves the old content, permissions and no other file; a link is followed."""
    target = tmp_path / "out"
    write_file(target, b"old")
    target.chmod(0o600)
    (tmp_path / "link").symlink_to(target)
    write_file(tmp_path / "link", b"new")
    assert (target.read_bytes(), target.stat().st_mode & 0o777, (tmp_path / "link").is_symlink()) == (b"new", 0o600, True)

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", fail)
    with pytest.raises(UnavailableError, match="No space left"):
        write_file(target, b"newer")
    assert target.read_bytes() == b"new"
    assert {path.name for path in tmp_path.iterdir()} == {"out", "link"}


def test_targets_of_the_wrong_kind(tmp_path: Path) -> None:
    """A folder is no file, and neither is a device."""
    (tmp_path / "file").write_bytes(b"x")
    with pytest.raises(UsageError, match="is no file"):
        write_file(tmp_path, b"")
    with pytest.raises(UsageError, match="is no file"):
        write_file(Path("/dev/null"), b"")
    with pytest.raises(UnavailableError):
        write_file(tmp_path / "none" / "file", b"")
