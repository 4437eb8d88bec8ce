"""The knowledge base as a networkx graph: builds and releases are nodes, claims between them edges."""

import io
import re
from typing import TYPE_CHECKING, Any

from compatkb.export.tables import ANY_VERSION, is_build, series_of
from compatkb.records import Element
from compatkb.snapshot.read import Snapshot

if TYPE_CHECKING:
    import networkx

Row = dict[str, Any]
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def build_graph(facts: Snapshot, products: tuple[str, ...] = ()) -> "networkx.MultiDiGraph[str]":
    """Return the graph; with `products`, what they hold, what they say, and what is said of them.

    A node is named `product==version`; an edge goes from who says it to of whom, and its key is the claim. Claims that a
    decision overruled have no edge, and neither do versions that only a range names.
    """
    import networkx

    graph: networkx.MultiDiGraph[str] = networkx.MultiDiGraph()
    graph.graph.update({"data_date": facts.meta["data_date"], "digest": facts.meta["digest"]})
    series = {product: series_of(facts, product) for product in facts.products}
    for product in facts.products:
        if not products or product in products:
            for element in facts.elements(product):
                graph.add_node(_name(element), **_node(facts, series, element))
    claims = {row["id"]: row for row in facts.rows("select * from claim")}
    cited = _sources(facts)
    for row in facts.rows("select * from edge order by id"):
        of, to = row["of_product"], row["to_product"]
        if products and of not in products and to not in products:
            continue
        claim = claims[row["claim"]]
        content = {
            "claim": claim["id"],
            "kind": claim["kind"] if to != "os" else row["kind"],
            "basis": row["basis"],
            "open": bool(row["open"]),
            "condition": claim["when_"],
            "reason": claim["reason"] or "",
            "sources": cited.get(claim["id"], ""),
        }
        for one in (own := _chosen(facts, of, row["of_mask"])):
            graph.add_node(_name(one), **_node(facts, series, one))
        if row["spec"] == ANY_VERSION:
            graph.add_node(to, **_product(facts, to))
            others = [to]
        else:
            for other in (named := _chosen(facts, to, row["to_mask"])):
                graph.add_node(_name(other), **_node(facts, series, other))
            others = [_name(other) for other in named]
        for one in own:
            for other in others:
                graph.add_edge(_name(one), other, key=claim["id"], **content)
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


def _name(element: Element) -> str:
    return f"{element.product}=={element.version}"


def _node(facts: Snapshot, series: dict[str, dict[str, str]], element: Element) -> Row:
    role = facts.products[element.product].role
    return {
        "label": f"{element.product} {element.version}",
        "product": element.product,
        "version": element.version,
        "release": element.release,
        "series": series[element.product][element.release],
        "role": role,
        "what": "build" if is_build(facts, element) else ("value" if role == "dimension" else "release"),
        "stage": element.stage,
        "devices": " ".join(sorted(element.devices)),
        "released": _day(element.by if element.by is not None else element.since),
        "eol": _day(element.eol),
        "yanked": element.yank_by is not None,
    }


def _product(facts: Snapshot, product: str) -> Row:
    """Return the node of a product of which any version will do."""
    nothing = dict.fromkeys(("version", "release", "series", "stage", "devices", "released", "eol"), "")
    role = facts.products[product].role
    return {"label": product, "product": product, "role": role, "what": "product", "yanked": False, **nothing}


def _chosen(facts: Snapshot, product: str, mask: str) -> list[Element]:
    bits = int(mask, 16)
    return [element for element in facts.elements(product) if bits >> element.idx & 1]


def _sources(facts: Snapshot) -> dict[str, str]:
    """Return the documents of each claim, their addresses where they have any, between bars."""
    found: dict[str, list[str]] = {}
    for row in facts.rows("select claim, text, url from citation order by claim, n"):
        found.setdefault(row["claim"], []).append(row["url"] or row["text"])
    return {claim: " | ".join(names) for claim, names in found.items()}


def _clean(content: Row) -> Row:
    return {key: _clean_text(value) if isinstance(value, str) else value for key, value in content.items()}


def _clean_text(text: str) -> str:
    return _NOT_XML.sub("\ufffd", text)


def _day(ordinal: int | None) -> str:
    from datetime import date

    return date.fromordinal(ordinal).isoformat() if ordinal else ""
