"""The words that people type mean the same on the command line, in the API, on the page and to an agent."""

import shlex
from collections.abc import Callable
from typing import Any

import pytest

from compatkb.cli import main
from compatkb.core.clock import Clock, current_day
from compatkb.engine.answer import Answer
from compatkb.errors import UsageError
from compatkb.mcp.tools import AgentTools
from compatkb.request.parser import make_request
from compatkb.request.typed import read_typed
from compatkb.store.reader import Snapshot
from compatkb.store.records import Request
from compatkb.web.asker import Asker
from compatkb.web.pages import Site
from compatkb.web.questions import question_of, read_question
from compatkb.web.responses import Api

PHRASINGS = (
    "B580", "b580", "Arc B580", "arc b580", "ARC B580", "arc-b580", "Intel Arc B580", "intel arc b580 graphics", "B580 torch",
    "B580 ubuntu24.04", "b580 Ubuntu 24.04", "B580 UBUNTU24.04 py3.12", "b580 windows 11", "B580 Windows11 python3.12",
    "A770 debian 12", "a770 rhel9.4 py3.11", "Max 1550", "max 1550 torch 2.8", "panther lake", "Panther-Lake windows",
    "torch", "PyTorch", "torch 2.8", "torch 2.8 xpu", "torch==2.8.0 xpu", "TORCH==2.8.0 XPU", "torch>=2.7,<2.9 cpu",
    "torch 2.8.0+xpu", "torch latest xpu", "ipex", "IPEX 2.8", "intel-extension-for-pytorch==2.8.10+xpu",
    "torch 2.9 oneccl-bind-pt xpu", "torchvision py3.13 linux", "torch python==3.12 windows cpu", "linux-x86_64 torch cpu",
    "macos torch cpu", "numpy==1.26.4 torch 2.2 cpu", "xpu", "hardware==arc-b torch", "wsl2 B580 torch 2.14",
    "arrow lake-h windows11", "torch 2.8 fp8 xpu", "bf16 B580", "torch bfloat16 cpu", "torch==2.8.0+xpu triton",
    "Ubuntu 22.04 aarch64 torch cpu", "torch for B580 on windows11", "torch 2.14 with torchvision on Arc B580",
)  # fmt: skip


class AskedError(BaseException):
    """In place of an answer: what was asked; no ordinary exception, which the command line tells as a failure."""


@pytest.fixture
def asked(facts: Snapshot, shipped: str, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], dict[str, Request]]:
    """Return a function that says what each way of asking makes of a line; nothing is answered."""

    def ask(_: Snapshot, request: Request, *more: object, **others: object) -> Answer:
        raise AskedError(request)

    def request(way: Callable[[], object]) -> Request:
        with pytest.raises(AskedError) as made:
            way()
        request: Request = made.value.args[0]
        return request

    for place in ("cli.answering.answer_of", "web.responses.resolve", "web.asker.resolve", "mcp.tools.answer_of"):
        monkeypatch.setattr(f"compatkb.{place}", ask)
    monkeypatch.setattr("compatkb.cli.opening.Snapshot", lambda path: facts if path == shipped else Snapshot(path))
    clock = Clock(current_day())
    agent = AgentTools(facts, lambda: lambda: False)
    page = Site(Asker(facts, clock), live=True)

    def ways(line: str) -> dict[str, Request]:
        words = shlex.split(line)
        return {
            "command line": request(lambda: main(["resolve", *words])),
            "API": request(lambda: Api(facts, clock).respond("resolve", [("q", line)])),
            "page": request(lambda: page.question_page([("q", line)])),
            "agent": request(lambda: agent.resolve(words)),
        }

    return ways


@pytest.mark.parametrize("line", PHRASINGS)
def test_all_ways_of_asking_read_words_alike(line: str, asked: Callable[[str], dict[str, Request]]) -> None:
    """The request is the same, whoever passes the words on."""
    requests = asked(line)
    assert len(requests) == 4
    assert set(requests.values()) == {requests["command line"]}
    assert requests["command line"].pins or requests["command line"].bare or requests["command line"].names_devices


@pytest.mark.parametrize("line", PHRASINGS)
def test_the_form_of_the_page_asks_the_same(line: str, facts: Snapshot) -> None:
    """What the page puts into its fields, after words were typed, is the same request."""
    clock, typed = Clock(current_day()), read_question([("q", line)])
    request = typed.request(facts, clock)
    again = question_of(request, typed).request(facts, clock)
    assert [(pin.product, pin.mask) for pin in again.pins] == [(pin.product, pin.mask) for pin in request.pins]
    assert (again.bare, again.devices) == (request.bare, request.devices)


@pytest.mark.parametrize("line", ["B580", "arc b580 ubuntu24.04", "torch 2.8 xpu"])
def test_case_and_marks_change_nothing(line: str, facts: Snapshot) -> None:
    """Names are read in small letters and without separators."""

    def pins(words: str) -> list[tuple[str, int]]:
        return [(pin.product, pin.mask) for pin in make_request(facts, words=words.split()).pins]

    assert pins(line) == pins(line.upper()) == pins(line.lower())


@pytest.mark.parametrize("word", ["B9580", "ubuntu", "no-such-thing", "2.8"])
def test_a_word_of_no_or_several_meanings_is_refused_or_read_as_all(word: str, facts: Snapshot) -> None:
    """A name without its number is every version of it; anything else that is not known is refused with what is near."""
    if word == "ubuntu":
        assert make_request(facts, words=[word]).pin("os")
        return
    with pytest.raises(UsageError):
        make_request(facts, words=[word])


@pytest.mark.parametrize(
    ("line", "python", "torch"),
    [
        ("torch B580 3.12", "3.12", ""),
        ("torch 3.12 B580", "3.12", ""),
        ("xpu torch 3.14t", "3.14t", ""),
        ("B580 3.10", "3.10", ""),
        ("torch 2.8 3.9", "3.9", "2.8"),
        ("3.11 torch 2.8", "3.11", "2.8"),
        ("torch cpu transformers 4.50.0 3.12", "3.12", ""),
        ("torch version 2.8 py3.12", "3.12", "2.8"),
    ],
)
def test_a_number_is_of_the_product_before_it_or_a_python(line: str, python: str, torch: str, facts: Snapshot) -> None:
    """Only what stands right before a number takes it as its version; what that never had, and Python has, is a Python."""
    request = make_request(facts, words=line.split())
    pins = {pin.product: pin.text for pin in request.pins}
    assert (pins["python"], pins.get("torch", "")) == (python, torch)


def test_the_beginning_of_several_names_is_refused_as_a_whole(facts: Snapshot) -> None:
    """`arrow lake` names H processors with Arc graphics and others without: the message has both, on the page, too."""
    with pytest.raises(UsageError, match=r"'arrow lake' may be several things\n.*arrow lake-s.*arrow-lake-h"):
        make_request(facts, words=["torch", "arrow", "lake"])
    words, aside = read_typed(facts, "torch arrow lake", Clock(current_day()))
    assert (words, [one.word for one in aside]) == (("torch",), ["arrow lake"])
    assert "arrow-lake-h" in aside[0].meant


def test_what_several_are_imported_as_means_the_one_for_the_device(facts: Snapshot) -> None:
    """`triton` beside torch for Intel GPUs is the triton that its wheel pins; elsewhere it is triton itself."""
    named = {device: make_request(facts, words=["torch", "triton"], devices=[device]).bare for device in ("xpu", "cpu")}
    assert named == {"xpu": ("torch", "triton-xpu"), "cpu": ("torch", "triton")}


def test_words_are_looked_up_in_what_was_read_once(shipped: str) -> None:
    """A second question with other words of the same products asks the snapshot nothing."""
    facts = Snapshot(shipped)
    assert facts.architectures  # which words of systems need
    first = ["torch==2.8.0", "B580", "Ubuntu", "24.04", "py3.12", "xpu"]
    make_request(facts, words=first)
    statements: list[Any] = []
    facts._db.set_trace_callback(statements.append)
    make_request(facts, words=["torch==2.7.1", "Arc", "A770", "Windows", "11", "py3.11", "cpu", "torch"])
    assert statements == []
