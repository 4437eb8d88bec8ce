"""`compatkb diagnose`: real error texts of public threads get the right cause first; no text hurts, whatever it holds."""

import io
import json
import sys
import time
import tomllib
from collections.abc import Callable, Mapping
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, Run, examples
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from test_lint import good, written

from compatkb.diagnosing import diagnose
from compatkb.gleaning import guide
from compatkb.lint import lint
from compatkb.models.symptom import SymptomFile
from compatkb.pasted import LIMIT, Pasted, decode, plain, shorten
from compatkb.snapshot.read import Snapshot

DAY = date(2026, 11, 21)
CASES = sorted((Path(__file__).parent / "cases" / "diagnose").glob("*.toml"))
WORKS = ("works", "works-with-warnings", "likely")
PAGE = (ROOT / "docs/diagnose.md").read_text(encoding="utf-8")
Case = Mapping[str, Any]


def case_of(path: Path) -> Case:
    """Return a case."""
    return tomllib.loads(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_real_text(path: Path, facts: Snapshot) -> None:
    """The cause that the thread found is named first, none where it is none of ours; versions are read, and blamed or not."""
    case = case_of(path)
    expect = case["expect"]
    made = diagnose(facts, case["text"], DAY)
    if not expect["top"]:
        assert not made.candidates, "a cause is named for what is none of ours"
        return
    assert made.candidates, "no cause is named"
    assert made.candidates[0].id in expect["top"], [(c.id, c.weight) for c in made.candidates]
    read = {read.product: read.version for read in made.versions}
    assert expect.get("versions", {}).items() <= read.items()
    if expect.get("machine"):
        assert not made.about_versions
    for near in made.nearest:
        assert near.stack.verdict in WORKS


def test_never_a_wrong_works(facts: Snapshot) -> None:
    """Where a thread found that two packages do not go together, the data are never said to have them work together."""
    kinds = {record["id"]: record["kind"] for record in guide(facts, "cause")}
    for path in CASES:
        case = case_of(path)
        if not case["expect"].get("fit") and all(kinds[name] == "version" for name in case["expect"]["top"]):
            made = diagnose(facts, case["text"], DAY)
            assert made.answer is None or made.answer.verdict not in WORKS, path.stem


def test_cases_are_real_and_many() -> None:
    """There are at least forty, each cites a thread, and a third was held back when the patterns were written."""
    cases = [case_of(path) for path in CASES]
    assert len(cases) >= 40
    assert all(case["source"]["repo"].count("/") == 1 and case["source"]["thread"] for case in cases)
    assert sum(case["held-out"] for case in cases) >= len(cases) // 3


def test_every_symptom_has_a_thread_or_file(facts: Snapshot) -> None:
    """Each cause, symptom and reading cites a document that has an address."""
    for kind in ("cause", "symptom", "reading"):
        records = guide(facts, kind)
        assert records
        assert all(source[1] for record in records for source in record["sources"])


@pytest.mark.parametrize(
    ("pattern", "text", "slots"),
    [
        ("torch {torch} is found", "x TORCH 2.4.0+cpu is found", (("torch", "2.4.0+cpu"),)),
        ("libsycl.so.{_}: cannot", "libsycl.so.7: cannot open", (("_", "7"),)),
        ("error*/torch/lib/", r"Error loading C:\a\torch\lib\x.dll", ()),
        ("needs {a}.*, but {b} is", "needs 2.4.*, but 2.5.1 is", (("a", "2.4"), ("b", "2.5.1"))),
        ("for {requirement}", "for torch[x]==2.0", (("requirement", "torch[x]==2.0"),)),
        ("version 'glibc_{_}' not", "version `GLIBC_2.28' not found", (("_", "2.28"),)),
        ("abc*def", "abc\ndef", None),
        ("abc*def", "abc" + "x" * 3000 + "def", None),
        ("torch {torch} x", "torch none x", None),
    ],
)
def test_patterns(pattern: str, text: str, slots: tuple[tuple[str, str], ...] | None) -> None:
    """A pattern stands in one line, ignores case, slashes and quotes, and its gaps are bounded."""
    hit = Pasted(text).find(pattern)
    assert (hit.slots if hit else None) == slots


@pytest.mark.parametrize(
    "pattern", ["*x", "{torch} is found", "ab", "abc {torch}{ipex}", "abc*a*b*c*d", "abc {torch", "abc\ndef"]
)
def test_wrong_patterns_are_refused(pattern: str) -> None:
    """A pattern that could match nearly everything, or cost much, is no data."""
    source = {"a": {"repo": "a/b", "thread": "issues/1", "seen": DAY}}
    cause = {"id": "c", "kind": "version", "title": "t", "why": "w", "do": ["d"], "sources": ["a"]}
    symptom = {"id": "s", "patterns": [pattern], "causes": [{"cause": "c", "weight": 5}], "sources": ["a"]}
    with pytest.raises(ValidationError):
        SymptomFile.model_validate({"source": source, "cause": [cause], "symptom": [symptom]})


def test_a_cause_needs_a_symptom() -> None:
    """A symptom names causes that are there, and no cause stands alone."""
    source = {"a": {"repo": "a/b", "thread": "issues/1", "seen": DAY}}
    cause = {"id": "c", "kind": "version", "title": "t", "why": "w", "do": ["d"], "sources": ["a"]}
    with pytest.raises(ValidationError, match="no symptom names"):
        SymptomFile.model_validate({"source": source, "cause": [cause]})
    symptom = {"id": "s", "patterns": ["abcd"], "causes": [{"cause": "x", "weight": 5}], "sources": ["a"]}
    with pytest.raises(ValidationError, match="no such cause"):
        SymptomFile.model_validate({"source": source, "cause": [], "symptom": [symptom]})


@settings(max_examples=examples(150))
@given(st.binary(max_size=400))
def test_any_bytes_are_text(content: bytes) -> None:
    """Whatever bytes come, the plain form has the same lines as the text, and every hit names one of them."""
    text = decode(content)
    pasted = Pasted(text)
    assert pasted.plain.count("\n") == text.count("\n")
    assert plain(text) == pasted.plain
    for at in pasted.places("e"):
        number, _ = pasted.line_at(at)
        assert 1 <= number <= text.count("\n") + 1


@settings(max_examples=examples(60))
@given(st.text(st.sampled_from("torch=2.+xpu01 \n{}*[](requires you have libsycl.so:'\"\\/"), max_size=200))
def test_any_text_is_answered(facts: Snapshot, text: str) -> None:
    """No text makes an error."""
    diagnose(facts, text, DAY)


HOSTILE = {
    "one word": "torch ",
    "pins": "torch==2.",
    "lines": "torch 2.4.0\n",
    "newlines": "\n",
    "digits": "1.",
    "first part of a pattern": "[winerror 126] ",
    "second part of a pattern": "/torch/lib",
    "gate": "needs to work with pytorch 2.",
    "escapes": "\x1b[0",
    "letters that grow": "\u0130",
    "name without end": "no matching distribution found for a",
}


@pytest.mark.parametrize("piece", HOSTILE.values(), ids=HOSTILE)
def test_long_texts_are_bounded(facts: Snapshot, piece: str) -> None:
    """A text that repeats what patterns look for takes time in proportion to its length."""
    started = time.monotonic()
    diagnose(facts, "[winerror 126]" + piece * (300_000 // len(piece)), DAY)
    assert time.monotonic() - started < 4


def test_only_a_part_of_very_long_texts_counts() -> None:
    """Of a text beyond the limit the first and the last half count, and what is left out is said."""
    content, left = shorten(b"a" * (LIMIT + 10))
    assert left == 10
    assert len(content) == LIMIT + 1
    assert shorten(b"abc") == (b"abc", 0)


GATE = "ERROR! Intel® Extension for PyTorch* needs to work with PyTorch 2.4.*, but PyTorch 2.5.1+cpu is found."


def test_pasted_into_the_command(run: Callable[..., Run], monkeypatch: pytest.MonkeyPatch) -> None:
    """The text comes by standard input; the answer names the cause, the versions, why they exclude each other, and a way."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(GATE.encode()), encoding="utf-8"))
    done = run("diagnose", "--as-of", "2026-11-21")
    assert done.code == 0
    assert "1. IPEX and torch are of different releases" in done.out
    assert "The data deny that these work together" in done.out
    assert "$ python -m pip install" in done.out


def test_file_of_a_windows_shell(run: Callable[..., Run], tmp_path: Path) -> None:
    """A file that was redirected as UTF-16 is read as any other."""
    path = tmp_path / "log.txt"
    path.write_bytes(GATE.encode("utf-16"))
    assert "IPEX and torch" in run("diagnose", str(path)).out


def test_unknown_text(run: Callable[..., Run], tmp_path: Path) -> None:
    """A text without a known cause is answered with 1, and says so."""
    path = tmp_path / "log.txt"
    path.write_text("KeyError: 'x'\n", encoding="utf-8")
    done = run("diagnose", str(path))
    assert (done.code, "no cause is known" in done.out) == (1, True)
    assert "compatkb doctor" in done.out


@pytest.mark.parametrize("content", [None, b"", b" \n"])
def test_nothing_to_read(run: Callable[..., Run], tmp_path: Path, content: bytes | None) -> None:
    """A missing file and an empty text are wrong usage, in one line."""
    path = tmp_path / "log.txt"
    if content is not None:
        path.write_bytes(content)
    done = run("diagnose", str(path))
    assert done.code == 2
    assert done.err.startswith("error: ")
    assert done.err.count("\n") == 1


def test_json_fields_are_documented(run: Callable[..., Run], tmp_path: Path) -> None:
    """docs/diagnose.md names every field that programs get."""
    path = tmp_path / "log.txt"
    path.write_text(f"{GATE}\nERROR: No matching distribution found for torch==2.5.1.post0+xpu\n", encoding="utf-8")
    answer = json.loads(run("diagnose", str(path), "--format", "json").out)
    assert answer["causes"][0]["id"] == "ipex-torch-mismatch"
    assert answer["verdict"] == "does-not-work"
    assert answer["wanted"][0]["known"] is False
    assert any(build["version"] == "2.5.1+cxx11.abi" for build in answer["wanted"][0]["builds"])
    named = set(answer) | {key for name in ("causes", "versions", "wanted", "nearest") for key in answer[name][0]}
    for field in named:
        assert f"`{field}`" in PAGE, field


def test_ended_products_have_a_way_out(facts: Snapshot) -> None:
    """Where the text is about a product that has ended, a stack without it is shown, as new as what replaces it."""
    made = diagnose(facts, "libintel-ext-pt-gpu.so: undefined symbol: x", DAY)
    assert made.instead
    assert made.instead.stack.verdict in WORKS
    assert not {e.product for e in made.instead.stack.packages} & set(made.instead.ended)
    assert diagnose(facts, "numpy is not available", DAY).instead is None


SMALL = """[source]
thread = { repo = "a/b", thread = "issues/1", seen = 2026-11-21 }

[[cause]]
id = "one"
kind = "version"
title = "One"
why = "Because."
do = ["Do it."]
device = "cpu"
sources = ["thread"]

[[symptom]]
id = "first"
patterns = ["torch {torch} is found"]
causes = [{ cause = "one", weight = 5 }]
sources = ["thread"]

[[symptom]]
id = "second"
patterns = ["other words"]
causes = [{ cause = "one", weight = 5 }]
sources = ["thread"]
"""


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("", "", None),
        ("torch {torch}", "torch {tortch}", "tortch is no product"),
        ('id = "second"', 'id = "first"', "first is there twice"),
        ('device = "cpu"', 'device = "cpus"', "cpus is no known device"),
        (
            'do = ["Do it."]\ndevice = "cpu"\nsources = ["thread"]',
            'do = ["Do it."]\nsources = ["x"]',
            "source x is not defined",
        ),
    ],
)
def test_lint_sees_faults(old: str, new: str, said: str | None) -> None:
    """References of symptoms are checked as those of other data."""
    contents = written(good()) | {"symptoms.toml": SMALL.replace(old, new, 1).encode()}
    found = [f.message for f in lint(contents, DAY, ("references", "sources", "form")).findings if f.path == "symptoms.toml"]
    assert any(said in message for message in found) if said else not found


def test_data_without_symptoms(run: Callable[..., Run], tmp_path: Path) -> None:
    """A data directory need not have symptoms."""
    from builders import data_directory, product

    data_directory(tmp_path / "data", [product("torch", distribution="torch", releases=["2.0.0"])])
    path = tmp_path / "log.txt"
    path.write_text(GATE, encoding="utf-8")
    assert run("diagnose", str(path), "--data", str(tmp_path / "data")).code == 1


@pytest.mark.parametrize(
    ("pin", "said", "nearest", "device"),
    [
        (
            "torch==2.8.0+xpu",
            "the data know this build: 2.8.0+xpu on https://download.pytorch.org/whl/xpu",
            "2.8.0+xpu",
            "xpu",
        ),
        ("torch==2.8.0+cpu", "the data know this build: 2.8.0+cpu on https://download.pytorch.org/whl/cpu", None, "cpu"),
        ("torch==2.5.1.post0+xpu", "the data know no such build; of that release there are 2.5.1 on", "2.5.1+xpu", "xpu"),
        ("torch==2.4.0+xpu", "the data know this build, but no wheel of it; of that release there are 2.4.0 on", None, "xpu"),
    ],
)
def test_a_pin_that_was_not_found(
    pin: str, said: str, nearest: str | None, device: str, run: Callable[..., Run], tmp_path: Path
) -> None:
    """What an installer could not find is named with its own index; what is near is for the device of its label."""
    path = tmp_path / "log.txt"
    path.write_text(f"ERROR: No matching distribution found for {pin}\n", encoding="utf-8")
    assert f"{pin}: {said}" in " ".join(run("diagnose", str(path)).out.split())
    near = json.loads(run("diagnose", str(path), "--format", "json").out)["nearest"]
    assert {stack["stack"]["device"] for stack in near} == {device}
    if nearest:
        assert near[0]["stack"]["packages"]["torch"] == nearest
