"""A site's pages: the templates, the addresses of questions, and what every page shows."""

import hashlib
import re
from collections.abc import Iterator
from datetime import date
from functools import cached_property, lru_cache
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

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
from compatkb.request.typed import Aside
from compatkb.version import __version__
from compatkb.web.answer_view import INSTALLERS, WORDS, recipes, shown_of
from compatkb.web.asker import Asker
from compatkb.web.choices import rows_of, value_of
from compatkb.web.mine import KINDS_OF_TEXT, judge_text
from compatkb.web.questions import Asked, PageQuestion, Parameters, question_of, read_asked
from compatkb.web.responses import ProblemDetails
from compatkb.web.screens import Part, parts_of
from compatkb.web.systems import answer_path, file_name, gpu_path, has_badge, release_path

_PACKAGE = Path(__file__).resolve().parent.parent
ASSETS = ("style.css", "app.js", "icon.svg")
SECTIONS = (
    ("index.html", "Find"),
    ("mine.html", "Check mine"),
    ("matrix.html", "Map"),
    ("gpus.html", "GPUs"),
    ("products.html", "Releases"),
    ("eol.html", "End of life"),
    ("api.html", "API"),
)
ROWS = ("python", "os", "hardware")
PLACES = ("hardware", "os", "python")
"""What is said first of a question."""
MOST_HITS = 8
_ENDS = frozenset(("dead", "end", "ended", "ends", "eol"))
_PRINTED = re.compile(
    r"[:()_]|\.(?:so|dll)\b|\b(?:cannot|crash\w*|error|fail\w*|false|hangs?|miss\w*|no|not|undefined|zero)\b", re.IGNORECASE
)
"""What a line has that tells of a failure; other words are no more than names that a cause may have, too."""
SIGNED = {verdict: messages.signed(verdict) for verdict in messages.VERDICTS}
"""The verdicts as the terminal shows them."""
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
    env.filters |= {"mark": disputes.mark, "issue": issue_line, "day": day_text, "pair": lambda one: (one["text"], one["url"])}
    return env


def prose(text: str) -> Markup:
    """Return a text of the program or the data as HTML: what stands in backticks is code."""
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(text))))


def day_text(day: str) -> str:
    """Return a day, or a month where no more is known, as people write it: 6 August 2025."""
    parts = day.split("-")
    month = date(2000, int(parts[1]), 1).strftime("%B") if len(parts) > 1 else ""
    return " ".join([*(str(int(part)) for part in parts[2:]), *filter(None, [month]), parts[0]])


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

    def __init__(
        self, asker: Asker, *, live: bool, engine_size: str = "", build: str = "", issues: str | None = None, url: str = ""
    ) -> None:
        self.asker, self.facts, self.live, self.engine_size = asker, asker.facts, live, engine_size
        self.url = f"{url.rstrip('/')}/" if url else ""
        self.issues = issue_tracker() if issues is None else issues
        self.engine = bool(engine_size)
        self.build = build or self._digest()
        self.ask = "./" if live else "ask.html"

    def _digest(self) -> str:
        """The digest of what the site is made from: data, program, sources of the pages, day."""
        made_from = (
            self.facts.meta["digest"],
            __version__,
            self.asker.clock,
            self.live,
            self.engine_size,
            self.issues,
            self.url,
        )
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
        """The releases that have a page: on a static site recent ones of what routes are made of, and of companions."""
        shown = {route.provider for route in self.facts.routes}
        shown |= {product.id for product in self.facts.products.values() if product.role == Role.COMPANION}
        return {
            (release.product, release.version)
            for release in self.facts.releases()
            if self.live or (release.product in shown and self.asker.form.is_recent(release))
        }

    def release_page(self, product: str, version: str) -> str:
        """Return the path of a release's page, empty where there is none."""
        return release_path(product, version) if (product, version) in self._released else ""

    def claims_file(self, product: str) -> str:
        """Return the path of the file of what others say of a product, empty where there is none."""
        is_written = self.live or product in {route.provider for route in self.facts.routes}
        return f"api/v1/claims/{file_name(product)}.json" if is_written else ""

    def at(self, path: str) -> str:
        """Return the address of a page where the site is to be found; its folder for the front page."""
        return self.url + ("" if path == "index.html" else quote(path))

    def picture(self, path: str) -> str:
        """Return the path of the picture that a link to a page brings along: a model's own, else that of the front page."""
        return f"{path.removesuffix('.html') if path in self._of_models else 'index'}.png"

    @cached_property
    def _of_models(self) -> set[str]:
        return {gpu_path(name) for name in self.asker.form.models}

    def render(self, template: str, path: str, title: str, **values: Any) -> str:
        """Return a page as HTML."""
        shown: dict[str, Any] = {
            "site": self, "root": "../" * path.count("/"), "page": path, "section": "", "sections": SECTIONS,
            "title": title, "description": "", "data_date": self.facts.meta["data_date"], "version": __version__,
            "picture": self.picture(path),
        }  # fmt: skip
        return environment().get_template(template).render({**shown, **values})

    def answer_page(
        self, question: PageQuestion, path: str = "index.html", asked: Asked | None = None, typed: str = ""
    ) -> str:
        """Return the page of a question, with what was set aside of the words that were typed; raises GaveUpError."""
        answer = self.asker.view(question)
        normal = question_of(answer.request, question)
        if len(answer.request.devices) == 1:
            normal = normal._replace(devices=answer.request.devices)
        rows = rows_of(self.asker, normal, self._best_series(answer), answer.best.device.id if answer.best else None)
        chosen = dict(normal.parameters())
        extras = [(o.removeprefix("--"), p) for o, _, p, _ in HEADLINES if self._is_extra(p)]
        shown = shown_of(self.asker, question, answer)
        found = self.diagnosis(typed, asked) if asked and typed else []
        aside = [self._aside(question, one) for one in asked.aside] if asked and not found else []
        chips = list(self.chips(question, {row.id for row in rows if row.is_blamed}))
        return self.render(
            "answer.html", path, f"{answer.headline} – compatkb",
            description=f"{shown['word']} {answer.headline}. {shown['sure']}",
            view=answer, **shown, question=question, home=question == self.home and not typed,
            rows=rows, parameters=normal.parameters(), installers=INSTALLERS, words=SIGNED,
            hidden=[(n, t) for n, t in normal.parameters() if n not in {e for e, _ in extras} and n != "q"],
            extras=[*((n, self.facts.products[p].name, chosen.get(n, "")) for n, p in extras),
                    ("q", "Exact pins, such as numpy==VERSION", chosen.get("q", ""))],
            boxed=() if question == self.home else question.parameters(), chips=chips,
            aside=aside, diagnosis=found, alone=bool(found) and question == self.home,
            command=question.command(), json=self.data_address(question, "resolve", "answers"),
            shield=self.data_address(question, "shield", "shields"), report=self.report(question, answer),
        )  # fmt: skip

    def chips(self, question: PageQuestion, blamed: set[str]) -> Iterator[tuple[str, PageQuestion, bool]]:
        """Yield what a question fixes in words, the question that leaves it out, and whether it is to blame for a "no"."""
        if question == self.home:
            return
        for device in question.devices:
            free = question._replace(devices=tuple(d for d in question.devices if d != device))
            yield next((value.label for value in self.asker.form.devices if value.id == device), device), free, False
        options = sorted(question.options, key=lambda option: PLACES.index(option[0]) if option[0] in PLACES else len(PLACES))
        for product, text in options:
            yield self.label(product, text), question.fix(product), product in blamed
        for word in question.words:
            free = question._replace(words=tuple(w for w in question.words if w != word))
            yield Names(self.facts).term(word.replace(" ", "==")) if re.search("==| ", word) else word, free, False
        for need in question.needs:
            yield self.facts.products[need].name, question._replace(needs=tuple(n for n in question.needs if n != need)), False
        if question.as_of:
            yield f"as of {day_text(question.as_of.isoformat())}", question._replace(as_of=None), False

    def label(self, product: str, text: str) -> str:
        """Return a version that an option fixes, in words: Arc B580, Windows 11, Python 3.12, torch 2.8."""
        if product == "hardware" and text not in {value.id for value in self.asker.form.values("hardware")}:
            return self.asker.form.model(text)
        if product in ("os", "hardware", "arch"):
            known = value_of(self.asker, product, text)
            return next((v.label.removeprefix("Intel ") for v in self.asker.form.values(product) if v.id == known), text)
        return f"{self.facts.products[product].label} {text}"

    def _aside(self, question: PageQuestion, one: Aside) -> dict[str, Any]:
        """Return a word that was set aside with links to what may have been meant, and to what the data have of it."""
        if one.word.lower() in _ENDS:
            named = [f"{product} {text}" for product, text in question.options if product == self.main or product not in ROWS]
            hits = [hit for word in (*named, *question.words) for hit in self.hits(word)[:1]]
            said = "When support ends is told by the page of a release."
            return {"word": one.word, "said": said, "links": [], "hits": [*hits, ("eol.html", "End of life")]}
        links = []
        for meant in one.meant[:3]:
            read = read_asked(self.facts, [*question.parameters(), ("q", meant)], self.asker.clock)
            if not read.aside:
                links.append((meant, read.question))
        why = "" if one.why.endswith(("is not a product", "is not in the data")) else one.why
        unknown = f"“{one.word}” is not a package, device or system that compatkb knows; the answer is for the rest."
        said = f"“{one.word}” was set aside: {why}." if why else unknown
        return {"word": one.word, "said": said, "links": links, "hits": self.hits(one.word)}

    def hits(self, typed: str) -> list[tuple[str, str]]:
        """Return pages about words, each with its name."""
        hits: dict[str, str] = {}
        try:
            matches = find(self.facts, [typed], self.asker.clock.day).hits
        except CompatkbError:
            matches = ()
        for hit in matches:
            if hit.kind == "image":
                hits.setdefault(f"images.html#find={quote(typed)}", "the images")
            elif hit.product and self.facts.products[hit.product].role != Role.FEATURE:
                at = self.release_page(hit.product, hit.version or "")  # none for a range of versions
                term = f"{hit.product}=={hit.version}" if at else hit.product
                hits.setdefault(at or f"products/{file_name(hit.product)}.html", Names(self.facts).term(term))
        return list(hits.items())[:MOST_HITS]

    def diagnosis(self, typed: str, asked: Asked) -> list[Part]:
        """Return the screen of `diagnose` about words of which some name no version, where it knows their cause."""
        if all(re.fullmatch(r"[\d.]+", one.word) for one in asked.aside) or re.fullmatch(r"[^\W_]+( [^\W_]+)?", typed):
            return []  # a slip of the keyboard is no error that a program printed
        from compatkb.doctor.diagnose import diagnose
        from compatkb.output.diagnosis import diagnosis_lines, present_diagnosis

        found = diagnose(self.facts, typed, self.asker.clock)
        if not found.candidates or not (found.candidates[0].proven or _PRINTED.search(typed)):
            return []
        return parts_of(diagnosis_lines(present_diagnosis(self.facts, found, self.asker.clock.day)))

    def _is_extra(self, product: str) -> bool:
        known = self.facts.products.get(product)
        return known is not None and product not in (self.main, *ROWS) and known.role != "companion"

    def _best_series(self, view: AnswerView) -> str:
        """Return the series of the main product in the best stack; empty where there is none."""
        build = view.best.build_of(self.main) if view.best else None
        return ".".join(build.release.split(".")[: build.product.series]) if build else ""

    def data_address(self, question: PageQuestion, call: str, folder: str) -> str:
        """Return where data of an answer are: a call of the live server, or a file; empty where they are nowhere."""
        if self.live:
            return f"api/v1/{call}?{question.query()}"
        is_written = question in self.written and (folder != "shields" or has_badge(question))
        path = answer_path(question, self.main).removesuffix(".html") if is_written else ""
        return f"api/v1/{folder}/{path}.json" if path else ""

    def report(self, question: PageQuestion, view: AnswerView) -> str:
        """Return the address of an issue that names the question and the answer; empty where none can be made."""
        summary = f"`{question.command()}`\n\nThe page says: {WORDS[view.verdict][1]}\nData of {self.facts.meta['data_date']}."
        content = {"title": f"Wrong answer: {view.headline}"[:200], "body": f"{summary}\n\nWhat is wrong:\n"}
        return f"{self.issues}/new?{urlencode(content)}" if self.issues else ""

    def ask_page(self) -> str:
        """Return the page for questions that no page was written for."""
        return self.render("ask.html", "ask.html", "Ask – compatkb", boxed=(), chips=(), aside=())

    def mine_page(self, parameters: Parameters = ()) -> str:
        """Return the page that checks a text, with what is found in the one that was posted."""
        given = dict(parameters)
        mine, problem = None, ""
        if given.get("text", "").strip():
            try:
                mine = judge_text(
                    self.facts, self.asker.clock, *(given.get(name, "") for name in ("text", "name", "device", "os"))
                )
            except CompatkbError as error:
                problem = str(error)
        systems = [value for value in self.asker.form.values("os") if value.id in self.facts.families]
        return self.render(
            "mine.html", "mine.html", "Check mine: requirements, images and errors – compatkb", mine=mine, problem=problem,
            text=given.get("text", ""), name=given.get("name", ""), device=given.get("device", ""), system=given.get("os", ""),
            kinds=KINDS_OF_TEXT, devices=self.asker.form.devices, systems=systems,
            description="Paste requirements, a Dockerfile or a traceback: what does not work together, and the mended file.",
        )  # fmt: skip

    def problem_page(self, problem: ProblemDetails, path: str = "index.html") -> str:
        """Return the page that says why a question has no answer."""
        word = "Not understood" if problem.status == 400 else "Not answered"
        return self.render(
            "problem.html", path, f"{word} – compatkb",
            problem=problem, word=word, boxed=(), chips=(), aside=(),
        )  # fmt: skip

    def question_page(self, parameters: Parameters, path: str = "index.html") -> str:
        """Return the page of an address: what of it is not understood is set aside; raises GaveUpError."""
        given = list(parameters)
        typed = " ".join(text for name, text in given if name == "q").strip()
        asked = read_asked(self.facts, given, self.asker.clock)
        empty = asked.question == PageQuestion() and (asked.aside or not given)
        return self.answer_page(self.home if empty else asked.question, path, asked, typed)
