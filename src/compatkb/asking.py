"""What users type, parsed once into a request: version words, pins, products, devices, dates."""

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import date

from compatkb.errors import UsageError
from compatkb.records import Pin, Product, Request
from compatkb.snapshot.read import Snapshot
from compatkb.words import word_key

_PIN = r"\s*([A-Za-z0-9][A-Za-z0-9._-]*?)\s*((?:===|==|!=|>=|<=|~=|<|>).*)?"  # compiled where it is needed
_OPERATORS = frozenset("<>=!~")


def make_request(
    facts: Snapshot,
    options: Iterable[tuple[str, str]] = (),
    words: Sequence[str] = (),
    devices: Sequence[str] = (),
    as_of: date | None = None,
    needs: Sequence[str] = (),
    route: str | None = None,
) -> Request:
    """Return the request for version words by product id (`options`), PRODUCT or PRODUCT==V `words`, needed features.

    `route` is the id of the only way to reach a device that will do.

    Raises UsageError naming the word that is wrong and what would be right.
    """
    day = (as_of or date.max).toordinal()
    pins: dict[str, Pin] = {}
    bare: list[str] = []
    asked = list(devices)
    found = [_option(facts, name, text, day) for name, text in options]
    for word in words:
        match = re.fullmatch(_PIN, word)
        if not match:
            raise UsageError(f"{word!r} is not PRODUCT or PRODUCT==VERSION, such as torch==2.8.0")
        product = find_product(facts, match[1])
        if product.role == "feature":
            found.append(_need(facts, word))
        elif product.id == "device":
            asked.append((match[2] or "").lstrip("= "))
        elif match[2]:
            found.append(_strict(facts, product, match[2].strip(), day))
        else:
            bare.append(product.id)
    found += [_need(facts, name) for name in needs]
    for pin in found:
        pins[pin.product] = _both(pins[pin.product], pin) if pin.product in pins else pin
    pinned = tuple(sorted(pins.values(), key=lambda pin: facts.ranks[pin.product]))
    free = tuple(sorted((set(bare) - set(pins)), key=facts.ranks.__getitem__))
    if route is not None:
        _check_route(facts, route, {*pins, *free})
    return Request(pinned, free, _devices(facts, asked, pins), day, route)


def find_product(facts: Snapshot, name: str) -> Product:
    """Return the product that a name means; raises UsageError with the closest names."""
    product = facts.product(name)
    if product is None:
        if re.match(r"v?\d", name):
            raise UsageError(f"{name!r} stands alone; write PRODUCT=={name}, such as torch=={name}")
        names = [name for (name,) in ((row["name"],) for row in facts.rows("select name from name"))]
        raise UsageError(f"unknown product {name!r}{_closest(name.lower(), [*facts.products, *names])}; see `compatkb list`")
    return product


def find_feature(facts: Snapshot, name: str) -> str:
    """Return the id of the feature that a name means; raises UsageError with the closest names."""
    known = {word_key(word): feature for feature, words in facts.features.items() for word in words}
    known |= {word_key(feature): feature for feature in facts.features}
    if (found := known.get(word_key(name))) is not None:
        return found
    product = facts.product(name)
    if product is not None:
        hint = f"; {product.id} is a product, so ask for it by its name alone"
    else:
        hint = _closest(word_key(name), known, known)
    raise UsageError(f"unknown feature {name!r}{hint}; see `compatkb features`")


def _need(facts: Snapshot, name: str) -> Pin:
    feature = find_feature(facts, name)
    return Pin(feature, feature, (1 << len(facts.elements(feature))) - 1, need=True)


def find_versions(facts: Snapshot, product: Product, text: str) -> int:
    """Return the elements that a version word or specifier names, 0 for none; raises UsageError for unreadable text."""
    known = facts.word(product.id, _plain(text))
    if known is not None:
        return known
    if not _OPERATORS.isdisjoint(text):
        return _matching(facts, product, text, strict=False)
    if product.scheme == "minor" and (patch := re.fullmatch(r"(\d+\.\d+)\.\d+(t?)", _plain(text))):
        return facts.word(product.id, patch[1] + patch[2]) or 0  # as `python --version` says it
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
    text = text.strip()
    return text[1:] if re.match(r"v\d", text) else text


def _option(facts: Snapshot, name: str, text: str, day: int) -> Pin:
    product = facts.products.get(name)
    if product is None:
        raise UsageError(f"the data know no product {name!r}")
    if not text.strip():
        raise UsageError(f"{product.id} needs a version, such as {facts.elements(product.id)[-1].release}")
    mask = find_versions(facts, product, text)
    if mask:
        return Pin(product.id, text, mask, exact=_OPERATORS.isdisjoint(text))
    return _unlisted(facts, product, _plain(text).removeprefix("=="), text, day, strict=False)


def _strict(facts: Snapshot, product: Product, spec: str, day: int) -> Pin:
    text = product.id + spec
    exact = re.fullmatch(r"={2,3}\s*([^,*\s]+)", spec)
    if exact and product.scheme == "pep440":
        if (known := facts.word(product.id, exact[1], strict=True)) is not None:
            return Pin(product.id, text, known, strict=True)
        normal = _normal(product, exact[1])
        if normal is None:
            raise UsageError(f"{exact[1]!r} is not a version as PEP 440 has them; see `compatkb show {product.id}`")
        mask = facts.word(product.id, normal, strict=True) or _matching(facts, product, f"=={exact[1]}", strict=True)
        if mask:
            return Pin(product.id, text, mask, strict=True)
        return _unlisted(facts, product, exact[1], text, day, strict=True)
    if exact:
        mask = find_versions(facts, product, exact[1])
        return Pin(product.id, text, mask) if mask else _unlisted(facts, product, exact[1], text, day, strict=False)
    mask = _matching(facts, product, spec, strict=product.scheme == "pep440")
    if not mask:
        raise UsageError(f"{product.id}{spec}: no known version fits{_known(facts, product, spec)}")
    return Pin(product.id, text, mask, strict=True, exact=False)


def _matching(facts: Snapshot, product: Product, spec: str, *, strict: bool) -> int:
    """Judge a specifier element by element; needs the version parser, which plain words do without."""
    from compatkb.versions import Scheme, admits, specifier

    mask = 0
    try:
        wanted = None
        if strict:
            from packaging.specifiers import SpecifierSet

            specifier(spec)  # for its message
            wanted = SpecifierSet(spec)
        for element in facts.elements(product.id):
            if wanted is not None:
                hit = wanted.contains(element.version)
            else:
                hit = admits(Scheme(product.scheme), spec, element.release, element.version)
            mask |= hit << element.idx
    except ValueError as error:
        raise UsageError(f"{product.id}: {error}") from None
    return mask


def _normal(product: Product, text: str) -> str | None:
    if product.scheme != "pep440":
        return None
    from packaging.version import InvalidVersion, Version

    try:
        return str(Version(text))
    except InvalidVersion:
        return None


def _unlisted(facts: Snapshot, product: Product, version: str, text: str, day: int, *, strict: bool) -> Pin:
    """Return the pin for a version that the data do not list, where such a pin can be answered at all."""
    from compatkb.versions import Scheme, admits, parse

    scheme = Scheme(product.scheme)
    try:
        if scheme is Scheme.LISTED:
            raise ValueError
        parse(scheme, version)
    except ValueError:
        raise UsageError(f"{product.id} has no version {version!r}{_known(facts, product, version)}") from None
    if product.role == "leaf" or product.open:
        return Pin(product.id, text, 1 << len(facts.elements(product.id)), strict=strict, extra=version)
    if "+" in version:  # the release is known: that build of it was never published
        public = _normal(product, version.partition("+")[0]) or ""
        released = facts.word(product.id, public) or facts.word(product.id, re.sub(r"\.?(post|dev|rc|a|b).*", "", public))
        if released:
            known = {e.version.partition("+")[2] for e in facts.elements(product.id)}
            beyond = version.partition("+")[2] not in known  # builds of that kind are not covered at all
            return Pin(product.id, text, 0, strict=strict, near=released, beyond=beyond)
    covered = any(
        of == product.id and until >= day and admits(scheme, spec, version) for of, spec, _, _, until in facts.scopes
    )
    if not covered and facts.scopes and any(scope[0] == product.id for scope in facts.scopes):
        older = [e.idx for e in facts.elements(product.id) if _numbers(e.release) < _numbers(version)]
        return Pin(product.id, text, 0, strict=strict, near=1 << max(older, default=0), beyond=True)
    raise UsageError(f"{product.id} has no version {version!r}{_known(facts, product, version)}")


def _known(facts: Snapshot, product: Product, text: str) -> str:
    """Return the nearest known versions, as the end of a sentence."""
    versions = list(dict.fromkeys(e.release for e in facts.elements(product.id)))
    if not versions:
        return ""
    if product.scheme == "listed":
        names = facts.names(product.id)
        near = _closest(word_key(text), names, names)
        more = f" and {len(versions) - 8} more: see `compatkb list {product.id}`" if len(versions) > 8 else ""
        return near or f"; known: {', '.join(reversed(versions[-8:]))}{more}"
    wanted = _numbers(text)
    if not wanted:
        return f"; the newest: {', '.join(versions[:-4:-1])}"
    below = [v for v in versions if _numbers(v) <= wanted]
    above = [v for v in versions if _numbers(v) > wanted]
    near_by = [*below[:-3:-1], *above[:1]] if below else above[:3]
    return f"; the nearest that exist: {', '.join(near_by)}"


def _numbers(text: str) -> tuple[int, ...]:
    """Return the leading numbers of a version, for neighbours in a message only."""
    return tuple(int(number) for number in re.findall(r"\d+", text)[:4])


def _closest(text: str, known: Iterable[str], shown: Mapping[str, str] | None = None) -> str:
    """Return the close words as the end of a sentence; `shown` tells how they are written for people."""
    from difflib import get_close_matches

    close = get_close_matches(text, sorted(set(known)), n=3, cutoff=0.6)
    near = list(dict.fromkeys(shown[word] if shown else word for word in close))
    return f"; did you mean {' or '.join(near)}?" if near else ""


def _both(one: Pin, other: Pin) -> Pin:
    if one.need and other.need:
        return one
    mask = one.mask & other.mask
    if not mask:
        raise UsageError(f"{one.product} is pinned twice, and nothing fits both {one.text!r} and {other.text!r}")
    return Pin(one.product, f"{one.text} {other.text}", mask, one.strict or other.strict, one.exact or other.exact)


def _devices(facts: Snapshot, asked: Sequence[str], pins: dict[str, Pin]) -> tuple[str, ...]:
    every = tuple(dict.fromkeys(d for route in facts.routes for d in sorted(route.devices, reverse=True)))
    if not asked:
        left = [device for device in every if all(_serves(facts, pin, device) for pin in pins.values())]
        return tuple(left) or every
    found: list[str] = []
    names = [e.version for e in facts.elements("device")]
    for text in asked:
        mask = facts.word("device", text)
        if not mask:
            known = ", ".join(names)
            raise UsageError(f"unknown device {text!r}{_closest(text, names) or f'; known: {known}'}")
        found += [name for n, name in enumerate(names) if mask >> n & 1]
    return tuple(dict.fromkeys(found))


def _check_route(facts: Snapshot, name: str, asked: set[str]) -> None:
    """Raise UsageError where there is no such route, or where it leaves out what was asked for."""
    known = {route.id: route for route in facts.routes}
    if name not in known:
        raise UsageError(f"unknown route {name!r}; known: {', '.join(known)}")
    if apart := sorted(known[name].without & asked):
        raise UsageError(f"the route {name} goes without {' and '.join(apart)}; leave out one of the two")


def _serves(facts: Snapshot, pin: Pin, device: str) -> bool:
    """Return whether something that a pin admits is for a device, or for no device in particular."""
    chosen = facts.elements(pin.product).of(pin.mask)
    return not chosen or any(not e.devices or device in e.devices for e in chosen)
