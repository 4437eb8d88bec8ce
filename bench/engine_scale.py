"""A small made-up knowledge base, so that a change that breaks growth is seen at once; bench/scale.py has the large ones."""

import statistics
import time
from collections.abc import Callable

from common import Figure, Run, floor_of, loop, ratio, timed
from made_up import MadeUp, make, store
from scale import ask, best, conflicts, impossible, listed, opened

from compatkb.store.reader import Snapshot
from compatkb.store.records import Request

SIZES = ((10, 40), (20, 200))


def measure(run: Run) -> dict[str, Figure]:
    """Return the time of the best stack and of causes as multiples of a fixed loop."""
    figures = {}
    for products, releases in SIZES:
        problem = make(products, releases)
        path = run.folder / f"{products}x{releases}.sqlite"
        store(problem, path)
        floor = floor_of([loop() for _ in range(5)])
        first, again = _fresh(problem, path), _again(problem, path)
        figures[f"scale: best of {products} x {releases}, first"] = ratio(first / floor, "loop", noise=2.0)
        figures[f"scale: best of {products} x {releases}, again"] = ratio(again / floor, "loop", noise=2.0)
        stacks = _again(problem, path, _listed)
        figures[f"scale: 1,000 stacks of {products} x {releases}"] = ratio(stacks / floor, "loop", noise=2.0)
        figures[f"scale: causes in {products} x {releases}"] = ratio(_causes(problem, path) / floor, "loop", noise=2.0)
    return figures


def _fresh(problem: MadeUp, path: object) -> float:
    facts = opened(path)
    start = time.process_time()
    best(facts, ask(problem.products))
    return time.process_time() - start


def _again(problem: MadeUp, path: object, call: Callable[[Snapshot, Request], object] = best) -> float:
    facts = opened(path)
    call(facts, ask(problem.products))
    return statistics.median(timed(lambda: call(facts, ask(problem.products))) for _ in range(5))


def _listed(facts: Snapshot, request: Request) -> int:
    return listed(facts, request, 1_000)


def _causes(problem: MadeUp, path: object) -> float:
    asked = conflicts(opened(path), ask(problem.products), impossible(problem, 3))
    return statistics.median(seconds for seconds, _ in asked)
