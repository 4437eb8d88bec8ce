"""What an answer about a pasted text is for: its device, system and Python; and the stacks that serve them."""

from typing import NamedTuple

from compatkb.core.clock import Clock
from compatkb.core.vocabulary import Role
from compatkb.doctor.successors import Instead, instead_of
from compatkb.doctor.version_extraction import WISHED, Read, minor
from compatkb.engine.answer import Answer, Near, resolve
from compatkb.engine.stacks import Stack
from compatkb.errors import CompatkbError
from compatkb.request.lookup import find_versions
from compatkb.request.parser import make_request
from compatkb.store.reader import Snapshot

_MOST = 3
_FAMILIES = ("windows", "macos")


class Target(NamedTuple):
    """What a text is about, as far as it tells."""

    device: str | None = None
    foreign: str | None = None  # a device that no release of the data serves, such as cuda: nothing is proposed for it
    os: str | None = None
    python: str | None = None
    others: tuple[tuple[str, str], ...] = ()  # further dimensions with their values, such as arch

    def takes(self, stack: Stack, *, python: bool = True) -> bool:
        """Return whether a stack is for this device and system, and for this Python unless that is given up."""
        if self.foreign or self.device not in (None, stack.device):
            return False
        if self.os and not any(_family(name) == _family(self.os) for name in stack.os):
            return False
        return not (python and self.python) or minor(self.python) in stack.python


def _family(system: str) -> str:
    return next((name for name in _FAMILIES if system.startswith(name)), "")


def target_of(facts: Snapshot, reads: tuple[Read, ...], decided: str | None, usual: str | None) -> Target:
    """Return what a text is about; `decided` is the device of its cause, `usual` the one where the text tells none."""
    told = {read.product: read.version for read in reads if facts.products[read.product].role == Role.DIMENSION}
    device = decided or told.pop("device", None) or usual
    told.pop("device", None)
    known = {name for route in facts.routes for name in route.devices}
    system, python = told.pop("os", None), told.pop("python", None)
    if python and not _is_known(facts, "python", python):
        python = None
    others = tuple((name, value) for name, value in told.items() if _is_known(facts, name, value))
    if device and device not in known:
        return Target(None, device, system, python, others)
    return Target(device, None, system, python, others)


def _is_known(facts: Snapshot, product: str, value: str) -> bool:
    try:
        return bool(find_versions(facts, facts.products[product], value))
    except CompatkbError:
        return False


def ask(
    facts: Snapshot,
    pins: tuple[Read, ...],
    target: Target,
    clock: Clock,
    words: tuple[str, ...] = (),
    system: str | None = None,
) -> Answer | None:
    """Return the answer to pins and words for a target, on another form of its system if one is given; None if unaskable."""
    options = [(pin.product, pin.version) for pin in pins]
    options += [("os", name) for name in (system or target.os,) if name]
    options += [("python", target.python)] if target.python else []
    devices = [target.device] if target.device else []
    try:
        return resolve(facts, make_request(facts, [*options, *target.others], words, devices, clock))
    except CompatkbError:
        return None


def nearest_of(
    facts: Snapshot,
    answer: Answer | None,
    wished: tuple[Read, ...],
    kept: tuple[Read, ...],
    target: Target,
    words: tuple[str, ...],
    clock: Clock,
) -> tuple[Near, ...]:
    """Return stacks that work for a target: near to an answer, else to what was wished, else to what is kept, else the best.

    Python is given up where nothing else helps; device and system never are.
    """
    if target.foreign:
        return ()
    if answer and not _works(answer) and (near := _fitting(facts, answer.nearest, target)):
        return near
    family = _family(target.os) or "linux" if target.os else None
    plans = [(wished, target), (kept, target), ((), target)]
    plans += [((), target._replace(python=None))] if target.python else []
    for pins, aim in plans:
        held = {pin.product for pin in pins}
        asked = tuple(word for word in words if word not in held)
        if not pins and not asked:
            continue
        for system in dict.fromkeys((target.os, family)):
            found = ask(facts, pins, aim, clock, asked, system)
            given_up = ("python",) if aim.python != target.python else ()
            if found and _works(found) and target.takes(found.stacks[0], python=not given_up):
                return (Near(given_up, "best", found.stacks[0]),)
            if found and pins and (near := _fitting(facts, found.nearest, target)):
                return near
    return ()


def _works(answer: Answer) -> bool:
    return bool(answer.stacks) and answer.verdict.is_usable


def _fitting(facts: Snapshot, nearest: tuple[Near, ...], target: Target) -> tuple[Near, ...]:
    """Return the near stacks that work and are for a target; first those that keep the package that brings the device."""
    providers = {route.provider for route in facts.routes}
    found = [n for n in nearest if n.stack.verdict.is_usable and "os" not in n.relaxed]
    found.sort(key=lambda near: bool(providers & set(near.relaxed)))
    return tuple(n for n in found if target.takes(n.stack, python="python" not in n.relaxed))[:_MOST]


def successor_of(facts: Snapshot, products: set[str], target: Target, clock: Clock) -> Instead | None:
    """Return what takes the place of products that have ended, for this device and system; on another Python if it must be."""
    if target.foreign:
        return None
    place = [("os", target.os)] if target.os else []
    place += [("python", target.python)] if target.python else []
    made = instead_of(facts, products, [*place, *target.others], [target.device] if target.device else [], clock)
    return made if made and target.takes(made.stack, python=False) else None


def installed(reads: tuple[Read, ...]) -> tuple[Read, ...]:
    """Return the versions that a text tells as installed, not those that something only asks for."""
    return tuple(read for read in reads if read.how != WISHED)
