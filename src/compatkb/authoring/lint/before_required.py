"""Nothing comes out before what it is made of."""

from collections.abc import Iterator
from datetime import date

from compatkb.authoring.knowledge_base import Knowledge, KnowledgeEdge, first_day, split_term
from compatkb.authoring.lint.subject import LintSubject
from compatkb.core.findings import Finding, Severity
from compatkb.schema import ImageFile, Kind

NAME, LEVEL = "before-required", Severity.ERROR
SUMMARY = "a release or image is older than the only versions that it can be with"


def check(subject: LintSubject) -> Iterator[Finding]:
    """Yield exact requirements, and contents of images, that were not out yet."""
    knowledge = subject.knowledge
    if knowledge is None:
        return
    index = {file.distribution: document for document, file in subject.index}
    for edge in knowledge.edges:
        if edge.kind not in (Kind.NEEDS, Kind.CONSTRAINS) or "==" not in edge.spec:
            continue
        first = _first(knowledge, edge.to, edge.to_mask)
        if first is None:
            continue
        early = list(_earlier(knowledge, edge, first))
        if not early:
            continue
        message = f"{early[0]}, and {edge.to}{edge.spec} only on {first}"
        cited = knowledge.claims[edge.claim]
        if edge.claim in subject.claims:
            document, where = subject.claims[edge.claim]
            yield subject.finding(NAME, LEVEL, document, where, message, sources=cited.sources)
        elif (name := knowledge.products[edge.of].distribution) in index:
            of = (edge.of_mask & -edge.of_mask).bit_length() - 1
            release = knowledge.elements[edge.of][of].listed
            file = next(file for _, file in subject.index if file.distribution == name)
            number = next(n for n, r in enumerate(file.release) if r is release)
            yield subject.finding(NAME, LEVEL, index[name], ("release", number, "requires"), message, sources=cited.sources)
    for document, images in subject.images:
        yield from _images(subject, knowledge, document.path, images)


def _first(knowledge: Knowledge, product: str, mask: int) -> date | None:
    """Return the first day on which one of these can have been out, None where any of them has no date."""
    days = [first_day(element)[0] for n, element in enumerate(knowledge.elements[product]) if mask >> n & 1]
    known = [day for day in days if day]
    return min(known) if known and len(known) == len(days) else None


def _earlier(knowledge: Knowledge, edge: KnowledgeEdge, first: date) -> Iterator[str]:
    for number, element in enumerate(knowledge.elements[edge.of]):
        last = first_day(element)[1]
        if edge.of_mask >> number & 1 and last and last < first:
            yield f"{edge.of} {element.version} came out on {last}"


def _images(subject: LintSubject, knowledge: Knowledge, path: str, file: ImageFile) -> Iterator[Finding]:
    document = next(document for document in subject.documents if document.path == path)
    days = {revision.n: revision.at.date() for revision in file.revision}
    listed: dict[str, date] = {}
    for listing in file.listing:
        for name in listing.tags:
            shown = [days[first] for first, _ in listing.runs if first in days]
            listed[name] = min([*shown, *([listed[name]] if name in listed else [])], default=date.max)
    for number, tag in enumerate(file.tag):
        for position, held in enumerate(tag.contains):
            product, spec = split_term(held.is_)
            if product not in knowledge.products:
                continue  # rule `references` says so
            mask = knowledge.matching(product, spec)
            first = _first(knowledge, product, mask)
            if first and tag.name in listed and listed[tag.name] < first:
                message = f"{tag.name} was listed on {listed[tag.name]}, and {held.is_} came out only on {first}"
                yield subject.finding(NAME, LEVEL, document, ("tag", number, "contains", position), message)
