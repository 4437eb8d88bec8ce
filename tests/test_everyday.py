"""`compatkb diagnose` of everyday lines: what pip, compilers, git, a healthy kernel and other programs print blames no GPU."""

import re
from pathlib import Path

import pytest
from conftest import clock

from compatkb.doctor.diagnose import Candidate, diagnose
from compatkb.store.reader import Snapshot

FILES = sorted((Path(__file__).parent / "cases" / "everyday").glob("*.txt"))
BLAMED = re.compile(
    r"\b(?:xpu|intel|level zero|compute runtime|oneapi|oneccl|sycl|driver|arc|ipex|bindings)\b|/dev/dri", re.IGNORECASE
)


def blaming(facts: Snapshot, text: str) -> list[Candidate]:
    """Return the causes of a text that speak of an XPU, of what is below it or of its driver; not of other makers."""
    found = diagnose(facts, text, clock()).candidates
    causes = {record["id"]: record["device"] for record in facts.guide_records("cause")}
    ours = [c for c in found if causes.get(c.id) not in ("cuda", "rocm") and c.kind != "code"]
    return [c for c in ours if BLAMED.search(f"{c.title} {' '.join(c.do)}")]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
@pytest.mark.parametrize("every", [4, pytest.param(1, marks=pytest.mark.long)])
def test_everyday_lines_blame_nothing_of_intel(path: Path, every: int, facts: Snapshot) -> None:
    """No such line blames an XPU or a driver, typed alone or in a text; all lines of a kind together prove none."""
    lines = path.read_text(encoding="utf-8").splitlines()
    assert len(lines) > 20
    for number, line in list(enumerate(lines))[::every]:
        text = line if number % 3 == 0 else f"{line}\nfinished\n"
        assert not blaming(facts, text), text
    assert not [cause for cause in blaming(facts, "\n".join(lines)) if cause.proven]


def test_a_sign_alone_needs_no_surroundings(facts: Snapshot) -> None:
    """What is a pattern as a whole names its cause, though in a text it needs words beside it; another text does not."""
    assert [c.id for c in diagnose(facts, "vllm/", clock()).candidates] == ["vllm-release"]
    assert [c.id for c in diagnose(facts, "FSDP", clock()).candidates] == ["ccl-ipc"]
    assert not diagnose(facts, "wrapped the model in FSDP\nfinished\n", clock()).candidates
