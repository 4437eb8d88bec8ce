"""How long all generated regions of this project take to work out, and the review of a long README."""

import os
import tempfile
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
    with tempfile.TemporaryDirectory(prefix="compatkb-bench-") as folder:
        page, small = Path(folder, "README.md"), Path(folder, "small.md")
        text = (ROOT / "docs" / "images.md").read_text(encoding="utf-8")
        page.write_text("\n".join((text + text).splitlines()[:500]) + "\n", encoding="utf-8")
        small.write_text("# Nothing\n", encoding="utf-8")
        reviewed = round_robin({path.name: [compatkb, "check", path] for path in (page, small)}, 3)
    return {
        "check of 500 lines of Markdown, beyond start-up": Figure(reviewed[page.name] - reviewed[small.name], "s", 1.0),
        "docs check of this project": Figure(taken["check"], "s", 2.0),
        "docs check of this project, in starts": ratio(taken["check"] / taken["bare"], "python"),
    }
