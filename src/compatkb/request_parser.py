"""What users type, parsed once into a request: version words, pins, products, devices, dates."""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import date

from compatkb.core.clock import Clock
from compatkb.core.names import close, spellings, word_key
from compatkb.core.vocabulary import Role
from compatkb.errors import UsageError, WordsError
from compatkb.store.reader import Snapshot
from compatkb.store.records import Pin, Product, Request
from compatkb.store.suggestions import listing, nearest, not_covered, noun, numbers, suggest, unknown_version

_PIN = r"\s*([A-Za-z0-9][A-Za-z0-9._-]*?)\s*(?:\[[^\]]*\]\s*)?((?:===|==|!=|>=|<=|~=|<|>).*)?"  # compiled where it is needed
_OPERATORS = frozenset("<>=!~")
_NUMBER = re.compile(r"v?\d+(\.\d+)*t?")
_PLACES = ("hardware", "os", "python", "device", "arch")  # the products whose versions may stand as words of their own
_SEE = "\n  see `compatkb {}`"
_LONGEST = 5
"""The most words that are read as one name."""


def make_request(
    facts: Snapshot,
    options: Iterable[tuple[str, str]] = (),
    words: Sequence[str] = (),
    devices: Sequence[str] = (),
    clock: Clock | None = None,
    needs: Sequence[str] = (),
    route: str | None = None,
) -> Request:
    """Return the request for version words by product id (`options`), PRODUCT or PRODUCT==V `words`, needed features.

    `route` is the id of the only way to reach a device that will do; without a clock it is asked on the day of the data.

    Raises UsageError naming every word that is wrong and what would be right.
    """
    knowledge = date.fromisoformat(facts.meta["data_date"])
    asked_about = clock.as_of if clock else None
    lists_until = (clock or Clock(knowledge)).lists_until
    problems: list[str] = []
    pins: dict[str, Pin] = {}
    bare: list[str] = []
    asked = list(devices)
    for name, text in _with_architectures(facts, options):
        with _noting(problems):
            if name == "device":
                asked.append(text)
            else:
                _add(pins, _option(facts, name, text, lists_until))
    for word in words:
        with _noting(problems):
            product, spec = _split(facts, word)
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
    pinned = tuple(sorted(pins.values(), key=lambda pin: facts.ranks[pin.product]))
    free = tuple(sorted((set(bare) - set(pins)), key=facts.ranks.__getitem__))
    served = _devices(facts, asked, pins, problems)
    if route is not None:
        with _noting(problems):
            _check_route(facts, route, {*pins, *free})
    if problems:
        raise WordsError(tuple(problems)) if len(problems) > 1 else UsageError(problems[0])
    as_of = (asked_about or knowledge).toordinal()
    today = clock.day.toordinal() if clock else as_of
    return Request(pinned, free, served, as_of, today, lists_until, route)


def read_words(facts: Snapshot, words: Sequence[str]) -> tuple[list[tuple[str, str]], list[str]]:
    """Return words as people type them as options and words of `make_request`: `B580 py3.12 torch` pins hardware and Python.

    A word that names neither a product nor one thing alone stays as it is, for `make_request` to refuse.
    """
    options: list[tuple[str, str]] = []
    found: list[str] = []
    left = list(words)
    while left:
        count, read = _read_place(facts, left)
        if found and _NUMBER.fullmatch(left[0]) and (product := facts.product(found[-1])):  # torch 2.8
            found.pop()
            read = [(product.id, left[0])]
        elif not read:
            found.append(left[0])
        options += read
        del left[:count]
    return options, found


def _read_place(facts: Snapshot, words: Sequence[str]) -> tuple[int, list[tuple[str, str]]]:
    """Return how many words name where something runs, and the options that say so; (1, []) where none do."""
    for count in range(min(len(words), _LONGEST), 0, -1):
        text = " ".join(words[:count])
        if not _OPERATORS.isdisjoint(text) or (_NUMBER.fullmatch(text) and _having(facts, text) != ["python"]):
            continue
        if count == 1 and (facts.product(text) or word_key(text) in {word_key(name) for name in facts.features}):
            continue
        if pair := _platform(facts, text):
            return count, pair
        if len(read := _readings(facts, text, joined=count > 1)) == 1:
            return count, [(read[0], text)]
    return 1, []


def _having(facts: Snapshot, version: str) -> list[str]:
    """Return the products that have a version, a patch of Python included."""
    return [
        name
        for name, product in facts.products.items()
        if facts.word(name, _plain(version)) or (product.scheme == "minor" and find_versions(facts, product, version))
    ]


def _readings(facts: Snapshot, text: str, *, joined: bool) -> list[str]:
    """Return the places that a text names a version of; words that were typed apart have to name it to the letter."""
    places = [facts.products[place] for place in _PLACES if place in facts.products]
    return [each.id for each in places if (facts.word(each.id, text) if joined else find_versions(facts, each, text))]


def _platform(facts: Snapshot, text: str) -> list[tuple[str, str]]:
    """Return operating system and architecture of such a word as linux-x86_64 or Linux-6.8.0-generic-x86_64, as options."""
    if "os" not in facts.products or "arch" not in facts.products:
        return []
    for separator in re.finditer(r"[-_ ]", text):
        system, arch = text[: separator.start()], text[separator.end() :]
        if facts.word("os", system) and facts.word("arch", arch):
            return [("os", system), ("arch", arch)]
    system, kernel, more = text.partition(next(iter(re.findall(r"-\d+\.\d+\.\d+", text)), "\n"))
    if not kernel or not facts.word("os", system):
        return []
    return [("os", system), *(("arch", part) for part in more.split("-") if facts.word("arch", part))]


def _with_architectures(facts: Snapshot, options: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Yield options, one for a platform as one for its system and one for its architecture."""
    for name, text in options:
        yield from (name == "os" and _platform(facts, text)) or [(name, text)]


@contextmanager
def _noting(problems: list[str]) -> Iterator[None]:
    """Note a wrong word, so that the words after it are looked at, too."""
    try:
        yield
    except UsageError as error:
        problems.append(str(error))


def _split(facts: Snapshot, word: str) -> tuple[Product, str]:
    """Return the product and the specifier of a word, the latter empty where there is none; extras change no version."""
    match = re.fullmatch(_PIN, word)
    if not match and word.strip() and _OPERATORS.isdisjoint(word):
        return find_product(facts, word), ""
    if not match:
        raise UsageError(f"{word!r} is not PRODUCT or PRODUCT==VERSION, such as torch==2.8.0")
    return find_product(facts, match[1]), re.sub(r"(?<=[<>=~!,])\s++|(?<!\s)\s++(?=,|$)", "", match[2] or "")


def _add(pins: dict[str, Pin], pin: Pin) -> None:
    pins[pin.product] = _both(pins[pin.product], pin) if pin.product in pins else pin


def find_product(facts: Snapshot, name: str) -> Product:
    """Return the product that a name means; raises UsageError with the closest names."""
    if product := facts.product(name):
        return product
    if re.match(r"v?\d", name):
        meant = [f"{each}=={name}" for each in _having(facts, name)[:3]]
        raise UsageError(f"{name!r} has no product name{suggest(meant or [f'torch=={name}'])}")
    if len(read := _readings(facts, name, joined=False)) > 1:
        raise UsageError(f"{name!r} may be several things{suggest([f'{place}=={name}' for place in read])}")
    from compatkb.store.queries.products import product_names

    names = sorted(name for several in product_names(facts).values() for name in several)
    near = close(name.lower(), [*facts.products, *names])
    for place in () if near else ("hardware", "os"):
        if place in facts.products and (near := close(word_key(name), facts.names(place), facts.names(place))):
            raise UsageError(f"unknown {noun(facts, place, near)} {name!r}{suggest(near)}")
    raise UsageError(f"unknown product {name!r}{suggest(near) or _SEE.format('list')}")


def find_feature(facts: Snapshot, name: str) -> str:
    """Return the id of the feature that a name means; raises UsageError with the closest names."""
    known = {word_key(word): feature for feature, words in facts.features.items() for word in words}
    known |= {word_key(feature): feature for feature in facts.features}
    if (found := known.get(word_key(name))) is not None:
        return found
    product = facts.product(name)
    if product is not None:
        hint = f"\n  {product.id} is a product: ask for it by its name alone"
    else:
        hint = suggest(close(word_key(name), known, known))
    raise UsageError(f"unknown feature {name!r}{hint or _SEE.format('features')}")


def _need(facts: Snapshot, name: str) -> Pin:
    feature = find_feature(facts, name)
    return Pin(feature, feature, (1 << len(facts.elements(feature))) - 1, need=True)


def find_versions(facts: Snapshot, product: Product, text: str) -> int:
    """Return the elements that a version word or specifier names, 0 for none; raises UsageError for unreadable text."""
    text = _plain(text)
    known = facts.word(product.id, text)
    if known is not None:
        return known
    if product.scheme == "minor" and (patch := re.fullmatch(r"={0,3}\s*(\d+\.\d+)\.\d+(t?)", text)):
        return facts.word(product.id, patch[1] + patch[2]) or 0  # as `python --version` says it
    if product.scheme == "listed":
        return next((mask for each in spellings(product.id, text) if (mask := facts.word(product.id, each))), 0)
    if not _OPERATORS.isdisjoint(text):
        return _matching(facts, product, text)
    normal = _normal(product, text)
    return (facts.word(product.id, normal) or 0) if normal else 0


def parse_day(text: str) -> date:
    """Return a date written as YYYY-MM-DD; raises UsageError."""
    try:
        if not re.fullmatch(r"\d{4}-\d{2}-\d{2}", text):
            raise ValueError
        return date.fromisoformat(text)
    except ValueError:
        raise UsageError(f"{text!r} is not a date; write it as YYYY-MM-DD, such as 2026-11-21") from None


def _plain(text: str) -> str:
    """Return a version without what people write before it: v2.8, py3.12, Python 3.12.4."""
    return re.sub(r"^(={0,3}\s*)(?:v|py|python)[ -]?(?=\d+\.\d)", r"\1", text.strip(), flags=re.IGNORECASE)


def _option(facts: Snapshot, name: str, text: str, lists_until: int) -> Pin:
    product = facts.products.get(name)
    if product is None:
        raise UsageError(f"the data know no product {name!r}")
    if not text.strip():
        raise UsageError(f"{product.id} needs a version, such as {facts.elements(product.id)[-1].release}")
    text = _plain(text) if product.scheme == "minor" else text
    mask = find_versions(facts, product, text)
    if mask:
        return Pin(product.id, text, mask, exact=_OPERATORS.isdisjoint(text), patch=_patch(product, text))
    return _unlisted(facts, product, _plain(text).removeprefix("=="), text, lists_until, strict=False)


def _strict(facts: Snapshot, product: Product, spec: str, lists_until: int) -> Pin:
    text = product.id + spec
    exact = re.fullmatch(r"={2,3}\s*([^,*\s]+)", spec)
    if exact and product.scheme == "pep440":
        if _normal(product, exact[1]) is None:
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
    if not mask:
        raise UsageError(f"{product.id}{spec}: no known version fits{nearest(facts, product, spec)}")
    return Pin(product.id, text, mask, strict=True, exact=False)


def find_matching(facts: Snapshot, product: Product, spec: str) -> int:
    """Return the elements that a specifier names, PEP 440 to the letter; raises UsageError for what is no specifier.

    Pre-releases are named as if they were installed. Products that are no packages have an order of their own.
    """
    if product.scheme != "pep440":
        return _matching(facts, product, spec)
    if (exact := re.fullmatch(r"==\s*v?(\d[^,*\s]*)", spec)) and (known := facts.word(product.id, exact[1], strict=True)):
        return known  # most pins; so much of PEP 440 needs no parser
    from compatkb.core.versions import matches

    try:
        return sum(1 << element.idx for element in facts.elements(product.id) if matches(spec, element.version))
    except ValueError as error:
        raise UsageError(f"{product.id}: {error}") from None


def _matching(facts: Snapshot, product: Product, spec: str) -> int:
    """Return the elements whose release a specifier names; needs the version parser, which plain words do without."""
    from compatkb.core.versions import Scheme, admits

    try:
        return sum(
            1 << element.idx
            for element in facts.elements(product.id)
            if admits(Scheme(product.scheme), spec, element.release, element.version)
        )
    except ValueError as error:
        if product.scheme == "minor" and (mask := _minors(facts, product, spec)) is not None:
            return mask
        raise UsageError(f"{product.id}: {error}") from None


def _minors(facts: Snapshot, product: Product, spec: str) -> int | None:
    """Return the minors of which a specifier over patches (>=3.10.4) admits some patch; None for what is no specifier."""
    from compatkb.core.versions import admits_python

    try:
        return sum(1 << element.idx for element in facts.elements(product.id) if admits_python(spec, element.version))
    except ValueError:
        return None


def _patch(product: Product, text: str) -> str | None:
    """Return the patch of Python that a word names: 3.14.1 of `==3.14.1`; None for a minor and for a range."""
    named = re.fullmatch(r"={0,3}\s*(\d+)\.(\d+)\.(\d+)t?", _plain(text)) if product.scheme == "minor" else None
    return ".".join(str(int(number)) for number in named.groups()) if named else None


def _normal(product: Product, text: str) -> str | None:
    if product.scheme != "pep440":
        return None
    from packaging.version import InvalidVersion, Version

    try:
        return str(Version(text))
    except InvalidVersion:
        return None


def _unlisted(facts: Snapshot, product: Product, version: str, text: str, lists_until: int, *, strict: bool) -> Pin:
    """Return the pin for a version that the data do not list, where such a pin can be answered at all."""
    from compatkb.core.versions import Scheme, admits, parse

    scheme = Scheme(product.scheme)
    try:
        if scheme is Scheme.LISTED:
            raise ValueError
        parse(scheme, version)
    except ValueError:
        raise unknown_version(facts, product, version) from None
    if product.role == Role.LEAF or product.open:
        return Pin(product.id, text, 1 << len(facts.elements(product.id)), strict=strict, extra=version)
    if "+" in version:  # the release is known: that build of it was never published
        public = _normal(product, version.partition("+")[0]) or ""
        released = find_matching(facts, product, f"=={public}") or facts.word(product.id, public)
        released = released or facts.word(product.id, re.sub(r"\.?(post|dev|rc|a|b).*", "", public))
        if released:
            known = {e.version.partition("+")[2] for e in facts.elements(product.id)}
            beyond = version.partition("+")[2] not in known  # builds of that kind are not covered at all
            return Pin(product.id, text, 0, strict=strict, near=released, beyond=beyond)
    scopes = [scope for scope in facts.scopes if scope.product == product.id]
    covered = any(scope.until >= lists_until and admits(scheme, scope.spec, version) for scope in scopes)
    if scopes and not covered:
        older = [e.idx for e in facts.elements(product.id) if numbers(e.release) < numbers(version)]
        return Pin(product.id, text, 0, strict=strict, near=1 << max(older, default=0), beyond=True)
    raise unknown_version(facts, product, version)


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


def _devices(facts: Snapshot, asked: Sequence[str], pins: dict[str, Pin], problems: list[str]) -> tuple[str, ...]:
    """Return the devices that are asked for, or else all that the pins leave; unknown ones are noted as problems."""
    every = tuple(dict.fromkeys(d for route in facts.routes for d in sorted(route.devices, reverse=True)))
    if not asked:
        left = [device for device in every if all(_serves(facts, pin, device) for pin in pins.values())]
        return tuple(left) or every
    found: list[str] = []
    names = [e.version for e in facts.elements("device")]
    for text in asked:
        mask = find_versions(facts, facts.products["device"], text)
        meant = [name for n, name in enumerate(names) if mask >> n & 1]
        if not meant:
            problems.append(f"unknown device {text!r}{suggest(close(text, every)) or listing(every)}")
        problems += [not_covered(facts, name) for name in meant if name not in every]
        found += meant
    return tuple(dict.fromkeys(found))


def _check_route(facts: Snapshot, name: str, asked: set[str]) -> None:
    """Raise UsageError where there is no such route, or where it leaves out what was asked for."""
    known = {route.id: route for route in facts.routes}
    if name not in known:
        raise UsageError(f"unknown route {name!r}{listing(known)}")
    if apart := sorted(asked.intersection(known[name].without)):
        raise UsageError(f"the route {name} goes without {' and '.join(apart)}\n  leave out one of the two")


def _serves(facts: Snapshot, pin: Pin, device: str) -> bool:
    """Return whether something that a pin admits is for a device, or for no device in particular."""
    chosen = facts.elements(pin.product).of(pin.mask)
    return not chosen or any(not e.devices or device in e.devices for e in chosen)
