"""Rules on links: where they lead compared with what they say, and their definitions."""

import re
from collections.abc import Iterator
from urllib.parse import quote, unquote

from compatkb.check.document import CheckContext, TextDocument
from compatkb.check.lookups import VERSION, ForgeReference, Lookups, WrittenVersion, lookups, reference, written
from compatkb.check.markdown.text import PAGES, Definition, MarkdownLink, MarkdownPage, TextRun
from compatkb.check.rules import CheckRule
from compatkb.core.findings import Edit, Finding, Severity
from compatkb.core.record import NamedTuple
from compatkb.core.vocabulary import Role
from compatkb.store.records import Product

VERSIONS = CheckRule("link-version", Severity.INFO, "the text of a link names one version, its target another")
BRANCH = CheckRule("link-branch", Severity.INFO, "the text of a link names a version, its target moves on")
EARLY = CheckRule("link-prerelease", Severity.INFO, "the text of a link names a release, its target a pre-release")

_IN_TEXT = re.compile(rf"(?<![\w.+-]){VERSION.pattern}(?![\w.])")
_CURRENT = r"(?i)\b(?:current|latest|newest)\b[^|`.)\n]{0,40}$"
_NAMED = re.compile(r"([A-Za-z]+_[A-Za-z]+)(\d+(?:\.\d+)+(?:\+\w+)?)")
_NUMBERED = re.compile(r"\[[^\[\]\n\d]*+\d|<a\b[^<>]*+>[^<>\n\d]*+\d", re.IGNORECASE)
_NUMBER = re.compile(r"\d+(?:[._]\d+)?")

_MOST_LINK_TO_TAGS = 2
"""So many links of a page to tags of a repository, and one to its branch is a slip."""


class VersionLink(NamedTuple):
    """A link with what it says and where it leads."""

    link: MarkdownLink
    version: WrittenVersion
    definition: Definition | None


@PAGES.rule(VERSIONS, BRANCH, EARLY)
def check(page: MarkdownPage, context: CheckContext) -> Iterator[Finding]:
    """Yield what is wrong with the links of a page."""
    links = [link for piece in _concerning(page) for link in piece.links]
    defined = {definition.label: definition for definition in page.definitions}
    data = lookups(context.facts)
    uses = [
        VersionLink(link, version, defined.get(link.label) if link.label else None)
        for link in links
        if (version := _version_in(link.text, data) or _version_of(link)) is not None
    ]
    seen: set[tuple[str, int, int | None]] = set()
    for use in uses:
        for finding in _judged(page, data, use, uses):
            place = (finding.rule, finding.line, finding.column)
            if place not in seen:
                seen.add(place)
                yield finding


def _concerning(page: MarkdownPage) -> Iterator[TextRun]:
    """Yield the pieces whose links can be judged: with a number in brackets, or all where they may use a definition."""
    everything = page.everything()
    return everything if page.definitions else (piece for piece in everything if _NUMBERED.search(piece.source))


def _version_in(text: str, data: Lookups) -> WrittenVersion | None:
    """Return the version that the text of a link is, or the one that it names right behind a product; else None."""
    if whole := written(text):
        return whole
    matches = [match for match in _IN_TEXT.finditer(text) if "." in match["numbers"]]
    if len(matches) != 1 or data.product(text[: matches[0].start()]) is None:
        return None
    return written(matches[0][0])


def _version_of(link: MarkdownLink) -> WrittenVersion | None:
    """Return the version of a link that is named as a branch, ccl_torch2.8.0, and leads to one of the same form; else None."""
    name, target = _NAMED.fullmatch(link.text), reference(link.target)
    ref = _NAMED.fullmatch(target.ref or "") if name and target else None
    return written(name[2]) if name and ref and ref[1] == name[1] else None


def _judged(page: MarkdownPage, data: Lookups, use: VersionLink, uses: list[VersionLink]) -> Iterator[Finding]:
    document = page.document
    link, version, definition = use
    place = (definition.target_start, definition.target_end) if definition else (link.start, link.end)
    same = [u for u in uses if definition and u.definition is definition]
    if definition and same[0] is not use and len({u.version.text for u in same}) == 1:
        return  # told at the first use, once
    where = f"; {len(same)} links use it" if definition and len(same) > 1 else ""
    target = reference(link.target)
    if target is None:
        yield from _elsewhere(document, data, use)
        return
    if not re.search(r"\d\.\d|^v\d", version.text):
        return  # a bare number is a footnote as often as a version
    leads = written(target.ref) if target.ref else None
    if (name := _NAMED.fullmatch(link.text)) and (ref := _NAMED.fullmatch(target.ref or "")):
        leads = written(ref[2]) if ref[1] == name[1] else None
    if leads is None:
        path = link.target.rpartition(target.ref)[2] if target.ref else ""
        anchor = re.sub(r"\D", "", link.target.partition("#")[2])
        if version.text.lstrip("v") in path or "".join(map(str, version.numbers)) in anchor or len(version.numbers) < 2:
            return  # a folder, page or heading of that version; "v2" alone is as often that of an interface
        if target.ref is None or not re.search(r"\d", target.ref):  # one with digits may be a tag of a name of its own
            if target.ref is None and re.search(_CURRENT, document.text[max(0, link.start - 60) : link.start]):
                return  # it is said to move on
            if sum(_leads_there(other, target.repository) for other in uses) < _MOST_LINK_TO_TAGS:
                return  # a page that links its versions to branches
            shown = target.ref or "the newest release"
            said_so = (
                f"{link.text!r} names a version, but its target is {shown!r} of {target.repository}, which moves on{where}"
            )
            yield document.finding(BRANCH, *place, said_so, fix="link to the tag of that version", subject=link.text)
        return
    if not _agree(version, leads):
        yield _differing(page, data, use, same, target, leads)
    elif leads.early and not version.early:
        message = f"{link.text!r} names a release, but its target is the pre-release {target.ref}{where}"
        yield document.finding(EARLY, *place, message, sources=(link.target,), subject=link.text)


def _leads_there(use: VersionLink, repository: str) -> bool:
    """Return whether a link leads to the tag of its version in a repository."""
    target = reference(use.link.target)
    leads = written(target.ref) if target and target.ref and target.repository == repository else None
    return leads is not None and _agree(use.version, leads)


def _agree(version: WrittenVersion, leads: WrittenVersion) -> bool:
    """Return whether two written versions may be one: a series and its release, and a label that one leaves out."""
    size = min(len(version.numbers), len(leads.numbers))
    longer = version.numbers if len(version.numbers) > size else leads.numbers
    equal = version.numbers[:size] == leads.numbers[:size]
    if not equal or (version.label and leads.label and version.label.lower() != leads.label.lower()):
        return False
    return not (len(version.numbers) > size and any(longer[size:]))


def _differing(
    page: MarkdownPage, data: Lookups, use: VersionLink, same: list[VersionLink], target: ForgeReference, leads: WrittenVersion
) -> Finding:
    """Return that text and target differ: at the definition where all that use it differ from it, else at the link."""
    document = page.document
    link, version, definition = use
    assert target.ref
    message = f"{link.text!r} leads to {target.ref} of {target.repository}"
    alone = definition is None or all(not _agree(u.version, leads) and u.version.text == version.text for u in same)
    start, end = (definition.target_start, definition.target_end) if definition and alone else (link.start, link.end)
    old = document.text[start:end]
    new, fix = None, f"link to {version.text}, or write {leads.text}"
    if _NAMED.fullmatch(link.text):
        fix = f"link to {link.text}, or write {target.ref}"
    if not alone and (better := _better(page, target, version)):
        new, fix = re.sub(r"\[[^\[\]]*\]$", lambda _: f"[{better.text}]", old), f"use [{better.text}]"
    elif alone and (wanted := _tag(data, data.of_repository(target.repository), target, version)):
        new, fix = _replaced(old, target.ref, wanted), f"link to {wanted}"
    edits = (Edit(start, end, new),) if new and new != old else ()
    return document.finding(VERSIONS, start, end, message, fix=fix, edits=edits, subject=link.text)


def _better(page: MarkdownPage, target: ForgeReference, version: WrittenVersion) -> Definition | None:
    """Return the definition that leads to the version that a link names, in the repository that it leads to."""
    for definition in page.definitions:
        other = reference(definition.target)
        if other and other.ref and other.repository.lower() == target.repository.lower():
            leads = written(other.ref)
            if leads and _agree(version, leads) and leads.numbers == version.numbers:
                return definition
    return None


def _tag(data: Lookups, product: Product | None, target: ForgeReference, version: WrittenVersion) -> str | None:
    """Return the tag of a version in the repository that a link leads to, where the data cite that tag."""
    if product is None or not data.mask(product, version.text):
        return None
    public = ".".join(map(str, version.numbers))
    kind = f"+{version.label}" if version.label else None
    leads = written(target.ref or "")
    labels = [kind] if kind else ["", *([f"+{leads.label}"] if leads and leads.label else [])]
    for label in labels:
        for head in ("v", ""):
            tag = f"{head}{public}{label}"
            if (target.repository.lower(), tag.lower()) in data.refs:
                return tag
    return None


def _replaced(text: str, old: str, new: str) -> str | None:
    """Return a text with a reference replaced, written as it stood there; None where it does not stand there once."""
    for form in (quote(old, safe=""), quote(old, safe="+"), old):
        if text.count(f"/{form}") == 1:
            return text.replace(f"/{form}", f"/{quote(new, safe='' if '%' in form or '+' not in old else '+')}")
    return None


def _elsewhere(document: TextDocument, data: Lookups, use: VersionLink) -> Iterator[Finding]:
    """Yield a finding where the address of a page names another version of a product whose versions are numbers alone."""
    link, version, definition = use
    homes = data.facts.homepages()
    for product in data.facts.products.values():
        if product.scheme != "dotted" or product.role != Role.DIMENSION:
            continue
        own_mask = data.mask(product, version.text)
        numbers = [n.replace("_", ".") for n in _NUMBER.findall(unquote(link.target))]
        masks = {number: mask for number in numbers if (mask := data.mask(product, number))}
        home = homes.get(product.id, "")
        if not own_mask or not masks or "/".join(home.split("/")[:3]) not in link.target:
            continue
        if not any(mask & own_mask for mask in masks.values()):
            place = (definition.target_start, definition.target_end) if definition else (link.start, link.end)
            message = f"{link.text!r} leads to {product.name} {max(masks, key=len)}"
            yield document.finding(VERSIONS, *place, message, fix=f"link to the page of {version.text}", subject=link.text)
