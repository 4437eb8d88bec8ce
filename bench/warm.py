"""The engine in one process: many different requests as people make them, causes and nearest stacks included."""

import random
import resource
import statistics
import sys
import time
from collections.abc import Iterator
from datetime import date
from typing import NamedTuple

from common import ROOT, Figure, Run, floor_of, loop, ratio, share

sys.path.insert(0, str(ROOT / "src"))

from compatkb.api import KnowledgeBase
from compatkb.engine.answer import Answer
from compatkb.errors import UsageError
from compatkb.store.reader import Snapshot

PRODUCTS = ("torch", "ipex", "torchvision", "torchaudio", "oneccl-bind-pt", "neural-compressor")
SYSTEMS = ("linux", "windows", "ubuntu22.04", "ubuntu24.04", "wsl2")
DAYS = (*[date(2026, 11, 21)] * 8, date(2024, 8, 26), date(2025, 6, 1))
WARM_UP = 500
STACKS = 400  # requests, of which those with a stack are pinned again


class Question(NamedTuple):
    """What somebody types: versions by product, and perhaps a device; asked on a day."""

    versions: tuple[tuple[str, str], ...]
    device: str | None
    day: date


def questions(facts: Snapshot, seed: int) -> Iterator[Question]:
    """Yield different questions, the same ones for a seed: one product or two, often a Python, a system, some hardware.

    Some name versions that do not go with the device; whoever asks is told so.
    """
    drawn = random.Random(seed)
    elements = {product: facts.elements(product) for product in PRODUCTS}

    def version(product: str) -> str:
        element, form = drawn.choice(elements[product]), drawn.random()
        series = ".".join(element.release.split(".")[:2])
        return series if form < 0.5 else element.release if form < 0.85 else element.version

    seen: set[object] = set()
    while True:
        main = drawn.choice([*["torch"] * 6, *["ipex"] * 3, "oneccl-bind-pt", "neural-compressor"])
        versions = [(main, version(main))]
        if drawn.random() < 0.3:
            other = drawn.choice([product for product in PRODUCTS if product != main])
            versions.append((other, version(other)))
        if drawn.random() < 0.4:
            versions.append(("python", drawn.choice(facts.grid["python"])))
        if drawn.random() < 0.35:
            versions.append(("os", drawn.choice(SYSTEMS)))
        if drawn.random() < 0.15:
            versions.append(("hardware", drawn.choice(facts.elements("hardware")).version))
        device = drawn.choice(["xpu", "xpu", "cpu", None])
        key = (*versions, device)
        if key not in seen:
            seen.add(key)
            yield Question(tuple(versions), device, drawn.choice(DAYS))


def answers(known: KnowledgeBase, count: int, seed: int) -> Iterator[tuple[Answer, float]]:
    """Yield answers, each with the processor seconds from the words of a question to it."""
    for question in questions(known.facts, seed):
        versions = dict(question.versions)
        start = time.process_time()
        try:
            answer = known.resolve(versions, device=question.device, as_of=question.day)
        except UsageError:
            continue
        yield answer, time.process_time() - start
        count -= 1
        if not count:
            return


def pinned_again(known: KnowledgeBase, count: int, seed: int) -> Iterator[float]:
    """Yield the processor seconds of stacks that were printed and are pinned in full, with what they bring along."""
    for answer, _ in answers(known, count, seed):
        for stack in answer.stacks[:1]:
            words = [f"{element.product}=={element.version}" for element in stack.packages]
            platform = {"os": stack.os[0], "python": stack.python[0], "arch": stack.arch[0]}
            start = time.process_time()
            known.resolve(platform, words, device=stack.device, as_of=date.fromordinal(answer.request.as_of))
            yield time.process_time() - start


def measure(run: Run) -> dict[str, Figure]:
    """Return processor time per question, in milliseconds and as multiples of a fixed loop in the same process."""
    known = KnowledgeBase(ROOT / "data")
    for _ in answers(known, WARM_UP, 1):
        pass
    taken: list[float] = []
    negative: list[float] = []
    floors = []
    for number, (answer, seconds) in enumerate(answers(known, run.requests, 2)):
        if number % 20 == 0:
            floors.append(loop())
        taken.append(seconds)
        if answer.verdict in ("does-not-work", "unknown"):
            negative.append(seconds)
    again = list(pinned_again(known, STACKS, 3))
    floor = floor_of(floors)
    median, late = statistics.median(taken), share(taken, 0.99)
    return {
        "warm: median": Figure(median * 1000, "ms", 2.0),
        "warm: 99th percentile": Figure(late * 1000, "ms", 50.0),
        "warm: median, causes and nearest": Figure(statistics.median(negative) * 1000, "ms"),
        "warm: median, in loops": ratio(median / floor, "loop"),
        "warm: 99th percentile, in loops": ratio(late / floor, "loop", noise=2.0),
        "warm: a stack pinned again, 99th percentile": Figure(share(again, 0.99) * 1000, "ms", 200.0),
        "warm: a stack pinned again, 99th percentile, in loops": ratio(share(again, 0.99) / floor, "loop", noise=2.0),
        "warm: the loop": Figure(floor * 1000, "ms"),
        "warm: share of negative answers": Figure(100 * len(negative) / len(taken), "%"),
        "warm: peak memory": Figure(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, "MB"),
    }
