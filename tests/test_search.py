"""Search: every word must match, names come first, each hit says what to type next, and nothing found helps on."""

import json
import shlex
import subprocess
import sys
from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest
from builders import breaks, product, release, universe
from conftest import Run, clock
from hostile import hostile_directory, hostile_facts

from compatkb.catalog.search import KINDS, SearchHit, search
from compatkb.doctor.diagnose import diagnose
from compatkb.errors import UsageError
from compatkb.store.reader import Snapshot

TODAY = date(2026, 11, 21)


def hits(facts: Snapshot, *words: str, day: date = TODAY) -> tuple[SearchHit, ...]:
    return search(facts, words, day).hits


@pytest.mark.parametrize(
    ("words", "first"),
    [
        (("ipex",), ("product", "ipex", None)),
        (("Intel Extension for PyTorch",), ("product", "ipex", None)),
        (("intel_extension_for_pytorch",), ("product", "ipex", None)),
        (("torch",), ("product", "torch", None)),
        (("ipex", "2.8.10"), ("release", "ipex", "2.8.10")),
        (("ipex==2.8.10+xpu",), ("release", "ipex", "2.8.10")),
        (("arc", "a770"), ("value", "hardware", "arc-a")),
        (("ArcA770",), ("value", "hardware", "arc-a")),
        (("BATTLEMAGE",), ("value", "hardware", "arc-b")),
        (("ponte", "vecchio"), ("value", "hardware", "max")),
        (("torch.compile",), ("feature", "torch", None)),
        (("TorchInductor",), ("feature", "torch", None)),
        (("torch7", "forerunner"), ("event", None, None)),
    ],
    ids=lambda value: " ".join(map(str, value)),
)
def test_best_hit(words: tuple[str, ...], first: tuple[str, str, str | None], facts: Snapshot) -> None:
    """The record that the words name comes first, whatever their case and separators."""
    best = hits(facts, *words)[0]
    assert (best.kind, best.product, best.version) == first


def test_a_kind_is_searched_for_by_its_name(facts: Snapshot) -> None:
    """`image vllm` means the images of vLLM, not what speaks of images; a kind without such a record is a word."""
    assert (
        {hit.kind for hit in hits(facts, "image", "vllm")} == {hit.kind for hit in hits(facts, "images", "vllm")} == {"image"}
    )
    assert {hit.kind for hit in hits(facts, "image", "gaudi")} <= {*KINDS} - {"image"}


def test_every_word_must_match(facts: Snapshot) -> None:
    """More words find less, order and repetition do not matter, and the start of a word is enough."""
    assert len(hits(facts, "torch")) > len(hits(facts, "torch", "triton")) > 0
    assert hits(facts, "triton", "torch", "torch") == hits(facts, "torch", "triton")
    assert set(hits(facts, "neural")) <= set(hits(facts, "neur"))
    assert hits(facts, "torch", "qwertz") == ()


def test_all_kinds_are_found(facts: Snapshot) -> None:
    """Products, features, releases, values, events, image tags, advisories, disputes, statements and claims are searched."""
    found = {
        hit.kind
        for words in (("ipex",), ("arc",), ("compile",), ("2.8.10", "jupyter"), ("libsycl",))
        for hit in hits(facts, *words)
    }
    assert found == set(KINDS)
    assert not [
        hit for hit in hits(facts, "torch.compile") if hit.kind in ("product", "release", "claim") and hit.title == hit.product
    ]
    assert {hit.command for hit in hits(facts, "compile") if hit.kind == "feature"} >= {"compatkb features torch.compile"}


def test_reasons_are_searched_and_shown(facts: Snapshot) -> None:
    """A word that stands only in a remark is shown with the text around it."""
    dispute = next(hit for hit in hits(facts, "transposed") if hit.kind == "dispute")
    assert "transposed" in dispute.text
    side = next(hit for hit in hits(facts, "encyclopedia") if hit.kind == "dispute")
    assert side.title == "when ROCm 1.0 came out"
    image = hits(facts, "2.8.10", "jupyter")[0]
    assert image.kind == "image"
    assert image.command.startswith("compatkb explain torch==2.8.0 ipex==2.8.10+xpu")


@pytest.mark.long
def test_commands_can_be_typed(facts: Snapshot, run: Callable[..., Run]) -> None:
    """What a hit says to type next is a command that answers."""
    words = ("ipex", "arc", "known-issue", "compile", "rocm", "2.7.10")
    found = [hit for word in words for hit in hits(facts, word)[::19]]
    disputes: dict[str, SearchHit] = {}
    for hit in hits(facts, "image") + hits(facts, "rocm") + hits(facts, "intel-xpu"):
        if hit.kind in ("dispute", "event"):
            disputes.setdefault(hit.command.split()[1], hit)
    assert set(disputes) == {"show", "timeline", "changes"}
    found += disputes.values()
    assert {hit.kind for hit in found} >= {"feature", "statement", "event", "dispute", "release", "claim"}
    for hit in found:
        program, *words = shlex.split(hit.command)
        assert program in ("compatkb", "docker")
        if program == "compatkb":
            assert run(*words).code in (0, 1, 7), hit.command


def test_the_day_counts(facts: Snapshot) -> None:
    """As of a day, later releases and image tags are not there yet."""
    assert hits(facts, "torch", "2.15.0")[0].version == "2.15.0"
    early = hits(facts, "torch", "2.15.0", day=date(2026, 10, 1))
    assert not [
        hit for hit in early if (hit.product, hit.version) == ("torch", "2.15.0") or hit.title.startswith("torch==2.15.0")
    ]
    assert [hit for hit in hits(facts, "2.8.10-xpu") if hit.kind == "image"]
    tags = [hit.title for hit in hits(facts, "2.8.10-xpu", day=date(2025, 1, 1)) if hit.kind == "image"]
    assert not [tag for tag in tags if tag.endswith("2.8.10-xpu")]
    assert "event" in {hit.kind for hit in hits(facts, "mi500")}
    assert "event" not in {hit.kind for hit in hits(facts, "mi500", day=date(2024, 1, 1))}


def test_a_cause_is_told_once(run: Callable[..., Run]) -> None:
    """Of errors that have one cause the screen names it once, with what tells each of them."""
    told = " ".join(run("search", "out", "of", "memory").out.split())
    assert told.count("The GPU has too little memory") == 1
    assert "out of memory, XPU out of memory, ERROR_OUT_OF_RESOURCES" in told


def test_nothing_found_helps_on(run: Callable[..., Run]) -> None:
    """Exit code 1, close words of the data, and which of the words would find something alone."""
    done = run("search", "torsh")
    assert (done.code, "did you mean: compatkb search torch\n" in done.out) == (1, True)
    done = run("search", "ipex", "qwertz")
    assert done.code == 1
    assert "compatkb search ipex" in done.out
    done = run("search", "qwertz", "--format", "json")
    content = json.loads(done.out)
    assert (done.code, content["hits"], content["matches"]) == (1, [], {"qwertz": 0})
    assert "compatkb list" in run("search", "漢字").out


@pytest.mark.parametrize("words", [("",), ("==", "+"), ("   ",)], ids=repr)
def test_no_word_is_wrong_usage(words: tuple[str, ...], facts: Snapshot, run: Callable[..., Run]) -> None:
    """Marks alone are no word."""
    with pytest.raises(UsageError, match="no word"):
        search(facts, words, TODAY)
    assert run("search", *words).code == 2


def test_limit_says_what_is_left(run: Callable[..., Run]) -> None:
    """--limit shows so many, best first, and says how many more there are."""
    content = json.loads(run("search", "torch", "--limit", "3", "--format", "json").out)
    assert len(content["hits"]) == 3 < content["count"]
    assert f"{content['count'] - 3} more" in " ".join(run("search", "torch", "--limit", "3").out.split())
    for wrong in ("0", "-1", "x", "1.5"):
        assert run("search", "torch", "--limit", wrong).code == 2


def test_hostile_records_are_one_line_each(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Line ends and control letters of the data do not reach the terminal; a long remark is cut around the word."""
    facts = hostile_facts(tmp_path_factory.mktemp("hostile"))
    found = hits(facts, "onerror")
    assert {hit.kind for hit in found} >= {"product", "feature", "value", "event", "advisory", "dispute", "statement", "claim"}
    for hit in found:
        assert hit.title.isprintable()
        assert hit.text.isprintable()
        assert len(hit.text) < (260 if hit.kind == "advisory" else 140)


def test_hostile_search_prints(run: Callable[..., Run], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Text and JSON are printed for hostile data too."""
    monkeypatch.setenv("COMPATKB_CACHE", str(tmp_path / "cache"))
    data = str(hostile_directory(tmp_path))
    assert run("search", "onerror", "--data", data).code == 0
    assert json.loads(run("search", "onerror", "--data", data, "--format", "json").out)["count"] > 3


@pytest.mark.parametrize("words", [["search", "arc"], ["changes", "--since", "2026-11-01"]], ids=lambda words: words[0])
def test_start_is_light(words: list[str]) -> None:
    """Looking something up loads nothing that builds and exports, and no model of ours; Typer 0.29 loads pydantic itself."""
    code = (
        "import sys\n"
        "from compatkb.cli import main\n"
        "try: main(sys.argv[1:])\n"
        "except SystemExit: pass\n"
        "heavy = ('compatkb.schema', 'networkx', 'packaging', 'rich')\n"
        "print([name for name in heavy if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=True)
    assert done.stderr.splitlines()[-1] == "[]"


@pytest.mark.parametrize(
    ("words", "kind", "shown", "command"),
    [
        ("libsycl.so.8", "library", "oneapi 2025", "compatkb diagnose"),
        ("operator torchvision::nms does not exist", "symptom", "torchvision or torchaudio", "compatkb diagnose"),
        (
            "Native API returns: 20 (UR_RESULT_ERROR_DEVICE_LOST)",
            "symptom",
            "device lost",
            "compatkb diagnose",
        ),
        ("8086:e20b", "graphics", "arc-b", "compatkb resolve arc-b"),
        ("56a0", "graphics", "arc-a", "compatkb resolve arc-a"),
        ("torch-without-xpu", "symptom", "without XPU", "compatkb diagnose"),
    ],
)
def test_troubles(facts: Snapshot, words: str, kind: str, shown: str, command: str) -> None:
    """Error texts, sonames and PCI ids are found as well as names, with the command that goes on from there."""
    hits = search(facts, [words], clock().day).hits
    found = [hit for hit in hits if hit.kind == kind and shown in hit.title]
    assert found
    assert found[0].command.startswith(command)


@pytest.mark.parametrize("step", [40, pytest.param(10, marks=pytest.mark.long), pytest.param(1, marks=pytest.mark.soak)])
def test_what_search_shows_diagnose_knows(facts: Snapshot, step: int) -> None:
    """The command of every symptom that search finds names a cause; a part of them in every run."""
    for record in [*facts.records_of_kind("symptom"), *facts.records_of_kind("library")][::step]:
        text = shlex.split(record.command)[-1]
        assert diagnose(facts, text, clock()).candidates, text


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("libsycl", "library"),
        ("ycl.so.8", None),
        ("undefined symbol", "symptom"),
        ("out of memory", "symptom"),
        ("Intel(R) Arc(TM) B580", "value"),
        ("BMG-G21", "value"),
        ("nms", "symptom"),
        ("inductor", "feature"),
    ],
)
def test_a_part_of_what_tools_print_is_enough(words: str, kind: str | None, facts: Snapshot) -> None:
    """A word of an error, the stem of a library or a marketing name lead to what is meant; the end of a word does not."""
    found = hits(facts, words)
    assert (found[0].kind if found else None) == kind


def test_names_count_more_than_remarks(facts: Snapshot) -> None:
    """What is called so comes before what only mentions it, and a word that fills a name before one of many in it."""
    found = [hit.kind for hit in hits(facts, "triton")]
    assert found[0] == "product"
    assert "claim" in found
    assert found.index("claim") > found.index("release")


def test_words_of_names_are_the_vocabulary(facts: Snapshot) -> None:
    """What is proposed for a misspelt word is found."""
    known = facts.name_words()
    assert known == sorted(known)
    for word in known[::97]:
        assert hits(facts, word, day=date.fromisoformat(facts.meta["data_date"])), word
    assert search(facts, ["batlemage"], TODAY).near[0] == "battlemage"
    assert search(facts, ["libsycl9"], TODAY).near[0] == "libsycl"


def test_a_day_before_a_release_finds_nothing_of_it(tmp_path: Path) -> None:
    """A search for a day finds what was out by then: neither later releases nor the claims about them."""
    out = date(2024, 6, 1)
    torch = product("torch", releases=[release("2.0.0", on=out)], claims=[breaks("torch==2.0.0", "python==3.12")])
    facts = universe(tmp_path, [torch])
    found = {day: {hit.kind for hit in hits(facts, "2.0.0", day=day)} for day in (date(2024, 5, 31), out)}
    assert found == {date(2024, 5, 31): set(), out: {"release", "claim"}}
