"""The knowledge base as a networkx graph of builds, releases and features."""

import io
import re
from datetime import date
from typing import TYPE_CHECKING, Any

from compatkb.core.vocabulary import ANY_VERSION, Certainty, Role
from compatkb.store.reader import Snapshot
from compatkb.store.records import Element

if TYPE_CHECKING:
    import networkx

Row = dict[str, Any]
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def build_graph(facts: Snapshot, products: tuple[str, ...] = ()) -> "networkx.MultiDiGraph[str]":
    """Return the graph; with `products`, what they hold, what they say, and what is said of them.

    A node is named `product==version`; an edge goes from who says it to of whom, and its key is the claim. Claims that a
    decision overruled have no edge, and neither do versions that only a range names. A feature is one node, and its edges go
    to the versions of which sources say that they have it or do not.
    """
    import networkx

    graph: networkx.MultiDiGraph[str] = networkx.MultiDiGraph()
    graph.graph.update({"data_date": facts.meta["data_date"], "digest": facts.meta["digest"]})
    nodes = _Nodes(facts)
    for product in facts.products:
        if not products or product in products:
            for element in facts.elements(product):
                graph.add_node(nodes.name(element), **nodes.node(element))
    claims, statement_by_claim = facts.every_claim(), {statement.claim: statement for statement in facts.statements()}
    cited = facts.sources_by_claim()
    for edge in facts.every_edge():
        of, to = edge.of, edge.to
        if products and of not in products and to not in products:
            continue
        claim, statement = claims[edge.claim], statement_by_claim.get(edge.claim)
        content = {
            "claim": claim.id,
            "kind": statement.status if statement else (claim.kind if to != "os" else edge.kind),
            "basis": "inferred" if edge.level == Certainty.INFERRED else "stated" if edge.stated else "observed",
            "open": edge.open,
            "condition": claim.condition,
            "reason": claim.reason or "",
            "disputes": " ".join(nodes.claims.get(claim.id, ())),
            "sources": " | ".join(url or text for text, url in cited.get(claim.id, ())),
        }
        if edge.spec == ANY_VERSION:
            graph.add_node(to, **nodes.product(to))
            others = [to]
        else:
            named = facts.elements(to).of(statement.mask if statement else edge.to_mask)
            graph.add_nodes_from((nodes.name(element), nodes.node(element)) for element in named)
            others = [nodes.name(element) for element in named]
        for element in facts.elements(of).of(edge.of_mask):
            graph.add_node(nodes.name(element), **nodes.node(element))
            for other in others:
                graph.add_edge(nodes.name(element), other, key=claim.id, **content)
    return graph


def graphml_text(graph: "networkx.MultiDiGraph[str]") -> str:
    """Return a graph as GraphML; letters that XML cannot carry are replaced."""
    import networkx

    plain: networkx.MultiDiGraph[str] = networkx.MultiDiGraph(**_clean(graph.graph))
    plain.add_nodes_from((_clean_text(node), _clean(content)) for node, content in graph.nodes(data=True))
    for number, (one, other, content) in enumerate(graph.edges(data=True)):  # GraphML wants edge ids that are unique
        plain.add_edge(_clean_text(one), _clean_text(other), key=f"e{number}", **_clean(content))
    out = io.BytesIO()
    networkx.write_graphml(plain, out, named_key_ids=True)
    return out.getvalue().decode("utf-8") + "\n"


class _Nodes:
    """Makes nodes: names and attributes of elements and products."""

    def __init__(self, facts: Snapshot) -> None:
        self.facts = facts
        self.series = {product: facts.series_of(product) for product in facts.products}
        self.claims: dict[str, list[str]] = {}
        self.disputes: dict[str, list[tuple[int, str]]] = {}  # of each product, the versions and the dispute
        for dispute in facts.dispute_records().values():
            for claim in dispute.claims:
                self.claims.setdefault(claim, []).append(dispute.id)
            if dispute.kind in ("product", "feature"):
                for subject in facts.subjects[dispute.id]:
                    self.disputes.setdefault(subject.name, []).append((subject.mask, dispute.id))

    def name(self, element: Element) -> str:
        """Return the name of a node; all stages of a feature are one."""
        if self.facts.products[element.product].role == Role.FEATURE:
            return element.product
        return f"{element.product}=={element.version}"

    def node(self, element: Element) -> Row:
        """Return the node of a version, or of a feature."""
        role = self.facts.products[element.product].role
        if role == Role.FEATURE:
            return self.product(element.product)
        disputes = [name for mask, name in self.disputes.get(element.product, ()) if mask >> element.idx & 1]
        return {
            "label": f"{element.product} {element.version}",
            "product": element.product,
            "version": element.version,
            "release": element.release,
            "series": self.series[element.product][element.release],
            "role": role,
            "what": "build" if self.facts.is_build(element) else ("value" if role == Role.DIMENSION else "release"),
            "stage": element.stage,
            "devices": " ".join(sorted(element.devices)),
            "released": _day(element.by if element.by is not None else element.since),
            "eol": _day(element.eol),
            "yanked": element.yank_by is not None,
            "disputes": " ".join(dict.fromkeys(disputes)),
        }

    def product(self, product: str) -> Row:
        """Return the node of a feature, or of a product of which any version will do."""
        nothing = dict.fromkeys(("version", "release", "series", "stage", "devices", "released", "eol"), "")
        role = self.facts.products[product].role
        what = "feature" if role == Role.FEATURE else "product"
        disputes = [name for _, name in self.disputes.get(product, ())] if role == Role.FEATURE else []
        more = {"disputes": " ".join(dict.fromkeys(disputes))}
        return {"label": product, "product": product, "role": role, "what": what, "yanked": False, **nothing, **more}


def _day(ordinal: int | None) -> str:
    return date.fromordinal(ordinal).isoformat() if ordinal else ""


def _clean(content: Row) -> Row:
    return {key: _clean_text(value) if isinstance(value, str) else value for key, value in content.items()}


def _clean_text(text: str) -> str:
    return _NOT_XML.sub("\ufffd", text)
