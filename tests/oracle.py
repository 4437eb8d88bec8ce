"""Brute force over the knowledge base as curators wrote it: every assignment, judged claim by claim.

Slow and obvious on purpose. It answers one narrow question (one device over one route, one Python, one OS, one
architecture) from `Knowledge` alone, and shares no line with the snapshot or the engine, whose answers it checks.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date
from enum import IntEnum
from itertools import combinations, product
from typing import NamedTuple

from packaging.utils import canonicalize_name

from compatkb.knowledge import Edge, Element, Knowledge, end_of_life, first_day
from compatkb.models import Basis, Kind, Product, Role, Route, Stage


class Level(IntEnum):
    """How well something is known; the engine's numbers."""

    STRONG = 0
    WEAK = 1
    UNKNOWN = 2


@dataclass(frozen=True)
class Ask:
    """One question; `pins` holds the admitted element numbers of each pinned product."""

    route: Route
    device: str
    python: str
    os: str
    arch: str
    as_of: date
    pins: dict[str, frozenset[int]] = field(default_factory=dict)
    bare: tuple[str, ...] = ()


class Judged(NamedTuple):
    """An admissible assignment: element numbers by product in rank order, its level, how many warnings it carries."""

    members: tuple[tuple[str, int], ...]
    level: Level
    warnings: int


class Bond(NamedTuple):
    """What the claims say of two elements on one platform."""

    denied: bool
    level: Level  # what the pair lowers a stack to; STRONG where nobody demands anything
    vouched: Level  # the best that vouches for the two together; UNKNOWN where nothing does


class Oracle:
    """The knowledge base, with its claims sorted by whom they concern; shared by all questions."""

    def __init__(self, knowledge: Knowledge) -> None:
        self.knowledge = knowledge
        self.heads = knowledge.products
        self.order = [p.id for p in sorted(knowledge.products.values(), key=lambda p: (p.rank, p.id))]
        self.undecided = {
            claim for file in knowledge.files.products for d in file.dispute if d.decision == "open" for claim in d.claims
        }
        self.index = {str(canonicalize_name(file.distribution)): file for file in knowledge.files.index}
        self.advisories = [
            (advisory, *knowledge.mask(advisory.of)) for file in knowledge.files.products for advisory in file.advisory
        ]
        self.wheel_scopes = [
            (scope, *knowledge.mask(scope.of))
            for head in knowledge.products.values()
            for scope in head.complete
            if scope.what == "wheel"
        ]
        self.waivers = [
            (knowledge.mask(install.of), knowledge.mask(left.strip()), split_term(right.strip())[0])
            for file in knowledge.files.products
            for install in file.install
            for left, _, right in (waiver.partition(":") for waiver in install.waives)
        ]
        self.says: dict[str, list[Edge]] = {}
        for edge in knowledge.edges:
            self.says.setdefault(edge.of, []).append(edge)
        self.said = cache(self._said)

    def element(self, name: str, number: int) -> Element:
        return self.knowledge.elements[name][number]

    def _said(self, of: str, number: int, to: str) -> list[Edge]:
        """Return what one element says of a product."""
        return [edge for edge in self.says.get(of, ()) if edge.to == to and has(edge.of_mask, number)]

    def trial(self, ask: Ask) -> "Trial":
        return Trial(self, ask)


class Trial:
    """One question put to the knowledge base."""

    def __init__(self, oracle: Oracle, ask: Ask) -> None:
        self.oracle, self.ask, self.heads = oracle, ask, oracle.heads
        grid = oracle.knowledge.grid
        systems, archs, pythons = grid.systems.index(ask.os), grid.archs.index(ask.arch), grid.pythons.index(ask.python)
        self.bit = 1 << ((systems * len(grid.archs) + archs) * len(grid.pythons) + pythons)
        asked = {*ask.pins, *ask.bare, ask.route.provider, *ask.route.with_}
        self.required = [n for n in oracle.order if n in asked and not self.heads[n].platform and n != "device"]
        # the same element and the same two come back in thousands of assignments
        self.on_platform, self.warnings, self.bond = cache(self._on_platform), cache(self._warnings), cache(self._bond)
        self.needs = cache(self._needs)

    """Judges assignments over one knowledge base."""

    def __init__(self, knowledge: Knowledge) -> None:
        self.knowledge = knowledge
        self.order = [p.id for p in sorted(knowledge.products.values(), key=lambda p: (p.rank, p.id))]
        self.undecided = {
            claim for file in knowledge.files.products for d in file.dispute if d.decision == "open" for claim in d.claims
        }
        self._said: dict[tuple[str, str], list[Edge]] = {}
        self._says: dict[str, list[Edge]] = {}
        for edge in knowledge.edges:
            self._said.setdefault((edge.of, edge.to), []).append(edge)
            self._says.setdefault(edge.of, []).append(edge)
        self._index = {str(canonicalize_name(file.distribution)): file for file in knowledge.files.index}

    # -- what is asked --------------------------------------------------------------------------------------------

    def bit(self, ask: Ask) -> int:
        """Return the platform bit of a question: systems slowest, Pythons fastest."""
        grid = self.knowledge.grid
        number = grid.systems.index(ask.os) * len(grid.archs) + grid.archs.index(ask.arch)
        return 1 << (number * len(grid.pythons) + grid.pythons.index(ask.python))

    def head(self, name: str) -> Product:
        return self.knowledge.products[name]

    def element(self, name: str, number: int) -> Element:
        return self.knowledge.elements[name][number]

    def required(self, ask: Ask) -> list[str]:
        """Return what the request or the route asks for; the platform is fixed apart from that."""
        asked = {*ask.pins, *ask.bare, ask.route.provider, *ask.route.with_}
        return [name for name in self.order if name in asked and not self.head(name).platform and name != "device"]

    # -- one element ----------------------------------------------------------------------------------------------

    def offered(self, ask: Ask, name: str, number: int) -> bool:
        """Return whether an element can be installed for this device on this day."""
        role, element = self.head(name).role, self.element(name, number)
        if role in (Role.PACKAGE, Role.COMPANION):
            build = element.build
            if build is None or not build.channels or build.stage in (Stage.SOURCE_ONLY, Stage.TAG_ONLY):
                return False
            if ask.device not in build.devices or not set(build.only_with) <= set(self.required(ask)):
                return False
        if role is Role.DIMENSION and element.release.devices and ask.device not in element.release.devices:
            return False
        earliest, _ = first_day(element)
        return earliest is None or earliest <= ask.as_of

    def on_platform(self, ask: Ask, name: str, number: int) -> Level | None:
        """Return how well an element is known to run on the platform asked for; None where it is known not to."""
        bit, element = self.bit(ask), self.element(name, number)
        if self.head(name).role in (Role.LEAF, Role.DIMENSION):
            level: Level | None = Level.STRONG
        elif any(seen & bit for _, seen, _ in element.floors):
            level = Level.STRONG
        elif any(inferred & bit for _, _, inferred in element.floors):
            level = Level.WEAK
        else:
            level = None if self.wheels_are_all_known(ask, name, number) else Level.UNKNOWN
        _, latest = first_day(element)
        if level is not None and latest is not None and latest > ask.as_of:
            level = Level.UNKNOWN  # out by then, or not: nobody knows the day
        for dimension, value in (("python", ask.python), ("os", ask.os), ("arch", ask.arch)):
            for edge in self._said.get((name, dimension), ()):
                if not self.holds(ask, edge, number) or edge.kind is Kind.VERIFIED or not edge.denies & bit:
                    continue
                named = value in {e.version for n, e in enumerate(self.knowledge.elements[dimension]) if has(edge.to_mask, n)}
                if named is (edge.kind is Kind.BREAKS):
                    if edge.claim not in self.undecided:
                        return None
                    level = None if level is None else Level.UNKNOWN
        return level

    def wheels_are_all_known(self, ask: Ask, name: str, number: int) -> bool:
        """Return whether a wheel that is not listed does not exist, as of the day asked about."""
        element = self.element(name, number)
        if element.build and element.build.wheels_complete:
            return True
        distribution = self.head(name).distribution
        if element.listed and distribution and ask.as_of <= self._index[str(canonicalize_name(distribution))].seen:
            return True
        for head in self.knowledge.products.values():
            for scope in head.complete:
                of, mask = self.knowledge.mask(scope.of)
                if scope.what != "wheel" or of != name or not has(mask, number):
                    continue
                if scope.channel is not None and not (element.build and scope.channel in element.build.channels):
                    continue
                if scope.ended or ask.as_of <= scope.until:
                    return True
        return False

    def warnings(self, ask: Ask, name: str, number: int) -> int:
        """Count what a user of this element must be warned of."""
        head, element = self.head(name), self.element(name, number)
        if head.role in (Role.LEAF, Role.DIMENSION):
            return 0
        count = 0
        if self.withdrawn(ask, name, element):
            count += 1
        end = end_of_life(head, element.release)
        if end and end.last_day < ask.as_of:
            count += 1
        if element.build and element.build.stage in (Stage.PREVIEW, Stage.PROTOTYPE):
            count += 1
        for file in self.knowledge.files.products:
            for advisory in file.advisory:
                of, mask = self.knowledge.mask(advisory.of)
                if of != name or not has(mask, number) or advisory.kind == "known-issue" or advisory.to:
                    continue
                devices = advisory.when.device if advisory.when else ()
                if advisory.since <= ask.as_of and (not devices or ask.device in devices):
                    count += 1
        return count

    def withdrawn(self, ask: Ask, name: str, element: Element) -> bool:
        """Return whether the release may have been yanked by the day asked about: any of its builds is the same code."""
        for other in self.knowledge.elements[name]:
            if other.release is element.release and other.listed and other.listed.yanked:
                if other.listed.yanked.files != "all":
                    return False
                known = element.release.yanked
                first = known.after if known and known.after else other.listed.uploaded.date()
                return first <= ask.as_of
        return False

    # -- two elements ---------------------------------------------------------------------------------------------

    def holds(self, ask: Ask, edge: Edge, number: int) -> bool:
        """Return whether a claim speaks of this element, on the device and hardware asked for."""
        if not has(edge.of_mask, number):
            return False
        if edge.devices and ask.device not in edge.devices:
            return False
        return not edge.hardware or any(has(edge.hardware, n) for n in ask.pins.get("hardware", ()))

    def bond(self, ask: Ask, one: tuple[str, int], other: tuple[str, int]) -> Bond:
        """Return what is said of two elements together, in either direction."""
        bit = self.bit(ask)
        denied = demanded = disputed = False
        vouched = Level.UNKNOWN
        for (of, number), (to, target) in ((one, other), (other, one)):
            for edge in self._said.get((of, to), ()):
                if not self.holds(ask, edge, number):
                    continue
                names = has(edge.to_mask, target)
                if edge.claim in self.undecided:
                    disputed = disputed or bool((edge.denies | edge.vouches) & bit)
                    continue
                if edge.kind in (Kind.NEEDS, Kind.CONSTRAINS) and edge.denies & bit:
                    demanded = True
                    denied = denied or not names
                if edge.kind is Kind.BREAKS and edge.denies & bit:
                    denied = denied or names
                if names and edge.vouches & bit:
                    vouched = min(vouched, Level.WEAK if edge.basis is Basis.INFERRED else Level.STRONG)
        level = Level.UNKNOWN if disputed else vouched if demanded else Level.STRONG
        return Bond(denied, level, vouched)

    # -- an assignment --------------------------------------------------------------------------------------------

    def judge(self, ask: Ask, members: dict[str, int]) -> Level | None:
        """Return the level of an assignment as that of its weakest part; None where something denies it."""
        level = Level.STRONG
        for name, number in members.items():
            here = self.on_platform(ask, name, number)
            if here is None:
                return None
            level = max(level, here)
        attached = dict.fromkeys(members, Level.UNKNOWN)
        for one, other in combinations(members.items(), 2):
            bond = self.bond(ask, one, other)
            if bond.denied:
                return None
            level = max(level, bond.level)
            for name, _ in (one, other):
                attached[name] = min(attached[name], bond.vouched)
        for name, vouched in attached.items():
            if name != ask.route.provider:
                level = max(level, vouched)
        leaves = self.leaves(ask, members)
        return None if leaves is None else max(level, leaves)

    def leaves(self, ask: Ask, members: dict[str, int]) -> Level | None:
        """Return None where what nobody pinned has no version that suits all; WEAK where an inferred pin chose it."""
        level = Level.STRONG
        allowed: dict[str, set[int]] = {}
        for edge, number in self.said_of_leaves(ask, members):
            every = set(range(len(self.knowledge.elements[edge.to])))
            named = {n for n in every if has(edge.to_mask, n)}
            suits = every - named if edge.kind is Kind.BREAKS else named
            allowed[edge.to] = allowed.get(edge.to, every) & (suits or every)  # empty: it names no version that we know
            if not allowed[edge.to]:
                return None
            exact = edge.kind is Kind.NEEDS and edge.vouches and "==" in edge.spec
            if exact and edge.basis is Basis.INFERRED:
                level = Level.WEAK
        return level

    def said_of_leaves(self, ask: Ask, members: dict[str, int]) -> Iterator[tuple[Edge, int]]:
        """Yield what the members demand of leaves outside the assignment, with the member's number; waived pins apart."""
        bit = self.bit(ask)
        for name, number in members.items():
            for edge in self._says.get(name, ()):
                if edge.to in members or self.head(edge.to).role is not Role.LEAF or edge.kind is Kind.VERIFIED:
                    continue
                if not self.holds(ask, edge, number) or not edge.denies & bit or edge.claim in self.undecided:
                    continue
                if not self.waived(members, edge, number):
                    yield edge, number

    def waived(self, members: dict[str, int], edge: Edge, number: int) -> bool:
        """Return whether the install recipe of a member says to ignore this requirement."""
        for file in self.knowledge.files.products:
            for install in file.install:
                name, mask = self.knowledge.mask(install.of)
                if name not in members or not has(mask, members[name]):
                    continue
                for waiver in install.waives:
                    left, _, right = waiver.partition(":")
                    of, of_mask = self.knowledge.mask(left.strip())
                    to, _ = self.knowledge.mask(right.strip())
                    if (of, to) == (edge.of, edge.to) and has(of_mask, number) and edge.kind is Kind.NEEDS:
                        return True
        return False

    def needed(self, ask: Ask, members: dict[str, int]) -> set[str]:
        """Return the packages that the chosen builds need here."""
        bit = self.bit(ask)
        return {
            edge.to
            for name, number in members.items()
            for edge in self._says.get(name, ())
            if edge.kind is Kind.NEEDS and self.head(edge.to).role is Role.PACKAGE
            if self.holds(ask, edge, number) and edge.denies & bit
        }

    # -- all of them ----------------------------------------------------------------------------------------------

    def candidates(self, ask: Ask, name: str) -> list[tuple[str, int]]:
        """Return the elements that the pins, the day and the device admit."""
        every = range(len(self.knowledge.elements[name]))
        return [(name, n) for n in sorted(ask.pins.get(name, every)) if self.offered(ask, name, n)]

    def assignments(self, ask: Ask) -> Iterator[dict[str, int]]:
        """Yield every choice of one element for each product that is required, and for each that those need."""
        for choice in product(*(self.candidates(ask, name) for name in self.required(ask))):
            yield from self._with_needed(ask, dict(choice))

    def _with_needed(self, ask: Ask, members: dict[str, int]) -> Iterator[dict[str, int]]:
        missing = sorted(self.needed(ask, members) - members.keys())
        if not missing:
            yield members
            return
        for choice in product(*(self.candidates(ask, name) for name in missing)):
            yield from self._with_needed(ask, members | dict(choice))

    def stacks(self, ask: Ask) -> list[Judged]:
        """Return every admissible assignment, best first: by level, then warnings, then newest in rank order."""
        found = []
        for members in self.assignments(ask):
            level = self.judge(ask, members)
            if level is not None:
                warned = sum(self.warnings(ask, name, number) for name, number in members.items())
                found.append(Judged(tuple((n, members[n]) for n in self.order if n in members), level, warned))
        return sorted(found, key=self.preference)

    def preference(self, judged: Judged) -> tuple[int, int, list[int]]:
        """Return the sort key: small is better; a product that is absent counts as older than any of its versions."""
        members = dict(judged.members)
        return judged.level, judged.warnings, [-members.get(name, -1) for name in self.order]

    def best(self, ask: Ask) -> Judged | None:
        """Return the best admissible assignment."""
        return min(self.stacks(ask), key=self.preference, default=None)


def has(mask: int, number: int) -> bool:
    """Return whether a set of elements holds a number."""
    return bool(mask >> number & 1)
