"""The values that the form offers, in the order of the data: systems, Pythons, series, devices, hardware."""

from typing import NamedTuple

from compatkb.core.names import is_free_threaded
from compatkb.store.queries import products
from compatkb.store.reader import Snapshot

WINDOWS = "windows"


class Value(NamedTuple):
    """A value as it is typed, and as people read it."""

    id: str
    label: str
    part_of: tuple[str, ...] = ()
    devices: tuple[str, ...] = ()


def main_product(facts: Snapshot) -> str:
    """Return the product whose series the form asks for: what the preferred route is made of."""
    return facts.routes[0].provider


def devices(facts: Snapshot) -> list[Value]:
    """Return the devices that some route reaches."""
    served = products.served_devices(facts)
    return [value for value in values(facts, "device") if value.id in served]


def values(facts: Snapshot, product: str) -> list[Value]:
    """Return the values of a listed product, in the order of its file."""
    releases = products.releases_of(facts, product)
    return [Value(each.version, each.name or each.version, each.part_of, each.devices) for each in releases]


def series(facts: Snapshot) -> list[str]:
    """Return the series of the main product, newest first."""
    product = main_product(facts)
    depth = facts.products[product].series
    names = [".".join(element.release.split(".")[:depth]) for element in facts.elements(product)]
    return list(dict.fromkeys(reversed(names)))


def pythons(facts: Snapshot) -> list[str]:
    """Return the Python minors, oldest first; free-threaded builds are left out."""
    return [python for python in facts.grid["python"] if not is_free_threaded(python)]


def is_windows(facts: Snapshot, systems: tuple[str, ...]) -> bool:
    """Return whether all of these systems are of the family of Windows."""
    return bool(systems) and all(system == WINDOWS or WINDOWS in facts.wider.get(system, ()) for system in systems)
