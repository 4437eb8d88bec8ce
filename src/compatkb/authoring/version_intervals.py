"""Intervals of versions that nobody lists, so that disjoint ranges on a runtime exclude each other.

Of a runtime the data list few versions, and claims bound the rest: `numpy<2` beside `numpy>=2` cannot hold, whether or
not a numpy is listed. Between two bounds that anyone names, every version is admitted by the same ranges, so one
version of each such gap stands for all of them: bit n of an edge's `unlisted` says whether it leaves gap n open.
"""

import re
from dataclasses import replace
from functools import reduce
from operator import or_

from packaging.version import Version

from compatkb.authoring.knowledge_base import Knowledge, KnowledgeEdge
from compatkb.core.versions import Listing, Scheme, parse
from compatkb.core.vocabulary import ANY_VERSION
from compatkb.schema import Kind, Role

_BOUND = re.compile(r"\d+(?:\.\d+)*")


def mark_gaps(knowledge: Knowledge) -> None:
    """Set `unlisted` on every edge to a runtime whose versions have an order by PEP 440."""
    bounded = {
        product.id for product in knowledge.products.values() if product.role is Role.LEAF and product.scheme is Scheme.PEP440
    }
    specs: dict[str, set[str]] = {name: set() for name in bounded}
    for edge in knowledge.edges:
        if edge.to in bounded:
            specs[edge.to].add(edge.spec)
    gaps = {name: _gaps(knowledge, name, specifiers) for name, specifiers in specs.items()}
    admitted = {(name, spec): _admitted(gaps[name], spec) for name, specifiers in specs.items() for spec in specifiers}
    knowledge.edges = [
        replace(edge, unlisted=_open(edge, admitted[edge.to, edge.spec], gaps[edge.to].named("")))
        if edge.to in bounded
        else edge
        for edge in knowledge.edges
    ]


def _open(edge: KnowledgeEdge, admitted: int, every: int) -> int:
    """Return the gaps that an edge leaves open; one that breaks with every version only asks for absence."""
    if edge.kind is not Kind.BREAKS:
        return admitted
    return every if edge.spec == ANY_VERSION else every & ~admitted


def _gaps(knowledge: Knowledge, product: str, specs: set[str]) -> Listing:
    """Return one version of each gap: the bounds themselves where they are not listed, and what is beside them."""
    listed = {parse(Scheme.PEP440, element.version) for element in knowledge.elements[product]}
    bounds = {bound for spec in specs for bound in _BOUND.findall(spec)}
    around = {version for bound in bounds for version in (bound, f"{bound}.0.0.1", _next(bound), f"{_next(bound)}.0.0.1")}
    versions = {Version(text) for text in {*around, "0"}}
    return Listing((n, str(version), str(version)) for n, version in enumerate(sorted(versions - listed)))


def _next(version: str) -> str:
    """Return where a prefix match on `version` ends."""
    *most, last = version.split(".")
    return ".".join((*most, str(int(last) + 1)))


def _admitted(gaps: Listing, spec: str) -> int:
    """Return the gaps that a specifier, or one of several, admits."""
    ways = ["" if one == ANY_VERSION else one for one in spec.split(" or ")]
    return reduce(or_, map(gaps.named, ways))
