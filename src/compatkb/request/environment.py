"""An environment: what is, or is to be, installed together and where; what check, doctor, migrate and diagnose ask about."""

from collections.abc import Iterable, Sequence

from compatkb.core.clock import Clock
from compatkb.core.record import record
from compatkb.core.vocabulary import Role
from compatkb.request.parser import make_request
from compatkb.store.reader import Snapshot
from compatkb.store.records import Pin, Request


@record()
class Environment:
    """What one interpreter holds or is to hold, read once from files, a machine or a text.

    Every pin is a set of elements of one product (`Pin.mask`) with the text that it was read from; a product stands in one of
    `pins`, `ranges` and `packages` at most.
    """

    pins: tuple[Pin, ...] = ()  # packages of which one version is fixed
    ranges: tuple[Pin, ...] = ()  # packages of which several versions are left
    packages: tuple[str, ...] = ()  # packages in any version
    extras: frozenset[tuple[str, str]] = frozenset()  # products with the extras that are asked for
    devices: tuple[str, ...] = ()  # those that it may be for, the one that is preferred first
    python: Pin | None = None
    places: tuple[Pin, ...] = ()  # system, architecture, glibc, hardware, driver, as far as they are known

    def request(self, facts: Snapshot, clock: Clock) -> Request:
        """Return the question whether all of it goes together there, as of a day; raises UsageError for unknown devices."""
        pins = [*self.pins, *self.ranges, *self.places, *([self.python] if self.python else [])]
        asked = make_request(facts, devices=self.devices, clock=clock)
        return asked._replace(
            pins=tuple(sorted(pins, key=lambda pin: facts.ranks[pin.product])),
            bare=tuple(sorted(self.packages, key=facts.ranks.__getitem__)),
            devices=self.devices,
            extras=self.extras,
        )


def read_environment(
    facts: Snapshot, versions: Iterable[tuple[str, str]], devices: Sequence[str], clock: Clock, packages: Sequence[str] = ()
) -> Environment:
    """Return an environment from version texts by product id, where it is among them, and from names of further packages.

    Raises UsageError naming every version that the data do not know and every name that stands for nothing.
    """
    read = make_request(facts, versions, packages, devices, clock)
    installed = [pin for pin in read.pins if facts.products[pin.product].role != Role.DIMENSION]
    places = [pin for pin in read.pins if facts.products[pin.product].role == Role.DIMENSION]
    return Environment(
        pins=tuple(pin for pin in installed if pin.exact),
        ranges=tuple(pin for pin in installed if not pin.exact),
        packages=read.bare,
        extras=read.extras,
        devices=read.devices,
        python=next((pin for pin in places if pin.product == "python"), None),
        places=tuple(pin for pin in places if pin.product != "python"),
    )
