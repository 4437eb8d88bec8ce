"""The Python interface: its page runs, its answers are typed and frozen, and tests of projects can lean on it."""

import doctest
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

import compatkb
from compatkb import KnowledgeBase, Severity, UsageError


def test_page_runs() -> None:
    """Every example of docs/python.md prints what the page shows."""
    done = doctest.testfile(str(ROOT / "docs" / "python.md"), module_relative=False)
    assert done.attempted > 15
    assert done.failed == 0


def test_public_names_are_there() -> None:
    """Every public name can be imported, and importing the package imports no module that has them."""
    assert all(getattr(compatkb, name) for name in compatkb.__all__)
    code = "import sys, compatkb; print([name for name in sys.modules if name.startswith('compatkb.')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "['compatkb.version']\n"


def test_answers_are_frozen() -> None:
    """Nobody changes what an answer, a diagnosis, a product or a release says: others share it."""
    base = KnowledgeBase()
    answer, diagnosis = base.explain("torch==2.7.1", "ipex==2.8.0"), base.diagnose("oops")
    shared: tuple[tuple[object, str], ...] = (
        (answer, "verdict"),
        (diagnosis, "candidates"),
        (base.product("torch"), "label"),
        (base.releases("torch")[0], "version"),
    )
    for each, name in shared:
        before = getattr(each, name)
        with pytest.raises(AttributeError):
            setattr(each, name, None)
        assert getattr(each, name) == before


def test_assert_compatible(tmp_path: Path) -> None:
    """It fails with file, line and what to write instead; warnings and sound pins pass; wrong names are told."""
    base, file = KnowledgeBase(), tmp_path / "requirements.txt"
    file.write_text("torch==2.8.0\ntorchvision==0.21.0\n", encoding="utf-8")
    with pytest.raises(AssertionError, match=r"requirements.txt:2:1: error: .*\n +fix: torchvision==0.23.0"):
        base.assert_compatible(file)
    file.write_text("torch==2.8.0\ntorchvision==0.23.0\n", encoding="utf-8")
    base.assert_compatible(tmp_path)
    assert not any(finding.level is Severity.ERROR for finding in base.check(tmp_path).findings)
    for wrong in (lambda: base.check(tmp_path / "none.txt"), base.explain, lambda: base.releases("tosch")):
        with pytest.raises(UsageError):
            wrong()
