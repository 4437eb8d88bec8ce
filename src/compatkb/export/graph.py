"""The knowledge base as a networkx graph of builds, releases and features; a readable part of it as a Mermaid diagram."""

import io
import re
from datetime import date
from typing import TYPE_CHECKING, Any

from compatkb.core.record import NamedTuple
from compatkb.core.vocabulary import ANY_VERSION, Certainty, Kind, Role
from compatkb.errors import UsageError
from compatkb.store.reader import Snapshot
from compatkb.store.records import Element, Product

if TYPE_CHECKING:
    import networkx

NODES, ARROWS = 120, 400
"""How much a diagram holds at most; Mermaid itself refuses more than 500 arrows."""

LEVELS = ("series", "release", "build")
_SHOWN = ("package", "companion")
_PLAIN = re.compile(r"[^A-Za-z0-9 .,+_:/()-]")
_ARROWS = {"needs": "-->", "constrains": "-->", "verified": "-.->", "breaks": "--x"}
_STATUSES = {
    "supported": "verified",
    "beta": "verified",
    "prototype": "verified",
    "not-supported": "breaks",
    "removed": "breaks",
}
"""As what a statement about a feature is drawn."""


class Diagram(NamedTuple):
    """Boxes by product, arrows between boxes, and how much was left out."""

    groups: tuple[tuple[str, str, tuple[str, ...]], ...]  # product, its name, its boxes; newest first
    arrows: tuple[tuple[tuple[str, str], tuple[str, str], str], ...]  # from, to, kind
    left_out: int  # arrows
    data_date: str


def draw(facts: Snapshot, products: tuple[str, ...], level: str) -> Diagram:
    """Return the diagram of a product with the packages that it speaks of or that speak of it; of several, among them.

    A feature is one box, with arrows to the versions of which sources say that they have it or do not. An arrow stands for
    one or more claims of that kind; of two boxes the newest claims come first, and those beyond the
    limits are left out. Raises UsageError where no product is named.
    """
    if not products:
        raise UsageError("a diagram needs --product, once or several times")
    label = {p: _labels(facts, p, level) for p in facts.products}
    rank_by_arrow: dict[tuple[tuple[str, str], tuple[str, str], str], int] = {}
    statement_by_claim = {statement.claim: statement for statement in facts.statements()}
    for edge in facts.every_edge():
        of, to, statement = edge.of, edge.to, statement_by_claim.get(edge.claim)
        derived = edge.kind == Kind.BREAKS and to == "os"  # what follows from the systems that a claim names
        if derived or not _wanted(products, facts.products[of], facts.products[to]) or edge.spec == ANY_VERSION:
            continue
        for one in _boxes(label[of], edge.of_mask):
            for other in _boxes(label[to], statement.mask if statement else edge.to_mask):
                arrow = ((of, one[0]), (to, other[0]), statement.status if statement else edge.kind)
                rank_by_arrow[arrow] = min(rank_by_arrow.get(arrow, one[1] + other[1]), one[1] + other[1])
    order = sorted(rank_by_arrow, key=lambda arrow: (rank_by_arrow[arrow], arrow))
    arrows: list[tuple[tuple[str, str], tuple[str, str], str]] = []
    boxes: set[tuple[str, str]] = set()
    for arrow in order:
        more = boxes | {arrow[0], arrow[1]}
        if len(arrows) < ARROWS and len(more) <= NODES:
            arrows.append(arrow)
            boxes = more
    groups = []
    for product in facts.products:
        labels = dict.fromkeys(name for name, _ in sorted(label[product].values(), key=lambda pair: pair[1]))
        names = tuple(name for name in labels if (product, name) in boxes)
        if names:
            groups.append((product, facts.products[product].name, names))
    return Diagram(tuple(groups), tuple(sorted(arrows)), len(rank_by_arrow) - len(arrows), facts.meta["data_date"])


def mermaid_text(diagram: Diagram) -> str:
    """Return a diagram as Mermaid flowchart."""
    ids = _ids(diagram)
    lines = ["flowchart LR", *(f"    %% {line}" for line in _remarks(diagram))]
    for number, (product, name, boxes) in enumerate(diagram.groups):
        lines.append(f'    subgraph p{number}["{_mermaid(name)}"]')
        lines += [f'        {ids[product, box]}["{_mermaid(f"{product} {box}".strip())}"]' for box in boxes]
        lines.append("    end")
    lines += [
        f"    {ids[one]} {_ARROWS[_STATUSES.get(kind, kind)]}|{kind}| {ids[other]}" for one, other, kind in diagram.arrows
    ]
    return "\n".join(lines) + "\n"


def _wanted(products: tuple[str, ...], of: Product, to: Product) -> bool:
    if len(products) > 1:
        return of.id in products and to.id in products
    other = to if of.id in products else of
    return products[0] in (of.id, to.id) and other.role in _SHOWN


def _labels(facts: Snapshot, product: str, level: str) -> dict[int, tuple[str, int]]:
    """Return the box of each element and its place from the newest."""
    elements = facts.elements(product)
    if facts.products[product].role == Role.FEATURE:
        return {element.idx: ("", 0) for element in elements}
    series = facts.series_of(product)
    names = {e.idx: {"series": series[e.release], "release": e.release, "build": e.version}[level] for e in elements}
    places: dict[str, int] = {}
    for element in reversed(elements):
        places.setdefault(names[element.idx], len(places))
    return {number: (name, places[name]) for number, name in names.items()}


def _boxes(labels: dict[int, tuple[str, int]], mask: int) -> list[tuple[str, int]]:
    return sorted({box for number, box in labels.items() if mask >> number & 1})


def _ids(diagram: Diagram) -> dict[tuple[str, str], str]:
    boxes = [(product, box) for product, _, names in diagram.groups for box in names]
    return {box: f"n{number}" for number, box in enumerate(boxes)}


def _remarks(diagram: Diagram) -> list[str]:
    remarks = [f"data of {diagram.data_date}; an arrow stands for one claim or more of its kind"]
    if diagram.left_out:
        remarks.append(
            f"{diagram.left_out} arrows between older versions are left out, beyond {NODES} boxes or {ARROWS} arrows"
        )
    return remarks


def _mermaid(text: str) -> str:
    """Return text as the body of a quoted label: what could end or mark up a label becomes its character code."""
    return _PLAIN.sub(lambda letter: _coded(letter[0]), text)


def _coded(letter: str) -> str:
    return " " if letter.isspace() or not letter.isprintable() else f"#{ord(letter)};"


def remark(diagram: Diagram) -> str | None:
    """Return what users must know of a diagram that leaves something out."""
    lost: Any = diagram.left_out
    return f"{lost} arrows were left out; name more products, or fewer" if lost else None


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
