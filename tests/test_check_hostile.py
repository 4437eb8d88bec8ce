"""Ten megabytes of hostile Markdown: the reviewer ends within ten seconds and 500 MB, and says what it did not read."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT, clock, parted

from compatkb.check import check
from compatkb.check.config import Settings
from compatkb.check.document import CheckContext, TextDocument
from compatkb.core.findings import Severity
from compatkb.store.reader import Snapshot

SIZE = 10_000_000
ROW = "| `2.4.0-pip-base` | [v2.4.0] | [v2.4.0+cpu] | x |\n"
HOSTILE = {
    "nested-lists": lambda: "".join(" " * (n % 200) + "- a\n" for n in range(SIZE // 104)),
    "cells": lambda: "| Tag | PyTorch |\n|-|-|\n" + ("|a" * 1000 + "|\n") * (SIZE // 2001),
    "rows": lambda: "| Tag(s) | PyTorch | IPEX | D |\n|---|---|---|---|\n" + ROW * (SIZE // len(ROW)),
    "brackets": lambda: ("[" * 2000 + "\n") * (SIZE // 2001),
    "versions": lambda: "PyTorch 2.4.0 with IPEX 2.3.0.\n\n" * (SIZE // 32),
}
CODE = """
import json, sys, time
from datetime import date
from compatkb.core.clock import Clock
from compatkb.core.findings import Severity
from compatkb.check import check
from compatkb.check.config import Settings
from compatkb.check.document import CheckContext, TextDocument
from compatkb.store.reader import Snapshot
from compatkb.store.cache import locate

text = open(sys.argv[1], encoding="utf-8").read()
facts = Snapshot(locate(sys.argv[2]))
start = time.process_time()
settings = Settings(levels={"unread": Severity.INFO})
report = check([TextDocument("a.md", text)], CheckContext(facts, Clock(date(2026, 11, 21))), settings)
taken = time.process_time() - start
status = open("/proc/self/status", encoding="utf-8").read()  # ru_maxrss counts what the parent held
memory = int(status.partition("VmHWM:")[2].split()[0]) // 1024
print(json.dumps({"seconds": taken, "megabytes": memory, "rules": sorted({f.rule for f in report.findings})}))
"""


SLOW = {
    "a.md": "<!-- compatkb: ignore[" * 20_000,
    "a.sh": "# compatkb: ignore[x] " * 20_000,
    "uv.lock": "".join(f"k{n}." + ".".join(["a"] * 200) + " = 1\n" for n in range(5000)),
    "Dockerfile": "FROM python:3.11 AS s0\n"
    + "".join(f"FROM s{n} AS s{n + 1}\nRUN pip install torch==2.10.0\n" for n in range(3000)),
}
"""Files whose readers were slower than their size: each is bounded, and where not all is judged, that is told."""


@pytest.mark.long
@pytest.mark.parametrize("name", parted(SLOW, ["a.md", "Dockerfile"], pytest.mark.soak))
def test_slow_shapes_are_bounded(name: str, facts: Snapshot) -> None:
    """Files of these shapes are judged to their end or in part, and what is left out is a finding."""
    report = check([TextDocument(name, SLOW[name])], CheckContext(facts, clock()), Settings(levels={"unread": Severity.INFO}))
    rules = {finding.rule for finding in report.findings}
    assert rules <= {"unreadable", "unread", "ignore"}
    assert bool(rules & {"unreadable", "unread"}) == (name in ("uv.lock", "Dockerfile"))


@pytest.mark.long
@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.soak) if name == "rows" else name for name in HOSTILE])
def test_hostile_document_is_bounded(name: str, tmp_path: Path, facts: object) -> None:
    """No shape of Markdown takes the reviewer more than ten seconds or 500 MB; what was not read is told."""
    path = tmp_path / "a.md"
    path.write_text(HOSTILE[name](), encoding="utf-8")
    command = [sys.executable, "-c", CODE, str(path), str(ROOT / "data")]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    figures = json.loads(done.stdout)
    assert figures["seconds"] < 10
    assert figures["megabytes"] < 500
    assert "unread" in figures["rules"]
