"""Features: what is said of each, and a table of features by release series."""

from collections.abc import Iterable
from datetime import date
from typing import Any

from compatkb.core.memo import memoized
from compatkb.output.documents import Edition, source_payloads
from compatkb.output.labels import ranges
from compatkb.output.screen import BLANK, Line, heads, row
from compatkb.output.writers import Links, Table, render
from compatkb.store.reader import Snapshot
from compatkb.store.records import picked

Content = dict[str, Any]

_WORDS = {"supported": "yes", "beta": "beta", "prototype": "prototype", "not-supported": "no", "removed": "removed"}
_DENIALS = ("not-supported", "removed")
_UNKNOWN = "unknown"


Place = tuple[str, str, str]
"""A device, a system, and the rest of a condition in words; empty: any."""


class Features:
    """What the data say of features: of all, of those of one product, or of one."""

    def __init__(self, facts: Snapshot, day: date, product: str | None = None, feature: str | None = None) -> None:
        self.facts, self.product, self.feature = facts, product, feature
        self.edition = Edition(facts.meta["data_date"], day)

    @memoized
    def _statements(self) -> list[Content]:
        """Return what sources say of features, in the order of their files."""
        return [
            {
                "feature": statement.feature,
                "name": self.facts.features[statement.feature][0],
                "of": statement.product,
                "versions": statement.spec,
                "status": statement.status,
                "when": {name: list(values) for name, values in statement.condition.items()},
                **picked(statement, "basis reason note"),
                "sources": source_payloads(self.facts.citations(statement.claim)),
                "mask": statement.mask,
            }
            for statement in self.facts.statements()
        ]

    def of_release(self, product: str, bits: int) -> list[Content]:
        """Return what is said of features of some elements of a product."""
        matching = [s for s in self._statements() if s["of"] == product and s["mask"] & bits]
        return [_shown(statement) for statement in matching]

    def content(self) -> list[Content]:
        """Return the features that are asked for, with what is said of them."""
        product, feature = self.product, self.feature
        groups: dict[str, list[Content]] = {}
        for statement in self._statements():
            groups.setdefault(statement["feature"], []).append(statement)
        return [
            {
                **picked(record, "id name product needs aliases note"),
                "statements": [
                    _shown(s, feature=False) for s in groups[record.id] if product in (None, s["of"], record.product)
                ],
            }
            for record in self.facts.feature_records()
            if feature in (None, record.id)
            and (product is None or product == record.product or any(s["of"] == product for s in groups[record.id]))
        ]

    def tables(self) -> list[Table]:
        """Return a table for each product: features down, release series across, what is said of each in words."""
        facts = self.facts
        spoken = [s for s in self._statements() if self.feature in (None, s["feature"])]
        products = [p for p in facts.products if any(s["of"] == p for s in spoken) and self.product in (None, p)]
        tables = []
        for of in products:
            product_statements = [s for s in spoken if s["of"] == of]
            columns = self._columns(of, product_statements)
            rows = []
            for name in dict.fromkeys(statement["feature"] for statement in product_statements):
                for place, entries in _rows([s for s in product_statements if s["feature"] == name]).items():
                    cells = [self._cell(of, mask, place, entries) for _, mask in columns]
                    where = ", ".join(word for word in place if word) or "everywhere"
                    rows.append((name, where, *cells))
            tables.append(Table((facts.products[of].name, "where", *(name for name, _ in columns)), tuple(rows)))
        return tables

    def _columns(self, product: str, entries: list[Content]) -> list[tuple[str, int]]:
        """Return the series of a product from the first one that anybody speaks of, oldest first."""
        spoken = 0
        for statement in entries:
            if statement["status"] not in _DENIALS:
                spoken |= statement["mask"]
        groups = list(self.facts.series(product))
        first = next((n for n, mask in enumerate(groups) if mask & spoken), 0)
        elements = self.facts.elements(product)
        names = []
        for mask in groups[first:]:
            release = elements[mask.bit_length() - 1].release
            names.append((".".join(release.split(".")[: self.facts.products[product].series]), mask))
        return names

    def _cell(self, product: str, series: int, place: Place, entries: list[Content]) -> str:
        """Return what is said of a series: the word, with the Pythons and the releases where it does not hold for all."""
        elements = self.facts.elements(product).of(series)
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
            limits = [f"Python {self._pythons(python_versions)}"] if python_versions else []
            limits += [", ".join(named)] if named else []
            texts.append(f"{word} ({'; '.join(limits)})" if limits else word)
        return "; ".join(texts) or _UNKNOWN

    def _pythons(self, pythons: list[str]) -> str:
        order = self.facts.grid["python"]
        plain = [python for python in dict.fromkeys(pythons) if python in order]
        return ", ".join([*([ranges(plain, order)] if plain else []), *(p for p in pythons if p not in order)])


def release_lines(features: Iterable[Content]) -> list[str]:
    """Return the lines about features that stand below a version."""
    lines = []
    for entry in features:
        lines.append(f"    {entry['feature']}: {_sentence(entry)}")
        lines += [f"      note: {entry['note']}"] if entry["note"] else []
        lines += [f"      source: {s['url'] or s['text']}" for s in entry["sources"][:2]]
    return ["  features:", *lines] if lines else []


def features_json(asked: Features) -> str:
    """Return the features with what is said of them as JSON."""
    return asked.edition.document({"features": asked.content()})


def features_screen(asked: Features) -> list[Line]:
    """Return a line for each feature; of one product's, or of one, all that is said."""
    content, edition = asked.content(), asked.edition
    lines = _overview(content)
    if asked.product or asked.feature:
        lines = [Line(text) for entry in content for text in _told(entry)]
    if not content:
        lines = [Line(f"nothing is known of features of {asked.product}"), BLANK]
    return [*lines, Line(f"(as of {edition.day}, data of {edition.data_date}; what is not said is not known)", "dim")]


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


def features_table(asked: Features) -> str:
    """Return Markdown tables, one a product."""
    return "\n".join(render([table], Links()) for table in asked.tables())


def _shown(statement: Content, *, feature: bool = True) -> Content:
    hidden = {"mask"} if feature else {"mask", "feature", "name"}
    return {name: value for name, value in statement.items() if name not in hidden}


def _sentence(statement: Content) -> str:
    when = "; ".join(f"{name} {', '.join(values)}" for name, values in statement["when"].items())
    basis = "" if statement["basis"] == "stated" else f" [{statement['basis']}]"
    return f"{statement['status'].replace('-', ' ')}{f' on {when}' if when else ''}{basis}"


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
