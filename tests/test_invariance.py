"""One recommendation, whatever the words: what changes nothing in a question changes nothing in its answer."""

import random
from collections.abc import Iterator

import pytest
from conftest import parted

from compatkb.api import KnowledgeBase
from compatkb.core.vocabulary import Verdict
from compatkb.engine.answer import Answer

HARDWARE = (
    "max", "arc-a", "arc-b", "arc-pro-a", "arc-pro-b", "meteor-lake-h", "lunar-lake", "arrow-lake-h", "panther-lake",
)  # fmt: skip
"""Families of GPUs that PyTorch itself serves."""
FAMILIES = {
    "linux": ("ubuntu22.04", "ubuntu24.04", "debian12", "debian13", "rhel9.4", "rocky9", "fedora43", "sles15sp5"),
    "windows": ("windows10", "windows11"),
}
PYTHONS = ("3.9", "3.10", "3.11", "3.12", "3.13", "3.14")
SEED, MANY, FEW = 33, 300, 10
COMPANIONS = ("torchvision", "torchaudio")
Question = tuple[str, str, str]
"""A family of hardware, a system, a Python."""


def questions() -> list[Question]:
    """Return the questions that are drawn, of all that there are."""
    systems = [system for family in FAMILIES.values() for system in family]
    every = [(hardware, system, python) for hardware in HARDWARE for system in systems for python in PYTHONS]
    return random.Random(SEED).sample(every, MANY)


def asked(base: KnowledgeBase, question: Question, *words: str, needs: tuple[str, ...] = ()) -> Answer:
    """Return the answer to a question with some words more."""
    hardware, system, python = question
    return base.resolve({}, [f"hardware=={hardware}", f"os=={system}", f"python=={python}", *words], needs=needs)


def recommended(answer: Answer) -> dict[str, str]:
    """Return the torch and the companions that an answer leads with; nothing where it recommends nothing."""
    if answer.verdict in (Verdict.DOES_NOT_WORK, Verdict.UNKNOWN):
        return {}
    return {e.product: e.version for e in answer.stacks[0].packages if e.product in ("torch", *COMPANIONS)}


def idle_words(base: KnowledgeBase, question: Question, answer: Answer) -> Iterator[tuple[str, Answer]]:
    """Yield the answers to the same question with words that any answer meets, by these words."""
    torch = next(e for e in answer.stacks[0].packages if e.product == "torch")
    yield "torch", asked(base, question, "torch")
    yield "the device", asked(base, question, answer.stacks[0].device)
    yield "the release", asked(base, question, f"torch=={torch.version}")
    yield "numpy", asked(base, question, "numpy")
    yield "torchvision", asked(base, question, "torchvision")
    release = f"torch=={torch.version}"
    for words, needs in ((("transformers",), ()), ((), ("torch.compile",)), ((), ("amp",)), ((), ("dtype.bf16",))):
        if recommended(asked(base, question, release, *words, needs=needs)):  # what the answer has, or admits
            yield " ".join((*words, *needs)), asked(base, question, *words, needs=needs)


def differences(base: KnowledgeBase, question: Question) -> list[str]:
    """Return what words that change nothing change, and whether the answer leads with what has ended."""
    answer = asked(base, question)
    first = recommended(answer)
    if not first:
        return []
    ended = [f"{question} leads with {e.product} {e.version}" for e in answer.stacks[0].packages if e.product == "ipex"]
    more = ((words, recommended(other)) for words, other in idle_words(base, question, answer))
    return ended + [f"{question} with {words}: {found}, not {first}" for words, found in more if found != first]


@pytest.mark.parametrize("question", parted(questions(), questions()[:FEW]))
def test_idle_words_change_nothing(base: KnowledgeBase, question: Question) -> None:
    """The same torch and companions, and no product that has ended, whatever else is said that any answer meets."""
    assert differences(base, question) == []


@pytest.mark.long
@pytest.mark.parametrize("hardware", HARDWARE)
def test_systems_of_a_family_have_one_series(base: KnowledgeBase, hardware: str) -> None:
    """Between two systems of one family the series differs only where a wheel or a denial decides: here nowhere."""
    for systems in FAMILIES.values():
        answers = {system: asked(base, (hardware, system, "3.12")) for system in systems}
        series = {system: recommended(answer).get("torch", "").rpartition(".")[0] for system, answer in answers.items()}
        assert len({known for known in series.values() if known}) <= 1, series
        assert hardware == "max" or all(series.values())
