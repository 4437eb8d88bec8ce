"""Chooses the cells to validate: the stacks that the knowledge base claims, and neighbours that it denies.

Only what one index carries can be asked of it, so a plan is for one channel and one platform. Nothing here knows a
product: the provider of the device's routes stands in every stack; a package that speaks of it, or of which it speaks,
is paired with each of its builds; companions come along where the engine shows them.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from itertools import product as product_of

from packaging.version import InvalidVersion, Version

from compatkb.core.clock import Clock
from compatkb.core.vocabulary import Certainty, Role, Verdict
from compatkb.engine.answer import best_stacks, resolve, routes_of
from compatkb.engine.problem import problems_of
from compatkb.engine.relations import Relation
from compatkb.engine.stacks import Stack
from compatkb.errors import UsageError
from compatkb.request.parser import make_request
from compatkb.schema import Level
from compatkb.store.reader import Snapshot
from compatkb.store.records import Element, Pin, Request
from compatkb.validate.cell import ValidationCell
from compatkb.validate.proofs import LinkedProducts


@dataclass(frozen=True)
class PlanScope:
    """What a plan is for; an empty tuple stands for everything."""

    day: date
    products: tuple[str, ...] = ()
    pythons: tuple[str, ...] = ()
    platform: str = "linux-x86_64"
    device: str = "cpu"
    channel: str = "default"
    denied: bool = False  # neighbours that the knowledge base denies, in place of what it claims


@dataclass(frozen=True)
class Claimed:
    """Builds on one Python, and the verdict of the knowledge base."""

    packages: tuple[tuple[str, str], ...]
    python: str
    verdict: str

    def cell(self, wanted: PlanScope, level: Level, tool: str) -> ValidationCell:
        """Return the cell that asks a level and tool about it."""
        return ValidationCell(
            level, tool, self.packages, self.python, wanted.platform, wanted.device, wanted.channel, self.verdict
        )


class ClaimPlan:
    """The stacks of a knowledge base that a plan is about."""

    def __init__(self, facts: Snapshot, wanted: PlanScope) -> None:
        self.facts, self.wanted = facts, wanted

    def claimed(self) -> list[Claimed]:
        """Return the stacks to check, sorted; raises UsageError for a platform that the data do not know."""
        stacks = {
            (stack.packages, stack.python): stack
            for members in self._combinations()
            for stack in (self._denied(members) if self.wanted.denied else self._works(members))
            if not self.wanted.pythons or stack.python in self.wanted.pythons
        }
        return [stacks[key] for key in sorted(stacks)]

    def _combinations(self) -> Iterator[tuple[Element, ...]]:
        """Yield the provider's builds alone, then with each build of each package that goes or nearly goes with them."""
        request = self._request(())
        for provider in dict.fromkeys(route.provider for _, route in routes_of(self.facts, request)):
            bases = self._carried(provider)
            for base in bases:
                if not self.wanted.products or provider in self.wanted.products:
                    yield (base,)
                for product in self._partners(provider):
                    for element in self._carried(product):
                        if not self.wanted.denied or self._is_neighbour(provider, base, element):
                            yield (base, element)

    def _partners(self, provider: str) -> list[str]:
        """Return the products that speak of the provider or of which it speaks; companions only where denials are sought."""
        roles = ("package", "companion") if self.wanted.denied else ("package",)
        names = [p.id for p in self.facts.products.values() if p.role in roles and p.id != provider and p.distribution]
        if self.wanted.products:
            names = [name for name in names if name in self.wanted.products]
        return [name for name in names if self.facts.edges(name, provider) or self.facts.edges(provider, name)]

    def _carried(self, product: str) -> list[Element]:
        """Return the builds of a product that the channel carries for the device."""
        return [
            element
            for element in self.facts.elements(product)
            if self.wanted.channel in element.channels and self.wanted.device in element.devices and element.installable
        ]

    def _is_neighbour(self, provider: str, base: Element, element: Element) -> bool:
        """Return whether a base is a release beside one that goes with the element, in the provider's order."""
        request = self._request(())
        problem = next(problems_of(self.facts, request))
        table = problem.context.table(element.product, provider)
        allowed = table.allowed(element.idx, problem.platforms) if table else -1
        near = {e.release for e in self.facts.elements(provider).of(allowed)}
        releases = list(dict.fromkeys(e.release for e in self._carried(provider)))
        place = releases.index(base.release)
        return base.release not in near and bool(near & set(releases[max(place - 1, 0) : place + 2]))

    def _works(self, members: tuple[Element, ...]) -> Iterator[Claimed]:
        products = {member.product for member in members}
        for stack in best_stacks(self.facts, self._request(members)):
            own = {product for product in stack.requested if self.facts.products[product].role == Role.PACKAGE} == products
            if own and stack.level < Certainty.UNKNOWN and (packages := self._pins(stack)):
                for python in stack.python:
                    yield Claimed(packages, python, stack.verdict)

    def _pins(self, stack: Stack) -> tuple[tuple[str, str], ...]:
        """Return the pins of a stack's own products and companions; none where another index has to carry one of them."""
        pins = []
        for element in stack.packages:
            if element.product in stack.requested or element.channels:
                if self.wanted.channel not in element.channels:
                    return ()
                pins.append((element.distribution or element.product, element.version))
        return tuple(sorted(pins))

    def _denied(self, members: tuple[Element, ...]) -> Iterator[Claimed]:
        """Yield a denied pair on each Python on which both builds run, since there only the pair itself can fail."""
        if len(members) < 2:
            return
        request = self._request(members)
        if best_stacks(self.facts, request):
            return
        pins = tuple(sorted((e.distribution or e.product, e.version) for e in members))
        alone = [self._pythons(member) for member in members]
        for python in sorted(set.intersection(*alone)):
            yield Claimed(pins, python, Verdict.DOES_NOT_WORK)

    def _pythons(self, element: Element) -> set[str]:
        return self._of_cells(element.certain)

    def _admitted(self, element: Element) -> set[str]:
        """Return the Pythons whose wheels were seen, or else those that a wheel for several of them admits."""
        return self._pythons(element) or self._of_cells(element.inferred)

    def _of_cells(self, cells: int) -> set[str]:
        for dimension, value in _platform(self.wanted.platform):
            mask = self.facts.word(dimension, value)
            cells &= self.facts.dimension_cells(dimension, mask or 0)
        grid = self.facts.grid["python"]
        return {name for n, name in enumerate(grid) if cells & self.facts.dimension_cells("python", 1 << n)}

    def linked(self, link: LinkedProducts) -> list[Claimed]:
        """Return the builds whose symbols are read, alone and each with every build that they may be linked with; sorted.

        All pairs that some Python admits are there, whatever the data say of them: symbols decide what no metadata tell.
        """
        provider = link.provider
        first = next((e.idx for e in self.facts.elements(provider) if e.release == link.since), 0)
        bases = [base for base in self._carried(provider) if base.idx >= first]
        request = self._request(())
        problem = next(problems_of(self.facts, request))
        chosen = set(self.wanted.products or (provider, *link.partners))
        stacks = list(self._alone(bases if provider in chosen else ()))
        for product in link.partners:
            if not {product, provider} & chosen:
                continue
            elements = self._carried(product) if product in self.facts.products else []
            stacks += self._alone(elements if product in chosen else ())
            table = problem.context.table(product, provider)
            for base, element in product_of(bases, elements):
                pythons = self._admitted(base) & self._admitted(element)
                if pythons:
                    relation = table.relation(element.idx, base.idx) if table else None
                    stacks.append(Claimed(_named(base, element), self._newest(pythons), _verdict(relation, problem.platforms)))
        return sorted(stacks, key=lambda claimed: (claimed.packages, claimed.python))

    def _alone(self, elements: Iterable[Element]) -> Iterator[Claimed]:
        for element in elements:
            if pythons := self._admitted(element):
                yield Claimed(_named(element), self._newest(pythons), Verdict.UNKNOWN)

    def _newest(self, pythons: set[str]) -> str:
        return max(pythons, key=lambda python: (not python.endswith("t"), self.facts.grid["python"].index(python)))

    def _request(self, members: tuple[Element, ...]) -> Request:
        pins = [Pin(element.product, f"=={element.version}", 1 << element.idx) for element in members]
        for dimension, value in _platform(self.wanted.platform):
            mask = self.facts.word(dimension, value)
            if not mask:
                raise UsageError(
                    f"{self.wanted.platform!r} is not OS-ARCHITECTURE, such as linux-x86_64; {dimension} has no {value!r}"
                )
            pins.append(Pin(dimension, value, mask))
        day = self.wanted.day.toordinal()
        return Request(tuple(pins), (), (self.wanted.device,), day, day, 1)

    def named(self, texts: Iterable[str]) -> list[Claimed]:
        """Return the stacks that texts such as `torch==2.4.0 setuptools==81.0.0` name, on each Python that is wanted, sorted.

        A package is named by its distribution or as the data call it. Raises UsageError for what is no exact pin.
        """
        if not self.wanted.pythons:
            raise UsageError("a stack that is named needs at least one --python")
        stacks = {tuple(sorted(self._pin(word) for word in text.split())) for text in texts}
        return [
            Claimed(packages, python, self.verdict_of(packages, python))
            for packages in sorted(stacks)
            for python in sorted(self.wanted.pythons)
        ]

    def _pin(self, word: str) -> tuple[str, str]:
        name, equal, version = word.partition("==")
        try:
            if not (name and equal):
                raise InvalidVersion
            number = str(Version(version))
        except InvalidVersion:
            raise UsageError(f"{word!r} is not PACKAGE==VERSION; a stack is such pins with spaces between them") from None
        product = self.facts.product(name)
        if product is None:
            return name, number
        return self.facts.distribution(product.id, number) or name, number

    def verdict_of(self, packages: tuple[tuple[str, str], ...], python: str) -> Verdict:
        """Return what the data say of it: `unknown` too where they do not know one of the versions."""
        system, _, arch = self.wanted.platform.rpartition("-")
        words = [f"{name}=={version}" for name, version in packages if self.facts.product(name)]
        words += [f"python=={python}", f"os=={system}", f"arch=={arch}"]
        try:
            request = make_request(self.facts, (), words, (self.wanted.device,), Clock(self.wanted.day))
        except UsageError:
            return Verdict.UNKNOWN
        return resolve(self.facts, self._of_builds(request, dict(packages)), near=False).verdict

    def _of_builds(self, request: Request, packages: Mapping[str, str]) -> Request:
        """Return a request for the builds that are named and no others: an installer that gets 2.0 has not got 2.0+cpu."""
        pins = []
        for pin in request.pins:
            named = packages.get(pin.product) or packages.get(self.facts.products[pin.product].distribution or "")
            same = [e for e in self.facts.elements(pin.product) if pin.mask >> e.idx & 1 and e.version == named]
            pins.append(pin._replace(mask=1 << same[0].idx) if same else pin)
        return request._replace(pins=tuple(pins))


def _named(*elements: Element) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((e.distribution or e.product, e.version) for e in elements))


def _verdict(relation: Relation | None, platforms: int) -> Verdict:
    """Return what two builds say of each other on some of the platforms."""
    if relation is None:
        return Verdict.UNKNOWN
    if not platforms & ~relation.denied:
        return Verdict.DOES_NOT_WORK
    if platforms & relation.certain & ~relation.denied:
        return Verdict.WORKS
    return Verdict.LIKELY if platforms & relation.inferred & ~relation.denied else Verdict.UNKNOWN


def _platform(platform: str) -> tuple[tuple[str, str], ...]:
    system, _, arch = platform.rpartition("-")
    return (("os", system), ("arch", arch))
