"""What metadata decide is decided: today and for ever, in an answer and in a file that is checked."""

import random

import pytest
from conftest import parted
from differential import Question
from metadata_pairs import DEFAULT, Pair, excluded_pairs, neighbours, own_partners, releases

from compatkb.api import KnowledgeBase
from compatkb.check import check
from compatkb.check.document import CheckContext, TextDocument
from compatkb.core.clock import Clock, current_day
from compatkb.core.findings import Severity
from compatkb.engine.answer import resolve
from compatkb.request.parser import make_request
from compatkb.store.reader import Snapshot
from compatkb.store.records import Request

SAMPLE = 150
MIXED = ("1.13", "2.0", "2.1", "2.2", "2.3", "2.4", "2.5", "2.6", "2.7", "2.8", "2.9", "2.10", "2.11", "2.12", "2.13")
"""Series of torch of which the default index and the maker's CPU index have builds."""


def test_there_are_neighbours_of_every_series(facts: Snapshot) -> None:
    """28 pairs from torch 2.0 on: each series with the torchvision of the series before and of the one after."""
    pairs = neighbours(facts, "2.0")
    assert len(pairs) == len(set(pairs)) == 28


@pytest.mark.verdict
@pytest.mark.parametrize("since", parted(("2.0", "2.12"), ("2.12",)))
def test_neighbours_are_denied_on_every_day(base: KnowledgeBase, facts: Snapshot, since: str) -> None:
    """A torchvision of the series beside is no torchvision for a torch, whatever the clock shows; the reason names it."""
    for torch, vision in neighbours(facts, since):
        for device in (None, "cpu", "xpu"):
            answer = base.resolve({}, [f"torch=={torch}", f"torchvision=={vision}"], device=device)
            assert answer.verdict == "does-not-work", (torch, vision, device)
            assert not answer.stacks
            assert answer.causes


@pytest.mark.verdict
@pytest.mark.parametrize("since", parted(("2.0", "2.12"), ("2.12",)))
def test_neighbours_are_found_in_a_file_on_every_day(facts: Snapshot, since: str) -> None:
    """`check` calls the two lines an error on every day."""
    asked = CheckContext(facts, Clock(current_day()))
    for torch, vision in neighbours(facts, since):
        found = check([TextDocument("requirements.txt", f"torch=={torch}\ntorchvision=={vision}\n")], asked).findings
        assert [finding.rule for finding in found if finding.level is Severity.ERROR] == ["pins-together"], (torch, vision)


def test_a_torch_with_its_own_torchvision_is_no_finding(facts: Snapshot) -> None:
    """The torchvision of the series beside is found since it is wrong, not since there are two lines."""
    asked = CheckContext(facts, Clock(current_day()))
    for torch, vision in own_partners(facts, "2.0"):
        found = check([TextDocument("requirements.txt", f"torch=={torch}\ntorchvision=={vision}\n")], asked).findings
        assert not [finding for finding in found if finding.level is Severity.ERROR], (torch, vision)


def verdicts(base: KnowledgeBase, pair: Pair) -> tuple[str, str]:
    """Return the verdict on builds of the default index alone, and on all builds that the two pins leave open."""
    question = Question(tuple(sorted([(pair.product, pair.version), (pair.other, pair.number)])), pair.python)
    own = resolve(base.facts, question.request(base.facts), near=False)
    every = resolve(base.facts, base.request({"python": pair.python, "os": "linux"}, pair.words), near=False)
    return own.verdict, every.verdict


def wrong(base: KnowledgeBase, pairs: list[Pair]) -> list[str]:
    """Return which pairs are not denied; a runtime that only some kinds of builds pin is open where others are meant."""
    found = []
    for pair in pairs:
        own, every = verdicts(base, pair)
        is_runtime = base.facts.products[pair.other].role == "leaf"
        if own != "does-not-work" or (every != "does-not-work" and not (is_runtime and every == "unknown")):
            found.append(f"{' '.join(pair.words)} on Python {pair.python}: {own}, {every}")
    return found


@pytest.mark.parametrize("count", [SAMPLE // 5, pytest.param(SAMPLE, marks=pytest.mark.long)])
def test_a_sample_of_what_metadata_exclude_is_denied(base: KnowledgeBase, facts: Snapshot, count: int) -> None:
    """Of all pairs that data/index excludes, those drawn are denied for every kind of build; all three targets are there."""
    pairs = excluded_pairs(facts)
    assert {(pair.product, pair.other) for pair in pairs} >= {
        ("torchvision", "torch"),
        ("torchaudio", "torch"),
        ("torch", "triton"),
    }
    assert not wrong(base, random.Random(1).sample(pairs, count))


@pytest.mark.soak
def test_all_that_metadata_exclude_is_denied(base: KnowledgeBase, facts: Snapshot) -> None:
    """Each of the thousands of pairs."""
    assert not wrong(base, excluded_pairs(facts))


# -- builds of two kinds --------------------------------------------------------------------------------------------


def mixed(facts: Snapshot, torch: str, other: str, version: str, system: str) -> Request:
    """Return a request for the CPU build of a torch beside what the default index has of another product."""
    request = make_request(facts, [("os", system)], [f"torch=={torch}+cpu", f"{other}=={version}"])
    builds = [e for e in facts.elements(other) if e.version == version and DEFAULT in e.channels]
    pins = [pin._replace(mask=1 << builds[0].idx) if pin.product == other else pin for pin in request.pins]
    return request._replace(pins=tuple(pins))


def partners(facts: Snapshot, series: str) -> list[tuple[str, str, str]]:
    """Return the newest torch of a series that has a CPU build, with a product and version of the default index for it."""
    cpu = {e.version for e in facts.elements("torch")}
    of_series = [e for e in releases(facts, "torch") if e.release.startswith(f"{series}.") and f"{e.release}+cpu" in cpu]
    found = []
    for product in ("torchvision", "torchaudio"):
        for torch in reversed(of_series):
            edges = [edge for edge in facts.edges(product, "torch") if edge.in_metadata and edge.to_mask >> torch.idx & 1]
            fitting = [e for e in releases(facts, product) if any(edge.of_mask >> e.idx & 1 for edge in edges)]
            exact = [e for e in fitting if any(edge.of_mask >> e.idx & 1 and "==" in edge.spec for edge in edges)]
            if exact:
                found.append((torch.version, product, exact[-1].version))
                break
    return found


@pytest.mark.parametrize("series", MIXED)
def test_the_cpu_build_beside_a_cuda_build_is_denied(facts: Snapshot, series: str) -> None:
    """On Linux the default index has CUDA builds, which do not load beside `+cpu`; on Windows it has CPU builds, which do."""
    pairs = partners(facts, series)
    assert pairs
    for torch, product, version in pairs:
        on_linux = resolve(facts, mixed(facts, torch, product, version, "linux"), near=False)
        assert on_linux.verdict == "does-not-work", (torch, product, version)
        assert any(edge.claim == f"{product}-kind" for cause in on_linux.causes for edge in cause.edges)
        on_windows = resolve(facts, mixed(facts, torch, product, version, "windows"), near=False)
        assert on_windows.verdict != "does-not-work", (torch, product, version)


@pytest.mark.parametrize(
    ("hub", "fits"),
    [*(pytest.param(hub, False, marks=pytest.mark.long) for hub in ("0.24.0", "0.20.3")), ("0.18.0", False), ("0.17.3", True)],
)
@pytest.mark.parametrize("release", parted(("4.34.0", "4.34.1", "4.35.0"), ("4.34.0", "4.35.0")))
def test_what_nobody_pinned_counts_by_its_own_requirements(base: KnowledgeBase, release: str, hub: str, fits: bool) -> None:
    """Releases 4.34 and 4.35.0 take tokenizers 0.14, both releases of which want huggingface-hub below 0.18."""
    answer = base.explain(f"transformers=={release}", f"huggingface-hub=={hub}")
    assert (answer.verdict != "does-not-work") is fits
    chain = {frozenset(("transformers", "tokenizers")), frozenset(("tokenizers", "huggingface-hub"))}
    assert fits or {frozenset(cause.blocker[1:]) for cause in answer.causes} == chain
