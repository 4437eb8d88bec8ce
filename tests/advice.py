"""What a labelled text expects of an answer, what of it is missing, and whether the answer cures what the thread was about."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from compatkb.doctor.diagnose import Diagnosis
from compatkb.doctor.version_extraction import WISHED
from compatkb.engine.stacks import Stack
from compatkb.output.screen import text_of

Case = Mapping[str, Any]
_HIT = re.compile(r"\s*\d+ │")


def proposed(made: Diagnosis) -> list[tuple[Stack, tuple[str, ...]]]:
    """Return the stacks of an answer, each with the pins that it gives up; a way out of what ended names its Python."""
    found = [(near.stack, near.relaxed) for near in made.nearest]
    return [*found, *([(made.instead.stack, ("python",))] if made.instead else [])]


def family(system: str) -> str:
    """Return the kind of an operating system: windows, macos, else linux."""
    return next((name for name in ("windows", "macos") if system.startswith(name)), "linux")


def misread(case: Case, made: Diagnosis) -> Iterator[str]:
    """Yield what an answer reads otherwise than the case expects."""
    expect = case["expect"]
    read: dict[str, set[str]] = {}
    for each in made.versions:
        read.setdefault(each.product, set()).add(each.version)
    for product, version in expect.get("versions", {}).items():
        if version not in read.get(product, ()):
            yield f"{product} {version} was not read, but {read.get(product)}"
    installed = {each.product for each in made.versions if each.how != WISHED}
    for product in expect.get("not-installed", ()):
        if product in installed:
            yield f"{product} {read[product]} is said to be installed"


def graded(case: Case, lines: "list[Any]", answer: Mapping[str, Any]) -> str:
    """Return whether an answer cures what the thread was about: solved, partly, wrong, silent, or other.

    `wrong` says what the thread refutes; of a thread without a cure that alone is judged, and everything else is `open`.
    """
    expect, rows = case["expect"], list[str]()
    for line in text_of(lines).splitlines():
        if _HIT.match(line):
            continue  # the text itself
        rows = [*rows[:-1], f"{rows[-1]} {line.strip()}"] if line.startswith("      ") and rows else [*rows, line.strip()]
    said = [*answer["commands"], *answer["fixes"]]
    if any(_has(pattern, row) for pattern in expect.get("must-not", ()) for row in rows):
        return "wrong"
    if not expect.get("resolved", True):
        return "open"
    if any(_has(pattern, row) for pattern in expect["fix-accept"] for row in said):
        return "solved"
    if any(_has(pattern, row) for pattern in expect.get("fix-partly", ()) for row in said):
        return "partly"
    return "silent" if answer["certainty"] == "unknown" else "other"


def _has(pattern: str, text: str) -> bool:
    return re.search(pattern, text, re.IGNORECASE) is not None
