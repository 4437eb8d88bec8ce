"""What follows from one record to the next comes to an end: replacements, repeated tags, wider values, requirements."""

from collections.abc import Iterator

import networkx as nx

from compatkb.authoring.knowledge_base import split_term
from compatkb.authoring.lint.subject import LintSubject
from compatkb.core.findings import Finding, Severity
from compatkb.schema import Kind

NAME, LEVEL = "loop", Severity.ERROR
SUMMARY = "a chain of replacements, repeated tags, wider values or requirements leads back to its start"


def check(subject: LintSubject) -> Iterator[Finding]:
    """Yield one finding per loop, at the record that comes first in it."""
    replaced: nx.DiGraph[str] = nx.DiGraph()
    needs: nx.DiGraph[str] = nx.DiGraph()
    for _, file in subject.products:
        if file.product.replaced_by:
            replaced.add_edge(file.product.id, file.product.replaced_by.product)
        for claim in file.claim:
            if claim.kind is Kind.NEEDS:
                needs.add_edges_from((split_term(claim.of)[0], split_term(term)[0]) for term in claim.to)
    heads = {file.product.id: document for document, file in subject.products}
    for graph, key, verb in ((replaced, "replaced-by", "is replaced by"), (needs, "id", "needs")):
        for loop in _loops(graph):
            if loop[0] in heads:
                message = f" {verb} ".join((*loop, loop[0]))
                yield subject.finding(NAME, LEVEL, heads[loop[0]], ("product", key), message)
    for document, file in subject.products:
        wider: nx.DiGraph[str] = nx.DiGraph((release.version, name) for release in file.release for name in release.part_of)
        numbers = {release.version: n for n, release in enumerate(file.release)}
        for loop in _loops(wider):
            where = ("release", numbers[loop[0]], "part-of")
            yield subject.finding(NAME, LEVEL, document, where, " is part of ".join((*loop, loop[0])))
    for document, images in subject.images:
        same: nx.DiGraph[str] = nx.DiGraph((tag.name, tag.same_as) for tag in images.tag if tag.same_as)
        tags = {tag.name: n for n, tag in enumerate(images.tag)}
        for loop in _loops(same):
            where = ("tag", tags[loop[0]], "same-as")
            yield subject.finding(NAME, LEVEL, document, where, " is the same as ".join((*loop, loop[0])))


def _loops(graph: "nx.DiGraph[str]") -> list[list[str]]:
    """Return the loops of a graph, each from its first name on, sorted; one per knot, so that there are few."""
    loops = []
    for knot in nx.strongly_connected_components(graph):
        start = min(knot)
        if len(knot) > 1 or graph.has_edge(start, start):
            loops.append([name for name, _ in nx.find_cycle(graph.subgraph(knot), start)])
    return sorted(loops)
