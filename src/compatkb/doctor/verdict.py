"""The verdict on a machine: what works, what does not, and the nearest stack that works."""

from compatkb.core.clock import Clock
from compatkb.core.findings import Severity
from compatkb.core.record import NamedTuple
from compatkb.core.vocabulary import Certainty, Role, Verdict
from compatkb.doctor.known_machine import InstalledDistribution, Remark, Seen, mixed_remark, package_remarks
from compatkb.doctor.machine import Machine
from compatkb.doctor.questions import SuccessorStack
from compatkb.doctor.upgrade_path import UpgradePath, UpgradeStep
from compatkb.engine.answer import Alternative, Answer
from compatkb.engine.stacks import Stack
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
    mixed: bool = False  # builds for a GPU beside builds that are not for it: torch is no build for what it is to run on
    parts: dict[str, str] = {}  # the versions of the kernel and of parts of the driver, by product
    hardware: tuple[str, ...] = ()  # the families of the GPUs that were seen
    devices: tuple[str, ...] = ()  # what the packages are for
    unused: bool = False  # there is a GPU, or a build for one, and torch does not use it

    @property
    def verdict(self) -> str:
        """The verdict on what is installed; `nothing-installed` where no package of the data is.

        Beside a build that the data do not know nothing works; only what packages say of each other can still deny. Where
        packages go together but no GPU is used, although there is one or the build is for one, it is `gpu-not-used`.
        """
        if self.answer is None:
            return Verdict.UNKNOWN if self.doubtful else NOTHING_INSTALLED
        if self.mixed:
            return Verdict.DOES_NOT_WORK
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
    def undecided(self) -> bool:
        """Whether the data cannot tell if what is installed works, or nothing is, and nothing else is wrong."""
        return self.verdict in (NOTHING_INSTALLED, Verdict.UNKNOWN) and not self._has_errors

    @property
    def _has_errors(self) -> bool:
        return any(remark.level is Severity.ERROR for remark in self.remarks)

    @property
    def healthy(self) -> bool:
        """Whether what is installed works and nothing is wrong."""
        known = self.verdict not in (NOTHING_INSTALLED, UNUSED) and Verdict(self.verdict).is_usable
        return known and not self._has_errors


def examine(facts: Snapshot, machine: Machine, clock: Clock) -> Examination:
    """Return what the data say of a machine as of a day."""
    return _Examining(facts, machine, clock).examination()


class _Examining(UpgradePath):
    """Judges one machine."""

    def examination(self) -> Examination:
        """Return what the data say of a machine as of a day."""
        machine, held, devices = self.machine, self.held, self.devices
        remarks = [*package_remarks(self.facts, held), *self.graphics_remarks(), *self.library_remarks()]
        answer, beside = self._judge()
        best = self.best(answer)
        unserved = bool(answer) and self.is_unserved
        blind = machine.sees_gpu is False and bool(devices) and self.is_graphic(devices[0])
        remarks += [*self._answer_remarks(answer, unserved=unserved), *_driver_remarks(best, self.driver)]
        remarks += [_blind_remark(machine)] if blind else []
        for name, version in beside:
            message = f"no source lists {name} {version} with the others; nothing excludes it"
            remarks.append(Remark("not-named-together", Severity.WARNING, message))
        mixed = self.mixed
        remarks += [mixed_remark(held, mixed, devices[0])] if mixed else []
        below = best is not None and bool(best.relaxed) and all(self.facts.products[name].machine for name in best.relaxed)
        fits = best is not None and (best.where == "same" or below)  # the packages do, whatever is below them
        there = fits and not mixed and all(item.known or not item.core for item in held)
        steps = self.steps_to(best.stack) if best and not there else ()
        hardware = [("hardware", name) for name in self.hardware[:1]]
        served = (best.stack.device,) if best else devices
        instead = self.successor([item.product.id for item in held if item.main], self.place + hardware, served)
        proposed = best.stack if best and not there else instead.stack if instead else None
        unsure = proposed if proposed and proposed.verdict == Verdict.LIKELY else None
        proven = self.proven(unsure) if unsure else None
        unused = blind or (answer is not None and self.is_idle)
        return Examination(
            machine,
            held,
            self.seen,
            self.system,
            self.driver,
            tuple(remarks),
            answer,
            best,
            steps,
            unserved,
            instead,
            proven,
            bool(mixed),
            self.parts,
            self.hardware,
            devices,
            unused,
        )

    def _judge(self) -> tuple[Answer | None, list[tuple[str, str]]]:
        """Return the answer to what is installed on this machine, and the packages that were left out of it.

        Left out are run-time packages, and others that bring no device, if they deny nothing and nothing is known of them.
        """
        packages, place = self.pins(leaves=False), self.place
        if not packages:
            return None, []
        if len(self.hardware) == 1 and self.reaches(self.hardware[0]):
            place.append(("hardware", self.hardware[0]))
            driver = {DRIVER: self.driver} if self.driver and self.is_known(DRIVER, self.driver) else {}
            for part in (driver | self.parts).items():
                with_part = self.asked([*packages, *place, part])
                if with_part and not self.stacks(with_part) and self.stacks(self.asked([*packages, *place])):
                    return self.answer(with_part), []  # denied; that no list names a driver says nothing
        leaves = [pin for pin in self.pins(leaves=True) if pin not in packages]
        core = [pin for pin in packages if pin[0] in self.providers or self.facts.products[pin[0]].role == Role.COMPANION]
        for main, rest in ((packages, []), (core, [pin for pin in packages if pin not in core])):
            asked = [([*main, *leaves], rest), (main, rest)]
            for pins, left in asked if main else ():
                request = self.asked(pins + place)
                stacks = self.stacks(request)
                if request and stacks and stacks[0].level < Certainty.UNKNOWN:
                    others = left if pins is not main else [*leaves, *left]
                    culprits = [pin for pin in others if self._alone_denied(main + place, pin)]
                    if not culprits:
                        return Answer(request, stacks[0].verdict, stacks, (), ()), left
                    request = self.asked([*main, *culprits, *place])
                    return self.answer(request), []
        request = self.asked(packages + place)
        return self.answer(request), []

    def _alone_denied(self, options: list[tuple[str, str]], pin: tuple[str, str]) -> bool:
        """Return whether one run-time package alone turns what would work into what does not."""
        without, with_it = (self.asked(pins) for pins in (options, [*options, pin]))
        if without is None or with_it is None:
            return False
        before, after = self.stacks(without), self.stacks(with_it)
        return bool(before) and before[0].level < Certainty.UNKNOWN and not after

    def _answer_remarks(self, answer: Answer | None, *, unserved: bool) -> list[Remark]:
        if unserved:
            built = f"the installed packages are built for {self.devices[0]}"
            message = f"{built}, and no GPU here is on the list of supported hardware"
            return [Remark("no-graphics-for-build", Severity.WARNING, message, "use the CPU builds")]
        if answer and self.is_idle:
            message = f"this machine has a GPU with XPU support, but the installed packages are built for {self.devices[0]}"
            fix = "install the builds for the GPU, as shown below"
            return [Remark("build-for-another-device", Severity.WARNING, message, fix)]
        return []


def _blind_remark(machine: Machine) -> Remark:
    message = "torch reports that no XPU is available, although its build is for one"
    fix = "install the GPU driver with its compute runtime"
    if machine.drivers:
        fix = "check the version of the GPU driver, and that this user may open the render node"
    return Remark("gpu-not-available", Severity.ERROR, message, f"{fix}; in a container, pass --device /dev/dri")


def _driver_remarks(best: Alternative | None, driver: str | None) -> list[Remark]:
    """Return that no list names the driver with the stack, where lists name others."""
    named = best.stack.known.get(DRIVER, ()) if best else ()
    if not driver or not named or driver in {value.partition(".")[0] for value in named}:
        return []
    message = f"GPU driver {driver} is not listed with this stack, which does not exclude it; listed: {', '.join(named)}"
    return [Remark("driver-not-named", Severity.WARNING, message)]
