"""How long all generated regions of this project take to work out."""

import os
from pathlib import Path

from common import ROOT, Figure, Run, ratio, round_robin


def measure(run: Run) -> dict[str, Figure]:
    """Return processor time in seconds and as a multiple of a bare interpreter."""
    python, compatkb = run.commands / "python", run.commands / "compatkb"
    before = Path.cwd()
    os.chdir(ROOT)
    try:
        taken = round_robin({"check": [compatkb, "docs", "check"], "bare": [python, "-c", "pass"]}, 3)
    finally:
        os.chdir(before)
    return {
        "docs check of this project": Figure(taken["check"], "s", 2.0),
        "docs check of this project, in starts": ratio(taken["check"] / taken["bare"], "python"),
    }
