"""The values that the form offers, in the order of the data, the questions that have a page of their own, names of files."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from compatkb.core.names import is_free_threaded
from compatkb.store.queries import products
from compatkb.store.reader import Snapshot
from compatkb.web.questions import PageQuestion

WINDOWS, WSL = "windows", "wsl2"


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


_PREFIXES = {"python": "py"}
_PLAIN = ("os", "hardware")


def file_name(text: str) -> str:
    """Return a version as the name of a file."""
    return re.sub(r"[^A-Za-z0-9._-]", "_", text)


def release_path(product: str, version: str) -> str:
    """Return the path of a release's page."""
    return f"products/{file_name(product)}/{file_name(version)}.html"


def answer_path(question: PageQuestion, main: str) -> str:
    """Return the path of a written answer: the device as folder, then what is fixed."""
    parts = []
    for product, text in question.options:
        plain = product in _PLAIN or product == main
        parts.append(file_name(text) if plain else f"{_PREFIXES.get(product, product)}{file_name(text)}")
    return f"{question.devices[0]}/{'_'.join(parts) or 'any'}.html"


RECENT = 8
"""So many of the newest Pythons have pages; older ones are asked for seldom, and so are devices served on request alone."""


def written_questions(facts: Snapshot) -> Iterator[PageQuestion]:
    """Yield them: each device, alone, with each series, system, Python, family of hardware, and with a few together."""
    main = main_product(facts)
    places = [value.id for value in values(facts, "os") if value.id in (*facts.families, WSL)]
    usual = {name for route in facts.routes if not route.on_request for name in route.devices}
    for device in (device for device in devices(facts) if device.id in usual):
        alone = PageQuestion(devices=(device.id,))
        for name in ("", *series(facts)):
            at = alone.fix(main, name)
            yield at
            yield from (at.fix("os", place) for place in places)
            yield from (at.fix("python", python) for python in pythons(facts)[-RECENT:])
        for value in values(facts, "hardware"):
            if device.id in value.devices:
                yield alone.fix("hardware", value.id)
                yield from (alone.fix("hardware", value.id).fix("os", place) for place in facts.families[1:])
