"""Features: what is said of each, and a table of features by release series."""

import re
from collections.abc import Iterable
from datetime import date
from itertools import groupby
from typing import Any

from compatkb.core.memo import memoized
from compatkb.output.documents import Edition, source_payloads
from compatkb.output.labels import DEVICE, SYSTEM, Names, ranges
from compatkb.output.screen import BLANK, Line, columns, wrapped
from compatkb.output.things import listed
from compatkb.output.writers import Links, Table, render
from compatkb.store.reader import Snapshot
from compatkb.store.records import picked

Content = dict[str, Any]

_WORDS = {"supported": "yes", "beta": "beta", "prototype": "prototype", "not-supported": "no", "removed": "removed"}
_DENIALS = ("not-supported", "removed")
_UNKNOWN = "unknown"
_ORDER = ("supported", "beta", "prototype", "not-supported", "removed")
"""What a series is said to be where several things are said of it."""
_NEEDS = re.compile(r"Needs .{1,30}\.$")
"""A note that is short enough for a cell: what a feature requires."""


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

    def named_devices(self, entry: Content) -> list[str]:
        """Return the devices that something is said of, as people know them."""
        names = Names(self.facts)
        return list(dict.fromkeys(names.value(DEVICE, d) for s in entry["statements"] for d in s["when"].get(DEVICE, ())))

    def support(self, entry: Content) -> list[Line]:
        """Return a table of the releases that support a feature, with devices down and systems across."""
        names, lines = Names(self.facts), []
        for of in dict.fromkeys(statement["of"] for statement in entry["statements"]):
            said = [s for s in self._statements() if s["feature"] == entry["id"] and s["of"] == of]
            devices = list(dict.fromkeys(d for s in said for d in s["when"].get(DEVICE, ()))) or [""]
            known = {system for s in said for system in s["when"].get(SYSTEM, ())}
            systems = sorted(known, key=self.facts.families.index) or [""]
            rows, assumed = [], []
            for device in devices:
                cells = []
                for system in systems:
                    span, start = _spans(self._series(of, device, system, said))
                    notes = dict.fromkeys(
                        s["note"] for s in said if s["note"] and _NEEDS.match(s["note"]) and _of(s, device, system)
                    )
                    cells.append("; ".join([span, *(note.rstrip(".").replace("Needs", "requires") for note in notes)]))
                    where = " on ".join(word for word in (names.value(DEVICE, device), names.value(SYSTEM, system)) if word)
                    assumed += [f"{where} from {start}".strip()] if start else []
                rows.append((names.value(DEVICE, device) if device else "any device", *cells))
            title = entry["id"] if of == entry["product"] else f"{entry['id']} in {names.label(of)}"
            lines += columns(rows, (title, *(names.value(SYSTEM, system) if system else "releases" for system in systems)), 0)
            lines += wrapped(f"assumed, not documented: {', '.join(assumed)}" if assumed else "", "", "  ")
        return lines

    def _series(self, of: str, device: str, system: str, said: list[Content]) -> list[tuple[str, str | None, bool]]:
        """Return each series that has builds for a device, oldest first, its status there, and whether that is assumed."""
        found = []
        elements = self.facts.elements(of)
        for name, mask in self._columns(of, said):
            if device and not any(not e.devices or device in e.devices for e in elements.of(mask)):
                continue
            holding = [s for s in said if s["mask"] & mask and _of(s, device, system)]
            best = min(holding, key=lambda s: (_ORDER.index(s["status"]), s["basis"] == "inferred"), default=None)
            status, basis = (str(best["status"]), best["basis"]) if best else (None, "")
            found.append((name, status, basis == "inferred"))
        return found

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


def _of(statement: Content, device: str, system: str) -> bool:
    """Return whether a statement is about a device and a system."""
    when = statement["when"]
    return device in when.get(DEVICE, (device,)) and system in when.get(SYSTEM, (system,))


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


def features_screen(asked: Features, *, why: bool = False) -> list[Line]:
    """Return which releases support features, by device and system; of all features what they are; `why` adds what is said."""
    content = asked.content()
    if not content:
        return [Line(f"No feature of {asked.product} is in the data."), *asked.edition.footer("compatkb features")]
    if not (asked.product or asked.feature):
        rows = [(entry["id"], listed(asked.named_devices(entry)) or "any device", entry["name"]) for entry in content]
        return [*columns(rows, ("feature", "on", "what it is"), 0), *asked.edition.footer("compatkb features FEATURE")]
    lines: list[Line] = []
    for entry in content:
        lines += [BLANK] if lines else []
        lines += asked.support(entry)
        if why:
            lines += [Line(text) for text in _told(entry)]
    return [*lines, *asked.edition.footer(*([] if why else ["--why: sources"]))]


def _spans(series: list[tuple[str, str | None, bool]]) -> tuple[str, str]:
    """Return which series have support, and from which on it is assumed; of series with their status, oldest first."""
    runs = [(status, list(group)) for status, group in groupby(series, key=lambda each: each[1])]
    parts, before = [], ""
    for number, (status, group) in enumerate(runs):
        first, last, is_end = group[0][0], group[-1][0], number == len(runs) - 1
        span = f"{first} and newer" if is_end else first if first == last else f"{first} to {last}"
        if status == "supported":
            parts.append(span + before)
            before = ""
        elif status in ("beta", "prototype"):
            before = f" ({status} from {first})"
            if not any(later == "supported" for later, _ in runs[number + 1 :]):
                parts.append(f"{span} ({status})")
        elif status == "removed" or (status == "not-supported" and parts):
            parts.append(f"not {span}")
    text = "; ".join(parts) or ("no" if any(status for _, status, _ in series) else _UNKNOWN)
    later: str = ""
    for name, status, is_assumed in reversed(series):  # the last series of which nothing is documented
        if not is_assumed or status in _DENIALS:
            break
        later = name
    return text, later


def _told(entry: Content) -> list[str]:
    """Return every statement about a feature with its sources."""
    lines = [f"  note: {entry['note']}"] if entry["note"] else []
    for statement in entry["statements"]:
        lines.append(f"  {statement['of']}{statement['versions']}: {_sentence(statement)}")
        lines += [f"    {name}: {statement[name]}" for name in ("reason", "note") if statement[name]]
        lines += [f"    source: {s['url'] or s['text']}" for s in statement["sources"]]
    return lines


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
