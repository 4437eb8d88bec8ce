"""Known issues: which of them a set of versions on a machine has, may have, or cannot have.

All conditions of an issue must hold. What nobody said of the machine (its kernel, its compute runtime, its GPU) leaves an
issue open: it is told of with the condition that decides. A condition that does not hold refutes it.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache, reduce
from operator import or_
from typing import Any, NamedTuple

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


@lru_cache(maxsize=8)
def known_issues(facts: Snapshot) -> tuple[KnownIssue, ...]:
    """Return the issues of the data, in their order."""
    return tuple(_issue(facts, record) for record in facts.guide_records("issue"))


def _issue(facts: Snapshot, record: Mapping[str, Any]) -> KnownIssue:
    return KnownIssue(
        id=record["id"],
        title=record["title"],
        effect=record["effect"],
        conditions=tuple(_conditions(facts, record)),
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


def _conditions(facts: Snapshot, record: Mapping[str, Any]) -> Iterator[IssueCondition]:
    devices: dict[str, None] = {}
    for each in record["where"]:
        if each["product"]:
            yield IssueCondition(each["product"], each["range"], each["mask"])
            if each["device"]:
                devices[each["device"]] = None
        else:
            yield _dimension(facts, SYSTEM, (each["system"],))
    if devices:
        yield _dimension(facts, DEVICE, tuple(devices))
    if record["hardware"]:
        yield _dimension(facts, HARDWARE, tuple(record["hardware"]))
    if record["gpus"] > 1:
        yield IssueCondition(GPUS, f">={record['gpus']}")


def _dimension(facts: Snapshot, product: str, values: tuple[str, ...]) -> IssueCondition:
    mask = 0
    for value in values:
        mask |= facts.word(product, value) or 0
    return IssueCondition(product, mask=mask, values=values)


def holds(facts: Snapshot, condition: IssueCondition, place: Surroundings) -> bool | None:
    """Return whether a condition holds at a place; None where that was not said, or holds for a part of what was."""
    mask = place.masks.get(condition.product, 0)
    if mask or not condition.spec:
        met = mask & condition.mask
        return None if not mask or (met and met != mask) else bool(met)
    versions = place.versions.get(condition.product, ())
    product = facts.products.get(condition.product)
    if not versions:
        return False if place.is_whole and product and product.role in (Role.PACKAGE, Role.COMPANION) else None
    known = _places(facts, condition.product) if product else {}
    found = {
        bool(condition.mask >> known[version] & 1) if version in known else _within(product, condition.spec, version)
        for version in versions
    }
    return found.pop() if len(found) == 1 else None


@lru_cache(maxsize=256)
def _places(facts: Snapshot, product: str) -> dict[str, int]:
    """Return where each version of a product stands among its elements."""
    return {element.version: element.idx for element in facts.elements(product)}


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


def match_at(facts: Snapshot, issue: KnownIssue, place: Surroundings) -> IssueMatch | None:
    """Return an issue with what is unsaid of its conditions, None where one of them does not hold."""
    unsaid = []
    for condition in issue.conditions:
        holding = holds(facts, condition, place)
        if holding is False:
            return None
        if holding is None:
            unsaid.append(condition)
    return IssueMatch(issue, tuple(unsaid))


def issues_at(facts: Snapshot, place: Surroundings) -> list[IssueMatch]:
    """Return the issues of a place that its packages or its GPU have to do with: what nobody named alone has none.

    Those of single operators, of GPUs that nobody named and those that nobody could reproduce are left out.
    """
    found = (match_at(facts, issue, place) for issue in known_issues(facts) if issue.ranks)
    return [
        match
        for match in found
        if match
        and match.issue.state != "not-reproduced"
        and all(condition.product != HARDWARE for condition in match.unsaid)
        and any(c not in match.unsaid and c.product not in (SYSTEM, DEVICE) for c in match.issue.conditions)
    ]


def place_of(
    facts: Snapshot, request: Request, device: str, systems: Iterable[str], packages: Iterable[Element]
) -> Surroundings:
    """Return what is known of the place of a stack: its builds, its device and systems, and what the request fixes."""
    masks = {pin.product: pin.mask for pin in request.pins if pin.product in (HARDWARE, SYSTEM)}
    masks |= {DEVICE: facts.word(DEVICE, device) or 0}
    masks.setdefault(SYSTEM, reduce(or_, (facts.word(SYSTEM, name) or 0 for name in systems), 0))
    pins = [pin for pin in request.pins if pin.product not in masks]
    masks |= {pin.product: pin.mask for pin in pins if facts.products[pin.product].role == Role.DIMENSION and not pin.extra}
    versions = {pin.product: (pin.extra,) for pin in pins if pin.extra}
    return Surroundings(versions | {element.product: (element.version,) for element in packages}, masks)


def is_flawed(facts: Snapshot, place: Surroundings) -> bool:
    """Return whether a place is sure to have an issue that ends in wrong results, a crash, a hang or no installation."""
    return any(not match.unsaid and match.issue.effect in GRAVE for match in issues_at(facts, place))
