"""Findings in public repositories, judged by hand: the list is whole, and the documented figures are those of the list."""

import json
from collections import Counter
from pathlib import Path

import pytest
from corpus_places import GONE, table

from compatkb.check import rules_by_id

HERE = Path(__file__).parent
FOLDER = HERE / "corpus"
REPOSITORIES = [json.loads(line) for line in (FOLDER / "repositories.jsonl").read_text("utf-8").splitlines()]
JUDGED = [json.loads(line) for line in (FOLDER / "judgements.jsonl").read_text("utf-8").splitlines()]
AGAIN = [json.loads(line) for line in (FOLDER / "second_run.jsonl").read_text("utf-8").splitlines()]
SETS = (
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh", "twelfth",
    "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth", "twentieth",
    "twenty-first", "twenty-second", "twenty-third", "twenty-fourth", "twenty-fifth", "twenty-sixth",
    "twenty-seventh", "twenty-eighth", "twenty-ninth",
)  # fmt: skip


def test_every_judgement_names_its_place() -> None:
    """A judgement names a repository of its set at its commit, a file, a line, a rule, and what it is worth."""
    known = {(one["set"], one["repository"], one["commit"]) for one in REPOSITORIES}
    for one in (*JUDGED, *AGAIN):
        assert (one["set"], one["repository"], one["commit"]) in known
        assert one["file"]
        assert one["line"] >= 0
        assert one["rule"] in rules_by_id() or one["rule"] in GONE
        assert one["judgement"] in ("useful", "pedantic", "false")
        assert (one["judgement"] == "false") == ("why" in one), one


def test_there_are_enough_repositories() -> None:
    """At least 40 repositories, each in one set."""
    assert len({one["repository"] for one in REPOSITORIES}) == len(REPOSITORIES) >= 40


@pytest.mark.parametrize(("name", "again"), [*((name, False) for name in SETS), ("third", True), ("fourth", True)])
def test_the_documented_figures_are_those_of_the_list(name: str, *, again: bool) -> None:
    """The row of a set in docs/reliability-check.md counts what the list of a run has."""
    mine = [one for one in (AGAIN if again else JUDGED) if one["set"] == name]
    counts = Counter(one["judgement"] for one in mine)
    errors = [one for one in mine if one["level"] == "error"]
    true = sum(one["judgement"] != "false" for one in errors)
    row = [
        f"{name}, again" if again else name,
        sum(one["set"] == name for one in REPOSITORIES),
        len(mine),
        *(counts[n] for n in ("useful", "pedantic", "false")),
    ]
    row += [f"{100 * (len(mine) - counts['false']) // len(mine)} %", f"{100 * counts['useful'] // len(mine)} %"]
    text = f"| {' | '.join(map(str, row))} | {true} of {len(errors)} |"
    assert text in (HERE.parent / "docs" / "reliability-check.md").read_text("utf-8"), text


def test_the_table_by_rule_and_place_is_that_of_the_list() -> None:
    """docs/reliability-check.md has what `python tests/corpus_places.py` prints."""
    assert "\n".join(table()) in (HERE.parent / "docs" / "reliability-check.md").read_text("utf-8")
