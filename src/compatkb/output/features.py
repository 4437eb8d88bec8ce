"""Features: what is said of each, and which releases support them, by device and system."""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import date
from functools import reduce
from itertools import groupby
from operator import or_
from typing import Any

from compatkb.core.clock import Clock
from compatkb.core.memo import memoized
from compatkb.core.vocabulary import Role
from compatkb.errors import UsageError
from compatkb.output.documents import Edition, source_payloads
from compatkb.output.labels import DEVICE, HARDWARE, SYSTEM, Names
from compatkb.output.screen import BLANK, Line, columns, wrapped
from compatkb.output.things import listed
from compatkb.output.writers import Block, Links, Paragraph, Table, plain, render
from compatkb.request.lookup import find_feature
from compatkb.request.parser import make_request
from compatkb.store.queries.solver import series_name
from compatkb.store.reader import Snapshot
from compatkb.store.records import Request, picked

Content = dict[str, Any]

_WORDS = {"supported": "yes", "not-supported": "no", None: "unknown"}
_DENIALS = ("not-supported", "removed")
_ORDER = ("supported", "beta", "prototype", "not-supported", "removed")
"""What a series is said to be where several things are said of it."""
_EXACT = re.compile(r"[\w.-]+==[\w.+!-]+")
_NEEDS = re.compile(r"Needs [^.]{1,30}\.(?=$| )")
"""The beginning of a note that is short enough for a cell: what a feature requires."""


class Features:
    """What the data say of features: of all, of those of one product or of a release of it, or of one; where it is asked."""

    def __init__(self, facts: Snapshot, day: date, asked: Request | None = None) -> None:
        self.facts, pins = facts, asked.pins if asked else ()
        self.day, self.edition, self.names = day, Edition(facts.meta["data_date"], day), Names(facts)
        self.feature = next((pin.product for pin in pins if pin.need), None)
        self.pin = next((pin for pin in pins if not pin.need and facts.products[pin.product].role != Role.DIMENSION), None)
        self.product = self.pin.product if self.pin else next(iter(asked.bare if asked else ()), None)
        placed = asked and (asked.names_devices or asked.pin(HARDWARE))
        self.devices = asked.devices if asked and placed else None
        self.hardware = asked.pin(HARDWARE) if asked else None
        system = asked.pin(SYSTEM) if asked else None
        self.systems = {facts.family(e.version) for e in facts.elements(SYSTEM).of(system.mask)} if system else None

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

    def named_devices(self, entry: Content) -> list[str]:
        """Return the devices that something is said of, as people know them."""
        return self.names.values(DEVICE, dict.fromkeys(d for s in entry["statements"] for d in s["when"].get(DEVICE, ())))

    def support(self, entry: Content) -> Iterator[Block]:
        """Yield a table of the releases of each product that support a feature, with devices down and systems across."""
        is_told = False
        for of in dict.fromkeys(statement["of"] for statement in entry["statements"]):
            said = [s for s in self._statements() if s["feature"] == entry["id"] and s["of"] == of]
            systems = self._systems(said)
            rows, assumed = [], []
            for device, parts in self._devices(said):
                cells, head = [], self._head(device, parts)
                for system in systems:
                    span, start = _spans(self._series(of, (device, parts), system, said))
                    notes = dict.fromkeys(
                        needed[0] for s in said if (needed := _NEEDS.match(s["note"] or "")) and _of(s, device, parts, system)
                    )
                    cells.append("; ".join([span, *(note.rstrip(".").replace("Needs", "requires") for note in notes)]))
                    where = " on ".join([*([head] if device else []), *([self.names.value(SYSTEM, system)] if system else [])])
                    assumed += [f"{where}, {start} and newer".strip()] if start else []
                rows.append((head, *cells))
            is_plain = of == entry["product"] == next((route.provider for route in self.facts.routes), of)
            end = self.facts.product_details(of).eol
            over = f", discontinued {end}" if end and end < self.day.isoformat() else ""
            title = entry["id"] if is_plain else f"{entry['id']} in {self.names.label(of)}{over}"
            is_told = is_told or bool(rows)
            if rows:
                yield Table((title, *self._heads(systems)), tuple(rows))
            if self.hardware:
                pinned = self.hardware.mask
                own = [
                    s
                    for s in said
                    for part in s["when"].get(HARDWARE, ())
                    if (self.facts.word(HARDWARE, part) or 0) & pinned == pinned
                ]
                yield from map(Paragraph, dict.fromkeys(s["reason"] or s["note"] for s in own if s["note"] or s["reason"]))
            if assumed:
                yield Paragraph(f"assumed, no document names them: {'; '.join(assumed)}")
        if not is_told:
            asked, known = self.names.values(DEVICE, self.devices or ()), self.named_devices(entry)
            yield Paragraph(f"{entry['id']}: nothing documented for {listed(asked)}, only for {listed(known)}")

    def of_pin(self) -> Iterator[Block]:
        """Yield a table of the features of a release that is asked for: a row for each and a device, with systems across."""
        assert self.pin
        every = [s for s in self._statements() if s["of"] == self.pin.product and self.feature in (None, s["feature"])]
        systems, rows = self._systems(every), []
        for feature in dict.fromkeys(s["feature"] for s in every):
            said = [s for s in every if s["feature"] == feature]
            for device, parts in self._devices(said):
                series = [self._series(self.pin.product, (device, parts), system, said) for system in systems]
                cells = (" to ".join(dict.fromkeys(_word(*each[1:]) for each in found)) or "no build" for found in series)
                rows += [(f"{feature}, {self._head(device, parts)}" if device else feature, *cells)] if any(series) else []
        if rows:
            yield Table((self.names.pin(self.pin), *self._heads(systems)), tuple(rows))
        else:
            yield Paragraph(f"No feature of {self.names.pin(self.pin)} is in the data here.")

    def _devices(self, said: list[Content]) -> list[tuple[str, tuple[str, ...]]]:
        """Return the devices of which something is said and that are asked for, each with hardware that it is said of.

        An empty device stands for any, no hardware for what is said of all. Hardware that is asked for stands alone, with all
        values that it is part of and that something is said of.
        """
        named = dict.fromkeys(d for s in said for d in s["when"].get(DEVICE, ())) or [""]
        places: list[tuple[str, tuple[str, ...]]] = []
        for device in (d for d in named if not d or self.devices is None or d in self.devices):
            own = [s["when"].get(HARDWARE, ()) for s in said if not device or device in s["when"].get(DEVICE, (device,))]
            parts = dict.fromkeys(part for several in own for part in several)
            if self.hardware:
                pinned = self.hardware.mask
                places.append(
                    (device, tuple(part for part in parts if (self.facts.word(HARDWARE, part) or 0) & pinned == pinned))
                )
            else:
                places += [(device, ())] if not all(own) else []
                places += [(device, (part,)) for part in parts]
        return places

    def _head(self, device: str, parts: tuple[str, ...]) -> str:
        """Return what a row is about: the hardware that is asked for, else the device and the hardware that it differs by."""
        of = [self.names.value(DEVICE, device)] if device else []
        if self.hardware:
            return ", ".join([self.names.pin(self.hardware), *(of if len(self.devices or ()) > 1 else ())])
        return ", ".join([*of, *self.names.values(HARDWARE, parts)]) or "any device"

    def _systems(self, said: list[Content]) -> list[str]:
        """Return the systems, likewise."""
        named = sorted({system for s in said for system in s["when"].get(SYSTEM, ())}, key=self.facts.families.index)
        return [name for name in named if self.systems is None or name in self.systems] or [""]

    def _heads(self, systems: list[str]) -> list[str]:
        return [self.names.value(SYSTEM, system) if system else "releases" for system in systems]

    def _series(
        self, of: str, place: tuple[str, tuple[str, ...]], system: str, said: list[Content]
    ) -> list[tuple[str, str | None, bool]]:
        """Return each series that has builds for a device, oldest first, its status there, and whether that is assumed."""
        found = []
        device, parts = place
        elements, wanted = self.facts.elements(of), self.pin.mask if self.pin and self.pin.product == of else -1
        spoken = reduce(or_, (s["mask"] for s in said if s["status"] not in _DENIALS), 0)
        groups = [mask & wanted for mask in self.facts.series(of) if mask & wanted]
        first = next((n for n, mask in enumerate(groups) if mask & spoken), 0)  # from the first one that anybody speaks of
        for mask in groups[first:]:
            if device and not any(not e.devices or device in e.devices for e in elements.of(mask)):
                continue
            holding = [s for s in said if s["mask"] & mask and _of(s, device, parts, system)]
            holding = [s for s in holding if s["when"].get(HARDWARE)] or holding  # what names the hardware says more of it
            best = min(holding, key=lambda s: (_ORDER.index(s["status"]), s["basis"] == "inferred"), default=None)
            name = series_name(elements[mask.bit_length() - 1].release, self.facts.products[of].series)
            status, basis = (best["status"], best["basis"]) if best else (None, "")
            found.append((name, status, basis == "inferred"))
        return found


def _of(statement: Content, device: str, parts: tuple[str, ...], system: str) -> bool:
    """Return whether a statement is about a device, some hardware and a system, whether it names them or not."""
    when = statement["when"]
    is_of_part = HARDWARE not in when or not {*parts}.isdisjoint(when[HARDWARE])
    return is_of_part and device in when.get(DEVICE, (device,)) and system in when.get(SYSTEM, (system,))


def release_lines(features: Iterable[Content]) -> list[str]:
    """Return the lines about features that stand below a version."""
    lines = [line for entry in features for line in _statement(entry["feature"], entry, "    ")]
    return ["  features:", *lines] if lines else []


def _statement(head: str, statement: Content, indent: str) -> list[str]:
    """Return a statement with its remarks and sources."""
    remarks = [f"{name}: {statement[name]}" for name in ("reason", "note") if statement[name]]
    remarks += [f"source: {source['url'] or source['text']}" for source in statement["sources"]]
    return [f"{indent}{head}: {_sentence(statement)}", *(f"{indent}  {remark}" for remark in remarks)]


def asked_features(facts: Snapshot, words: Sequence[str], clock: Clock) -> Features:
    """Return the features that words ask for, as `resolve` reads words; one name may be a feature's. Raises UsageError.

    As `show` reads it, `ipex==2.8` is the series: nothing is installed here.
    """
    needs = []
    if len(words) == 1:
        with suppress(UsageError):
            needs.append(find_feature(facts, words[0]))
    named = [part for word in words for part in (word.split("==") if _EXACT.fullmatch(word) else [word])]
    return Features(facts, clock.day, make_request(facts, (), () if needs else named, (), clock, needs))


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
    lines = _lines(asked.of_pin()) if asked.pin else []
    for entry in content:
        lines += [BLANK] if lines and (why or not asked.pin) else []
        lines += [] if asked.pin else _lines(asked.support(entry))
        if why:
            lines += [Line(text) for text in _told(entry)]
    return [*lines, *asked.edition.footer(*([] if why else ["--why: sources"]))]


def _lines(blocks: Iterable[Block]) -> list[Line]:
    lines: list[Line] = []
    for block in blocks:
        if isinstance(block, Table):
            lines += columns([tuple(map(plain, row)) for row in block.rows], block.head, 0)
        elif isinstance(block, Paragraph):
            lines += wrapped(plain(block.text), "", "  ")
    return lines


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
    text = "; ".join(parts) or ("no" if any(status for _, status, _ in series) else _WORDS[None])
    later: str = ""
    for name, status, is_assumed in reversed(series):  # the last series of which nothing is documented
        if not is_assumed or status in _DENIALS:
            break
        later = name
    return text, later


def _told(entry: Content) -> list[str]:
    """Return every statement about a feature with its sources."""
    said = (_statement(f"{statement['of']}{statement['versions']}", statement, "  ") for statement in entry["statements"])
    return [*([f"  note: {entry['note']}"] if entry["note"] else []), *(line for lines in said for line in lines)]


def features_table(asked: Features) -> str:
    """Return the tables of the screen in Markdown."""
    shown = asked.of_pin() if asked.pin else (block for entry in asked.content() for block in asked.support(entry))
    return "\n".join(render([block], Links()) for block in shown)


def _shown(statement: Content, *, feature: bool = True) -> Content:
    hidden = {"mask"} if feature else {"mask", "feature", "name"}
    return {name: value for name, value in statement.items() if name not in hidden}


def _sentence(statement: Content) -> str:
    when = "; ".join(f"{name} {', '.join(values)}" for name, values in statement["when"].items())
    basis = "" if statement["basis"] == "stated" else f" [{statement['basis']}]"
    return f"{statement['status'].replace('-', ' ')}{f' on {when}' if when else ''}{basis}"


def _word(status: str | None, is_assumed: bool) -> str:
    return f"{_WORDS.get(status, status)}{' (assumed)' if is_assumed else ''}"
