"""A machine as a question: the pins that its packages, its Python, its system and its GPU stand for."""

from compatkb.core.clock import Clock
from compatkb.core.vocabulary import Role
from compatkb.doctor.checks import InstalledDistribution, Seen, hardware_of
from compatkb.doctor.machine import Machine
from compatkb.doctor.version_extraction import is_known
from compatkb.errors import CompatkbError
from compatkb.request.parser import make_request
from compatkb.store.queries.products import hardware_devices
from compatkb.store.queries.provenance import needs_graphics
from compatkb.store.reader import Snapshot
from compatkb.store.records import Request


def place_of(facts: Snapshot, machine: Machine, system: str | None) -> list[tuple[str, str]]:
    """Return Python, system, architecture and glibc of a machine as options, as far as the data know them."""
    options = []
    pythons = [text for text in (machine.patch, machine.python) if text and is_known(facts, "python", text)]
    python = pythons[0] if pythons else None
    pairs = (("python", python), ("os", system), ("arch", machine.arch), ("glibc", None if system else machine.glibc))
    for name, value in pairs:
        if value and name in facts.products and is_known(facts, name, value):
            options.append((name, value))
    return options


def pins_of(facts: Snapshot, held: tuple[InstalledDistribution, ...], *, leaves: bool) -> list[tuple[str, str]]:
    """Return what is installed as options, unknown builds by their release; with `leaves` also run-time packages."""
    pins: dict[str, str] = {}
    for item in held:
        role = facts.products[item.product].role
        version = item.installed.version
        if version and not item.known:  # the release may be known where this build of it is not
            version = version.partition("+")[0]
        if version and (leaves or role != Role.LEAF) and is_known(facts, item.product, version):
            pins.setdefault(item.product, version)
    return list(pins.items())


def request_of(
    facts: Snapshot, options: list[tuple[str, str]], devices: tuple[str, ...], clock: Clock, words: tuple[str, ...] = ()
) -> Request | None:
    """Return a request; None for what cannot be asked."""
    try:
        return make_request(facts, options, words, devices, clock)
    except CompatkbError:
        return None


def reaches(facts: Snapshot, hardware: str, device: str) -> bool:
    """Return whether hardware is said to have a device."""
    return device in hardware_devices(facts).get(hardware, ())


def is_unserved(facts: Snapshot, machine: Machine, devices: tuple[str, ...], seen: tuple[Seen, ...]) -> bool:
    """Return whether what is installed is built for graphics, and somebody looked, and none that fit are there."""
    hidden = "microsoft" in (machine.kernel or "").lower()  # WSL shows no graphics on its bus
    if machine.graphics is None or hidden or not devices or not needs_graphics(facts, devices[0]):
        return False
    return not any(reaches(facts, name, devices[0]) for name in hardware_of(facts, seen))


def is_idle(facts: Snapshot, devices: tuple[str, ...], seen: tuple[Seen, ...]) -> bool:
    """Return whether there are GPUs that the makers name, and what is installed is built for something else."""
    hardware = hardware_of(facts, seen)
    return bool(hardware and devices) and not any(reaches(facts, name, devices[0]) for name in hardware)
