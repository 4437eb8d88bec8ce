"""What the API answers: the JSON that the commands print, from the functions that print it; problems by RFC 9457."""

import time
from collections.abc import Callable, Mapping
from datetime import date
from typing import NamedTuple

from compatkb.catalog.search import search as find
from compatkb.core.clock import Clock
from compatkb.engine.answer import Answer, resolve
from compatkb.errors import CompatkbError, GaveUpError, ProblemsError, UnavailableError, UsageError
from compatkb.output import catalog, features
from compatkb.output.images import repository_content
from compatkb.output.json_document import Edition, json_text
from compatkb.output.payload import answer_json
from compatkb.output.presenter import present
from compatkb.output.registry import Wanted
from compatkb.output.search_results import search_text
from compatkb.request.lookup import find_product
from compatkb.request.parser import parse_day, parse_days
from compatkb.store.reader import Snapshot
from compatkb.web.questions import MOST_CHARACTERS, Parameters, read_question, split_words

JSON, PROBLEM = "application/json", "application/problem+json"
PATIENCE = 0.8
"""Processor seconds after which an answer is given up."""


class ProblemDetails(NamedTuple):
    """A problem: the status of the response, its kind in words, what is wrong, and each thing that is."""

    status: int
    title: str
    detail: str
    problems: tuple[str, ...] = ()

    def document(self) -> dict[str, object]:
        """Return the members of the problem document."""
        members: dict[str, object] = {"type": "about:blank", "title": self.title, "status": self.status, "detail": self.detail}
        return {**members, "problems": list(self.problems)} if self.problems else members


class Response(NamedTuple):
    """The status, the media type and the text of a response."""

    status: int
    media: str
    text: str


def respond(facts: Snapshot, clock: Clock, kind: str, parameters: Parameters) -> Response:
    """Return the response to a call: `kind` is one of KINDS; what is wrong with it is a problem document."""
    try:
        return Response(200, JSON, KINDS[kind](facts, clock, list(parameters)))
    except CompatkbError as error:
        return problem_response(problem_of(error))


def problem_of(error: CompatkbError) -> ProblemDetails:
    """Return the problem that an error is."""
    problems = error.problems if isinstance(error, ProblemsError) else ()
    if isinstance(error, UsageError):
        return ProblemDetails(400, "The question cannot be read", str(error), problems)
    if isinstance(error, GaveUpError):
        return ProblemDetails(503, "The search took too long", str(error), problems)
    if isinstance(error, UnavailableError):
        return ProblemDetails(503, "Something needed is not available", str(error), problems)
    return ProblemDetails(500, "The data are invalid", str(error), problems)


def problem_response(problem: ProblemDetails) -> Response:
    """Return a problem as a response."""
    return Response(problem.status, PROBLEM, json_text(problem.document()))


def answer_to(facts: Snapshot, clock: Clock, parameters: Parameters) -> Answer:
    """Return the answer to the question of an address; raises UsageError and GaveUpError."""
    return resolve(facts, read_question(parameters).request(facts, clock), patience())


def patience(seconds: float = PATIENCE) -> Callable[[], bool]:
    """Return what tells whether the time for an answer is over."""
    end = time.process_time() + seconds
    return lambda: time.process_time() > end


def _resolve(facts: Snapshot, clock: Clock, parameters: Parameters) -> str:
    parameters = list(parameters)
    why = any(name == "why" and text not in ("", "0", "false", "no") for name, text in parameters)
    answer = answer_to(facts, clock, [(name, text) for name, text in parameters if name != "why"])
    return answer_json(present(facts, answer), Wanted(why=why))


def _explain(facts: Snapshot, clock: Clock, parameters: Parameters) -> str:
    answer = answer_to(facts, clock, parameters)
    return answer_json(present(facts, answer), Wanted(why=not answer.causes))


def _show(facts: Snapshot, clock: Clock, parameters: Parameters) -> str:
    given, day = _read(parameters, clock, "product", "version")
    name, _, version = given.get("product", "").partition("==")
    version = given.get("version", "") or version
    if not name:
        raise UsageError("product is needed, such as product=torch")
    if "/" in name:
        content = repository_content(facts, ":".join(filter(None, (name, version))), day)
        return Edition(facts.meta["data_date"], day).document(content)
    product = find_product(facts, name)
    if product.role == "feature":
        return features.features_json(features.Features(facts, day, feature=product.id))
    if version:
        return catalog.release_json(facts, product, version, day)
    return catalog.product_json(facts, product, day)


def _eol(facts: Snapshot, clock: Clock, parameters: Parameters) -> str:
    given, day = _read(parameters, clock, "product", "within")
    product = find_product(facts, given["product"]) if "product" in given else None
    return catalog.eol_json(facts, product, day, parse_days(given.get("within", "90d")))


def _search(facts: Snapshot, clock: Clock, parameters: Parameters) -> str:
    given, day = _read(parameters, clock, "q", "limit")
    limit = given.get("limit", "20")
    if not (limit.isascii() and limit.isdigit() and 0 < int(limit) <= 1000):
        raise UsageError(f"limit is a number from 1 to 1000, not {limit!r}")
    found, edition = find(facts, split_words(given.get("q", "")), day), Edition(facts.meta["data_date"], day)
    return search_text(found, edition, int(limit), as_json=True)


KINDS: Mapping[str, Callable[[Snapshot, Clock, list[tuple[str, str]]], str]] = {
    "resolve": _resolve,
    "explain": _explain,
    "show": _show,
    "eol": _eol,
    "search": _search,
}
"""The calls of the API, each as the command of that name."""


def _read(parameters: Parameters, clock: Clock, *names: str) -> tuple[dict[str, str], date]:
    """Return the parameters that a call knows, each at most once, and the day that it is about."""
    given: dict[str, str] = {}
    for name, text in parameters:
        plain = name.replace("_", "-")
        if plain not in (*names, "as-of"):
            raise UsageError(f"unknown parameter {name[:60]!r}; known: {', '.join((*names, 'as-of'))}")
        if plain in given:
            raise UsageError(f"{plain} is given more than once")
        if len(text) > MOST_CHARACTERS:
            raise UsageError(f"{plain} is longer than {MOST_CHARACTERS} characters")
        if text.strip():
            given[plain] = text.strip()
    day = parse_day(given.pop("as-of")) if "as-of" in given else None
    return given, Clock(clock.today, day or clock.as_of).day
