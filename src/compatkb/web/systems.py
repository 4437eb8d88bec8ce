"""The values that the form offers, in the order of the data: systems, Pythons, series, devices, hardware."""

from typing import NamedTuple

from compatkb.headline_options import HEADLINES
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
    served = {device for route in facts.routes for device in route.devices}
    return [value for value in values(facts, "device") if value.id in served]


def values(facts: Snapshot, product: str) -> list[Value]:
    """Return the values of a listed product, in the order of its file."""
    releases = products.releases_of(facts, product)
    return [Value(each.version, each.name or each.version, each.part_of, each.devices) for each in releases]


def families(facts: Snapshot, product: str) -> list[Value]:
    """Return the values that are part of no other one."""
    return [value for value in values(facts, product) if not value.part_of]


def label(facts: Snapshot, product: str, text: str) -> str:
    """Return how people read a value that was typed by any of its names; the text itself where it names none alone."""
    mask = facts.word(product, text)
    found = facts.elements(product).of(mask) if mask else []
    names = {value.id: value.label for value in values(facts, product)}
    if len(found) != 1 and text in names:  # a family stands for its members too
        return names[text]
    return names.get(found[0].version, text) if len(found) == 1 else text


def series(facts: Snapshot) -> list[str]:
    """Return the series of the main product, newest first."""
    product = main_product(facts)
    depth = facts.products[product].series
    names = [".".join(element.release.split(".")[:depth]) for element in facts.elements(product)]
    return list(dict.fromkeys(reversed(names)))


def pythons(facts: Snapshot) -> list[str]:
    """Return the Python minors, oldest first; free-threaded builds are left out."""
    return [python for python in facts.grid["python"] if not python.endswith("t")]


def packages(facts: Snapshot) -> list[str]:
    """Return the further packages that have an option of their own, in its order."""
    named = [product for _, _, product, _ in HEADLINES if product in facts.products]
    return [product for product in named if facts.products[product].role == "package" and product != main_product(facts)]


def is_windows(facts: Snapshot, systems: tuple[str, ...]) -> bool:
    """Return whether all of these systems are of the family of Windows."""
    return bool(systems) and all(system == WINDOWS or WINDOWS in facts.wider.get(system, ()) for system in systems)
