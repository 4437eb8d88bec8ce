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


def claimed(facts: Snapshot, wanted: PlanScope) -> list[Claimed]:
    """Return the stacks to check, sorted; raises UsageError for a platform that the data do not know."""
    stacks = {
        (stack.packages, stack.python): stack
        for members in _combinations(facts, wanted)
        for stack in (_denied(facts, wanted, members) if wanted.denied else _works(facts, wanted, members))
        if not wanted.pythons or stack.python in wanted.pythons
    }
    return [stacks[key] for key in sorted(stacks)]


def _combinations(facts: Snapshot, wanted: PlanScope) -> Iterator[tuple[Element, ...]]:
    """Yield the provider's builds alone, then with each build of each package that goes or nearly goes with them."""
    request = _request(facts, wanted, ())
    for provider in dict.fromkeys(route.provider for _, route in routes_of(facts, request)):
        bases = _carried(facts, wanted, provider)
        for base in bases:
            if not wanted.products or provider in wanted.products:
                yield (base,)
            for product in _partners(facts, wanted, provider):
                for element in _carried(facts, wanted, product):
                    if not wanted.denied or _is_neighbour(facts, provider, base, element, wanted):
                        yield (base, element)


def _partners(facts: Snapshot, wanted: PlanScope, provider: str) -> list[str]:
    """Return the products that speak of the provider or of which it speaks; companions only where denials are sought."""
    roles = ("package", "companion") if wanted.denied else ("package",)
    names = [p.id for p in facts.products.values() if p.role in roles and p.id != provider and p.distribution]
    if wanted.products:
        names = [name for name in names if name in wanted.products]
    return [name for name in names if facts.edges(name, provider) or facts.edges(provider, name)]


def _carried(facts: Snapshot, wanted: PlanScope, product: str) -> list[Element]:
    """Return the builds of a product that the channel carries for the device."""
    return [
        element
        for element in facts.elements(product)
        if wanted.channel in element.channels and wanted.device in element.devices and element.installable
    ]


def _is_neighbour(facts: Snapshot, provider: str, base: Element, element: Element, wanted: PlanScope) -> bool:
    """Return whether a base is a release beside one that goes with the element, in the provider's order."""
    request = _request(facts, wanted, ())
    problem = next(problems_of(facts, request))
    table = problem.context.table(element.product, provider)
    allowed = table.allowed(element.idx, problem.platforms) if table else -1
    near = {e.release for e in facts.elements(provider).of(allowed)}
    releases = list(dict.fromkeys(e.release for e in _carried(facts, wanted, provider)))
    place = releases.index(base.release)
    return base.release not in near and bool(near & set(releases[max(place - 1, 0) : place + 2]))


def _works(facts: Snapshot, wanted: PlanScope, members: tuple[Element, ...]) -> Iterator[Claimed]:
    products = {member.product for member in members}
    for stack in best_stacks(facts, _request(facts, wanted, members)):
        own = {product for product in stack.requested if facts.products[product].role == Role.PACKAGE} == products
        if own and stack.level < Certainty.UNKNOWN and (packages := _pins(stack, wanted)):
            for python in stack.python:
                yield Claimed(packages, python, stack.verdict)


def _pins(stack: Stack, wanted: PlanScope) -> tuple[tuple[str, str], ...]:
    """Return the pins of a stack's own products and companions; none where another index has to carry one of them."""
    pins = []
    for element in stack.packages:
        if element.product in stack.requested or element.channels:
            if wanted.channel not in element.channels:
                return ()
            pins.append((element.distribution or element.product, element.version))
    return tuple(sorted(pins))


def _denied(facts: Snapshot, wanted: PlanScope, members: tuple[Element, ...]) -> Iterator[Claimed]:
    """Yield a denied pair on each Python on which both builds run, since there only the pair itself can fail."""
    if len(members) < 2:
        return
    request = _request(facts, wanted, members)
    if best_stacks(facts, request):
        return
    pins = tuple(sorted((e.distribution or e.product, e.version) for e in members))
    alone = [_pythons(facts, wanted, member) for member in members]
    for python in sorted(set.intersection(*alone)):
        yield Claimed(pins, python, Verdict.DOES_NOT_WORK)


def _pythons(facts: Snapshot, wanted: PlanScope, element: Element) -> set[str]:
    return _of_cells(facts, wanted, element.certain)


def _admitted(facts: Snapshot, wanted: PlanScope, element: Element) -> set[str]:
    """Return the Pythons whose wheels were seen, or else those that a wheel for several of them admits."""
    return _pythons(facts, wanted, element) or _of_cells(facts, wanted, element.inferred)


def _of_cells(facts: Snapshot, wanted: PlanScope, cells: int) -> set[str]:
    for dimension, value in _platform(wanted.platform):
        mask = facts.word(dimension, value)
        cells &= facts.dimension_cells(dimension, mask or 0)
    grid = facts.grid["python"]
    return {name for n, name in enumerate(grid) if cells & facts.dimension_cells("python", 1 << n)}


def linked(facts: Snapshot, wanted: PlanScope, link: LinkedProducts) -> list[Claimed]:
    """Return the builds whose symbols are read, alone and each with every build that they may be linked with; sorted.

    All pairs that some Python admits are there, whatever the data say of them: symbols decide what no metadata tell.
    """
    provider = link.provider
    first = next((e.idx for e in facts.elements(provider) if e.release == link.since), 0)
    bases = [base for base in _carried(facts, wanted, provider) if base.idx >= first]
    request = _request(facts, wanted, ())
    problem = next(problems_of(facts, request))
    chosen = set(wanted.products or (provider, *link.partners))
    stacks = list(_alone(facts, wanted, bases if provider in chosen else ()))
    for product in link.partners:
        if not {product, provider} & chosen:
            continue
        elements = _carried(facts, wanted, product) if product in facts.products else []
        stacks += _alone(facts, wanted, elements if product in chosen else ())
        table = problem.context.table(product, provider)
        for base, element in product_of(bases, elements):
            pythons = _admitted(facts, wanted, base) & _admitted(facts, wanted, element)
            if pythons:
                relation = table.relation(element.idx, base.idx) if table else None
                stacks.append(Claimed(_named(base, element), _newest(facts, pythons), _verdict(relation, problem.platforms)))
    return sorted(stacks, key=lambda claimed: (claimed.packages, claimed.python))


def _alone(facts: Snapshot, wanted: PlanScope, elements: Iterable[Element]) -> Iterator[Claimed]:
    for element in elements:
        if pythons := _admitted(facts, wanted, element):
            yield Claimed(_named(element), _newest(facts, pythons), Verdict.UNKNOWN)


def _named(*elements: Element) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((e.distribution or e.product, e.version) for e in elements))


def _newest(facts: Snapshot, pythons: set[str]) -> str:
    return max(pythons, key=lambda python: (not python.endswith("t"), facts.grid["python"].index(python)))


def _verdict(relation: Relation | None, platforms: int) -> Verdict:
    """Return what two builds say of each other on some of the platforms."""
    if relation is None:
        return Verdict.UNKNOWN
    if not platforms & ~relation.denied:
        return Verdict.DOES_NOT_WORK
    if platforms & relation.certain & ~relation.denied:
        return Verdict.WORKS
    return Verdict.LIKELY if platforms & relation.inferred & ~relation.denied else Verdict.UNKNOWN


def _request(facts: Snapshot, wanted: PlanScope, members: tuple[Element, ...]) -> Request:
    pins = [Pin(element.product, f"=={element.version}", 1 << element.idx) for element in members]
    for dimension, value in _platform(wanted.platform):
        mask = facts.word(dimension, value)
        if not mask:
            raise UsageError(f"{wanted.platform!r} is not OS-ARCHITECTURE, such as linux-x86_64; {dimension} has no {value!r}")
        pins.append(Pin(dimension, value, mask))
    day = wanted.day.toordinal()
    return Request(tuple(pins), (), (wanted.device,), day, day, 1)


def _platform(platform: str) -> tuple[tuple[str, str], ...]:
    system, _, arch = platform.rpartition("-")
    return (("os", system), ("arch", arch))


def named(facts: Snapshot, wanted: PlanScope, texts: Iterable[str]) -> list[Claimed]:
    """Return the stacks that texts such as `torch==2.4.0 setuptools==81.0.0` name, on each Python that is wanted, sorted.

    A package is named by its distribution or as the data call it. Raises UsageError for what is no exact pin.
    """
    if not wanted.pythons:
        raise UsageError("a stack that is named needs at least one --python")
    stacks = {tuple(sorted(_pin(facts, word) for word in text.split())) for text in texts}
    return [
        Claimed(packages, python, verdict_of(facts, wanted, packages, python))
        for packages in sorted(stacks)
        for python in sorted(wanted.pythons)
    ]


def _pin(facts: Snapshot, word: str) -> tuple[str, str]:
    name, equal, version = word.partition("==")
    try:
        if not (name and equal):
            raise InvalidVersion
        number = str(Version(version))
    except InvalidVersion:
        raise UsageError(f"{word!r} is not PACKAGE==VERSION; a stack is such pins with spaces between them") from None
    product = facts.product(name)
    if product is None:
        return name, number
    return facts.distribution(product.id, number) or name, number


def verdict_of(facts: Snapshot, wanted: PlanScope, packages: tuple[tuple[str, str], ...], python: str) -> Verdict:
    """Return what the data say of it: `unknown` too where they do not know one of the versions."""
    system, _, arch = wanted.platform.rpartition("-")
    words = [f"{name}=={version}" for name, version in packages if facts.product(name)]
    words += [f"python=={python}", f"os=={system}", f"arch=={arch}"]
    try:
        request = make_request(facts, (), words, (wanted.device,), Clock(wanted.day))
    except UsageError:
        return Verdict.UNKNOWN
    return resolve(facts, _of_builds(facts, request, dict(packages)), near=False).verdict


def _of_builds(facts: Snapshot, request: Request, packages: Mapping[str, str]) -> Request:
    """Return a request for the builds that are named and no others: an installer that gets 2.0 has not got 2.0+cpu."""
    pins = []
    for pin in request.pins:
        named = packages.get(pin.product) or packages.get(facts.products[pin.product].distribution or "")
        same = [e for e in facts.elements(pin.product) if pin.mask >> e.idx & 1 and e.version == named]
        pins.append(pin._replace(mask=1 << same[0].idx) if same else pin)
    return request._replace(pins=tuple(pins))
