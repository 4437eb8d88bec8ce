"""Answers that come again: places of which the same is known have the same answer, but for the names of Python and system.

Where something speaks for a stack, the answer is the best stacks of the place. Where nothing does, it is the stacks that
nothing speaks against, and what is near: the best stacks of the place, its system and its Python after some choices are
given up. Places for which all of these are the same are alike.
"""

import json
from collections.abc import Iterator
from functools import cached_property
from itertools import combinations, permutations
from typing import Any, NamedTuple

from compatkb.engine.answer import routes_of
from compatkb.engine.nearest import holding, without
from compatkb.engine.problem import Problem
from compatkb.records import UNKNOWN, Request
from compatkb.web.answering import PYTHON, SYSTEM, Packed, words_in
from compatkb.web.questions import PLACES, Form
from compatkb.web.tables import Tables

Place = dict[str, str]
Outline = dict[int, int]
_MARKS = {"python": json.dumps(PYTHON)[1:-1], "os": json.dumps(SYSTEM)[1:-1]}


class Told(NamedTuple):
    """An answer that was given."""

    number: int
    verdict: str


class _Kept(NamedTuple):
    """An answer with what makes a place another one: what its bit is in some sets of platforms, and names."""

    told: Told
    sets: dict[int, int]
    words: frozenset[str]


class Repeats:
    """The answers of one table, found again for places that differ from an answered one in name alone."""

    def __init__(self, form: Form, fixed: dict[str, str], tables: Tables) -> None:
        self.form, self.tables, self.request = form, tables, form.request(fixed)
        self.kinds = self._outline(self.request)
        self.known: dict[object, list[_Kept]] = {}

    def find(self, place: Place) -> Told | None:
        """Return the answer of a place like this one."""
        shape = self._shape(place)
        bit = self._bits(place)[0]
        for kept in self.known.get(shape, ()) if shape else ():
            if not kept.words.intersection(place.values()) and all(
                cells >> bit & 1 == is_in for cells, is_in in kept.sets.items()
            ):
                return kept.told
        return None

    def keep(self, place: Place, answer: Packed, told: Told) -> None:
        """Keep an answer for places like its own, unless it names its own place beyond need."""
        shape = self._shape(place)
        causes = [json.loads(cause) for cause in answer.causes]
        if shape is None or (shape[0] == "denied" and any("os" in cause["products"] for cause in causes)):
            return
        changing = PLACES if shape[0] == "known" else ("os",)
        texts = [_plain(place, head) for _, head in answer.stacks] + [
            _plain(place, head) for _, _, (_, head) in answer.nearest
        ]
        text = " ".join([*texts, *(_unplaced(place, cause) for cause in answer.causes)])
        if not any(_MARKS[field] in text for field in changing if field in place):
            words = words_in(text, tuple(name for field in changing for name in self.form.values(field)))
            bit = self._bits(place)[0]
            masks = self._consulted(causes) if shape[0] == "denied" else ()
            kept = _Kept(told, {cells: cells >> bit & 1 for cells in masks}, words)
            self.known.setdefault(shape, []).append(kept)

    def _consulted(self, causes: list[dict[str, Any]]) -> set[int]:
        """Return the sets of platforms that causes depend on: those of the trials, and of what their products say."""
        facts = self.form.facts
        found = set(self.tables.trail)
        for cause in causes:
            for one, other in permutations(cause["products"], 2):
                found |= {edge.denies for edge in facts.edges(one, other)}
            rows = facts.rows("select cells from concerned where claim is null and name = ?", cause["products"][0])
            found |= {facts.cells(row["cells"]) for row in rows}
        return found

    def _bits(self, place: Place) -> list[int]:
        return self.tables.bits(self.form.request(place))

    def _shape(self, place: Place) -> tuple[object, ...] | None:
        """Return what the answer of a place depends on besides its names; None where that is not known."""
        bits = self._bits(place)
        kinds = [self.kinds.get(bit, -1) for bit in bits]
        free_threaded = place.get("python", "").endswith("t")  # for which some forms of commands are missing
        if max(kinds) >= 0:
            return ("known", *place, free_threaded, *kinds)
        if len(place) < len(PLACES):
            return None
        column = self._bits({"os": place["os"]})
        near = [outline.get(bit, -1) for outline in self.wider for bit in column]
        near += [outline.get(bits[0], -1) for outline in self.beside]
        if bits[0] in self.vague:
            return ("vague", place["python"], self.vague[bits[0]], *near)
        wider = self.form.facts.wider[place["os"]]
        return ("denied", place["python"], wider or place["os"], *near)

    @cached_property
    def vague(self) -> Outline:
        """Where there are stacks that nothing speaks against."""
        return self._outline(self.request, least=UNKNOWN)

    @cached_property
    def wider(self) -> list[Outline]:
        """What is left of the choices when none or some of them are given up."""
        names = [pin.product for pin in self.request.pins]
        every = [some for count in range(len(names) + 1) for some in combinations(names, count)]
        return [self._outline(without(self.form.facts, self.request, some)) for some in every]

    @cached_property
    def beside(self) -> list[Outline]:
        """What is known when one choice gives way to another series of the same product."""
        return [self._outline(request) for request in self._beside()]

    def _beside(self) -> Iterator[Request]:
        facts = self.form.facts
        for pin in self.request.pins:
            if facts.products[pin.product].scheme != "listed":
                free = without(facts, self.request, (pin.product,))
                yield from (holding(free, pin.product, group) for group in facts.series(pin.product))

    def _outline(self, request: Request, **options: int) -> Outline:
        facts = self.form.facts
        ways = [*routes_of(facts, self.request), *routes_of(facts, request)]
        known = {(device, route.id): Problem(facts, request, device, route) for device, route in ways}
        return self.tables.outline(known.values(), **options)


def _plain(place: Place, head: str) -> str:
    """Return the words of a stack's head but for the Python and the system that are its place."""
    pythons, systems, told, base = json.loads(head)
    values = [*(p for p in pythons if p != PYTHON), *(s for s in systems if s != SYSTEM), *([base] if base != PYTHON else [])]
    return " ".join([*values, *(_unplaced(place, json.dumps(text)) for text in told)])


def _unplaced(place: Place, text: str) -> str:
    """Return a text without the phrase that names the place."""
    if "python" in place:
        text = text.replace(f"Python {_MARKS['python']} on ", "on ")
    return text.replace(f" on {_MARKS['os']} ", " ").replace(f", os {_MARKS['os']}", "") if "os" in place else text
