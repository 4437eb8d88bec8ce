"""Suggestions for misspelt names and versions, as lines of an error message."""

import re
from collections.abc import Collection, Iterable, Sequence
from functools import reduce
from operator import or_

from compatkb.core.names import close, word_key
from compatkb.core.vocabulary import Role
from compatkb.errors import UsageError
from compatkb.store.queries.provenance import Application
from compatkb.store.reader import Snapshot
from compatkb.store.records import Pin, Product


def numbers(text: str) -> tuple[int, ...]:
    """Return the leading numbers of a version, for neighbours in a message only."""
    return tuple(int(number) for number in re.findall(r"\d+", text.rpartition("!")[2])[:4])


def suggest(words: Sequence[str]) -> str:
    """Return words that may have been meant as a line of a message, empty for none."""
    return f"\n  did you mean: {', '.join(words)}?" if words else ""


def listing(words: Iterable[str]) -> str:
    """Return all words that there are as a line of a message."""
    return f"\n  known: {', '.join(words)}"


def fate(application: Application) -> str:
    """Return since when an application has ended and what does its work today; empty where it has not ended."""
    state = f"{application.state} {application.ended}" if application.ended else ""
    return state and "; ".join(filter(None, (state, successors(application))))


def successors(application: Application) -> str:
    """Return the last release of what has ended, and what does the work of an application today."""
    last = [f"last release {application.last}"] if application.last else []
    return "; ".join([*last, *([f"use instead: {', '.join(application.instead)}"] if application.instead else [])])


def unjudged(application: Application, reason: str = "no versions of it are in the data") -> UsageError:
    """Return the error for an application in place of a product: that it has ended, else the reason."""
    return UsageError(f"{application.name}: {fate(application) or reason}\n  see `compatkb show {application.id}`")


class Suggestions:
    """What may have been meant, and what is known beside it, by the data."""

    def __init__(self, facts: Snapshot) -> None:
        self.facts = facts

    def unknown_version(self, product: Product, version: str) -> UsageError:
        """Return the error for a version that a product does not have, with the nearest ones."""
        if product.scheme == "listed":
            names = self.facts.names(product.id)
            near = close(word_key(version), names, names)
            what = f"unknown {self.noun(product.id, near)} {version!r}"
            return UsageError(what + (suggest(near) or self.nearest(product, version)))
        return UsageError(f"{product.id} has no version {version!r}{self.nearest(product, version)}")

    def noun(self, product: str, near: Sequence[str]) -> str:
        """Return what people call a version of a listed product; hardware after what is near it."""
        if product != "hardware":
            return {"os": "operating system", "arch": "architecture"}.get(product, product)
        masks = [self.facts.word(product, name) or 0 for name in near]
        devices = {device for mask in masks for element in self.facts.elements(product).of(mask) for device in element.devices}
        named = [record.name for record in self.facts.releases_of("device") if record.name and record.version in devices]
        return " or ".join(name for name in named) or "hardware"

    def nearest(self, product: Product, text: str) -> str:
        """Return the nearest known versions as a line of a message."""
        versions = list(dict.fromkeys(e.release for e in self.facts.elements(product.id)))
        if not versions:
            return ""
        if product.scheme == "listed":
            more = f" and {len(versions) - 8} more, see `compatkb list {product.id}`" if len(versions) > 8 else ""
            return f"{listing(versions[:-9:-1])}{more}"
        wanted = numbers(text)
        if not wanted:
            return f"\n  newest: {', '.join(versions[:-4:-1])}"
        below = [v for v in versions if numbers(v) <= wanted]
        above = [v for v in versions if numbers(v) > wanted]
        near_by = [*below[:-3:-1], *above[:1]] if below else above[:3]
        return f"\n  nearest: {', '.join(near_by)}"

    def not_covered(self, device: str, word: str, pins: Collection[Pin]) -> str:
        """Return why there are no answers for a word that means a device which no route reaches, and what is known of it."""
        record = self.facts.release("device", device)
        note = (record.note if record else None) or "no way to use it is known"
        first, _, more = note.partition(". ")
        name = (record.name if record else None) or device
        article = "an" if re.match(r"[AEIOU]|N(?=[A-Z])", name) else "a"
        why = f"{word!r} is {article} {name}; {first.removesuffix('.')}" + (f"\n  {more.removesuffix('.')}" if more else "")
        return why + self._known_for(device, pins)

    def _known_for(self, device: str, pins: Collection[Pin]) -> str:
        """Return what is known of pinned versions on a device without answers, as lines of a message.

        Products that are for that device alone say what they go with: those that are pinned, or else all their releases.
        """
        system = next((pin.mask for pin in pins if pin.product == "os"), -1)
        cells = self.facts.dimension_cells("os", system)
        lines = []
        for own in self.facts.products.values():
            elements = [e for e in self.facts.elements(own.id) if e.devices == frozenset([device])]
            if own.role != Role.DIMENSION or own.id == "hardware" or not elements:
                continue
            pin = next((pin for pin in pins if pin.product == own.id), None)
            mask = pin.mask if pin else sum(1 << element.idx for element in elements)
            lines += [self._pair_known(own, pin, mask, other, cells) for other in pins if other is not pin]
            open_ones = {route.provider for route in self.facts.routes}.difference(each.product for each in pins)
            edges = [
                edge
                for name in sorted(open_ones)
                for edge in self.facts.edges(own.id, name)
                if edge.of_mask & mask and edge.supported_on
            ]
            lines += [f"{self._words(pin)} goes with {edge.to} {edge.spec.removeprefix('==')}" for edge in edges if pin]
        return "".join(f"\n  known: {line}" for line in dict.fromkeys(lines) if line)

    def _pair_known(self, own: Product, pin: Pin | None, mask: int, other: Pin, cells: int) -> str:
        """Return whether some releases of a product go with another pin on some platforms; empty where nobody says."""
        edges = [edge for edge in self.facts.edges(own.id, other.product) if edge.of_mask & mask and edge.supported_on & cells]
        fitting = reduce(or_, (edge.of_mask & mask for edge in edges if edge.to_mask & other.mask), 0)
        if fitting:
            names = [element.release for element in self.facts.elements(own.id).of(fitting)]
            return f"{self._words(other)} goes with {own.label} {', '.join(reversed(names))}"
        if edges and pin:
            specs = " or ".join(dict.fromkeys(edge.spec.replace("==", "") for edge in edges))
            return f"{self._words(pin)} goes with {self.facts.products[other.product].label} {specs}, not {self._words(other)}"
        is_package = self.facts.products[other.product].role != Role.DIMENSION
        return f"no {own.label} here is said to go with {self._words(other)}" if is_package else ""

    def _words(self, pin: Pin) -> str:
        """Return a pin in words; hardware and systems go by their own names."""
        product, text = self.facts.products[pin.product], pin.text.removeprefix(pin.product).lstrip("= ")
        return text if product.scheme == "listed" else f"{product.label} {text}"
