"""Disagreements between sources: both sides are kept and shown, a decision counts, and an open one leaves unknown."""

import json
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from builders import SOURCE, TODAY, build, needs, product, release, universe
from conftest import Run, clock
from pydantic import ValidationError

from compatkb.authoring.disputes import disputes_of
from compatkb.authoring.loader import Files
from compatkb.engine.answer import resolve
from compatkb.errors import DataError
from compatkb.schema import OPEN, Dispute
from compatkb.store.reader import Snapshot

Runner = Callable[..., Run]
PLAIN: dict[str, Any] = {
    "id": "d",
    "about": "a thing",
    "of": ["torch==2.0.0"],
    "positions": ["one", "other"],
    "sources": ["a", "b"],
    "decision": "one",
    "reason": "so",
    "decided": TODAY,
}
SHOWN = [
    pytest.param(
        ("show", "torch", "2.10.0", "--why"),
        ("released: 2026-01-21 (disputed)", "2026-01-15", "saforem2/sam.onl", "torch-2.10.0-cp310", "The post is older"),
        id="date-of-torch-2.10",
    ),
    pytest.param(("list", "torch"), ("2.10.0   2026-01-21 (disputed)",), id="list-marks-the-date"),
    pytest.param(("eol", "ipex"), ("2026-03-31  IPEX", "(disputed)"), id="eol-marks-the-end"),
    pytest.param(
        ("show", "ipex", "2.3.110", "--why"),
        ("torchvision==0.18.1+cxx11.abi", "torchvision==0.18.0", "README.md#L108", "dependency_version.json#L18"),
        id="torchvision-of-ipex-2.3.110",
    ),
    pytest.param(
        ("show", "ipex", "2.5.10", "--why"),
        ("gpu-driver==1032.*", "gpu-driver==1057.13", "decided 2026-11-21: both", "2024-12-18"),
        id="driver-of-ipex-2.5.10",
    ),
    pytest.param(
        ("show", "ipex", "2.8.10", "--why"),
        ("says: container build: 2.8.0+xpu", "says: dependency file: not applicable", "docker/build.sh#L20"),
        id="oneccl-of-ipex-2.8.10",
    ),
    pytest.param(
        ("show", "gpu-driver", "736.25", "--why"),
        ("released: 2023-10-31 (disputed)", "2023-11-15", "decided 2026-11-21: 2023-10-31"),
        id="date-of-a-driver",
    ),
    pytest.param(
        ("show", "intel/intel-extension-for-pytorch", "2.7.10-xpu", "--why"),
        ("1077", "series 1099", "pytorch/README.md#L27", "python/docker-compose.yaml#L63", "decided 2026-11-21: 1099"),
        id="driver-label-of-an-image",
    ),
    pytest.param(
        ("show", "intel/intel-extension-for-pytorch:latest", "--why"),
        ("row of 2.7.0-pip-base", "row of 2.6.0-pip-base", "row of 2.5.0-pip-base", "since 2025-08-12"),
        id="latest-on-three-rows",
    ),
    pytest.param(
        ("show", "intel/intel-extension-for-pytorch:2.1.0-pip-mulitnode", "--why"),
        ("mulitnode", "list of base containers: multinode", "undecided, last checked 2026-11-21"),
        id="open-spelling-of-a-tag",
    ),
]


@pytest.mark.parametrize(("words", "texts"), SHOWN)
def test_real_disputes_are_shown(words: tuple[str, ...], texts: tuple[str, ...], run: Runner) -> None:
    """What sources disagree about stands where a reader looks: both sides, both sources, decision, reason and day."""
    out = run(*words).out
    for text in texts:
        assert text in out


def test_an_undecided_dispute_is_on_the_first_screen(run: Runner) -> None:
    """What is undecided about an image is named at once, by its topic; what was decided is left to --why."""
    told = run("show", "intel/intel-extension-for-pytorch:2.1.0-pip-mulitnode").out
    assert "sources disagree about how the 2.1.0 multinode tags are spelt" in told
    assert "disagree" not in run("show", "intel/intel-extension-for-pytorch:latest").out


@pytest.mark.verdict
@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("resolve", "--ipex", "2.3.110", "--device", "xpu"), "which torchvision goes with 2.3.110+xpu"),
        (("explain", "torch==2.7.1+xpu", "ipex==2.7.10+xpu"), "whether 2.7.10+xpu works with torch 2.7.1+xpu"),
        (("resolve", "--torch", "2.8", "--hardware", "flex"), "decided 2026-11-28: probably works"),
        (("resolve", "--ipex", "2.0.110+xpu", "--os", "windows"), "undecided, last checked"),
        (("resolve", "--torch", "2.5.1", "--device", "xpu"), "Index of the 2.5 xpu wheels"),
    ],
    ids=["link", "cause", "hardware", "open", "build"],
)
def test_answers_say_what_they_rest_on(words: tuple[str, ...], text: str, run: Runner) -> None:
    """An answer that rests on something disputed says so at once, and about what with --why."""
    assert "disputed" in run(*words).out
    assert text in " ".join(run(*words, "--why").out.split())


def test_why_has_both_sides(run: Runner) -> None:
    """--why shows both sides of a dispute with their sources, the decision and its reason; JSON has the same."""
    words = ("resolve", "--ipex", "2.3.110", "--device", "xpu", "--why")
    out = run(*words).out
    for text in (
        "one side: ipex==2.3.110+xpu constrains torchvision==0.18.0",
        "dependency_version.json#L18",
        "decided 2026-11-21: ",
    ):
        assert text in out
    stack = json.loads(run(*words, "--format", "json").out)["stacks"][0]
    found = next(d for d in stack["disputes"] if d["id"] == "ipex-dispute-2.3.110-torchvision")
    assert [position["claim"] for position in found["positions"]] == [
        "ipex-2.3.110-torchvision",
        "ipex-2.3.110-torchvision-dependency-file",
    ]
    assert all(position["sources"] for position in found["positions"])
    assert (found["decision"], found["holds"]) == (
        "ipex-2.3.110-torchvision",
        "ipex 2.3.110+xpu constrains torchvision==0.18.1+cxx11.abi",
    )


@pytest.mark.parametrize(
    ("day", "disputed"),
    [("2026-01-14", False), ("2026-01-18", True), ("2026-01-21", False)],
    ids=["before", "between", "after"],
)
def test_disputed_date_matters_between_its_days(day: str, disputed: bool, run: Runner) -> None:
    """An answer for a day between the dates that sources give says so; for other days the dispute changes nothing."""
    out = run("resolve", "--torch", "2.10", "--device", "cpu", "--as-of", day, "--why").out
    assert ("the day of release of torch 2.10.0" in out) is disputed


def test_answers_without_disputes_have_none(run: Runner) -> None:
    """No mark where nobody disagrees, and none for a platform that the dispute is not about."""
    assert "disputed" not in run("resolve", "--torch", "2.8", "--device", "cpu", "--python", "3.12").out
    assert "3.13" not in run("resolve", "--torch", "2.5.1", "--device", "cpu", "--python", "3.12").out
    assert "Python 3.13" in run("resolve", "--torch", "2.5.1", "--device", "cpu", "--python", "3.13").out


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"positions": ["one"], "sources": ["a"]}, "two sides"),
        ({"positions": [], "sources": [], "claims": ["x", "x"], "decision": "x"}, "two sides"),
        ({"sources": ["a"]}, "for each of `positions`"),
        ({"of": []}, "whom it concerns"),
        ({"positions": [], "sources": [], "claims": ["x", "y"], "decision": "z"}, "decision is one of x, y"),
        ({"days": [TODAY]}, "`days` has one day"),
        ({"days": [TODAY, TODAY]}, "`day` says which"),
    ],
    ids=["one-side", "with-itself", "one-source", "of-nobody", "foreign-decision", "one-day", "days-of-what"],
)
def test_wrong_disputes_are_refused(change: dict[str, Any], message: str) -> None:
    """A dispute has two sides with a source each, names whom it concerns, and is decided for one of them."""
    Dispute.model_validate(PLAIN)
    with pytest.raises(ValidationError, match=message):
        Dispute.model_validate({**PLAIN, **change})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"of": ["torch==9"]}, "torch==9 names no known release"),
        ({"of": ["toch==2.0.0"]}, "toch is no product"),
        ({"claims": ["nowhere"]}, "claim nowhere is not in this file"),
        ({"sources": [SOURCE, "lost"]}, "source lost is not defined"),
    ],
    ids=["no-release", "no-product", "no-claim", "no-source"],
)
def test_dangling_disputes_are_reported(change: dict[str, Any], message: str, tmp_path: Path) -> None:
    """What a dispute names must be there; the message names file, dispute and what is missing."""
    quarrel = {**PLAIN, "sources": [SOURCE, SOURCE], **change}
    with pytest.raises(DataError, match=r"products/torch\.toml: dispute d: ") as raised:
        universe(tmp_path, [product("torch", releases=["2.0.0"], dispute=[quarrel])])
    assert message in str(raised.value)


@pytest.mark.parametrize("decision", ["one", OPEN])
def test_open_dispute_about_wheels_leaves_them_unknown(decision: str, tmp_path: Path) -> None:
    """Wheels that an open dispute is about count as not seen on its platforms, and there alone; once decided they count."""
    quarrel = {**PLAIN, "sources": [SOURCE, SOURCE], "decision": decision, "when": {"python": ["3.12"]}}
    rows = [{"os": ["linux"], "python": ["3.11", "3.12"], "sources": [SOURCE]}]
    torch = product("torch", releases=[release("2.0.0", builds=[build("2.0.0", wheels=rows)])], dispute=[quarrel])
    facts = universe(tmp_path, [torch])
    for python, expected in (("3.11", "works"), ("3.12", "works" if decision == "one" else "unknown")):
        assert ask(facts, f"python=={python}", "torch").verdict == expected


def test_both_sides_can_hold(tmp_path: Path) -> None:
    """Where the decision is `both`, no side is lost."""
    verified = [{**needs("helper==1.0", f"torch=={v}"), "kind": "verified"} for v in ("1.0.0", "2.0.0")]
    quarrel = {k: v for k, v in PLAIN.items() if k not in ("of", "positions", "sources")}
    for decision, expected in (("both", "works"), (verified[1]["id"], "unknown")):
        folder = tmp_path / decision
        folder.mkdir()
        disputes = [{**quarrel, "claims": [claim["id"] for claim in verified], "decision": decision}]
        helper = product("helper", releases=["1.0"], claims=verified, dispute=disputes)
        facts = universe(folder, [product("torch", releases=["2.0.0", "1.0.0"]), helper])
        assert ask(facts, "helper", "torch==1.0.0").verdict == expected


def ask(facts: Snapshot, *words: str) -> Any:
    """Return the answer to a question in words."""
    from compatkb.request.parser import make_request

    return resolve(facts, make_request(facts, (), words, ("cpu",), clock()))


OPEN_ONES = {
    "ipex-dispute-2.0.110-windows": ("--ipex", "2.0.110+xpu", "--os", "windows"),
    "oneccl-bind-pt-2.5.0-cpu-python": ("--oneccl", "2.5.0+cpu", "--python", "3.8"),
}
"""What depends on each open dispute of a product."""


@pytest.mark.long
def test_every_open_dispute_is_asked_about(files: Files) -> None:
    """Whoever leaves a dispute of a product open says here what question depends on it."""
    found = {d.id for kind, _, d, _ in disputes_of(files) if d.decision == OPEN and kind == "product"}
    assert found == set(OPEN_ONES)


@pytest.mark.verdict
@pytest.mark.parametrize("name", OPEN_ONES)
def test_what_depends_on_an_open_dispute_is_unknown(name: str, run: Runner) -> None:
    """No answer that needs one side of an open dispute says that it works."""
    assert json.loads(run("resolve", *OPEN_ONES[name], "--format", "json").out)["verdict"] in (
        "unknown",
        "does-not-work",
    )


def test_every_dispute_is_shown_somewhere(facts: Snapshot) -> None:
    """A dispute concerns some release, tag or channel, so that somebody comes across it; its sides differ."""
    records, every = facts.dispute_records(), facts.concerned_records()
    assert len(records) > 110
    for name, record in records.items():
        concerned = [each for each in every if each.dispute == name]
        assert any(each.mask for each in concerned) or record.kind != "product", name
        assert concerned, name
        positions = record.positions
        assert len({position.text for position in positions}) == len(positions) or name in SAME, name
        assert all(position.sources for position in positions), name
        assert date.fromisoformat(record.decided) >= date(2026, 1, 1)


SAME = {"oneccl-bind-pt-2.0-2.1-python", "xpu-solid"}
"""Where two sources say one thing and a third another."""
