"""The tools that cells run: where uv is, and which versions tools have."""

import re
import shutil
import sys
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from compatkb.validate.limits import isolated, run_limited


@cache
def find_uv() -> str | None:
    """Return the uv beside this interpreter, or on the path."""
    beside = Path(sys.executable).parent / "uv"
    return str(beside) if beside.is_file() else shutil.which("uv")


@cache
def version_of(tool: str) -> str:
    """Return the version that uv or an interpreter gives of itself, `unknown` where it gives none."""
    with TemporaryDirectory() as name:
        return printed_version(run_limited([tool, "--version"], Path(name), isolated(Path(name)), 30, 100).output)


def printed_version(output: str) -> str:
    """Return the first version in what a tool printed, `unknown` where there is none."""
    match = re.search(r"(?<!\d)\d++(?:\.\w+)+", output)
    return match[0] if match else "unknown"
