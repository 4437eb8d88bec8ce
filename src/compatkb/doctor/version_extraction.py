"""Extracts the versions that a pasted text names: by known output formats, and beside the names of products."""

import re
from collections.abc import Callable
from functools import cached_property
from itertools import islice

from packaging.utils import canonicalize_name

from compatkb.core.record import NamedTuple
from compatkb.core.vocabulary import Role
from compatkb.doctor.error_text import ErrorText, plain
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
_WORKS = re.compile(
    r"(?:works?|worked|working|fine|passes|passed|no (?:issues?|problems?|errors?|crash)|correct|succeeds|downgrad\w{1,4}"
    r"|revert\w{0,4}|roll\w{0,4} back|go(?:ing|es)? back|last good|known good|last working|upgrad\w{1,4}|updat\w{1,4}|fixed"
    r"|resolved|solved|gone)(?: \w{1,12}){0,3}(?: (?:with|on|in|under|using|at|to|by|from|for))?"
    r"[ :(*']{1,4}(?:the )?(?:older |newer |previous )?$"
)
_NOT_WORKING = re.compile(r"(?:n't|not|never|no longer|stop\w{0,4}|fail\w{0,3}|broken|regress\w{0,5})\b[^.;,\n]{0,30}$")
_CURED = re.compile(r"fix|solv|work|gone|helps?\b|disappear|cured")  # without it an update is no cure, and "from" one was good
_WORKED = re.compile(
    r"(?:\+\w{1,12})?[ '*):,-]{1,4}(?:\w{1,12} ){0,2}"
    r"(?:works?|worked|(?:(?:is|was|all|everything) ){1,2}(?:fine|ok|good)|passes|passed|good|ok)\b(?! around)"
)
_NUMBERED = re.compile(
    r"[ :=v'-]{1,12}(?:version |release |driver |series )?v?(\d{1,3}(?:\.\d{1,5}){1,3}(?:\+[a-z0-9.]{1,20})?)"
)
RUNTIME = re.compile(r"(?<![\d.])(2[2-9]\.\d{2}\.\d{5}(?:\.\d{1,3})?)(?![\d.])")
DRIVER = re.compile(r"(?<![\d.])(3[0-2]\.0\.101\.\d{4})(?!\d)")
"""Numbers of the compute runtime and of the driver of Windows, which nothing else has."""
_LINE = 400
_FEW = 64  # numbers that are looked at
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
                    if after is None or (_BEFORE.search(before) and not before.endswith("/")):
                        continue
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
    def working(self) -> list[Read]:
        """Return the releases of which a text says that they work, or that going to them helps."""
        text = self.pasted.plain
        reads: list[Read] = []
        for name, form in (("compute-runtime", RUNTIME), ("windows-driver", DRIVER)):
            said = (each for each in islice(form.finditer(text), _FEW) if self._is_said_to_work(each.start(), each.end()))
            reads += [Read(name, each[1], self.pasted.line_at(each.start())[0], LISTED) for each in said]
        for product in self.facts.products.values():
            if product.distribution is None and product.scheme != "dotted":
                continue
            own = (name for name in self.facts.keys_by_product.get(product.id, ()) if len(name) >= _SHORT)
            names = self._spellings(product.id) or tuple(own)
            for name in names:
                for at in self.pasted.places(name):
                    m = _NUMBERED.match(text, at + len(name))
                    if m is None or _BEFORE.search(text[max(0, at - 1) : at]):
                        continue
                    if self._is_said_to_work(at, m.end()):
                        reads.append(Read(product.id, self.shape(product.id, m[1]), self.pasted.line_at(at)[0], LISTED))
        return [read for read in dict.fromkeys(reads) if read.product in self.facts.products]

    def _is_said_to_work(self, at: int, end: int) -> bool:
        text = self.pasted.plain
        before = text[max(text.rfind("\n", 0, at) + 1, at - 80) : at]
        good = _WORKS.search(before)
        said = bool(good and not _NOT_WORKING.search(before))
        if good and good[0].startswith(("upgrad", "updat")):
            is_cure = bool(_CURED.search(before) or _CURED.search(text, end, end + 60))
            said = said and is_cure is not (" from " in good[0])
        return said or bool(_WORKED.match(text, end))

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
