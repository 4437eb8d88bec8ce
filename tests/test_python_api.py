"""The Python interface: its page runs, its answers are typed and frozen, and tests of projects can lean on it."""

import doctest
import json
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import date, datetime
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest
from conftest import ROOT, Run, parted

import compatkb
from compatkb import CompatkbError, DataError, KnowledgeBase, Severity, UsageError


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


def test_whatever_is_wrong_is_an_error_of_ours(base: KnowledgeBase) -> None:
    """Values of another kind, names too long answers made by hand end in a CompatkbError; any answer has repr and hash."""
    answer = base.resolve("torch")
    made: Any = answer._replace(stacks=())
    assert "stacks=()" in repr(made)
    assert len({answer, answer, made}) == 2
    wrong: tuple[Callable[[], object], ...] = (
        lambda: base.check("a" * 5000),
        lambda: base.resolve("torch", seconds="1"),  # type: ignore[arg-type]  # which must be refused
        lambda: base.resolve("torch", seconds=float("nan")),
        made.to_dict,
    )
    for ask in wrong:
        with pytest.raises(CompatkbError):
            ask()


QUESTIONS = (
    ("torch==2.8", "xpu"), ("torch==2.5.0", "ipex==2.4.0"), ("B580", "windows11"), ("transformers==4.50.0", "torch==2.6.0"),
    ("torch==2.7.1", "ipex==2.8.0", "py3.11"), ("torch==2.6", "torchvision", "cpu"), ("vllm", "cpu", "linux"),
    ("torch==2.4", "xpu"),
)  # fmt: skip
FEW = 4
"""Questions, the first ones, that every run of the tests asks."""


@pytest.mark.long
@pytest.mark.parametrize("count", parted((FEW, len(QUESTIONS)), (FEW,)))
def test_several_threads_may_ask(count: int) -> None:
    """Questions of threads at once, of one object, have the answers that one thread gets; any thread reads them."""
    questions = QUESTIONS[:count]
    alone = KnowledgeBase()
    expected = [alone.explain(*words) for words in questions]
    shared, start = KnowledgeBase(), Barrier(count)

    def ask(number: int) -> list[Any]:
        start.wait()
        order = [*range(number, count), *range(number)]
        answers = {n: shared.explain(*questions[n]) for n in order}
        return [answers[n] for n in range(count)]

    with ThreadPoolExecutor(count) as pool:
        told = list(pool.map(ask, range(count)))
    whole = [(answer.to_dict(), repr(answer), [stack.links for stack in answer.stacks]) for answer in expected]
    for answers in told:  # made in other threads, and read in this one
        assert [(a.to_dict(), repr(a), [stack.links for stack in a.stacks]) for a in answers] == whole


def test_words_and_versions_ask_the_same(base: KnowledgeBase) -> None:
    """Words in a row, a list of words, and versions by product are one request."""
    same = [
        base.resolve("torch==2.8", "xpu"),
        base.resolve("torch==2.8", device="xpu"),
        base.resolve("torch==2.8", ["xpu"]),
        base.resolve(words=("torch==2.8", "xpu")),
        base.resolve(None, ("torch==2.8", "xpu")),
    ]
    assert all(answer.to_dict() == same[0].to_dict() for answer in same)
    named = base.resolve({"torch": "2.8"}, "xpu")
    assert named.to_dict()["stacks"] == same[0].to_dict()["stacks"]
    assert base.explain({"torch": "2.7.1"}, "ipex==2.8.0").verdict == base.explain("torch==2.7.1", "ipex==2.8.0").verdict
    later = [base.resolve("torch", as_of=day).to_dict() for day in ("2025-03-31", date(2025, 3, 31), datetime(2025, 3, 31, 9))]
    assert later[0] == later[1] == later[2]


@pytest.mark.parametrize("words", parted(QUESTIONS, QUESTIONS[:FEW]), ids=" ".join)
def test_an_answer_shows_itself(words: tuple[str, ...], base: KnowledgeBase, run: Callable[..., Run]) -> None:
    """`repr` has at most ten lines, the headline first; a notebook gets the screen; to_dict is the command's JSON."""
    answer = base.explain(*words)
    assert 1 <= len(repr(answer).splitlines()) <= 10
    screen = run("resolve", *words).out
    assert repr(answer).splitlines()[0] == screen.splitlines()[0]
    html = answer._repr_html_()
    assert html.startswith("<pre>")
    assert html.count("<") == 2
    assert len(html.splitlines()) >= len(screen.splitlines())
    assert answer.to_dict() == json.loads(run("resolve", *words, "--format", "json").out)
    assert all(len(repr(stack).splitlines()) == 1 for stack in answer.stacks)


def test_names_are_listed() -> None:
    """`dir` shows what is public, and nothing else."""
    assert dir(compatkb) == sorted(compatkb.__all__)


WRONG: tuple[Callable[[Any], object], ...] = (
    lambda base: base.resolve(2.8),
    lambda base: base.resolve({"torch": 2.8}),
    lambda base: base.resolve({5: "2.8"}),
    lambda base: base.resolve("torch==2.8", 5),
    lambda base: base.resolve("torch", needs=5),
    lambda base: base.resolve("torch", device=5),
    lambda base: base.resolve("torch", route=5),
    lambda base: base.resolve("torch", as_of="yesterday"),
    lambda base: base.resolve("torch", as_of=5),
    lambda base: base.explain(),
    lambda base: base.explain(5),
    lambda base: base.product(None),
    lambda base: base.releases(5),
    lambda base: base.matrix(5),
    lambda base: base.matrix("torch", device=5),
    lambda base: base.timeline(5),
    lambda base: base.diagnose(b"bytes"),
    lambda base: base.check(5),
    lambda base: base.check("no-such-file.txt"),
    lambda base: base.commands("torch"),
    lambda base: base.reasons(None),
    lambda _: KnowledgeBase(5),  # type: ignore[arg-type]  # which must be refused
    lambda _: KnowledgeBase("no-such-folder"),
)


@pytest.mark.parametrize("wrong", WRONG)
def test_errors_are_ours(wrong: Callable[[Any], object], base: KnowledgeBase) -> None:
    """Whatever is handed over, what is raised is a CompatkbError with a sentence."""
    with pytest.raises(CompatkbError, match=r"\w"):
        wrong(base)


def test_damaged_data_are_told(tmp_path: Path, shipped: str) -> None:
    """A snapshot that is damaged while it is open is a DataError."""
    damaged = tmp_path / "kb.sqlite"
    content = bytearray(Path(shipped).read_bytes())
    content[8192:] = b"\xff" * len(content[8192:])
    base = KnowledgeBase()
    damaged.write_bytes(content)

    def ask() -> None:
        base.facts = type(base.facts)(str(damaged))
        base.resolve("torch==2.8", "xpu")

    with pytest.raises(DataError):
        ask()
