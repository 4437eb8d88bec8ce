"""A readable part of the knowledge base as a Mermaid diagram: versions as boxes, claims as arrows."""

import re
from typing import Any, NamedTuple

from compatkb.core.vocabulary import ANY_VERSION, Kind, Role
from compatkb.errors import UsageError
from compatkb.store.reader import Snapshot
from compatkb.store.records import Product

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
