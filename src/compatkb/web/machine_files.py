"""What programs read of a site: what the commands print as JSON, the same facts in the shapes of other tools, and llms.txt.

They are as of the day of the data, so that nothing in them changes when only the day does; https://llmstxt.org describes
llms.txt.
"""

import json
from collections.abc import Callable, Iterator
from datetime import date
from functools import partial
from typing import Any

from compatkb.core.clock import Clock
from compatkb.core.vocabulary import Role
from compatkb.engine.known_issues import known_issues
from compatkb.errors import CompatkbError
from compatkb.output import commands, timeline
from compatkb.output.documents import Edition
from compatkb.output.labels import PYTHON, SYSTEM, series_of
from compatkb.output.messages import VERDICTS
from compatkb.output.payload import answer_payload
from compatkb.output.view import AnswerView
from compatkb.version import __version__
from compatkb.web.api_schema import CALLS, FILES, openapi
from compatkb.web.asker import Asker
from compatkb.web.pages import Site
from compatkb.web.questions import PageQuestion
from compatkb.web.systems import answer_path, file_name, has_badge

BASE = "api/v1/"
COLOURS = {
    "works": "brightgreen",
    "works-with-warnings": "yellow",
    "likely": "blue",
    "unknown": "lightgrey",
    "does-not-work": "red",
}
ENVELOPE = (1, 2, 0)
"""The version of the schema of endoflife.date that its files follow."""
_LONG = 365 * 100
_CATEGORIES = {"dimension": "device", "package": "framework", SYSTEM: "os", PYTHON: "lang"}
"""The categories of endoflife.date by role, of two products by their id."""
Maker = Callable[[], str]


class MachineFiles:
    """The files of one site for programs: the day of the data takes the place of today."""

    def __init__(self, site: Site) -> None:
        self.site, self.facts = site, site.facts
        self.clock = Clock(date.fromisoformat(self.facts.meta["data_date"]), site.asker.clock.as_of)
        self.records = Asker(self.facts, self.clock)
        self.asker = site.asker if self._is_same(self.clock, site.asker.clock) else self.records  # whose answers are made
        self.edition = Edition(self.facts.meta["data_date"], self.clock.day)

    def files(self) -> dict[str, Maker]:
        """Return what makes each file of the API, by its path."""
        makers = {f"{BASE}{path}": maker for path, maker in self._facts_files()}
        summaries = {path.schema: path.summary for path in reversed(FILES.values())}
        for name, summary in summaries.items():
            makers[f"{BASE}schema/{name}.schema.json"] = partial(_schema, name, summary)
        makers[f"{BASE}openapi.yaml"] = partial(openapi, live=self.site.live)
        return makers

    def _facts_files(self) -> Iterator[tuple[str, Maker]]:
        head = self.edition.head
        calls = {"calls": list(CALLS)} if self.site.live else {}
        yield (
            "index.json",
            lambda: _text({**head, "program": __version__, "paths": list(FILES), **calls, "openapi": "openapi.yaml"}),
        )
        yield "products.json", lambda: _text({**head, "products": self.records.catalog.products()})
        yield "images.json", lambda: _text({**head, "repositories": self.records.repositories()})
        yield "issues.json", lambda: _text({**head, "issues": list(self._issues())})
        yield "eol.json", lambda: self.records.catalog.eol_json(None, _LONG)
        yield "timeline.json", lambda: timeline.payload(timeline.select(self.facts, self.clock.day))
        providers = {route.provider for route in self.facts.routes}
        for product in self.facts.products.values():
            if product.role == "feature":
                continue
            name = file_name(product.id)
            yield f"products/{name}.json", partial(_made, self.records.product, product.id)
            shapes = (self.latest, self.endoflife, self.renovate) if self.site.live or product.role != Role.LEAF else ()
            for shape in shapes:
                yield f"{shape.__name__}/{name}.json", partial(_made, shape, product.id)
            if not self.site.live and product.id not in providers:
                continue
            versions = [r.version for r in self.facts.releases_of(product.id) if self.site.release_page(product.id, r.version)]
            for version in versions:
                at = f"releases/{name}/{file_name(version)}.json"
                yield at, partial(_made, self.one_release, product.id, version)
            yield f"claims/{name}.json", partial(_made, self.claims, product.id, versions)
        for question in self.site.written:
            at = answer_path(question, self.site.main).removesuffix(".html")
            yield f"answers/{at}.json", partial(self._answer, question)
            if has_badge(question):
                yield f"shields/{at}.json", partial(_made, lambda q: shield(self.asker.view(q)), question)
        yield "stacks.json", lambda: _text({**head, "stacks": list(self._stacks())})

    def _is_same(self, one: Clock, other: Clock) -> bool:
        """Return whether nothing ended between two days: then answers are the same on both."""
        first, last = sorted((one.day.isoformat(), other.day.isoformat()))
        return one == other or not any(first <= (release.eol or "") < last for release in self.facts.releases())

    def _answer(self, question: PageQuestion) -> str:
        return _text(answer_payload(self.asker.view(question)))

    def one_release(self, product: str, version: str) -> dict[str, Any]:
        """Return what `show` prints of this release alone; what others say of it, which is long and much alike, by its ids."""
        content = self.records.release(product, version)
        entries = [entry for entry in content["releases"] if entry["version"] == version] or content["releases"]
        return {**content, "releases": [{**e, "claimed_by": [claim["id"] for claim in e["claimed_by"]]} for e in entries]}

    def claims(self, product: str, versions: list[str]) -> dict[str, Any]:
        """Return what others say of these releases, each claim once."""
        releases = (entry for version in versions for entry in self.records.release(product, version)["releases"])
        claims = {claim["id"]: claim for entry in releases for claim in entry["claimed_by"]}
        return {**self.edition.head, "product": product, "claims": list(claims.values())}

    def latest(self, product: str) -> dict[str, Any]:
        """Return the newest release of a product and of each series: yanked and pre-release ones where nothing else is."""
        content = self.records.product(product)
        stages: dict[str, set[str]] = {}
        for element in self.facts.elements(product):
            stages.setdefault(element.release, set()).add(element.stage)
        rows = list(content["releases"])
        good = [row for row in rows if not row["yanked"] and stages.get(row["version"], {"stable"}) & {"stable"}]
        series: dict[str, Any] = {}
        for row in (*good, *rows):
            series.setdefault(series_of(self.facts.products[product], row["version"]), row)
        head = {name: content[name] for name in ("schema", "data_date", "as_of")}
        newest = (good or rows)[0] if rows else None
        order = dict.fromkeys(series_of(self.facts.products[product], row["version"]) for row in rows)
        return {**head, "product": product, "latest": newest, "series": {name: series[name] for name in order}}

    def endoflife(self, product: str) -> dict[str, Any]:
        """Return the series of a product in the envelope of API v1 of endoflife.date; a series without a date is left out."""
        content = self.records.product(product)
        groups: dict[str, list[dict[str, Any]]] = {}
        for row in content["releases"]:
            groups.setdefault(series_of(self.facts.products[product], row["version"]), []).append(row)
        cycles = []
        for name, rows in groups.items():
            dates = sorted(row["released"] for row in rows if _is_day(row["released"]))
            if not dates:  # without one a series has no place there
                continue
            ends = [row["eol"] for row in rows if _is_day(row["eol"])]
            ended = all(row["ended"] or row["yanked"] for row in rows)
            newest = rows[0]["released"]
            latest = {"name": rows[0]["version"], "date": newest if _is_day(newest) else None, "link": None}
            cycle = {"name": name, "codename": None, "label": name, "releaseDate": dates[0], "isLts": False, "ltsFrom": None}
            cycle |= {"isEol": ended, "eolFrom": max(ends) if len(ends) == len(rows) else None, "isMaintained": not ended}
            cycles.append({**cycle, "latest": latest, "custom": None})
        category = _CATEGORIES.get(product) or _CATEGORIES.get(content["role"], "library")
        made = f"{self.facts.meta['data_date']}T00:00:00+00:00"
        names = [name for name in (content["distribution"], *self.facts.keys_by_product.get(product, ())) if name]
        return {
            "schema_version": ".".join(map(str, ENVELOPE)), "generated_at": made, "last_modified": made,
            "result": {
                "name": product, "aliases": sorted({*names} - {product}), "label": content["name"], "category": category,
                "tags": [category], "versionCommand": None, "identifiers": [],
                "labels": {"eol": "End of life", "eoas": None, "discontinued": None, "eoes": None},
                "links": {"icon": None, "html": f"../../../products/{file_name(product)}.html", "releasePolicy": None},
                "releases": cycles,
            },
        }  # fmt: skip

    def renovate(self, product: str) -> dict[str, Any]:
        """Return the releases of a product for a custom datasource of Renovate; yanked and ended ones are deprecated."""
        releases = []
        for row in self.records.product(product)["releases"]:
            entry: dict[str, Any] = {"version": row["version"]}
            if _is_day(row["released"]):
                entry["releaseTimestamp"] = f"{row['released']}T00:00:00Z"
            if row["yanked"] or row["ended"]:
                entry["isDeprecated"] = True
            releases.append(entry)
        return {"releases": releases}

    def _issues(self) -> Iterator[dict[str, Any]]:
        """Yield the known issues: symptom, state, and where each was reported."""
        for issue in known_issues(self.facts).all:
            sources = [{"text": text, "url": url} for text, url in issue.sources]
            yield {
                "id": issue.id, "title": issue.title, "effect": issue.effect, "state": issue.state, "read": issue.read,
                "products": list(dict.fromkeys(condition.product for condition in issue.conditions)),
                "cures": [cure.to for cure in issue.cures if cure.to], "note": issue.note, "sources": sources,
            }  # fmt: skip

    def _stacks(self) -> Iterator[dict[str, Any]]:
        """Yield the stacks of each device and series."""
        for device in self.asker.form.devices:
            for series in self.asker.form.series:
                question = PageQuestion(((self.site.main, series),), (), (device.id,))
                for stack in answer_payload(self.asker.view(question))["stacks"]:
                    yield {"series": series, "device": device.id, "stack": stack}

    def llms_text(self) -> str:
        """Return the file; commands are those of the day of the data."""
        day = self.clock.day
        lines = [
            "# compatkb",
            "",
            "> Which versions of PyTorch and its companions work together on Intel GPUs and CPUs, with the source of each "
            f"claim. Data of {day}.",
            "",
            "Copy install commands as they stand: index URL and build label (`+xpu`, `+cpu`) belong together. Agents that can "
            "start a program ask it over the Model Context Protocol: `compatkb mcp`.",
            "",
            "## Today's best",
            "",
            *self._best(),
        ]
        if ended := list(self._ended(day.isoformat())):
            lines += ["", "## Not for new projects", "", *ended]
        for title, links in (("Answers as JSON", self._answers()), ("Pages", _PAGES)):
            lines += ["", f"## {title}", "", *(f"- [{path}]({path}): {what}" for path, what in links.items())]
        return "\n".join(lines) + "\n"

    def _answers(self) -> dict[str, str]:
        """Return the files that answer most, one of each kind that has many."""
        device, series = self.asker.form.devices[0].id, self.asker.form.series[0]
        release = self.facts.releases_of(self.site.main)[0].version
        return {
            f"{BASE}index.json": "what there is",
            f"{BASE}stacks.json": "the best stacks of every device and series, with install commands",
            f"{BASE}answers/{device}/{series}.json": "the answer for one device and series: answers/DEVICE/SERIES.json",
            f"{BASE}releases/{self.site.main}/{file_name(release)}.json": "one release with builds, claims and sources: "
            "releases/PRODUCT/VERSION.json",
            f"{BASE}eol.json": "what is out of support, or will be",
            f"{BASE}openapi.yaml": "all of it, described",
        }

    def _ended(self, day: str) -> Iterator[str]:
        for product in self.facts.products.values():
            known = self.facts.product_details(product.id)
            if product.distribution and known.eol and known.eol < day:
                other = known.replaced_by
                instead = f"; instead {self.facts.products[other.product].label} {other.specifier}" if other else ""
                yield f"- {product.name} ({product.distribution}): ended {known.eol}{instead}"

    def _best(self) -> Iterator[str]:
        for device in self.asker.form.devices:
            try:
                view = self.asker.view(PageQuestion(devices=(device.id,)))
            except CompatkbError:
                continue
            for section in view.sections:
                stack, where = section.group.best, f" {section.title}" if section.title else f" on {section.group.place}"
                yield f"- {stack.device}, {VERDICTS[stack.verdict]}{where}:"
                yield from (f"  `{command}`" for command in commands.pip_commands(stack))


def _schema(name: str, summary: str) -> str:
    from compatkb.export.responses import response_schema  # imports pydantic

    return _text(response_schema(name, summary))


def _made(make: Callable[..., Any], *arguments: Any) -> str:
    return _text(make(*arguments))


def shield(view: AnswerView) -> dict[str, Any]:
    """Return the verdict on a question as a badge."""
    return {
        "schemaVersion": 1,
        "label": view.asked,
        "message": VERDICTS[view.verdict],
        "color": COLOURS[view.verdict],
    }


def _is_day(text: str | None) -> bool:
    return bool(text) and len(text or "") == len("YYYY-MM-DD")


def _text(content: Any) -> str:
    """Return JSON in one line: a quarter of these files would be indentation."""
    return json.dumps(content, ensure_ascii=False, separators=(",", ":")) + "\n"


_PAGES = {
    "matrix.html": "each series with each Python, by device",
    "products.html": "every product and release",
    "images.html": "container images and what they hold",
}
