"""Growth: made-up knowledge bases from 10 x 40 to 100 x 2,000, our engine beside resolvelib and a SAT solver.

`make bench-scale` runs it, one process per cell so that memory is its own, and writes bench/scale.json, the tables
of docs/performance.md and docs/performance.svg. `--render` writes the pages anew from the kept figures.
"""

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from common import ROOT
from made_up import MadeUp, make, store

from compatkb.engine.budget import Budget
from compatkb.engine.causes import causes_of
from compatkb.engine.problem import Problem
from compatkb.engine.search import Search
from compatkb.engine.view import kept_of
from compatkb.errors import GaveUpError
from compatkb.records import Pin, Request
from compatkb.snapshot.read import Snapshot

SIZES = ((10, 40), (20, 200), (50, 1000), (100, 2000))
KINDS = {"easy, sparse": (False, False), "easy, dense": (False, True), "adversarial, dense": (True, True)}
SOLVERS = ("compatkb", "resolvelib", "python-sat")
LIMIT = 10.0
KEPT = Path(__file__).parent / "scale.json"


def opened(path: object) -> Snapshot:
    """Return a snapshot of which nothing is read yet."""
    return Snapshot(str(path))


def ask(problem: MadeUp) -> Request:
    """Return the request for every product in any version."""
    return Request((), tuple(f"p{n}" for n in range(problem.products)), ("cpu",), 10**6)


def best(facts: Snapshot, request: Request) -> int:
    """Return how many stacks are found: the best one, on the one platform."""
    start = time.process_time()
    kept_of(facts).budget = Budget(expired=lambda: time.process_time() - start > LIMIT)
    return len(Search(Problem(facts, request, "cpu", facts.routes[0])).run())


def conflicts(facts: Snapshot, problem: MadeUp, count: int) -> Iterator[tuple[float, int]]:
    """Yield seconds, and the number of causes, of questions that have no answer; -1 where we gave up."""
    drawn = random.Random(3)
    whole = ask(problem)
    for _ in range(count):
        relation = drawn.choice(problem.relations)
        mask, admitted = drawn.choice(relation.rectangles)
        refused = [n for n in range(problem.releases) if not admitted >> n & 1]
        pins = (
            Pin(f"p{relation.to}", "", 1 << drawn.choice(refused)),
            Pin(f"p{relation.of}", "", 1 << mask.bit_length() - 1),
        )
        request = whole._replace(pins=pins, bare=tuple(name for name in whole.bare if name not in {p.product for p in pins}))
        start = time.process_time()
        kept_of(facts).budget = Budget(expired=lambda start=start: time.process_time() - start > LIMIT)
        try:
            found = len(causes_of(facts, request, "cpu", facts.routes[0]))
        except GaveUpError:
            found = -1
        yield time.process_time() - start, found


def main() -> int:
    """Run the cells that are asked for, or one cell inside its own process."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cell", nargs=4, metavar=("SOLVER", "KIND", "PRODUCTS", "RELEASES"))
    parser.add_argument("--largest", type=int, default=100, metavar="PRODUCTS", help="leave out larger ones")
    parser.add_argument("--render", action="store_true", help="only write the pages, from the kept figures")
    arguments = parser.parse_args()
    if arguments.cell:
        solver, kind, products, releases = arguments.cell
        print(json.dumps(cell(solver, kind, int(products), int(releases))))
        return 0
    if not arguments.render:
        rows = [row(s, k, p, r) for k in KINDS for p, r in SIZES if p <= arguments.largest for s in SOLVERS]
        KEPT.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    from scale_page import write

    write(json.loads(KEPT.read_text(encoding="utf-8")))
    return 0


def row(solver: str, kind: str, products: int, releases: int) -> dict[str, Any]:
    """Return the figures of one cell, from a process of its own."""
    print(f"{kind}, {products} x {releases}: {solver}", file=sys.stderr)
    command = [sys.executable, __file__, "--cell", solver, kind, str(products), str(releases)]
    head = {"solver": solver, "kind": kind, "products": products, "releases": releases}
    try:
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT * 30, env=environment, check=False)
        return {**head, **(json.loads(done.stdout) if done.returncode == 0 else {"failed": done.stderr[-300:]})}
    except subprocess.TimeoutExpired:
        return {**head, "failed": "no end in sight"}


def cell(solver: str, kind: str, products: int, releases: int) -> dict[str, Any]:
    """Return milliseconds and megabytes of one solver on one problem; None for what did not end in time."""
    adversarial, dense = KINDS[kind]
    problem = make(products, releases, adversarial=adversarial, dense=dense)
    rectangles = sum(len(relation.rectangles) for relation in problem.relations)
    if solver == "compatkb":
        with tempfile.TemporaryDirectory(prefix="compatkb-scale-") as folder:
            return {"rectangles": rectangles, **_ours(problem, Path(folder) / "made-up.sqlite")}
    from scale_peers import PEERS

    return {"rectangles": rectangles, **PEERS[solver](problem, LIMIT)}


def _ours(problem: MadeUp, path: Path) -> dict[str, Any]:
    store(problem, path)
    facts = opened(path)
    few = ask(problem)._replace(bare=("p1",))
    figures: dict[str, Any] = {"store MB": round(path.stat().st_size / 2**20, 1)}
    figures["two products"] = _milliseconds(lambda: best(facts, few))
    figures["two products MB"] = _megabytes()
    start = time.process_time()
    for n in range(problem.products):
        facts.elements(f"p{n}")
        facts.edges_from(f"p{n}")
    figures["load"] = round((time.process_time() - start) * 1000, 1)
    figures["first"] = _milliseconds(lambda: best(facts, ask(problem)))
    figures["best"] = _milliseconds(lambda: best(facts, ask(problem)))
    told = list(conflicts(facts, problem, 5))
    ended = sorted(seconds for seconds, causes in told if causes >= 0)
    figures["causes"] = round(ended[len(ended) // 2] * 1000, 1) if ended else None
    figures["causes, slowest"] = round(ended[-1] * 1000, 1) if len(ended) == len(told) else None
    figures["MB"] = _megabytes()
    return figures


def _milliseconds(call: Any) -> float | None:
    start = time.process_time()
    try:
        call()
    except GaveUpError:
        return None
    return round((time.process_time() - start) * 1000, 1)


def _megabytes() -> float:
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1)


if __name__ == "__main__":
    raise SystemExit(main())
