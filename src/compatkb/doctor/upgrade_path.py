"""The path from what is installed to a stack that works: the one with the fewest changes."""

from typing import NamedTuple

from packaging.utils import canonicalize_name

from compatkb.core.clock import Clock
from compatkb.core.vocabulary import Role
from compatkb.doctor.checks import InstalledDistribution, device_of
from compatkb.doctor.known_machine import KnownMachine, reaches, request_of
from compatkb.doctor.machine import Installed
from compatkb.doctor.version_extraction import is_known
from compatkb.engine.answer import Alternative, Answer, best_stacks
from compatkb.engine.stacks import Stack
from compatkb.store.queries.products import unasked_devices
from compatkb.store.queries.provenance import needs_graphics
from compatkb.store.reader import Snapshot
from compatkb.store.records import Element

_RELEASES = (Role.PACKAGE, Role.COMPANION)


class UpgradeStep(NamedTuple):
    """A change on the way: versions before and after, None for what is not installed or not wanted."""

    distribution: str
    before: str | None
    after: str | None


def best_of(known: KnownMachine, answer: Answer | None) -> Alternative | None:
    """Return the stack to go to: the one that is there where it works, else the one with the fewest changes.

    Devices and GPUs of the machine are kept, and the releases that are installed as long as there is a stack with them.
    """
    facts, devices = known.facts, known.devices
    unserved, idle = known.is_unserved, answer is not None and known.is_idle
    if answer and answer.stacks and answer.verdict.is_usable and not unserved and not idle:
        return Alternative((), "same", answer.stacks[0])
    if answer and not unserved and not idle:
        near = [n for n in answer.nearest if n.stack.verdict.is_usable and n.stack.device in (devices or (n.stack.device,))]
        if near:
            return min(near, key=lambda n: len(steps_to(facts, known.held, n.stack, known.clock)))
    if idle:
        devices = device_of(facts, (), known.seen)
    if unserved or (not devices and known.machine.graphics is not None):
        devices = unasked_devices(facts, lambda device: not needs_graphics(facts, device))
    return _best_for(known, devices)


def _best_for(known: KnownMachine, devices: tuple[str, ...]) -> Alternative | None:
    """Return the stack for devices that keeps the releases of what is installed, else of its main package, else the best.

    What has ended is added only where nothing else serves the GPU.
    """
    facts, held = known.facts, known.held
    hardware = [("hardware", name) for name in known.hardware[:1] if devices and reaches(facts, name, devices[0])]
    main = next(iter(route.provider for route in facts.routes))
    companions = tuple(item.product for item in held if facts.products[item.product].role == Role.COMPANION)
    place = known.place
    releases, replaced = _releases(facts, held), facts.successors.keys() - {item.product for item in held}
    last: Alternative | None = None
    for options in (place + hardware, [pin for pin in place if pin[0] != "python"] + hardware):
        for pins in (releases, [pin for pin in releases if pin[0] == main], []):
            for words in ((main, *companions), (main,)):
                fixed = {name for name, _ in pins}
                request = known.request([*pins, *options], devices, tuple(w for w in words if w not in fixed))
                usable = [stack for stack in (best_stacks(facts, request) if request else ()) if stack.verdict.is_usable]
                last = last or next((Alternative((), "best", stack) for stack in usable), None)
                best = next((stack for stack in usable if not replaced & {e.product for e in stack.packages}), None)
                if best:
                    return Alternative((), "best", best)
    return last


def _releases(facts: Snapshot, held: tuple[InstalledDistribution, ...]) -> list[tuple[str, str]]:
    """Return the releases of what is installed, whatever their builds; of what the data do not know, none."""
    releases: dict[str, str] = {}
    for item in held:
        release = (item.installed.version or "").partition("+")[0]
        role = facts.products[item.product].role
        if release and item.known and role in _RELEASES and is_known(facts, item.product, release):
            releases.setdefault(item.product, release)
    return list(releases.items())


def steps_to(facts: Snapshot, held: tuple[InstalledDistribution, ...], stack: Stack, clock: Clock) -> tuple[UpgradeStep, ...]:
    """Return what has to change from what is installed to a stack; what requirements bring along changes by itself.

    What is installed beside the stack goes only where it excludes it.
    """
    before: dict[str, Installed] = {}
    for item in held:
        before.setdefault(item.product, item.installed)
    after = {e.product: e for e in stack.packages if e.distribution}
    steps: list[UpgradeStep] = []
    for product in facts.products:
        old, new = before.get(product), after.get(product)
        role = facts.products[product].role
        if (old is None and new is None) or (role == Role.LEAF and (old is None or new is None)):
            continue  # run-time packages come and go with those that require them
        if old and new is None and _may_stay(facts, product, old, stack, clock):
            continue
        steps += _steps(facts, product, old, new)
    return tuple(steps)


def _steps(facts: Snapshot, product: str, old: Installed | None, new: Element | None) -> list[UpgradeStep]:
    steps = []
    name = (new.distribution if new else None) or facts.products[product].distribution or product
    version = (old.version or "?") if old else None
    renamed = old is not None and canonicalize_name(old.name) != canonicalize_name(name)
    if old and (renamed or new is None):  # installing another distribution does not take it away
        steps.append(UpgradeStep(old.name if renamed else name, version, None))
        version = None
    if new and version != new.version:
        steps.append(UpgradeStep(name, version, new.version))
    return steps


def _may_stay(facts: Snapshot, product: str, old: Installed, stack: Stack, clock: Clock) -> bool:
    """Return whether something installed excludes no member of a stack; what brings a device itself goes if it is unknown."""
    provides = product in {route.provider for route in facts.routes} or facts.products[product].role == Role.COMPANION
    if not old.version or not is_known(facts, product, old.version):
        return not provides
    pins = [(e.product, e.version) for e in stack.packages if e.distribution]
    request = request_of(facts, [*pins, (product, old.version)], (stack.device,), clock)
    return bool(request and best_stacks(facts, request))


def proven_of(known: KnownMachine, stack: Stack) -> Stack | None:
    """Return the best stack of the same kind of which every step is stated or observed; the one proposed is only likely."""
    main = next((e for e in stack.packages if e.product in {route.provider for route in known.facts.routes}), None)
    if main is None:
        return None
    place, hardware = known.place, [("hardware", name) for name in known.hardware[:1]]
    for options in (place + hardware, [pin for pin in place if pin[0] != "python"] + hardware):
        request = known.request(options, (stack.device,), (main.product,))
        stacks = best_stacks(known.facts, request, certain_only=True) if request else ()
        if matching := [other for other in stacks if other.route == stack.route]:
            return matching[0]
    return None
