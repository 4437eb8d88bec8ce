"""The names of things in sentences: products and builds, systems, hardware, devices, and what a request fixed."""

from collections.abc import Iterable, Sequence
from itertools import groupby

from compatkb.core.names import is_free_threaded, word_key
from compatkb.engine.stacks import Stack
from compatkb.store.queries.products import release
from compatkb.store.reader import Snapshot
from compatkb.store.records import Element, Pin, PlatformSet, Request

HARDWARE, SYSTEM, PYTHON, ARCH = "hardware", "os", "python", "arch"
_MANY = 6


def label(facts: Snapshot, product: str) -> str:
    """Return the name of a product in sentences: torch, IPEX, driver."""
    head = facts.products.get(product)
    return head.label if head else product


def build_name(facts: Snapshot, element: Element) -> str:
    """Return the name of a build's product, or its own distribution where the product goes by another one today."""
    head = facts.products[element.product]
    renamed = element.distribution and element.distribution != head.distribution
    return element.distribution if renamed and element.distribution else head.label


def build(facts: Snapshot, element: Element) -> str:
    """Return a build as people know it: by its product, or by the name under which it alone is installed."""
    return f"{build_name(facts, element)} {element.version}"


def value(facts: Snapshot, dimension: str, version: str) -> str:
    """Return a value of a dimension as people write it: Windows 11, Intel GPU; the version where it has no other name."""
    known = release(facts, dimension, version)
    return (known.name if known else None) or version


def term(facts: Snapshot, text: str) -> str:
    """Return a term without its operator where it names one version: ipex==2.8.10+xpu is IPEX 2.8.10+xpu."""
    product, equal, version = text.replace("===", "==").partition("==")
    if not equal or "," in version:
        return label(facts, text)
    listed = product in facts.products and facts.products[product].scheme == "listed"
    return value(facts, product, version) if listed else f"{label(facts, product)} {version}"


def pin_words(facts: Snapshot, pin: Pin) -> str:
    """Return what a request fixed, in the user's words: torch 2.4, Python 3.12, Windows 11, B580."""
    head = facts.products[pin.product]
    text = pin.text.removeprefix(pin.product).lstrip("= ")
    if head.role == "feature":
        return facts.features[pin.product][0]
    if head.role != "dimension":
        return f"{head.label} {text}".strip()
    names = [e.version for e in facts.elements(pin.product).of(pin.mask)] if pin.mask and not pin.extra else []
    if pin.product == HARDWARE and len(names) == 1 and word_key(text) not in (word_key(names[0]), pin.product):
        return text
    if head.scheme == "listed" and names and facts.word(pin.product, text) == pin.mask:
        return value(facts, pin.product, _widest(facts, pin.product, names, text))
    return text if head.scheme == "listed" else f"{head.label} {text}"


def _widest(facts: Snapshot, dimension: str, names: Sequence[str], text: str) -> str:
    """Return which of the values that a word stands for is named by it: the family where it names one."""
    known = facts.names(dimension)
    wanted = known.get(word_key(text), text)
    for name in names:
        known_as = release(facts, dimension, name)
        spellings = {name, *((known_as.name, *known_as.aliases) if known_as else ())} - {None}
        if {word_key(text), word_key(wanted)} & {word_key(spelling) for spelling in spellings if spelling}:
            return name
    return names[0]


def asked(facts: Snapshot, request: Request) -> str:
    """Return a request in words: the packages, the features that they must have, and where they are to run."""
    needs = [pin_words(facts, pin) for pin in request.pins if pin.need]
    using = f"using {listed(needs)}" if needs else ""
    return " ".join(part for part in (_packages(facts, request), using, place(facts, request)) if part)


def place(facts: Snapshot, request: Request, device: str | None = None) -> str:
    """Return where a request is to run: on Arc B580, Windows 11, Python 3.12; empty where it leaves that open."""
    pins = [pin for pin in request.pins if facts.products[pin.product].role == "dimension"]
    words = [pin_words(facts, pin) for pin in sorted(pins, key=lambda pin: _PLACES.get(pin.product, len(_PLACES)))]
    only = device or (request.devices[0] if len(request.devices) == 1 else None)
    if only and not any(pin.product == HARDWARE for pin in pins):
        words = [value(facts, "device", only), *words]
    route = next((route.name for route in facts.routes if route.id == request.route), None)
    return (f"on {', '.join(words)}" if words else "") + (f" through {route}" if route else "")


_PLACES = {HARDWARE: 0, SYSTEM: 1, PYTHON: 2}
"""The order in which a place is told; what is not here follows."""


def _packages(facts: Snapshot, request: Request) -> str:
    pins = [pin for pin in request.pins if not pin.need and facts.products[pin.product].role != "dimension"]
    order = {product: place for place, product in enumerate(facts.products)}
    words = {pin.product: pin_words(facts, pin) for pin in pins} | {name: label(facts, name) for name in request.bare}
    names = [words[product] for product in sorted(words, key=order.__getitem__)]
    return joined_with(names) or label(facts, facts.routes[0].provider)


def main_packages(facts: Snapshot, stack: Stack, request: Request | None = None) -> list[Element]:
    """Return the packages that a stack is about: what the search needed, and what else was asked for."""
    named = {pin.product for pin in request.pins} | set(request.bare) if request else set()
    roles = facts.products
    requested = [e for e in stack.packages if e.product in stack.requested]
    return [e for e in requested if roles[e.product].role == "package" or e.product in named] or list(stack.packages[:1])


def stack_name(facts: Snapshot, stack: Stack, request: Request | None = None) -> str:
    """Return a stack by its main packages: torch 2.8.0 with IPEX 2.8.0."""
    return joined_with([build(facts, element) for element in main_packages(facts, stack, request)])


def platforms(facts: Snapshot, stacks: Iterable[Stack]) -> str:
    """Return where stacks hold together: Linux and Windows, Python 3.10–3.13; of many systems the first ones."""
    cells: dict[tuple[str, str], set[str]] = {}
    usual = facts.products[ARCH].default
    for stack in stacks:
        for system in stack.os:
            for arch in stack.arch:
                cells.setdefault((system, arch), set()).update(stack.python)
    merged: dict[tuple[str, ...], list[str]] = {}
    for (system, arch), pythons in cells.items():
        name = value(facts, SYSTEM, system) + (f" ({arch})" if arch != usual else "")
        merged.setdefault(tuple(sorted(pythons)), []).append(name)
    few = {pythons: [*names[:3], "others"] if len(names) > 6 else names for pythons, names in merged.items()}
    return "; ".join(f"{listed(names)}, Python {ranges(pythons, facts.grid[PYTHON])}" for pythons, names in few.items())


def platform_cells(facts: Snapshot, stack: Stack, dimensions: Sequence[str] = (PYTHON, SYSTEM, ARCH)) -> PlatformSet:
    """Return the platforms where a stack holds, as far as these dimensions tell them."""
    cells = -1
    for dimension in dimensions:
        mask = sum(1 << facts.grid[dimension].index(name) for name in getattr(stack, dimension))
        cells &= facts.dimension_cells(dimension, mask)
    return cells


def ranges(values: Iterable[str], order: tuple[str, ...]) -> str:
    """Return values with neighbours folded into ranges: 3.8–3.11, 3.13."""
    wanted = set(values)
    parts = []
    for is_wanted, run in groupby((each for each in order if not is_free_threaded(each)), wanted.__contains__):
        first, *rest = run
        if is_wanted:
            parts.append(f"{first}–{rest[-1]}" if rest else first)
    return ", ".join([*parts, *(each for each in order if each in wanted and is_free_threaded(each))])


def joined_with(names: Sequence[str]) -> str:
    """Return names as parts of one stack: torch 2.8.0 with IPEX 2.8.0 and torchvision 0.23.0."""
    return f"{names[0]} with {listed(names[1:])}" if len(names) > 1 else "".join(names)


def listed(names: Sequence[str], last: str = "and") -> str:
    """Return names as a sentence lists them: a, b and c."""
    return f"{', '.join(names[:-1])} {last} {names[-1]}" if len(names) > 1 else "".join(names)


def shortened(values: Iterable[str]) -> str:
    """Return values without repetition, the middle of many left out."""
    names = list(dict.fromkeys(values))
    if len(names) > _MANY:
        names = [*names[:3], "...", *names[-2:]]
    return ", ".join(names)


def series_of(facts: Snapshot, product: str, version: str) -> str:
    """Return the series of a release; versions that are only listed are each their own."""
    head = facts.products[product]
    return ".".join(version.partition("+")[0].split(".")[: head.series or 2]) if head.scheme == "pep440" else version
