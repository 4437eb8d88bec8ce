"""Start-up: an installed compatkb from the shell, as multiples of a bare interpreter; and its peak memory."""

import os
import statistics
import subprocess
from pathlib import Path

from common import Figure, Run, environment, ratio, round_robin

QUESTION = ("resolve", "--torch", "2.4", "--device", "xpu")
FITTING = "torch==2.8.0"
APART = "torch==2.5.0 intel-extension-for-pytorch==2.4.0"
"""Versions that are fine, and versions that go apart, for which `check` also looks for what is near."""
FILES = {
    "requirements.txt": lambda pins: pins.replace(" ", "\n") + "\n",
    "Dockerfile": lambda pins: f"FROM python:3.11\nRUN pip install {pins}\n",
    "README.md": lambda pins: f"# Read me\n\nInstall it:\n\n```sh\npip install {pins}\n```\n",
}
"""Small files of three kinds, from the versions that they install."""
FLOORS = ("python -c pass", "the same in between", "the same once more")
"""All is compared with it, so it is measured more often than the rest."""
AIMS = {
    "--version": 4.0,
    "--help": 4.0,
    "resolve": 8.0,
    "resolve --format json": 8.0,
    **{f"check {name}{more}": 15.0 for name in FILES for more in ("", ", one error")},
}


def measure(run: Run) -> dict[str, Figure]:
    """Return processor time as multiples of `python -c pass`, and megabytes."""
    python, compatkb = run.commands / "python", run.commands / "compatkb"
    os.chdir(run.folder)  # where no project is configured
    commands = {
        FLOORS[0]: [python, "-c", "pass"],
        "--version": [compatkb, "--version"],
        "--help": [compatkb, "--help"],
        FLOORS[1]: [python, "-c", "pass"],
        "resolve": [compatkb, *QUESTION],
        "resolve --format json": [compatkb, *QUESTION, "--format", "json"],
        "resolve, with an answer": [compatkb, "resolve", "--torch", "2.8", "--device", "xpu"],
        FLOORS[2]: [python, "-c", "pass"],
        **checks(run.folder, compatkb),
        "pip --version": [python, "-m", "pip", "--version"],
    }
    taken = round_robin(commands, run.rounds)
    floor = statistics.median(taken.pop(name) for name in FLOORS)
    figures = {"cold: resolve, of pip --version": ratio(taken["resolve"] / taken["pip --version"], "pip --version", 0.5, 1.3)}
    figures |= {f"cold: {name}": ratio(seconds / floor, "python", AIMS.get(name), 1.3) for name, seconds in taken.items()}
    code = (  # VmHWM, since ru_maxrss counts what the parent held before the exec
        "import sys\nfrom compatkb.cli import main\n"
        f"try: main({list(QUESTION)!r})\nexcept SystemExit: pass\n"
        "print(next(l for l in open('/proc/self/status') if l.startswith('VmHWM')).split()[1], file=sys.stderr)"
    )
    done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True, env=environment())
    return {**figures, "cold: peak memory": Figure(float(done.stderr.split()[-1]) / 1024, "MB", 60.0)}


def checks(folder: Path, compatkb: Path) -> dict[str, list[str | Path]]:
    """Write small files, and return the command that checks each."""
    commands: dict[str, list[str | Path]] = {}
    for more, pins in (("", FITTING), (", one error", APART)):
        place = folder / f"check{len(commands)}"
        place.mkdir()
        for name, text in FILES.items():
            (place / name).write_text(text(pins), encoding="utf-8")
            commands[f"check {name}{more}"] = [compatkb, "check", place / name]
    return commands
