"""The figures: what is counted, and what counts as independent."""

import json
from datetime import timedelta
from pathlib import Path

import pytest
from builders import TODAY, build, claim, index, listing, needs, product, release, universe, verified

from compatkb.authoring.loader import Files
from compatkb.schema import SourceEntry
from compatkb.store.reader import Snapshot
from compatkb.web.figures import figures

FILE = {"repo": "intel/one", "ref": "v1", "path": "README.md", "at": 3, "seen": TODAY}
LATER = TODAY + timedelta(days=10)


def source(**fields: object) -> SourceEntry:
    return SourceEntry.model_validate({"seen": TODAY, **fields})


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param(FILE, {**FILE, "at": 9}, id="two-lines-of-a-file"),
        pytest.param(FILE, {**FILE, "ref": "v2"}, id="a-file-at-two-revisions"),
        pytest.param(FILE, {**FILE, "repo": "Intel/One"}, id="spelling-of-a-repository"),
        pytest.param(FILE, {"url": "https://github.com/intel/one/blob/v2/README.md#L4"}, id="a-file-and-its-address"),
        pytest.param(
            {"repo": "intel/one", "thread": "issues/7", "at": "comment"},
            {"url": "https://github.com/intel/one/issues/7"},
            id="a-thread-and-its-address",
        ),
        pytest.param({"url": "https://a.org/x#b"}, {"url": "https://a.org/x", "at": "c"}, id="two-headings-of-a-page"),
        pytest.param(
            {"url": "https://docs.a.org/docs/2.5/x.html"}, {"url": "https://docs.a.org/docs/stable/x.html"}, id="manual"
        ),
        pytest.param({"channel": "default", "file": "a.whl"}, {"channel": "default", "file": "b.whl"}, id="index"),
    ],
)
def test_what_is_one_document(one: dict[str, object], other: dict[str, object]) -> None:
    """The same document is one, whatever the line, heading, revision or file of an index."""
    assert source(**one).document == source(**other).document


@pytest.mark.parametrize(
    ("one", "other", "publishers"),
    [
        pytest.param(FILE, {**FILE, "path": "setup.py"}, 1, id="two-files"),
        pytest.param(FILE, {**FILE, "repo": "intel/two"}, 1, id="two-repositories-of-an-owner"),
        pytest.param(FILE, {**FILE, "repo": "fork/one"}, 2, id="two-owners"),
        pytest.param(FILE, {"repo": "intel/one", "thread": "issues/7"}, 1, id="file-and-thread"),
        pytest.param(FILE, {"channel": "default", "file": "a.whl"}, 2, id="file-and-index"),
        pytest.param({"channel": "default", "file": "a"}, {"channel": "xpu", "file": "a"}, 2, id="two-indexes"),
        pytest.param({"url": "https://a.org/x"}, {"url": "https://a.org/y"}, 1, id="two-pages"),
        pytest.param({"url": "https://a.org/x"}, {"url": "https://www.b.org/x"}, 2, id="two-sites"),
        pytest.param({"url": "https://docs.intel.com/x"}, FILE, 1, id="site-and-repository-of-a-maker"),
        pytest.param({"url": "https://intel.github.io/x"}, FILE, 1, id="pages-and-repository-of-an-owner"),
    ],
)
def test_what_is_two_documents(one: dict[str, object], other: dict[str, object], publishers: int) -> None:
    """Two files, threads, pages or indexes are two documents; owner, site or index tell publishers apart."""
    found = [source(**fields).document for fields in (one, other)]
    assert found[0][0] != found[1][0]
    assert len({publisher for _, publisher in found}) == publishers


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Snapshot:
    """Three packages with all that is counted; `old` has ended, and b was last listed 100 days ago."""
    sources = {
        "page": {"url": "https://example.org/", "seen": TODAY},
        "line": FILE,
        "line-too": {**FILE, "at": 9},
        "elsewhere": {"url": "https://other.org/", "seen": TODAY - timedelta(days=40)},
    }
    first = claim("needs", "a==1.0", "b==1.0", sources=["line", "line-too"])
    second = verified("a==2.0", "b==1.0", sources=["line", "elsewhere"])
    guess = claim("constrains", "a==2.0", "b==2.0", basis="inferred", sources=["line", "elsewhere"])
    disputes = [
        {
            "id": name,
            "about": "it",
            "claims": [guess["id"], second["id"]],
            "decision": decision,
            "reason": "so",
            "decided": TODAY,
            "sources": ["page"],
        }
        for name, decision in (("one", "open"), ("two", second["id"]))
    ]
    ended = {"last-day": TODAY, "sources": ["page"]}
    files = [
        {
            **product("a", releases=[release("2.0", builds=["2.0", "2.0+xpu"]), "1.0"], dispute=disputes),
            "claim": [first, second, guess],
            "source": sources,
        },
        product(
            "b", releases=["2.0", release("1.0", builds=[build("1.0", channels=["default"], wheels=[])])], distribution="b"
        ),
        product("old", releases=[release("1.0", builds=[], eol=ended)], claims=[needs("old==1.0", "a")]),
        product("torch", releases=["1.0"], eol_rule={"says": "One at a time.", "sources": ["page"]}),
        product("leaf", role="leaf", releases=["3.0"], eol_rule={"says": "A line.", "published": False, "sources": ["page"]}),
    ]
    listed = index("b", [listing("1.0", requires=["leaf>=2"])], seen=TODAY - timedelta(days=100))
    files[4]["product"]["distribution"] = "leaf"
    return universe(tmp_path_factory.mktemp("small"), files, indexes=[listed])


def test_counts(small: Snapshot) -> None:
    """Each is counted once: claims by kind, basis and origin, two lines of a file as one document."""
    said = dict(figures(small, TODAY))
    assert (said["products"], said["releases"].partition("with ")[2], said["image tags"]) == ("9", "6 builds", "0")
    assert said["requirements"] == "5: needs 3, constrains 1, verified 1, breaks 0"
    assert said["support"] == "stated 3 (60 %), observed 1 (20 %), inferred 1 (20 %)"
    assert said["written by people"].startswith("4: stated 3 (75 %), observed 0 (0 %), inferred 1 (25 %)")
    assert said["two independent documents"] == "1 (20 %) of requirements; of two publishers 1 (20 %)"
    assert said["disputes"] == "2: 1 decided, 1 open"


def test_end_of_life_and_ages_are_of_the_day(small: Snapshot) -> None:
    """The last supported day is not past the end; an unpublished end is no rule; what was never observed is not named."""
    assert "1 (7 %) of releases, 0 past it, a rule covers 1 more; of 1 it" in dict(figures(small, TODAY))["end of life known"]
    said = dict(figures(small, LATER))
    assert ", 1 past it" in said["end of life known"]
    assert "observations with an outcome" not in said
    assert "(10 days before)" in said["cited sources"]
    assert "(50 days before)" in said["cited sources"]
    assert said["index listings"].startswith("1, newest check")
    assert "(110 days before)" in said["index listings"]


def test_observations_by_level_and_outcome(tmp_path: Path) -> None:
    """Each observation counts under its level and outcome, not as a requirement; what was not checked is no look."""
    from builders import compiled, data_directory

    from compatkb.authoring.build_knowledge import build_knowledge
    from compatkb.authoring.evidence import add_observations
    from compatkb.authoring.loader import load

    data = data_directory(tmp_path / "data", [product("torch", releases=["1.0"]), product("b", releases=["1.0"])])
    (data / "evidence").mkdir()
    line = {
        "level": "import",
        "outcome": "ok",
        "packages": {"torch": "1.0", "b": "1.0"},
        "python": "3.12",
        "platform": "linux-x86_64",
        "tool": "python",
        "index": "extra",
        "checked": "2026-11-01",
    }
    lines = [
        line,
        {**line, "python": "3.11", "checked": "2026-11-03"},
        {**line, "outcome": "failed-import"},
        {**line, "level": "run"},
        {**line, "level": "gate", "outcome": "not-checked", "checked": "2026-11-09", "detail": "no index"},
    ]
    (data / "evidence" / "seen.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    knowledge = build_knowledge(load(data))
    add_observations(knowledge)
    said = dict(figures(compiled(knowledge, tmp_path), TODAY))
    assert said["observations"] == "5: gate not-checked 1, import failed-import 1, import ok 2, run ok 1"
    assert said["requirements"].startswith("0: ")
    assert said["observations with an outcome"].startswith("4, newest check 2026-11-03")
    assert "oldest 2026-11-01" in said["observations with an outcome"]


def test_empty_knowledge_has_figures(tmp_path: Path) -> None:
    """Without a requirement there is no share, and no division by nothing."""
    said = dict(figures(universe(tmp_path, [product("torch", releases=[])]), TODAY))
    assert said["support"] == "stated 0 (0 %), observed 0 (0 %), inferred 0 (0 %)"


@pytest.mark.long
def test_real_figures_agree_with_the_files(facts: Snapshot, files: Files) -> None:
    """Counted from the snapshot, requirements, disputes and sources are as many as the files write."""
    from compatkb.authoring.disputes import disputes_of

    said = {name: int(text.split()[0].strip(":,")) for name, text in figures(facts, TODAY) if text[0].isdigit()}
    assert said["written by people"] == sum(len(f.claim) + (f.product.built_with is not None) for f in files.products)
    assert said["disputes"] == len(list(disputes_of(files)))
    assert said["image tags"] == sum(len(file.tag) for file in files.images)
    groups = (files.products, files.images, (files.channels,))
    assert said["cited sources"] == sum(len(file.source) for group in groups for file in group)
