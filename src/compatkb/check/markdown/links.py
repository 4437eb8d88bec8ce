"""Links: where they lead against what they say, and their definitions."""

import re
from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import quote, unquote

from compatkb.check.document import Asked, Document
from compatkb.check.lookups import VERSION, Known, Reference, Written, known, reference, written
from compatkb.check.markdown.text import PAGES, Definition, Link, Page
from compatkb.check.rules import Rule
from compatkb.core.findings import Edit, Finding, Severity
from compatkb.core.vocabulary import Role
from compatkb.store.queries.products import homepages
from compatkb.store.records import Product

VERSIONS = Rule("link-version", Severity.ERROR, "the text of a link names one version, its target another")
BRANCH = Rule("link-branch", Severity.WARNING, "the text of a link names a version, its target moves on")
EARLY = Rule("link-prerelease", Severity.WARNING, "the text of a link names a release, its target a pre-release")
MISSING = Rule("link-tag-missing", Severity.WARNING, "a link points to a tag that does not exist")
UNDEFINED = Rule("link-undefined", Severity.WARNING, "brackets look like a link, but what they name is not defined")
UNUSED = Rule("link-unused", Severity.INFO, "a link definition is used nowhere")
TWICE = Rule("link-twice", Severity.WARNING, "a link label is defined twice; readers see the first definition only")

_IN_TEXT = re.compile(rf"(?<![\w.+-]){VERSION.pattern}(?![\w.])")
_INDEXED = re.compile(r"\d{1,2}|\d-\d|[\"'].*")  # what follows brackets in code and formulas
_NUMBER = re.compile(r"\d+(?:[._]\d+)?")


class Use(NamedTuple):
    """A link with what it says and where it leads."""

    link: Link
    said: Written
    definition: Definition | None


@PAGES.rule(VERSIONS, BRANCH, EARLY, MISSING, UNDEFINED, UNUSED, TWICE)
def check(page: Page, asked: Asked) -> Iterator[Finding]:
    """Yield what is wrong with the links of a page."""
    links = [link for piece in page.everything() for link in piece.links]
    defined = {definition.label: definition for definition in page.definitions if definition.counts}
    data = known(asked.facts)
    uses = [
        Use(link, said, defined.get(link.label) if link.label else None)
        for link in links
        if (said := _version_in(link.text, data)) is not None
    ]
    told: set[tuple[str, int, int | None]] = set()
    for use in uses:
        for finding in _judged(page, data, use, uses):
            place = (finding.rule, finding.line, finding.column)
            if place not in told:
                told.add(place)
                yield finding
    yield from _missing(page, data, links, defined, asked)
    yield from _definitions(page, links)


def _version_in(text: str, data: Known) -> Written | None:
    """Return the version that the text of a link is, or the one that it names right behind a product; else None."""
    if whole := written(text):
        return whole
    found = [match for match in _IN_TEXT.finditer(text) if "." in match["numbers"]]
    if len(found) != 1 or data.product(text[: found[0].start()]) is None:
        return None
    return written(found[0][0])


def _judged(page: Page, data: Known, use: Use, uses: list[Use]) -> Iterator[Finding]:
    document = page.document
    link, said, definition = use
    place = (definition.target_start, definition.target_end) if definition else (link.start, link.end)
    same = [u for u in uses if definition and u.definition is definition]
    if definition and same[0] is not use and len({u.said.text for u in same}) == 1:
        return  # told at the first use, once
    where = f"; {len(same)} links use it" if definition and len(same) > 1 else ""
    target = reference(link.target)
    if target is None:
        yield from _elsewhere(document, data, use)
        return
    if not re.search(r"\d\.\d|^v\d", said.text):
        return  # a bare number is a footnote as often as a version
    leads = written(target.ref) if target.ref else None
    if leads is None:
        if target.ref is None or not re.search(r"\d", target.ref):  # one with digits may be a tag of a name of its own
            shown = target.ref or "the newest release"
            said_so = (
                f"{link.text!r} names a version, but its target is {shown!r} of {target.repository}, which moves on{where}"
            )
            yield document.finding(BRANCH, *place, said_so, fix="link to the tag of that version", subject=link.text)
        return
    if not _agree(said, leads):
        yield _differing(page, data, use, same, target, leads)
    elif leads.early and not said.early:
        message = f"{link.text!r} names a release, but its target is the pre-release {target.ref}{where}"
        yield document.finding(EARLY, *place, message, sources=(link.target,), subject=link.text)


def _agree(said: Written, leads: Written) -> bool:
    """Return whether two written versions may be one: a series and its release, and a label that one leaves out."""
    size = min(len(said.numbers), len(leads.numbers))
    longer = said.numbers if len(said.numbers) > size else leads.numbers
    equal = said.numbers[:size] == leads.numbers[:size]
    if not equal or (said.label and leads.label and said.label.lower() != leads.label.lower()):
        return False
    return not (len(said.numbers) > size and any(longer[size:]))


def _differing(page: Page, data: Known, use: Use, same: list[Use], target: Reference, leads: Written) -> Finding:
    """Return that text and target differ: at the definition where all that use it differ from it, else at the link."""
    document = page.document
    link, said, definition = use
    assert target.ref
    message = f"{link.text!r} leads to {target.ref} of {target.repository}"
    alone = definition is None or all(not _agree(u.said, leads) and u.said.text == said.text for u in same)
    start, end = (definition.target_start, definition.target_end) if definition and alone else (link.start, link.end)
    old = document.text[start:end]
    new, fix = None, f"link to {said.text}, or write {leads.text}"
    if not alone and (better := _better(page, target, said)):
        new, fix = re.sub(r"\[[^\[\]]*\]$", lambda _: f"[{better.text}]", old), f"use [{better.text}]"
    elif alone and (wanted := _tag(data, data.of_repository(target.repository), target, said)):
        new, fix = _replaced(old, target.ref, wanted), f"link to {wanted}"
    edits = (Edit(start, end, new),) if new and new != old else ()
    return document.finding(VERSIONS, start, end, message, fix=fix, edits=edits, subject=link.text)


def _better(page: Page, target: Reference, said: Written) -> Definition | None:
    """Return the definition that leads to the version that a link names, in the repository that it leads to."""
    for definition in page.definitions:
        other = reference(definition.target)
        if definition.counts and other and other.ref and other.repository.lower() == target.repository.lower():
            leads = written(other.ref)
            if leads and _agree(said, leads) and leads.numbers == said.numbers:
                return definition
    return None


def _tag(data: Known, product: Product | None, target: Reference, said: Written) -> str | None:
    """Return the tag of a version in the repository that a link leads to, where the data cite that tag."""
    if product is None or not data.mask(product, said.text):
        return None
    public = ".".join(map(str, said.numbers))
    kind = f"+{said.label}" if said.label else None
    labels = [kind] if kind else ["", *sorted(_labels(target.ref or ""))]
    for label in labels:
        for head in ("v", ""):
            tag = f"{head}{public}{label}"
            if (target.repository.lower(), tag.lower()) in data.refs:
                return tag
    return None


def _labels(ref: str) -> set[str]:
    leads = written(ref)
    return {f"+{leads.label}"} if leads and leads.label else set()


def _replaced(text: str, old: str, new: str) -> str | None:
    """Return a text with a reference replaced, written as it stood there; None where it does not stand there once."""
    for form in (quote(old, safe=""), quote(old, safe="+"), old):
        if text.count(f"/{form}") == 1:
            return text.replace(f"/{form}", f"/{quote(new, safe='' if '%' in form or '+' not in old else '+')}")
    return None


def _elsewhere(document: Document, data: Known, use: Use) -> Iterator[Finding]:
    """Yield a finding where the address of a page names another version of a product whose versions are numbers alone."""
    link, said, definition = use
    homes = homepages(data.facts)
    for product in data.facts.products.values():
        if product.scheme != "dotted" or product.role != Role.DIMENSION:
            continue
        mine = data.mask(product, said.text)
        numbers = [n.replace("_", ".") for n in _NUMBER.findall(unquote(link.target))]
        masks = {number: mask for number in numbers if (mask := data.mask(product, number))}
        home = homes.get(product.id, "")
        if not mine or not masks or "/".join(home.split("/")[:3]) not in link.target:
            continue
        if not any(mask & mine for mask in masks.values()):
            place = (definition.target_start, definition.target_end) if definition else (link.start, link.end)
            message = f"{link.text!r} leads to {product.name} {max(masks, key=len)}"
            yield document.finding(VERSIONS, *place, message, fix=f"link to the page of {said.text}", subject=link.text)


def _missing(page: Page, data: Known, links: list[Link], defined: dict[str, Definition], asked: Asked) -> Iterator[Finding]:
    """Yield links to tags of a product whose list of releases is whole and has no such release."""
    told: set[str] = set()
    for link in links:
        target = reference(link.target)
        if target is None or target.ref is None or link.target in told:
            continue
        product = data.of_repository(target.repository)
        leads = written(target.ref)
        if (
            product is None
            or leads is None
            or len(leads.numbers) < 2
            or data.mask(product, target.ref)
            or data.mask(product, ".".join(map(str, leads.numbers)))
            or (target.repository.lower(), target.ref.lower()) in data.refs  # many: looked at last
        ):
            continue
        sources = data.covered(product, target.ref, asked.clock.lists_until)
        if sources is None:
            continue
        told.add(link.target)
        definition = defined.get(link.label) if link.label else None
        place = (definition.target_start, definition.target_end) if definition else (link.start, link.end)
        message = f"{target.repository} has no release {target.ref} (the release list of {product.name} is complete)"
        yield page.document.finding(MISSING, *place, message, sources=sources, subject=target.ref)


def _definitions(page: Page, links: list[Link]) -> Iterator[Finding]:
    used = {link.label for link in links if link.label}
    first = {d.label: d for d in page.definitions if d.counts}
    for definition in page.definitions:
        if _remark(definition):
            continue
        if not definition.counts:
            other = first.get(definition.label)
            line = page.document.place(other.start).line if other else 0
            also = ", with another target" if other and other.target != definition.target else ""
            message = f"[{definition.text}] is defined on line {line} already{also}; this definition has no effect"
            yield page.document.finding(TWICE, definition.start, definition.end, message, subject=definition.text)
        elif definition.label not in used and page.unread is None:
            message = f"nothing uses the definition of [{definition.text}]"
            yield page.document.finding(
                UNUSED, definition.start, definition.end, message, fix="remove it", subject=definition.text
            )
    for piece in page.everything() if page.unread is None else ():  # else definitions may stand in what was not read
        for loose in piece.loose:
            alone = piece.text.strip() == f"[{loose.text}]" and re.fullmatch(r"\d{3,}", loose.text)
            version = written(loose.text) and re.search(r"\d\.\d|^v\d", loose.text)
            full = loose.full and not _INDEXED.fullmatch(loose.label)
            if full or (piece.kind == "cell" and not loose.full and (version or alone)):
                message = f"[{loose.label}] is not defined, so readers see the brackets"
                fix = f"add a definition: [{loose.label}]: ADDRESS"
                yield page.document.finding(UNDEFINED, loose.start, loose.end, message, fix=fix, subject=loose.label)


def _remark(definition: Definition) -> bool:
    """Return whether a definition is a remark, as `[//]: # (text)` is to those who write them so."""
    return definition.text.startswith("//") or definition.text == "comment" or definition.target in ("", "#", "/")
