"""A small made-up knowledge base, so that a change that breaks growth is seen at once; bench/scale.py has the large ones."""

import statistics
import time

from common import Figure, Run, floor_of, loop, ratio
from made_up import MadeUp, make, store
from scale import ask, best, conflicts, opened

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
        figures[f"scale: causes in {products} x {releases}"] = ratio(_causes(problem, path) / floor, "loop", noise=2.0)
    return figures


def _fresh(problem: MadeUp, path: object) -> float:
    facts = opened(path)
    start = time.process_time()
    best(facts, ask(problem))
    return time.process_time() - start


def _again(problem: MadeUp, path: object) -> float:
    facts = opened(path)
    best(facts, ask(problem))
    taken = []
    for _ in range(5):
        start = time.process_time()
        best(facts, ask(problem))
        taken.append(time.process_time() - start)
    return statistics.median(taken)


def _causes(problem: MadeUp, path: object) -> float:
    return statistics.median(seconds for seconds, _ in conflicts(opened(path), problem, 3))
