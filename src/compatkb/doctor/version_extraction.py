"""Extracts the versions that a pasted text names: by known output formats, and beside the names of products."""

import re
from collections.abc import Callable
from functools import cached_property

from packaging.utils import canonicalize_name

from compatkb.core.names import numbers
from compatkb.core.record import NamedTuple
from compatkb.core.vocabulary import Role
from compatkb.doctor.error_text import ErrorText, plain
from compatkb.doctor.named_releases import NamedRelease, named_releases, other_good
from compatkb.doctor.questions import KnownData
from compatkb.store.reader import Snapshot

_ECHO_REACH = 40  # so many lines after a question about a version may hold the answer
_ASKED = re.compile(r"([a-z_][a-z0-9_]{1,60})\.__version__")
_BARE = re.compile(r"^[ '(>]*v?([0-9]+\.[0-9]+[0-9a-z.+_-]{0,40})[' )]*$")
_NAME, _VERSION = r"([a-z0-9][a-z0-9_.-]{0,80})", r"([0-9][0-9a-z.+_-]{0,40})"
_WHOLE_NAME = r"([a-z0-9][a-z0-9_.-]{0,80}+)"
_PUT_IN = re.compile(r"successfully installed ([^\n]{1,20000})")
_TAKEN_OUT = re.compile(rf"(?:uninstalling |successfully uninstalled |installation: ){_NAME}[- ]{_VERSION}")
_SATISFIED = re.compile(rf"requirement already satisfied: {_WHOLE_NAME}[^\n]{{0,400}}?\({_VERSION}\) ?$", re.MULTILINE)
_UV = re.compile(rf"^ ?([-+~]) {_NAME}=={_VERSION} ?$", re.MULTILINE)
_OTHER_PYTHON = re.compile(r"^[^\n]*(?:requires-python|require a different python)[^\n]*$", re.MULTILINE)
_NEXT = re.compile(
    r"(?:==|'?\)?(?: with)?(?: version)?[ =:|]{0,5}[ =:|'-][v']?|\n ?version: )"
    r"([0-9][0-9a-z+_-]{0,20}(?:\.[0-9a-z+_-]{1,30}){1,8})(?![0-9a-z+])"
)
_WISH = re.compile(r"(?:no version of|requires|depends on|requirement|needs|install|found for|matching|satisfies|uninstall) $")
_ORDER = re.compile(r"(?:pip[0-9.]{0,5} install|uv add|uv pip install|conda install)[^\n]*$")
_CANDIDATE = re.compile(
    r" ?(?:depends on|cannot be used|are incompatible|is incompatible|was not found|has no wheels|is not a supported wheel)"
    r"|, we can"
)
_REFUSED = re.compile(r"error [45]\d\d|could not install requirement|could not fetch|failed to fetch|while getting|looking in")
_SAID = re.compile(r"(?:you have|installed|uninstalled|found existing installation:) $")
_BEFORE = re.compile(r"[0-9a-z._/-]\Z")
_WHEEL = re.compile(r"-(?:cp|py|pp)[0-9].*|\.dist.info.*|\.(?:whl|tar|zip|egg).*|-none-.*")
_TAG = re.compile(r"(\d+(?:\.\d+)+)-(xpu|cpu)(?:-.*)?")
_FILE = re.compile(r"\S{1,200}?\.(whl|tar\.gz)(?![a-z0-9])")
RUNTIME = re.compile(r"(?<![\d.])(2[2-9]\.\d{2}\.\d{5}(?:\.\d{1,3})?)(?![\d.])")
DRIVER = re.compile(r"(?<![\d.])(3[0-2]\.0\.101\.\d{4})(?!\d)")
"""Numbers of the compute runtime and of the driver of Windows, which nothing else has."""
_LINE = 400
_SHORT = 4  # a name in prose has as many letters at least
SLOTS, SAYS, INSTALLED, LISTED, WISHED = range(5)
"""How a version was told, the most telling way first."""


class VersionMention(NamedTuple):
    """A name with its version, and where the text has it."""

    name: str
    version: str
    at: int


class Read(NamedTuple):
    """A version that a text names."""

    product: str
    version: str
    line: int
    how: int


class VersionReader(KnownData):
    """Reads the versions that one text names."""

    def __init__(self, facts: Snapshot, pasted: ErrorText) -> None:
        super().__init__(facts)
        own = _OTHER_PYTHON.sub(lambda match: " " * len(match[0]), pasted.plain) if "python" in pasted.plain else ""
        self.own_words = pasted.text
        self.pasted = ErrorText(own) if own else pasted  # which Pythons a release requires is nobody's version

    def versions(self, learnt: tuple[Read, ...] = ()) -> tuple[Read, ...]:
        """Return for each product the version that the text tells best, in rank order; `learnt` are those that symptoms tell.

        What an installer removed does not count, and no more do the Pythons that releases require.
        """
        new = self._by_product(_put_in, SAYS)
        gone = self._by_product(_taken_out, SAYS)
        removed = {(read.product, read.version) for read in gone} - {(read.product, read.version) for read in new}
        listed = self._by_product(_satisfied, INSTALLED)
        echoes = self._by_product(_echoed, SAYS)
        reads = [*learnt, *new, *echoes, *self._says(), *listed, *self._named()]
        works = {(read.product, read.version) for read in self.working}  # elsewhere, or before
        best: dict[str, tuple[tuple[bool, int], Read]] = {}
        for read in reads:
            if (read.product, read.version) in removed or read.product not in self.facts.products:
                continue
            rank = ((read.product, read.version) in works, read.how)
            if read.product not in best or rank < best[read.product][0]:
                best[read.product] = (rank, read)
        return tuple(best[product][1] for product in self.facts.products if product in best)

    def _by_product(self, parser: Callable[[str], list[VersionMention]], how: int) -> list[Read]:
        imports = {product.import_name: product.id for product in self.facts.products.values() if product.role != Role.LEAF}
        reads = []
        for name, version, at in parser(self.pasted.plain):
            known = self.facts.product(str(canonicalize_name(name)))
            product = known.id if known else imports.get(name)
            if product is not None and self.facts.products[product].distribution is not None:
                reads.append(Read(product, version, self.pasted.line_at(at)[0], how))
        return reads

    def _says(self) -> list[Read]:
        reads = []
        for record in self.facts.guide_records("reading"):
            if record["shown_by"]:
                continue
            for hit in filter(None, map(self.pasted.find, record["patterns"])):
                for name, value in hit.slots:
                    if name in self.facts.products and "." in self.shape(name, value):
                        reads.append(Read(name, self.shape(name, value), hit.line, SAYS))
        return reads

    def _named(self) -> list[Read]:
        """Return the versions that stand behind the names of packages, as installers, lists and file names write them."""
        reads = []
        text = self.pasted.plain
        for product in self.facts.products.values():
            for name in self._spellings(product.id):
                for at in self.pasted.places(name):
                    after = _NEXT.match(text, at + len(name), at + len(name) + 120)
                    before = text[max(0, at - _LINE) : at]
                    if after is None or after[1].endswith("+") or (_BEFORE.search(before) and not before.endswith("/")):
                        continue  # 3.8+ is a bound, of no release
                    version = self.shape(product.id, _WHEEL.sub("", after[1]).rstrip(".-_+"))
                    if tag := _TAG.fullmatch(version):  # of an image: 2.8.10-xpu has 2.8.10+xpu
                        version = f"{tag[1]}+{tag[2]}" if self.is_known(product.id, f"{tag[1]}+{tag[2]}") else tag[1]
                    if version.endswith(".x"):  # a series of which no release is named
                        continue
                    reads.append(Read(product.id, version, self.pasted.line_at(at)[0], _how(text, before, after)))
        return reads

    def are_two(self, product: str) -> bool:
        """Return whether a text lists two packages that bring the folder of a product, such as triton and triton-xpu."""
        folder, text = self.facts.products[product].import_name, self.pasted.plain
        owners = [each.id for each in self.facts.products.values() if each.import_name == folder]
        names = {name for owner in owners for e in self.facts.elements(owner) if (name := e.distribution)}
        forms = (re.compile(rf"(?<![a-z0-9._-]){re.sub('[-_]', '[-_]', name)}(?:==| ){_VERSION}") for name in names)
        found = (next((m for m in form.finditer(text) if _is_there(text, m)), None) for form in forms)
        return sum(match is not None for match in found) > 1

    @cached_property
    def releases(self) -> tuple[NamedRelease, ...]:
        """The releases that a text names, of whatever has any."""
        return named_releases(self.pasted.plain)

    def told_apart(self, known: tuple[str, ...]) -> dict[str, str]:
        """Return what else than these words of a request a text calls good, and which release it blames, in its own words.

        Of a product of the data that is blamed, the release before it stands with it.
        """
        good = [each for each in other_good(self.releases) if f"{self.product_of(each)}=={each.version}" not in known]
        told = {"good": " or ".join(dict.fromkeys(map(self._in_its_words, good[:2])))}
        names = {each.version: each.name for each in self.releases if each.name}
        named = (each._replace(name=names[each.version]) for each in self.releases if each.is_blamed and each.version in names)
        if blamed := next(named, None):
            before = self._release_before(self.product_of(blamed), blamed.version)
            told["blamed"] = self._in_its_words(blamed) + (f" (before it: {before})" if before else "")
        return {name: text for name, text in told.items() if text}

    def _in_its_words(self, release: NamedRelease) -> str:
        name, version = re.escape(release.name), re.escape(release.version)
        forms = (rf"{name}\W{{0,12}}{version}", rf"\b{name}\b")
        told = next(filter(None, (re.search(form, self.own_words, re.IGNORECASE) for form in forms)), None)
        name = told[0][: len(release.name)] if told else release.name
        version = told[0][-len(release.version) :] if told and len(told[0]) > len(name) else release.version
        return f"{name} {version}".strip()

    def _release_before(self, product: str | None, version: str) -> str:
        releases = dict.fromkeys(e.release for e in self.facts.elements(product) if e.installable) if product else ()
        return next((r for r in reversed(list(releases)) if numbers(r) < numbers(version)), "")

    @cached_property
    def working(self) -> list[Read]:
        """Return the releases of which a text says that they work, or that going to them helps."""
        good = (*(each for each in self.releases if each.is_good), *other_good(self.releases))
        told = ((self.product_of(each), each) for each in good)
        reads = (Read(p, self.shape(p, each.version), self.pasted.line_at(each.at)[0], LISTED) for p, each in told if p)
        return list(dict.fromkeys(reads))

    def product_of(self, release: NamedRelease) -> str | None:
        """Return the product of the data that a release is of: by its name, or by a number that nothing else has."""
        for name, form in (("compute-runtime", RUNTIME), ("windows-driver", DRIVER)):
            if form.fullmatch(release.version):
                return name if name in self.facts.products else None
        product = self.facts.product(release.name) if len(release.name) >= _SHORT else None
        return product.id if product and (product.distribution or product.scheme == "dotted") else None

    def shape(self, product: str, text: str) -> str:
        """Return a version as its product writes it: Python 311 is 3.11, 3.11.7.final.0 is 3.11.7; numbers have no tail."""
        if self.facts.products[product].scheme == "dotted":
            number = re.match(r"\d+(?:\.\d+)*", text)
            return number[0] if number else text
        if self.facts.products[product].scheme != "minor":
            return text
        if tag := re.fullmatch(r"(\d)(\d{1,2}t?)", text):
            return f"{tag[1]}.{tag[2]}"
        short = re.match(r"\d\.\d{1,2}(?:\.\d{1,2})?", text)
        return short[0] if short else text

    def _spellings(self, product: str) -> tuple[str, ...]:
        """Return how texts write the name of a package, and of Python."""
        record = self.facts.products[product]
        if record.distribution is None:
            return (product,) if record.scheme == "minor" else ()
        names = {record.distribution, *(element.distribution for element in self.facts.elements(product))}
        spelt = {re.sub(r"[-_.]", sign, plain(name)) for name in names if name for sign in "-_"}
        if record.role != Role.LEAF:
            spelt |= {name for name in self.facts.keys_by_product.get(product, ()) if len(name) >= _SHORT}
        return tuple(sorted(spelt))


def _put_in(text: str) -> list[VersionMention]:
    """Return what an installer says it installed."""
    packages = [VersionMention(m[2], m[3], m.start()) for m in _UV.finditer(text) if m[1] != "-"]
    for match in _PUT_IN.finditer(text):
        for word in match[1].split():
            name, sign, version = word.rpartition("-")
            if sign and version[:1].isdigit():
                packages.append(VersionMention(name, version, match.start()))
    return packages


def _taken_out(text: str) -> list[VersionMention]:
    """Return what an installer says it removed."""
    packages = [VersionMention(m[1].rstrip("-."), m[2].rstrip(".-_"), m.start()) for m in _TAKEN_OUT.finditer(text)]
    return [*packages, *(VersionMention(m[2], m[3], m.start()) for m in _UV.finditer(text) if m[1] == "-")]


def _satisfied(text: str) -> list[VersionMention]:
    """Return what an installer found to be there already."""
    return [VersionMention(m[1], m[2], m.start()) for m in _SATISFIED.finditer(text)]


def _echoed(text: str) -> list[VersionMention]:
    """Return the versions that an interpreter printed when it was asked for `name.__version__`, by the names asked for."""
    packages: list[VersionMention] = []
    waiting: list[str] = []
    left = at = 0
    for line in text.split("\n"):
        asked = _ASKED.findall(line) if "__version__" in line else []
        if asked:
            waiting, left = asked, _ECHO_REACH
        elif waiting and left and (bare := _BARE.match(line)):
            packages.append(VersionMention(waiting.pop(0), bare[1], at))
        left = max(0, left - 1)
        at += len(line) + 1
    return packages


def minor(python: str) -> str:
    """Return the minor release of a Python, such as 3.11 for 3.11.7."""
    return ".".join(python.split(".")[:2])


def _is_there(text: str, match: "re.Match[str]") -> bool:
    return not _WISH.search(text[max(0, match.start() - _LINE) : match.start()])


def _how(text: str, before: str, after: "re.Match[str]") -> int:
    if _REFUSED.search(before.rpartition("\n")[2]):
        return WISHED
    file = _FILE.match(text, after.start(1), after.start(1) + _LINE)
    if file and file[1] == "tar.gz":
        return WISHED
    pinned = file is not None or after[0].startswith("==")
    if pinned and (
        _WISH.search(before) or _ORDER.search(before) or _CANDIDATE.match(text, file.end() if file else after.end())
    ):
        return WISHED
    if not pinned and _WISH.search(before) and not before.endswith("install "):
        return WISHED
    return INSTALLED if _SAID.search(before) else LISTED
