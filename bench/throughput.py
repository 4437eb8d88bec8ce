"""Measure validation: a matrix of cells over a recorded index against pip run naively, and Dask against the built-in pool.

Where the record lacks something, a first pass that is not timed fills it from the real index (megabytes) and makes an
environment with pip for each Python. What is timed asks nothing outside. `--naive N` asks the real index about N of the
cells as a person would, which downloads gigabytes of wheels, so it has to be asked for; `--out FILE` keeps the figures.
"""

import argparse
import os
import platform
import re
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from shutil import rmtree
from tempfile import TemporaryDirectory

from compatkb.api import KnowledgeBase
from compatkb.schema import Level, Observation, Outcome
from compatkb.store.cache import cache_directory
from compatkb.validate import pip, recorded_index
from compatkb.validate.cell import RunContext, ValidationCell
from compatkb.validate.evidence import Journal, text_of
from compatkb.validate.levels import check
from compatkb.validate.limits import isolated, run_limited
from compatkb.validate.plan import PlanScope
from compatkb.validate.runner import Dask, Executor, Threads, run
from compatkb.validate.session import ValidationOptions, choose, run_context
from compatkb.validate.targets import this_platform

ROOT = Path(__file__).resolve().parent.parent
PATIENCE = 1800.0  # seconds for one naive resolution


def main() -> None:
    """Run all measurements, and print them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cells", type=int, default=48)
    parser.add_argument("--work", type=Path, default=Path(cache_directory()) / "validate", help="folder for record and tools")
    parser.add_argument("--naive", type=int, default=0, metavar="N", help="ask the real index about N cells: gigabytes")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the figures to this page")
    arguments = parser.parse_args()
    facts = KnowledgeBase(ROOT / "data").facts
    today = datetime.now(UTC).date()
    shop = run_context(facts, ROOT / "data", arguments.work / "bench", arguments.work, today)
    cells = spread(_cells(shop), arguments.cells)
    closed = replace(shop, record=arguments.work / "record" / f"{today}")
    used = _processor()
    pool = _timed(Threads(2), cells, closed)
    if unchecked(pool[1]):
        print(f"{len(cells)} cells, first pass: filling the record", file=sys.stderr)
        first = _timed(Threads(2), cells, shop)[1]
        recorded_index.save()
        if missing := unchecked(first):
            sys.exit(f"not measured: {len(missing)} of {len(cells)} cells cannot be asked: {missing[0].detail}")
        recorded_index._servers.clear()  # what the record was when it was opened
        used = _processor()
        pool = _timed(Threads(2), cells, closed)
    used = _processor() - used
    dask = _dasked(cells, closed)
    same = text_of(pool[1]) == text_of(dask[1])
    outcomes = ", ".join(f"{count} {kind}" for kind, count in sorted(Counter(str(seen.outcome) for seen in pool[1]).items()))
    figures = [
        ("cells", f"{len(cells)} ({outcomes}) on {len({cell.python for cell in cells})} Pythons"),
        ("over the record, 2 jobs", f"{pool[0]:.1f} s; {used / len(cells):.1f} s of processor time a cell"),
        (
            "the same by Dask, 2 workers",
            f"{dask[0]:.1f} s, {dask[0] / pool[0]:.2f} times as long, {dask[2]:.1f} s in all",
        ),
        ("the same bytes from both", "yes" if same else "NO"),
    ]
    if arguments.naive:
        figures += naive(spread(cells, arguments.naive), pool, len(cells), shop)
    rmtree(shop.folder, ignore_errors=True)
    width = max(len(name) for name, _ in figures)
    print("\n".join(f"{name:<{width}}  {value}" for name, value in figures))
    if arguments.out:
        arguments.out.write_text(page(figures, today, arguments.naive), encoding="utf-8")
    sys.exit(0 if same else 1)


def _cells(shop: RunContext) -> list[ValidationCell]:
    """Return all that the data claim for the Pythons whose pip can resolve without installing, as questions to pip."""
    facts = KnowledgeBase(ROOT / "data").facts
    pythons = tuple(name for name in facts.grid["python"] if name in shop.interpreters and _can_report(name, shop))
    wanted = PlanScope(shop.today, pythons=pythons, platform=this_platform())
    return choose(facts, ValidationOptions(wanted, (Level.RESOLVE,), ("pip",), again=True), [])


def _can_report(python: str, shop: RunContext) -> bool:
    made = pip._tool(shop.interpreters[python], python, shop)
    with TemporaryDirectory() as folder:
        words = [made[0], "-m", "pip", "--isolated", "install", "--help"]
        return (
            not isinstance(made, str)
            and "--report" in run_limited(words, Path(folder), isolated(Path(folder)), 60, 100).output
        )


def spread(cells: Sequence[ValidationCell], count: int) -> list[ValidationCell]:
    """Return so many cells, evenly spread over all."""
    return [cells[(2 * n + 1) * len(cells) // (2 * count)] for n in range(count)] if count < len(cells) else list(cells)


def _processor() -> float:
    """Return the seconds of processor time that ended children of this process took."""
    taken = getrusage(RUSAGE_CHILDREN)
    return taken.ru_utime + taken.ru_stime


def unchecked(seen: Sequence[Observation]) -> list[Observation]:
    """Return what could not be asked."""
    return [observation for observation in seen if observation.outcome is Outcome.NOT_CHECKED]


def _timed(executor: Executor, cells: Sequence[ValidationCell], shop: RunContext) -> tuple[float, list[Observation]]:
    """Return seconds and what the cells saw."""
    shop.folder.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=shop.folder) as folder, Journal(Path(folder) / "journal.jsonl") as journal:
        start = time.perf_counter()
        seen = run(cells, check, shop, executor, journal)
        return time.perf_counter() - start, seen


def _dasked(cells: Sequence[ValidationCell], shop: RunContext) -> tuple[float, list[Observation], float]:
    """Return seconds, what the cells saw, and seconds with the start and end of the cluster."""
    from distributed import LocalCluster

    begun = time.perf_counter()
    with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        seconds, seen = _timed(Dask(cluster.scheduler_address), cells, shop)
    return seconds, seen, time.perf_counter() - begun


def naive(
    sample: Sequence[ValidationCell], pool: tuple[float, list[Observation]], count: int, shop: RunContext
) -> list[tuple[str, str]]:
    """Return what a plain pip costs on a sample of the cells, and how it compares with the matrix over the record."""
    known = {seen.question: seen for seen in pool[1]}
    taken, megabytes, same, used = [], 0.0, 0, _processor()
    for number, cell in enumerate(sample, 1):
        made = pip._tool(shop.interpreters[cell.python], cell.python, shop)
        assert not isinstance(made, str), made
        pins = [f"{name}=={version}" for name, version in cell.packages]
        with TemporaryDirectory(dir=shop.folder) as name:
            folder = Path(name)
            words = [made[0], "-m", "pip", "--isolated", "--disable-pip-version-check", "--no-input"]
            words += [
                "install",
                "--progress-bar",
                "off",
                "--dry-run",
                "--ignore-installed",
                "--only-binary=:all:",
                "--no-cache-dir",
            ]
            words += ["--report", str(folder / "report.json"), *pins]
            start = time.perf_counter()
            ended = run_limited(words, folder, isolated(folder), PATIENCE, 20_000)
            taken.append(time.perf_counter() - start)
            found = pip._reported(folder / "report.json") if ended.ok else None
        units = {"kB": 1e-3, "MB": 1.0, "GB": 1e3}
        sizes = re.findall(r"Downloading \S+\.whl(?:\.metadata)? \(([\d.]+) ([kMG]B)\)", ended.output)
        megabytes += sum(float(size) * units[unit] for size, unit in sizes)
        if not ended.ok:
            print(ended.output[-500:], file=sys.stderr)
        same += found is not None and pip._digest(found[0]) == known[cell.question].digest
        print(f"naive {number} of {len(sample)}: {' '.join(pins)}: {ended.how}, {taken[-1]:.1f} s", file=sys.stderr)
    mean, used = sum(taken) / len(taken), (_processor() - used) / len(taken)
    return [
        ("pip run naively", f"{len(sample)} cells, {mean:.1f} s each ({min(taken):.1f} to {max(taken):.1f}), the real index"),
        ("processor time for each", f"{used:.1f} s"),
        ("downloaded for them", f"{megabytes / 1000:.1f} GB"),
        ("the same pins", f"{same} of {len(sample)}"),
        ("all cells at that rate", f"{mean * count / 60:.1f} min"),
        ("the matrix over the record", f"{mean * count / pool[0]:.0f} times as fast (aim: 20)"),
    ]


def page(figures: Sequence[tuple[str, str]], today: object, sampled: int) -> str:
    """Return the figures as a page."""
    asked = f"make bench-naive` ({sampled} cells asked naively" if sampled else "make bench` (nothing asked naively"
    return "\n".join(
        [
            "# How fast claims are validated",
            "",
            f"Measured on {today} by `{asked}), on {platform.system()} {platform.machine()}",
            f"with {os.cpu_count()} processors that had other work too (load {os.getloadavg()[0]:.0f} at the end). What is",
            "asked of the record goes nowhere else; it was filled before.",
            "",
            "| what | figure |",
            "|---|---|",
            *(f"| {name} | {value} |" for name, value in figures),
            "",
        ]
    )


if __name__ == "__main__":
    main()
