"""A machine in terms of the data, and as a request: its pins, Python, system and GPU."""

from compatkb.core.clock import Clock
from compatkb.core.vocabulary import Role
from compatkb.doctor.checks import device_of, driver_of, hardware_of, held_of, seen_as, system_of
from compatkb.doctor.machine import Machine
from compatkb.doctor.version_extraction import is_known
from compatkb.errors import CompatkbError
from compatkb.request.environment import read_environment
from compatkb.store.queries.products import hardware_devices
from compatkb.store.queries.provenance import needs_graphics
from compatkb.store.reader import Snapshot
from compatkb.store.records import Request


class KnownMachine:
    """What the data know of a machine: its packages, what was seen of its graphics, and the devices that these serve."""

    def __init__(self, facts: Snapshot, machine: Machine, clock: Clock) -> None:
        self.facts, self.machine, self.clock = facts, machine, clock
        self.held = tuple(held_of(facts, machine))
        self.seen = tuple(seen_as(facts, graphics) for graphics in machine.graphics or ())
        self.system, self.driver = system_of(facts, machine), driver_of(facts, machine)
        self.devices = device_of(facts, self.held, self.seen)
        self.hardware = hardware_of(facts, self.seen)

    @property
    def place(self) -> list[tuple[str, str]]:
        """Python, system, architecture and glibc as options, as far as the data know them."""
        machine, facts = self.machine, self.facts
        python = next((text for text in (machine.patch, machine.python) if text and is_known(facts, "python", text)), None)
        glibc = None if self.system else machine.glibc
        pairs = (("python", python), ("os", self.system), ("arch", machine.arch), ("glibc", glibc))
        return [(name, value) for name, value in pairs if value and name in facts.products and is_known(facts, name, value)]

    def pins(self, *, leaves: bool) -> list[tuple[str, str]]:
        """Return what is installed as options, unknown builds by their release; with `leaves` also run-time packages."""
        pins: dict[str, str] = {}
        for item in self.held:
            version = item.installed.version
            if version and not item.known:  # the release may be known where this build of it is not
                version = version.partition("+")[0]
            is_wanted = leaves or self.facts.products[item.product].role != Role.LEAF
            if version and is_wanted and is_known(self.facts, item.product, version):
                pins.setdefault(item.product, version)
        return list(pins.items())

    def request(
        self, options: list[tuple[str, str]], devices: tuple[str, ...] | None = None, words: tuple[str, ...] = ()
    ) -> Request | None:
        """Return a request for its own devices or others; None for what cannot be asked."""
        return request_of(self.facts, options, self.devices if devices is None else devices, self.clock, words)

    def reaches(self, hardware: str) -> bool:
        """Return whether hardware is said to have the device that what is installed serves."""
        return bool(self.devices) and reaches(self.facts, hardware, self.devices[0])

    @property
    def is_unserved(self) -> bool:
        """Whether what is installed is built for graphics, and somebody looked, and none that fit are there."""
        hidden = "microsoft" in (self.machine.kernel or "").lower()  # WSL shows no graphics on its bus
        if self.machine.graphics is None or hidden or not self.devices or not needs_graphics(self.facts, self.devices[0]):
            return False
        return not any(map(self.reaches, self.hardware))

    @property
    def is_idle(self) -> bool:
        """Whether there are GPUs that the makers name, and what is installed is built for something else."""
        return bool(self.hardware and self.devices) and not any(map(self.reaches, self.hardware))


def request_of(
    facts: Snapshot, options: list[tuple[str, str]], devices: tuple[str, ...], clock: Clock, words: tuple[str, ...] = ()
) -> Request | None:
    """Return the request of an environment; None for what cannot be asked."""
    try:
        return read_environment(facts, options, devices, clock, words).request(facts, clock)
    except CompatkbError:
        return None


def reaches(facts: Snapshot, hardware: str, device: str) -> bool:
    """Return whether hardware is said to have a device."""
    return device in hardware_devices(facts).get(hardware, ())
