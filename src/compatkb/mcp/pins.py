"""The pins of a text as questions to the engine: what is installed together, for which device and Python."""

from collections.abc import Iterator
from typing import NamedTuple

from compatkb.check.document import CheckContext, TextDocument
from compatkb.check.project.environments import Project, ProjectEnvironment
from compatkb.check.project.install_plan import install_plans
from compatkb.check.project.queries import ProjectQueries, address
from compatkb.core.vocabulary import Role
from compatkb.engine.alternatives import without
from compatkb.errors import UsageError
from compatkb.parsers.registry import read
from compatkb.request.parser import make_request
from compatkb.store.reader import Snapshot
from compatkb.store.records import Request

_MOST = 2
"""Environments of one text that are answered."""


class PinnedSet(NamedTuple):
    """What one environment pins: the request, the same without leaves, and the pins of which the data know no such version."""

    request: Request
    without_leaves: Request
    unlisted: tuple[str, ...]


def pinned_sets(document: TextDocument, context: CheckContext) -> Iterator[PinnedSet]:
    """Yield the different sets of pins of a document, the first few; those that cannot be asked are left out."""
    queries = ProjectQueries(context)
    devices = {e.version for e in context.facts.elements("device")}
    seen: list[dict[str, str]] = []
    for environment in Project(context.facts, [(document, read(document.path, document.text))]).environments():
        words = _words(context.facts, environment)
        if len(seen) == _MOST or not any(words.values()) or words in seen:
            continue
        seen.append(words)
        asked, unlisted = [], []
        for product, specifier in words.items():
            known = next((each for each in (specifier, _public(specifier, devices)) if _is_known(context, product, each)), "")
            asked.append(f"{product}{known}")
            unlisted += [] if known == specifier else [f"{product}{specifier}"]
        try:
            request = make_request(context.facts, (), [*asked, *_places(environment, queries)], clock=context.clock)
        except UsageError:
            continue
        device = _device(environment, queries)
        request = request._replace(devices=(device,)) if device in request.devices else request
        leaves = {product for product in words if context.facts.products[product].role == Role.LEAF}
        yield PinnedSet(request, without(context.facts, request, leaves), tuple(unlisted))


def _words(facts: Snapshot, environment: ProjectEnvironment) -> dict[str, str]:
    """Return the specifiers of packages, their companions and leaves that those name; the first of several."""
    found: dict[str, str] = {}
    for required in environment.requirements:
        if required.product.role in (Role.PACKAGE, Role.COMPANION, Role.LEAF) and not required.requirement.unknown:
            specifier = required.requirement.specifier
            found[required.product.id] = found.get(required.product.id) or specifier
    told = {other for product in found if facts.products[product].role != Role.LEAF for other in facts.spoken_of(product)}
    return {product: found[product] for product in found if facts.products[product].role != Role.LEAF or product in told}


def _public(specifier: str, devices: set[str]) -> str:
    """Return a specifier without its label (+cu118), nothing where that names a device: another build is no answer there."""
    public, _, label = specifier.partition("+")
    return "" if label in devices else public


def _is_known(context: CheckContext, product: str, specifier: str) -> bool:
    try:
        request = make_request(context.facts, (), [f"{product}{specifier}"], clock=context.clock)
    except UsageError:
        return False
    return all(pin.mask for pin in request.pins)


def _places(environment: ProjectEnvironment, queries: ProjectQueries) -> list[str]:
    """Return the Python and the system on which an environment runs, as far as each is one."""
    plan = next(install_plans(environment, queries), None)
    if plan is None:
        return []
    pythons = (
        [plan.pythons.patch] if plan.pythons.patch else [e.version for e in queries.elements("python", plan.pythons.mask)]
    )
    return [f"{name}=={found[0]}" for name, found in (("python", pythons), ("os", plan.systems)) if len(found) == 1]


def _device(environment: ProjectEnvironment, queries: ProjectQueries) -> str | None:
    """Return the device that all builds on the indexes named are for, None where they are for several."""
    channels = {queries.channels.get(address(use.url)) for _, use in environment.indexes} - {None}
    builds = [e for required in environment.requirements for e in queries.facts.elements(required.product.id)]
    devices = {device for e in builds if channels & set(e.channels) for device in e.devices}
    return devices.pop() if len(devices) == 1 else None
