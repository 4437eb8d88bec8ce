"""Whether versions that a document puts together are denied; each question is asked once, and no page asks many."""

from functools import lru_cache
from typing import NamedTuple

from compatkb.check.document import CheckContext
from compatkb.check.markdown.text import MarkdownPage
from compatkb.core.clock import Clock
from compatkb.core.vocabulary import Verdict
from compatkb.errors import CompatkbError, GaveUpError
from compatkb.request_parser import make_request
from compatkb.store.reader import Snapshot
from compatkb.store.records import Request

MOST_QUESTIONS = 150
"""Combinations of versions that are judged in one document."""

Options = tuple[tuple[str, str], ...]


class VersionDenial(NamedTuple):
    """Why versions do not work together, and the products that this is about."""

    reason: str
    sources: tuple[str, ...]
    products: frozenset[str]


def denial(page: MarkdownPage, context: CheckContext, options: Options) -> VersionDenial | None:
    """Return why versions, by product id, do not work together; None where they may."""
    if options not in page.questions and len(page.questions) >= MOST_QUESTIONS:
        page.unjudged += 1
        return None
    page.questions.add(options)
    return _denial(context.facts, context.clock, options)


@lru_cache(maxsize=4096)
def _denial(facts: Snapshot, clock: Clock, options: Options) -> VersionDenial | None:
    from compatkb.engine.answer import resolve  # most pages put no versions together
    from compatkb.output.messages import cause, cause_sources

    try:
        request = make_request(facts, options, (), clock=clock)
        if _is_possible(facts, request):
            return None
        answer = resolve(facts, request, near=False)
    except CompatkbError:
        return None
    if answer.verdict != Verdict.DOES_NOT_WORK or not answer.causes:
        return None
    found = answer.causes[0]
    sources = tuple(url or text for text, url in cause_sources(facts, found, answer.request))
    return VersionDenial(cause(facts, found, answer.request), sources, frozenset(str(part) for part in found.blocker[1:]))


def _is_possible(facts: Snapshot, request: Request) -> bool:
    """Return whether there is a stack, without looking for the best; where that takes long, `resolve` has time of its own."""
    from compatkb.engine.answer import is_possible

    try:
        return is_possible(facts, request)
    except GaveUpError:
        return False
