"""Measure what users feel, as ratios within one run: machines are noisy, so no time stands alone.

Each subject is a module beside this one with a function `measure(run)` that returns figures; SUBJECTS lists them. Prints
a table; `--json FILE` keeps the figures, `--check FILE` compares them with kept ones and fails on a clear regression, and
where a ratio has no kept one. Aims are printed beside the figures; what misses one does not fail.
"""

import argparse
import json
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path

from common import Figure, Run

SUBJECTS = ("cold", "documents", "live", "page", "warm")
BASELINE = Path(__file__).parent / "baseline.json"


def main() -> int:
    """Run the subjects; 1 where a figure is clearly worse than the kept one."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("subjects", nargs="*", metavar="SUBJECT", help=f"all unless given: {', '.join(SUBJECTS)}")
    parser.add_argument("--rounds", type=int, default=15, help="counted rounds of each command")
    parser.add_argument("--requests", type=int, default=10_000, help="how many questions the warm engine is asked")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures to this file")
    parser.add_argument("--check", type=Path, nargs="?", const=BASELINE, metavar="FILE", help="compare with these figures")
    arguments = parser.parse_args()
    figures: dict[str, Figure] = {}
    with tempfile.TemporaryDirectory(prefix="compatkb-bench-") as folder:
        run = Run(Path(folder), arguments.rounds, arguments.requests)
        for subject in arguments.subjects or SUBJECTS:
            print(f"measuring: {subject}", file=sys.stderr)
            figures |= apart(subject, run)
    kept = json.loads(arguments.check.read_text(encoding="utf-8")) if arguments.check else {}
    print(table(figures, kept))
    if arguments.json:
        text = json.dumps({name: figure._asdict() for name, figure in figures.items()}, indent=2)
        arguments.json.parent.mkdir(parents=True, exist_ok=True)
        arguments.json.write_text(text + "\n", encoding="utf-8")
    worse = regressions(figures, kept) + uncompared(figures, kept)
    for line in worse:
        print(f"regression: {line}", file=sys.stderr)
    return 1 if worse else 0


def apart(subject: str, run: Run) -> dict[str, Figure]:
    """Return the figures of a subject, measured in a process of its own: no other one has filled its memory."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        return process.submit(measured, subject, run).result()


def measured(subject: str, run: Run) -> dict[str, Figure]:
    """Return the figures of a subject."""
    figures: dict[str, Figure] = import_module(subject).measure(run)
    return figures


def table(figures: dict[str, Figure], kept: dict[str, dict[str, float]]) -> str:
    """Return the figures as lines: value and unit, the aim, and the kept value where there is one."""
    width = max(len(name) for name in figures)
    lines = []
    for name, figure in figures.items():
        aim = f"   aim: at most {figure.aim:g}" if figure.aim is not None else ""
        before = f"   kept: {kept[name]['value']:g}" if name in kept else ""
        lines.append(f"{name:<{width}}  {figure.value:10.2f} {figure.unit:<10}{aim}{before}")
    return "\n".join(lines)


def regressions(figures: dict[str, Figure], kept: dict[str, dict[str, float]]) -> list[str]:
    """Return which ratios are worse than the kept ones by more than a figure's own noise; times are never compared."""
    found = []
    for name, figure in figures.items():
        before = kept.get(name)
        if before and figure.is_ratio and figure.value > before["value"] * figure.noise:
            more = figure.value / before["value"]
            found.append(
                f"{name}: {figure.value:.2f} {figure.unit}, {more:.1f} times the {before['value']:.2f} that were kept"
            )
    return found


def uncompared(figures: dict[str, Figure], kept: dict[str, dict[str, float]]) -> list[str]:
    """Return which ratios have no kept value to be compared with, where any is kept: a name that changed is no pass."""
    new = [name for name, figure in figures.items() if figure.is_ratio and name not in kept]
    return [f"{name}: nothing is kept to compare it with; keep the figures of this run" for name in new] if kept else []


if __name__ == "__main__":
    raise SystemExit(main())
