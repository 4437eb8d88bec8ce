"""The engine in one process: many different requests as people make them, causes and nearest stacks included."""

import random
import resource
import statistics
import sys
import time
from datetime import date

from common import ROOT, Figure, Run, floor_of, loop, ratio, share

sys.path.insert(0, str(ROOT / "src"))

from compatkb.api import KnowledgeBase
from compatkb.asking import make_request
from compatkb.engine.answer import resolve
from compatkb.errors import UsageError
from compatkb.records import Request
from compatkb.snapshot.read import Snapshot

PRODUCTS = ("torch", "ipex", "torchvision", "torchaudio", "oneccl-bind-pt", "neural-compressor")
SYSTEMS = ("linux", "windows", "ubuntu22.04", "ubuntu24.04", "wsl2")
DAYS = (*[date(2026, 11, 21)] * 8, date(2024, 8, 26), date(2025, 6, 1))
WARM_UP = 500


def requests(facts: Snapshot, count: int, seed: int) -> list[Request]:
    """Return different requests, the same ones for a seed: one product or two, often a Python, a system, some hardware."""
    drawn = random.Random(seed)
    elements = {product: facts.elements(product) for product in PRODUCTS}

    def version(product: str) -> str:
        element, form = drawn.choice(elements[product]), drawn.random()
        series = ".".join(element.release.split(".")[:2])
        return series if form < 0.5 else element.release if form < 0.85 else element.version

    seen: set[object] = set()
    found: list[Request] = []
    while len(found) < count:
        main = drawn.choice([*["torch"] * 6, *["ipex"] * 3, "oneccl-bind-pt", "neural-compressor"])
        options = [(main, version(main))]
        if drawn.random() < 0.3:
            other = drawn.choice([product for product in PRODUCTS if product != main])
            options.append((other, version(other)))
        if drawn.random() < 0.4:
            options.append(("python", drawn.choice(facts.grid["python"])))
        if drawn.random() < 0.35:
            options.append(("os", drawn.choice(SYSTEMS)))
        if drawn.random() < 0.15:
            options.append(("hardware", drawn.choice(facts.elements("hardware")).version))
        devices = drawn.choice([("xpu",), ("xpu",), ("cpu",), ()])
        key = (*options, devices)
        if key in seen:
            continue
        seen.add(key)
        try:
            found.append(make_request(facts, options, (), devices, drawn.choice(DAYS)))
        except UsageError:
            continue
    return found


def measure(run: Run) -> dict[str, Figure]:
    """Return processor time per request, in milliseconds and as multiples of a fixed loop in the same process."""
    facts = KnowledgeBase(ROOT / "data").facts
    for request in requests(facts, WARM_UP, 1):
        resolve(facts, request)
    taken: list[float] = []
    negative: list[float] = []
    floors = []
    for number, request in enumerate(requests(facts, run.requests, 2)):
        if number % 20 == 0:
            floors.append(loop())
        start = time.process_time()
        answer = resolve(facts, request)
        seconds = time.process_time() - start
        taken.append(seconds)
        if answer.verdict in ("does-not-work", "unknown"):
            negative.append(seconds)
    floor = floor_of(floors)
    median, late = statistics.median(taken), share(taken, 0.99)
    return {
        "warm: median": Figure(median * 1000, "ms", 1.0),
        "warm: 99th percentile": Figure(late * 1000, "ms", 5.0),
        "warm: median, causes and nearest": Figure(statistics.median(negative) * 1000, "ms"),
        "warm: median, in loops": ratio(median / floor, "loop"),
        "warm: 99th percentile, in loops": ratio(late / floor, "loop", noise=2.0),
        "warm: the loop": Figure(floor * 1000, "ms"),
        "warm: share of negative answers": Figure(100 * len(negative) / len(taken), "%"),
        "warm: peak memory": Figure(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, "MB"),
    }
