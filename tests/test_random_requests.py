"""A pin more proves no more and excludes no less; a printed stack is judged again as it was."""

import random
from collections import Counter

import pytest
from random_requests import Asked, Requests, ask, best, disagreeing, look, pins_of, repinned, silent

from compatkb.api import KnowledgeBase
from compatkb.check import check
from compatkb.check.document import CheckContext as Checked
from compatkb.check.document import TextDocument
from compatkb.core.clock import Clock, current_day
from compatkb.core.findings import Severity
from compatkb.engine.answer import resolve
from compatkb.store.records import Pin, Request

REQUESTS = 150
STACKS = 60
SEED = 15


@pytest.mark.long
def test_random_requests_are_of_every_kind(base: KnowledgeBase) -> None:
    """The requests that are drawn are answered in every way, so that the rules over them are not empty."""
    requests = Requests(base.facts, SEED)
    answers = [answer for answer in (ask(base, requests.request(), near=False) for _ in range(60)) if answer]
    assert Counter(answer.verdict for answer in answers).keys() >= {"works", "likely", "unknown", "does-not-work"}
    assert any(best(answer) == 0 for answer in answers)


@pytest.mark.long
@pytest.mark.parametrize("count", [REQUESTS // 10, pytest.param(REQUESTS, marks=pytest.mark.soak)])
def test_a_pin_more_proves_no_more_and_excludes_no_less(base: KnowledgeBase, count: int) -> None:
    """Over random requests, a pin raises no verdict and weakens no "no"; reasons say something; `explain` says the same."""
    wrong, _, compared = look(base, SEED, count)
    assert not wrong
    assert compared["with a pin less"] > count / 2
    assert compared["as explain"] > count / 8


@pytest.mark.parametrize("count", [STACKS // 6, pytest.param(STACKS, marks=pytest.mark.long)])
def test_a_printed_stack_is_judged_again_as_it_was(base: KnowledgeBase, count: int) -> None:
    """Pinned in full, with what it also installs, a stack has the verdict with which it was offered."""
    requests = Requests(base.facts, SEED + 1)
    wrong, seen = [], 0
    while seen < count:
        asked = requests.request()
        answer = ask(base, asked, near=False)
        if answer is None or not answer.stacks:
            continue
        seen += 1
        before, after = repinned(base, answer)
        if before != after:
            wrong.append(f"{before} became {after}: {asked}: {' '.join(pins_of(answer.stacks[0]))}")
    assert not wrong


@pytest.mark.long
def test_a_printed_stack_may_be_pinned_with_its_route(base: KnowledgeBase) -> None:
    """The route over which a stack is offered can be asked for beside its packages."""
    requests, chance = Requests(base.facts, SEED + 2), random.Random(SEED)
    wanted = [Asked({"oneccl-bind-pt": "2.7.0"}, "xpu"), *(requests.request() for _ in range(40))]
    for asked in wanted:
        answer = ask(base, asked, near=False)
        if answer and answer.stacks:
            stack = chance.choice(answer.stacks)
            words = {"os": stack.os[0], "python": stack.python[0], "arch": stack.arch[0]}
            request = base.request(words, pins_of(stack), device=stack.device, route=stack.route)
            assert resolve(base.facts, request, near=False).stacks, asked


def of_default_index(base: KnowledgeBase, request: Request) -> Request:
    """Return a request for the builds of the default index, where a pin admits one, on the platform that files mean."""
    pins = [Pin(name, word, base.facts.word(name, word) or 0) for name, word in (("os", "linux"), ("arch", "x86_64"))]
    for pin in request.pins:
        listed = [e for e in base.facts.elements(pin.product).of(pin.mask) if "default" in e.channels]
        pins.append(pin._replace(mask=sum(1 << e.idx for e in listed) or pin.mask))
    return request._replace(pins=tuple(pins))


@pytest.mark.long
def test_check_denies_only_what_explain_denies(base: KnowledgeBase) -> None:
    """Lines of a file are called a pair that does not work only where `explain` says so of the same pins.

    A file that names no index is about the builds of the default one; what `explain` leaves open because of others it must
    deny of these.
    """
    requests, checked, seen = Requests(base.facts, SEED + 3), Checked(base.facts, Clock(current_day())), 0
    for _ in range(REQUESTS):
        asked = requests.request()
        packages = {name: text for name, text in asked.words.items() if base.facts.products[name].distribution}
        words = tuple(f"{base.facts.products[name].distribution}=={text}" for name, text in packages.items())
        answer = ask(base, Asked({}, None), words, near=False) if len(words) > 1 else None
        if answer is None or len(answer.request.devices) < 2:
            continue
        text = "".join(f"{word}\n" for word in words)
        found = check([TextDocument("requirements.txt", text)], checked).findings
        errors = [f for f in found if f.rule == "pins-together" and f.level is Severity.ERROR]
        if errors:
            default = resolve(base.facts, of_default_index(base, answer.request), near=False)
            assert "does-not-work" in (answer.verdict, default.verdict), (words, answer.verdict, errors)
            assert not answer.verdict.is_usable
        seen += bool(errors)
    assert seen


def test_what_is_not_so_is_told(base: KnowledgeBase) -> None:
    """An answer without a reason, and one that `explain` does not share, are noticed."""
    asked = Asked({"torch": "2.4.0+cpu"}, "cpu")
    answer = ask(base, asked)
    assert answer is not None
    assert not silent(base, answer)
    assert disagreeing(base, asked, answer) == []
    assert disagreeing(base, asked, answer._replace(verdict="unknown"))
    assert silent(base, answer._replace(stacks=(), causes=()))
