"""Measure what users feel, as ratios within one run: these machines are noisy, so no figure stands alone.

Builds a wheel and installs it, compiled, in an environment of its own; then times commands round-robin against the
bare interpreter, queries in one process, and the memory of a resolve. Prints a table; `--json FILE` keeps the figures.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
QUESTION = ["resolve", "--torch", "2.4", "--device", "xpu"]
LIMITS = {
    "resolve": 8.0,
    "resolve --format json": 8.0,
    "warm query (ms)": 2.0,
    "peak memory (MB)": 60.0,
    "docs check of this project (s)": 2.0,
}


def main() -> None:
    """Run all measurements."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15, help="counted rounds of each command")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures to this file")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="compatkb-bench-") as folder:
        commands = _install(Path(folder))
        figures = {**_cold(commands, arguments.rounds), **_warm(), **_memory(commands), **_documents(commands)}
    width = max(len(name) for name in figures)
    for name, value in figures.items():
        limit = f"   aim: at most {LIMITS[name]:g}" if name in LIMITS else ""
        print(f"{name:<{width}}  {value:8.2f}{limit}")
    if arguments.json:
        arguments.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")


def _install(folder: Path) -> Path:
    print("building and installing a wheel", file=sys.stderr)
    pip = [sys.executable, "-m", "pip"]
    subprocess.run([*pip, "wheel", "--quiet", "--no-deps", "--wheel-dir", folder, ROOT], check=True, cwd=folder)
    venv.create(folder / "env", with_pip=True)
    commands = folder / "env" / "bin"
    (wheel,) = folder.glob("compatkb-*.whl")
    subprocess.run([commands / "python", "-m", "pip", "install", "--quiet", "--compile", wheel], check=True, cwd=folder)
    return commands


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def _cold(commands: Path, rounds: int) -> dict[str, float]:
    """Return medians as multiples of a bare interpreter start in the same rounds."""
    python = str(commands / "python")
    timed: dict[str, list[str]] = {
        "python -c pass": [python, "-c", "pass"],
        "--version": [str(commands / "compatkb"), "--version"],
        "--help": [str(commands / "compatkb"), "--help"],
        "resolve": [str(commands / "compatkb"), *QUESTION],
        "resolve --format json": [str(commands / "compatkb"), *QUESTION, "--format", "json"],
        "resolve --torch 2.4 --device cpu": [str(commands / "compatkb"), "resolve", "--torch", "2.4", "--device", "cpu"],
        "pip --version": [python, "-m", "pip", "--version"],
    }
    taken: dict[str, list[float]] = {name: [] for name in timed}
    for number in range(rounds + 2):
        print(f"\rround {number + 1} of {rounds + 2}", end="", file=sys.stderr)
        for name, command in timed.items():
            start = time.perf_counter()
            subprocess.run(command, stdout=subprocess.DEVNULL, cwd=commands, env=_environment(), check=False)
            if number >= 2:
                taken[name].append(time.perf_counter() - start)
    print(file=sys.stderr)
    floor = statistics.median(taken["python -c pass"])
    return {name: statistics.median(times) / floor for name, times in taken.items()}


def _warm() -> dict[str, float]:
    """Return the median and 99th percentile of queries in one process, over the hand-checked requests."""
    from compatkb.api import KnowledgeBase
    from compatkb.asking import make_request
    from compatkb.cli.options import HEADLINES
    from compatkb.cli.parser import parse
    from compatkb.engine.answer import resolve
    from compatkb.errors import UsageError

    facts = KnowledgeBase(ROOT / "data").facts
    requests = []
    for path in sorted((ROOT / "tests" / "cases" / "resolve").glob("*.toml")):
        case = tomllib.loads(path.read_text(encoding="utf-8"))
        words = parse(["resolve", *case["args"]])
        options = [(p, text) for _, _, p, _ in HEADLINES for text in getattr(words, f"pin_{p}") or ()]
        try:
            requests.append(make_request(facts, options, words.words, words.device or (), case["as-of"]))
        except UsageError:
            continue
    answered, refused = [], []
    for turn in range(3):
        for request in requests:
            start = time.perf_counter()
            answer = resolve(facts, request)
            taken = (time.perf_counter() - start) * 1000
            if turn:
                (answered if answer.verdict not in ("does-not-work", "unknown") else refused).append(taken)
    every = sorted(answered + refused)
    return {
        "warm query (ms)": statistics.median(every),
        "warm query, an answer (ms)": statistics.median(answered),
        "warm query, causes and nearest (ms)": statistics.median(refused),
        "warm query, 99th percentile (ms)": every[int(len(every) * 0.99)],
    }


def _memory(commands: Path) -> dict[str, float]:
    """Return the peak memory of a resolve."""
    code = (  # VmHWM, since ru_maxrss counts what the parent held before the exec
        "import sys\nfrom compatkb.cli import main\n"
        f"try: main({QUESTION!r})\nexcept SystemExit: pass\n"
        "print(next(l for l in open('/proc/self/status') if l.startswith('VmHWM')).split()[1], file=sys.stderr)"
    )
    done = subprocess.run(
        [commands / "python", "-c", code], capture_output=True, text=True, check=True, cwd=commands, env=_environment()
    )
    return {"peak memory (MB)": float(done.stderr.split()[-1]) / 1024}


def _documents(commands: Path) -> dict[str, float]:
    """Return how long all regions of the project take to write, in seconds and in starts of the bare interpreter."""
    taken: dict[str, list[float]] = {"check": [], "bare": []}
    timed = {"check": [commands / "compatkb", "docs", "check"], "bare": [commands / "python", "-c", "pass"]}
    for _ in range(5):
        for name, command in timed.items():
            start = time.perf_counter()
            subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=ROOT, check=False)
            taken[name].append(time.perf_counter() - start)
    seconds, bare = (statistics.median(times) for times in taken.values())
    return {"docs check of this project (s)": seconds, "docs check of this project": seconds / bare}


if __name__ == "__main__":
    main()
