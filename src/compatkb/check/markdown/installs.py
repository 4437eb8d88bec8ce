"""Install commands in code blocks: versions never published, indexes that lack them, pins that exclude each other."""

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from compatkb.check.document import Asked, Rule
from compatkb.check.lookups import BUILT, Known, known, spelt
from compatkb.check.markdown.denials import denial
from compatkb.check.markdown.shell import Command, Word, commands
from compatkb.check.markdown.text import Page
from compatkb.core.findings import Finding, Severity
from compatkb.errors import CompatkbError
from compatkb.request_parser import make_request
from compatkb.store.queries.products import ChannelRecord
from compatkb.store.reader import Snapshot
from compatkb.store.records import Element, Product

UNPUBLISHED = Rule("install-unpublished", Severity.ERROR, "a command installs a version that was never published")
INDEX = Rule("install-index", Severity.ERROR, "a command installs a version from an index that does not carry it")
TOGETHER = Rule("install-together", Severity.ERROR, "a command installs versions that do not work together")
UNPINNED = Rule("install-unpinned", Severity.WARNING, "a command leaves open a version that nothing but the pin would match")
RULES = (UNPUBLISHED, INDEX, TOGETHER, UNPINNED)

_WITH_VALUE = (
    "-r", "--requirement", "-c", "--constraint", "-e", "--editable", "-t", "--target", "--platform", "--python-version",
    "--implementation", "--abi", "--root", "--prefix", "--src", "-d", "--dest", "--cache-dir", "--log", "--proxy", "--timeout",
    "--retries", "--trusted-host", "--cert", "--python", "-p", "--index-strategy", "--no-binary", "--only-binary",
    "--progress-bar",
)  # fmt: skip
_INDEXES = ("-i", "--index-url", "--extra-index-url", "-f", "--find-links", "--index", "--default-index", "--torch-backend")
_REQUIREMENT = re.compile(
    r"(?P<name>[A-Za-z0-9][\w.-]*?)(?:\[[^\]]*\])?\s*(?P<spec>(?:===|==|~=|!=|>=|<=|<|>)[^;@]*)?(?:;.*)?"
)

_MOST = 300  # commands of a page, and requirements of a command


class Wanted(NamedTuple):
    """A requirement of an install command that is about a product of the data."""

    product: Product
    spec: str
    word: Word


class Install(NamedTuple):
    """An install command: what it wants of our products, and the indexes that it names."""

    wanted: tuple[Wanted, ...]
    indexes: tuple[str, ...]
    replaces: bool  # an index in place of the default one
    early: bool  # pre-releases, too


def check(page: Page, asked: Asked) -> Iterator[Finding]:
    """Yield what is wrong with the install commands of a page."""
    data = known(asked.facts)
    installs = (install for command in commands(page) if (install := read_install(command, data)) is not None)
    for install in islice(installs, _MOST):
        found = list(_published(page, data, install, asked))
        yield from found
        if not found:
            yield from _together(page, install, asked)
            yield from _unpinned(page, data, install)


def read_install(command: Command, data: Known) -> Install | None:
    """Return what a command installs of our products; None for other commands, and where it installs none of them."""
    words = [word.text for word in command.words]
    start = _begin(words)
    if start is None:
        return None
    wanted: list[Wanted] = []
    indexes: list[str] = []
    replaces = False
    place = start
    while place < len(command.words) and len(wanted) < _MOST:
        word = command.words[place]
        option, mark, value = word.text.partition("=")
        if option in _INDEXES and word.text.startswith("-"):
            replaces = replaces or option in ("-i", "--index-url", "--default-index")
            if not mark:
                place += 1
                value = words[place] if place < len(words) else ""
            indexes.append(value)
        elif word.text in _WITH_VALUE:
            place += 1
        elif not word.text.startswith("-") and (match := _REQUIREMENT.fullmatch(word.text)):
            product = data.facts.product(match["name"])
            if product and product.distribution and product.role in BUILT:
                wanted.append(Wanted(product, (match["spec"] or "").replace(" ", ""), word))
        place += 1
    return Install(tuple(wanted), tuple(indexes), replaces, "--pre" in words) if wanted else None


def _begin(words: list[str]) -> int | None:
    """Return where the arguments of an install command begin."""
    names = [word.rsplit("/", 1)[-1] for word in words[:5]]
    for number, name in enumerate(names):
        if re.fullmatch(r"pip[\d.]*", name) and "install" in words[number + 1 : number + 4]:
            return words.index("install", number) + 1
        if name == "uv" and words[number + 1 : number + 2] == ["add"]:
            return number + 2
    return None


def _exact(spec: str) -> str | None:
    match = re.fullmatch(r"={2,3}([^,*]+)", spec)
    return match[1] if match else None


def _published(page: Page, data: Known, install: Install, asked: Asked) -> Iterator[Finding]:
    day = asked.day.toordinal()
    for wanted in install.wanted:
        version = _exact(wanted.spec)
        if version is None:
            continue
        product, place = wanted.product, (wanted.word.start, wanted.word.end)
        elements = _elements(data, product, version)
        if not elements:
            sources = data.covered(product, version, day)
            if sources is not None:
                message = f"{product.name} {version} was never published (the release list is complete)"
                yield page.document.finding(UNPUBLISHED, *place, message, sources=sources, subject=wanted.word.text)
            continue
        if not any(element.installable and element.channels for element in elements):
            message = f"{product.name} {version} was never published as something to install ({elements[0].stage})"
            sources = _sources(data, elements[0])
            yield page.document.finding(UNPUBLISHED, *place, message, sources=sources, subject=wanted.word.text)
            continue
        yield from _index(page, data, install, wanted, elements)


def _elements(data: Known, product: Product, version: str) -> list[Element]:
    """Return the builds that pip takes for an exact pin."""
    mask = _pinned(data.facts, product.id, version)
    return data.facts.elements(product.id).of(mask)


@lru_cache(maxsize=4096)
def _pinned(facts: Snapshot, product: str, version: str) -> int:
    try:
        pin = make_request(facts, words=[f"{product}=={version}"]).pin(product)
    except CompatkbError:
        return 0
    return pin.mask if pin and pin.extra is None else 0


def _index(page: Page, data: Known, install: Install, wanted: Wanted, elements: list[Element]) -> Iterator[Finding]:
    """Yield a pin whose build is on none of the indexes that the command asks; unknown addresses may carry anything."""
    rows = data.channels
    asked = {row.id for row in rows for index in install.indexes if _is(row, index)}
    if len(asked) < len({index.rstrip("/") for index in install.indexes}):
        return
    if any(not _carries(data, wanted.product, channel) for channel in asked):
        return
    if not install.replaces:
        asked.add("default")
    carried = {channel for element in elements for channel in element.channels}
    if carried & asked or any(not element.channels for element in elements):
        return
    best = next(row for row in rows if row.id in carried)
    said = ", ".join(row.name for row in rows if row.id in asked)
    message = f"{wanted.product.name} {_exact(wanted.spec)} is not on {said}; {best.name} has it"
    fix = f"add --{best.style} {best.url}" if best.url else "leave out the index"
    sources = _sources(data, elements[0])
    place = (wanted.word.start, wanted.word.end)
    yield page.document.finding(INDEX, *place, message, fix=fix, sources=sources, subject=wanted.word.text)


def _carries(data: Known, product: Product, channel: str) -> bool:
    """Return whether the data know any build of a product on an index; of one without any they know too little."""
    return any(channel in element.channels for element in data.facts.elements(product.id))


def _is(channel: ChannelRecord, index: str) -> bool:
    return index.rstrip("/") in [url.rstrip("/") for url in channel.addresses]


def _together(page: Page, install: Install, asked: Asked) -> Iterator[Finding]:
    pinned = [wanted for wanted in install.wanted if wanted.spec]
    if len(pinned) < 2:
        return
    denied = denial(page, asked, words=tuple(f"{wanted.product.id}{wanted.spec}" for wanted in pinned))
    if denied:
        last = next((wanted for wanted in reversed(pinned) if wanted.product.id in denied.products), pinned[-1])
        about = spelt(f"{wanted.product.id}{wanted.spec}" for wanted in pinned if wanted.product.id in denied.products)
        message = f"{about} do not work together: {denied.said}"
        place = (last.word.start, last.word.end)
        yield page.document.finding(TOGETHER, *place, message, sources=denied.sources, subject=last.word.text)


def _unpinned(page: Page, data: Known, install: Install) -> Iterator[Finding]:
    """Yield products left open that need another one's version, where no metadata tell the installer so."""
    for wanted in install.wanted:
        if wanted.spec or wanted.word.text.endswith("]"):
            continue
        bound = data.bound_unseen(wanted.product.id)
        if bound:
            names = spelt(data.facts.products[other].name for other in bound)
            message = f"{wanted.product.name} is unpinned, and no metadata tie it to the version of {names} it requires"
            fix = f"pin both; `compatkb resolve {wanted.product.id}` names versions that fit"
            place = (wanted.word.start, wanted.word.end)
            yield page.document.finding(UNPINNED, *place, message, fix=fix, subject=wanted.word.text)


def _sources(data: Known, element: Element) -> tuple[str, ...]:
    from compatkb.output.messages import element_sources

    return tuple(url or text for text, url in element_sources(data.facts, element))
