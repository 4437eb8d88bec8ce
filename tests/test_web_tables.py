"""The site's shared searches answer as the engine does alone."""

import random
from datetime import date

from compatkb.api import KnowledgeBase
from compatkb.engine.answer import resolve
from compatkb.rendering.payload import answer_payload
from compatkb.web.questions import Form
from compatkb.web.tables import share


def test_shared_searches_answer_as_the_engine_does() -> None:
    """Verdict, stacks, causes and what is near are the same to the letter, whatever is chosen."""
    knowledge = KnowledgeBase()
    facts, draw = knowledge.facts, random.Random(7)
    form = Form(facts, knowledge.data_date)
    asked = []
    for _ in range(60):
        chosen = {field.id: draw.choice(field.values).id for field in form.fields[1:6] if draw.random() < 0.7}
        asked.append(form.request({"device": draw.choice(form.values("device")), **chosen}))
    with share(facts):
        shared = [answer_payload(facts, resolve(facts, request)) for request in asked]
    assert facts.finder is None
    for request, answer in zip(asked, shared, strict=True):
        assert answer == answer_payload(facts, resolve(facts, request)), request


def test_request_is_that_of_the_command_line() -> None:
    """A choice of the form makes the request that its words make on the command line."""
    knowledge = KnowledgeBase()
    day = date(2026, 11, 21)
    form = Form(knowledge.facts, day)
    chosen = {"device": "xpu", "main": "2.8", "python": "3.11", "os": "ubuntu22.04", "hardware": "max", "ipex": "2.8.10"}
    typed = {"torch": "2.8", "python": "3.11", "os": "ubuntu22.04", "hardware": "max", "ipex": "2.8.10"}
    assert form.request(chosen) == knowledge.request(typed, device="xpu", as_of=day)
