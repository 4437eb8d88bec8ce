"""The benchmark's comparison with kept figures: it fails on what is worse, and on what it cannot compare."""

import json
import sys
from importlib import import_module
from types import ModuleType

import pytest
from conftest import ROOT


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The program that `make bench-check` runs."""
    monkeypatch.syspath_prepend(str(ROOT / "bench"))
    monkeypatch.delitem(sys.modules, "bench", raising=False)
    return import_module("bench")


def test_a_ratio_is_compared_beyond_its_noise(bench: ModuleType) -> None:
    """Only a ratio that exceeds the kept one by more than its noise is a regression; a time never is."""
    ratio = import_module("common").ratio
    kept = {"cold: resolve": {"value": 10.0}, "warm: median": {"value": 1.0}}
    assert not bench.regressions({"cold: resolve": ratio(12.9, "python", noise=1.3)}, kept)
    assert bench.regressions({"cold: resolve": ratio(13.1, "python", noise=1.3)}, kept)
    assert not bench.regressions({"warm: median": import_module("common").Figure(100.0, "ms")}, kept)


def test_a_ratio_without_a_kept_one_is_no_pass(bench: ModuleType) -> None:
    """A ratio whose name the kept figures lack fails the comparison; without kept figures nothing is compared."""
    figures = {"cold: resolve anew": import_module("common").ratio(1.0, "python")}
    assert bench.uncompared(figures, {"cold: resolve": {"value": 10.0}})
    assert not bench.uncompared(figures, {})


def test_every_kept_ratio_is_of_a_subject(bench: ModuleType) -> None:
    """Of what `make bench-check` compares, ratios of start-up, of the warm engine and of documents are kept."""
    kept = json.loads(bench.BASELINE.read_text(encoding="utf-8"))
    ratios = [name for name, figure in kept.items() if figure["is_ratio"]]
    assert {name.partition(":")[0] for name in ratios} >= {"cold", "warm"}
    assert len(ratios) >= 15
