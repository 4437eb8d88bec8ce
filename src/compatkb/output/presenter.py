"""Makes the view of an answer: what the engine found, with the names, sources and commands that the data have for it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING

from compatkb.core.names import is_free_threaded
from compatkb.core.vocabulary import Role, Verdict
from compatkb.engine.advice import FeatureSupport, StackWarning
from compatkb.engine.alternatives import Alternative, unserved_pins
from compatkb.engine.answer import Answer, Beside
from compatkb.engine.conflicts import Cause
from compatkb.engine.newer import PassedOver, newer_in_series, passed_over
from compatkb.engine.relations import DEMANDING
from compatkb.engine.stacks import Stack
from compatkb.errors import GaveUpError
from compatkb.output import messages
from compatkb.output.causes import Causes
from compatkb.output.disputes import DisputeFinder
from compatkb.output.evidence import Evidence, claims_of
from compatkb.output.issue_text import spec_in_words, stack_issues
from compatkb.output.labels import ARCH, DEVICE, HARDWARE, PYTHON, SYSTEM, Names, series_of, value_of
from compatkb.output.machine import MachineText, tightest
from compatkb.output.things import (
    BuildView,
    DimensionValue,
    Instead,
    Offered,
    StackView,
    Warned,
    joined_with,
    listed,
    platforms,
    shortened,
)
from compatkb.output.view import (
    AnswerView,
    BesideView,
    CauseView,
    Near,
    StackGroup,
    Way,
    by_system,
    grouped,
    rows_of,
    sections_of,
)
from compatkb.store.queries.products import ChannelRecord
from compatkb.store.reader import Snapshot
from compatkb.store.records import Element, Product, Request, Sources

if TYPE_CHECKING:  # what answers in the browser has no doctor
    from compatkb.doctor.questions import SuccessorStack
    from compatkb.output.json_types import DisputeJson

_CLOSEST = {"same": 0, "above": 1, "below": 2, "best": 3}
_SIDES = {"same": "same series", "above": "nearest newer", "below": "nearest older", "best": "newest"}
_DAYS = 60
"""Before its end a system or a Python is told to be near it."""
_PACKAGES = (Role.PACKAGE, Role.COMPANION)


def present(facts: Snapshot, answer: Answer) -> AnswerView:
    """Return an answer as it is shown."""
    return Presenter(facts, answer.request).answer(answer)


def present_stack(facts: Snapshot, stack: Stack, request: Request) -> StackView:
    """Return one stack that answers a request as it is shown."""
    return Presenter(facts, request).stack(stack)


class Presenter(Causes):
    """Shows what the engine found for one request."""

    # -- an answer --------------------------------------------------------------------------------------------------

    def answer(self, answer: Answer) -> AnswerView:
        """Return the whole answer."""
        request = self.request
        stacks = tuple(map(self.stack, answer.stacks))
        raw = dict(zip(map(id, stacks), answer.stacks, strict=True))
        groups = grouped(stacks, lambda group: self._wide([raw[id(stack)] for stack in group]))
        is_positive = bool(stacks) and answer.verdict != Verdict.UNKNOWN
        beside = tuple(self._beside(each, stacks[0] if stacks else None) for each in answer.beside)
        shown = by_system(request, groups) if is_positive else ()
        told = request._replace(devices=()) if unserved_pins(self.facts, request) else request  # its label names another one
        headline = self._headline(shown) if is_positive else self.asked(told) + self._on_devices()
        verdict = max((group.best.verdict for group in shown), key=list(Verdict).index, default=answer.verdict)
        fixed = bool(request.pin("python") and request.pin("os"))
        newer = self._newer([(group, raw[id(group.best)]) for group in shown]) if is_positive else ("", "")
        rows = rows_of(request, headline, groups, shown, beside, newer, self._graphics(shown)) if is_positive else ()
        nearest = tuple(map(self.near, answer.nearest))
        reasons = () if stacks or answer.causes else (self.excluded(),)
        return AnswerView(
            self.facts.meta["data_date"], request, self.asked(request), verdict, headline, stacks, groups,
            sections_of(shown) if shown else (), rows, tuple(map(self.cause, answer.causes)), reasons, nearest, beside,
            () if is_positive else tuple(self._ways(answer, nearest)), fixed, answer.gave_up,
        )  # fmt: skip

    def _newer(self, shown: Sequence[tuple[StackGroup, Stack]]) -> tuple[str, str]:
        """Return what is newer in the series that pins read like, and why the answer leads with no newer release else.

        Where the first stack is the newest one, it is told of the one for another system. Each is empty where there is nothing
        to say.
        """
        told: tuple[PassedOver, ...] = ()
        where = ""
        for number, (group, stack) in enumerate(shown):
            try:
                passed = passed_over(self.facts, self.request, stack)
            except GaveUpError:
                passed = ()
            if passed:
                told, where = passed, f"on {group.systems}: " if number else ""
                break
        try:
            in_series = list(newer_in_series(self.facts, self.request, shown[0][1]))
        except GaveUpError:
            in_series = []
        releases_by_why: dict[str, list[str]] = {}
        for one in told:
            releases_by_why.setdefault(messages.PASSED_OVER[one.why], []).append(one.element.release)
        said = (
            f"{pin.text} is {named}; {pin.product}=={release} {'works' if is_certain else 'probably works'}, too "
            f"(the series is {pin.text}.*)"
            for pin, named, release, is_certain in in_series
        )
        reasons = "; ".join(f"{', '.join(releases)}: {why}" for why, releases in releases_by_why.items())
        return "; ".join(said), f"{where}{reasons}"

    def _headline(self, shown: Sequence[StackGroup]) -> str:
        """Return what a verdict is about: the best stack and where it runs; where systems differ, each of them."""
        best = shown[0].best
        using = f"using {' and '.join(offered.name for offered in best.features)}" if best.features else ""
        where = self.where(self.request, best.device.id)
        if len(shown) == 1:
            return " ".join(part for part in (best.name, using, where) if part)
        other = shown[1].best
        common = best.name if best.builds == other.builds else _common(best, other)
        if best.verdict == other.verdict and common:
            return " ".join(part for part in (common, using, where) if part)
        parts = [
            f"{'' if best.verdict == other.verdict else f'{messages.signed(group.best.verdict)} '}"
            f"{'' if common else f'{group.best.name} '}on {group.systems}"
            for group in shown
        ]
        head = " ".join(part for part in (common or self._packages(self.request), using, where) if part)
        return f"{head}: {'; '.join(parts)}"

    def _graphics(self, shown: Sequence[StackGroup]) -> str:
        """Return what is known of the graphics of hardware of whose processor alone an answer is; empty if that was asked."""
        hardware, device = self.request.pin(HARDWARE), shown[0].best.device.id
        beside = self.graphics_beside(hardware, device) if hardware and not self.request.names_devices else None
        if beside is None:
            return ""
        graphics, known = self.facts.hardware_devices()[beside.version][0], self.facts.release(HARDWARE, beside.version)
        note = (known and known.note) or "no document names them"
        return f"its graphics ({self.value(DEVICE, graphics)}): {note}"

    def _on_devices(self) -> str:
        """Return the devices that a "no" is about, where what the default index has of a pin is built for another one."""
        request = self.request
        elements = [e for pin in request.pins for e in self.facts.elements(pin.product).of(pin.mask)]
        if len(request.devices) < 2 or not any(e.foreign and "default" in e.channels for e in elements):
            return ""
        return f" on {listed(self.values(DEVICE, request.devices), 'or')}"

    def _beside(self, beside: Beside, best: StackView | None) -> BesideView:
        """Return a stack that stands beside the best one: why, in a word, and what it is."""
        stack, products = self.stack(beside.stack), self.facts.products
        if best is None:
            return BesideView(beside.kind, "", stack)
        pairs = ((best.python, stack.python), (best.os, stack.os), (best.arch, stack.arch))
        elsewhere = not all(set(every).issubset(some) for every, some in pairs)
        name = stack.name + (f" on {platforms([stack])}" if elsewhere else "")
        if beside.kind == "proven":
            return BesideView(beside.kind, f"{name}: {stack.evidence.basis}", stack)
        if beside.kind == "successor":
            ended = [build.product for build in best.main if build.product.id not in stack.held]
            gone = " and ".join(product.label for product in ended if product.id in self.facts.successors)
            left = " and ".join(product.label for product in ended if product.id not in self.facts.successors)
            text = (f"{name} replaces {gone}" if gone else name) + (f", without {left}" if left else "")
            return BesideView(beside.kind, f"{text}; `compatkb migrate` shows what changes in your code", stack)
        cells = beside.stack.cells(self.facts, ("os", "arch"))
        main = [
            e
            for e in beside.stack.packages
            if e.product in beside.stack.requested and products[e.product].role == Role.PACKAGE
        ]
        built = [kind for e in main or beside.stack.packages[:1] for kind in self.facts.kinds(e) if kind.cells & cells]
        larger = f", a {built[0].device.upper()} build: larger, its GPU part stays unused" if built else ""
        return BesideView(beside.kind, f"{name} from the default index{larger}", stack)

    def near(self, near: Alternative) -> Near:
        """Return a stack that is near, with the pins that it gives up."""
        return Near(near.relaxed, near.where, self.stack(near.stack))

    def cause(self, conflict: Cause) -> CauseView:
        """Return one cause, in words."""
        pinned = {pin.product for pin in self.request.pins}

        def look() -> "tuple[list[DisputeJson], Sources]":
            return DisputeFinder(self.facts).of_cause(conflict, self.request), self.sources(conflict)

        kind, *products = conflict.blocker
        about_asked = kind != "offer" and pinned.issuperset(products)
        return CauseView(
            kind, tuple(products), conflict.device, conflict.route, conflict.certain, self.sentence(conflict),
            tuple(edge.claim for edge in conflict.edges), about_asked, look,
        )  # fmt: skip

    # -- a stack ----------------------------------------------------------------------------------------------------

    def stack(self, stack: Stack) -> StackView:
        """Return one stack as things."""
        facts, request = self.facts, self.request
        named = {pin.product for pin in request.pins} | set(request.bare)

        def made(element: Element) -> BuildView:
            return self.build_of(element, stack)

        builds = tuple(map(made, stack.packages))
        requested = [build for build in builds if build.requested]
        main = tuple(build for build in requested if build.product.role == Role.PACKAGE) or builds[:1]
        about = tuple(b for b in requested if b.product.role == Role.PACKAGE or b.product.id in named) or builds[:1]
        members = {element.product: element.idx for element in stack.packages}
        recipes = [i for i in facts.installs if i.product in members and i.mask >> members[i.product] & 1]
        device = facts.release(DEVICE, stack.device)
        route = next(route for route in facts.routes if route.id == stack.route)
        required = MachineText(facts).required(request, stack.os)
        of_machine = (facts.products[product] for product in (*stack.known, *named) if product != HARDWARE)
        unknown = not any(product.shown or product.machine for product in of_machine)
        return StackView(
            value_of(facts, DEVICE, stack.device), stack.route, route.provider, stack.verdict, stack.level, builds, main,
            about, stack.requested, self._values(PYTHON, stack.python), self._values(SYSTEM, stack.os),
            self._values(ARCH, stack.arch), stack.known,
            tuple((each, stack.known.get(each.id, ())) for each in facts.products.values() if each.shown),
            self._values(HARDWARE, stack.known.get(HARDWARE, ())),
            tuple(self._needs(stack)), required,
            f"{device.needs}; no minimum version is known" if unknown and not required and device and device.needs else "",
            tuple((facts.products[product], spec) for product, spec in stack.bounds),
            tuple(map(self.warned, stack.warnings)), self._elsewhere(request, stack, route.provider),
            tuple(self._ending(request)), lambda: stack_issues(self, stack, request),
            tuple(map(self.offered, stack.features)),
            next((each for each in recipes if each.product in {build.product.id for build in builds if build.named}), None),
            tuple(pin for each in recipes for pin in each.waives), device.proof if device else None,
            Evidence(facts, stack, request.as_of, made),
        )  # fmt: skip

    def _values(self, dimension: str, versions: Iterable[str]) -> tuple[DimensionValue, ...]:
        return tuple(value_of(self.facts, dimension, version) for version in versions)

    def build_of(self, element: Element, stack: Stack) -> BuildView:
        """Return a build of a stack, with where it is taken from there."""
        product = self.facts.products[element.product]
        requested = element.product in stack.requested
        asked = product.role == Role.LEAF and requested
        named = bool(element.distribution) and (asked or (product.role in _PACKAGES and not product.automatic))
        served = tuple(channel for channel in self.facts.channels if channel.id in element.channels)
        return BuildView(
            product, element.idx, element.version, element.release, self.build_name(element), element.distribution,
            element.extras, element.stage, element.maker, element.devices, element.channels, self._index(element, stack),
            served, self._inside(element, stack, served), requested, named,
            lambda: self.facts.element_sources(element),
        )  # fmt: skip

    def _index(self, element: Element, stack: Stack) -> ChannelRecord | None:
        """Return the index to take a build from: the one made for the stack's only hardware, else the first."""
        known = self.facts.indexes
        leaf = self.facts.products[element.product].role == Role.LEAF
        fitting = [known[c] for c in (element.channels or (("default",) if leaf else ())) if c in known]
        hardware = set(stack.known.get(HARDWARE, ()))
        own = [row for row in fitting if row.hardware and len(hardware) == 1 and hardware & set(row.hardware)]
        return next(iter(own or [row for row in fitting if not row.hardware] or fitting), None)

    def _inside(self, element: Element, stack: Stack, served: Sequence[ChannelRecord]) -> str:
        """Return the first system within which a build that is no wheel runs and that fits a stack; empty for none."""
        facts, at = self.facts, [system for channel in served if not channel.is_index for system in channel.os]
        newest = facts.dimension_cells(PYTHON, 1 << facts.grid[PYTHON].index(stack.python[-1])) if at else 0
        for system in at:
            cells = facts.dimension_cells(SYSTEM, 1 << facts.grid[SYSTEM].index(system)) & newest
            if (element.certain | element.inferred) & cells and set(stack.os) & {system, *facts.wider.get(system, ())}:
                return system
        return ""

    def _needs(self, stack: Stack) -> Iterator[tuple[Product, str]]:
        """Yield what a stack needs of the machine beyond the platform, as far as that is known and was not fixed."""
        for product in self.facts.products.values():
            values = stack.known.get(product.id, ())
            if product.shown and product.id != HARDWARE and values and not self.request.pin(product.id):
                names = [v for v in values if v[:1].isalnum()] or list(values)
                yield product, shortened(names).replace(", ", " or ")

    def _elsewhere(self, request: Request, stack: Stack, provider: str) -> str:
        """Return what the default architecture has of a provider, where systems mean another one that nobody named."""
        facts, pin, usual = self.facts, request.pin(ARCH), self.facts.products[ARCH].default or ""
        if pin is None or pin.exact or usual in stack.arch:
            return ""
        cells = facts.dimension_cells(ARCH, 1 << facts.grid[ARCH].index(usual))
        cells &= reduce(or_, (facts.dimension_cells(SYSTEM, 1 << facts.grid[SYSTEM].index(name)) for name in stack.os))
        there = [e for e in facts.elements(provider) if e.installable and e.channels and (e.certain | e.inferred) & cells]
        names = Names(facts)
        assumed, other = ", ".join(names.values(ARCH, stack.arch)), names.value(ARCH, usual)
        newest = f"{names.label(provider)} {there[-1].version} is the newest" if there else "there is none"
        return f"{assumed} is assumed; on {other} (Intel) {newest}: add {usual} to the question"

    def _ending(self, request: Request) -> Iterator[str]:
        """Yield the systems and Pythons that a request fixes and that have ended, or do so within weeks."""
        for place in (SYSTEM, PYTHON):
            pin = request.pin(place)
            fixed = [self.facts.release(place, e.version) for e in self.facts.elements(place).of(pin.mask)] if pin else []
            for known in fixed if len(fixed) == 1 else ():
                if known and known.eol and known.eol <= date.fromordinal(request.today + _DAYS).isoformat():
                    name = known.name or f"{self.facts.products[place].label} {known.version}"
                    yield f"{name}: end of life {messages.last_day(known.eol, known.eol_precision)}"

    def warned(self, warned: StackWarning) -> Warned:
        """Return a warning with the product that it is about."""
        kind, product, version, day, until, detail, _ = warned
        return Warned(kind, self.facts.products[product], version, day, until, detail, lambda: self._warning_sources(warned))

    def _warning_sources(self, warned: StackWarning) -> Sources:
        if warned.sources:
            return warned.sources
        for element in self.facts.elements(warned.product):
            if element.version == warned.version:
                if warned.kind == "eol":
                    known = self.facts.release(warned.product, element.release)
                    return known.eol_sources if known else ()
                return self.facts.element_sources(element)[:1]
        return ()

    def offered(self, offered: FeatureSupport) -> Offered:
        """Return a feature that was asked for, with its name and claims."""
        by = tuple((self.facts.products[product], version) for product, version in offered.by)
        name, claims = self.facts.features[offered.feature][0], claims_of(self.facts, offered.claims)
        return Offered(offered.feature, name, offered.status, offered.level, by, claims)

    def _wide(self, group: Sequence[Stack]) -> tuple[StackView, ...]:
        """Return stacks that install the same as one, for the Pythons of all."""
        merged: dict[tuple[object, ...], Stack] = {}
        for stack in group:
            named = tuple(e for e in stack.packages if self.build_of(e, stack).named)
            key = named, stack.bounds, stack.os, stack.arch
            pythons = {*stack.python, *(merged[key].python if key in merged else ())}
            every = tuple(python for python in self.facts.grid[PYTHON] if python in pythons)
            merged[key] = merged.get(key, stack)._replace(python=every)
        return tuple(map(self.stack, merged.values()))

    def instead(self, instead: "SuccessorStack | None") -> Instead | None:
        """Return what takes the place of ended products."""
        if instead is None:
            return None
        return Instead(tuple(self.facts.products[product] for product in instead.ended), self.stack(instead.stack))

    # -- ways out ---------------------------------------------------------------------------------------------------

    def _ways(self, answer: Answer, nearest: Sequence[Near]) -> Iterator[Way]:
        """Yield the ways out, the easiest first, without two that install the same."""
        ways = []
        products = self.facts.products
        for beside in answer.beside:
            if beside.kind == "successor":
                stack = self.stack(beside.stack)
                named = (*(pin.product for pin in self.request.pins), *self.request.bare)
                gone = [self.label(n) for n in named if products[n].role == Role.PACKAGE and n not in stack.held]
                title = f"without {listed(gone)}: " if gone else "instead: "
                ways.append(Way(title + stack.main_name, stack, migrates=True, relaxed=self._unmet(stack)))
        near_ones = sorted(_ordered(nearest), key=self._gives_up_leaf)
        lasting = [near for near in near_ones if not self._brings_ended(near.stack)]
        # What has ended is a way where there is no other; or no older one, and all that is there gives up the same series.
        given_up = {tuple(near.relaxed) for near in lasting}
        far = not {near.where for near in lasting} & {"below", "same"}
        last = [near for near in near_ones if far and near.where == "below" and given_up == {tuple(near.relaxed)}]
        shown = lasting if ways else [near for near in near_ones if not lasting or near in lasting or near in last]
        ways += [Way(self.way_title(near), near.stack, relaxed=near.relaxed) for near in shown]
        seen: set[object] = set()
        titles = set()
        for way in ways:
            if way.title not in titles and way.stack.builds not in seen:
                seen.add(way.stack.builds)
                yield way
            titles.add(way.title)

    def _brings_ended(self, stack: StackView) -> bool:
        """Return whether a stack brings a product that the data replace and that the request does not name."""
        named = {*self.request.bare, *(pin.product for pin in self.request.pins)}
        return any(build.product.id in self.facts.successors for build in stack.main if build.product.id not in named)

    def _gives_up_leaf(self, near: Near) -> bool:
        """Return whether a pin on what is known only through requirements goes, rather than to a version that fits."""
        products = self.facts.products
        return any(products[product].role == Role.LEAF and product not in near.stack.held for product in near.relaxed)

    def _unmet(self, stack: StackView) -> tuple[str, ...]:
        """Return the products that were asked for and that a stack lacks, or has in another version."""
        products, numbers = self.facts.products, {build.product.id: build.idx for build in stack.packages}
        roles = (*_PACKAGES, Role.LEAF)
        pins = [pin for pin in self.request.pins if products[pin.product].role in roles and not pin.need]
        moved = [pin.product for pin in pins if pin.product not in numbers or not pin.mask >> numbers[pin.product] & 1]
        return (*moved, *(product for product in self.request.bare if product not in numbers))

    def way_title(self, near: Near) -> str:
        """Return what is kept and what changes: keep IPEX 2.8.0, move torch to 2.8.0."""
        products, stack = self.facts.products, near.stack
        members = {build.product.id: build for build in stack.packages}
        roles = {product: products[product].role for product in near.relaxed}
        moved = [p for p in near.relaxed if p in members]
        gone = [p for p in near.relaxed if roles[p] in (Role.PACKAGE, Role.LEAF) and p not in members]
        kept = [members[pin.product].label for pin in self.request.pins if pin.product in members and pin.product not in moved]
        changes = [f"move {members[p].product.label} to {members[p].version}" for p in moved]
        changes += [self._left_out(p, members.values()) for p in gone]
        changes += [f"without {self.facts.features[p][0]}" for p in near.relaxed if roles[p] == Role.FEATURE]
        changes += [self.elsewhere(stack, p) for p in near.relaxed if roles[p] == Role.DIMENSION]
        if kept and moved:
            return f"keep {listed(kept)}, {listed(changes)}"
        return f"{self._side(near, members) if moved else listed(changes)}: {stack.name}"

    def _side(self, near: Near, members: Mapping[str, BuildView]) -> str:
        """Return where a stack stands from the versions that were pinned."""
        first = next(pin for product in near.relaxed if product in members and (pin := self.request.pin(product)))
        is_older = near.where == "best" and members[first.product].idx < first.mask.bit_length() - 1
        return "older" if is_older else _SIDES[near.where]

    def _left_out(self, product: str, members: Iterable[BuildView]) -> str:
        """Return that a stack goes without a product, or what it has in its place: a package of the same import name."""
        name = self.facts.products[product].import_name
        alike = (build for build in members if name and build.product.import_name == name)
        taken = next((f"{build.name} {build.version} instead of" for build in alike), "without")
        return f"{taken} {self.label(product)}"

    def elsewhere(self, stack: StackView, dimension: str) -> str:
        """Return the value that a dimension of the machine has to have instead."""
        if dimension == PYTHON:
            plain = [python.id for python in stack.python if not is_free_threaded(python.id)]
            return f"use {self.label(dimension)} {(plain or [python.id for python in stack.python])[-1]}"
        if dimension == SYSTEM:
            return f"use {stack.os[0].name}"
        if self.facts.products[dimension].machine:
            return f"use {self._demanded(dimension) or f'another {self.label(dimension)}'}"
        values = [value.id for value in stack.arch] if dimension == ARCH else stack.known.get(dimension, ())
        if not values:
            pin = self.request.pin(dimension)
            made_for = self.facts.elements(dimension).of(pin.mask) if pin else []
            if dimension in (HARDWARE, DEVICE) or any(e.devices and stack.device.id not in e.devices for e in made_for):
                return f"on {stack.device.name}"  # whatever hardware there is: its processor will do
            return f"without {self.label(dimension)}"
        return (
            f"on {self.value(dimension, values[0])}" if dimension == HARDWARE else f"use {self.label(dimension)} {values[0]}"
        )

    def _demanded(self, part: str) -> str:
        """Return which versions of a part of the machine the rest of what is pinned demands; empty where it demands none."""
        pins = [pin for pin in self.request.pins if pin.product != part]
        edges = [edge for pin in pins for edge in self.facts.edges(pin.product, part) if edge.of_mask & pin.mask]
        specs = dict.fromkeys(edge.spec for edge in tightest(edge for edge in edges if edge.kind in DEMANDING))
        return " or ".join(f"{self.label(part)} {spec_in_words(spec)}" for spec in specs)


def _common(one: StackView, other: StackView) -> str:
    """Return two stacks by what they have in common: versions, releases or series of the same packages; empty for nothing."""
    if [build.product for build in one.about] != [build.product for build in other.about]:
        return ""
    names = []
    for first, second in zip(one.about, other.about, strict=True):
        ways = ((b.version, b.release, series_of(b.product, b.release)) for b in (first, second))
        same = next((mine for mine, theirs in zip(*ways, strict=True) if mine == theirs), "")
        names.append(f"{first.name} {same}" if same else "")
    return joined_with(names) if all(names) else ""


def _ordered(nearest: Sequence[Near]) -> list[Near]:
    """Return of each set of pins that move the nearest one first; where only one set moves, today's best one first."""
    groups: dict[tuple[str, ...], list[Near]] = {}
    for near in nearest:
        groups.setdefault(near.relaxed, []).append(near)
    if len(groups) == 1:
        firsts: dict[str, list[Near]] = {}
        for near in nearest:
            firsts.setdefault(near.where, []).append(near)
        sides = [firsts[where] for where in ("best", "same", "above", "below") if where in firsts]
        return [side[0] for side in sides] + [near for side in sides for near in side[1:]]
    for group in groups.values():
        group.sort(key=lambda near: _CLOSEST[near.where])
    longest = max((len(group) for group in groups.values()), default=0)
    return [group[n] for n in range(longest) for group in groups.values() if n < len(group)]


def request_of(answer: Answer | None, day: date) -> Request:
    """Return the request that an answer is to; where there is none, one of that day that fixes nothing."""
    return answer.request if answer else Request((), (), (), day.toordinal(), day.toordinal(), 1)
