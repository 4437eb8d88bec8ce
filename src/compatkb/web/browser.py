"""The engine as the browser runs it: unpacked into a folder there, it makes the pages that were not written."""

import json
from datetime import date
from pathlib import Path
from urllib.parse import parse_qsl

from compatkb.core.clock import Clock
from compatkb.errors import CompatkbError
from compatkb.output.payload import answer_json
from compatkb.store.reader import Snapshot
from compatkb.web.asker import Asker
from compatkb.web.pages import Site
from compatkb.web.questions import MOST_WORDS, read_question
from compatkb.web.responses import problem_of

SNAPSHOT, SETTINGS = "snapshot.sqlite", "settings.json"
SECONDS = 30.0
"""Processor seconds after which a browser gives up on an answer: it is several times slower."""


class Desk:
    """What answers in the browser, for the site that it came with."""

    def __init__(self, folder: Path) -> None:
        settings = json.loads((folder / SETTINGS).read_text(encoding="utf-8"))
        as_of = date.fromisoformat(settings["as_of"]) if settings["as_of"] else None
        clock = Clock(date.fromisoformat(settings["today"]), as_of)
        asker = Asker(Snapshot(str(folder / SNAPSHOT)), clock, SECONDS)
        self.site = Site(
            asker, live=False, engine_size=settings["engine_size"], build=settings["build"], issues=settings["issues"]
        )

    def page(self, query: str) -> str:
        """Return the page of a question, or the page that says what is wrong with it."""
        parameters = parse_qsl(query, keep_blank_values=True, max_num_fields=MOST_WORDS)
        try:
            return self.site.question_page(parameters, "ask.html")
        except CompatkbError as error:
            return self.site.problem_page(problem_of(error))

    def mine(self, form: str) -> str:
        """Return the page that checks a text; the form is encoded as a browser posts it."""
        return self.site.mine_page(parse_qsl(form, keep_blank_values=True))

    def answer(self, query: str) -> str:
        """Return what `resolve --format json` prints for a question; raises UsageError and GaveUpError."""
        question = read_question(parse_qsl(query, keep_blank_values=True, max_num_fields=MOST_WORDS))
        return answer_json(self.site.asker.view(question))


def open_desk(folder: str) -> Desk:
    """Return the desk of an unpacked engine."""
    return Desk(Path(folder))
