"""The verdict on a machine: what works, what does not, and the nearest stack that works."""

from typing import NamedTuple

from compatkb.core.clock import Clock
from compatkb.core.findings import Severity
from compatkb.core.vocabulary import Certainty, Role, Verdict
from compatkb.doctor.checks import (
    InstalledDistribution,
    Remark,
    Seen,
    graphics_remarks,
    library_remarks,
    package_remarks,
)
from compatkb.doctor.known_machine import KnownMachine
from compatkb.doctor.machine import Machine
from compatkb.doctor.successors import SuccessorStack, successor_stack
from compatkb.doctor.upgrade_path import UpgradeStep, best_of, proven_of, steps_to
from compatkb.doctor.version_extraction import is_known
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
    known = KnownMachine(facts, machine, clock)
    held, seen, devices = known.held, known.seen, known.devices
    remarks = [*package_remarks(held), *graphics_remarks(facts, machine, seen), *library_remarks(facts, machine)]
    answer, beside = _judge(known)
    best = best_of(known, answer)
    unserved = bool(answer) and known.is_unserved
    blind = machine.sees_gpu is False and bool(devices) and needs_graphics(facts, devices[0])
    remarks += [*_answer_remarks(known, answer, unserved=unserved), *_driver_remarks(best, known.driver)]
    remarks += [_blind_remark(machine)] if blind else []
    for name, version in beside:
        message = f"no source lists {name} {version} with the others; nothing excludes it"
        remarks.append(Remark("not-named-together", Severity.WARNING, message))
    there = best is not None and best.where == "same" and all(item.known or not item.core for item in held)
    steps = steps_to(facts, held, best.stack, clock) if best and not there else ()
    hardware = [("hardware", name) for name in known.hardware[:1]]
    served = (best.stack.device,) if best else devices
    instead = successor_stack(facts, [item.product for item in held if item.main], known.place + hardware, served, clock)
    proposed = best.stack if best and not there else instead.stack if instead else None
    unsure = proposed if proposed and proposed.verdict == Verdict.LIKELY else None
    proven = proven_of(known, unsure) if unsure else None
    unused = blind or (answer is not None and known.is_idle)
    return Examination(
        machine, held, seen, known.system, known.driver, tuple(remarks), answer, best, steps, unserved, instead, proven, unused
    )


def _blind_remark(machine: Machine) -> Remark:
    message = "torch reports that no XPU is available, although its build is for one"
    fix = "install the GPU driver with its compute runtime"
    if machine.drivers:
        fix = "check the version of the GPU driver, and that this user may open the render node"
    return Remark("gpu-not-available", Severity.ERROR, message, f"{fix}; in a container, pass --device /dev/dri")


def _judge(known: KnownMachine) -> tuple[Answer | None, list[tuple[str, str]]]:
    """Return the answer to what is installed on this machine, and the packages that were left out of it.

    Left out are run-time packages, and others that bring no device, if they deny nothing and nothing is known of them.
    """
    facts, packages, place = known.facts, known.pins(leaves=False), known.place
    if not packages:
        return None, []
    if len(known.hardware) == 1 and known.reaches(known.hardware[0]):
        place.append(("hardware", known.hardware[0]))
        if known.driver and is_known(facts, DRIVER, known.driver):
            with_driver = known.request([*packages, *place, (DRIVER, known.driver)])
            if with_driver and not best_stacks(facts, with_driver):
                return resolve(facts, with_driver), []  # denied; that no list names a driver says nothing
    leaves = [pin for pin in known.pins(leaves=True) if pin not in packages]
    brings = {route.provider for route in facts.routes}
    core = [pin for pin in packages if pin[0] in brings or facts.products[pin[0]].role == Role.COMPANION]
    for main, rest in ((packages, []), (core, [pin for pin in packages if pin not in core])):
        asked = [([*main, *leaves], rest), (main, rest)]
        for pins, left in asked if main else ():
            request = known.request(pins + place)
            stacks = best_stacks(facts, request) if request else ()
            if request and stacks and stacks[0].level < Certainty.UNKNOWN:
                others = left if pins is not main else [*leaves, *left]
                culprits = [pin for pin in others if _alone_denied(known, main + place, pin)]
                if not culprits:
                    return Answer(request, stacks[0].verdict, stacks, (), ()), left
                request = known.request([*main, *culprits, *place])
                return (resolve(facts, request) if request else None), []
    request = known.request(packages + place)
    return (resolve(facts, request) if request else None), []


def _alone_denied(known: KnownMachine, options: list[tuple[str, str]], pin: tuple[str, str]) -> bool:
    """Return whether one run-time package alone turns what would work into what does not."""
    without, with_it = (known.request(pins) for pins in (options, [*options, pin]))
    if without is None or with_it is None:
        return False
    before, after = best_stacks(known.facts, without), best_stacks(known.facts, with_it)
    return bool(before) and before[0].level < Certainty.UNKNOWN and not after


def _answer_remarks(known: KnownMachine, answer: Answer | None, *, unserved: bool) -> list[Remark]:
    if unserved:
        built = f"the installed packages are built for {known.devices[0]}"
        message = f"{built}, and no GPU here is on the list of supported hardware"
        return [Remark("no-graphics-for-build", Severity.WARNING, message, "use the CPU builds")]
    if answer and known.is_idle:
        message = f"this machine has a GPU with XPU support, but the installed packages are built for {known.devices[0]}"
        fix = "install the builds for the GPU, as shown below"
        return [Remark("build-for-another-device", Severity.WARNING, message, fix)]
    return []


def _driver_remarks(best: Alternative | None, driver: str | None) -> list[Remark]:
    """Return that no list names the driver with the stack, where lists name others."""
    named = best.stack.known.get(DRIVER, ()) if best else ()
    if not driver or not named or driver in {value.partition(".")[0] for value in named}:
        return []
    message = f"GPU driver {driver} is not listed with this stack, which does not exclude it; listed: {', '.join(named)}"
    return [Remark("driver-not-named", Severity.WARNING, message)]
