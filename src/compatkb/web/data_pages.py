"""The pages of what the data hold: products, releases, matrix, image tags, ends of life, timeline, about the data, the API."""

from collections.abc import Iterator

from compatkb.errors import CompatkbError
from compatkb.headline_options import HEADLINES
from compatkb.output import catalog, messages, timeline
from compatkb.output.labels import Names, series_of
from compatkb.output.statistics import Statistics
from compatkb.output.things import BuildView
from compatkb.output.view import AnswerView
from compatkb.web.answer_view import WORDS, recipes
from compatkb.web.api_schema import CALLS, FILES
from compatkb.web.asker import Record, read
from compatkb.web.pages import Site
from compatkb.web.questions import PageQuestion
from compatkb.web.systems import file_name, release_path

ROLES = {
    "package": "Packages",
    "companion": "Companions of PyTorch",
    "leaf": "Runtime packages",
    "dimension": "The machine",
}
KINDS = {"needs": "needs", "constrains": "goes only with", "verified": "was verified with", "breaks": "does not work with"}
_INSTALLED = ("package", "companion")


def paths(site: Site) -> Iterator[tuple[str, str, str]]:
    """Yield the path, the product and the version of each page; the version is empty for a product's own page."""
    for product in site.facts.products.values():
        if product.role == "feature":
            continue
        yield f"products/{file_name(product.id)}.html", product.id, ""
        for release in site.facts.releases_of(product.id):
            yield release_path(product.id, release.version), product.id, release.version


def products_page(site: Site) -> str:
    """Return the list of products."""
    rows = read(catalog.list_json(site.facts, None, site.asker.clock.day))["products"]
    groups = [(title, [row for row in rows if row["role"] == role]) for role, title in ROLES.items()]
    return site.render(
        "products.html", "products.html", "Releases – compatkb", groups=groups, file_name=file_name,
        description="Every product that the knowledge base knows, with its releases.",
    )  # fmt: skip


def product_page(site: Site, product: str, path: str) -> str:
    """Return the page of a product."""
    content = site.asker.product(product)
    return site.render(
        "product.html", path, f"{content['name']} – compatkb", section="products.html", product=content,
        release_path=release_path, replaced=_replaced(site, content), support_rule=messages.support_rule,
        description=f"Releases of {content['name']}.",
    )  # fmt: skip


def release_page(site: Site, product: str, version: str, path: str) -> str:
    """Return the page of a release."""
    head = site.asker.product(product)
    entries = site.asker.release(product, version)["releases"]
    entry = next((entry for entry in entries if entry["version"] == version), entries[0])
    listed = next((row for row in head["releases"] if row["version"] == version), None)
    title = f"{head['name']} {version}"
    versions = [row["version"] for row in head["releases"]]
    named = Names(site.facts).term
    place = versions.index(version) if version in versions else -1
    return site.render(
        "release.html", path, f"{title} – compatkb", section="products.html", head=head, entry=entry, listed=listed,
        heading=title, replaced=_replaced(site, head), answers=list(_answers(site, product, version, entry)),
        newer=versions[place - 1] if place > 0 else "", older=versions[place + 1] if 0 <= place < len(versions) - 1 else "",
        advisories=_advisories(site, product, version), words=WORDS, kinds=KINDS, plain=named,
        terms=lambda to: messages.terms(to, named), release_path=release_path, file_name=file_name,
        state=_state(listed, entry),
        description=f"{title}: state, command, what goes with it, sources.",
    )  # fmt: skip


def _state(listed: Record | None, entry: Record) -> str:
    """Return the state of a release in a word: yanked, ended, or maintained as far as the data know."""
    if listed and listed["yanked"]:
        return "Yanked"
    if listed and listed["ended"]:
        return f"No longer maintained since {entry['eol']}"
    stages = {build["stage"] for build in entry["builds"]}
    if stages and "stable" not in stages:
        return f"No stable release: {', '.join(sorted(stages))}"
    return f"Maintained until {entry['eol']}" if entry["eol"] else ""


def _replaced(site: Site, content: Record) -> tuple[str, str] | None:
    """Return what takes the place of a product, in words, and the page of it."""
    other = content["replaced_by"]
    if not other:
        return None
    on = f" on {Names(site.facts).value('device', other['device'])}" if other.get("device") else ""
    return (
        f"{site.facts.products[other['product']].name} {other['version']}{on}",
        f"products/{file_name(other['product'])}.html",
    )


def _answers(site: Site, product: str, version: str, entry: Record) -> Iterator[Record]:
    """Yield for each device that builds of a release are for what the engine says of it."""
    facts = site.facts
    headlines = {name for _, _, name, _ in HEADLINES}
    if facts.products[product].role not in _INSTALLED or product not in headlines:
        return
    served = {value.id: value.label for value in site.asker.form.devices}
    devices = {device for build in entry["builds"] for device in build["devices"]} or set(served)
    for device, label in served.items():
        if device not in devices:
            continue
        question = PageQuestion(((product, version),), (), (device,))
        try:
            view = site.asker.view(question)
        except CompatkbError:
            continue
        yield {
            "device": label, "question": question, "verdict": view.verdict, "sign": WORDS[view.verdict][0],
            "word": WORDS[view.verdict][1], "title": view.headline, "sections": list(_commands(view)),
            "beside": _beside(view, product), "reason": view.causes[0].message if view.causes else "",
        }  # fmt: skip


def _commands(view: AnswerView) -> Iterator[tuple[str, str]]:
    """Yield the systems of each section of an answer, and what to paste there."""
    for section in view.sections:
        if made := recipes(section.group.best):
            yield section.title or f"on {section.group.place}", made[0].text


def _beside(view: AnswerView, product: str) -> list[BuildView]:
    builds = {build.key: build for section in view.sections for build in section.group.best.packages}
    return [b for b in builds.values() if b.product.id != product and b.product.role in _INSTALLED]


def _advisories(site: Site, product: str, version: str) -> list[Record]:
    bits = sum(1 << e.idx for e in site.facts.elements(product) if e.release == version)
    return [
        {"kind": a.kind, "text": a.message, "sources": a.sources}
        for a in site.facts.advisories
        if a.product == product and a.mask & bits
    ]


BRIEF = {"works": "works", "works-with-warnings": "warnings", "likely": "likely", "unknown": "unknown", "does-not-work": "no"}
MEANINGS = {
    "works": "Every step that matters is stated by a primary source or was observed, and none is denied.",
    "works-with-warnings": "The same, with something to know before you use it: an end of life, a security issue, a preview.",
    "likely": "Nothing speaks against it, and at least one step is untested. The answer says which, and what would verify it.",
    "unknown": "The data cannot tell. The answer names what is missing.",
    "does-not-work": "A statement, a rule or a recorded failure denies it, or nothing that fits was ever published.",
}
_LONG = 365 * 100


def matrix_page(site: Site) -> str:
    """Return the table of each series with each Python, by device."""
    facts = site.facts
    pythons = site.asker.form.pythons[::-1]
    tables = []
    for device in site.asker.form.devices:
        rows = []
        for series in site.asker.form.series:
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
        {**tag, "repository": content["repository"], "held": [_held(site, part) for part in tag["contains"]]}
        for content in site.asker.repositories()
        for tag in content["tags"]
    ]
    return site.render(
        "images.html", "images.html", "Image tags – compatkb", rows=rows,
        description="Container tags and what they hold.",
    )  # fmt: skip


def _held(site: Site, part: Record) -> tuple[str, str]:
    """Return what an image holds in words, what is only inferred behind a tilde, and the page of its release."""
    product, _, version = part["is"].partition("==")
    name = Names(site.facts).term(part["is"])
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
        series = series_of(product, version)
        named = {
            "series": series,
            "name": product.name,
            "label": Names(facts).term(f"{product.id}=={version}"),
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
    figures = Statistics(site.facts, site.asker.clock.day).figures
    return site.render(
        "about.html", "about.html", "About the data – compatkb", figures=figures, meanings=MEANINGS, words=WORDS,
        description="Coverage, dates and what the verdicts mean.",
    )  # fmt: skip


def api_page(site: Site) -> str:
    """Return how programs read the site."""
    return site.render(
        "api.html", "api.html", "API – compatkb", files=FILES, calls=CALLS, description="The same answers for programs."
    )
