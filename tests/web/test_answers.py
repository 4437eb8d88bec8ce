"""What a page shows of an answer is what the screen says, and each way out leads to what it names."""

import random
import re
from email.message import Message
from html import unescape
from urllib.parse import parse_qs, urlsplit

import pytest
from markupsafe import escape
from site_of_tests import random_question

from compatkb.engine.answer import resolve
from compatkb.errors import CompatkbError
from compatkb.output import commands, messages
from compatkb.output.commands import CMD, POSIX
from compatkb.output.presenter import present
from compatkb.output.view import MOST
from compatkb.web import pages
from compatkb.web.answer_view import shell_of, shown_of
from compatkb.web.asker import Asker
from compatkb.web.choices import rows_of
from compatkb.web.pages import Site
from compatkb.web.questions import PageQuestion, read_question

TRACKER = "https://example.org/project/issues"


def drawn(asker: Asker, count: int) -> list[PageQuestion]:
    """Return questions at random that can be asked."""
    draw, found = random.Random(7), []
    while len(found) < count:
        try:
            question = read_question(random_question(asker.facts, draw))
            asker.view(question)
        except CompatkbError:
            continue
        found.append(question)
    return found


@pytest.mark.parametrize("hardware", ["Core Ultra 7 155U", "B580", "Gaudi 2"])
def test_the_button_is_that_of_the_answer(asker: Asker, hardware: str) -> None:
    """Of a processor with graphics the answer may be for the processor alone, and so is what is chosen beside it."""
    question = PageQuestion((("hardware", hardware),))
    stack = asker.view(question).best
    assert stack
    chosen = [button.label for button in rows_of(asker, question, "", stack.device.id)[0].buttons if button.chosen]
    assert chosen == [device.label for device in asker.form.devices if device.id == stack.device.id]


@pytest.mark.parametrize("count", [2, pytest.param(60, marks=pytest.mark.long)])
def test_pages_say_what_the_screen_says(asker: Asker, count: int) -> None:
    """The sentence, the ways out in their order, and what stands beside are those of the screen."""
    site, seen = Site(asker, live=True), set()
    for question in (PageQuestion((("ipex", "2.8"),), (), ("xpu",)), *drawn(asker, count)):
        view = asker.view(question)
        page = site.answer_page(question)
        assert str(escape(view.headline)) in page
        assert [way.title for way in shown_of(asker, question, view)["ways"]] == [way.title for way in view.ways[:MOST]]
        for beside in view.beside if view.is_positive else ():
            assert str(pages.prose(beside.text)) in page
            seen.add(beside.kind)
    assert count < 60 or seen >= {"successor", "default-index"}


@pytest.mark.parametrize("count", [6, pytest.param(60, marks=pytest.mark.long), pytest.param(120, marks=pytest.mark.soak)])
def test_ways_lead_to_what_they_name(asker: Asker, count: int) -> None:
    """The question behind a way out has an answer, whose command has the pins that the way shows."""
    followed = 0
    for question in drawn(asker, count):
        for way in shown_of(asker, question, asker.view(question))["ways"]:
            stack = asker.view(way.question).stacks[0]
            assert stack.verdict == way.verdict, (question, way)
            made = set(commands.pip_commands(stack, shell_of(stack)))
            assert bool(made) != bool(way.note), (question, way)
            assert made <= {*way.command.splitlines()}, (question, way)
            followed += 1
    assert followed > count / 6


def test_errors_are_reported_where_the_package_says(asker: Asker, monkeypatch: pytest.MonkeyPatch) -> None:
    """The link to an issue is made from the package's metadata, and left out where they name no tracker."""
    known = Message()
    monkeypatch.setattr(pages, "metadata", lambda _: known)
    question = PageQuestion((("torch", "2.4"),), (), ("xpu",))
    assert "Report an error" not in Site(asker, live=True).answer_page(question)
    known["Project-URL"] = f"Issue Tracker, {TRACKER}"
    site = Site(asker, live=True)
    address = site.report(question, asker.view(question))
    assert address.startswith(f"{TRACKER}/new?")
    asked = parse_qs(urlsplit(address).query)
    assert asked["title"] == ["Wrong answer: torch 2.4 on Intel GPU"]
    assert question.command() in asked["body"][0]
    assert str(escape(address)) in site.answer_page(question)


@pytest.mark.soak
def test_every_written_page_agrees_with_the_engine(asker: Asker) -> None:
    """The verdict, the sentence and the pip commands of each page that a static site has are those of the engine."""
    site = Site(asker, live=False)
    for question, path in site.written.items():
        view = present(asker.facts, resolve(asker.facts, question.request(asker.facts, asker.clock)))
        text = unescape(re.sub("<[^>]+>", "", site.answer_page(question, path)))
        assert f"{messages.VERDICTS[view.verdict].capitalize()}. {view.headline}" in text, path
        for stack in (section.group.best for section in view.sections):
            shell = CMD if {system.family for system in stack.os} == {"windows"} else POSIX
            assert "\n".join(commands.pip_commands(stack, shell)) in text, path


def test_a_page_says_each_system_that_differs(asker: Asker) -> None:
    """Where systems differ in verdict or in builds, the heading names them and each has its command."""
    site = Site(asker, live=True)
    for options, device in (((("torch", "2.6"),), "xpu"), ((), "cpu")):
        question = PageQuestion(options, (), (device,))
        view, page = (
            asker.view(question),
            unescape(re.sub("<[^>]+>", "", site.answer_page(PageQuestion(options, (), (device,))))),
        )
        assert len(view.sections) > 1
        for section in view.sections:
            assert section.group.systems in view.headline
            shell = CMD if section.group.systems == "Windows" else POSIX
            assert "\n".join(commands.pip_commands(section.group.best, shell)) in page
    assert "probably works" in asker.view(PageQuestion((("torch", "2.6"),), (), ("xpu",))).headline
