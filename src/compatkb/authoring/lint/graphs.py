"""Requirements have no circles, and every product can be reached."""

from collections.abc import Iterator

import networkx as nx

from compatkb.authoring.knowledge_base import split_term
from compatkb.authoring.lint.subject import LintProblem, LintSubject, terms
from compatkb.schema import FeatureFile, ImageFile, IssueFile, Kind, ProductFile


def loops(subject: LintSubject) -> Iterator[LintProblem]:
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
                yield LintProblem(heads[loop[0]], ("product", key), message)
    for document, file in subject.products:
        wider: nx.DiGraph[str] = nx.DiGraph((release.version, name) for release in file.release for name in release.part_of)
        numbers = {release.version: n for n, release in enumerate(file.release)}
        for loop in _loops(wider):
            yield LintProblem(document, ("release", numbers[loop[0]], "part-of"), " is part of ".join((*loop, loop[0])))
    for document, images in subject.images:
        same: nx.DiGraph[str] = nx.DiGraph((tag.name, tag.same_as) for tag in images.tag if tag.same_as)
        tags = {tag.name: n for n, tag in enumerate(images.tag)}
        for loop in _loops(same):
            yield LintProblem(document, ("tag", tags[loop[0]], "same-as"), " is the same as ".join((*loop, loop[0])))


def _loops(graph: "nx.DiGraph[str]") -> list[list[str]]:
    """Return the loops of a graph, each from its first name on, sorted; one per knot, so that there are few."""
    loops = []
    for knot in nx.strongly_connected_components(graph):
        start = min(knot)
        if len(knot) > 1 or graph.has_edge(start, start):
            loops.append([name for name, _ in nx.find_cycle(graph.subgraph(knot), start)])
    return sorted(loops)


def reachable(subject: LintSubject) -> Iterator[LintProblem]:
    """Yield products that no route, image, platform or known issue leads to by claims or requirements, however far away."""
    if subject.knowledge is None:
        return
    start = "the questions"
    graph: nx.Graph[str] = nx.Graph()
    graph.add_node(start)
    for route in subject.files.routes.route:
        graph.add_edges_from((start, name) for name in (route.provider, *route.with_, *route.without))
    for _, file in subject.products:
        graph.add_node(file.product.id)
        if file.product.platform or file.product.default:
            graph.add_edge(start, file.product.id)
    for document in subject.documents:
        if isinstance(document.record, ProductFile | ImageFile | FeatureFile):
            own = document.record.product.id if isinstance(document.record, ProductFile) else start
            graph.add_edges_from((own, split_term(term)[0]) for _, term, _ in terms(document.record))
    graph.add_edges_from((edge.of, edge.to) for edge in subject.knowledge.edges)
    used = {device for _, file in subject.products for r in file.release for build in r.build for device in build.devices}
    for name, file in subject.by_id.items():
        if used & {release.version for release in file.release}:
            graph.add_edge(start, name)
    for _, issues in subject.of(IssueFile):
        named = [[each.product for each in issue.where if each.product] for issue in issues.issue]
        graph.add_edges_from((start, product) for products in named for product in products)
    reached = nx.node_connected_component(graph, start)
    for document, file in subject.products:
        if file.product.id not in reached:
            message = f"{file.product.id} is unreachable: no route, image, known issue, claim or requirement refers to it"
            yield LintProblem(document, ("product", "id"), message)
