"""The questions that the form can put: its fields, their values, and the request that a choice stands for."""

from collections.abc import Iterator
from datetime import date
from functools import cached_property
from typing import NamedTuple

from compatkb.asking import make_request
from compatkb.cli.options import HEADLINES
from compatkb.records import Pin, Request
from compatkb.snapshot.read import Snapshot

PLACES = ("python", "os")
"""The fields that each table of answers has all values of."""


class Value(NamedTuple):
    """A value of a field: what is typed on the command line, and what people read."""

    id: str
    label: str
    note: str = ""


class Field(NamedTuple):
    """A field of the form; `option` is what the command line calls it."""

    id: str
    label: str
    option: str
    values: tuple[Value, ...]


class Form:
    """The form over one knowledge base, for one day."""

    def __init__(self, facts: Snapshot, today: date, series: tuple[str, ...] = ()) -> None:
        """Make the form; `series` are the main choices that it offers, all unless given."""
        self.facts, self.today, self.offered = facts, today, series
        self._pins: dict[tuple[str, str], Pin] = {}

    @cached_property
    def main(self) -> str:
        """The product whose series the form asks for: what the preferred route is made of."""
        return self.facts.routes[0].provider

    @cached_property
    def packages(self) -> tuple[str, ...]:
        """The further products that can be fixed: packages with an option of their own."""
        headlines = [product for _, _, product, _ in HEADLINES if product in self.facts.products]
        return tuple(p for p in headlines if self.facts.products[p].role == "package" and p != self.main)

    @cached_property
    def fields(self) -> tuple[Field, ...]:
        """Every field in the order of the form."""
        facts = self.facts
        names = facts.rows("select product, version, name from release order by product, position")
        said = {(row["product"], row["version"]): row["name"] or "" for row in names}
        devices = tuple(Value(e.version, said["device", e.version] or e.version) for e in reversed(facts.elements("device")))
        routes = tuple(Value(route.id, route.name) for route in facts.routes)
        found = [Field("device", "Device", "--device", devices)]
        found.append(Field("main", facts.products[self.main].name, f"--{self.main}", self._series(self.main)))
        found.append(Field("route", "Route", "--route", routes))
        for dimension in PLACES:
            known = [row["version"] for row in names if row["product"] == dimension]
            values = tuple(Value(v, said[dimension, v] or v) for v in known if v in facts.grid[dimension])
            found.append(Field(dimension, facts.products[dimension].name.capitalize(), f"--{dimension}", values))
        hardware = [row["version"] for row in names if row["product"] == "hardware"]
        labels = tuple(Value(v, said["hardware", v] or v) for v in hardware)
        found.append(Field("hardware", "Hardware", "--hardware", labels))
        for product in self.packages:
            releases = dict.fromkeys(e.release for e in reversed(facts.elements(product)))
            options = {p: option for option, _, p, _ in HEADLINES}
            values = tuple(Value(release, release) for release in releases)
            found.append(Field(product, facts.products[product].name, options[product], values))
        return tuple(found)

    def _series(self, product: str) -> tuple[Value, ...]:
        depth = self.facts.products[product].series
        names = [".".join(e.release.split(".")[:depth]) for e in self.facts.elements(product)]
        return tuple(Value(name, name) for name in dict.fromkeys(reversed(names)) if not self.offered or name in self.offered)

    @cached_property
    def images(self) -> tuple[tuple[str, str, dict[str, str]], ...]:
        """Every image tag with its device, and the choices that what it holds comes to; the loosely bound package left out."""
        facts, made = self.facts, []
        fixed = ("main", *self.packages[:2], *PLACES)
        for row in facts.rows("select id, repository, name, device from image order by repository, id"):
            held: dict[str, str] = {}
            for part in facts.rows("select product, mask from content where image = ?", row["id"]):
                field = next((name for name in fixed if self.product_of(name) == part["product"]), None)
                if field and (value := self._value_of(field, int(part["mask"], 16))):
                    held[field] = value
            made.append((f"{row['repository']}:{row['name']}", row["device"], held))
        return tuple(made)

    def _value_of(self, field: str, mask: int) -> str:
        """Return the value of a field that elements of its product come to, empty where they are none or several."""
        elements = self.facts.elements(self.product_of(field)).of(mask)
        depth = self.facts.products[self.main].series
        names = {".".join(e.release.split(".")[:depth]) if field == "main" else e.release for e in elements}
        return names.pop() if len(names) == 1 and names <= set(self.values(field)) else ""

    def product_of(self, field: str) -> str:
        """Return the product that a field fixes."""
        return self.main if field == "main" else field

    def request(self, chosen: dict[str, str]) -> Request:
        """Return the request for chosen values by field, as the command line would make it."""
        pins = [self._pin(self.product_of(field), text) for field, text in chosen.items() if field not in ("device", "route")]
        pins.sort(key=lambda pin: self.facts.ranks[pin.product])
        devices = (chosen["device"],) if "device" in chosen else ()
        return Request(tuple(pins), (), devices, self.today.toordinal(), chosen.get("route"))

    def _pin(self, product: str, text: str) -> Pin:
        key = (product, text)
        if key not in self._pins:
            (self._pins[key],) = make_request(self.facts, [key], as_of=self.today).pins
        return self._pins[key]

    def values(self, field: str) -> tuple[str, ...]:
        """Return the values of a field as they are typed."""
        return tuple(value.id for value in next(f for f in self.fields if f.id == field).values)

    def places(self) -> Iterator[list[dict[str, str]]]:
        """Yield for each Python, and first for none, the choice of it and of each system, and first of none."""
        for python in ("", *self.values("python")):
            row = [{"python": python, "os": system} for system in ("", *self.values("os"))]
            yield [{name: value for name, value in place.items() if value} for place in row]
