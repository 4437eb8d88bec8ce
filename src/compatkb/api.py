"""The Python interface: the engine of the command line, with types."""

import os
from collections.abc import Mapping, Sequence
from datetime import date
from time import process_time

from compatkb.core.clock import Clock, current_day
from compatkb.engine.answer import Answer
from compatkb.engine.answer import resolve as answer_of
from compatkb.request.lookup import find_product
from compatkb.request.parser import make_request
from compatkb.store.cache import locate
from compatkb.store.reader import Snapshot
from compatkb.store.records import Request


class KnowledgeBase:
    """A compiled knowledge base to ask; questions of one thread share what they look up.

    >>> KnowledgeBase().resolve({"torch": "2.4"}, device="xpu").verdict
    'does-not-work'
    """

    def __init__(self, data: str | os.PathLike[str] | None = None) -> None:
        """Open a data directory, or our own data; raises DataError where it is missing or invalid."""
        self.facts = Snapshot(locate(data))

    @property
    def data_date(self) -> date:
        """The newest day on which something in the data was seen."""
        return date.fromisoformat(self.facts.meta["data_date"])

    def request(
        self,
        versions: Mapping[str, str] | None = None,
        words: Sequence[str] = (),
        *,
        device: str | None = None,
        as_of: date | None = None,
        needs: Sequence[str] = (),
        route: str | None = None,
    ) -> Request:
        """Return a request: version words by product, words such as `numpy==2.0` or `oneccl-bind-pt`, and features needed.

        Raises UsageError for what the data do not know; `as_of` is the day of the data unless given, `route` any.
        """
        options = [(find_product(self.facts, name).id, text) for name, text in (versions or {}).items()]
        clock = Clock(current_day(), as_of)
        return make_request(self.facts, options, words, (device,) if device else (), clock, needs, route)

    def resolve(
        self,
        versions: Mapping[str, str] | None = None,
        words: Sequence[str] = (),
        *,
        device: str | None = None,
        as_of: date | None = None,
        needs: Sequence[str] = (),
        route: str | None = None,
        seconds: float | None = None,
    ) -> Answer:
        """Return the answer to a request; raises UsageError, or GaveUpError when the search exceeds its budget.

        The budget is a number of steps, and `seconds` of processor time where they are given.
        """
        request = self.request(versions, words, device=device, as_of=as_of, needs=needs, route=route)
        if seconds is None:
            return answer_of(self.facts, request)
        end = process_time() + seconds
        return answer_of(self.facts, request, lambda: process_time() > end)
