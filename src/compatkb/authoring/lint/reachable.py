"""A product is there because something says something of it."""

from collections.abc import Iterator

import networkx as nx

from compatkb.authoring.knowledge_base import split_term
from compatkb.authoring.lint.subject import LintSubject, terms
from compatkb.core.findings import Finding, Severity
from compatkb.schema import FeatureFile, ImageFile, ProductFile

NAME, LEVEL = "unreachable", Severity.WARNING
SUMMARY = "no record leads from a route or an image to a product, so no answer can show it"


def check(subject: LintSubject) -> Iterator[Finding]:
    """Yield products that are linked to no route, image or platform by any claim or requirement, however far away."""
    if subject.knowledge is None:
        return
    graph: nx.Graph[str] = nx.Graph()
    start = "the questions"
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
    reached = nx.node_connected_component(graph, start)
    for document, file in subject.products:
        if file.product.id not in reached:
            message = f"{file.product.id} is unreachable: no route, image, claim or requirement refers to it"
            yield subject.finding(NAME, LEVEL, document, ("product", "id"), message)
