"""A machine against the data: what works, what does not, and the way to the nearest stack that works."""

from typing import NamedTuple

from compatkb.core.clock import Clock
from compatkb.core.findings import Severity
from compatkb.core.vocabulary import Certainty, Role, Verdict
from compatkb.doctor.checks import (
    InstalledDistribution,
    Remark,
    Seen,
    device_of,
    driver_of,
    graphics_remarks,
    hardware_of,
    held_of,
    library_remarks,
    package_remarks,
    seen_as,
    system_of,
)
from compatkb.doctor.machine import Machine
from compatkb.doctor.machine_request import is_idle, is_unserved, pins_of, place_of, reaches, request_of
from compatkb.doctor.successors import SuccessorStack, successor_stack
from compatkb.doctor.version_extraction import is_known
from compatkb.doctor.way import UpgradeStep, best_of, proven_of, steps_to
from compatkb.engine.answer import Alternative, Answer, best_stacks, resolve
from compatkb.engine.stacks import Stack
from compatkb.store.queries.provenance import needs_graphics
from compatkb.store.reader import Snapshot

DRIVER = "gpu-driver"
NOTHING_INSTALLED = "nothing-installed"
"""The verdict where there is nothing to judge."""
UNUSED = "gpu-not-used"
"""The verdict where packages go together, and torch uses no GPU although there is one."""


class Examination(NamedTuple):
    """What is said about a machine."""

    machine: Machine
    held: tuple[InstalledDistribution, ...]
    seen: tuple[Seen, ...]
    system: str | None
    driver: str | None  # series of the GPU driver
    remarks: tuple[Remark, ...]
    answer: Answer | None  # to what is installed
    best: Alternative | None  # the stack to go to; where the machine works, the one that it has
    steps: tuple[UpgradeStep, ...]
    unserved: bool = False  # what is installed is built for a GPU, and none that the makers name for it is here
    instead: SuccessorStack | None = None  # what takes the place of installed products that have ended
    proven: Stack | None = None  # beside a stack that is proposed and only likely: the best one of which every step is certain
    unused: bool = False  # there is a GPU, or a build for one, and torch does not use it

    @property
    def verdict(self) -> str:
        """The verdict on what is installed; `nothing-installed` where no package of the data is.

        Beside a build that the data do not know nothing works; only what packages say of each other can still deny. Where
        packages go together but no GPU is used, although there is one or the build is for one, it is `gpu-not-used`.
        """
        if self.answer is None:
            return Verdict.UNKNOWN if self.doubtful else NOTHING_INSTALLED
        works = self.answer.verdict.is_usable
        if not self.doubtful and not (self.unserved and works):
            return UNUSED if works and self.unused else self.answer.verdict
        denied = self.answer.verdict == Verdict.DOES_NOT_WORK and all(c.blocker[0] == "claim" for c in self.answer.causes)
        return Verdict.DOES_NOT_WORK if denied and self.answer.causes else Verdict.UNKNOWN

    @property
    def doubtful(self) -> tuple[str, ...]:
        """The installed packages that bring a device, and their companions, whose very build the data do not know."""
        return tuple(item.installed.name for item in self.held if item.core and not item.known)

    @property
    def healthy(self) -> bool:
        """Whether what is installed works and nothing is wrong."""
        known = self.verdict not in (NOTHING_INSTALLED, UNUSED) and Verdict(self.verdict).is_usable
        return known and all(remark.level is not Severity.ERROR for remark in self.remarks)


def examine(facts: Snapshot, machine: Machine, clock: Clock) -> Examination:
    """Return what the data say of a machine as of a day."""
    held = tuple(held_of(facts, machine))
    seen = tuple(seen_as(facts, graphics) for graphics in machine.graphics or ())
    system = system_of(facts, machine)
    driver = driver_of(facts, machine)
    remarks = [*package_remarks(held), *graphics_remarks(facts, machine, seen), *library_remarks(facts, machine)]
    answer, beside = _judge(facts, machine, held, seen, system, driver, clock)
    best = best_of(facts, machine, held, seen, system, clock, answer)
    devices = device_of(facts, held, seen)
    unserved = bool(answer) and is_unserved(facts, machine, devices, seen)
    blind = machine.sees_gpu is False and bool(devices) and needs_graphics(facts, devices[0])
    remarks += [*_answer_remarks(facts, answer, devices, seen, unserved=unserved), *_driver_remarks(best, driver)]
    remarks += [_blind_remark(machine)] if blind else []
    remarks += [_beside_remark(name, version) for name, version in beside]
    there = best is not None and best.where == "same" and all(item.known or not item.core for item in held)
    steps = steps_to(facts, held, best.stack, clock) if best and not there else ()
    place = place_of(facts, machine, system)
    hardware = [("hardware", name) for name in hardware_of(facts, seen)[:1]]
    served = (best.stack.device,) if best else devices
    instead = successor_stack(facts, [item.product for item in held if item.main], place + hardware, served, clock)
    proposed = best.stack if best and not there else instead.stack if instead else None
    unsure = proposed if proposed and proposed.verdict == Verdict.LIKELY else None
    proven = proven_of(facts, unsure, place, hardware, clock) if unsure else None
    unused = blind or (answer is not None and is_idle(facts, devices, seen))
    examination = Examination(
        machine, held, seen, system, driver, tuple(remarks), answer, best, steps, unserved, instead, proven
    )
    return examination._replace(unused=unused)


def _blind_remark(machine: Machine) -> Remark:
    message = "torch reports that no XPU is available, although its build is for one"
    fix = "install the GPU driver with its compute runtime"
    if machine.drivers:
        fix = "check the version of the GPU driver, and that this user may open the render node"
    return Remark("gpu-not-available", Severity.ERROR, message, f"{fix}; in a container, pass --device /dev/dri")


def _beside_remark(name: str, version: str) -> Remark:
    return Remark(
        "not-named-together",
        Severity.WARNING,
        f"no source lists {name} {version} with the others; nothing excludes it",
    )


def _judge(
    facts: Snapshot,
    machine: Machine,
    held: tuple[InstalledDistribution, ...],
    seen: tuple[Seen, ...],
    system: str | None,
    driver: str | None,
    clock: Clock,
) -> tuple[Answer | None, list[tuple[str, str]]]:
    """Return the answer to what is installed on this machine, and the packages that were left out of it.

    Left out are run-time packages, and others that bring no device, if they deny nothing and nothing is known of them.
    """
    packages = pins_of(facts, held, leaves=False)
    if not packages:
        return None, []
    devices = device_of(facts, held, seen)
    place = place_of(facts, machine, system)
    hardware = hardware_of(facts, seen)
    if len(hardware) == 1 and devices and reaches(facts, hardware[0], devices[0]):
        place.append(("hardware", hardware[0]))
        if driver and is_known(facts, DRIVER, driver):
            with_driver = request_of(facts, [*packages, *place, (DRIVER, driver)], devices, clock)
            if with_driver and not best_stacks(facts, with_driver):
                return resolve(facts, with_driver), []  # denied; that no list names a driver says nothing
    leaves = [pin for pin in pins_of(facts, held, leaves=True) if pin not in packages]
    core = _core(facts, packages)
    for main, rest in ((packages, []), (core, [pin for pin in packages if pin not in core])):
        asked = [([*main, *leaves], rest), (main, rest)]
        for pins, left in asked if main else ():
            request = request_of(facts, pins + place, devices, clock)
            stacks = best_stacks(facts, request) if request else ()
            if request and stacks and stacks[0].level < Certainty.UNKNOWN:
                others = left if pins is not main else [*leaves, *left]
                culprits = [pin for pin in others if _alone_denied(facts, main + place, pin, devices, clock)]
                if not culprits:
                    return Answer(request, stacks[0].verdict, stacks, (), ()), left
                request = request_of(facts, [*main, *culprits, *place], devices, clock)
                return (resolve(facts, request) if request else None), []
    request = request_of(facts, packages + place, devices, clock)
    return (resolve(facts, request) if request else None), []


def _core(facts: Snapshot, packages: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the packages that bring a device, and their companions."""
    providers = {route.provider for route in facts.routes}
    return [pin for pin in packages if pin[0] in providers or facts.products[pin[0]].role == Role.COMPANION]


def _alone_denied(
    facts: Snapshot, options: list[tuple[str, str]], pin: tuple[str, str], devices: tuple[str, ...], clock: Clock
) -> bool:
    """Return whether one run-time package alone turns what would work into what does not."""
    without, with_it = (request_of(facts, pins, devices, clock) for pins in (options, [*options, pin]))
    if without is None or with_it is None:
        return False
    before, after = best_stacks(facts, without), best_stacks(facts, with_it)
    return bool(before) and before[0].level < Certainty.UNKNOWN and not after


def _answer_remarks(
    facts: Snapshot, answer: Answer | None, devices: tuple[str, ...], seen: tuple[Seen, ...], *, unserved: bool
) -> list[Remark]:
    if unserved:
        message = f"the installed packages are built for {devices[0]}, and no GPU here is on the list of supported hardware"
        return [Remark("no-graphics-for-build", Severity.WARNING, message, "use the CPU builds")]
    if answer and is_idle(facts, devices, seen):
        message = f"this machine has a GPU with XPU support, but the installed packages are built for {devices[0]}"
        return [
            Remark("build-for-another-device", Severity.WARNING, message, "install the builds for the GPU, as shown below")
        ]
    return []


def _driver_remarks(best: Alternative | None, driver: str | None) -> list[Remark]:
    """Return that no list names the driver with the stack, where lists name others."""
    named = best.stack.known.get(DRIVER, ()) if best else ()
    if not driver or not named or driver in {value.partition(".")[0] for value in named}:
        return []
    message = f"GPU driver {driver} is not listed with this stack, which does not exclude it; listed: {', '.join(named)}"
    return [Remark("driver-not-named", Severity.WARNING, message)]
