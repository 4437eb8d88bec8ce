"""Features: what is said of each, and a table of features by release series."""

from collections.abc import Iterable
from datetime import date
from typing import Any

from compatkb.output.citations import source_payloads
from compatkb.output.json_document import Edition
from compatkb.output.labels import ranges
from compatkb.output.screen import BLANK, Line, heads, row
from compatkb.output.writers import table
from compatkb.store.queries.claims import features, statements
from compatkb.store.reader import Snapshot
from compatkb.store.records import picked

Content = dict[str, Any]

_WORDS = {"supported": "yes", "beta": "beta", "prototype": "prototype", "not-supported": "no", "removed": "removed"}
_DENIALS = ("not-supported", "removed")
_UNKNOWN = "unknown"


def statements_of(facts: Snapshot) -> list[Content]:
    """Return what sources say of features, in the order of their files."""
    return [
        {
            "feature": statement.feature,
            "name": facts.features[statement.feature][0],
            "of": statement.product,
            "versions": statement.spec,
            "status": statement.status,
            "when": {name: list(values) for name, values in statement.condition.items()},
            **picked(statement, "basis reason note"),
            "sources": source_payloads(facts.citations(statement.claim)),
            "mask": statement.mask,
        }
        for statement in statements(facts)
    ]


def release_features(facts: Snapshot, product: str, bits: int) -> list[Content]:
    """Return what is said of features of some elements of a product."""
    matching = [s for s in statements_of(facts) if s["of"] == product and s["mask"] & bits]
    return [_shown(statement) for statement in matching]


def release_lines(features: Iterable[Content]) -> list[str]:
    """Return the lines about features that stand below a version."""
    lines = []
    for entry in features:
        lines.append(f"    {entry['feature']}: {_sentence(entry)}")
        lines += [f"      note: {entry['note']}"] if entry["note"] else []
        lines += [f"      source: {s['url'] or s['text']}" for s in entry["sources"][:2]]
    return ["  features:", *lines] if lines else []


def features_json(facts: Snapshot, day: date, *, product: str | None = None, feature: str | None = None) -> str:
    """Return the features, those of one product, or one, with what is said of them as JSON."""
    return Edition(facts.meta["data_date"], day).document({"features": _content(facts, product, feature)})


def features_screen(facts: Snapshot, day: date, *, product: str | None = None, feature: str | None = None) -> list[Line]:
    """Return a line for each feature; of one product's, or of one, all that is said."""
    content = _content(facts, product, feature)
    details = [Line(text) for entry in content for text in _told(entry)]
    lines = details if product or feature else _overview(content)
    if not content:
        lines = [Line(f"nothing is known of features of {product}"), BLANK]
    return [*lines, Line(f"(as of {day}, data of {facts.meta['data_date']}; what is not said is not known)", "dim")]


def _overview(content: list[Content]) -> list[Line]:
    width = max((len(entry["id"]) for entry in content), default=0)
    lines = [heads("feature", "what it is", "of", "on")]
    for entry in content:
        products = ", ".join(dict.fromkeys(statement["of"] for statement in entry["statements"]))
        named = (device for statement in entry["statements"] for device in statement["when"].get("device", ()))
        devices = ", ".join(dict.fromkeys(named)) or "any device"
        text = f"{entry['id']:<{width}}  {entry['name']} ({products}; {devices})"
        lines += row([Line(text)], entry["id"], entry["name"], products, devices)
    return [*lines, BLANK, Line("  compatkb features FEATURE", "command"), BLANK]


def _told(entry: Content) -> list[str]:
    """Return a feature with every statement and its sources."""
    aliases = f" (also: {', '.join(entry['aliases'])})" if entry["aliases"] else ""
    lines = [f"{entry['id']}: {entry['name']}{aliases}"]
    if entry["needs"]:
        lines.append(f"  comes with: {', '.join(entry['needs'])}")
    if entry["note"]:
        lines.append(f"  note: {entry['note']}")
    for statement in entry["statements"]:
        lines.append(f"  {statement['of']}{statement['versions']}: {_sentence(statement)}")
        lines += [f"    {name}: {statement[name]}" for name in ("reason", "note") if statement[name]]
        lines += [f"    source: {s['url'] or s['text']}" for s in statement["sources"]]
    return [*lines, ""]


def features_table(facts: Snapshot, _day: date, *, product: str | None = None, feature: str | None = None) -> str:
    """Return Markdown tables, one a product: features down, release series across, what is said of each in words."""
    spoken = [s for s in statements_of(facts) if feature in (None, s["feature"])]
    products = [p for p in facts.products if any(s["of"] == p for s in spoken) and product in (None, p)]
    parts = []
    for of in products:
        product_statements = [s for s in spoken if s["of"] == of]
        columns = _columns(facts, of, product_statements)
        head = [facts.products[of].name, "where", *(name for name, _ in columns)]
        rows = []
        for name in dict.fromkeys(statement["feature"] for statement in product_statements):
            for place, entries in _rows([s for s in product_statements if s["feature"] == name]).items():
                cells = [_cell(facts, of, mask, place, entries) for _, mask in columns]
                where = ", ".join(word for word in place if word) or "everywhere"
                rows.append((name, where, *cells))
        parts.append(table(head, rows))
    return "\n".join(parts)


def _content(facts: Snapshot, product: str | None, feature: str | None) -> list[Content]:
    groups: dict[str, list[Content]] = {}
    for statement in statements_of(facts):
        groups.setdefault(statement["feature"], []).append(statement)
    return [
        {
            **picked(record, "id name product needs aliases note"),
            "statements": [_shown(s, feature=False) for s in groups[record.id] if product in (None, s["of"], record.product)],
        }
        for record in features(facts)
        if feature in (None, record.id)
        and (product is None or product == record.product or any(s["of"] == product for s in groups[record.id]))
    ]


def _shown(statement: Content, *, feature: bool = True) -> Content:
    hidden = {"mask"} if feature else {"mask", "feature", "name"}
    return {name: value for name, value in statement.items() if name not in hidden}


def _sentence(statement: Content) -> str:
    when = "; ".join(f"{name} {', '.join(values)}" for name, values in statement["when"].items())
    basis = "" if statement["basis"] == "stated" else f" [{statement['basis']}]"
    return f"{statement['status'].replace('-', ' ')}{f' on {when}' if when else ''}{basis}"


Place = tuple[str, str, str]
"""A device, a system, and the rest of a condition in words; empty: any."""


def _rows(entries: list[Content]) -> dict[Place, list[Content]]:
    """Return the places of which something is said, each with what is said of it and of wider ones.

    A device without a system, or the other way round, has no row of its own where one of both has.
    """
    places = {place: None for statement in entries for place in _places(statement)}
    row_places = [p for p in places if not any(_covers(p, other) and p[2] == other[2] for other in places if other != p)]
    return {p: [s for s in entries if any(w == p or _covers(w, p) for w in _places(s))] for p in row_places}


def _covers(wide: Place, narrow: Place) -> bool:
    return all(one in ("", other) for one, other in zip(wide, narrow, strict=True)) and bool(narrow[0] or narrow[1])


def _places(statement: Content) -> list[Place]:
    when = statement["when"]
    rest = ", ".join(" or ".join(when[name]) for name in ("arch", "hardware") if name in when)
    return [(device, system, rest) for device in when.get("device", [""]) for system in when.get("os", [""])]


def _columns(facts: Snapshot, product: str, entries: list[Content]) -> list[tuple[str, int]]:
    """Return the series of a product from the first one that anybody speaks of, oldest first."""
    spoken = 0
    for statement in entries:
        if statement["status"] not in _DENIALS:
            spoken |= statement["mask"]
    groups = list(facts.series(product))
    first = next((n for n, mask in enumerate(groups) if mask & spoken), 0)
    elements = facts.elements(product)
    names = []
    for mask in groups[first:]:
        release = elements[mask.bit_length() - 1].release
        names.append((".".join(release.split(".")[: facts.products[product].series]), mask))
    return names


def _cell(facts: Snapshot, product: str, series: int, place: Place, entries: list[Content]) -> str:
    """Return what is said of a series: the word, with the Pythons and the releases where it does not hold for all."""
    elements = facts.elements(product).of(series)
    there = [e for e in elements if not place[0] or not e.devices or place[0] in e.devices]
    if not there:
        return "no build"
    releases = list(dict.fromkeys(e.release for e in there))
    words: dict[tuple[str, tuple[str, ...]], list[str] | None] = {}
    for statement in entries:
        named = tuple(dict.fromkeys(e.release for e in there if statement["mask"] >> e.idx & 1))
        if not named:
            continue
        word = _WORDS[statement["status"]]
        if statement["basis"] == "inferred":
            word = {"yes": "likely", "no": "likely not"}.get(word, f"likely {word}")
        key = (word, () if list(named) == releases else named)
        pythons = statement["when"].get("python")
        known = words.get(key, [])
        words[key] = None if pythons is None or known is None else [*known, *pythons]
    texts = []
    for (word, named), python_versions in words.items():
        limits = [f"Python {_pythons(facts, python_versions)}"] if python_versions else []
        limits += [", ".join(named)] if named else []
        texts.append(f"{word} ({'; '.join(limits)})" if limits else word)
    return "; ".join(texts) or _UNKNOWN


def _pythons(facts: Snapshot, pythons: list[str]) -> str:
    order = facts.grid["python"]
    plain = [python for python in dict.fromkeys(pythons) if python in order]
    return ", ".join([*([ranges(plain, order)] if plain else []), *(p for p in pythons if p not in order)])
