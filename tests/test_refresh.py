"""`refresh` against real HTTP on the loopback interface: what it finds, what it refuses, what it leaves alone."""

import gzip
import json
import re
import shutil
import sys
import tomllib
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from conftest import ROOT, Run
from index_server import Index, Served, archive, metadata, served, serving, wheel

from compatkb.authoring.canonical import text_of
from compatkb.authoring.loader import LoadProblem, load, parse_document
from compatkb.errors import UnavailableError
from compatkb.refresh import index_client
from compatkb.refresh.comparison import plan, propose
from compatkb.refresh.index_client import Limits, Network, Remembering
from compatkb.refresh.listing import RawFile, listing
from compatkb.refresh.run import FileChange, RefreshOutcome, gather, refresh, select, write
from compatkb.schema import IndexFile, ProductFile
from compatkb.schema.feed import FileRead

TODAY = date(2026, 11, 21)
TAGS = "cp311-cp311-manylinux_2_28_x86_64"
PRODUCT = """
[product]
id = "engine"
name = "Engine"
role = "package"
scheme = "pep440"
rank = 1
distribution = "some-engine"
aliases = ["motor"]
complete = [{ what = "release", of = "engine<9", until = 2026-11-01, sources = ["page"] }]

[source]
page = { url = "https://engine.example/releases", seen = 2026-11-01 }

[[release]]
version = "1.0"
sources = ["page"]

[[release]]
version = "3.0rc1"
sources = ["page"]

[[builds]]
channels = ["default"]
devices = ["cpu"]
rows = [
    ["1.0", ["page"]],
]

[[pairs]]
needs = "engine"
rows = [
    ["1.0", "1.0", ["page"], { id = "engine-gear" }],
]
"""
INDEX = f"""distribution = "some-engine"
seen = 2026-11-01

[[release]]
version = "1.0"
uploaded = 2025-01-02T03:04:05Z
requires-python = ">=3.9"
requires = ["gear==1.0"]
wheels = {{ cp311 = ["manylinux_2_28_x86_64"] }}
file = "some_engine-1.0-{TAGS}.whl"
"""
OLD = {"uploaded": "2025-01-02T03:04:05.900000Z", "requires_python": ">=3.9"}
ONE = f"some_engine-1.0-{TAGS}.whl"
TWO = f"some_engine-1.1-{TAGS}.whl"
PAGE = "/simple/some-engine/"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data directory with one product, one release of which is on the index."""
    directory = tmp_path / "data"
    for folder in ("products", "index"):
        (directory / folder).mkdir(parents=True)
    (directory / "products" / "engine.toml").write_text(PRODUCT, encoding="utf-8")
    (directory / "index" / "some-engine.toml").write_text(INDEX, encoding="utf-8")
    (directory / "channels.toml").write_text('[[channel]]\nid = "default"\nname = "d"\nstyle = "default"\n', encoding="utf-8")
    route = '[[route]]\nid = "r"\nname = "r"\nrank = 1\ndevice = ["cpu"]\nprovider = "engine"\n'
    (directory / "routes.toml").write_text(route, encoding="utf-8")
    return directory


@pytest.fixture
def index() -> Iterator[Index]:
    """An index that offers just what the data record."""
    with serving(Index({"some-engine": [wheel(ONE, ("gear==1.0",), **OLD)]})) as running:
        yield running


def ask(
    data: Path, index: Index, today: date = TODAY, since: datetime | None = None, *, requirements: bool = False
) -> RefreshOutcome:
    """Run refresh over a data directory."""
    files = load(data)
    return refresh(files, data, select(files, (), requirements=requirements), Network(index.url), today, since=since)


def proposed(outcome: RefreshOutcome) -> IndexFile:
    """Return the one file that would change."""
    (change,) = outcome.changes
    found = IndexFile.model_validate(tomllib.loads(change.after))
    assert text_of(found) == change.after
    return found


def kinds(outcome: RefreshOutcome) -> list[tuple[str, tuple[str, ...]]]:
    """Return what is to decide, briefly."""
    return [(note.kind, note.versions) for note in outcome.notes]


def contents(directory: Path) -> dict[str, bytes]:
    """Return every file below a directory."""
    return {str(path.relative_to(directory)): path.read_bytes() for path in directory.rglob("*") if path.is_file()}


@pytest.mark.parametrize("as_json", [False, True], ids=["html", "json"])
@pytest.mark.parametrize("way", ["metadata", "all", "from-start"])
def test_new_release_is_read(data: Path, index: Index, way: str, as_json: bool) -> None:
    """A new release is proposed in full from HTML and JSON, from metadata files and from parts of wheels; then nothing is."""
    index.as_json = as_json
    index.offers_metadata, index.ranges = (True, "none") if way == "metadata" else (False, way)
    two = wheel(TWO, ("gear>=1.1", 'shaft; sys_platform == "linux"'), requires_python=">=3.10")
    sdist = Served("some_engine-1.1.tar.gz", uploaded="2025-06-30T09:00:00Z", requires_python=">=3.10")
    index.projects["some-engine"] += [two, sdist]
    outcome = ask(data, index)
    new, old = proposed(outcome).release
    assert old == load(data).index[0].release[0]
    assert new.version == "1.1"
    assert new.uploaded == datetime(2025, 6, 30, 9, tzinfo=UTC)  # of the first file
    assert new.requires == ("gear>=1.1", 'shaft; sys_platform == "linux"')
    assert (new.requires_python, new.wheels, new.file) == (">=3.10", {"cp311": ("manylinux_2_28_x86_64",)}, TWO)
    assert kinds(outcome) == [("unnamed", ("1.1",))]
    write(outcome.changes)
    assert ask(data, index).changes == ()


def test_a_run_that_was_ended_asks_for_the_rest(data: Path, index: Index, tmp_path: Path) -> None:
    """What wheels said is kept until a run ends well; then it is forgotten."""
    third = TWO.replace("1.1", "1.2")
    index.projects["some-engine"] += [wheel(TWO, ("gear==1.1",)), wheel(third, ("gear==1.2",))]
    index.raw[f"/files/{third}"] = (500, {}, b"")
    files, subjects = load(data), select(load(data), (), requirements=False)
    with pytest.raises(UnavailableError):
        refresh(files, data, subjects, Remembering(Network(index.url), tmp_path / "kept"), TODAY)
    assert len(list((tmp_path / "kept").iterdir())) == 1
    index.raw.clear()
    index.asked.clear()
    client = Remembering(Network(index.url), tmp_path / "kept")
    assert [r.version for r in proposed(refresh(files, data, subjects, client, TODAY)).release] == ["1.2", "1.1", "1.0"]
    assert {path for _, path, _ in index.asked if path.endswith(".whl")} == {f"/files/{third}"}
    client.forget()
    assert not (tmp_path / "kept").exists()


FILES = """
[[feed]]
kind = "files"
reads = [
    { id = "gear", paths = ["needs.txt", "old.txt"], line = "^gear(.+)", kind = "needs", names = ["gear{1}"] },
    { id = "oil", paths = ["old.txt"], line = "^oil()", label = "cpu", kind = "needs", names = ["oil"] },
]

[source]
"""


def test_lines_of_source_archives_are_read_once(data: Path, index: Index) -> None:
    """What a line says is a row with its place and a claim of the release; a rule that changed has all of them read again."""
    product = data / "products" / "engine.toml"
    product.write_text(PRODUCT.replace("\n[source]\n", FILES, 1), encoding="utf-8")
    index.as_json = True
    index.projects["some-engine"] += [
        archive("some_engine-1.0.tar.gz", {"old.txt": "oil\ngear >= 1.0\n"}),
        archive("some_engine-0.9.tar.gz", {"other.txt": "gear==3"}),
        archive("some_engine-1.1rc1.tar.gz", {"needs.txt": "gear==1.1"}),
    ]
    write(ask(data, index).changes)
    (file,) = load(data).collected
    assert [(row.version, row.found) for row in file.files[0].rows] == [
        ("1.0", {"gear": ("old.txt", 2, (">=1.0",)), "oil": ("old.txt", 1, ("",))}),
        ("0.9", {}),
    ]
    _, claim = load(data).products[0].claim  # there is no build with the label cpu, so nothing is said of it
    assert (claim.to, load(data).products[0].source[claim.sources[0]].at) == (("gear>=1.0",), "old.txt:2")
    index.asked.clear()
    assert ask(data, index).changes == ()
    assert [path for _, path, _ in index.asked if path.endswith(".gz")] == []
    product.write_text(product.read_text().replace("^gear", "^ge.r"), encoding="utf-8")
    assert [change.path.name for change in ask(data, index).changes] == ["engine.toml"]


@pytest.mark.parametrize(
    ("line", "names", "said"),
    [("gear(", "gear", "is no pattern"), ("gear", "gear=={1}", "is no group of `line`"), ("gear", "gear", "needs a `reason`")],
)
def test_what_no_file_can_say_is_refused(line: str, names: str, said: str) -> None:
    """A pattern that is none, a group that it does not have, and a break without a reason are faults of the product file."""
    with pytest.raises(ValueError, match=said):
        FileRead.model_validate({"id": "gear", "paths": ["a"], "line": line, "kind": "breaks", "names": [names]})


def test_what_is_no_source_archive_is_refused(data: Path, index: Index) -> None:
    """A file that cannot be unpacked is named, and nothing is proposed."""
    product = data / "products" / "engine.toml"
    product.write_text(PRODUCT.replace("\n[source]\n", FILES, 1), encoding="utf-8")
    index.as_json = True
    index.projects["some-engine"].append(Served("some_engine-1.0.tar.gz", b"no archive"))
    with pytest.raises(UnavailableError, match=r"some_engine-1.0.tar.gz: cannot be read as a source archive"):
        ask(data, index)


def test_what_is_no_product_keeps_bounds_alone(data: Path, index: Index) -> None:
    """Of a distribution without a product bounds are kept, each once, also what is no requirement; nothing is read twice."""
    path = data / "index" / "shaft.toml"
    path.write_text('distribution = "shaft"\nseen = 2026-11-01\n', encoding="utf-8")
    asked = {"1.2": ("gear (>=1.0)", "oil"), "1.1": ("oil", 'pump>2; extra == "x"', "gear>=1.0"), "1.0": ("gear (>=1.9.*)",)}
    wheels = [wheel(f"shaft-{version}-py3-none-any.whl", requires) for version, requires in asked.items()]
    index.projects["shaft"] = [*wheels, Served("shaft-0.9.tar.gz")]
    outcome = ask(data, index)
    first, second, third = proposed(outcome).metadata
    assert (first.versions, first.requires) == (("1.2", "1.1"), ("gear>=1.0",))
    assert (second.versions, second.requires) == (("1.0",), ("gear (>=1.9.*)",))
    assert (third.versions, third.requires) == (("0.9",), None)
    assert [note for note in outcome.notes if note.distribution == "shaft"] == []
    write(outcome.changes)
    index.asked.clear()
    assert ask(data, index).changes == ()
    assert [path for _, path, _ in index.asked if path.endswith(".whl")] == []


def test_whole_wheel_is_never_read(data: Path, index: Index) -> None:
    """Of a large wheel only its end and its metadata are fetched."""
    index.projects["some-engine"].append(wheel(TWO, ("gear==1.1",), padding=3 << 20))
    assert proposed(ask(data, index)).release[0].requires == ("gear==1.1",)
    wheels = [(method, asked) for method, path, asked in index.asked if path.endswith(TWO)]
    assert wheels == [("GET", "bytes=-65536")]


def test_metadata_far_from_the_end(data: Path, index: Index) -> None:
    """Metadata at the start of a large wheel are found by a second part, asked for by its place."""
    two = wheel(TWO, ("gear==1.1",))
    two.content = two.content[:0] + _front_loaded(two.metadata)
    index.projects["some-engine"].append(two)
    assert proposed(ask(data, index)).release[0].requires == ("gear==1.1",)
    asked = [asked for _, path, asked in index.asked if path.endswith(TWO)]
    assert asked == ["bytes=-65536", "bytes=0-65535"]


def _front_loaded(content: bytes) -> bytes:
    import io
    import zipfile

    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        archive.writestr("some_engine-1.1.dist-info/METADATA", content)
        archive.writestr("big.bin", b"\0" * (1 << 20))
    return target.getvalue()


def test_requirements_that_cannot_be_had(data: Path, index: Index) -> None:
    """Without metadata files and parts nothing is invented: the release is recorded without `file`, and that is said."""
    index.ranges = "none"
    index.projects["some-engine"].append(wheel(TWO, ("gear==1.1",)))
    outcome = ask(data, index)
    new, old = proposed(outcome).release
    assert (new.file, new.requires) == (None, ())
    assert old.requires == ("gear==1.0",)
    assert ("unread", ("1.1",)) in kinds(outcome)


def test_date_without_upload_time(data: Path, index: Index) -> None:
    """Without upload times the day of the file's last change bounds the upload, and the record says so; a time replaces it."""
    index.upload_times = False
    index.projects["some-engine"].append(wheel(TWO))
    outcome = ask(data, index)
    new = proposed(outcome).release[0]
    assert (new.uploaded, new.dated) == (datetime(2025, 7, 1, 10, tzinfo=UTC), "file")
    write(outcome.changes)
    assert ask(data, index).changes == ()
    index.upload_times = True
    new = proposed(ask(data, index)).release[0]
    assert (new.uploaded, new.dated) == (datetime(2025, 6, 30, 10, tzinfo=UTC), "upload")


def test_release_without_any_date(data: Path, index: Index) -> None:
    """A release for which nothing gives a date is not recorded but named."""
    index.upload_times = index.last_modified = False
    index.projects["some-engine"].append(wheel(TWO))
    outcome = ask(data, index)
    assert outcome.changes == ()
    assert kinds(outcome) == [("undated", ("1.1",))]


def test_old_and_preliminary_releases(data: Path, index: Index) -> None:
    """Releases from before the oldest record, and pre-releases that no product file names, are left out."""
    index.projects["some-engine"] += [
        wheel(f"some_engine-0.9-{TAGS}.whl", uploaded="2024-12-31T00:00:00Z"),
        wheel(f"some_engine-2.0rc1-{TAGS}.whl"),
        wheel(f"some_engine-3.0rc1-{TAGS}.whl"),
        Served("some_engine-0.1.win32.exe"),
    ]
    assert [release.version for release in proposed(ask(data, index)).release] == ["3.0rc1", "1.0"]
    since = datetime(2024, 1, 1, tzinfo=UTC)
    assert [release.version for release in proposed(ask(data, index, since=since)).release] == ["3.0rc1", "1.0", "0.9"]


def test_yanks(data: Path, index: Index) -> None:
    """A yank is dated by the run that first saw it; a new reason keeps the day; the end of a yank is seen and named."""
    (file,) = index.projects["some-engine"]
    file.yanked = "broken"
    outcome = ask(data, index)
    yank = proposed(outcome).release[0].yanked
    assert yank is not None
    assert (yank.files, yank.reason, yank.seen) == ("all", "broken", TODAY)
    (note,) = outcome.notes
    assert (note.kind, note.versions) == ("yanked", ("1.0",))
    assert "engine: engine-gear" in note.message
    said = 'yanked = { after = 2026-11-01, by = 2026-11-21, reason = "broken", sources = [{ channel = "default", file = "some'
    assert said in note.toml
    write(outcome.changes)
    later = date(2026, 12, 24)
    assert ask(data, index, later).changes == ()
    file.yanked = "unsafe"
    yank = proposed(ask(data, index, later)).release[0].yanked
    assert yank is not None
    assert (yank.reason, yank.seen) == ("unsafe", TODAY)
    file.yanked = None
    outcome = ask(data, index, later)
    assert outcome.changes == ()  # an HTML page without any yank may come from an index that knows none
    assert kinds(outcome) == [("unyanked", ("1.0",))]
    index.as_json = True
    outcome = ask(data, index, later)
    assert proposed(outcome).release[0].yanked is None
    assert kinds(outcome) == [("unyanked", ("1.0",))]


def test_yank_of_some_files_grows(data: Path, index: Index) -> None:
    """When the rest of the files is yanked too, that is a new yank with its own day."""
    first, second = wheel(ONE, ("gear==1.0",), **OLD), Served("some_engine-1.0.tar.gz", **OLD)
    index.projects["some-engine"] = [first, second]
    first.yanked = ""
    outcome = ask(data, index)
    yank = proposed(outcome).release[0].yanked
    assert yank is not None
    assert (yank.files, yank.seen) == ("some", TODAY)
    write(outcome.changes)
    second.yanked = ""
    yank = proposed(ask(data, index, date(2026, 12, 24))).release[0].yanked
    assert yank is not None
    assert (yank.files, yank.seen) == ("all", date(2026, 12, 24))


def test_what_is_gone_stays(data: Path, index: Index) -> None:
    """Releases and wheels that the index no longer lists stay recorded, and are named."""
    files = index.projects["some-engine"]
    files[:] = [wheel("some_engine-1.0-cp312-cp312-win_amd64.whl", ("gear==1.0",), **OLD)]
    outcome = ask(data, index)
    (release,) = proposed(outcome).release
    assert release.wheels == {"cp311": ("manylinux_2_28_x86_64",), "cp312": ("win_amd64",)}
    assert release.file == "some_engine-1.0-cp312-cp312-win_amd64.whl"  # what was read today
    assert kinds(outcome) == [("gone", ("1.0",))]
    files[:] = [wheel(TWO)]
    outcome = ask(data, index)
    assert [release.version for release in proposed(outcome).release] == ["1.1", "1.0"]
    assert ("gone", ("1.0",)) in kinds(outcome)


def test_changes_of_a_release(data: Path, index: Index) -> None:
    """Changed Requires-Python and requirements are proposed, and new wheel tags, by their ABI, of platforms of the grid."""
    index.projects["some-engine"][:] = [
        wheel(ONE, ("gear==1.0.1",), **{**OLD, "requires_python": ">=3.11"}),
        wheel("some_engine-1.0-cp313-cp313t-manylinux_2_28_aarch64.whl", **{**OLD, "requires_python": ">=3.11"}),
        wheel("some_engine-1.0-cp313-cp313t-musllinux_1_2_aarch64.whl", **{**OLD, "requires_python": ">=3.11"}),
        wheel("some_engine-1.0-pp311-pypy311_pp73-manylinux_2_28_x86_64.whl", **{**OLD, "requires_python": ">=3.11"}),
    ]
    (release,) = proposed(ask(data, index)).release
    assert release.requires == ("gear==1.0",)  # a wheel of an index never changes, so it is not read again unasked
    (release,) = proposed(ask(data, index, requirements=True)).release
    assert release.requires_python == ">=3.11"
    assert release.requires == ("gear==1.0.1",)
    assert release.wheels == {"cp311": ("manylinux_2_28_x86_64",), "cp313t": ("manylinux_2_28_aarch64",)}


def test_a_wheel_for_the_stable_abi_is_told_apart(data: Path, index: Index) -> None:
    """A wheel for the stable ABI serves later Pythons too, so its tag is recorded with the ABI."""
    files = index.projects["some-engine"]
    files += [wheel("some_engine-1.1-cp310-cp310-win_amd64.whl"), wheel("some_engine-1.1-cp38-abi3-win_amd64.whl")]
    release = proposed(ask(data, index)).release[0]
    assert release.wheels == {"cp310": ("win_amd64",), "cp38-abi3": ("win_amd64",)}
    assert release.file == "some_engine-1.1-cp38-abi3-win_amd64.whl"


@pytest.mark.parametrize("digests", [True, False])
def test_wheels_of_one_release_differ(data: Path, index: Index, digests: bool) -> None:
    """Where wheels of a new release require different things, that is said, and the choice of the wheel is stable."""
    index.offers_metadata = digests
    mac = "some_engine-1.1-cp311-cp311-macosx_14_0_arm64.whl"
    index.projects["some-engine"] += [wheel(mac, ("Gear == 1.1",)), wheel(TWO, ("gear==1.1", "shaft"))]
    outcome = ask(data, index)
    assert proposed(outcome).release[0].file == TWO
    (note,) = [note for note in outcome.notes if note.kind == "differs"]
    assert note.message == f"{mac} does not require shaft; recorded is {TWO}"


def test_requirements_only_where_there_are_some(data: Path, index: Index) -> None:
    """A file that records no wheel's metadata gets none, until it is asked for."""
    path = data / "index" / "some-engine.toml"
    path.write_text(re.sub(r"(?m)^(requires|file) =.*\n", "", INDEX), encoding="utf-8")
    assert ask(data, index).changes == ()
    assert [path for _, path, _ in index.asked] == [PAGE]
    assert proposed(ask(data, index, requirements=True)).release[0].requires == ("gear==1.0",)


def test_new_distribution(data: Path, index: Index) -> None:
    """A product with a build on the default index and without a file gets one, and that is to decide."""
    (data / "index" / "some-engine.toml").unlink()
    outcome = ask(data, index, since=datetime(2021, 10, 1, tzinfo=UTC))
    assert proposed(outcome).release[0].requires == ("gear==1.0",)
    assert outcome.changes[0].diff(data).startswith("--- /dev/null\n+++ b/data/index/some-engine.toml\n")
    assert kinds(outcome) == [("new-file", ())]


def test_skeleton_becomes_a_record(data: Path, index: Index) -> None:
    """The skeleton of a release is for what the one before was for; without one the models refuse it until it is filled in."""
    index.projects["some-engine"].append(wheel(TWO))
    (note,) = ask(data, index).notes
    head = PRODUCT.partition("[source]")[0].replace("complete =", "#")
    problems: list[LoadProblem] = []
    assert (
        parse_document("products/engine.toml", f"{head}{note.toml.replace(_CPU, 'devices = []')}".encode(), problems) is None
    )
    assert "devices" in problems[0].message
    document = parse_document("products/engine.toml", f"{head}{note.toml}".encode(), [])
    assert document
    made = document.record
    assert isinstance(made, ProductFile)
    assert made.release[0].version == "1.1"
    assert [source.file for source in made.source.values()] == [TWO]


_CPU = 'devices = ["cpu"]'


def test_of_extras_only_products_are_kept(data: Path, index: Index) -> None:
    """What a wheel requires with an extra alone is recorded where both are products of the data, and nowhere else."""
    named = 'some-engine>=1.0; extra == "some-engine"'
    texts = ("gear==1.1", 'pytest; extra == "test"', 'some-engine>=1.0; extra == "self"', named)
    index.projects["some-engine"].append(wheel(TWO, texts))
    (newest, *_) = proposed(ask(data, index)).release
    assert newest.requires == ("gear==1.1", named)


def test_command(data: Path, index: Index, run: Callable[..., Run], monkeypatch: pytest.MonkeyPatch) -> None:
    """The diff and what to decide on stdout; --check ends with 4; --write writes; after that nothing is proposed."""
    monkeypatch.setenv("COMPATKB_TODAY", TODAY.isoformat())
    index.projects["some-engine"].append(wheel(TWO, ("gear==1.1",)))
    words = ("refresh", "--data", str(data), "--index", index.url)
    before = contents(data)
    printed = run(*words)
    assert printed.code == 0
    assert printed.out.startswith("--- a/data/index/some-engine.toml\n+++ b/data/index/some-engine.toml\n@@ ")
    assert '+version = "1.1"\n' in printed.out
    assert "\n# some-engine 1.1: is on the index, and no record names it\n[[builds]]" in printed.out
    assert run(*words, "--check").code == 4
    assert contents(data) == before
    told = json.loads(run(*words, "--format", "json").out)
    assert [change["file"] for change in told["changes"]] == ["index/some-engine.toml"]
    assert [item["kind"] for item in told["todo"]] == ["unnamed"]
    assert run(*words, "--write").code == 0
    assert {name for name, content in contents(data).items() if before.get(name) != content} == {"index/some-engine.toml"}
    assert "seen = 2026-11-21\n" in (data / "index" / "some-engine.toml").read_text(encoding="utf-8")
    done = run(*words, "--check")
    assert (done.code, done.out.count("---")) == (0, 0)


def test_later_run_moves_the_day_only(
    data: Path, index: Index, run: Callable[..., Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a later day without news nothing is proposed, and --write moves `seen` alone."""
    monkeypatch.setenv("COMPATKB_TODAY", TODAY.isoformat())
    words = ("refresh", "--data", str(data), "--index", index.url)
    done = run(*words, "--check")
    assert (done.code, done.out) == (0, "")
    assert run(*words, "--write").code == 0
    text = (data / "index" / "some-engine.toml").read_text(encoding="utf-8")
    assert text == INDEX.replace("seen = 2026-11-01", "seen = 2026-11-21")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--only", "wheel-of-fortune"), "has nothing on the default index"),
        (("--jobs", "0"), "--jobs"),
        (("--since", "soon"), "is not a date"),
        (("--index", "ftp://index.example"), "is not the address of a package index"),
    ],
)
def test_wrong_words(data: Path, run: Callable[..., Run], words: tuple[str, ...], message: str) -> None:
    """Wrong options end with 2 before anything is asked."""
    done = run("refresh", "--data", str(data), *words)
    assert done.code == 2
    assert message in done.err


def test_only(data: Path, index: Index, run: Callable[..., Run]) -> None:
    """--only takes an id, an alias or a distribution."""
    for word in ("engine", "motor", "Some_Engine"):
        assert run("refresh", "--data", str(data), "--index", index.url, "--only", word).code == 0


def test_without_the_extra(run: Callable[..., Run], monkeypatch: pytest.MonkeyPatch) -> None:
    """Without pypi-simple one line says what to install."""
    monkeypatch.setitem(sys.modules, "pypi_simple", None)
    for name in [name for name in sys.modules if name.startswith("compatkb.refresh.")]:
        monkeypatch.delitem(sys.modules, name)
    done = run("refresh")
    assert done.code == 5
    assert done.err.count("\n") == 1
    assert "python -m pip install 'compatkb[refresh]'" in done.err


def page_of(*links: str) -> bytes:
    """Return an HTML page."""
    return ("<html><body>" + "".join(links) + "</body></html>").encode()


def link(name: str, said: str = "") -> str:
    """Return a link of an HTML page."""
    return f'<a href="../../files/x" {said}>{name}</a>'


def project(**changes: object) -> bytes:
    """Return a JSON page with one file."""
    file = {"filename": TWO, "url": "x", "hashes": {}, **changes}
    return json.dumps({"meta": {"api-version": "1.0"}, "name": "some-engine", "files": [file]}).encode()


HTML = {"Content-Type": "text/html"}
JSON = {"Content-Type": "application/vnd.pypi.simple.v1+json"}
WHEEL = link(TWO)
BAD_PAGES = {
    "missing": (404, HTML, b"", "no such distribution (404)"),
    "broken": (503, HTML, b"", "status 503"),
    "forbidden": (403, HTML, page_of(WHEEL), "status 403"),
    "wrong-type": (200, {"Content-Type": "application/zip"}, b"PK", "no index page"),
    "cut-connection": (200, {**HTML, "Content-Length": "9999", "Connection": "close"}, page_of(WHEEL), "ended early"),
    "cut-html": (200, HTML, page_of(WHEEL, WHEEL)[:-40], "ends in the middle"),
    "empty": (200, HTML, b"", "ends in the middle"),
    "no-files": (200, HTML, page_of(), "no wheel and no source distribution"),
    "cut-json": (200, JSON, project()[:-9], "no JSON index page"),
    "nested-json": (200, JSON, b"[" * 200_000, "no JSON index page"),
    "list-json": (200, JSON, b"[]", "no JSON index page"),
    "bad-time": (200, JSON, project(**{"upload-time": "yesterday"}), "no JSON index page"),
    "bad-time-html": (200, HTML, page_of(link(TWO, 'data-upload-time="yesterday"')), "no HTML index page"),
    "huge": (200, HTML, b" " * (index_client.MOST_OF_A_PAGE + 2), "larger than"),
    "bomb": (200, {**HTML, "Content-Encoding": "gzip"}, gzip.compress(b" " * (48 << 20), 1), "larger than"),
    "no-gzip": (200, {**HTML, "Content-Encoding": "gzip"}, page_of(WHEEL), "no readable answer"),
    "endless-redirect": (302, {"Location": PAGE}, b"", "redirects more than"),
    "redirect-elsewhere": (302, {"Location": "file:///etc/hostname"}, b"", "no readable answer"),
    "other-format": (200, HTML, b'<html><meta name="pypi:repository-version" content="2.0"></html>', "not known here"),
    "other-json": (200, JSON, project().replace(b'"1.0"', b'"2.0"'), "not known here"),
    "control-in-reason": (200, JSON, project(yanked="a\x1b[2Jb"), "control character U+001B"),
    "control-in-html": (200, HTML, page_of(link(TWO, 'data-yanked="a\x1b[2Jb"')), "control character"),
    "direction": (200, JSON, project(yanked="a\u202eb"), "control character U+202E"),
    "long-reason": (200, JSON, project(yanked="a" * 5000), "5000 characters"),
    "no-version": (200, HTML, page_of(link(f"some_engine-latest-{TAGS}.whl")), "no readable name and version"),
    "no-sdist-version": (200, HTML, page_of(link("some-engine-20x.tar.gz")), "no readable name and version"),
    "long-version": (200, HTML, page_of(link(f"some_engine-{'1' * 400}-{TAGS}.whl")), "absurd name"),
    "control-in-name": (200, JSON, project(filename="some_engine-1.1\n-py3-none-any.whl"), "absurd name"),
    "path-in-name": (200, JSON, project(filename=f"../{TWO}"), "absurd name"),
    "other-name": (200, HTML, page_of(WHEEL, link(f"numbers-1.1-{TAGS}.whl")), "another distribution"),
    "twice": (200, HTML, page_of(WHEEL, link(TWO, 'data-yanked=""')), "twice"),
    "bad-python": (200, HTML, page_of(link(TWO, 'data-requires-python="&gt;=three"')), "is not a PEP 440 specifier"),
    "bad-address": (200, JSON, project(url="file:///etc/passwd", **{"upload-time": "2025-06-30T10:00:00Z"}), "safely"),
}


@pytest.mark.parametrize("case", BAD_PAGES)
def test_bad_page_changes_nothing(data: Path, index: Index, run: Callable[..., Run], case: str) -> None:
    """Trouble and hostile pages end with 5 and one clear line that a terminal can show; no file is touched."""
    *index.raw[PAGE], message = BAD_PAGES[case]
    index.raw[PAGE] = tuple(index.raw[PAGE])
    before = contents(data)
    done = run("refresh", "--write", "--data", str(data), "--index", index.url)
    assert done.code == 5, done.out
    assert message in done.err
    assert done.out == ""
    assert all(line.isprintable() and len(line) < 400 for line in done.err.splitlines())
    assert contents(data) == before


def test_redirect_is_followed(data: Path, index: Index) -> None:
    """A page that has moved is read where it is, and its links are relative to there."""
    index.projects["some-engine"].append(wheel(TWO, ("gear==1.1",)))
    index.raw[PAGE] = (301, {"Location": "/simple/some-engine/moved"}, b"")
    kind, body = index.page("some-engine")
    index.raw["/simple/some-engine/moved"] = (200, {"Content-Type": kind}, body)
    assert proposed(ask(data, index)).release[0].requires == ("gear==1.1",)


def test_every_failure_is_named(data: Path, index: Index) -> None:
    """All that failed is listed, one a line, and nothing is proposed although the rest could be read."""
    (data / "products" / "gear.toml").write_text(
        PRODUCT.replace('"engine"', '"gear"').replace("some-engine", "some-gear").replace("engine==", "gear=="),
        encoding="utf-8",
    )
    index.raw[PAGE] = (404, {}, b"")
    with pytest.raises(UnavailableError) as error:
        ask(data, index)
    assert [line.partition(":")[0] for line in str(error.value).splitlines()] == ["some-engine", "some-gear"]


def test_nobody_listens(data: Path, run: Callable[..., Run]) -> None:
    """Without a connection the one line names no stack of exceptions."""
    done = run("refresh", "--data", str(data), "--index", "http://127.0.0.1:1/simple")
    assert (done.code, done.err) == (5, "error: some-engine: no connection to the index\n")


def test_trickling_answer_ends(index: Index) -> None:
    """An answer that comes byte by byte is given up after its time, although it never falls silent."""
    index.raw[PAGE] = (200, HTML, page_of(WHEEL, WHEEL))
    index.drip = 0.05
    with pytest.raises(UnavailableError, match="takes longer than"):
        Network(index.url, Limits(silence=5, answer=0.3)).page("some-engine")


def test_silent_answer_ends(index: Index) -> None:
    """An answer that falls silent is given up."""
    index.raw[PAGE] = (200, HTML, page_of(WHEEL, WHEEL))
    index.drip = 3
    with pytest.raises(UnavailableError, match="no answer within"):
        Network(index.url, Limits(silence=0.2, answer=30)).page("some-engine")


def test_run_ends(index: Index) -> None:
    """After the time for the whole run nothing more is asked."""
    with pytest.raises(UnavailableError, match="the time for the whole run is over"):
        Network(index.url, Limits(run=-1)).page("some-engine")
    assert index.asked == []


def test_hanging_thread_does_not_hold_up() -> None:
    """Work that never ends is given up, and its thread does not keep the process."""
    import threading

    stop = threading.Event()
    with pytest.raises(UnavailableError, match="no whole answer"):
        gather(lambda _: stop.wait(30), [1, 2], 2, patience=0.1)
    stop.set()


def _bomb() -> bytes:
    import io
    import zipfile

    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("some_engine-1.1.dist-info/METADATA", b"Name: some-engine\n" * 400_000)
    return target.getvalue()


@pytest.mark.parametrize(
    ("file", "message"),
    [
        (wheel(TWO, said_version="1.2"), "its metadata are those of 'some_engine 1.2'"),
        (Served(TWO, b"no zip at all"), "cannot be read as a wheel"),
        (Served(TWO, wheel(TWO).content[:-30]), "cannot be read as a wheel"),
        (Served(TWO, wheel(f"other-1.1-{TAGS}.whl").content), "has 0 METADATA files"),
        (Served(TWO, _bomb()), "larger than"),
        (wheel(TWO, ("gear\x07",)), "control character U+0007"),
        (wheel(TWO, ("gear" * 2000,)), "8000 characters"),
        (wheel(TWO, tuple(f"gear{n}" for n in range(2001))), "2001 requirements"),
    ],
    ids=["other-version", "no-zip", "cut", "other-name", "bomb", "control", "long", "many"],
)
def test_bad_wheel(data: Path, index: Index, file: Served, message: str) -> None:
    """A wheel that is not what its name says is refused."""
    index.projects["some-engine"].append(Served(**{**vars(file), "metadata": b""}))
    with pytest.raises(UnavailableError) as error:
        ask(data, index)
    assert message in str(error.value)


def test_metadata_must_match_their_digest(data: Path, index: Index) -> None:
    """A metadata file that differs from the page's digest is refused."""
    index.offers_metadata = True
    kind, body = index.page("some-engine")
    index.raw[PAGE] = (200, {"Content-Type": kind}, body)
    index.projects["some-engine"][0].metadata = metadata("some-engine", "1.0", ("other",))
    with pytest.raises(UnavailableError, match="SHA-256 differs"):
        ask(data, index, requirements=True)


def test_promised_metadata_that_are_missing(data: Path, index: Index) -> None:
    """Where a page promises metadata that the server lacks, parts of the wheel serve."""
    index.offers_metadata = True
    kind, body = index.page("some-engine")
    index.raw[PAGE] = (200, {"Content-Type": kind}, body)
    index.raw[f"/files/{ONE}.metadata"] = (404, {}, b"")
    assert ask(data, index).changes == ()


@pytest.mark.parametrize(
    ("headers", "message"),
    [
        ({"Content-Range": "bytes 0-9/10"}, "ended early"),
        ({"Content-Range": "bytes 0-3/100"}, "another part of the file"),
        ({"Content-Range": "items 0-3/4"}, "which part"),
        ({}, "which part"),
    ],
)
def test_wrong_part(data: Path, index: Index, headers: dict[str, str], message: str) -> None:
    """A server that sends another part than was asked for is not believed."""
    index.raw[f"/files/{ONE}"] = (206, headers, b"abcd")
    with pytest.raises(UnavailableError, match=message):
        ask(data, index, requirements=True)


def test_malformed_page_ends_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page that makes the parser slow is given up."""
    monkeypatch.setattr(index_client, "LONGEST_PARSE", 0.2)
    body = b"<a href=x>" * 400_000 + b"</html>"
    with pytest.raises(UnavailableError, match="cannot be read in time"):
        index_client.read_page("some-engine", body, "text/html", "http://index.example/simple/some-engine/")


def test_files_are_replaced_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When writing fails, every file keeps its old text and nothing is left behind."""
    one, two = tmp_path / "index" / "one.toml", tmp_path / "index" / "two.toml"
    one.parent.mkdir()
    one.write_text("old", encoding="utf-8")

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", fail)
    with pytest.raises(UnavailableError, match="No space left"):
        write([FileChange(one, "old", "new"), FileChange(two, "", "new")])
    assert contents(tmp_path) == {"index/one.toml": b"old"}


def test_proposal_keeps_what_the_index_does_not_say() -> None:
    """A page that never speaks of Requires-Python or upload times takes none of them away."""
    recorded = IndexFile.model_validate(tomllib.loads(INDEX))
    page = listing("some-engine", [RawFile(ONE, "x", None, None, None, None, None)], always_tells_yanks=True)
    from compatkb.refresh.comparison import RecordedDistribution

    subject = RecordedDistribution("some-engine", "engine", recorded, frozenset(), True)
    since = datetime(2020, 1, 1, tzinfo=UTC)
    after, notes = propose(subject, page, plan(subject, page, {}, since), {}, {ONE: None}, TODAY)
    assert after == recorded
    assert notes == ()


def age(directory: Path) -> None:
    """Take the two newest torch releases and five yanks out of a copy of the data, and a release out of a product file."""
    path = directory / "index" / "torch.toml"
    head, *releases = path.read_text(encoding="utf-8").split("\n[[release]]\n")
    path.write_text("\n[[release]]\n".join([head, *releases[2:]]), encoding="utf-8")
    path = directory / "index" / "intel-extension-for-pytorch.toml"
    text, count = re.subn(r"(?m)^yanked = .*\n", "", path.read_text(encoding="utf-8"), count=5)
    assert count == 5
    path.write_text(text, encoding="utf-8")
    path = directory / "products" / "torch.toml"
    builds, pairs, rest = path.read_text("utf-8").partition("[[pairs]]")
    builds, count = re.subn(r'(?m)^    \["2\.15\.0.*\n', "", builds)
    assert count > 1
    builds = re.sub(r"(?m)^\[\[(?:builds|variants)\]\]\n(?:(?!\[\[).*\n)*?rows = \[\n\]\n\n", "", builds)
    text = builds + pairs + rest
    path.write_text(text, encoding="utf-8")


def brought_back(directory: Path, index: Network) -> None:
    """Refresh aged data, and hold them against the real ones, of which one day saw all yanks."""
    for path in (directory / "index" / f"{name}.toml" for name in ("torch", "intel-extension-for-pytorch")):
        text = path.read_text(encoding="utf-8")
        path.write_text(re.sub(r"\bseen = [\d-]+", re.findall(r"\bseen = [\d-]+", text)[0], text), encoding="utf-8")
    before = {path: path.read_bytes() for path in sorted((directory / "index").glob("*.toml"))}
    age(directory)
    files = load(directory)
    (seen,) = {file.seen for file in files.index if file.distribution in ("torch", "intel-extension-for-pytorch")}
    outcome = refresh(files, directory, select(files, ("torch", "ipex"), requirements=False), index, seen)
    assert len(outcome.changes) == 2
    assert [note.versions for note in outcome.notes if note.kind == "unnamed"] == [("2.15.0",)]
    assert sum(note.kind == "yanked" for note in outcome.notes) == 5
    write(outcome.changes)
    for path, content in before.items():
        assert path.read_bytes() == content, path.name
    files = load(directory)
    assert refresh(files, directory, select(files, ("torch", "ipex"), requirements=False), index, seen).changes == ()


@pytest.mark.soak
@pytest.mark.parametrize("as_json", [False, True], ids=["html", "json"])
def test_aged_data_are_brought_back(tmp_path: Path, as_json: bool) -> None:
    """Without two releases and five yanks, refresh restores the same bytes, and names the release that the product lacks."""
    data = tmp_path / "data"
    shutil.copytree(ROOT / "data", data, ignore=shutil.ignore_patterns("evidence", "symbols"))  # nothing of which is refreshed
    offered = {
        file.distribution: served(file)
        for file in load(data).index
        if file.distribution in ("torch", "intel-extension-for-pytorch")
    }
    with serving(Index(offered, as_json=as_json)) as index:
        brought_back(data, Network(index.url))


@pytest.mark.long
def test_real_data_need_nothing(tmp_path: Path) -> None:
    """An index that says what all our files say gives no proposal: the files are in the form that refresh writes."""
    files = load(ROOT / "data")
    with serving(Index({file.distribution: served(file) for file in files.index}, offers_metadata=True)) as index:
        outcome = refresh(files, ROOT / "data", select(files, (), requirements=False), Network(index.url), TODAY)
    assert [change.path.name for change in outcome.changes] == []


ACME = """[product]
id = "acme-accel"
name = "Acme Accel"
role = "package"
scheme = "pep440"
rank = 199
distribution = "acme-accel"
import-name = "acme_accel"
eol-note = "Acme publishes no end of life."

[source]
list = { channel = "default", file = "acme-accel", at = "list of releases and files", seen = 2026-11-23 }

[[release]]
version = "1.0"
sources = ["list"]

[[listed]]
devices = ["cpu"]
sources = ["list"]
"""


@pytest.mark.long
def test_a_product_of_a_new_vendor_needs_toml_alone(tmp_path: Path, run: Callable[..., Run]) -> None:
    """A product file of a vendor that nobody knew: refresh reads its releases, and which torch they want is answered."""
    data = tmp_path / "data"
    shutil.copytree(ROOT / "data", data, ignore=shutil.ignore_patterns("evidence", "symbols"))
    (data / "products" / "acme-accel.toml").write_text(ACME, encoding="utf-8")
    wheels = [
        wheel(f"acme_accel-{version}-py3-none-any.whl", (f"torch=={torch}",), uploaded="2026-11-01T00:00:00.000000Z")
        for version, torch in (("1.0", "2.8.0"), ("1.1", "2.9.1"))
    ]
    given = ("--data", str(data))
    with serving(Index({"acme-accel": wheels})) as index:
        asked = ("refresh", *given, "--index", index.url, "--only", "acme-accel")
        assert run(*asked, "--write").code == 0
        assert run(*asked, "--check").code == 0
    assert run("fmt", "--check", *given).code == 0
    assert "acme" not in run("lint", *given).out
    assert "torch 2.9.1+cpu with acme-accel 1.1" in run("resolve", "acme-accel", "linux", "py3.12", *given).out
    denied = run("explain", "acme-accel==1.0", "torch==2.9.1", *given)
    assert denied.code == 1
    assert "acme-accel 1.0 needs torch 2.8.0" in denied.out


@pytest.mark.online
def test_aged_data_are_brought_back_online(tmp_path: Path) -> None:
    """The same against the real index."""
    data = tmp_path / "data"
    shutil.copytree(ROOT / "data", data)
    brought_back(data, Network())


@pytest.mark.online
def test_second_run_proposes_nothing_online(tmp_path: Path) -> None:
    """After refresh has written what the real index says, it has nothing to propose."""
    data = tmp_path / "data"
    shutil.copytree(ROOT / "data", data)
    today = datetime.now(UTC).date()
    files = load(data)
    index = Network()
    write(refresh(files, data, select(files, (), requirements=False), index, today).changes)
    files = load(data)
    assert refresh(files, data, select(files, (), requirements=False), index, today).changes == ()


@pytest.mark.online
@pytest.mark.parametrize("product", ["torch", "torchvision", "torchaudio", "ipex", "neural-compressor"])
def test_coverage_online(product: str) -> None:
    """Every release on the index since 2021-10, pre-releases aside, is in data/index/ and named by the product's file."""
    files = load(ROOT / "data")
    subjects = select(files, (product,), requirements=False)
    outcome = refresh(files, ROOT / "data", subjects, Network(), TODAY, since=datetime(2021, 10, 1, tzinfo=UTC))
    assert outcome.changes == ()
    assert [note for note in outcome.notes if note.kind == "unnamed"] == []
