"""Known issues: which of them a set of versions on a machine has, may have, or cannot have.

All conditions of an issue must hold. What nobody said of the machine (its kernel, its compute runtime, its GPU) leaves an
issue open: it is told of with the condition that decides. A condition that does not hold refutes it.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property, lru_cache, reduce
from operator import or_
from typing import Any

from compatkb.core.memo import memoized
from compatkb.core.record import NamedTuple
from compatkb.core.vocabulary import Role
from compatkb.store.reader import Snapshot
from compatkb.store.records import Element, Product, Request

SYSTEM, HARDWARE, DEVICE = "os", "hardware", "device"
GRAVE = frozenset({"wrong-result", "crash", "hang", "install"})
"""The effects for which another release, or another driver, is better."""
GPUS = "gpus"  # how many are in use together: no product, and said of a place as if it were the version of one


class IssueCondition(NamedTuple):
    """One condition of an issue: releases of a product by a specifier, or values of a dimension by their elements."""

    product: str
    spec: str = ""
    mask: int = 0
    values: tuple[str, ...] = ()


class IssueCure(NamedTuple):
    """What takes an issue away: a product with a specifier and its elements, or a step with its sources."""

    to: str | None
    do: str | None
    sources: tuple[str, ...]
    product: str | None = None
    mask: int = 0


class IssueOutline(NamedTuple):
    """What of an issue decides where it is."""

    id: str
    effect: str
    conditions: tuple[IssueCondition, ...]
    ranks: bool
    state: str


class KnownIssue(NamedTuple):
    """A defect of releases under conditions."""

    id: str
    title: str
    effect: str
    conditions: tuple[IssueCondition, ...]
    ranks: bool
    signs: tuple[str, ...]
    cures: tuple[IssueCure, ...]
    state: str
    read: str  # ISO day
    aliases: tuple[str, ...]
    note: str | None
    sources: tuple[tuple[str, str | None], ...]


class Surroundings(NamedTuple):
    """What is known of a place where an issue may be: versions by product, elements of dimensions and of several versions.

    `is_whole`: a package that is not among the versions is not there; otherwise nobody said.
    """

    versions: Mapping[str, tuple[str, ...]]
    masks: Mapping[str, int] = {}
    is_whole: bool = True


class IssueMatch(NamedTuple):
    """An issue that a place has, where nothing is `unsaid`, or may have."""

    issue: KnownIssue
    unsaid: tuple[IssueCondition, ...]


class KnownIssues:
    """The issues of the data, and which of them a place has; `known_issues` keeps one for each snapshot."""

    def __init__(self, facts: Snapshot) -> None:
        self.facts = facts

    @cached_property
    def all(self) -> tuple[KnownIssue, ...]:
        """Return the issues of the data, in their order."""
        return tuple(self._issue(record) for record in self.facts.guide_records("issue"))

    @cached_property
    def _outlines(self) -> tuple[IssueOutline, ...]:
        """The outlines of the issues, in the same order."""
        return tuple(
            IssueOutline(each["id"], each["effect"], tuple(self._conditions(each)), each["ranks"], each["state"])
            for each in self.facts.guide_record("issue-outlines", 0)
        )

    def _issue(self, record: Mapping[str, Any]) -> KnownIssue:
        return KnownIssue(
            id=record["id"],
            title=record["title"],
            effect=record["effect"],
            conditions=tuple(self._conditions(record)),
            ranks=record["ranks"],
            signs=tuple(record["signs"]),
            cures=tuple(
                IssueCure(cure["to"], cure["do"], tuple(cure["sources"]), cure["product"], cure["mask"])
                for cure in record["cures"]
            ),
            state=record["state"],
            read=record["read"],
            aliases=tuple(record["aliases"]),
            note=record["note"],
            sources=tuple((name, url) for name, url in record["sources"]),
        )

    def _conditions(self, record: Mapping[str, Any]) -> Iterator[IssueCondition]:
        devices: dict[str, None] = {}
        for each in record["where"]:
            if each["product"]:
                yield IssueCondition(each["product"], each["range"], each["mask"])
                if each["device"]:
                    devices[each["device"]] = None
            else:
                yield self._dimension(SYSTEM, (each["system"],))
        if devices:
            yield self._dimension(DEVICE, tuple(devices))
        if record["hardware"]:
            yield self._dimension(HARDWARE, tuple(record["hardware"]))
        if record["gpus"] > 1:
            yield IssueCondition(GPUS, f">={record['gpus']}")

    @memoized
    def _dimension(self, product: str, values: tuple[str, ...]) -> IssueCondition:
        mask = 0
        for value in values:
            mask |= self.facts.word(product, value) or 0
        return IssueCondition(product, mask=mask, values=values)

    def holds(self, condition: IssueCondition, place: Surroundings) -> bool | None:
        """Return whether a condition holds at a place; None where that was not said, or holds for a part of what was."""
        mask = place.masks.get(condition.product, 0)
        if mask or not condition.spec:
            met = mask & condition.mask
            return None if not mask or (met and met != mask) else bool(met)
        versions = place.versions.get(condition.product, ())
        product = self.facts.products.get(condition.product)
        if not versions:
            return False if place.is_whole and product and product.role in (Role.PACKAGE, Role.COMPANION) else None
        known = self._places(condition.product) if product else {}
        found = {
            bool(condition.mask >> known[version] & 1) if version in known else _within(product, condition.spec, version)
            for version in versions
        }
        return found.pop() if len(found) == 1 else None

    @memoized
    def _places(self, product: str) -> dict[str, int]:
        """Return where each version of a product stands among its elements."""
        return {element.version: element.idx for element in self.facts.elements(product)}

    def match_at(self, issue: KnownIssue, place: Surroundings) -> IssueMatch | None:
        """Return an issue with what is unsaid of its conditions, None where one of them does not hold."""
        unsaid = self._unsaid(issue.conditions, place)
        return None if unsaid is None else IssueMatch(issue, unsaid)

    def _unsaid(self, conditions: Iterable[IssueCondition], place: Surroundings) -> tuple[IssueCondition, ...] | None:
        unsaid = []
        for condition in conditions:
            holding = self.holds(condition, place)
            if holding is False:
                return None
            if holding is None:
                unsaid.append(condition)
        return tuple(unsaid)

    def at(self, place: Surroundings) -> list[IssueMatch]:
        """Return the issues of a place that its packages or its GPU have to do with: what nobody named alone has none.

        Those of single operators, of GPUs that nobody named and those that nobody could reproduce are left out.
        """
        return [
            IssueMatch(self._issue(self.facts.guide_record("issue", number)), unsaid)
            for number, issue in enumerate(self._outlines)
            if issue.ranks and issue.state != "not-reproduced"
            if (unsaid := self._unsaid(issue.conditions, place)) is not None
            if all(condition.product != HARDWARE for condition in unsaid)
            if any(c not in unsaid and c.product not in (SYSTEM, DEVICE) for c in issue.conditions)
        ]

    def place_of(self, request: Request, device: str, systems: Iterable[str], packages: Iterable[Element]) -> Surroundings:
        """Return what is known of the place of a stack: its builds, its device and systems, and what the request fixes."""
        masks = {pin.product: pin.mask for pin in request.pins if pin.product in (HARDWARE, SYSTEM)}
        masks |= {DEVICE: self.facts.word(DEVICE, device) or 0}
        masks.setdefault(SYSTEM, reduce(or_, (self.facts.word(SYSTEM, name) or 0 for name in systems), 0))
        pins = [pin for pin in request.pins if pin.product not in masks]
        masks |= {
            pin.product: pin.mask for pin in pins if self.facts.products[pin.product].role == Role.DIMENSION and not pin.extra
        }
        versions = {pin.product: (pin.extra,) for pin in pins if pin.extra}
        if (gpus := gpus_meant(self.facts, request)) > 1:
            versions[GPUS] = (str(gpus),)
        return Surroundings(versions | {element.product: (element.version,) for element in packages}, masks)

    def is_flawed(self, place: Surroundings) -> bool:
        """Return whether a place is sure to have an issue that ends in wrong results, a crash, a hang or no installation."""
        return bool(self.grave_at(place))

    def grave_at(self, place: Surroundings) -> set[str]:
        """Return the grave issues that are sure to be at a place, by their ids."""
        return {issue.id for issue in self._grave if all(self.holds(condition, place) for condition in issue.conditions)}

    @cached_property
    def _grave(self) -> tuple[IssueOutline, ...]:
        """The grave issues that a place can be sure to have, as `at` finds them."""
        return tuple(
            issue
            for issue in self._outlines
            if issue.ranks
            and issue.effect in GRAVE
            and issue.state != "not-reproduced"
            and any(condition.product not in (SYSTEM, DEVICE) for condition in issue.conditions)
        )

    def clean_cures(self, issue: KnownIssue, place: Surroundings) -> tuple[IssueCure, ...]:
        """Return the cures of an issue that bring no grave issue to a place that has it: steps, and releases."""
        return tuple(cure for cure in issue.cures if not self._brings(cure, issue, place))

    def _brings(self, cure: IssueCure, issue: KnownIssue, place: Surroundings) -> bool:
        """Return whether a place has another grave issue after a cure than before: one about what the cure changes."""
        after = self._cured(cure, place)
        return any(
            all(self.holds(condition, after) for condition in other.conditions)
            and not all(self.holds(condition, place) for condition in other.conditions)
            for other in self._grave
            if other.id != issue.id and any(condition.product == cure.product for condition in other.conditions)
        )

    def _cured(self, cure: IssueCure, place: Surroundings) -> Surroundings:
        """Return a place after a cure: with the newest release that it names, of the builds that the place has."""
        product = cure.product or ""
        fitting = [element.version for element in self.facts.elements(product).of(cure.mask)] if product else []
        own = place.versions.get(product, ("",))[0].partition("+")[2]
        alike = [version for version in fitting if version.partition("+")[2] == own] or fitting
        masks = {name: mask for name, mask in place.masks.items() if name != product}
        return place._replace(versions={**place.versions, product: tuple(alike[-1:])}, masks=masks) if alike else place


def _within(product: Product | None, spec: str, version: str) -> bool | None:
    """Return whether a range names a version that the data do not know; None for one of a form that they cannot read."""
    from compatkb.core.versions import Scheme, admits, matches, names_of_series  # answers about known versions do without

    scheme = Scheme(product.scheme) if product else Scheme.PEP440
    try:
        if scheme is Scheme.DOTTED:
            return names_of_series(spec, version)
        return matches(spec, version) if scheme is Scheme.PEP440 else admits(scheme, spec, version)
    except ValueError:
        return None


def gpus_meant(facts: Snapshot, request: Request) -> int:
    """Return how many GPUs are in use together, at the least, where a request needs features that say so."""
    needed = {pin.product for pin in request.pins if pin.need}
    return max((record.gpus for record in facts.feature_records() if record.id in needed), default=1) if needed else 1


@lru_cache(maxsize=8)
def known_issues(facts: Snapshot) -> KnownIssues:
    """Return the issues of a snapshot; made once."""
    return KnownIssues(facts)
