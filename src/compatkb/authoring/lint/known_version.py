"""A requirement names at least one release that is known."""

from collections.abc import Iterator

from compatkb.authoring.knowledge_base import Knowledge, split_term
from compatkb.authoring.lint.subject import LintSubject, known_terms, sources_of
from compatkb.core.findings import Finding, Severity
from compatkb.schema import Kind

NAME, LEVEL = "known-version", Severity.ERROR
SUMMARY = "a term names no release that the data or the index know"


def check(subject: LintSubject) -> Iterator[Finding]:
    """Yield terms that name nothing: a slip, or a release that is missing."""
    knowledge = subject.knowledge
    if knowledge is None:
        return
    for document, where, term, record in known_terms(subject):
        product, spec = split_term(term)
        try:
            known = _known(knowledge, product, spec)
        except ValueError as error:
            yield subject.finding(NAME, LEVEL, document, where, f"{term}: {error}")
            continue
        if not known:
            sources = sources_of(document.record, getattr(record, "sources", ()))
            message = f"{term} names no known release of {product}"
            yield subject.finding(NAME, LEVEL, document, where, message, sources=sources)
    for document, file in subject.products:
        if (other := file.product.replaced_by) and other.product in knowledge.products:
            try:
                known = _known(knowledge, other.product, other.version)
            except ValueError:
                known = False
            if not known:
                message = f"{other.product}{other.version} names no known release"
                yield subject.finding(NAME, LEVEL, document, ("product", "replaced-by"), message)
    yield from _required(subject, knowledge)


def _required(subject: LintSubject, knowledge: Knowledge) -> Iterator[Finding]:
    """Yield requirements of the index for exactly one version of a product, which nothing lists."""
    documents = {file.distribution: (document, file) for document, file in subject.index}
    for edge in knowledge.edges:
        distribution = knowledge.products[edge.of].distribution
        if not edge.listed or edge.kind is not Kind.NEEDS or distribution not in documents or "==" not in edge.spec:
            continue
        if not _listed(knowledge, edge.to, edge.to_mask):
            document, file = documents[distribution]
            number = (edge.of_mask & -edge.of_mask).bit_length() - 1
            entry = knowledge.elements[edge.of][number].listed
            place = next(n for n, release in enumerate(file.release) if release is entry)
            message = f"{entry.version if entry else ''} requires {edge.to}{edge.spec}, which names no known release"
            yield subject.finding(NAME, LEVEL, document, ("release", place, "requires"), message)


def _known(knowledge: Knowledge, product: str, spec: str) -> bool:
    return not spec or _listed(knowledge, product, knowledge.matching(product, spec))


def _listed(knowledge: Knowledge, product: str, mask: int) -> bool:
    """Return whether any of these releases is more than the echo of a pin."""
    elements = knowledge.elements[product]
    return any(mask >> n & 1 and not element.echo for n, element in enumerate(elements))
