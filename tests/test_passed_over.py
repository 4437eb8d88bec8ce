"""Why an answer does not lead with a newer release: by the rule that decided, and never for what a pin left out."""

from pathlib import Path
from typing import Any

import pytest
from builders import build, compiled, files_of, needs, product, release, request, wheel

from compatkb import KnowledgeBase
from compatkb.authoring.build_knowledge import build_knowledge
from compatkb.engine.answer import resolve
from compatkb.engine.newer import passed_over
from compatkb.output.presenter import Presenter, present

GUESSED = [wheel(basis="inferred")]


def reasons(tmp_path: Path, newest: dict[str, Any], *claims: Any, pins: dict[str, str] | None = None) -> dict[str, str]:
    """Return why torch 2.0, a release with some properties, is passed over for torch 1.0."""
    torch = product("torch", releases=[release("2.0", **newest), "1.0"], claims=claims)
    ext = product("ext", releases=["2.0", "1.0"], claims=[needs("ext", "torch")])
    facts = compiled(build_knowledge(files_of([torch, ext])), tmp_path)
    asked = request(facts, pins or {}, bare=["torch"])
    best = resolve(facts, asked).stacks[0]
    assert best.packages[0].version == "1.0"
    return {one.element.release: one.why for one in passed_over(facts, asked, best)}


@pytest.mark.parametrize(
    ("newest", "claims", "pins", "why"),
    [
        ({"builds": [build("2.0", wheels=GUESSED)]}, [], {}, {"2.0": "presumed"}),
        (
            {"builds": [build("2.0", wheels=[wheel(["3.11"])], wheels_complete=True)]},
            [],
            {"python": "3.12"},
            {"2.0": "denied"},
        ),
        ({}, [needs("torch==2.0", "ext==1.0")], {"ext": "2.0"}, {"2.0": "denied"}),
        ({}, [], {"torch": "1.0"}, {}),
    ],
    ids=["presumed", "no-wheel", "another-package", "pinned-out"],
)
def test_the_rule_that_decides_is_told(
    tmp_path: Path, newest: dict[str, Any], claims: list[Any], pins: dict[str, str], why: dict[str, str]
) -> None:
    """What is presumed, what lacks a wheel, what excludes a package; of what the user left out there is nothing to say."""
    assert reasons(tmp_path, newest, *claims, pins=pins) == why


def test_the_row_is_there_where_a_newer_release_is(base: KnowledgeBase) -> None:
    """An answer that leads with 2.14 says in a line why not 2.15; one about a pinned release does not."""

    def row(*words: str) -> str:
        view = present(base.facts, base.resolve(words=list(words)))
        return "".join(text for row in view.rows if row.label == "why not newer" for text in row.texts)

    assert "2.15.0: its packages are not confirmed" in row("B580", "ubuntu24.04", "py3.12")
    assert "2.15.0" in row("xpu", "linux", "py3.9")
    assert row("cpu", "py3.13").startswith("on Linux: 2.15.0")  # on Windows the answer leads with it
    assert row("torch==2.8.0+xpu") == ""
    assert row("torch==2.9", "cpu", "linux", "py3.12").startswith("torch==2.9 is 2.9.0; torch==2.9.1 works, too")
    assert "torchvision==0.24.1 works, too" in row("torch==2.9", "torchvision==0.24", "xpu")  # both move together
    assert row("torch==2.9.0", "cpu") == row("torch==2.8", "xpu") == ""  # the second is the last of its series


def causes(base: KnowledgeBase, *words: str) -> list[str]:
    """Return why something does not work."""
    return [cause.message for cause in present(base.facts, base.explain(*words)).causes]


def test_what_nobody_asked_for_is_no_cause(base: KnowledgeBase) -> None:
    """IPEX is a cause where it is named, or where another build of torch might have come with it."""
    kernel = causes(base, "torch==2.14.0+xpu", "hardware==lunar-lake", "kernel==5.15", "ubuntu24.04")
    assert len(kernel) == 1
    assert "needs kernel" in kernel[0]
    assert any("IPEX" in said for said in causes(base, "torch==2.14.0+xpu", "ipex", "hardware==lunar-lake"))
    assert any("IPEX" in said for said in causes(base, "torch==2.4", "device==xpu"))
    assert not any("IPEX" in said for said in causes(base, "torch==2.8+cu128", "torchvision==0.23+xpu"))


def test_a_bound_on_a_part_of_the_machine_is_told_in_words(base: KnowledgeBase) -> None:
    """What a driver must be is said as people say it, and a sentence that holds for two devices once."""
    (said,) = causes(base, "arc-b", "compute-runtime==23.43.27642")
    assert "needs compute runtime 24.31.30508.5 or newer, not 23.43.27642" in said
    told = present(base.facts, base.explain("torch==2.7", "torchvision==0.20")).foremost
    assert len({cause.message for cause in told}) == len(told)


def test_a_cause_is_of_the_versions_that_the_others_leave(base: KnowledgeBase) -> None:
    """A torchvision leaves one torch, and of that the Python is said: other releases of torch have it."""
    said = causes(base, "torchvision==0.23.0", "python==3.14", "device==xpu")
    assert "torch 2.8.* needs Python >=3.9,<=3.13, not 3.14" in said
    assert not any("no torch release" in one for one in said)


def test_a_way_is_newest_only_where_it_is_newer(base: KnowledgeBase) -> None:
    """The best of all versions may be older than the one that was pinned, and says so."""
    older = [way.title for way in present(base.facts, base.resolve(words=["torch==2.14", "ipex", "xpu", "oneapi"])).ways]
    assert any(title.startswith("nearest older: torch 2.5") for title in older)
    assert not any(title.startswith("newest") for title in older)
    newer = [way.title for way in present(base.facts, base.resolve(words=["torch==2.8", "xpu", "python==3.14"])).ways]
    assert any(title.startswith("newest: torch 2.1") for title in newer)


def test_systems_of_a_table_are_never_told_as_missing_in_it(base: KnowledgeBase) -> None:
    """What documents of torch name says nothing of IPEX on the same system."""
    best = base.resolve(words=["ipex", "A770", "windows11", "py3.13"]).stacks[0]
    points = [point.sentence for point in Presenter(base.facts, base.request()).stack(best).evidence.open_points]
    assert any("not for Windows 11" in point for point in points)
    assert not any("Windows 11" in point.partition(", not for")[0] for point in points if ", not for" in point)
