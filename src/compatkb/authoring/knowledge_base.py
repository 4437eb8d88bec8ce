"""The knowledge base as curators wrote it, with every reference resolved: elements, edges, platforms.

An *element* is one thing that a stack may hold of a product: a build of a package, a release of anything else. The
elements of a product are numbered from the oldest, and sets of them are integers with one bit each. An *edge* is a
claim between two sets of elements, with the platforms on which it forbids and supports them.
"""

import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from functools import cached_property, lru_cache, reduce
from operator import or_

from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from compatkb.authoring.loader import Files
from compatkb.core.memo import memoized
from compatkb.core.platforms import Grid
from compatkb.core.record import NamedTuple
from compatkb.core.versions import Listing, Scheme, admits, admitted, without_local
from compatkb.schema import Basis, Build, Claim, EndOfLife, IndexFile, IndexRelease, Kind, ProductHead, Release, SourceEntry
from compatkb.schema.base import When

GLIBC = "glibc"
NEUTRAL = "0"  # the glibc floor of a wheel that holds nothing compiled


class KnowledgeFloor(NamedTuple):
    """Wheels of one element by the oldest glibc that they admit: platforms seen and inferred."""

    glibc: str | None
    inferred: bool  # no platform tag says the glibc
    seen: int
    guessed: int
    any_python: bool = False  # wheels for more than one Python: what is guessed hangs on the Python alone


@dataclass
class KnowledgeElement:
    """A build or a release, with what is known of its platforms."""

    product: str
    version: str
    release: Release
    build: Build | None = None
    listed: IndexRelease | None = None  # what the default index says of it
    published: IndexRelease | None = None  # what it says of the release, whose other builds may be elsewhere
    floors: list["KnowledgeFloor"] = field(default_factory=list)
    echo: bool = False  # nothing lists it: it is there because something pins it


class KnowledgeEdge(NamedTuple):
    """A claim between elements of two products; `forbidden_on` and `supported_on` are platform bits."""

    claim: str
    kind: Kind
    of: str
    of_mask: int
    to: str
    to_mask: int
    spec: str
    forbidden_on: int
    supported_on: int
    basis: Basis
    devices: frozenset[str] = frozenset()  # empty: every device
    hardware: int = 0  # hardware elements on which alone it holds; 0: any
    in_metadata: bool = False  # read from an index, so installers know it too
    extra: str = ""  # the extra that has to be asked for; empty where it holds without
    unlisted: int = 0  # gaps between the known bounds on a runtime that it leaves open


class ClaimOrigin(StrEnum):
    """Who made a claim: a curator, or the program from what an index or an observation says."""

    PEOPLE = "people"
    INDEX = "index"
    EVIDENCE = "evidence"


class SourcedClaim(NamedTuple):
    """A claim with the file that makes it; for claims that the program made the source is made too."""

    claim: Claim
    product: str
    sources: tuple[SourceEntry, ...]
    origin: ClaimOrigin = ClaimOrigin.PEOPLE


@dataclass
class Knowledge:
    """All products, elements and edges of a data directory."""

    files: Files
    grid: Grid
    products: dict[str, ProductHead]
    elements: dict[str, list[KnowledgeElement]]
    claims: dict[str, SourcedClaim]
    edges: list[KnowledgeEdge]
    implied: dict[str, dict[str, int]]  # dimension: for each OS the elements that it implies
    sources: dict[tuple[str, str], SourceEntry]

    @cached_property
    def distributions(self) -> dict[str, str]:
        """The products by their normalized distribution names."""
        return {canonicalize_name(p.distribution): p.id for p in self.products.values() if p.distribution}

    @cached_property
    def served_devices(self) -> frozenset[str]:
        """The devices that a route serves, those on request among them."""
        return frozenset(device for route in self.files.routes.route for device in route.device)

    @memoized
    def numbered(self, product: str, *, listed: bool = False) -> dict[Version, int]:
        """Return the numbers of the elements of `product` by their versions, the first of several.

        `listed`: of those alone that the default index lists. What PEP 440 cannot read has no number; elements do not
        change once this was asked.
        """
        numbers: dict[Version, int] = {}
        for number, element in enumerate(self.elements[product]):
            if not listed or element.listed is not None:
                with suppress(InvalidVersion):
                    numbers.setdefault(Version(element.version), number)
        return numbers

    @memoized
    def build(self, name: str, version: str, *, on_default: bool) -> tuple[KnowledgeElement, int] | None:
        """Return the build that installers know by a name and a version, with its number; None where the data have none.

        The default index lists without its label what was built with one.
        """
        product = name if name in self.products else self.distributions.get(canonicalize_name(name))
        if product is None:
            return None
        try:
            known = Version(version)
        except InvalidVersion:
            return None
        numbers = [self.numbered(product).get(known)]
        if on_default:
            numbers.append(self.numbered(product, listed=True).get(without_local(known)))
        number = min((n for n in numbers if n is not None), default=None)
        return None if number is None else (self.elements[product][number], number)

    def index_source(self, release: IndexRelease, at: str | None = None) -> SourceEntry:
        """Return the source of what the default index says of a release."""
        return self._index_source(id(release), at, release.file or "", release.version)

    @memoized
    def _index_source(self, release: int, at: str | None, file: str, version: str) -> SourceEntry:
        listing = self._index_files[release]
        return SourceEntry(channel="default", file=file or f"{listing.distribution} {version}", at=at, seen=listing.seen)

    @cached_property
    def _index_files(self) -> dict[int, IndexFile]:
        """The files of the default index by the identity of each release that they list."""
        return {id(release): file for file in self.files.index for release in file.release}

    def of_mask(self, product: str, mask: int) -> list[KnowledgeElement]:
        """Return the elements of a set, from the oldest."""
        return [element for number, element in enumerate(self.elements[product]) if mask >> number & 1]

    def pythons(self, texts: Iterable[str]) -> list[str]:
        """Return the Pythons that minors, or bounds of them, name."""
        mask = 0
        for text in texts:
            mask |= self.matching(*split_term(python_term(text)))
        return [element.version for element in self.of_mask("python", mask)]

    def cells_of(self, when: When | None, *, around: bool = False) -> int:
        """Return the platforms on which a condition holds; `around`: on the families of its systems, not on other members."""
        if when is None:
            return self.grid.all
        pythons = self.pythons(when.python) if when.python else None
        systems = self.grid.widened(when.os) if around else when.os
        cells = self.grid.cells(systems or None, when.arch or None, pythons, members=not around)
        return cells & ~self.grid.cells(when.not_os)

    def hardware(self, names: Iterable[str]) -> int:
        """Return the elements of hardware by their names."""
        return reduce(or_, (self.matching("hardware", f"=={name}") for name in names), 0)

    def lists_all_releases(self, product: str) -> bool:
        """Return whether the list of the releases of a product is called complete."""
        return any(scope.what == "release" and scope.of == product for scope in self.products[product].complete)

    def cited(self, product: str, names: Iterable[str]) -> tuple[SourceEntry, ...]:
        """Return sources of a product file by their names, those that are there."""
        return tuple(self.sources[product, name] for name in names if (product, name) in self.sources)

    def mask(self, term: str, *, strict: bool = False) -> tuple[str, int]:
        """Return the product and the elements that a term names; `strict` reads it as PEP 440 does."""
        product, spec = split_term(term)
        return product, self.matching(product, spec, strict=strict)

    @memoized
    def matching(self, product: str, spec: str, *, strict: bool = False) -> int:
        """Return the elements of `product` that `spec` names; elements do not change once this was asked."""
        scheme, mask = self.products[product].scheme, 0
        if scheme is Scheme.PEP440:
            return self._listing(product, strict).named(spec, to_the_letter=strict)
        if scheme is not Scheme.LISTED:
            return admitted(scheme, spec, self._releases(product))
        for number, element in enumerate(self.elements[product]):
            mask |= any(admits(scheme, spec, value) for value in (element.version, *element.release.part_of)) << number
        return mask

    @memoized
    def _releases(self, product: str) -> tuple[str, ...]:
        return tuple(element.release.version for element in self.elements[product])

    @memoized
    def _listing(self, product: str, strict: bool) -> Listing:  # part of a key
        """Return the elements of a product by their versions and, unless PEP 440 is followed strictly, their other names."""
        aliases = [element.build.aliases if element.build and not strict else () for element in self.elements[product]]
        return Listing(
            (number, element.release.version, name)
            for number, (element, others) in enumerate(zip(self.elements[product], aliases, strict=True))
            for name in (element.version, *others)
        )


@lru_cache(maxsize=65536)
def split_term(term: str) -> tuple[str, str]:
    """Return the product id and the specifier of a term."""
    match = re.match(r"([a-z0-9][a-z0-9_.-]*)\s*(.*)", term)
    assert match  # the model checked it
    return match[1], match[2]


def python_term(text: str) -> str:
    """Return the term for a Python of a condition: a minor, or a bound."""
    return f"python{text if text[0] in '<>=!' else f'=={text}'}"


def end_of_life(product: ProductHead, release: Release) -> EndOfLife | None:
    """Return the end of life of a release, its own or its product's."""
    return release.eol or product.eol


def first_day(element: KnowledgeElement) -> tuple[date | None, date | None]:
    """Return the days between which an element came out; equal where the day is known, None where no source tells."""
    moment = (element.build.released if element.build else None) or element.release.released
    if moment:
        return (moment.on or moment.after, moment.on or moment.by)
    if element.published:
        day = element.published.uploaded.date()
        return (day, day)
    return (None, None)


def cited(sources: Iterable[SourceEntry]) -> tuple[tuple[str, str | None], ...]:
    """Return sources as pairs of text and address."""
    return tuple(source.cited for source in sources)


def cite(knowledge: Knowledge, product: str, names: tuple[str, ...]) -> tuple[tuple[str, str | None], ...]:
    """Return sources of a product file as pairs of text and address."""
    return cited(knowledge.cited(product, names))
