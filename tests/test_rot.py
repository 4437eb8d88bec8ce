"""Rot: what resolved on one day and does not on a later one is told with what vanished; three incidents replayed.

The names, versions and what vanished are those of the threads; the wheels are empty.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import NamedTuple

import pytest
from builders import data_directory, product
from loopback import serve
from validation import HERE, with_own_pip

from compatkb.catalog.changelog import find_changes
from compatkb.schema import Level, Observation, Outcome
from compatkb.store.cache import locate
from compatkb.store.reader import Snapshot
from compatkb.validate.cell import RunContext, ValidationCell
from compatkb.validate.evidence import read_evidence, text_of
from compatkb.validate.messages import missing_pins
from compatkb.validate.runner import Threads
from compatkb.validate.session import report_text, validate
from compatkb.validate.targets import this_platform


class Incident(NamedTuple):
    """What an index had, what somebody pinned, and the release that vanished."""

    pages: dict[str, list[tuple[str, list[str]]]]
    pins: tuple[tuple[str, str], ...]
    gone: tuple[str, str]


INCIDENTS = {
    "pytorch/pytorch issues/185681": Incident(
        {"torch": [("2.12.0", ["intel-cmplr-lib-rt==2025.3.2"])], "intel-cmplr-lib-rt": [("2025.3.2", []), ("2026.0.0", [])]},
        (("torch", "2.12.0"),),
        ("intel-cmplr-lib-rt", "2025.3.2"),
    ),
    "unslothai/unsloth issues/5358": Incident(
        {"torch": [("2.10.0", ["triton-xpu==3.6.0"])], "triton-xpu": [("3.3.0b1", []), ("3.6.0", [])]},
        (("torch", "2.10.0"),),
        ("triton-xpu", "3.6.0"),
    ),
    "oobabooga/textgen issues/4909": Incident(
        {"torch": [("2.0.1a0", []), ("2.1.0", [])], "intel-extension-for-pytorch": [("2.0.110+xpu", [])]},
        (("intel-extension-for-pytorch", "2.0.110+xpu"), ("torch", "2.0.1a0")),
        ("torch", "2.0.1a0"),
    ),
}
FIRST, LATER, LAST = date(2026, 5, 1), date(2026, 5, 29), date(2026, 6, 9)


@contextmanager
def context_of(folder: Path, day: date, incident: Incident, *, whole: bool) -> Iterator[RunContext]:
    """Return a context of a day over the index of that day, which lacks what is gone unless it is whole."""
    with serve() as index:
        for name, page in incident.pages.items():
            for version, required in page:
                if whole or (name, version) != incident.gone:
                    index.add(name, version, "", requires=tuple(required))
        yield with_own_pip(
            RunContext(
                day,
                folder / "work",
                folder / "cache",
                folder / "data",
                indexes={"default": f"{index.url}/simple/"},
                seconds=60,
            )
        )


QUICK = {("index", 0), ("index", 1), ("index", 2)}
"""Of what each tool says of each incident, what every run asks."""


@pytest.mark.parametrize(
    ("name", "tool"),
    [
        pytest.param(name, tool, marks=() if (tool, number) in QUICK else pytest.mark.long)
        for number, name in enumerate(INCIDENTS)
        for tool in ("pip", "uv", "index")
    ],
)
def test_incidents(name: str, tool: str, tmp_path: Path) -> None:
    """Resolved on a day, refused later with the release that is gone, and so a week after; what comes back is sound again."""
    incident = INCIDENTS[name]
    pins = incident.pins if tool != "index" else (*incident.pins, incident.gone)
    level = Level.PUBLISHED if tool == "index" else Level.RESOLVE
    cell = ValidationCell(level, tool, tuple(sorted(set(pins))), HERE, this_platform())
    for day, whole in ((FIRST, True), (LATER, False), (LAST, False), (date(2026, 7, 1), True)):
        with context_of(tmp_path, day, incident, whole=whole) as context:
            report = validate([cell], context, Threads(1), None, lambda *_: None)
        (seen,) = read_evidence(context.data)
        if whole:
            assert (seen.outcome, seen.resolved, seen.vanished) == (Outcome.OK, None, ())
            assert "no longer" not in report_text(report)
        else:
            assert (seen.outcome in (Outcome.NOT_FOUND, Outcome.CONFLICT), seen.resolved) == (True, FIRST), seen.detail
            assert seen.vanished == ("==".join(incident.gone),)
            assert f"last on {FIRST}; vanished: {'=='.join(incident.gone)}" in report_text(report)


def test_a_wheel_that_vanished_is_told_by_what_is_recorded(tmp_path: Path) -> None:
    """Of a release that is still listed, the wheels for this Python that data/index/ has and the index no longer are named."""
    abi = f"cp{HERE.replace('.', '')}"
    folder = tmp_path / "data" / "index"
    folder.mkdir(parents=True)
    text = 'distribution = "torch"\nseen = 2026-05-01\n\n[[release]]\nversion = "2.8.0"\nuploaded = 2026-04-01T10:00:00Z\n'
    wheels = f'{{ {abi} = ["manylinux_2_28_x86_64", "win_amd64"], cp37-abi3 = ["manylinux1_x86_64"] }}'
    (folder / "torch.toml").write_text(f"{text}wheels = {wheels}\n")
    cell = ValidationCell(Level.PUBLISHED, "index", (("torch", "2.8.0"),), HERE, "linux-x86_64")
    (tmp_path / "data" / "evidence").mkdir()
    before = cell.observed(Outcome.OK, FIRST)
    (tmp_path / "data" / "evidence" / "published.jsonl").write_text(text_of([before]))
    with serve() as index:
        index.add("torch", "2.8.0", "", tag=f"{abi}-{abi}-win_amd64")
        indexes = {"default": f"{index.url}/simple/"}
        context = RunContext(LATER, tmp_path / "work", tmp_path / "cache", tmp_path / "data", indexes=indexes)
        validate([cell], context, Threads(1), None, lambda *_: None)
    (seen,) = read_evidence(tmp_path / "data")
    assert seen.vanished == (f"torch==2.8.0:{abi}-manylinux_2_28_x86_64", "torch==2.8.0:cp37-abi3-manylinux1_x86_64")


@pytest.mark.parametrize(
    "words",
    [
        "ERROR: Could not find a version that satisfies the requirement triton-xpu==3.6.0 (from torch) (from versions: none)",
        "ERROR: No matching distribution found for triton-xpu==3.6.0",
        "× No solution found when resolving dependencies: ╰─▶ Because there is no version of triton-xpu==3.6.0 and",
        "no wheel for this Python and platform: torch 2.10.0, triton_xpu 3.6.0",
    ],
)
def test_what_installers_miss(words: str) -> None:
    """The pin is read from the words of each, however short its version is."""
    assert ("triton-xpu", "3.6.0") in missing_pins(words)
    assert ("triton-xpu", "3") in missing_pins(words.replace("3.6.0", "3"))


def test_changes_tell_it(tmp_path: Path) -> None:
    """`changes` tells on the later day what resolved before, since when it does not, and what is gone."""
    seen = Observation(
        level=Level.RESOLVE, outcome=Outcome.NOT_FOUND, packages={"torch": "2.8.0"}, python="3.12", platform="linux-x86_64",
        index="default", checked=LATER, tool="pip", resolved=FIRST,
        vanished=("triton==3.4.0",),
    )  # fmt: skip
    data = data_directory(tmp_path / "data", [product("torch", releases=["2.8.0"])])
    (data / "evidence").mkdir(exist_ok=True)
    (data / "evidence" / "resolve.jsonl").write_text(text_of([seen]), encoding="utf-8")
    facts = Snapshot(locate(data))
    (told,) = [change for change in find_changes(facts, LATER, LATER) if change.kind == "rotted"]
    assert told.after == FIRST
    assert told.product == "torch"
    assert told.detail == "resolved on 2026-05-01, no longer; gone: triton==3.4.0"
