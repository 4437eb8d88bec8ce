"""Growth: made-up knowledge bases from 10 x 40 to 100 x 2,000, our engine beside resolvelib and a SAT solver.

`make bench-scale` runs it, one process per cell so that memory is its own, and writes bench/scale.json, the tables
of docs/performance.md and docs/performance.svg. `--render` writes the pages anew from the kept figures.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from common import ROOT
from compatkb.engine.causes import causes_of
from compatkb.engine.listing import every_stack
from compatkb.engine.view import kept_of
from made_up import MadeUp, make, store

from compatkb.engine.budget import Budget
from compatkb.engine.problem import Problem
from compatkb.engine.search import Search
from compatkb.errors import GaveUpError
from compatkb.store.reader import Snapshot
from compatkb.store.records import Pin, Request

SIZES = ((10, 40), (20, 200), (50, 1000), (100, 2000))
KINDS = {"easy, sparse": (False, False), "easy, dense": (False, True), "adversarial, dense": (True, True)}
SOLVERS = ("compatkb", "resolvelib", "python-sat")
LIMIT = 10.0
STACKS = 1_000
STORE = "made-up.sqlite"
KEPT = Path(__file__).parent / "scale.json"
FELT = Path(__file__).parent / "baseline.json"


def opened(path: object) -> Snapshot:
    """Return a snapshot of which nothing is read yet."""
    return Snapshot(str(path))


def ask(products: int) -> Request:
    """Return the request for every product in any version."""
    return Request((), tuple(f"p{n}" for n in range(products)), ("cpu",), 10**6)


def best(facts: Snapshot, request: Request) -> int:
    """Return how many stacks are found: the best one, on the one platform."""
    start = time.process_time()
    kept_of(facts).budget = Budget(expired=lambda: time.process_time() - start > LIMIT)
    return len(Search(Problem(facts, request, "cpu", facts.routes[0])).run())


def listed(facts: Snapshot, request: Request, most: int) -> int:
    """Return how many stacks are listed, up to a limit."""
    start = time.process_time()
    kept_of(facts).budget = Budget(expired=lambda: time.process_time() - start > LIMIT)
    return len(every_stack(Problem(facts, request, "cpu", facts.routes[0]), most, known_only=False))


def impossible(problem: MadeUp, count: int) -> list[list[tuple[str, int]]]:
    """Return pins, product and release, that no stack can have together."""
    drawn = random.Random(3)
    found = []
    for _ in range(count):
        relation = drawn.choice(problem.relations)
        mask, admitted = drawn.choice(relation.rectangles)
        refused = [n for n in range(problem.releases) if not admitted >> n & 1]
        found.append([(f"p{relation.to}", drawn.choice(refused)), (f"p{relation.of}", mask.bit_length() - 1)])
    return found


def conflicts(facts: Snapshot, whole: Request, questions: list[list[tuple[str, int]]]) -> Iterator[tuple[float, int]]:
    """Yield seconds, and the number of causes, of questions that have no answer; -1 where we gave up."""
    for question in questions:
        pins = tuple(Pin(product, "", 1 << release) for product, release in question)
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
    parser.add_argument("--ours", metavar="FOLDER", help=argparse.SUPPRESS)  # what only opens the store that a cell made
    parser.add_argument("--largest", type=int, default=100, metavar="PRODUCTS", help="leave out larger ones")
    parser.add_argument("--render", action="store_true", help="only write the pages, from the kept figures")
    arguments = parser.parse_args()
    if arguments.ours:
        print(json.dumps(ours(Path(arguments.ours))))
        return 0
    if arguments.cell:
        solver, kind, products, releases = arguments.cell
        print(json.dumps(cell(solver, kind, int(products), int(releases))))
        return 0
    if not arguments.render:
        rows = [row(s, k, p, r) for k in KINDS for p, r in SIZES if p <= arguments.largest for s in SOLVERS]
        KEPT.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    from scale_page import write

    rows, felt = (json.loads(path.read_text(encoding="utf-8")) for path in (KEPT, FELT))
    write(rows, felt)
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
            store(problem, Path(folder, STORE))
            asked = {"products": products, "impossible": impossible(problem, 5)}
            Path(folder, "asked.json").write_text(json.dumps(asked), encoding="utf-8")
            command = [sys.executable, __file__, "--ours", folder]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            return {"rectangles": rectangles, **json.loads(done.stdout)}
    from scale_peers import PEERS

    return {"rectangles": rectangles, **PEERS[solver](problem, LIMIT)}


def ours(folder: Path) -> dict[str, Any]:
    """Return the figures of our engine on a store, in a process that does nothing else."""
    asked = json.loads((folder / "asked.json").read_text(encoding="utf-8"))
    path, whole = folder / STORE, ask(asked["products"])
    figures: dict[str, Any] = {"store MB": round(path.stat().st_size / 2**20, 1)}
    start = time.process_time()
    facts = opened(path)
    best(facts, whole._replace(bare=("p1",)))
    figures["two products"] = round((time.process_time() - start) * 1000, 1)
    figures["first"] = _milliseconds(lambda: best(facts, whole))
    figures["best"] = min((_milliseconds(lambda: best(facts, whole)) for _ in range(3)), key=lambda ms: (ms is None, ms))
    figures["stacks"] = _milliseconds(lambda: listed(facts, whole, STACKS))
    told = list(conflicts(facts, whole, asked["impossible"]))
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
    """Return the peak memory of this process; what its parent held before it does not count, as it does in ru_maxrss."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return round(int(status.split("VmHWM:")[1].split()[0]) / 1024, 1)


if __name__ == "__main__":
    raise SystemExit(main())
