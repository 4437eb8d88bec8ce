"""The pages that show many things at once: matrix, image tags, ends of life, timeline, about the data, the API."""

from typing import Any

from compatkb.catalog.statistics import statistics as counted
from compatkb.errors import CompatkbError
from compatkb.output import catalog, messages, statistics, timeline
from compatkb.output.labels import series_of, term
from compatkb.web import systems
from compatkb.web.answer_view import WORDS
from compatkb.web.api_schema import CALLS, FILES
from compatkb.web.pages import Site
from compatkb.web.product_pages import read, repositories
from compatkb.web.questions import PageQuestion

Record = dict[str, Any]
BRIEF = {"works": "works", "works-with-warnings": "warnings", "likely": "likely", "unknown": "unknown", "does-not-work": "no"}
MEANINGS = {
    "works": "Every step that matters is stated by a primary source or was observed, and none is denied.",
    "works-with-warnings": "The same, with something to know before you use it: an end of life, a security issue, a preview.",
    "likely": "At least one step is only inferred. The answer says which, and what would settle it.",
    "unknown": "The data cannot tell. The answer names what is not settled.",
    "does-not-work": "A statement, a rule or a recorded failure denies it, or nothing that fits was ever published.",
}
_LONG = 365 * 100


def matrix_page(site: Site) -> str:
    """Return the table of each series with each Python, by device."""
    facts = site.facts
    pythons = systems.pythons(facts)[::-1]
    tables = []
    for device in systems.devices(facts):
        rows = []
        for series in systems.series(facts):
            at = PageQuestion(((site.main, series),), (), (device.id,))
            rows.append((series, at, [_cell(site, at.fix("python", python)) for python in pythons]))
        tables.append((device, rows))
    return site.render(
        "matrix.html", "matrix.html", "Matrix – compatkb", tables=tables, pythons=pythons, brief=BRIEF,
        words=WORDS, main_name=facts.products[site.main].name,
        description="Which series works with which Python, by device.",
    )  # fmt: skip


def _cell(site: Site, question: PageQuestion) -> tuple[PageQuestion, str]:
    try:
        return question, site.asker.verdict(question)
    except CompatkbError:
        return question, "unknown"


def images_page(site: Site) -> str:
    """Return the table of image tags, each with what it holds."""
    rows = [
        {
            **tag,
            "repository": content["repository"],
            "held": [_held(site, part) for part in tag["contains"]],
        }
        for content in repositories(site.facts, site.asker.clock)
        for tag in content["tags"]
    ]
    return site.render(
        "images.html", "images.html", "Image tags – compatkb", rows=rows,
        description="Container tags and what they hold.",
    )  # fmt: skip


def _held(site: Site, part: Record) -> tuple[str, str]:
    """Return what an image holds in words, what is only inferred behind a tilde, and the page of its release."""
    product, _, version = part["is"].partition("==")
    name = term(site.facts, part["is"])
    return f"~{name}" if part["basis"] == "inferred" else name, site.release_page(product, _release(site, product, version))


def _release(site: Site, product: str, version: str) -> str:
    """Return the release that a version is a build of."""
    if product not in site.facts.products:
        return version
    return next((e.release for e in site.facts.elements(product) if e.version == version), version)


def eol_page(site: Site) -> str:
    """Return the ends of life: patches by their series, runtime packages folded."""
    facts = site.facts
    groups: dict[tuple[str, str, str], Record] = {}
    content = read(catalog.eol_json(facts, None, site.asker.clock.day, _LONG))
    for entry in content["ends"]:
        product, version = facts.products[entry["product"]], entry["version"]
        series = series_of(facts, product.id, version)
        named = {
            "series": series,
            "name": product.name,
            "label": term(facts, f"{product.id}=={version}"),
            "role": product.role,
        }
        group = groups.setdefault((product.id, series, entry["last_day"]), {**entry, **named, "versions": []})
        group["versions"].append(version)
    rows = list(groups.values())
    leaves = [row for row in rows if row["role"] == "leaf"]
    main = [row for row in rows if row["role"] != "leaf"]
    parts = [
        ("Still to come", sorted((r for r in main if not r["ended"]), key=lambda r: r["last_day"])),
        ("Past", sorted((r for r in main if r["ended"]), key=lambda r: r["last_day"], reverse=True)),
    ]
    rules = [{**rule, "name": facts.products[rule["product"]].name} for rule in content["rules"]]
    return site.render(
        "eol.html", "eol.html", "End of life – compatkb", parts=parts, leaves=leaves, rules=rules,
        support_rule=messages.support_rule, description="What ends when.",
    )  # fmt: skip


def timeline_page(site: Site) -> str:
    """Return the events, newest first."""
    facts = site.facts
    rows = [
        (timeline.date_text(event), facts.vendors.get(event.vendor, event.vendor), event) for event in reversed(facts.events)
    ]
    return site.render(
        "timeline.html", "timeline.html", "Timeline – compatkb", rows=rows,
        description="Releases, milestones and ends of life.",
    )  # fmt: skip


def about_page(site: Site) -> str:
    """Return what the verdicts mean, and how large and how fresh the data are."""
    figures = statistics.figures(counted(site.facts, site.asker.clock.day))
    return site.render(
        "about.html", "about.html", "About the data – compatkb", figures=figures, meanings=MEANINGS, words=WORDS,
        description="Coverage, dates and what the verdicts mean.",
    )  # fmt: skip


def api_page(site: Site) -> str:
    """Return how programs read the site."""
    return site.render(
        "api.html", "api.html", "API – compatkb", files=FILES, calls=CALLS, description="The same answers for programs."
    )
