"""A page for each product and each release: dates, builds, requirements, who requires it, sources, disputes."""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from compatkb.rendering import catalogue, sentences
from compatkb.web.page import Content, Markup, Page, markup, tag
from compatkb.web.questions import Form

Record = dict[str, Any]
_ROLES = {
    "package": "Packages",
    "companion": "Companions",
    "leaf": "Runtimes known through the pins of others",
    "dimension": "The machine",
}
_KINDS = {
    "needs": "needs",
    "constrains": "goes only with",
    "verified": "was verified with",
    "breaks": "does not work with",
}


def file_name(text: str) -> str:
    """Return a version as the name of a file."""
    return re.sub(r"[^A-Za-z0-9._-]", "_", text)


def release_path(product: str, version: str) -> str:
    """Return the path of a release's page."""
    return f"products/{file_name(product)}/{file_name(version)}.html"


def catalogue_pages(form: Form) -> Iterator[Page]:
    """Yield the list of products, a page for each product, and one for each release."""
    facts = form.facts
    products = json.loads(catalogue.list_text(facts, None, form.today, as_json=True))["products"]
    yield _list(products)
    for row in products:
        product = facts.products[row["id"]]
        content = json.loads(catalogue.product_text(facts, product, form.today, as_json=True))
        yield _product(content)
        for release in content["releases"]:
            text = catalogue.release_text(facts, product, release["version"], form.today, as_json=True)
            entries = json.loads(text)["releases"]
            entry = next((e for e in entries if e["version"] == release["version"]), None)
            if entry:
                yield _release(content, release, entry, _advisories(form, product.id, release["version"]))


def _list(products: list[Record]) -> Page:
    parts: list[Content] = [tag("h1", "Products")]
    for role, title in _ROLES.items():
        rows = [row for row in products if row["role"] == role]
        cards = [
            tag(
                "li",
                tag("a", row["name"], href=f"products/{file_name(row['id'])}.html"),
                tag("p", f"{row['releases']} release{'' if row['releases'] == 1 else 's'} · ", tag("code", row["id"])),
            )
            for row in rows
        ]
        if cards:
            parts += [tag("h2", title), tag("ul", cards, class_="cards")]
    return Page("products.html", "Products · compatkb", markup(parts), "Every product that the knowledge base knows.")


def _product(content: Record) -> Page:
    title = content["name"]
    facts: list[Content] = []
    if content["distribution"]:
        facts.append(_fact("Distribution", tag("code", content["distribution"])))
    if content["eol"]:
        facts.append(_fact("End of life", content["eol"]))
    if other := content["replaced_by"]:
        on = f" on {other['device']}" if other.get("device") else ""
        facts.append(_fact("Replaced by", f"{other['product']} {other['version']}{on}"))
    rows = []
    for release in content["releases"]:
        path = f"{file_name(content['id'])}/{file_name(release['version'])}.html"
        rows.append(
            [
                tag("a", release["version"], href=path),
                release["name"] or "",
                markup([release["released"] or "", _disputed("released" in release["disputed"])]),
                markup(
                    [
                        release["eol"] or "",
                        " (over)" if release["ended"] else "",
                        _disputed("end-of-life" in release["disputed"]),
                    ]
                ),
                "yanked" if release["yanked"] else "",
                ", ".join(b for b in release["builds"] if b != release["version"]),
            ]
        )
    names = ("Version", "Name", "Released", "End of life", "Yanked", "Builds")
    parts: list[Content] = [
        tag("p", tag("a", "Products", href="../products.html"), class_="soft"),
        tag("h1", title),
        tag("p", content["note"]) if content["note"] else None,
        tag("dl", facts, class_="facts") if facts else None,
        tag("h2", f"Releases ({len(rows)})"),
        table(f"Releases of {title}, newest first", *columns(names, rows)),
        *_disputes(content["disputes"]),
    ]
    return Page(f"products/{file_name(content['id'])}.html", f"{title} · compatkb", markup(parts), section="products.html")


def columns(names: Sequence[str], rows: Sequence[Sequence[Content]]) -> tuple[list[Markup], list[Markup]]:
    """Return the head and the rows of a table, the first cell of each row as its head, without columns that are empty."""
    kept = [n for n in range(len(names)) if any(row[n] for row in rows)]
    head = [tag("th", names[n], scope="col") for n in kept]
    made = [[tag("th" if n == 0 else "td", row[n], scope="row" if n == 0 else None) for n in kept] for row in rows]
    return head, [tag("tr", cells) for cells in made]


def table(caption: str, head: list[Markup], rows: list[Markup], **attributes: str) -> Markup:
    """Return a table that scrolls sideways by itself, also by keyboard."""
    inner = tag("table", tag("caption", caption), tag("thead", tag("tr", head)), tag("tbody", rows), **attributes)
    return tag("div", inner, class_="scroll", tabindex="0", role="region", aria_label=caption)


def _fact(name: str, *content: Content) -> Markup:
    return markup([tag("dt", name), tag("dd", *content)])


def _disputed(disputed: bool) -> str:
    return " (disputed)" if disputed else ""


def sources_of(entries: list[Record]) -> Markup | None:
    """Return sources as a list of links."""
    if not entries:
        return None
    items = [tag("li", link(entry)) for entry in entries]
    return tag("details", tag("summary", f"Sources ({len(items)})"), tag("ul", items, class_="sources"), class_="more")


def link(source: Record) -> Content:
    """Return a source as a link, where it has an address of the web."""
    url = source["url"] or ""
    return tag("a", source["text"], href=url, rel="noreferrer") if re.match("https?://", url) else source["text"]


def _disputes(disputes: list[Record]) -> list[Content]:
    if not disputes:
        return []
    parts: list[Content] = [tag("h2", "Where sources disagree")]
    for dispute in disputes:
        sides = [tag("li", position["text"], sources_of(position["sources"])) for position in dispute["positions"]]
        decided = (
            f"Decided {dispute['decided']}: {dispute['holds']}. "
            if dispute["holds"]
            else f"Open, last looked at {dispute['decided']}. "
        )
        parts += [tag("h3", dispute["about"]), tag("ul", sides), tag("p", decided, dispute["reason"])]
    return parts


def _release(product: Record, listed: Record, entry: Record, advisories: list[Markup]) -> Page:
    title = f"{product['name']} {entry['version']}"
    facts: list[Content] = []
    if entry["released"]:
        basis = f" ({entry['released_basis']})" if entry["released_basis"] else ""
        facts.append(_fact("Released", entry["released"], basis, _disputed("released" in entry["disputed"])))
    if entry["eol"]:
        over = " (over)" if listed["ended"] else ""
        facts.append(_fact("End of life", entry["eol"], over, _disputed("end-of-life" in entry["disputed"])))
    if listed["name"]:
        facts.append(_fact("Name", listed["name"]))
    if listed["aliases"]:
        facts.append(_fact("Also called", ", ".join(listed["aliases"])))
    parts: list[Content] = [
        tag(
            "p",
            tag("a", "Products", href="../../products.html"),
            " › ",
            tag("a", product["name"], href=f"../{file_name(product['id'])}.html"),
            class_="soft",
        ),
        tag("h1", title),
        tag("p", entry["note"]) if entry["note"] else None,
        tag("dl", facts, class_="facts") if facts else None,
        sources_of(entry["sources"]),
    ]
    if entry["builds"]:
        parts += [tag("h2", "Builds"), [_build(build) for build in entry["builds"]]]
    if advisories:
        parts += [tag("h2", "Known issues and advisories"), tag("ul", advisories, class_="claims")]
    for name, heading in (("claims", "What it needs and goes with"), ("claimed_by", "Who requires it")):
        if entry[name]:
            parts += [tag("h2", heading), tag("ul", [_claim(claim) for claim in entry[name]], class_="claims")]
    if entry["features"]:
        parts += [tag("h2", "Features"), tag("ul", [_feature(row) for row in entry["features"]], class_="claims")]
    parts += _disputes(entry["disputes"])
    return Page(release_path(product["id"], entry["version"]), f"{title} · compatkb", markup(parts), section="products.html")


def _advisories(form: Form, product: str, version: str) -> list[Markup]:
    bits = sum(1 << e.idx for e in form.facts.elements(product) if e.release == version)
    mine = [a for a in form.facts.advisories if a.product == product and a.mask & bits]
    return [
        tag("li", tag("p", f"{a.kind}: {a.message}"), sources_of([{"text": text, "url": url} for text, url in a.sources]))
        for a in mine
    ]


def _build(build: Record) -> Markup:
    states = [build["stage"]] if build["stage"] != "stable" else []
    if build["yanked"]:
        states.append(f"yanked: {(build['yank_reason'] or 'no reason given').rstrip('.')}")
    wheels = [
        tag(
            "li",
            f"{wheel['os']} {wheel['arch']}: Python {', '.join(wheel['python'])}",
            " (inferred)" if wheel["basis"] == "inferred" else "",
        )
        for wheel in build["wheels"]
    ]
    return tag(
        "article",
        tag("h3", build["version"]),
        tag(
            "dl",
            _fact("For", ", ".join(build["devices"]) or "any device"),
            _fact("Indexes", ", ".join(build["channels"])) if build["channels"] else None,
            _fact("State", "; ".join(states)) if states else None,
            _fact("Wheels", tag("ul", wheels, class_="tags")) if wheels else None,
            class_="facts",
        ),
        sources_of(build["sources"]),
        class_="stack",
    )


def _claim(claim: Record) -> Markup:
    when = f" when {claim['when']}" if claim["when"] else ""
    told = f"{sentences.plain(claim['of'])} {_KINDS[claim['kind']]} {sentences.terms(claim['to']).replace('==', ' ')}{when}"
    more = [tag("p", text, class_="soft") for name in ("reason", "note") if (text := claim.get(name))]
    more += [tag("p", f"Sources disagree: {dispute['about']}", class_="soft") for dispute in claim.get("disputes", ())]
    return tag(
        "li", tag("p", told, " ", tag("span", f"[{claim['basis']}]", class_="soft")), more, sources_of(claim["sources"])
    )


def _feature(row: Record) -> Markup:
    when = (
        "; ".join(f"{name} {', '.join(values)}" for name, values in row.get("when", {}).items())
        if isinstance(row.get("when"), dict)
        else ""
    )
    return tag(
        "li",
        tag(
            "p",
            f"{row['name']}: {row['status']}",
            f" ({when})" if when else "",
            " ",
            tag("span", f"[{row['basis']}]", class_="soft"),
        ),
        tag("p", row["note"], class_="soft") if row.get("note") else None,
        sources_of(row["sources"]),
    )
