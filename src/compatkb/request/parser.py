"""Parses options and words into a request: pins, products, devices, a route and days."""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import date

from compatkb.core.clock import Clock
from compatkb.core.names import close, normal, word_key
from compatkb.core.vocabulary import Kind, Role
from compatkb.errors import NewerError, UsageError, WordsError
from compatkb.request.lookup import (
    OPERATORS,
    Meaning,
    find_feature,
    find_matching,
    find_product,
    find_versions,
    follows_the_last,
    is_newer,
    machine_version,
    meanings,
    newer_than_known,
    newer_version,
    newest_known,
    normal_version,
    plain_version,
)
from compatkb.request.words import is_newest, read_words, with_architectures
from compatkb.store.reader import Snapshot
from compatkb.store.records import Pin, Product, Request
from compatkb.store.suggestions import Suggestions, listing, numbers, suggest

_LONGEST_SPAN = 36_500
_LONGEST = 1000  # more than any list of clauses needs, and less than what numbers may have as digits
_PIN = r"\s*([A-Za-z0-9][A-Za-z0-9._-]*?)\s*(?:\[([^\]]*)\]\s*)?((?:===|==|!=|>=|<=|~=|<|>).*)?"  # compiled where it is needed


def make_request(
    facts: Snapshot,
    options: Iterable[tuple[str, str]] = (),
    words: Sequence[str] = (),
    devices: Sequence[str] = (),
    clock: Clock | None = None,
    needs: Sequence[str] = (),
    route: str | None = None,
) -> Request:
    """Return the request for version words by product id (`options`), words as people type them, needed features.

    Words are products, pins (PRODUCT==V) and where it runs (`B580`, `Ubuntu 24.04`, `py3.12`, `xpu`), in any case. `route` is
    the id of the only way to reach a device that will do; without a clock it is asked on the day of the data.

    Raises UsageError naming every word that is wrong and what would be right.
    """
    knowledge = date.fromisoformat(facts.meta["data_date"])
    asked_about = clock.as_of if clock else None
    lists_until = (clock or Clock(knowledge)).lists_until
    for text in (*words, *devices, *needs, *(text for _, text in options)):
        if len(text) > _LONGEST:
            raise UsageError(f"{text[:40]!r}... has {len(text):,} characters; a word has at most {_LONGEST}")
    problems: list[str] = []
    pins: dict[str, Pin] = {}
    bare: list[str] = []
    asked = list(devices)
    places, words = read_words(facts, words)
    for name, text in with_architectures(facts, (*options, *places)):
        with _noting(problems):
            if name == "device":
                asked.append(text)
            elif is_newest(text) and name in facts.products:
                bare.append(name)
            else:
                _add(pins, _option(facts, name, text, lists_until))
    for word in words:
        with _noting(problems):
            feature = None if facts.product(word) else meanings(facts).get(word_key(word), Meaning()).feature
            product, spec = (facts.products[feature], "") if feature else _split(facts, word)
            if product.role == Role.FEATURE:
                _add(pins, _need(facts, word))
            elif product.id == "device":
                asked.append(spec.lstrip("= "))
            elif spec:
                _add(pins, _strict(facts, product, spec, lists_until))
            else:
                bare.append(product.id)
    for name in needs:
        with _noting(problems):
            _add(pins, _need(facts, name))
    _settle_architecture(facts, pins)
    pinned = tuple(sorted(pins.values(), key=lambda pin: facts.ranks[pin.product]))
    uncovered: list[str] = []
    served = _devices(facts, asked, pins, tuple(set(bare).difference(pins)), problems, uncovered)
    meant = {_imported_on(facts, name, served) for name in bare}.difference(pins)
    free = tuple(sorted(meant, key=facts.ranks.__getitem__))
    if route is not None:
        with _noting(problems):
            _check_route(facts, route, {*pins, *free})
    problems = list(dict.fromkeys(uncovered or problems))  # where there are no answers at all, words matter no more
    if problems:
        raise WordsError(tuple(problems)) if len(problems) > 1 else UsageError(problems[0])
    as_of = (asked_about or knowledge).toordinal()
    today = clock.day.toordinal() if clock else as_of
    extras = _extras(facts, words)
    return Request(pinned, free, served, as_of, today, lists_until, route, extras, names_devices=bool(asked))


@contextmanager
def _noting(problems: list[str]) -> Iterator[None]:
    """Note a wrong word, so that the words after it are looked at, too."""
    try:
        yield
    except NewerError:
        raise
    except UsageError as error:
        problems.append(str(error))


def _split(facts: Snapshot, word: str) -> tuple[Product, str]:
    """Return the product and the specifier of a word, the latter empty where there is none; extras change no version."""
    match = re.fullmatch(_PIN, word)
    if not match and word.strip() and OPERATORS.isdisjoint(word):
        return find_product(facts, word), ""
    if not match:
        conda = re.fullmatch(r"([\w.-]+)=([\w.+*]+)", word)
        meant = suggest([f"{conda[1]}=={conda[2]}"] if conda else [])
        raise UsageError(f"{word!r} is not PRODUCT or PRODUCT==VERSION, such as torch==2.8.0{meant}")
    return find_product(facts, match[1]), re.sub(r"(?<=[<>=~!,])\s++|(?<!\s)\s++(?=,|$)", "", match[3] or "")


def _extras(facts: Snapshot, words: Iterable[str]) -> frozenset[tuple[str, str]]:
    """Return the extras that words ask for, `optimum-intel[ipex]`, each with its product."""
    matches = (re.fullmatch(_PIN, word) for word in words)
    return frozenset(
        (product.id, normal(extra.strip()))
        for match in matches
        if match and match[2] and (product := facts.product(match[1]))
        for extra in match[2].split(",")
    )


def _add(pins: dict[str, Pin], pin: Pin) -> None:
    pins[pin.product] = _both(pins[pin.product], pin) if pin.product in pins else pin


def _settle_architecture(facts: Snapshot, pins: dict[str, Pin]) -> None:
    """Call the architecture as the systems that are pinned call it; a Mac has the one of its maker where none is named."""
    system, named = pins.get("os"), pins.get("arch")
    families = {facts.family(name) for n, name in enumerate(facts.grid["os"]) if system and system.mask >> n & 1}
    if len(families) != 1 or "arch" not in facts.products:
        return
    grid = facts.grid["arch"]
    asked = [name for n, name in enumerate(grid) if named and named.mask >> n & 1]
    meant = facts.arch_on(asked, families.pop())
    if meant and list(meant) != asked:
        pins["arch"] = Pin("arch", " or ".join(meant), sum(1 << grid.index(name) for name in meant))


def _need(facts: Snapshot, name: str) -> Pin:
    feature = find_feature(facts, name)
    return Pin(feature, feature, (1 << len(facts.elements(feature))) - 1, need=True)


def parse_day(text: str) -> date:
    """Return a date written as YYYY-MM-DD; raises UsageError."""
    try:
        if not re.fullmatch(r"\d{4}-\d{2}-\d{2}", text):
            raise ValueError
        return date.fromisoformat(text)
    except ValueError:
        raise UsageError(f"{text!r} is not a date; write it as YYYY-MM-DD, such as 2026-11-21") from None


def parse_days(text: str) -> int:
    """Return a span such as 90d, 12w or 1y in days; raises UsageError."""
    match = re.fullmatch(r"(\d{1,5})([dwmy]?)", text.strip())
    span = int(match[1]) * {"": 1, "d": 1, "w": 7, "m": 30, "y": 365}[match[2]] if match else _LONGEST_SPAN + 1
    if span > _LONGEST_SPAN:
        raise UsageError(f"{text!r} is not a span of at most a hundred years; write it as 90d, 12w, 6m or 1y")
    return span


def _option(facts: Snapshot, name: str, text: str, lists_until: int) -> Pin:
    product = facts.products.get(name)
    if product is None:
        raise UsageError(f"unknown product {name!r}")
    if not text.strip():
        raise UsageError(f"{product.id} needs a version, such as {facts.elements(product.id)[-1].release}")
    text = plain_version(text) if product.scheme == "minor" else text
    mask = find_versions(facts, product, text)
    if mask:
        return Pin(product.id, text, mask, exact=OPERATORS.isdisjoint(text), patch=_patch(product, text))
    if not OPERATORS.isdisjoint(text) and (pin := _newer_range(facts, product, text, text)):
        return pin
    return _unlisted(facts, product, plain_version(text).removeprefix("=="), text, lists_until, strict=False)


def _strict(facts: Snapshot, product: Product, spec: str, lists_until: int) -> Pin:
    text = product.id + spec
    exact = re.fullmatch(r"={2,3}\s*([^,*\s]+)", spec)
    if exact and product.scheme == "pep440":
        if normal_version(product, exact[1]) is None:
            raise UsageError(f"{exact[1]!r} is not a version as PEP 440 has them; see `compatkb show {product.id}`")
        mask = find_matching(facts, product, spec)
        if mask:
            return Pin(product.id, text, mask, strict=True)
        return _unlisted(facts, product, exact[1], text, lists_until, strict=True)
    if exact:
        mask = find_versions(facts, product, exact[1])
        patch = _patch(product, exact[1])
        if mask:
            return Pin(product.id, text, mask, patch=patch)
        return _unlisted(facts, product, exact[1], text, lists_until, strict=False)
    mask = find_matching(facts, product, spec)
    if not mask and (pin := _newer_range(facts, product, spec, text)):
        return pin
    if not mask:
        raise UsageError(f"{product.id}{spec}: no known version fits{Suggestions(facts).nearest(product, spec)}")
    return Pin(product.id, text, mask, strict=True, exact=False)


def _patch(product: Product, text: str) -> str | None:
    """Return the patch of Python that a word names: 3.14.1 of `==3.14.1`; None for a minor and for a range."""
    named = re.fullmatch(r"={0,3}\s*(\d+)\.(\d+)\.(\d+)t?", plain_version(text)) if product.scheme == "minor" else None
    return ".".join(str(int(number)) for number in named.groups()) if named else None


def _newer_range(facts: Snapshot, product: Product, spec: str, text: str) -> Pin | None:
    """Return the pin for a range that admits only what is newer than the data; None for any other one."""
    bound = newer_than_known(facts, product, spec)
    if bound is None:
        return None
    pin = _newer(facts, product, bound, text, strict=True)
    return pin._replace(exact=False)


def _newer(facts: Snapshot, product: Product, version: str, text: str, *, strict: bool) -> Pin:
    """Return the pin for a version that is newer than the data; raises NewerError for a place to run, where none can be."""
    if product.platform:
        raise newer_version(facts, product, version)
    newest = newest_known(facts, product.id)
    near = sum(1 << element.idx for element in facts.elements(product.id) if element.release == newest)
    return Pin(product.id, text, 0, strict=strict, near=near, beyond=version)


_GROUPS = 3
"""Leading groups of a number that tell whose it is."""


def _numbered_alike(facts: Snapshot, product: Product, version: str) -> Product | None:
    """Return the one other part of a machine whose versions begin like this one: the Windows driver for 32.0.101.6559."""
    groups = version.split(".")
    if len(groups) <= _GROUPS:
        return None
    alike = [
        other
        for other in facts.products.values()
        if other.machine and other is not product
        and any(e.release.split(".")[:_GROUPS] == groups[:_GROUPS] for e in facts.elements(other.id))
    ]  # fmt: skip
    return alike[0] if len(alike) == 1 else None


def _unlisted(facts: Snapshot, product: Product, version: str, text: str, lists_until: int, *, strict: bool) -> Pin:
    """Return the pin for a version that the data do not list, where such a pin can be answered at all."""
    from compatkb.core.versions import Scheme, admits, parse

    scheme = Scheme(product.scheme)
    version = machine_version(version) if product.machine else version
    try:
        if scheme is Scheme.LISTED:
            raise ValueError
        parse(scheme, version)
    except ValueError:
        raise Suggestions(facts).unknown_version(product, version) from None
    if product.role == Role.DIMENSION and not product.machine and (other := _numbered_alike(facts, product, version)):
        mask = facts.word(other.id, version)
        said = f"{other.id}=={version}"
        return Pin(other.id, said, mask or 1 << len(facts.elements(other.id)), strict=strict, extra="" if mask else version)
    if product.machine:
        return Pin(product.id, text, 1 << len(facts.elements(product.id)), strict=strict, extra=version)
    if product.role == Role.LEAF:
        beyond = version if is_newer(facts, product, version) else ""
        return Pin(product.id, text, 1 << len(facts.elements(product.id)), strict=strict, extra=version, beyond=beyond)
    if "+" in version:  # the release is known: that build of it was never published
        public = normal_version(product, version.partition("+")[0]) or ""
        released = find_matching(facts, product, f"=={public}") or facts.word(product.id, public)
        released = released or facts.word(product.id, re.sub(r"\.?(post|dev|rc|a|b).*", "", public))
        if released:
            known = {e.version.partition("+")[2] for e in facts.elements(product.id)}
            beyond = version if version.partition("+")[2] not in known else ""  # builds of that kind are not covered at all
            return Pin(product.id, text, 0, strict=strict, near=released, beyond=beyond)
    if is_newer(facts, product, version):
        return _newer(facts, product, version, text, strict=strict)
    if follows_the_last(facts, product, version):
        return Pin(product.id, text, 0, strict=strict, near=1 << len(facts.elements(product.id)) - 1)
    scopes = facts.scopes_of(product.id)
    covered = any(scope.until >= lists_until and admits(scheme, scope.spec, version) for scope in scopes)
    if scopes and not covered:
        older = [e.idx for e in facts.elements(product.id) if numbers(e.release) < numbers(version)]
        return Pin(product.id, text, 0, strict=strict, near=1 << max(older, default=0), beyond=version)
    raise Suggestions(facts).unknown_version(product, version)


def _both(one: Pin, other: Pin) -> Pin:
    if (one.need and other.need) or one == other:
        return one
    mask = one.mask & other.mask
    named = {version for pin in (one, other) if (version := pin.patch or pin.extra)}
    patch = one.patch or other.patch
    if not mask or len(named) > 1 or (patch and not all(_leaves(pin, patch) for pin in (one, other))):
        raise UsageError(f"{one.product} is pinned twice, and nothing fits both {one.text!r} and {other.text!r}")
    text, strict, exact = f"{one.text} {other.text}", one.strict or other.strict, one.exact or other.exact
    return Pin(one.product, text, mask, strict, exact, one.extra or other.extra, patch=patch)


def _leaves(pin: Pin, patch: str) -> bool:
    """Return whether what pins Python leaves a patch of it; its minor is left."""
    if pin.exact:
        return True
    from compatkb.core.versions import admits_python

    try:
        return admits_python(pin.text.replace(pin.product, ","), patch)  # of several ranges each is named anew
    except ValueError:
        return True


def _devices(
    facts: Snapshot, asked: Sequence[str], pins: dict[str, Pin], free: Sequence[str], problems: list[str], uncovered: list[str]
) -> tuple[str, ...]:
    """Return the devices that are asked for, or else all that the pins leave.

    Unknown ones are noted as problems, why there are no answers for one as `uncovered`.
    """
    every = facts.served_devices()
    bare = [name for name in free if facts.products[name].role is Role.DIMENSION]
    whole = [*pins.values(), *(Pin(name, name, (1 << len(facts.elements(name))) - 1) for name in bare)]
    for pin in whole:
        if facts.products[pin.product].role is Role.DIMENSION and not any(_serves(facts, pin, device) for device in every):
            only = facts.elements(pin.product).of(pin.mask)[0].devices
            uncovered += [Suggestions(facts).not_covered(device, pins.values()) for device in sorted(only)]
    if not asked:
        fixed = [pin for pin in whole if facts.products[pin.product].role is Role.DIMENSION]
        fitting = [d for d in every if all(_serves(facts, pin, d) for pin in whole)]
        fitting = fitting or [d for d in every if all(_serves(facts, pin, d) for pin in fixed)]
        if len(fitting) > 1 and (hardware := pins.get("hardware")) and _is_brought_by(facts, hardware, fitting[0]):
            fitting = fitting[:1]
        return facts.unasked_devices(fitting.__contains__)
    devices: list[str] = []
    names = [e.version for e in facts.elements("device")]
    for text in asked:
        mask = find_versions(facts, facts.products["device"], text)
        meant = [name for n, name in enumerate(names) if mask >> n & 1]
        if not meant:
            problems.append(f"unknown device {text!r}{suggest(close(text, every)) or listing(every)}")
        others = [name for name in meant if name not in every]
        uncovered += [Suggestions(facts).not_covered(name, pins.values()) for name in others]
        devices += meant
    return tuple(dict.fromkeys(devices))


def _imported_on(facts: Snapshot, name: str, devices: tuple[str, ...]) -> str:
    """Return the product that a bare name means on some devices: of two that are imported alike the one that is for them.

    `triton` is what torch brings along there, triton-xpu on Intel GPUs.
    """
    own = facts.products[name]
    alike = (each for each in facts.products.values() if each.automatic and each.import_name == own.import_name is not None)
    return next((o.id for o in alike if {e.devices for e in facts.elements(o.id)} == {frozenset(devices)}), name)


def _check_route(facts: Snapshot, name: str, asked: set[str]) -> None:
    """Raise UsageError where there is no such route, or where it leaves out what was asked for."""
    known = {route.id: route for route in facts.routes}
    if name not in known:
        raise UsageError(f"unknown route {name!r}{listing(known)}")
    if apart := sorted(asked.intersection(known[name].without)):
        raise UsageError(f"the route {name} goes without {' and '.join(apart)}\n  leave out one of the two")


def _is_brought_by(facts: Snapshot, hardware: Pin, device: str) -> bool:
    """Return whether builds for a device are known to run on all the hardware that is pinned: it means that device then."""
    left = hardware.mask
    for provider in dict.fromkeys(route.provider for route in facts.routes if device in route.devices):
        builds = sum(1 << element.idx for element in facts.elements(provider) if device in element.devices)
        for edge in facts.edges(provider, "hardware"):
            if edge.kind == Kind.VERIFIED and not edge.open and edge.of_mask & builds and not edge.of_mask & ~builds:
                left &= ~edge.to_mask
    return not left


def _serves(facts: Snapshot, pin: Pin, device: str) -> bool:
    """Return whether something that a pin admits is for a device, or for no device in particular.

    A version that the data do not list is for the device of its label.
    """
    elements = facts.elements(pin.product)
    label = pin.text.partition("+")[2]
    chosen = elements.of(pin.mask) or [e for e in elements if label and e.version.endswith(f"+{label}")]
    return not chosen or any(not e.devices or device in e.devices for e in chosen)
