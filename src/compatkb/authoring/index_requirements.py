"""Turns index metadata into claims: Requires-Dist, and what exact pins pass on."""

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from functools import cache, lru_cache

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from compatkb.authoring.build_kinds import of_one_release, of_other_kinds
from compatkb.authoring.knowledge_base import ClaimOrigin, Knowledge, KnowledgeEdge, SourcedClaim
from compatkb.schema import Basis, Claim, IndexFile, IndexRelease, Kind, Role

_normal = cache(canonicalize_name)  # releases say the same again and again
_LOWER = frozenset([">=", ">", "!="])
_EXTRA = re.compile(r"extra\s*==\s*['\"]([^'\"]+)['\"]")


@lru_cache(maxsize=16384)  # releases say the same again and again, and are read twice
def required_always(text: str) -> Requirement | None:
    """Return a requirement that holds without extras; None for another, and for what is none: lint reports that."""
    try:
        requirement = Requirement(text)
    except InvalidRequirement:
        return None
    return requirement if requirement.marker is None or "extra" not in str(requirement.marker) else None


@lru_cache(maxsize=16384)
def _extra_of(text: str) -> tuple[str, Requirement] | None:
    """Return the extra that alone leads to a requirement, and the requirement; None where it is none, or two do."""
    extras = set(_EXTRA.findall(text))
    try:
        return (extras.pop(), Requirement(text)) if len(extras) == 1 else None
    except InvalidRequirement:
        return None


def worth_recording(texts: Iterable[str], distributions: Collection[str]) -> tuple[str, ...]:
    """Return the requirements that an index file keeps: of those of extras alone the ones that name a product.

    `distributions` are the normalized names of the products; what cannot be read is kept, and lint reports it.
    """
    return tuple(text for text in texts if not (found := _extra_in(text)) or found in distributions)


def _extra_in(text: str) -> str:
    """Return the normalized name of what is required with an extra alone; empty for anything else."""
    try:
        requirement = Requirement(text)
    except InvalidRequirement:
        return ""
    return str(canonicalize_name(requirement.name)) if "extra" in str(requirement.marker or "") else ""


def _demands(
    knowledge: Knowledge, product: str, number: int, release: IndexRelease
) -> Iterator[tuple[Requirement, str, Kind, bool]]:
    """Yield what a release requires, the extra that it takes, whether that has to be there, and whether it is asked for alone.

    It has to with an extra that the build is of no use without. An extra that is named for what it requires
    (`optimum-intel[openvino]`) says with which versions of that the release goes, if it is there: what is older lacks
    something; what is newer was not out, and stays open. What else such an extra requires holds where the extra is asked for.
    """
    yield from ((requirement, "", Kind.NEEDS, False) for requirement in filter(None, map(required_always, release.requires)))
    build = knowledge.elements[product][number].build
    for extra, requirement in filter(None, map(_extra_of, release.requires)):
        name = _normal(requirement.name)
        to = knowledge.distributions.get(name)
        if build and extra in build.extras:
            yield requirement, extra, Kind.NEEDS, False
        elif to and knowledge.products[to].role is not Role.LEAF:
            named = canonicalize_name(extra)
            if named in (name, to):
                yield requirement, extra, Kind.CONSTRAINS, False
            elif named in knowledge.distributions or named in knowledge.products:
                yield requirement, extra, Kind.CONSTRAINS, True


def index_edges(knowledge: Knowledge, product: str, file: IndexFile) -> Iterator[KnowledgeEdge]:
    """Read Requires-Dist as claims, PEP 440 to the letter: exact pins vouch for what they name, ranges only hint at it."""
    listed = {id(element.listed): number for number, element in enumerate(knowledge.elements[product]) if element.listed}
    for release in file.release:
        number = listed.get(id(release))
        if number is None:
            continue
        for requirement, extra, kind, is_asked in _demands(knowledge, product, number, release):
            to, spec = knowledge.distributions.get(_normal(requirement.name)), str(requirement.specifier)
            if to is None or to == product or not spec:
                continue
            cells = knowledge.grid.marker_cells(requirement.marker, extra)
            if not cells:
                continue
            key = f"{product}-{release.version}-requires-{to}"
            while key in knowledge.claims:
                key += "-too"
            at = f"Requires-Dist of the extra {extra}" if extra else "Requires-Dist"
            source = knowledge.index_source(release, at)
            claim = Claim(id=key, kind=kind, of=f"{product}=={release.version}", to=(f"{to}{spec}",), sources=("index",))
            knowledge.claims[key] = SourcedClaim(claim, product, (source,), ClaimOrigin.INDEX)
            exact = any(clause.operator == "==" for clause in requirement.specifier)
            of_mask, to_mask = of_one_release(knowledge, product, number, to), knowledge.matching(to, spec, strict=True)
            basis = Basis.OBSERVED if exact and kind is Kind.NEEDS else Basis.INFERRED
            asked = canonicalize_name(extra) if is_asked else ""
            binds = kind is Kind.NEEDS or is_asked or all(clause.operator in _LOWER for clause in requirement.specifier)
            yield KnowledgeEdge(
                key, kind, product, of_mask, to, to_mask, spec, cells, cells, basis, in_metadata=binds, extra=asked
            )
            others = of_other_kinds(knowledge, product, number, to)
            if others and "+" not in spec:
                yield KnowledgeEdge(
                    key, kind, product, others, to, to_mask, spec, cells, 0, basis, in_metadata=binds, extra=asked
                )


def passed_on(knowledge: Knowledge) -> list[KnowledgeEdge]:
    """Return what builds require through runtimes that they pin: who brings one exact version brings its requirements."""
    listed = [edge for edge in knowledge.edges if edge.in_metadata]
    edge_by_key: dict[tuple[str, int, str, str], KnowledgeEdge] = {}
    for edge in listed:  # which grows: what is passed on can be an exact pin itself
        pinned = edge.basis is Basis.OBSERVED and edge.to_mask.bit_count() == 1 and "*" not in edge.spec
        if not pinned or knowledge.products[edge.to].role is not Role.LEAF:
            continue
        for other in [e for e in listed if e.of == edge.to]:
            cells, key = edge.forbidden_on & other.forbidden_on, (edge.of, edge.of_mask, other.to, other.spec)
            if not (other.of_mask & edge.to_mask and cells) or other.to == edge.of or key in edge_by_key:
                continue
            one, two = knowledge.claims[edge.claim], knowledge.claims[other.claim]
            name = f"{one.claim.id}-{two.claim.id}"
            claim = Claim(id=name, kind=Kind.NEEDS, of=one.claim.of, to=two.claim.to, sources=("index",))
            knowledge.claims[name] = SourcedClaim(claim, edge.of, (*one.sources, *two.sources), ClaimOrigin.INDEX)
            edge_by_key[key] = replace(
                other, claim=name, of=edge.of, of_mask=edge.of_mask, forbidden_on=cells, supported_on=cells
            )
            listed.append(edge_by_key[key])
    return list(edge_by_key.values())
