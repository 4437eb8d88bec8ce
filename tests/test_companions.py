"""Companions and the order of preference: what decides about a build is the build itself, whatever else is asked for."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from builders import build, compiled, files_of, needs, product, release, request, wheel

from compatkb import KnowledgeBase
from compatkb.authoring.build_knowledge import build_knowledge
from compatkb.engine.answer import resolve
from compatkb.schema import IssueFile


@pytest.mark.parametrize("words", [["--needs", "torch.compile"], ["rhel9.4"], ["deepspeed"], ["B580"]])
def test_companions_stay_whatever_else_is_asked(base: KnowledgeBase, words: list[str]) -> None:
    """The same torch has the same torchvision and torchaudio beside it, be the stack sure or only likely."""

    def packages(needs: list[str], *more: str) -> dict[str, str]:
        answer = base.resolve({}, ["torch==2.14.1+xpu", "python==3.12", *more], needs=needs)
        return {e.product: e.version for e in answer.stacks[0].packages if e.product in ("torchvision", "torchaudio")}

    needed, more = ([words[1]], []) if words[0] == "--needs" else ([], words)
    alone = packages([])
    assert set(alone) == {"torchvision", "torchaudio"}
    assert packages(needed, *more) == alone


def companion(tmp_path: Path, *pairs: tuple[str, Any, str]) -> dict[str, str]:
    """Return what stands beside torch, of companions with a version, wheels and how well they are known to go with it."""
    made = [release(version, builds=[build(version, wheels=wheels)]) for version, wheels, _ in pairs]
    claims = [needs(f"vision=={version}", "torch==2.0", basis=basis) for version, _, basis in pairs]
    vision = product("vision", role="companion", releases=made, claims=claims)
    facts = compiled(build_knowledge(files_of([product("torch", releases=["2.0"]), vision])), tmp_path)
    return {e.product: e.version for e in resolve(facts, request(facts, bare=["torch"])).stacks[0].packages}


def test_a_seen_companion_comes_before_a_newer_one_that_is_presumed(tmp_path: Path) -> None:
    """Of a companion the newest build that was seen is shown, were a newer one presumed to exist."""
    guessed = [wheel(basis="inferred")]
    assert companion(tmp_path, ("2.0", guessed, "stated"), ("1.0", [wheel()], "stated"))["vision"] == "1.0"


def test_a_companion_does_not_weaken_what_it_goes_with(tmp_path: Path) -> None:
    """Beside a build whose wheels are known no companion stands that is only inferred to go with it."""
    assert "vision" not in companion(tmp_path, ("2.0", [wheel()], "inferred"))


def test_a_release_with_a_grave_issue_comes_after_one_without(tmp_path: Path) -> None:
    """An issue on what was asked for leads to another release; an open one is in newer releases too; a slow one does not."""
    torch = product("torch", releases=["3.0", "2.0", "1.0"])

    def first(**issue: Any) -> str:
        entry = {
            "id": "bad", "title": "It is bad", "effect": "crash", "state": "fixed", "read": "2026-01-01",
            "where": [{"product": "torch", "range": "==3.0"}], "sources": ["https://example.org/1"],
        }  # fmt: skip
        issues = (IssueFile.model_validate({"issue": [{**entry, **issue}]}),)
        facts = compiled(build_knowledge(replace(files_of([torch]), issues=issues)), tmp_path)
        return resolve(facts, request(facts, bare=["torch"])).stacks[0].packages[0].version

    assert first() == "2.0"
    assert first(effect="slow") == "3.0"
    assert first(ranks=False) == "3.0"
    assert first(gpus=2) == "3.0"
    assert first(where=[{"product": "torch", "range": "==3.0"}, {"system": "windows"}]) == "3.0"  # on Linux it is not there
    older = [{"product": "torch", "range": "==2.0"}]
    assert first(where=older) == "3.0"
    assert first(where=older, state="open") == "1.0"
    assert first(where=older, state="open", cures=[{"to": "torch>=3.0"}]) == "3.0"
