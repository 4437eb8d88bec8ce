"""Why a request has no stack, as sentences, and the sources of each."""

import re
from collections.abc import Iterable
from datetime import date

from compatkb.engine.availability import GLIBC, GLIBC_FAMILY
from compatkb.engine.conflicts import Cause
from compatkb.engine.relations import excluded_by
from compatkb.output.issue_text import spec_in_words
from compatkb.output.labels import Names, ranges
from compatkb.output.machine import tightest
from compatkb.output.things import listed, shortened
from compatkb.request.lookup import is_newer
from compatkb.store.reader import Snapshot
from compatkb.store.records import Edge, Element, Pin, Request, Sources

_VERBS = {"needs": "needs", "constrains": "works only with", "breaks": "does not work with"}
_REFUSALS = {
    "tag-only": "tagged, without published wheels",
    "elsewhere": "on another index than those asked",
    "yanked": "yanked, and only an exact pin selects a yanked release",
    "foreign": "built for another device, and chosen only where a pin names such a build",
}
_MOST_EDGES, _MOST_ELEMENTS, _MOST_SOURCES = 3, 6, 8


class Causes(Names):
    """Says why a request has no stack."""

    def __init__(self, facts: Snapshot, request: Request) -> None:
        super().__init__(facts)
        self.request = request

    def sentence(self, conflict: Cause) -> str:
        """Return a cause as a sentence."""
        kind, product = conflict.blocker[0], conflict.blocker[1]
        if kind == "offer":
            return self._offer(conflict)
        if kind == "platform":
            return self._platform(conflict)
        return self._claims(conflict, product, conflict.blocker[2])

    def sources(self, conflict: Cause) -> Sources:
        """Return the sources of a cause, without repetition."""
        cited: dict[tuple[str, str | None], None] = {}
        elements = [e for _, e in _telling(conflict)] if conflict.blocker[0] == "offer" else list(conflict.elements)
        for element in elements[:_MOST_ELEMENTS]:
            cited.update(dict.fromkeys(self.facts.element_sources(element)[:2]))
        for edge in self.nearest_edges(conflict):
            cited.update(dict.fromkeys(self.facts.citations(edge.claim)))
        if conflict.certain and not conflict.edges:
            for scope in self.facts.scopes_of(conflict.blocker[1]):
                cited.update(dict.fromkeys(scope.sources))
        return tuple(cited)[:_MOST_SOURCES]

    def _nearest(self, product: str, pin: Pin) -> str:
        return self.build(self.facts.elements(product)[pin.near.bit_length() - 1])

    def _offer(self, conflict: Cause) -> str:
        product = conflict.blocker[1]
        device = self.value("device", conflict.device)
        pin = self.request.pin(product)
        what = self.pin(pin) if pin else self.label(product)
        if pin and pin.beyond and not is_newer(self.facts, self.facts.products[product], pin.beyond):
            if "+" in pin.text:
                return f"{what} is not known: the data have no build of {self.label(product)} with that label"
            if ".post" in pin.beyond:
                return f"{what} is not known: of its release the data have other builds, such as {self._nearest(product, pin)}"
        if pin and pin.beyond:
            last = self.facts.elements(product)[pin.near.bit_length() - 1].release
            name = self.label(product)
            if is_newer(self.facts, self.facts.products[product], pin.beyond) or not pin.exact:
                return f"{what} is newer than these data ({self.facts.meta['data_date']}); the newest known is {name} {last}"
            unlisted = f"no complete list of {name} releases reaches that far"
            return f"{what} is not known: {unlisted}; the nearest known is {name} {last}"
        if not conflict.refused:
            ended = self.facts.elements(product)[-1].eol if self.facts.sizes[product] else None
            over = f": {self.label(product)} ended {date.fromordinal(ended)}" if ended and pin and not pin.mask else ""
            return f"{what} was never published{over or self._last(product)}"
        made_for = self._made_for([e for _, e in conflict.refused])
        if self.facts.products[product].role == "dimension":
            return f"{what} is for {listed(made_for) or 'no device'}, not {device}"
        by_code: dict[str, list[Element]] = {}
        for code, element in conflict.refused:
            by_code.setdefault(code, []).append(element)
        if list(by_code) == ["unserved"]:
            covered = listed(self.values("device", dict.fromkeys(d for route in self.facts.routes for d in route.devices)))
            return f"{what} is built for {listed(made_for, 'or')}, of which these data say nothing: they are about {covered}"
        if list(by_code) == ["device"]:
            return f"{what} is built for {listed(made_for, 'or')}, not {device}"
        if "other-route" in by_code:
            route = next(route.name for route in self.facts.routes if route.id == conflict.route)
            return f"{route[0].upper()}{route[1:]} goes without {what}"
        parts = [self._refusal(code, by_code[code]) for code in sorted(by_code, key=lambda code: code == "device")]
        return f"{what} has no wheel for {device}: {'; '.join(parts)}"

    def _last(self, product: str) -> str:
        """Return which release of a product is the last, and what that serves; empty where the request names no later one."""
        pin, elements = self.request.pin(product), self.facts.elements(product)
        if not pin or not pin.near >> len(elements) - 1:
            return ""
        last, provider = elements[-1].release, self.facts.routes[0].provider
        edges = [edge for edge in self.facts.edges(product, provider) if elements.of(edge.of_mask)[-1].release == last]
        open_ended = (edge.spec.removeprefix(">=") for edge in edges if re.fullmatch(r">=[\d.]+", edge.spec))
        first = next(open_ended, None) if provider != product else None
        served = f", for {self.label(provider)} {first} and newer" if first else ""
        return f": {self.label(product)} {last} is its last release{served}"

    def _made_for(self, elements: list[Element]) -> list[str]:
        """Return what builds are for: devices by their names, other kinds by their labels."""
        kinds = dict.fromkeys(kind for e in elements for kind in ([e.kind] if e.kind else sorted(e.devices)))
        names = [self.value("device", kind) for kind in kinds]
        return names if len(names) <= _MOST_ELEMENTS else [*names[:_MOST_ELEMENTS], "others"]

    def _refusal(self, code: str, elements: list[Element]) -> str:
        names = shortened(e.version for e in elements)
        is_ = "is" if len({e.version for e in elements}) == 1 else "are"
        if code == "device":
            return f"the other builds are for {listed(self._made_for(elements))}"
        if code in ("source-only", "from-source"):
            return f"{names} {is_} source only{self._note(elements)}"
        if code == "not-yet":
            first = min(elements, key=lambda e: e.since or 0)
            head = first.version if len(elements) == 1 else f"the first of the later ones, {first.version},"
            return f"{head} came out on {date.fromordinal(first.since or 1)}, after {date.fromordinal(self.request.as_of)}"
        if code == "too-new":
            first_day = date.fromordinal((self.request.uploaded_until or 0) + 1)
            return f"{names} {is_} too new: uploaded on {first_day} or later"
        if code == "python-patch":
            python = next(pin.patch for pin in self.request.pins if pin.patch)
            return f"the metadata of {names} exclude Python {python}"
        if code == "only-with":
            others = sorted({self.label(o) for e in elements for o in e.only_with})
            return f"{names} {is_} of use only with {listed(others)}"
        return f"{names} {is_} {_REFUSALS.get(code, 'on no package index')}"

    def _note(self, elements: list[Element]) -> str:
        for e in elements:
            known = self.facts.details_of(e.product, e.idx)
            if known and known.note:
                return f" ({known.note.rstrip('.')})"
        return ""

    def _platform(self, conflict: Cause) -> str:
        product = conflict.blocker[1]
        pins = [pin for name in ("python", "os", "arch", GLIBC) if (pin := self.request.pin(name))]
        wanted = ", ".join(self.pin(pin) for pin in pins)
        grid = self.facts.grid
        cells = 0
        for element in conflict.elements:
            cells |= element.certain | element.inferred
        cells = cells & self._asked_systems() or cells
        width = len(grid["arch"]) * len(grid["python"])
        systems, pythons = [], set()
        for n, system in enumerate(grid["os"]):
            row = cells >> n * width & ((1 << width) - 1)
            if row and system in self.facts.families:
                systems.append(self.value("os", system))
                for a in range(len(grid["arch"])):
                    part = row >> a * len(grid["python"])
                    pythons |= {p for m, p in enumerate(grid["python"]) if part >> m & 1}
        have = f"; its wheels are for Python {ranges(pythons, grid['python'])} on {listed(sorted(systems))}" if pythons else ""
        floors = sorted({f.glibc for e in conflict.elements for f in self.facts.floors(e) if f.glibc and f.glibc > (0,)})
        if have and floors and (self.request.pin(GLIBC) or self._has_glibc()):
            have += f" with glibc {'.'.join(str(n) for n in floors[0])} or newer"
        names = list(dict.fromkeys(e.version for e in conflict.elements))
        what = self.build_name(conflict.elements[0]) if conflict.elements else self.label(product)
        if self.request.pin(product) or len(names) == 1:
            what = f"{what} {shortened(names)}"
            proof = "has" if len(names) == 1 else "have"
        else:
            what, proof = f"no release of {what}", "has"
        lack = "a" if what.startswith("no ") else "no"
        known = "" if conflict.certain else "known "
        return f"{what} {proof} {lack} {known}wheel for {wanted or 'a platform that the rest supports'}{have}"

    def _asked_systems(self) -> int:
        """Return the platforms of the systems that the request names and of their families; all where it names none."""
        pin = self.request.pin("os")
        grid = self.facts.grid["os"]
        asked = {name for n, name in enumerate(grid) if pin and pin.mask >> n & 1}
        asked |= {wider for name in asked for wider in self.facts.wider.get(name, ())}
        return self.facts.dimension_cells("os", sum(1 << n for n, name in enumerate(grid) if name in asked or not asked))

    def _has_glibc(self) -> bool:
        """Return whether a request names systems, and only such as have a glibc."""
        pin = self.request.pin("os")
        names = [name for n, name in enumerate(self.facts.grid["os"]) if pin and pin.mask >> n & 1]
        return bool(names) and all(GLIBC_FAMILY in (name, *self.facts.wider.get(name, ())) for name in names)

    def nearest_edges(self, conflict: Cause) -> list[Edge]:
        """Of many denials keep those that are closest to what was pinned: the last ones before it and the first after it."""
        edges = list(conflict.edges)
        if conflict.blocker[0] == "claim" and any(self.facts.products[to].machine for to in conflict.blocker[1:3]):
            return tightest(edges)[:_MOST_EDGES]
        if conflict.blocker[0] != "claim" or len(edges) <= _MOST_EDGES:
            return edges
        one, other = conflict.blocker[1], conflict.blocker[2]
        for held, free in ((other, one), (one, other)):
            pin = self.request.pin(held)
            if not pin or not pin.mask:
                continue
            low, high = (pin.mask & -pin.mask).bit_length() - 1, pin.mask.bit_length() - 1
            every = (1 << self.facts.sizes[held]) - 1
            left = {e.id: every & ~excluded_by(e) for e in edges if e.to == held and e.of == free}
            needs = [e for e in edges if left.get(e.id)]
            series = {e.id: next(n for n, mask in enumerate(self.facts.series(held)) if mask & left[e.id]) for e in needs}
            known = {e.id: self._spread(e) for e in needs}
            below = [e for e in needs if left[e.id].bit_length() - 1 < low]
            above = [e for e in needs if (left[e.id] & -left[e.id]).bit_length() - 1 > high]
            chosen = []
            if below:
                chosen.append(max(below, key=lambda e: (series[e.id], known[e.id], e.of_mask.bit_length())))
            if above:
                chosen.append(min(above, key=lambda e: (series[e.id], -known[e.id], e.of_mask.bit_length())))
            if chosen:
                return chosen
        return edges[:_MOST_EDGES]

    def _spread(self, edge: Edge) -> int:
        """Return on how many platforms the widest build that an edge is about is known."""
        return max((e.certain | e.inferred).bit_count() for e in self.facts.elements(edge.of).of(edge.of_mask))

    def _claims(self, conflict: Cause, one: str, other: str) -> str:
        shown = self.nearest_edges(conflict)
        is_pinned = bool(self.request.pin(one) and self.request.pin(other))
        is_brief = len(conflict.edges) > len(shown) and not is_pinned and not conflict.is_part
        denials = [self._denial(conflict, edge, None if is_brief else self.request) for edge in shown]
        text = _joined(list(dict.fromkeys(denials)))
        held = [self.pin(pin) for name in (one, other) if (pin := self.request.pin(name))]
        if not text and len(held) > 1:
            return f"{held[0]} is not compatible with {held[1]}"
        if is_brief or not text:
            pin = self.request.pin(other) or self.request.pin(one)
            about = self.pin(pin) if pin else self.label(other)
            free = self.label(one if pin and pin.product == other else other)
            device = self.value("device", conflict.device)
            return f"no {free} release for {device} is compatible with {about}{f': {text}' if text else ''}"
        return text

    def _denial(self, conflict: Cause, edge: Edge, request: Request | None) -> str:
        """Return what one claim says, and against which pin of a request."""
        record = self.facts.claim(edge.claim)
        condition = f" ({record.condition})" if record.condition and record.condition != f"device {conflict.device}" else ""
        if record.reason:
            return f"{record.reason.rstrip('.')}{condition}"
        pin = request.pin(edge.to) if request else None
        text = pin.text.removeprefix(pin.product).lstrip("= ") if pin else ""
        is_listed = self.facts.products[edge.to].scheme == "listed"
        spec = re.sub("={2,3}", "", edge.spec)
        names = listed([self.value(edge.to, name) for name in spec.split(" or ")], "or")
        bound = spec_in_words(spec) if self.facts.products[edge.to].machine else spec
        needed = names if is_listed else f"{self.label(edge.to)} {bound}"
        wanted = self.pin(pin) if pin and is_listed else text
        instead = f", not {wanted}" if text[:1].isalnum() and edge.kind != "breaks" else ""
        extra = f" with its extra {edge.extra}" if edge.extra else ""
        instead = instead if self.facts.sizes[edge.to] or not edge.in_metadata else ", which the default index does not have"
        return f"{self.term(record.of_term)}{extra} {_VERBS[edge.kind]} {needed}{condition}{instead}"

    def excluded(self) -> str:
        """Return that what is fixed of the platform excludes itself."""
        words: Iterable[str] = (
            self.pin(pin) for pin in self.request.pins if self.facts.products[pin.product].role == "dimension"
        )
        return f"{listed(list(words))} do not occur together" if self.request.pins else "no platform supports all of it"


def _telling(conflict: Cause) -> list[tuple[str, Element]]:
    """Return the refused builds that say most: those made for the device, or all where there are none."""
    telling = [(code, e) for code, e in conflict.refused if code != "device"]
    return telling or list(conflict.refused)


def _joined(parts: list[str]) -> str:
    """Return what several claims say; reasons are sentences of their own."""
    text = ""
    for part in parts:
        text += (". " if part[:1].isupper() and part[1:2].islower() else "; ") + part if text else part
    return text
