"""Looks up the words of a document in the data: products behind headings, versions, image tags, references."""

import re
from collections.abc import Iterable, Iterator
from datetime import date
from functools import cached_property, lru_cache
from typing import Any
from urllib.parse import unquote

from compatkb.core.names import numbers, slips
from compatkb.core.record import NamedTuple
from compatkb.core.vocabulary import FOREVER, Role
from compatkb.errors import UsageError
from compatkb.request.lookup import find_versions, is_newer
from compatkb.store.queries.images import ContentRecord, ImageBuildState, ImageRecord
from compatkb.store.reader import Snapshot
from compatkb.store.records import CompleteScope, Element, Product, Sources

# patterns that not every file needs are left for `re` to compile when one does
_FILLER = r"(?i)\b(versions?|releases?|tags?|required|supported|minimum|tested|validated|verified)\b|[*\\:?]"
_FORGE = (
    r"https?://(?:www\.)?(?:github\.com|gitlab\.com)/(?P<repo>[\w.-]+/[\w.-]+)/(?:-/)?"
    r"(?P<kind>releases/tag|releases/latest|tree|blob|raw|commits?|archive/refs/tags|archive)(?:/(?P<ref>[^?#]+))?"
)
_RAW = r"https?://raw\.githubusercontent\.com/(?P<repo>[\w.-]+/[\w.-]+)/(?P<ref>[^?#]+)"
_ENDING = re.compile(r"\.(zip|tar\.gz|tgz)$")
VERSION = re.compile(r"v?(?P<numbers>\d+(?:\.\d+)*)(?P<rest>(?:[-+._]?[A-Za-z][\w.+-]*|[-+][\w.+-]+)?)")
_TRUNKS = ("main", "master", "develop", "dev", "trunk", "HEAD")
_MOST_NEAR = 300  # names that are compared with every tag
COMMIT = re.compile(r"(?=\d*[a-f])[0-9a-f]{7,40}")
_EARLY = r"(?i)(?:^|[-+._\d])(rc|alpha|beta|dev|preview|pre|nightly|a|b)[-._]?\d*(?![A-Za-z])"


_MOST_WORDS = 12  # of the name of a product
LISTED_BEFORE = 14
"""Images and build files may name a release so many days before it comes out."""
BUILT = ("package", "companion")
"""Roles of products that are installed, and have releases of their own."""


class WrittenVersion(NamedTuple):
    """A version as someone wrote it: its numbers, its local label (`+xpu`), whether it is a pre-release."""

    text: str
    numbers: tuple[int, ...]
    label: str
    early: bool


class ForgeReference(NamedTuple):
    """Where a link to a forge leads: repository, and the branch, tag or commit; None for the newest release."""

    repository: str
    ref: str | None


def written(text: str) -> WrittenVersion | None:
    """Return the version that a text is, None where it is none."""
    match = VERSION.fullmatch(text.strip())
    if match is None or len(match["numbers"]) > 40 or COMMIT.fullmatch(text.strip()):
        return None
    rest = match["rest"]
    if re.match(r"[._-]?[xX](?![A-Za-z])", rest):
        return None  # a series: 2.1.x
    label = re.search(r"\+([A-Za-z][\w.]*)", rest)
    return WrittenVersion(
        text.strip(),
        tuple(int(n) for n in match["numbers"].split(".")),
        label[1] if label else "",
        bool(re.search(_EARLY, rest)),
    )


def reference(url: str) -> ForgeReference | None:
    """Return where a link to a forge leads; None for other links, and for those that lead to no state of a repository."""
    match = re.match(_FORGE, url) or re.match(_RAW, url)
    if match is None:
        return None
    kind = match.groupdict().get("kind", "raw")
    if kind == "releases/latest":
        return ForgeReference(match["repo"], None)
    head, _, path = unquote(match["ref"] or "").strip("/").partition("/")
    if path and head not in _TRUNKS and written(head) is None and written(path.partition("/")[0].removeprefix("r")):
        head = f"{head}/{path.partition('/')[0]}"  # a branch such as release/2.8
    return ForgeReference(match["repo"], _ENDING.sub("", head)) if head else None


class Lookups:
    """The data as a document's words meet them; what is looked up often is kept."""

    def __init__(self, facts: Snapshot) -> None:
        self.facts = facts
        self._masks: dict[tuple[str, str], int] = {}
        self._nearest: dict[str, str | None] = {}

    def product(self, heading: str) -> Product | None:
        """Return the product that the heading of a column means: its whole text, or its last words ("Base OS")."""
        words = re.sub(_FILLER, " ", heading).split()[-_MOST_WORDS:]
        for start in range(len(words)):
            product = self.facts.product(" ".join(words[start:]))
            if product and product.role != Role.FEATURE:
                return product
        return None

    @cached_property
    def _homes(self) -> dict[str, str]:
        forge = "https://github.com/"
        homes = ((url, product) for product, url in self.facts.homepages().items() if url.startswith(forge))
        return {url.removeprefix(forge).strip("/").lower(): product for url, product in homes}

    def of_repository(self, repository: str) -> Product | None:
        """Return the product whose releases are tags of a repository, by its home page or by the repository's name."""
        home = self._homes.get(repository.lower())
        product = self.facts.products[home] if home else self.facts.product(repository.partition("/")[2])
        return product if product and product.role in BUILT else None

    def mask(self, product: Product, text: str) -> int:
        """Return the elements that a written version names, 0 for none or for what is no version."""
        key = (product.id, text)
        if key not in self._masks:
            try:
                mask = 0 if len(text) > 60 or re.search(r"[<>=!~,]", text) else find_versions(self.facts, product, text)
            except UsageError:
                mask = 0
            self._masks[key] = mask
        return self._masks[key]

    def names(self, product: str, mask: int) -> list[str]:
        """Return the releases that elements belong to, oldest first."""
        return list(dict.fromkeys(e.release for e in self.facts.elements(product).of(mask)))

    def covered(self, product: Product, text: str, day: int, channels: frozenset[str] | None = None) -> tuple[str, ...] | None:
        """Return the sources of a list that is whole and would name this version; None where there is no such list.

        Where these channels alone are asked, a list of one of them says nothing of the others.
        """
        version = written(text)
        if version is None or version.early:
            return None
        public = ".".join(map(str, version.numbers))
        labels = {e.version.partition("+")[2] for e in self.facts.elements(product.id) if not e.foreign} - {""}
        if self.mask(product, public) and version.label.lower() not in labels:
            return None  # the release is there; of builds of other makers and for other devices the data know nothing
        own = self.facts.elements(product.id)
        if any(e.version.startswith(f"{public}.post") or _same(e.release, version.numbers) for e in own):
            return None  # published again at once, or with fewer numbers, and called by its number all the same
        for scope in self._whole(product.id, public, day):
            if channels is None or scope.channel is None or channels <= {scope.channel}:
                return urls(scope.sources)
        return None

    def is_listed_whole(self, element: Element, channel: str, day: int) -> bool:
        """Return whether the list of what an index has of a product is whole where it would name a build."""
        return any(scope.channel == channel for scope in self._whole(element.product, element.release, day))

    def _whole(self, product: str, public: str, day: int) -> Iterator[CompleteScope]:
        """Yield the lists of builds for any device that are whole and would name a release."""
        from compatkb.core.versions import Scheme, admits

        for scope in self.facts.scopes:
            if scope.product != product or scope.devices or scope.until < day:
                continue
            if scope.until < FOREVER and is_newer(self.facts, self.facts.products[product], public):
                continue  # the list has not ended, and what is above all of it may have come since
            try:
                if admits(Scheme(self.facts.products[product].scheme), scope.spec, public):
                    yield scope
            except ValueError:
                return

    @cached_property
    def refs(self) -> frozenset[tuple[str, str]]:
        """Branches, tags and commits of repositories that the data cite, in small letters: they exist."""
        references = {reference(url) for url in self.facts.cited_addresses()}
        return frozenset((r.repository.lower(), r.ref.lower()) for r in references if r and r.ref)

    # -- images ------------------------------------------------------------------------------------------------------

    @cached_property
    def images(self) -> dict[str, tuple[ImageRecord, ...]]:
        """Every image tag by its name; several repositories may have one of the same name."""
        images_by_name: dict[str, list[ImageRecord]] = {}
        for image in self.facts.images():
            images_by_name.setdefault(image.name, []).append(image)
        return {name: tuple(images) for name, images in images_by_name.items()}

    @cached_property
    def repositories(self) -> tuple[str, ...]:
        """The image repositories of the data."""
        return self.facts.repositories()

    def image(self, name: str, repository: str | None = None) -> ImageRecord | None:
        """Return a tag, in a repository where one is named; tags of one name in several repositories are one."""
        images = self.images.get(name, ())
        return next((i for i in images if repository in (None, i.repository)), images[0] if images else None)

    def near(self, name: str) -> str | None:
        """Return the listed tag that a name is close to, those with the same numbers first; None where none is close."""
        if name not in self._nearest and len(self._nearest) < _MOST_NEAR:
            self._nearest[name] = self._near(name)
        return self._nearest.get(name)

    def misspelt(self, name: str, day: int) -> str | None:
        """Return the listed tag that is near to a name that cannot be one: others may be newer than the listings.

        It has the same numbers, or the name those of a release that never was, by a list that is whole on this day.
        """
        near = self.near(name)
        if near is None or re.findall(r"\d+", near) == re.findall(r"\d+", name):
            return near
        number = re.match(r"\d+(?:\.\d+)+", name)
        product = self.facts.product(self.images[near][0].repository.rpartition("/")[2])
        never = number and product and not self.mask(product, number[0]) and self.covered(product, number[0], day) is not None
        return near if never else None

    def never_built(self, repository: str, tag: str) -> str | None:
        """Return that a tag is named for a build that a product which has ended never had, None for other tags."""
        number, _, label = tag.partition("-")
        product = self.facts.product(repository.rpartition("/")[2])
        if product is None or product.id not in self.facts.successors or not re.fullmatch(r"\d+(?:\.\d+)+", number):
            return None
        of_label = [e.release for e in self.facts.elements(product.id) if e.version.endswith(f"+{label}")]
        tags = [name for name in self.images if name.endswith(f"-{label}")]
        if not of_label or not tags or number in of_label:
            return None
        near = sorted(tags, key=lambda name: [abs(a - b) for a, b in zip(numbers(name), numbers(number), strict=False)])[:3]
        there = ", ".join(sorted(near))
        return (
            f"there is no {repository}:{tag}: {product.name} never had a build {number}+{label}; tags near to it are {there}"
        )

    def _near(self, name: str) -> str | None:
        from difflib import SequenceMatcher

        numbers = re.findall(r"\d+", name)
        candidates = []
        for other in self.images:
            same = re.findall(r"\d+", other) == numbers
            apart = slips(name, other, 2)
            if apart <= 2 or (same and SequenceMatcher(None, name, other).ratio() >= 0.8):
                candidates.append((not same, apart, other))
        return min(candidates)[2] if candidates else None

    def speaker(self, tags: Iterable[tuple[str, str | None, int, int]], day: date) -> ImageRecord | None:
        """Return the image that a row's tags name: the first that is known; a moving tag only while it is what it is now."""
        images = [image for name, repository, *_ in tags if (image := self.image(name, repository))]
        fixed = [image for image in images if re.search(r"\d", image.name)]
        moving = [image for image in images if image.runs and max(image.runs)[0] <= day.toordinal()]
        return next(iter([*fixed, *moving]), None)

    def contents(self, image: ImageRecord) -> dict[str, ContentRecord]:
        """Return what an image is known to hold, by product."""
        return {part.product: part for part in self.facts.contents_of(image.id)}

    @cached_property
    def states(self) -> dict[tuple[str, str], ImageBuildState]:
        """The states of build files whose days the data tell, by repository in small letters and reference."""
        states = {}
        for built in [image.built for image in self.facts.images() if image.built]:
            target = reference(built.url or "")
            if target and target.ref and built.on:
                states[target.repository.lower(), target.ref] = built
        return states

    # -- days --------------------------------------------------------------------------------------------------------

    def earliest(self, product: str, mask: int) -> int | None:
        """Return the first day, as an ordinal, on which any of these elements can have been there; None where unknown."""
        days = [e.since for e in self.facts.elements(product).of(mask)]
        return min(d for d in days if d is not None) if days and all(d is not None for d in days) else None

    def ended(self, product: str, mask: int, day: date, within: int) -> tuple[date, tuple[str, ...]] | None:
        """Return the last supported day of these elements and its sources, where all ended, or will within so many days."""
        last = _last_day(self.facts, product, mask)
        return None if last is None or last[0].toordinal() >= day.toordinal() + within else last


@lru_cache(maxsize=8192)
def _last_day(facts: Snapshot, product: str, mask: int) -> tuple[date, tuple[str, ...]] | None:
    elements = facts.elements(product).of(mask)
    ends = [e.eol for e in elements if e.eol is not None]
    if not ends or len(ends) < len(elements):
        return None
    last = max(ends)
    record = facts.release(product, lookups(facts).names(product, mask)[-1])
    return date.fromordinal(last), urls(record.eol_sources) if record else ()


def _same(release: str, numbers: tuple[int, ...]) -> bool:
    """Return whether a release has these numbers but for zeros at their ends: 0.5 and 0.5.0 (PEP 440)."""
    other = written(release)
    return other is not None and _significant(other.numbers) == _significant(numbers)


def _significant(numbers: tuple[int, ...]) -> tuple[int, ...]:
    return _significant(numbers[:-1]) if numbers and not numbers[-1] else numbers


def urls(sources: Sources) -> tuple[str, ...]:
    """Return the addresses of sources; a source without one by its text."""
    return tuple(url or name for name, url in sources)


@lru_cache(maxsize=4)
def lookups(facts: Snapshot) -> Lookups:
    """Return what the data know, once for each snapshot."""
    return Lookups(facts)


def spelt(versions: Iterable[Any]) -> str:
    """Return names as a sentence lists them."""
    names = [str(version) for version in versions]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
