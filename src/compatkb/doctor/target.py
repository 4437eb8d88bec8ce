"""What an answer about a pasted text is for: its device, system and Python, and the stacks that fit."""

import re

from compatkb.core.record import NamedTuple
from compatkb.core.vocabulary import Role
from compatkb.doctor.machine_reading import LINUX, WINDOWS
from compatkb.doctor.questions import Questions, SuccessorStack
from compatkb.doctor.version_extraction import WISHED, Read, minor
from compatkb.engine.answer import Alternative, Answer
from compatkb.engine.known_issues import HARDWARE
from compatkb.engine.stacks import Stack
from compatkb.store.records import Element

PIP, UV, UV_PIP, POETRY, PIXI = "pip", "uv", "uv-pip", "poetry", "pixi"
_INSTALLERS = {
    POETRY: re.compile(r"\bpoetry (?:add|install|lock|update|run)\b|poetry\.lock|\[tool\.poetry"),
    PIXI: re.compile(r"\bpixi (?:add|install|run)\b|pixi\.(?:toml|lock)"),
    UV: re.compile(r"\buv (?:add|sync|lock|run)\b|\buv\.lock\b|\[tool\.uv|project's requirements are unsatisfiable"),
    UV_PIP: re.compile(r"\buv pip\b|\buv venv\b"),
}
_MOST = 3
PLACE = frozenset(["device", "os", "hardware", "python", "arch", "glibc"])
"""The dimensions of a place; the others are parts of a machine, such as its kernel."""
_SYSTEMS = (LINUX, WINDOWS)  # of which one is meant where a text tells none


class Target(NamedTuple):
    """What a text is about, as far as it tells."""

    device: str | None = None
    foreign: str | None = None  # a device that no release of the data serves, such as cuda: nothing is proposed for it
    os: str | None = None
    python: str | None = None
    others: tuple[tuple[str, str], ...] = ()  # further dimensions with their values, such as arch
    served: tuple[str, ...] = ()  # the devices that a release of the data serves
    installer: str = PIP  # what installs packages there

    def meant(self) -> tuple["Target", ...]:
        """Return the targets with a device and a system that this one may mean; none where no device of ours serves it."""
        if self.foreign:
            return ()
        devices = (self.device,) if self.device else self.served
        systems = (self.os,) if self.os else _SYSTEMS
        return tuple(self._replace(device=device, os=system) for device in devices for system in systems)


class Sought(NamedTuple):
    """What stacks are to hold: versions that are wished for, else those to keep, and what is asked for in any case."""

    wished: tuple[Read, ...] = ()
    kept: tuple[Read, ...] = ()
    words: tuple[str, ...] = ()


class StackChoice(NamedTuple):
    """A stack, and for which device and kinds of system it is; no systems where it is for all that may be meant."""

    device: str
    systems: tuple[str, ...]
    near: Alternative


class StackFinder(Questions):
    """Finds the stacks for what texts are about."""

    def target_of(self, reads: tuple[Read, ...], text: str = "") -> Target:
        """Return what a text is about, as far as it tells; of several GPUs none counts, and parts of a driver are no place."""
        dimensions: dict[str, str] = {}
        gpus = {read.version for read in reads if read.product == HARDWARE}
        for read in reads:
            place = self.facts.products[read.product].role == Role.DIMENSION and read.product in PLACE
            if place and not (read.product == HARDWARE and len(gpus) > 1):
                dimensions.setdefault(read.product, read.version)
        installer = next((name for name, form in _INSTALLERS.items() if form.search(text)), PIP)
        device = dimensions.pop("device", None)
        system, python = dimensions.pop("os", None), dimensions.pop("python", None)
        if python and not self.is_known("python", python):
            python = None
        others = tuple((name, value) for name, value in dimensions.items() if self.is_known(name, value))
        foreign = device if device and device not in self.facts.served_devices() else None
        return Target(None if foreign else device, foreign, system, python, others, self.facts.unasked_devices(), installer)

    def ask(
        self, pins: tuple[Read, ...], target: Target, words: tuple[str, ...] = (), system: str | None = None
    ) -> Answer | None:
        """Return the answer to pins and words for a target, on another form of its system if given; None if unaskable."""
        options = [(pin.product, pin.version) for pin in pins]
        options += [("os", name) for name in (system or target.os,) if name]
        options += [("python", target.python)] if target.python else []
        devices = [target.device] if target.device else []
        return self.answer(self.request([*options, *target.others], devices, words))

    def choices(self, answer: Answer | None, sought: Sought, target: Target) -> tuple[StackChoice, ...]:
        """Return ways that work: for a target with device and system up to three, else one for each that may be meant."""
        groups: dict[tuple[object, ...], list[tuple[str, Alternative]]] = {}
        meant = target.meant()
        exact_answer = answer if target.device and target.os else None
        for aim in meant:
            near = self.nearest(exact_answer, sought, aim)
            for one in near if len(meant) == 1 else near[:1]:
                groups.setdefault((aim.device, *self.named_builds(one.stack)), []).append(
                    (self.facts.family(aim.os or ""), one)
                )
        choices = []
        for placed in groups.values():
            systems = tuple(system for system, _ in placed)
            near_one = placed[0][1]._replace(stack=_together([near.stack for _, near in placed]))
            named = () if target.os or len(systems) == len(_SYSTEMS) else systems
            choices.append(StackChoice(near_one.stack.device, named, near_one))
        return tuple(choices)

    def nearest(self, answer: Answer | None, sought: Sought, target: Target) -> tuple[Alternative, ...]:
        """Return stacks that work for a target: near to an answer, else to wishes, else to what is kept, else the best.

        Python is given up where nothing else helps; device and system never are.
        """
        works = answer and answer.stacks and answer.verdict.is_usable
        if answer and not works and (near := self._fitting(answer.nearest, target)):
            return near
        generic = self.facts.family(target.os) if target.os else None
        plans = [(sought.wished, target), (sought.kept, target), ((), target)]
        plans += [((), target._replace(python=None))] if target.python else []
        for pins, aim in plans:
            held = {pin.product for pin in pins}
            asked = tuple(word for word in sought.words if word not in held)
            if not pins and not asked:
                continue
            for system in dict.fromkeys((target.os, generic)):
                new_answer = self.ask(pins, aim, asked, system)
                given_up = ("python",) if aim.python != target.python else ()
                stacks = new_answer.stacks if new_answer and new_answer.verdict.is_usable else ()
                if stack := next((stack for stack in stacks if self._takes(target, stack, python=not given_up)), None):
                    return (Alternative(given_up, "best", stack),)
                if new_answer and pins and (near := self._fitting(new_answer.nearest, target)):
                    return near
        return ()

    def _fitting(self, nearest: tuple[Alternative, ...], target: Target) -> tuple[Alternative, ...]:
        """Return the near stacks that work and are for a target; first those that keep the package that brings the device."""
        candidates = [n for n in nearest if n.stack.verdict.is_usable and "os" not in n.relaxed]
        candidates.sort(key=lambda near: bool(self.providers & set(near.relaxed)))
        return tuple(n for n in candidates if self._takes(target, n.stack, python="python" not in n.relaxed))[:_MOST]

    def _takes(self, target: Target, stack: Stack, *, python: bool = True) -> bool:
        """Return whether a stack is for a device and system, and for its Python unless that is given up."""
        if target.foreign or target.device not in (None, stack.device):
            return False
        if target.os and self.facts.family(target.os) not in map(self.facts.family, stack.os):
            return False
        return not (python and target.python) or minor(target.python) in stack.python

    def successor_on(self, products: set[str], target: Target) -> SuccessorStack | None:
        """Return what takes the place of ended products, for this device and system; on another Python if it must be.

        None where the device is not known, or the system and what is installed depends on it.
        """
        groups: dict[tuple[Element, ...], list[SuccessorStack]] = {}
        for aim in target.meant() if target.device else ():
            place = [("os", aim.os or ""), *([("python", target.python)] if target.python else [])]
            instead = self.successor(products, [*place, *target.others], [aim.device or ""])
            if instead is None or not self._takes(aim, instead.stack, python=False):
                return None
            groups.setdefault(self.named_builds(instead.stack), []).append(instead)
        if len(groups) != 1:
            return None
        same = next(iter(groups.values()))
        return SuccessorStack(same[0].ended, _together([instead.stack for instead in same]))


def _together(stacks: list[Stack]) -> Stack:
    """Return stacks of the same builds as one, for the systems of all and the Pythons that all have."""
    first = stacks[0]
    if len(stacks) == 1:
        return first
    return first._replace(
        packages=tuple(element for element in first.packages if all(element in stack.packages for stack in stacks)),
        python=tuple(python for python in first.python if all(python in stack.python for stack in stacks)),
        os=tuple(dict.fromkeys(system for stack in stacks for system in stack.os)),
    )


def installed(reads: tuple[Read, ...]) -> tuple[Read, ...]:
    """Return the versions that a text tells as installed, not those that something only asks for."""
    return tuple(read for read in reads if read.how != WISHED)
