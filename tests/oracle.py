"""Brute force over the knowledge base as curators wrote it: every assignment, judged claim by claim.

Slow and obvious on purpose. It answers one narrow question (one device over one route, one Python, one OS, one
architecture) from `Knowledge` alone, and shares no line with the snapshot and the engine, whose answers it checks.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date
from enum import IntEnum
from functools import cache
from itertools import combinations
from typing import NamedTuple

from packaging.utils import canonicalize_name

from compatkb.authoring.disputes import open_claims
from compatkb.authoring.knowledge_base import (
    GLIBC,
    Knowledge,
    KnowledgeEdge,
    KnowledgeElement,
    KnowledgeFloor,
    end_of_life,
    first_day,
)
from compatkb.core.versions import Scheme, admits, specifier
from compatkb.core.vocabulary import ANY_VERSION
from compatkb.schema import Basis, Build, Kind, Role, RouteEntry, Stage

Member = tuple[str, int]
"""A product and the number of one of its elements."""


class Level(IntEnum):
    """How well something is known: stated or observed, inferred, not at all."""

    STRONG = 0
    WEAK = 1
    UNKNOWN = 2


@dataclass(frozen=True)
class Ask:
    """One question; `pins` holds the admitted element numbers of each pinned product.

    `as_of` decides what exists: the day of knowledge, or the day that the request names; then it is `explicit`, and lists
    count as whole up to their own dates only. `today` decides whether an end of life has come.
    """

    route: RouteEntry
    device: str
    python: str
    os: str
    arch: str
    as_of: date
    today: date
    explicit: bool = False
    pins: dict[str, frozenset[int]] = field(default_factory=dict)
    bare: tuple[str, ...] = ()
    patch: str = ""  # the Python that was asked for to the patch, where it was


class Judged(NamedTuple):
    """An admissible assignment in order of rank, its level, and how many warnings it carries."""

    members: tuple[Member, ...]
    level: Level
    warnings: int


class Bond(NamedTuple):
    """What the claims say of two elements on one platform."""

    denied: bool
    level: Level  # what the two lower a stack to; STRONG where nobody demands anything
    vouched: Level  # the best that vouches for the two together; UNKNOWN where nothing does


def has(mask: int, number: int) -> bool:
    """Return whether a set of elements holds a number; negative ones are of what no list holds."""
    return number >= 0 and bool(mask >> number & 1)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def _just_below(version: str) -> str:
    """Return a version that no release of the series below `version` reaches: 2.9999 for 3.0."""
    numbers = list(_numbers(version))
    while len(numbers) > 1 and numbers[-1] == 0:
        numbers.pop()
    return ".".join(map(str, [*numbers[:-1], max(numbers[-1] - 1, 0), 9999]))


def beside(specs: Iterable[str]) -> set[str]:
    """Return the versions that specifiers name, and one on either side of each: they stand for all that may exist."""
    bounds = {found for spec in specs for found in re.findall(r"\d+(?:\.\d+)*", spec)}
    return {text for bound in bounds for text in (bound, f"{bound}.0.1", _just_below(bound))}


def spec_names(scheme: Scheme, spec: str, version: str) -> bool:
    """Return whether the specifier of a claim names a version, which may be on no list."""
    return any(one == ANY_VERSION or admits(scheme, one, version) for one in spec.split(" or "))


class Oracle:
    """A knowledge base with its claims sorted by whom they concern."""

    def __init__(self, knowledge: Knowledge) -> None:
        files = knowledge.files.products
        self.knowledge = knowledge
        self.heads = knowledge.products
        self.order = [head.id for head in sorted(self.heads.values(), key=lambda head: (head.rank, head.id))]
        self.undecided = open_claims(knowledge.files)
        self.seen = {str(canonicalize_name(file.distribution)): file.seen for file in knowledge.files.index}
        self.advisories = [(advisory, *knowledge.mask(advisory.of)) for file in files for advisory in file.advisory]
        self.wheel_scopes = [
            (scope, *knowledge.mask(scope.of))
            for head in self.heads.values()
            for scope in head.complete
            if scope.what == "wheel"
        ]
        self.waivers = [
            (knowledge.mask(install.of), knowledge.mask(left.strip()), knowledge.mask(right.strip()))
            for file in files
            for install in file.install
            for left, _, right in (text.partition(":") for text in install.waives)
        ]
        self.targets: dict[str, set[str]] = {}
        self.between: dict[tuple[str, str], list[KnowledgeEdge]] = {}
        for edge in knowledge.edges:
            self.targets.setdefault(edge.of, set()).add(edge.to)
            self.between.setdefault((edge.of, edge.to), []).append(edge)
        self.said = cache(self._said)

    def _said(self, of: str, number: int, to: str) -> tuple[KnowledgeEdge, ...]:
        """Return what one element says of a product."""
        return tuple(edge for edge in self.between.get((of, to), ()) if has(edge.of_mask, number))

    def element(self, name: str, number: int) -> KnowledgeElement:
        """Return an element by its number."""
        return self.knowledge.elements[name][number]


class Trial:
    """One question put to a knowledge base."""

    runtimes_vouch = False  # what runtimes say of each other makes a stack likely: where nothing else is asked for, or known

    def __init__(self, oracle: Oracle, ask: Ask) -> None:
        self.oracle, self.ask, self.heads, self.element = oracle, ask, oracle.heads, oracle.element
        grid = oracle.knowledge.grid
        row = grid.systems.index(ask.os) * len(grid.archs) + grid.archs.index(ask.arch)
        self.bit = 1 << (row * len(grid.pythons) + grid.pythons.index(ask.python))
        self.named = {*ask.pins, *ask.bare}
        asked = {*self.named, ask.route.provider, *ask.route.with_}
        self.required = [name for name in oracle.order if name in asked and not self._is_platform(name)]
        # one element, and the same two, come back in thousands of assignments
        self.on_platform, self.warnings, self.bond = cache(self._on_platform), cache(self._warnings), cache(self._bond)
        self.demands, self.needs, self.offers = cache(self._demands), cache(self._needs), cache(self.candidates)

    def _is_platform(self, name: str) -> bool:
        return self.heads[name].platform or name == "device"

    # -- one element ----------------------------------------------------------------------------------------------

    def offered(self, name: str, number: int) -> bool:
        """Return whether an element can be had for this device on this day."""
        role, element = self.heads[name].role, self.element(name, number)
        if name in self.ask.route.without:
            return False
        if role in (Role.PACKAGE, Role.COMPANION):
            build = element.build
            if build is None or not build.channels or build.stage in (Stage.SOURCE_ONLY, Stage.TAG_ONLY):
                return False
            if self.ask.device not in self._serves(build) or not set(build.only_with) <= set(self.required):
                return False
            if self._is_foreign(name, number) and not self._asks_for_foreign(name):
                return False
        if self._excludes_patch(element):
            return False
        if role is Role.DIMENSION and element.release.devices and self.ask.device not in element.release.devices:
            return False
        earliest, _ = first_day(element)
        return earliest is None or earliest <= self.ask.as_of

    def _is_foreign(self, name: str, number: int) -> bool:
        """Return whether a build is for devices that no route serves, such as one with the label +cu121."""
        build = self.element(name, number).build
        served = {device for route in self.oracle.knowledge.files.routes.route for device in route.device}
        return build is not None and not served & set(build.devices)

    def _serves(self, build: Build) -> set[str]:
        """Return the devices on which a build is of use: that which it is for, unless that says on which ones it runs."""
        runs_on = {e.version: getattr(e.release, "runs_on", ()) for e in self.oracle.knowledge.elements["device"]}
        return {device for own in build.devices for device in runs_on.get(own) or (own,)}

    def is_of_another_kind(self, name: str, number: int) -> bool:
        """Return whether a build is compiled for another device on this platform, as one on the default index may be."""
        rows = getattr(self.element(name, number).build, "compiled_for", ())
        return any(self.oracle.knowledge.grid.cells(row.os, row.arch) & self.bit for row in rows)

    def _asks_for_foreign(self, name: str) -> bool:
        """Return whether a pin on the product, or on another one, admits nothing but foreign builds."""
        pinned = [name, *self.ask.pins]
        by_pin = any(all(self._is_foreign(one, n) for n in self.ask.pins[one]) for one in pinned if self.ask.pins.get(one))
        return by_pin or any(self._has_foreign_builds_alone(one) for one in self.ask.bare)

    def _has_foreign_builds_alone(self, name: str) -> bool:
        """Return whether a product has builds of use here, and all of them are for devices that no route serves."""
        elements = enumerate(self.oracle.knowledge.elements[name])
        built = [(n, e.build) for n, e in elements if e.build and e.build.channels]
        stages = (Stage.SOURCE_ONLY, Stage.TAG_ONLY)
        usable = [n for n, build in built if build.stage not in stages and self.ask.device in self._serves(build)]
        return bool(usable) and all(self._is_foreign(name, n) for n in usable)

    def _excludes_patch(self, element: KnowledgeElement) -> bool:
        """Return whether the recorded Requires-Python excludes the patch of Python that was asked for."""
        is_vendors = element.build is not None and element.build.maker is not None
        told = element.listed if is_vendors else element.published  # the index speaks of the maker's own builds
        return told is not None and bool(self.ask.patch) and not specifier(told.requires_python).contains(self.ask.patch)

    def _reaches(self, day: date) -> bool:
        """Return whether a list that was read on a day counts as whole on the day asked about."""
        return not self.ask.explicit or self.ask.as_of <= day

    def _on_platform(self, name: str, number: int) -> Level | None:
        """Return how well an element is known to run on the platform asked for; None where it is known not to."""
        level = self._by_wheels(name, number)
        _, latest = first_day(self.element(name, number))
        if level is Level.STRONG and self._is_on_no_table(name, number):
            level = Level.WEAK
        if level is not None and latest is not None and latest > self.ask.as_of:
            level = Level.UNKNOWN  # out by then, or not: nobody knows the day
        for dimension, value in (("python", self.ask.python), ("os", self.ask.os), ("arch", self.ask.arch)):
            for edge in self._excluding(name, number, dimension, value):
                if edge.claim not in self.oracle.undecided:
                    return None
                level = None if level is None else Level.UNKNOWN
        return level

    def _is_on_no_table(self, name: str, number: int) -> bool:
        """Return whether the provider has hardware tables, none of which names the system, where no hardware was asked for.

        Or nothing names hardware with it, and there is some for the device.
        """
        grid = self.oracle.knowledge.grid
        if name != self.ask.route.provider or "hardware" in self.ask.pins:
            return False
        said = [edge for edge in self.oracle.said(name, number, "hardware") if self._holds(edge) and edge.supported_on]
        if not said and any(self.ask.device in e.release.devices for e in self.oracle.knowledge.elements.get("hardware", ())):
            return True
        if grid.widened([self.ask.os]) == (self.ask.os,):
            return False
        told = [edge.supported_on for edge in said if edge.basis is not Basis.INFERRED]
        return any(told) and not any(grid.cells([self.ask.os]) & where for where in told)

    def _excluding(self, name: str, number: int, dimension: str, value: str) -> Iterator[KnowledgeEdge]:
        """Yield the claims by which an element and a Python, an OS or an architecture exclude each other, whoever speaks."""
        here = next(n for n, e in enumerate(self.oracle.knowledge.elements[dimension]) if e.version == value)
        said = [(edge, has(edge.to_mask, here)) for edge in self.oracle.said(name, number, dimension)]
        said += [(edge, has(edge.to_mask, number)) for edge in self.oracle.said(dimension, here, name)]
        for edge, named in said:
            speaks = edge.kind is not Kind.VERIFIED and edge.forbidden_on & self.bit and self._holds(edge)
            if speaks and named is (edge.kind is Kind.BREAKS):
                yield edge

    def _by_wheels(self, name: str, number: int) -> Level | None:
        is_pinned_leaf = self.heads[name].role is Role.LEAF and name in self.ask.pins
        has_list = is_pinned_leaf and self.element(name, number).floors  # of what is not pinned installers may take another
        if self.heads[name].role in (Role.LEAF, Role.DIMENSION, Role.FEATURE) and not has_list:
            return Level.STRONG
        levels = [
            Level.UNKNOWN if self._leaves_glibc_open(floor) else Level.STRONG if floor.seen & self.bit else Level.WEAK
            for floor in self.element(name, number).floors
            if (floor.seen | floor.guessed) & self.bit and not self._needs_newer_glibc(floor)
        ]
        if not self._wheels_are_all_known(name, number):
            levels.append(Level.UNKNOWN)
        return min(levels, default=None)

    def _glibc(self) -> tuple[int, ...] | None:
        """Return the glibc that the request pins; of several the newest."""
        pinned = self.ask.pins.get(GLIBC)
        return _numbers(self.element(GLIBC, max(pinned)).version) if pinned else None

    def _leaves_glibc_open(self, floor: KnowledgeFloor) -> bool:
        """Return whether a glibc is pinned and no platform tag says which one these wheels need."""
        return self._glibc() is not None and (floor.glibc is None or floor.inferred)

    def _needs_newer_glibc(self, floor: KnowledgeFloor) -> bool:
        pinned = self._glibc()
        return floor.glibc is not None and pinned is not None and _numbers(floor.glibc) > pinned

    def _wheels_are_all_known(self, name: str, number: int) -> bool:
        """Return whether a wheel that is not listed does not exist, on the day asked about.

        Of a release that is pinned too: further wheels may be uploaded after the day on which its list was read. One of which
        there is a source archive alone may be built anywhere.
        """
        element, distribution = self.element(name, number), self.heads[name].distribution
        if element.build and element.build.wheels_complete:
            return True
        has_wheels = element.listed is not None and bool(element.listed.wheels)
        if has_wheels and distribution and self._reaches(self.oracle.seen[str(canonicalize_name(distribution))]):
            return True
        channels = element.build.channels if element.build else ()
        return any(
            of == name
            and has(mask, number)
            and (scope.channel is None or scope.channel in channels)
            and (scope.ended or self._reaches(scope.until))
            for scope, of, mask in self.oracle.wheel_scopes
        )

    def _warnings(self, name: str, number: int) -> int:
        """Count what the users of an element must be warned of; the end of what others need is none, they choose it."""
        head, element = self.heads[name], self.element(name, number)
        if head.role is Role.DIMENSION:
            return 0
        is_early = element.build is not None and element.build.stage in (Stage.PREVIEW, Stage.PROTOTYPE)
        is_early = is_early or (head.role is Role.FEATURE and element.version != "supported")
        advised = len([kind for kind in self.advised(name, number) if kind != "known-issue"])
        is_over = head.role is not Role.LEAF and self.has_ended(name, element)
        return self.withdrawn(name, element) + is_over + is_early + advised

    def has_ended(self, name: str, element: KnowledgeElement) -> bool:
        """Return whether the end of life of a release has come, by the clock."""
        end = end_of_life(self.heads[name], element.release)
        return end is not None and end.last_day < self.ask.today

    def advised(self, name: str, number: int) -> list[str]:
        """Return the kinds of the advisories on an element itself, whatever stands beside it."""
        return [
            advisory.kind
            for advisory, of, mask in self.oracle.advisories
            if of == name and has(mask, number) and advisory.since <= self.ask.as_of
            if not advisory.to and advisory.kind != "reported"
            if not (advisory.when and advisory.when.device) or self.ask.device in advisory.when.device
        ]

    def withdrawn(self, name: str, element: KnowledgeElement) -> bool:
        """Return whether the release may have been yanked by now; its builds on other indexes are the same code."""
        for other in self.oracle.knowledge.elements[name]:
            if other.release is element.release and other.listed:
                yank, known = other.listed.yanked, element.release.yanked
                earliest = known.after if known and known.after else other.listed.uploaded.date()
                return yank is not None and yank.files == "all" and earliest <= self.ask.as_of
        return False

    # -- two elements ---------------------------------------------------------------------------------------------

    def _holds(self, edge: KnowledgeEdge) -> bool:
        """Return whether a claim is made for the device and hardware asked for, and without an extra: none is asked for."""
        if edge.extra or (edge.devices and self.ask.device not in edge.devices):
            return False
        return not edge.hardware or any(has(edge.hardware, n) for n in self.ask.pins.get("hardware", ()))

    def names(self, edge: KnowledgeEdge, number: int) -> bool:
        """Return whether an element is one of those that a claim names."""
        return has(edge.to_mask, number)

    def _in_part(self, edge: KnowledgeEdge) -> bool:
        """Return whether what is said of a feature concerns some of the hardware asked for and not all of it."""
        if self.heads[edge.of].role is not Role.FEATURE or not edge.hardware:
            return False
        return not all(has(edge.hardware, n) for n in self.ask.pins.get("hardware", ()))

    def _bond(self, one: Member, other: Member) -> Bond:
        """Return what is said of two elements together, by either."""
        denied = demanded = disputed = False
        vouched = Level.UNKNOWN
        for (of, number), (to, target) in ((one, other), (other, one)):
            for edge in self.oracle.said(of, number, to):
                if not self._holds(edge):
                    continue
                names = self.names(edge, target)
                if self._in_part(edge) and edge.kind is Kind.VERIFIED:
                    continue  # that one card of several has it says nothing of the others
                if edge.claim in self.oracle.undecided or self._in_part(edge):
                    if names or edge.kind in (Kind.NEEDS, Kind.CONSTRAINS):
                        disputed = disputed or bool((edge.forbidden_on | edge.supported_on) & self.bit)
                    continue
                if edge.kind in (Kind.NEEDS, Kind.CONSTRAINS) and edge.forbidden_on & self.bit:
                    demanded = True
                    denied = denied or not names
                if edge.kind is Kind.BREAKS and edge.forbidden_on & self.bit:
                    denied = denied or names
                if names and edge.supported_on & self.bit:
                    vouched = min(vouched, Level.WEAK if edge.basis is Basis.INFERRED else Level.STRONG)
        level = Level.UNKNOWN if disputed else vouched if demanded else Level.STRONG
        return Bond(denied, level, vouched)

    # -- an assignment --------------------------------------------------------------------------------------------

    def judge(self, members: dict[str, int]) -> Level | None:
        """Return the level of an assignment, which is that of its weakest part; None where something denies it."""
        levels = [self.on_platform(*member) for member in members.items()]
        for one, other in combinations(members.items(), 2):
            bond = self.bond(one, other)
            if bond.denied:
                return None
            levels.append(bond.level)
        if len(members) > 1:
            levels += [self._attachment(name, members) for name in members if name not in (self.ask.route.provider, GLIBC)]
        levels.append(self.leaves(members))
        return None if None in levels else max(levels)  # type: ignore[type-var]  # no None is left

    def _attachment(self, name: str, members: dict[str, int]) -> Level:
        """Return the best that vouches for a member among the others: a stack is no list of strangers.

        Of the machine the provider speaks for all, if it says anything; and what one member only infers is not certain.
        """
        silent = (Role.FEATURE, Role.LEAF)
        others = [other for other in members if other != name and self.heads[other].role not in silent]
        if self._runs_any_package(name, members[name]):
            return Level.STRONG
        vouched = {other: self.bond((name, members[name]), (other, members[other])).vouched for other in others}
        if self.heads[name].role is not Role.DIMENSION:
            leaves = [one for one in members if one != name and self.heads[one].role is self.heads[name].role is Role.LEAF]
            told = (self.bond((name, members[name]), (one, members[one])).vouched for one in leaves if self.runtimes_vouch)
            return min([*vouched.values(), *(max(level, Level.WEAK) for level in told)])
        speaking = {other: level for other, level in vouched.items() if self._speaks(other, members[other], name)}
        provider = self.ask.route.provider
        best = speaking[provider] if provider in speaking else min(speaking.values(), default=Level.UNKNOWN)
        return max(best, Level.WEAK) if Level.WEAK in speaking.values() else best

    def _runs_any_package(self, name: str, number: int) -> bool:
        """Return whether hardware is for the device asked for alone, and packages for it run on any such hardware."""
        if name != "hardware" or self.element(name, number).release.devices != (self.ask.device,):
            return False
        devices = [element.release for element in self.oracle.knowledge.elements["device"]]
        return any(bool(getattr(device, "any_hardware", False)) for device in devices if device.version == self.ask.device)

    def _speaks(self, name: str, number: int, dimension: str) -> bool:
        """Return whether a package names values of a dimension for which it was made, or with which it was tried."""
        return self.heads[name].role is not Role.DIMENSION and any(
            edge.supported_on and edge.claim not in self.oracle.undecided and self._holds(edge)
            for edge in self.oracle.said(name, number, dimension)
        )

    def leaves(self, members: dict[str, int]) -> Level | None:
        """Return None where what nobody pinned has no version that suits all; WEAK where an inferred pin chose it."""
        level = Level.STRONG
        demands = self.demands_on_leaves(members)
        for leaf in {edge.to for edge in demands}:
            edges = [edge for edge in demands if edge.to == leaf]
            if all(edge.kind is Kind.BREAKS for edge in edges):  # nobody demands it: it may stay away
                continue
            if not self._some_version_suits(leaf, edges, members):
                return None
            if any(e.kind is Kind.NEEDS and e.supported_on and "==" in e.spec and e.basis is Basis.INFERRED for e in edges):
                level = Level.WEAK
        return level

    def _some_version_suits(self, leaf: str, edges: list[KnowledgeEdge], members: dict[str, int]) -> bool:
        """Return whether a version of a leaf is all that is demanded; one that no list holds where no listed one is.

        It comes with what it demands of the members itself.
        """
        every = range(len(self.oracle.knowledge.elements[leaf]))
        common = [n for n in every if all(has(edge.to_mask, n) is not (edge.kind is Kind.BREAKS) for edge in edges)]
        here = [n for n in common if self.on_platform(leaf, n) is not None and not self._excludes_patch(self.element(leaf, n))]
        is_brought = any(edge.kind is Kind.NEEDS for edge in edges)
        found = [n for n in here if not is_brought or self._is_found(leaf, n)]
        return any(self._suits_members(leaf, n, members) for n in found) if common else self._is_imaginable(edges)

    def _is_found(self, leaf: str, number: int) -> bool:
        """Return whether installers find a version of a leaf on this platform, as far as its wheels are known."""
        floors = [floor for floor in self.element(leaf, number).floors if not self._needs_newer_glibc(floor)]
        return any((floor.seen | floor.guessed) & self.bit for floor in floors) or not self._wheels_are_all_known(leaf, number)

    def _suits_members(self, leaf: str, number: int, members: dict[str, int]) -> bool:
        """Return whether the members are what a version of a leaf demands of them."""
        demands = self.demands(leaf, number)
        met = (edge for edge in demands if edge.to in members)
        if not all(self.names(edge, members[edge.to]) is not (edge.kind is Kind.BREAKS) for edge in met):
            return False
        for other in {edge.to for edge in demands if edge.to not in members and edge.kind is not Kind.BREAKS}:
            if not self._some_version_suits(other, [edge for edge in demands if edge.to == other], {**members, leaf: number}):
                return False
        return True

    def _is_imaginable(self, edges: list[KnowledgeEdge]) -> bool:
        """Return whether some version would suit all, be it one that the knowledge base does not list."""
        scheme = self.heads[edges[0].to].scheme

        def suits(edge: KnowledgeEdge, version: str) -> bool:
            return spec_names(scheme, edge.spec, version) is not (edge.kind is Kind.BREAKS)

        listed = {element.version for element in self.oracle.knowledge.elements[edges[0].to]}
        around = beside(edge.spec for edge in edges)
        return any(all(suits(edge, version) for edge in edges) for version in around | listed)

    def demands_on_leaves(self, members: dict[str, int]) -> list[KnowledgeEdge]:
        """Return what the members demand of leaves that are no members; waived pins apart."""
        found = []
        for name, number in members.items():
            demands = self.demands(name, number)
            found += [e for e in demands if e.to not in members and not self._waived(members, e, number)]
        return found

    def _demands(self, name: str, number: int) -> list[KnowledgeEdge]:
        """Return what an element demands of leaves on this platform."""
        return [
            edge
            for to in self.oracle.targets.get(name, ())
            if self.heads[to].role is Role.LEAF
            for edge in self.oracle.said(name, number, to)
            if edge.kind is not Kind.VERIFIED and edge.forbidden_on & self.bit
            if self._holds(edge) and edge.claim not in self.oracle.undecided
        ]

    def _waived(self, members: dict[str, int], edge: KnowledgeEdge, number: int) -> bool:
        """Return whether the install recipe of a member says to ignore a requirement of element `number`."""
        return any(
            recipe in members
            and has(mask, members[recipe])
            and (of, to, to_mask, Kind.NEEDS) == (edge.of, edge.to, edge.to_mask, edge.kind)
            and has(of_mask, number)
            for (recipe, mask), (of, of_mask), (to, to_mask) in self.oracle.waivers
        )

    def needed(self, members: dict[str, int]) -> set[str]:
        """Return the packages that the chosen builds need here."""
        return set().union(*(self.needs(*member) for member in members.items()))

    def _needs(self, name: str, number: int) -> set[str]:
        return {
            to
            for to in self.oracle.targets.get(name, ())
            if self.heads[to].role is Role.PACKAGE
            for edge in self.oracle.said(name, number, to)
            if edge.kind is Kind.NEEDS and edge.forbidden_on & self.bit and self._holds(edge)
        }

    # -- all of them ----------------------------------------------------------------------------------------------

    def candidates(self, name: str) -> list[Member]:
        """Return the elements that the pins, the device, the day and the platform admit."""
        numbers = sorted(self.ask.pins.get(name, range(len(self.oracle.knowledge.elements[name]))))
        return [(name, n) for n in numbers if self.offered(name, n) and self.on_platform(name, n) is not None]

    def assignments(self) -> Iterator[dict[str, int]]:
        """Yield every choice of one element for each product that is required, and for each that those need.

        What two elements deny is denied whatever stands beside them, so nothing is added to two such. What has few
        candidates is chosen first.
        """
        return self._extended({}, sorted(self.required, key=lambda name: len(self.offers(name))))

    def _extended(self, members: dict[str, int], names: list[str]) -> Iterator[dict[str, int]]:
        if names:
            for one in self.offers(names[0]):
                if not any(self.bond(other, one).denied for other in members.items()):
                    yield from self._extended({**members, one[0]: one[1]}, names[1:])
        elif missing := sorted(self.needed(members) - members.keys()):
            yield from self._extended(members, missing)
        else:
            yield members

    def stacks(self) -> Iterator[Judged]:
        """Yield every admissible assignment."""
        for members in self.assignments():
            level = self.judge(members)
            if level is not None:
                warned = sum(self.warnings(*member) for member in members.items())
                yield Judged(tuple((name, members[name]) for name in self.oracle.order if name in members), level, warned)
