"""What pages show, asked of the engine: the answer, the verdict of another choice, whether a button leads anywhere.

Answers and the states of buttons are kept, since a visitor goes from page to page by the buttons of the page before; verdicts
alone are not. The JSON API does not come by here: `responses` asks the engine itself, and the server keeps what it sent.
"""

from collections import OrderedDict
from typing import Any, TypeVar

from compatkb.core.clock import Clock
from compatkb.core.memo import memoized
from compatkb.core.record import NamedTuple
from compatkb.core.vocabulary import Verdict
from compatkb.engine.answer import is_possible, resolve
from compatkb.errors import CompatkbError
from compatkb.output.catalog_screen import CatalogScreen
from compatkb.output.images import repository_content
from compatkb.output.presenter import present
from compatkb.output.view import AnswerView
from compatkb.store.reader import Snapshot
from compatkb.store.records import Request
from compatkb.web.questions import PageQuestion
from compatkb.web.responses import PATIENCE, patience
from compatkb.web.systems import FormValues

T = TypeVar("T")
Record = dict[str, Any]
MOST_KEPT = 2000


class ChoiceState(NamedTuple):
    """Whether a choice leads nowhere, and the first reason."""

    impossible: bool
    reason: str = ""


class Asker:
    """The engine over one snapshot, on one day, for the pages of one process; the longest kept answers are forgotten first."""

    def __init__(self, facts: Snapshot, clock: Clock, seconds: float = PATIENCE) -> None:
        self.facts, self.clock, self.seconds = facts, clock, seconds
        self.form, self.catalog = FormValues(facts), CatalogScreen(facts, clock.day)
        self._views: OrderedDict[PageQuestion, AnswerView] = OrderedDict()
        self._states: OrderedDict[PageQuestion, ChoiceState] = OrderedDict()

    @memoized
    def product(self, product: str) -> Record:
        """Return what `show PRODUCT --format json` prints."""
        return self.catalog.edition.record(self.catalog.product(self.facts.products[product]))

    @memoized
    def release(self, product: str, version: str) -> Record:
        """Return what `show PRODUCT VERSION --format json` prints."""
        releases = self.catalog.chosen(self.facts.products[product], version)
        return self.catalog.edition.record({"product": product, "releases": releases})

    def repositories(self) -> list[Record]:
        """Return the tags of each image repository."""
        return [repository_content(self.facts, name, self.clock.day) for name in self.facts.repositories()]

    def view(self, question: PageQuestion) -> AnswerView:
        """Return the answer as it is shown; raises UsageError and GaveUpError."""
        view = self._views.get(question)
        if view is None:
            view = self._asked(question.request(self.facts, self.clock))
            _keep(self._views, question, view)
        return view

    def brief(self, question: PageQuestion) -> AnswerView:
        """Return the answer as it is shown, without ways out where there is none yet; raises UsageError and GaveUpError."""
        return self._views.get(question) or self._asked(question.request(self.facts, self.clock), near=False)

    def _asked(self, request: Request, *, near: bool = True) -> AnswerView:
        return present(self.facts, resolve(self.facts, request, patience(self.seconds), near=near))

    def state(self, question: PageQuestion) -> ChoiceState:
        """Return whether a question is denied; one that cannot be asked, or is given up, is not denied."""
        state = self._states.get(question)
        if state is None:
            try:
                state = self._state(question)
            except CompatkbError:
                state = ChoiceState(False)
            _keep(self._states, question, state)
        return state

    def _state(self, question: PageQuestion) -> ChoiceState:
        known = self._views.get(question)
        if known is None:
            request = question.request(self.facts, self.clock)
            if is_possible(self.facts, request):
                return ChoiceState(False)
            known = self._asked(request, near=False)
        if known.verdict != Verdict.DOES_NOT_WORK:
            return ChoiceState(False)
        reasons = [cause.message for cause in known.causes[:1]]
        return ChoiceState(True, reasons[0] if reasons else "No system and Python go together with this.")


def _keep(cache: OrderedDict[PageQuestion, T], question: PageQuestion, entry: T) -> None:
    cache[question] = entry
    if len(cache) > MOST_KEPT:
        cache.popitem(last=False)
