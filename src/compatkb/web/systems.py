"""The values that the form offers, in the order of the data, the questions that have a page of their own, names of files."""

import re
from collections.abc import Iterator
from functools import cached_property

from compatkb.core.names import is_free_threaded, word_key
from compatkb.core.record import NamedTuple
from compatkb.store.queries.products import ReleaseRecord
from compatkb.store.reader import Snapshot
from compatkb.web.questions import PageQuestion

WINDOWS, WSL = "windows", "wsl2"
RECENT, RECENT_PYTHONS = 8, 5
"""So many of the newest series and Pythons are answered at once; older ones and devices on request take the engine."""

YEARS = 4
"""A static site has pages of what came out in so many years before its data; of the rest its engine and `show` tell."""


class Value(NamedTuple):
    """A value as it is typed, and as people read it."""

    id: str
    label: str
    part_of: tuple[str, ...] = ()
    devices: tuple[str, ...] = ()


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


def has_badge(question: PageQuestion) -> bool:
    """Return whether a written answer has a badge as a file: those of a device and a series."""
    return not {"hardware", "os"} & {product for product, _ in question.options}


def gpu_path(name: str) -> str:
    """Return the path of the page of a model or family."""
    return f"gpus/{re.sub(r'[^a-z0-9]+', '-', name.lower()).strip('-')}.html"


def marketing_name(text: str) -> str:
    """Return a name of hardware without its maker, its marks and what tools print around it: `Arc B580`."""
    plain = re.sub(r"\((?:R|TM)\)|[®™]|\b\d+\s?GB\b|[()]", "", text, flags=re.IGNORECASE)
    plain = re.sub(r"^\s*Intel\b|\b(?:Graphics|GPU|Processor|CPU)\s*$", "", plain.strip(), flags=re.IGNORECASE)
    return re.sub(r"\bCore\s+Ultra\b", "Core Ultra", " ".join(plain.split()), flags=re.IGNORECASE)


class FormValues:
    """The values that the form offers, and the questions that have pages."""

    def __init__(self, facts: Snapshot) -> None:
        self.facts = facts

    @cached_property
    def main(self) -> str:
        """The product whose series the form asks for: what the preferred route is made of."""
        return self.facts.routes[0].provider

    @cached_property
    def devices(self) -> list[Value]:
        """The devices that some route reaches."""
        served = self.facts.served_devices()
        return [value for value in self.values("device") if value.id in served]

    def values(self, product: str) -> list[Value]:
        """Return the values of a listed product, in the order of its file."""
        releases = self.facts.releases_of(product)
        return [Value(each.version, each.name or each.version, each.part_of, each.devices) for each in releases]

    @cached_property
    def models(self) -> dict[str, str]:
        """The models of hardware by the names under which they are sold, each with its family, as the data list them."""
        named: dict[str, str] = {}
        for value in self.facts.releases_of("hardware"):
            for alias in value.aliases:
                if "(R)" in alias and (name := marketing_name(alias)) and self.facts.word("hardware", name):
                    named.setdefault(name, value.version)
        return named

    def model(self, text: str) -> str:
        """Return a name of hardware as it is sold, whatever case it is typed in; the text itself where no model has it."""
        key = word_key(marketing_name(text))
        return next((name for name in self.models if word_key(name).removeprefix("arc") == key.removeprefix("arc")), text)

    @cached_property
    def series(self) -> list[str]:
        """The series of the main product, newest first."""
        product = self.main
        depth = self.facts.products[product].series
        names = [".".join(element.release.split(".")[:depth]) for element in self.facts.elements(product)]
        return list(dict.fromkeys(reversed(names)))

    def is_recent(self, release: ReleaseRecord) -> bool:
        """Return whether a release came out late enough for a page of its own; one without a day counts as late."""
        day = self.facts.meta["data_date"]
        return not release.released or release.released >= f"{int(day[:4]) - YEARS}{day[4:]}"

    @cached_property
    def pythons(self) -> list[str]:
        """The Python minors, oldest first; free-threaded builds are left out."""
        return [python for python in self.facts.grid["python"] if not is_free_threaded(python)]

    def written(self) -> Iterator[PageQuestion]:
        """Yield them: each device, alone, with each recent series, system and family of hardware."""
        depth = self.facts.products[self.main].series
        recent = {".".join(r.version.split(".")[:depth]) for r in self.facts.releases_of(self.main) if self.is_recent(r)}
        for device in self.usual:
            alone = PageQuestion(devices=(device.id,))
            yield alone
            yield from (alone.fix(self.main, name) for name in self.series if name in recent)
            yield from (alone.fix("os", place) for place in self._places)
            yield from (alone.fix("hardware", v.id) for v in self.values("hardware") if device.id in v.devices)

    def sheet(self) -> Iterator[PageQuestion]:
        """Yield the further questions that a static site answers at once: what a few presses of buttons make."""
        series = ["", *self.series[:RECENT]]
        for device in self.usual:
            for place in ("", *(value.id for value in self.foremost), *(name for name in self._places if name == WSL)):
                for python in ("", *self.pythons[-RECENT_PYTHONS:]):
                    at = PageQuestion(devices=(device.id,)).fix("os", place).fix("python", python)
                    yield from (at.fix(self.main, name) for name in series)
        graphics = [value.id for value in self.graphics]
        for place in ("", *(value.id for value in self.foremost)):
            for family in graphics:
                at = PageQuestion(devices=(self.usual[0].id,)).fix("hardware", family).fix("os", place)
                yield from (at.fix(self.main, name) for name in series)
                yield from (at.fix("python", python) for python in self.pythons[-RECENT_PYTHONS:])

    @cached_property
    def graphics(self) -> list[Value]:
        """The families of hardware that the first device is for, those that no other is part of."""
        every = [value for value in self.values("hardware") if value.devices[:1] == (self.devices[0].id,)]
        wide = {name for value in every for name in value.part_of}
        return [value for value in every if value.id not in wide]

    @cached_property
    def foremost(self) -> list[Value]:
        """The two kinds of systems that the data list first."""
        return [value for value in self.values("os") if value.id in self.facts.families][:2]

    @cached_property
    def _places(self) -> list[str]:
        return [value.id for value in self.values("os") if value.id in (*self.facts.families, WSL)]

    @cached_property
    def usual(self) -> list[Value]:
        """The devices that are served without being asked for."""
        usual = {name for route in self.facts.routes if not route.on_request for name in route.devices}
        return [device for device in self.devices if device.id in usual]
