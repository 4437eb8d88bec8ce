"""The pages of what the data hold: products, releases, matrix, image tags, ends of life, timeline, about the data, the API."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from compatkb.core.record import NamedTuple
from compatkb.errors import CompatkbError
from compatkb.headline_options import HEADLINES
from compatkb.output import messages, timeline
from compatkb.output.issue_text import spec_in_words
from compatkb.output.labels import Names, series_of
from compatkb.output.things import BuildView
from compatkb.output.view import AnswerView
from compatkb.web.answer_view import WORDS, recipes, shown_of
from compatkb.web.api_schema import CALLS, FILES
from compatkb.web.asker import Record
from compatkb.web.choices import SHORT
from compatkb.web.pages import SIGNED, Site
from compatkb.web.questions import PageQuestion
from compatkb.web.systems import WSL, file_name, gpu_path, release_path

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
            if at := site.release_page(product.id, release.version):
                yield at, product.id, release.version


def products_page(site: Site) -> str:
    """Return the list of products."""
    rows = site.asker.catalog.products()
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
        required=_alike(entry["claimed_by"]), data=site.claims_file(product),
        newer=versions[place - 1] if place > 0 else "", older=versions[place + 1] if 0 <= place < len(versions) - 1 else "",
        advisories=_advisories(site, product, version), words=WORDS, kinds=KINDS, plain=named,
        terms=lambda to: messages.terms(to, named), release_path=release_path, file_name=file_name,
        state=_state(listed, entry), support=site.asker.catalog.support_of(site.facts.products[product], entry),
        description=f"{title}: state, command, what goes with it, sources.",
    )  # fmt: skip


def _alike(claims: list[Record]) -> list[Record]:
    """Return claims, those of several versions of a product that say the same as one, with the sources of the newest."""
    merged: dict[str, Record] = {}
    for claim in claims:
        name, _, version = claim["of"].partition("==")
        said = repr((name, [claim.get(member) for member in ("kind", "to", "when", "basis", "reason", "note", "disputes")]))
        merged.setdefault(said, {**claim, "more": []})["more"].append(version)
    return [{**claim, "more": claim["more"][1:]} for claim in merged.values()]


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
        f"{site.facts.products[other['product']].name} {spec_in_words(other['version'])}{on}",
        f"products/{file_name(other['product'])}.html",
    )


def _answers(site: Site, product: str, version: str, entry: Record) -> Iterator[Record]:
    """Yield for each device that builds of a release are for what the engine says of it."""
    facts = site.facts
    headlines = {name for _, _, name, _ in HEADLINES}
    if facts.products[product].role not in _INSTALLED:
        return
    served = {value.id: value.label for value in site.asker.form.devices}
    devices = {device for build in entry["builds"] for device in build["devices"]} or set(served)
    for device, label in served.items():
        if device not in devices:
            continue
        question = PageQuestion((), (f"{product}=={version}",), (device,))
        if product in headlines:
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
        {"kind": a.kind, "text": a.message, "sources": a.sources} for a in site.facts.advisories_of(product) if a.mask & bits
    ]


MAPPED, MAPPED_PYTHONS = 10, 7
"""So many of the newest series and Pythons are on a map."""
MEANINGS = {
    "works": "Every step that matters is stated by a primary source or was observed, and none is denied.",
    "works-with-warnings": "The same, with something to know before you use it: an end of life, a security issue, a preview.",
    "likely": "Nothing speaks against it, and at least one step is untested. The answer says which, and what would verify it.",
    "unknown": "The data cannot tell. The answer names what is missing.",
    "does-not-work": "A statement, a rule or a recorded failure denies it, or nothing that fits was ever published.",
}
_LONG = 365 * 100


class MapCell(NamedTuple):
    """A cell of a map: the question that it leads to, the verdict, and the newest release that serves it."""

    question: PageQuestion
    verdict: str
    release: str = ""


def cell_of(site: Site, question: PageQuestion, product: str = "") -> MapCell:
    """Return the cell of a question with the release of a product, else of the main one; what is given up is unknown."""
    try:
        view = site.asker.brief(question)
    except CompatkbError:
        return MapCell(question, "unknown")
    build = view.best.build_of(product or site.main) if view.best and view.is_positive else None
    return MapCell(question, view.verdict, build.release if build else "")


def matrix_page(site: Site) -> str:
    """Return the maps: each series with each Python by device, and with each family of GPUs by system."""
    form, main = site.asker.form, site.facts.products[site.main]
    pythons = form.pythons[: -MAPPED_PYTHONS - 1 : -1]
    maps = []
    for device in form.usual:
        beside = {r.provider for r in site.facts.routes if device.id in r.devices and r.provider != site.main}
        rows = []
        for name in form.series[:MAPPED]:
            at = PageQuestion(devices=(device.id,)).fix(site.main, name)
            cells = [cell_of(site, at.fix("python", python)) for python in pythons]
            rows.append((name, [*cells, *(cell_of(site, at._replace(words=(other,)), other) for other in sorted(beside))]))
        heads = [*pythons, *(f"with {site.facts.products[other].label}" for other in sorted(beside))]
        maps.append((f"{main.name} on {device.label}, by Python", heads, rows))
    graphics = form.graphics
    for place in form.foremost:
        heads = [short_name(value.label) for value in graphics]
        rows = by_series(site, [(value.id, place.id) for value in graphics])
        maps.append((f"{main.name} on {place.label}, by GPU", heads, rows))
    return site.render(
        "matrix.html", "matrix.html", "Map: PyTorch by Python and by GPU – compatkb", maps=maps, words=WORDS,
        signs=messages.SIGNS,
        description="Which release of PyTorch works with which Python and on which Intel GPU, by system.",
    )  # fmt: skip


def short_name(label: str) -> str:
    """Return the name of a family for the head of a column."""
    _, comma, own = label.partition(", ")  # of a family of processors the code name tells them apart
    long = r"^(Intel )?(processors of )?|Data Center GPU | graphics| Series\b|-Series|processors? "
    return re.sub(long, "", own if comma else label).strip()


def by_series(site: Site, columns: Sequence[tuple[str, str]]) -> list[tuple[str, list[MapCell]]]:
    """Return the newest series, each with a cell for families of hardware on systems."""
    rows = []
    for name in site.asker.form.series[:MAPPED]:
        at = PageQuestion(devices=(site.asker.form.devices[0].id,)).fix(site.main, name)
        rows.append((name, [cell_of(site, at.fix("hardware", family).fix("os", place)) for family, place in columns]))
    return rows


def gpus(site: Site) -> dict[str, tuple[str, str]]:
    """Return the pages of GPUs: the path of each with its name and its family."""
    known = {value.id for value in site.asker.form.graphics}
    named = {name: family for name, family in site.asker.form.models.items() if family in known}
    named |= {value.label.removeprefix("Intel "): value.id for value in site.asker.form.graphics}
    return {gpu_path(name): (name, family) for name, family in named.items()}


def gpus_page(site: Site) -> str:
    """Return the list of GPUs by family."""
    pages = gpus(site)
    groups = []
    for value in site.asker.form.graphics:
        own = value.label.removeprefix("Intel ")
        title = own[:1].upper() + own[1:]
        models = [(at, name) for at, (name, family) in pages.items() if family == value.id and name != own]
        groups.append((title, gpu_path(own), models))
    return site.render(
        "gpus.html", "gpus.html", "Intel GPUs and PyTorch – compatkb", groups=groups,
        description="Which version of PyTorch works on which Intel GPU: Arc, Data Center GPU Max, Core Ultra.",
    )  # fmt: skip


def gpu_question(site: Site, path: str) -> PageQuestion:
    """Return the question that the page of a GPU answers."""
    name, family = gpus(site)[path]
    model = name if name in site.asker.form.models else family
    return PageQuestion((("hardware", model),), (), (site.asker.form.devices[0].id,))


def gpu_page(site: Site, path: str) -> str:
    """Return the page of a GPU: commands by system, since when, what it requires, known issues, images."""
    name, family = gpus(site)[path]
    question = gpu_question(site, path)
    listed = next(value for value in site.facts.releases_of("hardware") if value.version == family)
    view = site.asker.view(question)
    shown = shown_of(site.asker, question, view)
    places = [*site.asker.form.foremost, *(value for value in site.asker.form.values("os") if value.id == WSL)]
    beside = [other for other, (_, one) in gpus(site).items() if one == family and other != path]
    others = {word for other in beside for word in gpus(site)[other][0].lower().split()} - set(name.lower().split())
    return site.render(
        "gpu.html", path, f"Intel {name}: PyTorch version, command, driver – compatkb", section="gpus.html",
        name=name, family=listed.name, view=view, **shown, words=SIGNED, signs=messages.SIGNS,
        heads=[SHORT.get(value.id, value.label) for value in places], question=question,
        rows=since(site, family, tuple(value.id for value in places)),
        beside=[(other, gpus(site)[other][0]) for other in beside],
        aliases=[alias for alias in listed.aliases if re.fullmatch(r"[^( ]+", alias) and alias not in others][:12],
        images=[tag for tag in shown["known"].images if tag["listed"]] if shown.get("known") else [],
        description=f"PyTorch on Intel {name}: {view.headline}. Commands for Linux and Windows, drivers, known issues.",
    )  # fmt: skip


@lru_cache
def since(site: Site, family: str, places: tuple[str, ...]) -> list[tuple[str, list[MapCell]]]:
    """Return the newest series with their cells on systems; the models of a family share them."""
    return by_series(site, [(family, place) for place in places])


def images_page(site: Site) -> str:
    """Return the table of image tags, each with what it holds."""
    rows = [
        {
            **tag,
            "repository": content["repository"],
            "held": [_held(site, part) for part in tag["contains"]],
            "assumed": all(part["basis"] == "inferred" for part in tag["contains"]),
        }
        for content in site.asker.repositories()
        for tag in content["tags"]
    ]
    return site.render(
        "images.html", "images.html", "Image tags – compatkb", rows=rows,
        description="Container tags and what they hold.",
    )  # fmt: skip


def _held(site: Site, part: Record) -> tuple[str, str, bool]:
    """Return what an image holds in words, the page of its release, and whether that is only inferred."""
    product, _, version = part["is"].partition("==")
    at = site.release_page(product, _release(site, product, version))
    return Names(site.facts).term(part["is"]), at, part["basis"] == "inferred"


def _release(site: Site, product: str, version: str) -> str:
    """Return the release that a version is a build of."""
    if product not in site.facts.products:
        return version
    return next((e.release for e in site.facts.elements(product) if e.version == version), version)


def eol_page(site: Site) -> str:
    """Return the ends of life: patches by their series, runtime packages folded."""
    facts = site.facts
    groups: dict[tuple[str, str, str], Record] = {}
    ends = site.asker.catalog.ends(None, None, _LONG)
    for entry in ends:
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
    rules = [{**rule, "name": facts.products[rule["product"]].name} for rule in site.asker.catalog.rules(None, None, ends)]
    return site.render(
        "eol.html", "eol.html", "End of life – compatkb", parts=parts, leaves=leaves, rules=rules,
        support_rule=messages.support_rule, last_day=messages.last_day, description="What ends when.",
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
    """Return what the verdicts mean, and how fresh the data are."""
    return site.render(
        "about.html", "about.html", "About the data – compatkb", meanings=MEANINGS, words=WORDS,
        description="How fresh the data are, and what the verdicts mean.",
    )  # fmt: skip


def api_page(site: Site) -> str:
    """Return how programs read the site."""
    return site.render(
        "api.html", "api.html", "API – compatkb", files=FILES, calls=CALLS, description="The same answers for programs."
    )
