"""compatkb and real pip on a sample of random requests; `make soak` asks hundreds."""

import sys
from collections import Counter
from collections.abc import Iterator
from datetime import date
from typing import Any

import pytest
from conftest import ROOT, parted
from differential import (
    DENIED,
    SAMPLE,
    UNKNOWN,
    WRONG,
    Asker,
    asking,
    difference,
    is_beyond,
    judge,
    key_of,
    questions,
    read_lines,
    recorded,
    recorded_versions,
)
from validation import HERE, with_own_pip

from compatkb.schema import Outcome
from compatkb.store.reader import Snapshot
from compatkb.validate.cell import RunContext
from compatkb.validate.session import run_context
from compatkb.validate.targets import this_platform

LINES = [line for line in read_lines(SAMPLE / "questions.jsonl") if line["python"] == HERE]
"""pip judges markers with the interpreter that runs it, so each Python has questions of its own."""
FIRST = [next(line for line in LINES if line["pip"] == outcome) for outcome in ("ok", "conflict", "not-found")]
"""A question that pip answers in each way."""
ASKED = parted(LINES, FIRST, pytest.mark.soak)


def test_the_sample_is_for_this_python() -> None:
    """Thirty questions of every kind are recorded for the interpreter that runs the tests; none is left out in silence."""
    known = sorted({line["python"] for line in read_lines(SAMPLE / "questions.jsonl")})
    assert LINES, f"questions are recorded for {known}, none for {HERE}; CONTRIBUTING.md says how to record some"
    assert len(LINES) == 30
    outcomes = Counter(line["pip"] for line in LINES)
    assert min(outcomes[outcome] for outcome in ("ok", "conflict", "not-found")) >= 2
    assert {line["pip"] for line in FIRST} == set(outcomes)


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory, facts: Snapshot) -> Iterator[RunContext]:
    """A context over the recorded part of the index, in which this interpreter's own pip is used."""
    if this_platform() != "linux-x86_64":
        pytest.skip(f"the questions are about Linux x86-64, and pip judges markers with the machine: {this_platform()}")
    folder = tmp_path_factory.mktemp("differential")
    day = date.fromisoformat(facts.meta["data_date"])
    named = [f"{HERE}={sys.executable}"]
    with recorded() as url:
        yield with_own_pip(run_context(facts, ROOT / "data", folder / "work", folder, day, named, indexes={"default": url}))


@pytest.mark.long
@pytest.mark.parametrize("line", ASKED, ids=lambda line: " ".join(f"{name}=={v}" for name, v in line["pins"].items()))
def test_compatkb_and_pip_agree_both_ways(line: dict[str, Any], context: RunContext, facts: Snapshot) -> None:
    """What works resolves, and what pip refuses is denied; other denials have a rule with a source."""
    told = judge(facts, key_of(line), asking(context))
    assert told["pip"] == line["pip"], f"pip said {line['pip']} when this was recorded: {told['detail']}"
    assert told["difference"] in ("", DENIED, UNKNOWN), told
    if told["difference"] == DENIED:
        assert told["rules"]
        assert all(sources and text for text, *sources in told["rules"])


def test_questions_are_drawn_from_what_the_index_has(context: RunContext, facts: Snapshot) -> None:
    """Different questions for the Pythons at hand come out of the record that answers them."""
    asked = questions(Asker(facts, 1, context.interpreters, recorded_versions(context)), 5)
    assert len(set(asked)) == 5
    assert {question.python for question in asked} <= set(context.interpreters)


@pytest.mark.parametrize(
    ("verdict", "outcome", "waived", "expected"),
    [
        ("works", Outcome.OK, False, ""),
        ("works", Outcome.CONFLICT, False, WRONG),
        ("works-with-warnings", Outcome.NOT_FOUND, False, WRONG),
        ("works", Outcome.CONFLICT, True, "refused by pip, and waived by the maker"),
        ("works", Outcome.NOT_CHECKED, False, "not checked"),
        ("likely", Outcome.CONFLICT, False, "thought likely, and refused by pip"),
        ("does-not-work", Outcome.OK, False, DENIED),
        ("does-not-work", Outcome.CONFLICT, False, ""),
        ("unknown", Outcome.OK, False, UNKNOWN),
    ],
)
def test_differences(verdict: str, outcome: Outcome, expected: str, *, waived: bool) -> None:
    """A promise that pip refuses is wrong unless the maker waives it; what was not checked is neither."""
    assert difference(verdict, outcome, waived=waived) == expected


def test_what_the_data_do_not_hold_is_no_fault() -> None:
    """A version of filelock that a Python lacks is beyond the data, whose index of torch is recorded."""
    said = "ERROR: Could not find a version that satisfies the requirement {}==9.0 (from versions: 1.0)"
    assert is_beyond(said.format("filelock"))
    assert not is_beyond(said.format("torch"))
    assert not is_beyond("ERROR: Cannot install filelock==9.0 and torch==2.0")
