"""A machine against the data: what works, what does not, and the way to the nearest stack that works."""

from datetime import date
from typing import NamedTuple

from compatkb.asking import find_versions, make_request
from compatkb.engine.answer import Answer, Near, best_stacks, resolve
from compatkb.engine.stacks import Stack
from compatkb.errors import CompatkbError
from compatkb.findings import Severity
from compatkb.inspecting import (
    Held,
    Remark,
    Seen,
    device_of,
    driver_of,
    graphics_remarks,
    hardware_of,
    held_of,
    library_remarks,
    needs_graphics,
    package_remarks,
    seen_as,
    system_of,
)
from compatkb.machine import Machine
from compatkb.records import UNKNOWN, Request
from compatkb.replacing import Instead, instead_of
from compatkb.snapshot.read import Snapshot

_WORKS = ("works", "works-with-warnings", "likely")
DRIVER = "gpu-driver"


class Step(NamedTuple):
    """A change on the way: versions before and after, None for what is not installed or not wanted."""

    distribution: str
    before: str | None
    after: str | None


class Examination(NamedTuple):
    """What is said about a machine."""

    machine: Machine
    held: tuple[Held, ...]
    seen: tuple[Seen, ...]
    system: str | None
    driver: str | None  # series of the GPU driver
    remarks: tuple[Remark, ...]
    answer: Answer | None  # to what is installed
    best: Near | None  # the stack to go to; where the machine works, the one that it has
    steps: tuple[Step, ...]
    unserved: bool = False  # what is installed is built for a GPU, and none that the makers name for it is here
    instead: Instead | None = None  # what takes the place of installed products that have ended
    newer: Stack | None = None  # beside a stack that is proposed: a newer one, of which less is proved

    @property
    def verdict(self) -> str:
        """The verdict on what is installed; `nothing-installed` where no package of the data is.

        Beside a build that the data do not know nothing works; only what packages say of each other can still deny.
        """
        if self.answer is None:
            return "unknown" if self.doubtful else "nothing-installed"
        if not self.doubtful and not (self.unserved and self.answer.verdict in _WORKS):
            return self.answer.verdict
        denied = self.answer.verdict == "does-not-work" and all(c.blocker[0] == "claim" for c in self.answer.causes)
        return "does-not-work" if denied and self.answer.causes else "unknown"

    @property
    def doubtful(self) -> tuple[str, ...]:
        """The installed packages whose very build the data do not know."""
        return tuple(item.installed.name for item in self.held if item.main and not item.known)

    @property
    def healthy(self) -> bool:
        """Whether what is installed works and nothing is wrong."""
        return self.verdict in _WORKS and all(remark.level is not Severity.ERROR for remark in self.remarks)


def examine(facts: Snapshot, machine: Machine, day: date) -> Examination:
    """Return what the data say of a machine as of a day."""
    held = tuple(held_of(facts, machine))
    seen = tuple(seen_as(facts, graphics) for graphics in machine.graphics or ())
    system = system_of(facts, machine)
    driver = driver_of(facts, machine)
    remarks = [*package_remarks(held), *graphics_remarks(facts, machine, seen), *library_remarks(facts, machine)]
    answer = _judge(facts, machine, held, seen, system, driver, day)
    best = _best(facts, machine, held, seen, system, day, answer)
    devices = device_of(facts, held, seen)
    unserved = bool(answer) and _is_unserved(facts, machine, devices, seen)
    remarks += _answer_remarks(facts, answer, devices, seen, unserved=unserved)
    remarks += _driver_remarks(best, driver)
    there = best is not None and best.where == "same" and all(item.known or not item.main for item in held)
    steps = _steps(facts, held, best.stack) if best and not there else ()
    hardware = [("hardware", name) for name in hardware_of(facts, seen)[:1]]
    products = [item.product for item in held if item.main]
    instead = instead_of(facts, products, _options(facts, machine, system) + hardware, devices, day)
    proposed = best.stack if best and not there else instead.stack if instead else None
    newer = _newer(facts, proposed, _options(facts, machine, system), hardware, day) if proposed else None
    return Examination(machine, held, seen, system, driver, tuple(remarks), answer, best, steps, unserved, instead, newer)


def _newer(
    facts: Snapshot, stack: Stack, place: list[tuple[str, str]], hardware: list[tuple[str, str]], day: date
) -> Stack | None:
    """Return the best stack whose main package is newer than that of a proposed one; that one went first for its proof."""
    main = next((e for e in stack.packages if e.product in {route.provider for route in facts.routes}), None)
    if main is None:
        return None
    for options in (place + hardware, [pin for pin in place if pin[0] != "python"] + hardware):
        request = _request(facts, [*options, (main.product, f">{main.release}")], (stack.device,), day)
        found = [s for s in best_stacks(facts, request) if s.route == stack.route and s.verdict in _WORKS] if request else []
        if found:
            return found[0]
    return None


def _options(facts: Snapshot, machine: Machine, system: str | None) -> list[tuple[str, str]]:
    found = []
    pairs = (("python", machine.python), ("os", system), ("arch", machine.arch), ("glibc", None if system else machine.glibc))
    for name, value in pairs:
        if value and name in facts.products and _known_version(facts, name, value):
            found.append((name, value))
    return found


def _known_version(facts: Snapshot, name: str, value: str) -> bool:
    try:
        return facts.products[name].role == "leaf" or bool(find_versions(facts, facts.products[name], value))
    except CompatkbError:
        return False


def _pins(facts: Snapshot, held: tuple[Held, ...], *, leaves: bool) -> list[tuple[str, str]]:
    pins: dict[str, str] = {}
    for item in held:
        role = facts.products[item.product].role
        version = item.installed.version
        if version and not item.known:  # the release may be known where this build of it is not
            version = version.partition("+")[0]
        if version and (leaves or role != "leaf") and _known_version(facts, item.product, version):
            pins.setdefault(item.product, version)
    return list(pins.items())


def _request(
    facts: Snapshot, options: list[tuple[str, str]], devices: tuple[str, ...], day: date, words: tuple[str, ...] = ()
) -> Request | None:
    try:
        return make_request(facts, options, words, devices, day)
    except CompatkbError:
        return None


def _judge(
    facts: Snapshot,
    machine: Machine,
    held: tuple[Held, ...],
    seen: tuple[Seen, ...],
    system: str | None,
    driver: str | None,
    day: date,
) -> Answer | None:
    """Return the answer to what is installed on this machine; of the run-time packages only those that deny stay in it."""
    packages = _pins(facts, held, leaves=False)
    if not packages:
        return None
    devices = device_of(facts, held, seen)
    place = _options(facts, machine, system)
    hardware = hardware_of(facts, seen)
    if len(hardware) == 1 and devices and _reaches(facts, hardware[0], devices[0]):
        place.append(("hardware", hardware[0]))
        if driver and _known_version(facts, DRIVER, driver):
            with_driver = _request(facts, [*packages, *place, (DRIVER, driver)], devices, day)
            if with_driver and not best_stacks(facts, with_driver):
                return resolve(facts, with_driver)  # denied; that no list names a driver says nothing
    leaves = [pin for pin in _pins(facts, held, leaves=True) if pin not in packages]
    request = _request(facts, packages + leaves + place, devices, day)
    stacks = best_stacks(facts, request) if request else ()
    if request and stacks and stacks[0].level < UNKNOWN:
        return Answer(request, stacks[0].verdict, stacks, (), ())
    culprits = [pin for pin in leaves if _alone_denied(facts, packages + place, pin, devices, day)]
    request = _request(facts, packages + culprits + place, devices, day)
    return resolve(facts, request) if request else None


def _alone_denied(
    facts: Snapshot, options: list[tuple[str, str]], pin: tuple[str, str], devices: tuple[str, ...], day: date
) -> bool:
    """Return whether one run-time package alone turns what would work into what does not."""
    without, with_it = (_request(facts, pins, devices, day) for pins in (options, [*options, pin]))
    if without is None or with_it is None:
        return False
    before, after = best_stacks(facts, without), best_stacks(facts, with_it)
    return bool(before) and before[0].level < UNKNOWN and not after


def _reaches(facts: Snapshot, hardware: str, device: str) -> bool:
    rows = facts.rows("select devices from release where product = 'hardware' and version = ?", hardware)
    return bool(rows) and device in str(rows[0]["devices"]).split()


def _best(
    facts: Snapshot,
    machine: Machine,
    held: tuple[Held, ...],
    seen: tuple[Seen, ...],
    system: str | None,
    day: date,
    answer: Answer | None,
) -> Near | None:
    """Return the stack to go to: the one that is there where it works, else the nearest, else the best for the machine."""
    devices = device_of(facts, held, seen)
    unserved = _is_unserved(facts, machine, devices, seen)
    idle = answer is not None and _is_idle(facts, devices, seen)
    if answer and answer.stacks and answer.verdict in _WORKS and not unserved and not idle:
        return Near((), "same", answer.stacks[0])
    for near in answer.nearest if answer and not unserved and not idle else ():
        if near.stack.verdict in _WORKS:
            return near
    if idle:
        devices = device_of(facts, (), seen)
    if unserved or (not devices and machine.graphics is not None):
        devices = tuple(dict.fromkeys(d for r in facts.routes for d in sorted(r.devices) if not needs_graphics(facts, d)))
    hardware = [("hardware", name) for name in hardware_of(facts, seen)[:1] if devices and _reaches(facts, name, devices[0])]
    words = tuple(dict.fromkeys(route.provider for route in facts.routes[:1]))
    place = _options(facts, machine, system)
    for options in (place + hardware, [pin for pin in place if pin[0] != "python"] + hardware, hardware, []):
        request = _request(facts, options, devices, day, words)
        stacks = best_stacks(facts, request) if request else ()
        if stacks and stacks[0].verdict in _WORKS:
            return Near((), "best", stacks[0])
    return None


def _is_unserved(facts: Snapshot, machine: Machine, devices: tuple[str, ...], seen: tuple[Seen, ...]) -> bool:
    """Return whether what is installed is built for graphics, and somebody looked, and none that fit are there."""
    hidden = "microsoft" in (machine.kernel or "").lower()  # WSL shows no graphics on its bus
    if machine.graphics is None or hidden or not devices or not needs_graphics(facts, devices[0]):
        return False
    return not any(_reaches(facts, name, devices[0]) for name in hardware_of(facts, seen))


def _is_idle(facts: Snapshot, devices: tuple[str, ...], seen: tuple[Seen, ...]) -> bool:
    """Return whether there are GPUs that the makers name, and what is installed is built for something else."""
    hardware = hardware_of(facts, seen)
    return bool(hardware and devices) and not any(_reaches(facts, name, devices[0]) for name in hardware)


def _answer_remarks(
    facts: Snapshot, answer: Answer | None, devices: tuple[str, ...], seen: tuple[Seen, ...], *, unserved: bool
) -> list[Remark]:
    if unserved:
        message = f"what is installed is built for {devices[0]}, and no GPU that the makers name for it is here"
        return [Remark("no-graphics-for-build", Severity.WARNING, message, "use the builds for the processor")]
    if answer and _is_idle(facts, devices, seen):
        message = f"a GPU for which there is XPU support is here, but what is installed is built for {devices[0]}"
        return [
            Remark("build-for-another-device", Severity.WARNING, message, "install the builds for the GPU, as shown below")
        ]
    return []


def _driver_remarks(best: Near | None, driver: str | None) -> list[Remark]:
    """Return that no list names the driver with the stack, where lists name others."""
    named = best.stack.known.get(DRIVER, ()) if best else ()
    if not driver or not named or driver in {value.partition(".")[0] for value in named}:
        return []
    message = f"GPU driver {driver}: lists name {', '.join(named)} with this stack; no list names yours, which denies nothing"
    return [Remark("driver-not-named", Severity.WARNING, message)]


def _steps(facts: Snapshot, held: tuple[Held, ...], stack: Stack) -> tuple[Step, ...]:
    """Return what has to change from what is installed to a stack; what requirements bring along changes by itself."""
    before: dict[str, str] = {}
    for item in held:
        before.setdefault(item.product, item.installed.version or "?")
    after = {e.product: e for e in stack.packages if e.distribution}
    found = []
    for product in facts.products:
        old, new = before.get(product), after.get(product)
        role = facts.products[product].role
        if (old is None and new is None) or (role == "leaf" and (old is None or new is None)):
            continue  # run-time packages come and go with those that require them
        name = (new.distribution if new else None) or facts.products[product].distribution or product
        if new is None or old != new.version:
            found.append(Step(name, old, new.version if new else None))
    return tuple(found)
