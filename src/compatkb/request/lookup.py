"""Looks up what a name or a version word means: the product, the feature, the elements."""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache, reduce
from operator import or_

from compatkb.core.memo import memoized
from compatkb.core.names import close, slips, spellings, word_key
from compatkb.core.record import NamedTuple
from compatkb.core.vocabulary import FOREVER, Role
from compatkb.errors import NewerError, UsageError
from compatkb.store.reader import Snapshot
from compatkb.store.records import CompleteScope, Elements, Product
from compatkb.store.suggestions import Suggestions, suggest, unjudged

OPERATORS = frozenset("<>=!~")
_SLIPS = 3
"""Letters by which a name may be misspelt; what differs in more is the name of something else."""
_PLACES = ("hardware", "os", "python", "device", "arch", "kernel-driver")  # their versions may stand as words of their own
_SEE = "\n  see `compatkb {}`"
_USE = "\n  GPUs, processors and systems that are: compatkb list hardware, compatkb list os"
ELSEWHERE = (
    "\n  for another distribution ask for linux, for an application for what it needs: compatkb resolve torch xpu linux"
)


class Meaning(NamedTuple):
    """What a word stands for by itself, to the letter."""

    product: str | None = None
    feature: str | None = None
    places: tuple[str, ...] = ()  # the products that have such a version, of those whose versions may stand as words


@lru_cache(8)
def meanings(facts: Snapshot) -> Mapping[str, Meaning]:
    """Return what the words of the data stand for, by `word_key`; made once."""
    known = {key: Meaning(product=product) for key, product in facts.product_names.items()}
    for feature, words in facts.features.items():
        for word in (*words, feature):
            key = word_key(word)
            known[key] = known.get(key, Meaning())._replace(feature=feature)
    for place in [each for each in _PLACES if each in facts.products]:
        for key in facts.version_words(place, False):
            meaning = known.get(key, Meaning())
            known[key] = meaning._replace(places=(*meaning.places, place))
    return known


def find_product(facts: Snapshot, name: str) -> Product:
    """Return the product that a name means; raises UsageError with the closest names."""
    if product := facts.product(name):
        return product
    if application := facts.find_application(name):
        raise unjudged(application)
    if re.match(r"v?\d", name):
        meant = [f"{each}=={name}" for each in products_having(facts, name)[:3]]
        raise UsageError(f"{name!r} has no product name{suggest(meant or [f'torch=={name}'])}")
    if len(read := places_named(facts, name, joined=False)) > 1:
        raise UsageError(f"{name!r} may be several things{suggest([f'{place}=={name}' for place in read])}")

    glued = re.fullmatch(r"([A-Za-z][A-Za-z_-]*?)[-_=]?v?(\d+(?:\.\d+)+\S*)", name)
    if glued and (product := facts.product(glued[1])):
        raise UsageError(f"{name!r} is not a product{suggest([f'{product.id}=={glued[2]}'])}")
    names = sorted(name for several in facts.keys_by_product.values() for name in several)
    near = close(name.lower(), [*facts.products, *names, *(each["id"] for each in facts.guide_records("application"))])
    begins = any(word.startswith(name.lower()) for word in near)
    for place in () if begins else ("hardware", "os"):  # a card that begins so is nearer than a package that is merely alike
        known = facts.names(place) if place in facts.products else {}
        begun = any(word.startswith(word_key(name)) for word in known)
        if (begun or not near) and (meant := close(word_key(name), known, known)):
            raise UsageError(f"unknown {Suggestions(facts).noun(place, meant)} {name!r}{suggest(meant)}")
    allowed = max(_SLIPS, len(name) // 5)
    if near and (begins or slips(word_key(name), word_key(near[0]), allowed) <= allowed):
        raise UsageError(f"{name!r} is not a product{suggest(near)}")
    raise UsageError(f"{name!r} is not in the data{_USE}{'' if re.search(r'[a-z]-?[0-9]', name.lower()) else ELSEWHERE}")


def find_feature(facts: Snapshot, name: str) -> str:
    """Return the id of the feature that a name means; raises UsageError with the closest names."""
    known = {key: meaning.feature for key, meaning in meanings(facts).items() if meaning.feature}
    if feature_id := known.get(word_key(name)):
        return feature_id
    product = facts.product(name)
    if product is not None:
        hint = f"\n  {product.id} is a product: ask for it by its name alone"
    else:
        hint = suggest(close(word_key(name), known, known))
    raise UsageError(f"unknown feature {name!r}{hint or _SEE.format('features')}")


def find_versions(facts: Snapshot, product: Product, text: str) -> int:
    """Return the elements that a version word or specifier names, 0 for none; raises UsageError for unreadable text."""
    text = plain_version(text)
    known = facts.word(product.id, machine_version(text) if product.machine else text)
    if known is not None:
        return known
    if product.scheme == "minor" and (patch := re.fullmatch(r"={0,3}\s*(\d+\.\d+)\.\d+(t?)", text)):
        return facts.word(product.id, patch[1] + patch[2]) or 0  # as `python --version` says it
    if product.scheme == "listed":
        known = next((mask for each in spellings(product.id, text) if (mask := facts.word(product.id, each))), 0)
        return known or (_numbered(facts, product, text) if product.platform else 0)
    if not OPERATORS.isdisjoint(text):
        return _matching(product, facts.elements(product.id), text)
    normal = normal_version(product, text)
    return (facts.word(product.id, normal) or 0) if normal else 0


def _numbered(facts: Snapshot, product: Product, text: str) -> int:
    """Return the elements that a name is of when it is followed by a number: of `ubuntu` every Ubuntu that is listed."""
    numbered = re.compile(re.escape(word_key(text)) + r"\d[\d.]*")
    masks = (facts.word(product.id, name) or 0 for name in facts.names(product.id) if numbered.fullmatch(name))
    return reduce(or_, masks, 0)


def find_matching(facts: Snapshot, product: Product, spec: str) -> int:
    """Return the elements that a specifier names, PEP 440 to the letter; raises UsageError for what is no specifier.

    Pre-releases are named as if they were installed. Products that are no packages have an order of their own.
    """
    if product.scheme != "pep440":
        return _matching(product, facts.elements(product.id), spec)
    if (exact := re.fullmatch(r"==\s*v?(\d[^,*\s]*)", spec)) and (known := facts.word(product.id, exact[1], strict=True)):
        return known  # most pins; so much of PEP 440 needs no parser
    from compatkb.core.versions import matches

    try:
        return sum(1 << element.idx for element in facts.elements(product.id) if matches(spec, element.version))
    except ValueError as error:
        raise UsageError(f"{product.id}: {error}") from None


def _matching(product: Product, elements: Elements, spec: str) -> int:
    """Return the elements whose release a specifier names; needs the version parser, which plain words do without."""
    from compatkb.core.versions import Scheme, admits

    try:
        return sum(
            1 << element.idx for element in elements if admits(Scheme(product.scheme), spec, element.release, element.version)
        )
    except ValueError as error:
        if product.scheme == "minor" and (mask := _minors(elements, spec)) is not None:
            return mask
        raise UsageError(f"{product.id}: {error}") from None


def _minors(elements: Elements, spec: str) -> int | None:
    """Return the minors of which a specifier over patches (>=3.10.4) admits some patch; None for what is no specifier."""
    from compatkb.core.versions import admits_python

    try:
        return sum(1 << element.idx for element in elements if admits_python(spec, element.version))
    except ValueError:
        return None


def plain_version(text: str) -> str:
    """Return a version without what people write before it: v2.8, py3.12, Python 3.12.4."""
    return re.sub(r"^(={0,3}\s*)(?:v|py|python)[ -]?(?=\d+\.\d)", r"\1", text.strip(), flags=re.IGNORECASE)


def machine_version(text: str) -> str:
    """Return the number of a version as a machine says it: 6.11.0 of `6.11.0-29-generic`, 26.22.38646.4 of a package's."""
    number = re.fullmatch(r"={0,3}\s*(?:\d+:)?(\d+(?:\.\d+)*)(?:[-+~][\w.+~-]*)?", text)
    return number[1] if number else text


def normal_version(product: Product, text: str) -> str | None:
    """Return a version as PEP 440 normalises it; None for what is none, or of a product that follows no PEP 440."""
    if product.scheme != "pep440":
        return None
    from packaging.version import Version

    try:
        return str(Version(text))
    except ValueError:  # no version, or numbers of more digits than Python converts
        return None


def is_newer(facts: Snapshot, product: Product, version: str) -> bool:
    """Return whether a version is above the newest that the data know, and no list that ended for good denies it.

    Of such a version nothing is said: an absence counts below the newest known one alone. What is no version is not newer.
    """
    return _is_above(product, newest_known(facts, product.id), version) and not has_ended(
        product, facts.scopes_of(product.id), version
    )


def follows_the_last(facts: Snapshot, product: Product, version: str) -> bool:
    """Return whether a version is above the newest one of a product that gets no further ones: there never is such a one."""
    return _is_above(product, newest_known(facts, product.id), version) and has_ended(
        product, facts.scopes_of(product.id), version
    )


def _is_above(product: Product, newest: str | None, version: str) -> bool:
    from compatkb.core.versions import Scheme, parse

    scheme = Scheme(product.scheme)
    if scheme is Scheme.LISTED or newest is None:
        return False
    try:
        return parse(scheme, version.partition("+")[0]) > parse(scheme, newest)  # type: ignore[operator]  # of one scheme
    except ValueError:
        return False


def has_ended(product: Product, scopes: Iterable[CompleteScope], version: str) -> bool:
    """Return whether a list that ended for good has the place of a version."""
    from compatkb.core.versions import Scheme, admits

    scheme, public = Scheme(product.scheme), version.partition("+")[0]
    ended = (scope for scope in scopes if scope.until == FOREVER and not scope.devices)
    return any(admits(scheme, scope.spec, public) for scope in ended)


def newer_than_known(facts: Snapshot, product: Product, spec: str) -> str | None:
    """Return the lower bound of a specifier that admits only what is newer than the data, None where it is another one."""
    newest = newest_known(facts, product.id)
    for sign, version in re.findall(r"(===|==|>=|~=|>)\s*([^\s,*]+)", spec):
        bound = version.rstrip(".")
        if is_newer(facts, product, bound) or (sign == ">" and bound == newest):
            return str(bound)
    return None


def newer_version(facts: Snapshot, product: Product, version: str) -> NewerError:
    """Return the error for a version that is newer than the data, where no answer can be given."""
    known = f"the newest known is {newest_known(facts, product.id)}"
    return NewerError(f"{product.label} {version} is newer than these data ({facts.meta['data_date']}); {known}")


@memoized
def newest_known(facts: Snapshot, product: str) -> str | None:
    """Return the newest release of a product that the data know, None where they know none or it has no order."""
    from compatkb.core.versions import Scheme, parse

    scheme = Scheme(facts.products[product].scheme)
    releases = (
        {element.release.removesuffix("t") for element in facts.elements(product)} if scheme is not Scheme.LISTED else ()
    )
    return max(releases, key=lambda release: parse(scheme, release), default=None)


def products_having(facts: Snapshot, version: str) -> list[str]:
    """Return the products that have a version, a patch of Python included; dependencies where nothing else has it."""
    names = set(facts.products_with(plain_version(version)))
    having = [
        product
        for name, product in facts.products.items()
        if name in names or (product.scheme == "minor" and find_versions(facts, product, version))
    ]
    return [product.id for product in having if product.role != Role.LEAF] or [product.id for product in having]


def places_named(facts: Snapshot, text: str, *, joined: bool) -> list[str]:
    """Return the places that a text names a version of; words that were typed apart have to name it to the letter."""
    places = [facts.products[place] for place in _PLACES if place in facts.products]
    return [each.id for each in places if (facts.word(each.id, text) if joined else find_versions(facts, each, text))]
