"""A site's pages: the templates, the addresses of questions, and what every page shows."""

import hashlib
import re
from functools import cached_property, lru_cache
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from compatkb.catalog.search import search as find
from compatkb.core.vocabulary import Role
from compatkb.errors import CompatkbError, UnavailableError
from compatkb.headline_options import HEADLINES
from compatkb.output import disputes, messages
from compatkb.output.documents import short
from compatkb.output.issue_text import issue_line
from compatkb.output.labels import Names
from compatkb.output.things import platforms
from compatkb.output.view import AnswerView
from compatkb.version import __version__
from compatkb.web.answer_view import INSTALLERS, WORDS, recipes, shown_of
from compatkb.web.asker import Asker
from compatkb.web.choices import rows_of
from compatkb.web.questions import PageQuestion, Parameters, question_of, read_question
from compatkb.web.responses import ProblemDetails
from compatkb.web.systems import answer_path, file_name, release_path

_PACKAGE = Path(__file__).resolve().parent.parent
ASSETS = ("style.css", "app.js", "icon.svg")
SECTIONS = (
    ("matrix.html", "Matrix"),
    ("products.html", "Releases"),
    ("images.html", "Images"),
    ("eol.html", "End of life"),
    ("api.html", "API"),
)
ROWS = ("python", "os", "hardware")
MOST_HITS = 8
TRACKERS = ("issues", "bugs", "issue", "tracker", "issuetracker", "bugtracker")
"""The labels by which a package's metadata name where its errors are reported, as the packaging guide has them."""


@lru_cache
def sources() -> Path:
    """Return the folder with the page's sources: inside the installed package, else in the checkout."""
    for folder in (_PACKAGE / "_web", _PACKAGE.parent.parent / "web"):
        if (folder / "templates" / "base.html").is_file():
            return folder
    raise UnavailableError("this installation carries no sources of the site; install a wheel of compatkb")


@lru_cache
def environment() -> Environment:
    """Return the templates; everything that they show is escaped."""
    folder = FileSystemLoader(sources() / "templates")
    env = Environment(loader=folder, autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    env.globals |= {"recipes": recipes, "not_installable": messages.not_installable, "platforms": platforms}
    env.filters |= {"prose": prose, "chunks": chunks, "short": short, "sentence": lambda text: prose(messages.sentence(text))}
    env.filters |= {"mark": disputes.mark, "issue": issue_line}
    return env


def prose(text: str) -> Markup:
    """Return a text of the program or the data as HTML: what stands in backticks is code."""
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(text))))


def chunks(line: str) -> list[str]:
    """Return the words of a command, an option with its value, so that lines break between them."""
    return re.findall(r"--\S+ \S+|\S+", line)


def issue_tracker() -> str:
    """Return where errors are reported, as the metadata of the installed package name it; empty where they do not."""
    try:
        known = metadata("compatkb").get_all("Project-URL") or []
    except PackageNotFoundError:
        return ""
    addresses = {re.sub(r"[\W_]", "", label).lower(): url.strip() for label, _, url in (text.partition(",") for text in known)}
    return next((addresses[label].rstrip("/") for label in TRACKERS if label in addresses), "")


class Site:
    """The pages over one snapshot: live ones lead to the server, written ones to each other and to the page that asks."""

    def __init__(self, asker: Asker, *, live: bool, engine_size: str = "", build: str = "", issues: str | None = None) -> None:
        self.asker, self.facts, self.live, self.engine_size = asker, asker.facts, live, engine_size
        self.issues = issue_tracker() if issues is None else issues
        self.engine = bool(engine_size)
        self.build = build or self._digest()
        self.ask = "./" if live else "ask.html"

    def _digest(self) -> str:
        """The digest of what the site is made from: data, program, sources of the pages, day."""
        made_from = (self.facts.meta["digest"], __version__, self.asker.clock, self.live, self.engine_size, self.issues)
        digest = hashlib.sha256(repr(made_from).encode())
        for path in sorted((*sources().rglob("*.*"), *_PACKAGE.rglob("*.py"))):
            digest.update(path.name.encode() + path.read_bytes())
        return digest.hexdigest()[:12]

    def asset(self, name: str) -> str:
        """Return the name of a file of the build, which has its digest in it."""
        stem, _, ending = name.partition(".")
        return f"assets/{stem}-{self.build}.{ending}"

    @cached_property
    def written(self) -> dict[PageQuestion, str]:
        """The questions that have a page of their own, and its path; that of the front page has no other one."""
        paths = {question: answer_path(question, self.main) for question in self.asker.form.written()}
        return {**paths, self.home: "index.html"}

    @cached_property
    def main(self) -> str:
        """The product whose series the form asks for."""
        return self.asker.form.main

    @cached_property
    def home(self) -> PageQuestion:
        """The question of the front page: anything on the first device."""
        return PageQuestion(devices=(self.asker.form.devices[0].id,))

    def address(self, question: PageQuestion) -> str:
        """Return the address of a question's page, from the site's root."""
        if self.live:
            return f"./?{query}" if (query := question.query()) else "./?device="
        if path := self.written.get(question):
            return path
        return f"ask.html?{question.query()}"

    @cached_property
    def _released(self) -> set[tuple[str, str]]:
        return {(release.product, release.version) for release in self.facts.releases()}

    def release_page(self, product: str, version: str) -> str:
        """Return the path of a release's page, empty where there is none."""
        return release_path(product, version) if (product, version) in self._released else ""

    def render(self, template: str, path: str, title: str, **values: Any) -> str:
        """Return a page as HTML."""
        shown: dict[str, Any] = {
            "site": self, "root": "../" * path.count("/"), "page": path, "section": "", "sections": SECTIONS,
            "title": title, "description": "", "data_date": self.facts.meta["data_date"], "version": __version__,
            "typed": "",
        }  # fmt: skip
        return environment().get_template(template).render({**shown, **values})

    def answer_page(self, question: PageQuestion, path: str = "index.html") -> str:
        """Return the page of a question; raises UsageError and GaveUpError."""
        answer = self.asker.view(question)
        normal = question_of(answer.request, question)
        if len(answer.request.devices) == 1:
            normal = normal._replace(devices=answer.request.devices)
        rows = rows_of(self.asker, normal, self.best(normal))
        chosen = dict(normal.parameters())
        extras = [(o.removeprefix("--"), p) for o, _, p, _ in HEADLINES if self._is_extra(p)]
        known = [self.facts.products[p] for _, p in reversed(extras)]
        shown = shown_of(self.asker, question, answer)
        firsts = {head.role: head.label for head in known if head.shown or head.role == Role.PACKAGE}
        return self.render(
            "answer.html", path, f"{answer.headline} – compatkb",
            description=f"{shown['word']} {answer.headline}. {shown['sure']}",
            more=", ".join(reversed(firsts.values())), view=answer, **shown, question=question, home=question == self.home,
            rows=rows, parameters=normal.parameters(),
            installers=INSTALLERS, words=messages.VERDICTS,
            hidden=[(n, t) for n, t in normal.parameters() if n not in {e for e, _ in extras} and n != "q"],
            extras=[*((n, self.facts.products[p].name, chosen.get(n, "")) for n, p in extras),
                    ("q", "Exact pins, such as numpy==VERSION", chosen.get("q", ""))],
            typed=" ".join(question.words), command=question.command(), json=self.data_address(question, "resolve", "answers"),
            shield=self.data_address(question, "shield", "shields"), report=self.report(question, answer),
        )  # fmt: skip

    def _is_extra(self, product: str) -> bool:
        known = self.facts.products.get(product)
        return known is not None and product not in (self.main, *ROWS) and known.role != "companion"

    def best(self, question: PageQuestion) -> str:
        """Return the series of the best stack when the main product is left free; empty where there is none."""
        try:
            best = self.asker.view(question.fix(self.main)).best
        except CompatkbError:
            return ""
        build = best.build_of(self.main) if best else None
        return ".".join(build.release.split(".")[: build.product.series]) if build else ""

    def data_address(self, question: PageQuestion, call: str, folder: str) -> str:
        """Return where data of an answer are: a call of the live server, or a file; empty where they are nowhere."""
        if self.live:
            return f"api/v1/{call}?{question.query()}"
        path = answer_path(question, self.main).removesuffix(".html") if question in self.written else ""
        return f"api/v1/{folder}/{path}.json" if path else ""

    def report(self, question: PageQuestion, view: AnswerView) -> str:
        """Return the address of an issue that names the question and the answer; empty where none can be made."""
        summary = f"`{question.command()}`\n\nThe page says: {WORDS[view.verdict][1]}\nData of {self.facts.meta['data_date']}."
        content = {"title": f"Wrong answer: {view.headline}"[:200], "body": f"{summary}\n\nWhat is wrong:\n"}
        return f"{self.issues}/new?{urlencode(content)}" if self.issues else ""

    def ask_page(self) -> str:
        """Return the page for questions that no page was written for."""
        return self.render("ask.html", "ask.html", "Ask – compatkb")

    def problem_page(self, problem: ProblemDetails, parameters: Parameters) -> str:
        """Return the page that says what is wrong with a question, and what the data have of its words."""
        typed = " ".join(text for name, text in parameters if name == "q")[:200]
        hits: dict[str, str] = {}
        try:
            matches = find(self.facts, [typed], self.asker.clock.day).hits if typed else ()
        except CompatkbError:
            matches = ()
        for hit in matches:
            if hit.product and self.facts.products[hit.product].role != Role.FEATURE:
                at = self.release_page(hit.product, hit.version or "") or f"products/{file_name(hit.product)}.html"
                hits.setdefault(at, Names(self.facts).term(f"{hit.product}=={hit.version}" if hit.version else hit.product))
        word = "Not understood" if problem.status == 400 else "Not answered"
        return self.render(
            "problem.html", "index.html", f"{word} – compatkb",
            problem=problem, typed=typed, hits=list(hits.items())[:MOST_HITS], word=word,
        )  # fmt: skip

    def question_page(self, parameters: Parameters, path: str = "index.html") -> str:
        """Return the page of an address; raises UsageError and GaveUpError."""
        given = list(parameters)
        return self.answer_page(read_question(given) if given else self.home, path)
