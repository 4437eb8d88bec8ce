"""What the API answers: the JSON that the commands print, from the functions that print it; problems by RFC 9457."""

import json
import time
from collections.abc import Callable, Mapping
from datetime import date

from compatkb.catalog.search import search as find
from compatkb.core.clock import Clock
from compatkb.core.record import NamedTuple
from compatkb.engine.answer import Answer, resolve
from compatkb.errors import CompatkbError, GaveUpError, NewerError, ProblemsError, UnavailableError, UsageError
from compatkb.output import features
from compatkb.output.catalog import Catalog
from compatkb.output.documents import Edition, json_text
from compatkb.output.images import repository_content
from compatkb.output.payload import answer_json
from compatkb.output.presenter import present
from compatkb.output.registry import Wanted
from compatkb.output.search_results import search_json
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
    """The status, the media type and the text of a response, and where it leads if it leads elsewhere."""

    status: int
    media: str
    text: str
    location: str = ""


def problem_of(error: CompatkbError) -> ProblemDetails:
    """Return the problem that an error is."""
    problems = error.problems if isinstance(error, ProblemsError) else ()
    if isinstance(error, NewerError):
        return ProblemDetails(404, "Newer than the data", str(error), problems)
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


def patience(seconds: float = PATIENCE) -> Callable[[], bool]:
    """Return what tells whether the time for an answer is over."""
    end = time.process_time() + seconds
    return lambda: time.process_time() > end


def picked_members(text: str, fields: str) -> str:
    """Return a document with these members alone, separated by commas; raises UsageError for one that it does not have."""
    members = json.loads(text)
    wanted = [name.strip() for name in fields.split(",") if name.strip()]
    if unknown := [name for name in wanted if name not in members]:
        raise UsageError(f"unknown field {unknown[0][:60]!r}; known: {', '.join(members)}")
    return json_text({name: members[name] for name in members if name in wanted})


class Api:
    """The calls over one snapshot, on one day."""

    def __init__(self, facts: Snapshot, clock: Clock) -> None:
        self.facts, self.clock = facts, clock

    def respond(self, kind: str, parameters: Parameters) -> Response:
        """Return the response to a call: `kind` is one of KINDS or POSTED; what is wrong with it is a problem document."""
        try:
            return Response(200, JSON, {**KINDS, **POSTED}[kind](self, list(parameters)))
        except CompatkbError as error:
            return problem_response(problem_of(error))

    def answer(self, parameters: Parameters) -> Answer:
        """Return the answer to the question of an address; raises UsageError and GaveUpError."""
        return resolve(self.facts, read_question(parameters).request(self.facts, self.clock), patience())

    def check(self, parameters: Parameters) -> str:
        """Return what `check --format json` prints of a text; raises UsageError."""
        from compatkb.check.report_text import Shown, report_json
        from compatkb.web.mine import check_text

        given = self._text(parameters, "name", "device", "os")
        report, asked = check_text(self.facts, self.clock, *(given.get(n, "") for n in ("text", "name", "device", "os")))
        return report_json(Shown(report, asked))

    def diagnose(self, parameters: Parameters) -> str:
        """Return what `diagnose --format json` prints of a text; raises UsageError."""
        from compatkb.doctor.diagnose import diagnose
        from compatkb.output.diagnosis import diagnosis_json, present_diagnosis

        found = diagnose(self.facts, self._text(parameters)["text"], self.clock)
        return diagnosis_json(present_diagnosis(self.facts, found, self.clock.day))

    def _text(self, parameters: Parameters, *names: str) -> dict[str, str]:
        """Return the members of a post; raises UsageError for unknown ones, and where there is no text."""
        given = dict(parameters)
        if unknown := sorted(given.keys() - {"text", *names}):
            raise UsageError(f"unknown member {unknown[0][:60]!r}; known: {', '.join(('text', *names))}")
        if not given.get("text", "").strip():
            raise UsageError("there is no text; give it as the member text of a form or of a JSON object")
        return given

    def resolve(self, parameters: Parameters) -> str:
        """Return the answer to a question as JSON; raises UsageError."""
        given = dict(parameters)
        why = given.pop("why", "") not in ("", "0", "false", "no")
        fields = given.pop("fields", "")
        answer = self.answer([(name, text) for name, text in parameters if name not in ("why", "fields")])
        text = answer_json(present(self.facts, answer), Wanted(why=why))
        return picked_members(text, fields) if fields else text

    def explain(self, parameters: Parameters) -> str:
        """Return the same, with everything that speaks for it unless it is denied as JSON; raises UsageError."""
        answer = self.answer(parameters)
        return answer_json(present(self.facts, answer), Wanted(why=not answer.causes))

    def show(self, parameters: Parameters) -> str:
        """Return what the data hold of a product, a release or an image as JSON; raises UsageError."""
        given, day = self._read(parameters, "product", "version")
        name, _, version = given.get("product", "").partition("==")
        version = given.get("version", "") or version
        if not name:
            raise UsageError("product is needed, such as product=torch")
        if "/" in name:
            content = repository_content(self.facts, ":".join(filter(None, (name, version))), day)
            return Edition(self.facts.meta["data_date"], day).document(content)
        product = find_product(self.facts, name)
        if product.role == "feature":
            return features.features_json(features.asked_features(self.facts, [product.id], self.clock))
        if version:
            return Catalog(self.facts, day).release_json(product, version)
        return Catalog(self.facts, day).product_json(product)

    def eol(self, parameters: Parameters) -> str:
        """Return ends of life as JSON; raises UsageError."""
        given, day = self._read(parameters, "product", "within")
        product = find_product(self.facts, given["product"]) if "product" in given else None
        return Catalog(self.facts, day).eol_json(product, parse_days(given.get("within", "90d")))

    def search(self, parameters: Parameters) -> str:
        """Return the records that have all of some words as JSON; raises UsageError."""
        given, day = self._read(parameters, "q", "limit")
        limit = given.get("limit", "20")
        if not (limit.isascii() and limit.isdigit() and 0 < int(limit) <= 1000):
            raise UsageError(f"limit is a number from 1 to 1000, not {limit!r}")
        found, edition = find(self.facts, split_words(given.get("q", "")), day), Edition(self.facts.meta["data_date"], day)
        return search_json(found, edition, int(limit))

    def _read(self, parameters: Parameters, *names: str) -> tuple[dict[str, str], date]:
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
        return given, Clock(self.clock.today, day or self.clock.as_of).day


KINDS: Mapping[str, Callable[[Api, list[tuple[str, str]]], str]] = {
    "resolve": Api.resolve,
    "explain": Api.explain,
    "show": Api.show,
    "eol": Api.eol,
    "search": Api.search,
}
"""The calls of the API, each as the command of that name."""
CHECK, DIAGNOSE = "check", "diagnose"
POSTED: Mapping[str, Callable[[Api, list[tuple[str, str]]], str]] = {CHECK: Api.check, DIAGNOSE: Api.diagnose}
"""The calls that a text is posted to."""
