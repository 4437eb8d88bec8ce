"""The names of things in sentences: products and builds, systems, hardware, devices, and what a request fixed."""

from collections.abc import Collection, Iterable, Sequence
from itertools import groupby

from compatkb.core.memo import memoized
from compatkb.core.names import is_free_threaded, word_key
from compatkb.core.vocabulary import UNBOUNDED, Role
from compatkb.output.things import DimensionValue, joined_with, listed, numbered
from compatkb.store.reader import Snapshot
from compatkb.store.records import Element, Pin, Product, Request

HARDWARE, SYSTEM, PYTHON, ARCH, DEVICE = "hardware", "os", "python", "arch", "device"
_PLACES = {HARDWARE: 0, SYSTEM: 1, PYTHON: 2}
"""The order in which a place is told; what is not here follows."""


class Names:
    """What the data of a snapshot call things."""

    def __init__(self, facts: Snapshot) -> None:
        self.facts = facts

    def label(self, product: str) -> str:
        """Return the name of a product in sentences: torch, IPEX, driver."""
        head = self.facts.products.get(product)
        return head.label if head else product

    def labels(self, products: Iterable[str]) -> list[str]:
        """Return the names of products in sentences."""
        return [self.label(product) for product in products]

    def build_name(self, element: Element) -> str:
        """Return the name of a build's product, or its own distribution where the product goes by another one today."""
        head = self.facts.products[element.product]
        renamed = element.distribution and element.distribution != head.distribution
        return element.distribution if renamed and element.distribution else head.label

    def build(self, element: Element) -> str:
        """Return a build as people know it: by its product, or by the name under which it alone is installed."""
        return f"{self.build_name(element)} {element.version}"

    def value(self, dimension: str, version: str) -> str:
        """Return a value of a dimension as people write it: Windows 11, Intel GPU; the version where it has no other name."""
        known = self.facts.release(dimension, version)
        return (known.name if known else None) or version

    def values(self, dimension: str, versions: Iterable[str]) -> list[str]:
        """Return values of a dimension as people write them."""
        return [self.value(dimension, version) for version in versions]

    def successor(self, product: str, device: str = "") -> str:
        """Return what does the work of a product that has ended, on one device or each; empty where nothing is known to."""
        other = self.facts.product_details(product).replaced_by_record or {}
        told = []
        for on in (other, *other.get("also", ())) if other else ():
            if device and on.get("device") not in (None, device):
                continue
            where = f" on {self.value(DEVICE, on['device'])}" if on.get("device") else ""
            told.append(f"{self.label(other['product'])} {on['version']}{where}{f' ({by})' if (by := on.get('by')) else ''}")
        return ", ".join(told)

    def term(self, text: str) -> str:
        """Return a term without its operator where it names one version: ipex==2.8.10+xpu is IPEX 2.8.10+xpu."""
        product, equal, version = text.removesuffix(UNBOUNDED).replace("===", "==").partition("==")
        if not equal or "," in version:
            return self.label(text.removesuffix(UNBOUNDED))
        listed = product in self.facts.products and self.facts.products[product].scheme == "listed"
        return self.value(product, version) if listed else f"{self.label(product)} {version}"

    def pin(self, pin: Pin) -> str:
        """Return what a request fixed, in the user's words: torch 2.4, Python 3.12, Windows 11, B580."""
        head = self.facts.products[pin.product]
        text = pin.text.removeprefix(pin.product).lstrip("= ")
        if head.role == Role.FEATURE:
            return self.facts.features[pin.product][0]
        if head.role != Role.DIMENSION:
            return f"{head.label} {text}".strip()
        names = [e.version for e in self.facts.elements(pin.product).of(pin.mask)] if pin.mask and not pin.extra else []
        if pin.product == HARDWARE and len(names) == 1 and word_key(text) not in (word_key(names[0]), pin.product):
            return text
        if head.scheme == "listed" and names and self.facts.word(pin.product, text) == pin.mask:
            return self.value(pin.product, self._widest(pin.product, names, text))
        stems = {numbered(name)[0].strip() for name in self.values(pin.product, names)}
        one = stems.pop() if len(names) > 1 and len(stems) == 1 else text  # all that a family has, by its own name
        return one if head.scheme == "listed" else f"{head.label} {text}"

    def _widest(self, dimension: str, names: Sequence[str], text: str) -> str:
        """Return which of the values that a word stands for is named by it: the family where it names one."""
        known = self.facts.names(dimension)
        wanted = known.get(word_key(text), text)
        for name in names:
            known_as = self.facts.release(dimension, name)
            spellings = {name, *((known_as.name, *known_as.aliases) if known_as else ())} - {None}
            if {word_key(text), word_key(wanted)} & {word_key(spelling) for spelling in spellings if spelling}:
                return name
        return names[0]

    def asked(self, request: Request) -> str:
        """Return a request in words: the packages, the features that they must have, and where they are to run."""
        needs = [self.pin(pin) for pin in request.pins if pin.need]
        using = f"using {listed(needs)}" if needs else ""
        return " ".join(part for part in (self._packages(request), using, self.where(request)) if part)

    def where(self, request: Request, device: str | None = None) -> str:
        """Return where a request is to run: on Arc B580, Windows 11, Python 3.12; empty where it leaves that open."""
        products, routes = self.facts.products, self.facts.routes
        pins = [pin for pin in request.pins if products[pin.product].role == Role.DIMENSION]
        words = [self.pin(pin) for pin in sorted(pins, key=lambda pin: _PLACES.get(pin.product, len(_PLACES)))]
        only = device or (request.devices[0] if len(request.devices) == 1 else None)
        hardware = request.pin(HARDWARE)
        if only and (not hardware or self.graphics_beside(hardware, only)):
            words = [
                self.value(DEVICE, only) if not hardware else f"the {self.value(DEVICE, only)} of {words[0]}",
                *words[bool(hardware) :],
            ]
        route = next((route.name for route in routes if route.id == request.route), None)
        return (f"on {', '.join(words)}" if words else "") + (f" through {route}" if route else "")

    def graphics_beside(self, hardware: Pin, device: str) -> Element | None:
        """Return the hardware that is pinned where it has another device, which comes first, than the one that is told of."""
        elements = self.facts.elements(HARDWARE).of(hardware.mask)
        return next(
            (e for e in elements if device in e.devices and self.facts.hardware_devices()[e.version][0] != device), None
        )

    def _packages(self, request: Request) -> str:
        products = self.facts.products
        pins = [pin for pin in request.pins if not pin.need and products[pin.product].role != Role.DIMENSION]
        words = {pin.product: self.pin(pin) for pin in pins} | {name: self.label(name) for name in request.bare}
        names = [words[product] for product in products if product in words]
        return joined_with(names) or self.label(self.facts.routes[0].provider)


@memoized
def value_of(facts: Snapshot, dimension: str, version: str) -> DimensionValue:
    """Return a value of a dimension with its name and its place among the others."""
    order = facts.grid.get(dimension) or tuple(element.version for element in facts.elements(dimension))
    alike = [each for each in order if is_free_threaded(each) == is_free_threaded(version)]
    place = alike.index(version) if version in alike else -1
    system = (facts.family(version), tuple(facts.wider.get(version, ()))) if dimension == SYSTEM else ("", ())
    usual = facts.products[dimension].default in (None, version)
    return DimensionValue(dimension, version, Names(facts).value(dimension, version), place, *system, usual)


def ranges(values: Collection[str], order: Sequence[str]) -> str:
    """Return versions with neighbours folded into ranges: 3.8–3.11, 3.13; `order` has all that there are."""
    parts = []
    for is_wanted, run in groupby((each for each in order if not is_free_threaded(each)), values.__contains__):
        first, *rest = run
        if is_wanted:
            parts.append(f"{first}–{rest[-1]}" if rest else first)
    return ", ".join([*parts, *(each for each in order if each in values and is_free_threaded(each))])


def series_of(product: Product, version: str) -> str:
    """Return the series of a release; versions that are only listed are each their own."""
    return ".".join(version.partition("+")[0].split(".")[: product.series or 2]) if product.scheme == "pep440" else version
