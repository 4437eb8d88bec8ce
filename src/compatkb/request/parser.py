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
    options = tuple(options)
    for text in (*words, *devices, *needs, *(text for _, text in options)):
        if len(text) > _LONGEST:
            raise UsageError(f"{text[:40]!r}... has {len(text):,} characters; a word has at most {_LONGEST}")
    reader = _WordReader(facts, lists_until)
    problems: list[str] = []
    pins: dict[str, Pin] = {}
    bare: list[str] = []
    asked = list(devices)
    places, words = read_words(facts, words, asked=bool(options or devices or needs))
    for name, text in with_architectures(facts, (*options, *places)):
        with _noting(problems):
            if name == "device":
                asked.append(text)
            elif is_newest(text) and name in facts.products:
                bare.append(name)
            else:
                _add(pins, reader.option(name, text))
    for word in words:
        with _noting(problems):
            feature = None if facts.product(word) else meanings(facts).get(word_key(word), Meaning()).feature
            product, spec = (facts.products[feature], "") if feature else reader.split(word)
            if product.role == Role.FEATURE:
                _add(pins, reader.need(word))
            elif product.id == "device":
                asked.append(spec.lstrip("= "))
            elif spec:
                _add(pins, reader.strict(product, spec))
            else:
                bare.append(product.id)
    for name in needs:
        with _noting(problems):
            _add(pins, reader.need(name))
    reader.settle_architecture(pins)
    pinned = tuple(sorted(pins.values(), key=lambda pin: facts.ranks[pin.product]))
    uncovered: list[str] = []
    served = reader.devices(asked, pins, tuple(set(bare).difference(pins)), problems, uncovered)
    meant = {reader.imported_on(name, served) for name in bare}.difference(pins)
    free = tuple(sorted(meant, key=facts.ranks.__getitem__))
    if route is not None:
        with _noting(problems):
            reader.check_route(route, {*pins, *free})
    problems = list(dict.fromkeys(uncovered or problems))  # where there are no answers at all, words matter no more
    if problems:
        raise WordsError(tuple(problems)) if len(problems) > 1 else UsageError(problems[0])
    as_of = (asked_about or knowledge).toordinal()
    today = clock.day.toordinal() if clock else as_of
    extras = reader.extras(words)
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


class _WordReader:
    """Reads words as the data know them; every method raises UsageError for what they do not."""

    def __init__(self, facts: Snapshot, lists_until: int) -> None:
        self.facts, self.lists_until = facts, lists_until

    def split(self, word: str) -> tuple[Product, str]:
        """Return the product and the specifier of a word, the latter empty where there is none; extras change no version."""
        match = re.fullmatch(_PIN, word)
        if not match and word.strip() and OPERATORS.isdisjoint(word):
            return find_product(self.facts, word), ""
        if not match:
            conda = re.fullmatch(r"([\w.-]+)=([\w.+*]+)", word)
            meant = suggest([f"{conda[1]}=={conda[2]}"] if conda else [])
            raise UsageError(f"{word!r} is not PRODUCT or PRODUCT==VERSION, such as torch==2.8.0{meant}")
        return find_product(self.facts, match[1]), re.sub(r"(?<=[<>=~!,])\s++|(?<!\s)\s++(?=,|$)", "", match[3] or "")

    def extras(self, words: Iterable[str]) -> frozenset[tuple[str, str]]:
        """Return the extras that words ask for, `optimum-intel[ipex]`, each with its product."""
        matches = (re.fullmatch(_PIN, word) for word in words)
        return frozenset(
            (product.id, normal(extra.strip()))
            for match in matches
            if match and match[2] and (product := self.facts.product(match[1]))
            for extra in match[2].split(",")
        )

    def settle_architecture(self, pins: dict[str, Pin]) -> None:
        """Call the architecture as the systems that are pinned call it; a Mac has the one of its maker where none is named."""
        system, named = pins.get("os"), pins.get("arch")
        families = {self.facts.family(name) for n, name in enumerate(self.facts.grid["os"]) if system and system.mask >> n & 1}
        if len(families) != 1 or "arch" not in self.facts.products:
            return
        grid = self.facts.grid["arch"]
        asked = [name for n, name in enumerate(grid) if named and named.mask >> n & 1]
        meant = self.facts.arch_on(asked, families.pop())
        if meant and list(meant) != asked:
            pins["arch"] = Pin("arch", " or ".join(meant), sum(1 << grid.index(name) for name in meant), exact=bool(asked))

    def need(self, name: str) -> Pin:
        feature = find_feature(self.facts, name)
        return Pin(feature, feature, (1 << len(self.facts.elements(feature))) - 1, need=True)

    def option(self, name: str, text: str) -> Pin:
        product = self.facts.products.get(name)
        if product is None:
            raise UsageError(f"{name!r} is not a product")
        if not text.strip():
            raise UsageError(f"{product.id} needs a version, such as {self.facts.elements(product.id)[-1].release}")
        text = plain_version(text) if product.scheme == "minor" else text
        mask = find_versions(self.facts, product, text)
        if mask:
            return Pin(product.id, text, mask, exact=OPERATORS.isdisjoint(text), patch=_patch(product, text))
        if not OPERATORS.isdisjoint(text) and (pin := self._newer_range(product, text, text)):
            return pin
        return self._unlisted(product, plain_version(text).removeprefix("=="), text, strict=False)

    def strict(self, product: Product, spec: str) -> Pin:
        text = product.id + spec
        exact = re.fullmatch(r"={2,3}\s*([^,*\s]+)", spec)
        if exact and product.scheme == "pep440":
            if normal_version(product, exact[1]) is None:
                raise UsageError(f"{exact[1]!r} is not a version as PEP 440 has them; see `compatkb show {product.id}`")
            mask = find_matching(self.facts, product, spec)
            if not mask and "+" in exact[1]:  # as another index of its maker labels it
                mask = self.facts.word(product.id, normal_version(product, exact[1]) or "") or 0
            if mask:
                return Pin(product.id, text, mask, strict=True)
            return self._unlisted(product, exact[1], text, strict=True)
        if exact:
            mask = find_versions(self.facts, product, exact[1])
            patch = _patch(product, exact[1])
            if mask:
                return Pin(product.id, text, mask, patch=patch)
            return self._unlisted(product, exact[1], text, strict=False)
        mask = find_matching(self.facts, product, spec)
        if not mask and (pin := self._newer_range(product, spec, text)):
            return pin
        if not mask:
            raise UsageError(f"{product.id}{spec}: no known version fits{Suggestions(self.facts).nearest(product, spec)}")
        return Pin(product.id, text, mask, strict=True, exact=False)

    def _newer_range(self, product: Product, spec: str, text: str) -> Pin | None:
        """Return the pin for a range that admits only what is newer than the data; None for any other one."""
        bound = newer_than_known(self.facts, product, spec)
        if bound is None:
            return None
        pin = self._newer(product, bound, text, strict=True)
        return pin._replace(exact=False)

    def _newer(self, product: Product, version: str, text: str, *, strict: bool) -> Pin:
        """Return the pin for a version that is newer than the data; raises NewerError for a place to run that cannot be."""
        if product.platform:
            raise newer_version(self.facts, product, version)
        newest = newest_known(self.facts, product.id)
        near = sum(1 << element.idx for element in self.facts.elements(product.id) if element.release == newest)
        return Pin(product.id, text, 0, strict=strict, near=near, beyond=version)

    def _numbered_alike(self, product: Product, version: str) -> tuple[Product, str] | None:
        """Return the other part of a machine that numbers its versions like this one, and the whole number.

        A Windows driver is 32.0.101.6559, or 101.6559 for short; 23.43.27642 is a compute runtime.
        """
        groups = version.split(".")
        found: dict[str, str] = {}
        for other in self.facts.products.values():
            releases = [e.release.split(".") for e in self.facts.elements(other.id)] if other.machine == "runtime" else []
            short = [r for r in releases if len(r) == _WHOLE and r[_WHOLE - len(groups) : -1] == groups[:-1] and groups[1:]]
            if len(groups) > _BEGINNING and any(r[:_BEGINNING] == groups[:_BEGINNING] for r in releases):
                found[other.id] = version
            elif short and groups[-1].isdigit() and other is not product:
                near = min(short, key=lambda r: abs(int(r[-1]) - int(groups[-1])))
                found[other.id] = ".".join([*near[: -len(groups)], *groups])
        name = next(iter(found)) if len(found) == 1 else None
        return (self.facts.products[name], found[name]) if name else None

    def _unlisted(self, product: Product, version: str, text: str, *, strict: bool) -> Pin:
        """Return the pin for a version that the data do not list, where such a pin can be answered at all."""
        from compatkb.core.versions import Scheme, admits, parse

        scheme = Scheme(product.scheme)
        version = machine_version(version) if product.machine else version
        try:
            if scheme is Scheme.LISTED:
                raise ValueError
            parse(scheme, version)
        except ValueError:
            raise Suggestions(self.facts).unknown_version(product, version) from None
        if product.role == Role.DIMENSION and not product.machine and (alike := self._numbered_alike(product, version)):
            other, version = alike
            mask = self.facts.word(other.id, version)
            said = f"{other.id}=={version}"
            return Pin(
                other.id, said, mask or 1 << len(self.facts.elements(other.id)), strict=strict, extra="" if mask else version
            )
        if product.machine:
            return Pin(product.id, text, 1 << len(self.facts.elements(product.id)), strict=strict, extra=version)
        if product.role == Role.LEAF:
            beyond = version if is_newer(self.facts, product, version) else ""
            return Pin(
                product.id, text, 1 << len(self.facts.elements(product.id)), strict=strict, extra=version, beyond=beyond
            )
        if "+" in version:  # the release is known: that build of it was never published
            public = normal_version(product, version.partition("+")[0]) or ""
            released = find_matching(self.facts, product, f"=={public}") or self.facts.word(product.id, public)
            released = released or self.facts.word(product.id, re.sub(r"\.?(post|dev|rc|a|b).*", "", public))
            if released:
                known = {e.version.partition("+")[2] for e in self.facts.elements(product.id)}
                beyond = (
                    version if version.partition("+")[2] not in known else ""
                )  # builds of that kind are not covered at all
                return Pin(product.id, text, 0, strict=strict, near=released, beyond=beyond)
        base, rebuilt, _ = version.partition(".post")
        if rebuilt and product.role == Role.PACKAGE and (near := find_matching(self.facts, product, f"=={base}")):
            return Pin(product.id, text, 0, strict=strict, near=near, beyond=version)  # the data lack that build of a release
        if is_newer(self.facts, product, version):
            return self._newer(product, version, text, strict=strict)
        if follows_the_last(self.facts, product, version):
            return Pin(product.id, text, 0, strict=strict, near=1 << len(self.facts.elements(product.id)) - 1)
        scopes = self.facts.scopes_of(product.id)
        covered = any(scope.until >= self.lists_until and admits(scheme, scope.spec, version) for scope in scopes)
        if scopes and not covered:
            older = [e.idx for e in self.facts.elements(product.id) if numbers(e.release) < numbers(version)]
            return Pin(product.id, text, 0, strict=strict, near=1 << max(older, default=0), beyond=version)
        raise Suggestions(self.facts).unknown_version(product, version)

    def devices(
        self, asked: Sequence[str], pins: dict[str, Pin], free: Sequence[str], problems: list[str], uncovered: list[str]
    ) -> tuple[str, ...]:
        """Return the devices that are asked for, or else all that the pins leave.

        Unknown ones are noted as problems, why there are no answers for one as `uncovered`.
        """
        every = self.facts.served_devices()
        bare = [name for name in free if self.facts.products[name].role is Role.DIMENSION]
        whole = [*pins.values(), *(Pin(name, name, (1 << len(self.facts.elements(name))) - 1) for name in bare)]
        for pin in whole:
            if self.facts.products[pin.product].role is Role.DIMENSION and not any(
                self._serves(pin, device) for device in every
            ):
                only = self.facts.elements(pin.product).of(pin.mask)[0].devices
                said = pin.text.removeprefix(pin.product).lstrip("= ")
                uncovered += [Suggestions(self.facts).not_covered(device, said, pins.values()) for device in sorted(only)]
        if not asked:
            fixed = [pin for pin in whole if self.facts.products[pin.product].role is Role.DIMENSION]
            fitting = [d for d in every if all(self._serves(pin, d) for pin in whole)]
            fitting = fitting or [d for d in every if all(self._serves(pin, d) for pin in fixed)]
            if len(fitting) > 1 and (hardware := pins.get("hardware")) and self._is_brought_by(hardware, fitting[0]):
                fitting = fitting[:1]
            if any(self.facts.products[name].machine == "runtime" for name in pins):  # the driver of a GPU means its device
                fitting = [device for device in fitting if self.facts.needs_graphics(device)] or fitting
            return self.facts.unasked_devices(fitting.__contains__)
        devices: list[str] = []
        names = [e.version for e in self.facts.elements("device")]
        for text in asked:
            mask = find_versions(self.facts, self.facts.products["device"], text)
            meant = [name for n, name in enumerate(names) if mask >> n & 1]
            if not meant:
                problems.append(f"unknown device {text!r}{suggest(close(text, every)) or listing(every)}")
            others = [name for name in meant if name not in every]
            uncovered += [Suggestions(self.facts).not_covered(name, text, pins.values()) for name in others]
            devices += meant
        return tuple(dict.fromkeys(devices))

    def imported_on(self, name: str, devices: tuple[str, ...]) -> str:
        """Return the product that a bare name means on some devices: of two that are imported alike the one that is for them.

        `triton` is what torch brings along there, triton-xpu on Intel GPUs.
        """
        own = self.facts.products[name]
        alike = (
            each for each in self.facts.products.values() if each.automatic and each.import_name == own.import_name is not None
        )
        return next((o.id for o in alike if {e.devices for e in self.facts.elements(o.id)} == {frozenset(devices)}), name)

    def check_route(self, name: str, asked: set[str]) -> None:
        """Raise UsageError where there is no such route, or where it leaves out what was asked for."""
        known = {route.id: route for route in self.facts.routes}
        if name not in known:
            raise UsageError(f"unknown route {name!r}{listing(known)}")
        if apart := sorted(asked.intersection(known[name].without)):
            raise UsageError(f"the route {name} goes without {' and '.join(apart)}\n  leave out one of the two")

    def _is_brought_by(self, hardware: Pin, device: str) -> bool:
        """Return whether builds for a device are known to run on all the hardware that is pinned: it means that device."""
        left = hardware.mask
        for provider in dict.fromkeys(route.provider for route in self.facts.routes if device in route.devices):
            builds = sum(1 << element.idx for element in self.facts.elements(provider) if device in element.devices)
            for edge in self.facts.edges(provider, "hardware"):
                if edge.kind == Kind.VERIFIED and not edge.open and edge.of_mask & builds and not edge.of_mask & ~builds:
                    left &= ~edge.to_mask
        return not left

    def _serves(self, pin: Pin, device: str) -> bool:
        """Return whether something that a pin admits is for a device, or for no device in particular.

        A version that the data do not list is for the device of its label.
        """
        elements = self.facts.elements(pin.product)
        label = pin.text.partition("+")[2]
        chosen = elements.of(pin.mask) or [e for e in elements if label and e.version.endswith(f"+{label}")]
        chosen = chosen or elements.of(pin.near if pin.beyond and not label else 0)
        return not chosen or any(not e.devices or device in e.devices for e in chosen)


def _add(pins: dict[str, Pin], pin: Pin) -> None:
    pins[pin.product] = _both(pins[pin.product], pin) if pin.product in pins else pin


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


def _patch(product: Product, text: str) -> str | None:
    """Return the patch of Python that a word names: 3.14.1 of `==3.14.1`; None for a minor and for a range."""
    named = re.fullmatch(r"={0,3}\s*(\d+)\.(\d+)\.(\d+)t?", plain_version(text)) if product.scheme == "minor" else None
    return ".".join(str(int(number)) for number in named.groups()) if named else None


_BEGINNING = 2
"""Leading groups of a number that tell whose it is."""
_WHOLE = 4
"""Groups of the number of a Windows driver, of which people write the last two."""


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
