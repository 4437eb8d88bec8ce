"""Random requests, and what must hold of their answers: a pin more proves no more and excludes no less."""

import random
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from compatkb.api import KnowledgeBase
from compatkb.engine.answer import Answer, resolve
from compatkb.engine.stacks import Stack
from compatkb.errors import GaveUpError, UsageError
from compatkb.output.presenter import present
from compatkb.store.reader import Snapshot

PACKAGES = (
    *("torch", "torchvision", "torchaudio", "ipex", "oneccl-bind-pt", "neural-compressor", "triton", "deepspeed"),
    *("transformers", "numpy"),
)
PYTHONS = ("3.9", "3.10", "3.11", "3.12", "3.13", "3.14", "3.14.1", "3.13t")
SYSTEMS = ("linux", "windows", "ubuntu22.04", "ubuntu24.04", "wsl2", "macos")
RANKS = {"works": 0, "works-with-warnings": 1, "likely": 2, "unknown": 3, "does-not-work": 4}
OFFERED = ("proven", "default-index")
"""What stands beside an answer and is an answer to the same request."""
FIXED = (*PACKAGES, "python", "os")
"""What a pin of which can prove nothing more; hardware and products that nobody asked for may vouch for others."""


class Asked(NamedTuple):
    """A request as it is typed: version words by product, and a device."""

    words: dict[str, str]
    device: str | None


class Requests:
    """Makes random requests of versions that the data know."""

    def __init__(self, facts: Snapshot, seed: int) -> None:
        self.facts, self.chance = facts, random.Random(seed)

    def __iter__(self) -> Iterator[Asked]:
        while True:
            yield self.request()

    def request(self) -> Asked:
        """Return a request for one to three packages, with or without a Python, a system, a device and hardware."""
        chance = self.chance
        words = {name: self._word(name) for name in chance.sample(PACKAGES, chance.choice((1, 1, 2, 2, 3)))}
        if chance.random() < 0.4:
            words["python"] = chance.choice(PYTHONS)
        if chance.random() < 0.4:
            words["os"] = chance.choice(SYSTEMS)
        if chance.random() < 0.2:
            words["hardware"] = chance.choice(self.facts.elements("hardware")).version
        return Asked(words, chance.choice(("xpu", "cpu", None)))

    def _word(self, product: str) -> str:
        """Return a release, a build or a series."""
        element = self.chance.choice(self.facts.elements(product))
        series = ".".join(element.release.split(".")[:2])
        return self.chance.choice((element.release, element.release, element.version, series))


def ask(base: KnowledgeBase, asked: Asked, words: tuple[str, ...] = (), *, near: bool = True) -> Answer | None:
    """Return the answer to a request; None where it cannot be asked, or the search gives up."""
    try:
        return resolve(base.facts, base.request(asked.words, words, device=asked.device), near=near)
    except (UsageError, GaveUpError):
        return None


def best(answer: Answer) -> int:
    """Return the rank of the best verdict that an answer offers."""
    offered = [stack.verdict for stack in answer.stacks]
    offered += [beside.stack.verdict for beside in answer.beside if beside.kind in OFFERED]
    return min((RANKS[verdict] for verdict in offered), default=RANKS[answer.verdict])


def silent(base: KnowledgeBase, answer: Answer) -> list[str]:
    """Return which reasons of an answer say nothing."""
    told = [cause.message for cause in present(base.facts, answer).causes]
    found = [f"a reason that says nothing: {text!r}" for text in told if not text.strip() or text.strip()[0] in ";,:"]
    return found + (["no stack and no reason"] if not answer.stacks and not answer.causes else [])


def stronger(base: KnowledgeBase, asked: Asked, answer: Answer, chance: random.Random) -> list[str] | None:
    """Return what a request with one pin less was told that the whole request is not: what that pin proved or admitted.

    None where there is no such request, or it is about other devices.
    """
    fixed = [name for name in asked.words if name in FIXED and not (len(asked.words) == 1 and name in PACKAGES)]
    if not fixed:
        return None
    left = chance.choice(fixed)
    bare = (left,) if left in PACKAGES else ()
    less = Asked({name: text for name, text in asked.words.items() if name != left}, asked.device)
    if not less.words and not bare:
        return None
    fewer = ask(base, less, bare)
    if fewer is None or fewer.request.devices != answer.request.devices:
        return None
    found = []
    if best(answer) < best(fewer):
        found.append(f"{left}={asked.words[left]} raises {fewer.verdict} to {answer.verdict}: {asked}")
    if fewer.verdict == "does-not-work" and answer.verdict != "does-not-work":
        found.append(f"{left}={asked.words[left]} turns {fewer.verdict} into {answer.verdict}: {asked}")
    return found


def disagreeing(base: KnowledgeBase, asked: Asked, answer: Answer) -> list[str] | None:
    """Return where the same pins as PEP 440 words, as `explain` takes them, are judged otherwise.

    Only whole builds mean the same in both ways of asking: None for others.
    """
    words = asked.words
    if any(name in PACKAGES and not _is_build(base.facts, name, text) for name, text in words.items()):
        return None
    explained = ask(base, Asked({}, asked.device), tuple(f"{name}=={text}" for name, text in words.items()))
    if explained is None or explained.request.devices != answer.request.devices:
        return None
    if explained.verdict == answer.verdict:
        return []
    return [f"explain says {explained.verdict}, resolve says {answer.verdict}: {asked}"]


def _is_build(facts: Snapshot, product: str, text: str) -> bool:
    """Return whether a version word means one build in both ways: 1.10 is also the series of 1.10.1."""
    elements = facts.elements(product)
    is_series = any(element.release.startswith(f"{text}.") for element in elements)
    return not is_series and [e.version for e in elements if text in (e.release, e.version)] == [text]


def pins_of(stack: Stack) -> tuple[str, ...]:
    """Return everything that a stack holds, as exact pins."""
    return tuple(f"{element.product}=={element.version}" for element in stack.packages)


def repinned(base: KnowledgeBase, answer: Answer) -> tuple[str, str]:
    """Return the verdict on the first stack of an answer, and that on the same stack pinned in full."""
    stack = answer.stacks[0]
    words = {"os": stack.os[0], "arch": stack.arch[0], "python": stack.python[0]}
    kept = {pin.product: pin.patch or pin.text for pin in answer.request.pins if pin.product == "hardware" or pin.patch}
    request = base.request({**words, **kept}, pins_of(stack), device=stack.device)
    return stack.verdict, resolve(base.facts, request, near=False).verdict


def look(base: KnowledgeBase, seed: int, count: int) -> tuple[list[str], Counter[str], Counter[str]]:
    """Return what does not hold over so many random requests, how many of each verdict there were, and what was compared."""
    requests, chance = Requests(base.facts, seed), random.Random(seed + 1)
    wrong: list[str] = []
    verdicts: Counter[str] = Counter()
    compared: Counter[str] = Counter()
    while verdicts.total() < count:
        asked = requests.request()
        answer = ask(base, asked)
        if answer is None:
            continue
        verdicts[answer.verdict] += 1
        wrong += [f"{flaw}: {asked}" for flaw in silent(base, answer)]
        found = {"with a pin less": stronger(base, asked, answer, chance), "as explain": disagreeing(base, asked, answer)}
        for way, flaws in found.items():
            compared[way] += flaws is not None
            wrong += flaws or []
    return wrong, verdicts, compared
