"""Turns the requirements that an index lists, and modules that two packages bring, into claims."""

import re
from collections.abc import Collection, Iterable, Iterator
from functools import cache, lru_cache, reduce
from itertools import permutations
from operator import or_

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from compatkb.authoring.build_kinds import equal_builds, from_source, of_one_release, of_other_kinds
from compatkb.authoring.knowledge_base import ClaimOrigin, Knowledge, KnowledgeEdge, SourcedClaim
from compatkb.core.record import NamedTuple
from compatkb.core.vocabulary import ANY_VERSION
from compatkb.schema import Basis, Claim, IndexFile, IndexRelease, Kind, ProductHead, Role

_normal = cache(canonicalize_name)  # releases say the same again and again
_EXTRA = re.compile(r"extra\s*==\s*['\"]([^'\"]+)['\"]")


class Required(NamedTuple):
    """A requirement as it is matched: its normalized name, its specifier, whether that is exact, where it holds."""

    name: str
    spec: str
    is_exact: bool
    marker: str


@lru_cache(maxsize=16384)  # releases say the same again and again, and are read twice
def _read(text: str) -> Required | None:
    try:
        requirement = Requirement(text)
    except InvalidRequirement:
        return None
    is_exact = any(clause.operator == "==" for clause in requirement.specifier)
    return Required(_normal(requirement.name), str(requirement.specifier), is_exact, str(requirement.marker or ""))


def is_unreadable(text: str) -> bool:
    """Return whether a requirement of metadata is none (PEP 508): pip passes over such a release."""
    return _read(text) is None


def bounds_of(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the bounds that hold without extras in one form and order, and what is no requirement as it is written."""
    written = set()
    for text in texts:
        one = required_always(text)
        if one and one.spec:
            written.add(f"{one.name}{one.spec}{one.marker and f'; {one.marker}'}")
        elif is_unreadable(text):
            written.add(text)
    return tuple(sorted(written))


@lru_cache(maxsize=16384)
def required_always(text: str) -> Required | None:
    """Return a requirement that holds without extras; None for another, and for what is none: lint reports that."""
    requirement = _read(text)
    return requirement if requirement and "extra" not in requirement.marker else None


@lru_cache(maxsize=16384)
def _extra_of(text: str) -> tuple[str, Required] | None:
    """Return the extra that alone leads to a requirement, and the requirement; None where it is none, or two do."""
    extras = set(_EXTRA.findall(text))
    requirement = _read(text) if len(extras) == 1 else None
    return (extras.pop(), requirement) if requirement else None


def worth_recording(texts: Iterable[str], distributions: Collection[str], extras: Collection[str]) -> tuple[str, ...]:
    """Return the requirements that an index file keeps: of those of extras alone what `_demands` can read.

    That is a product in an extra of `extras`: normalized names and ids of products, and extras without which a build is of no
    use. `distributions` are the names of the products; what cannot be read is kept, and lint reports it.
    """
    return tuple(text for text in texts if _is_worth_recording(text, distributions, extras))


def _is_worth_recording(text: str, distributions: Collection[str], extras: Collection[str]) -> bool:
    requirement = _read(text)
    if requirement is None or "extra" not in requirement.marker:
        return True
    found = _extra_of(text)
    return found is not None and _normal(found[0]) in extras and requirement.name in distributions


def _demands(
    knowledge: Knowledge, product: str, number: int, release: IndexRelease
) -> Iterator[tuple[Required, str, Kind, bool]]:
    """Yield what a release requires, the extra that it takes, of which kind that is, and whether the extra is to be asked for.

    With an extra that the build is of no use without it is required always. What else an extra requires holds where the extra
    is asked for; one that is named for what it requires (`optimum-intel[openvino]`) says to all with which versions of that
    the release goes, and denies nothing.
    """
    yield from ((requirement, "", Kind.NEEDS, False) for requirement in filter(None, map(required_always, release.requires)))
    build = knowledge.elements[product][number].build
    for extra, requirement in filter(None, map(_extra_of, release.requires)):
        name = requirement.name
        to = knowledge.distributions.get(name)
        if build and extra in build.extras:
            yield requirement, extra, Kind.NEEDS, False
        elif to and knowledge.products[to].role is not Role.LEAF:
            named = _normal(extra)
            if named in (name, to):
                yield requirement, extra, Kind.VERIFIED, False
            if named in knowledge.distributions or named in knowledge.products:
                yield requirement, extra, Kind.CONSTRAINS, True


def index_edges(
    knowledge: Knowledge, product: str, file: IndexFile, stated: Collection[KnowledgeEdge]
) -> Iterator[KnowledgeEdge]:
    """Read Requires-Dist as claims, PEP 440 to the letter: exact pins vouch for what they name, ranges only hint at it.

    `stated` are the edges that claims of people make of the product.
    """
    listed = {id(element.listed): number for number, element in enumerate(knowledge.elements[product]) if element.listed}
    for release in file.release:
        number = listed.get(id(release))
        if number is None:
            continue
        equal = equal_builds(knowledge, product, number)
        for requirement, extra, demand, is_asked in _demands(knowledge, product, number, release):
            to, spec, kind = knowledge.distributions.get(requirement.name), requirement.spec, demand
            if to is None or to == product:
                continue
            if not spec:  # any version will do: that says a little for all of them, and denies none
                if demand is not Kind.NEEDS or knowledge.products[to].role is not Role.LEAF:
                    continue
                kind, spec = Kind.VERIFIED, ANY_VERSION
            cells = knowledge.grid.marker_cells(requirement.marker, extra)
            if not cells:
                continue
            of_mask = of_one_release(knowledge, product, number, to)
            to_mask = knowledge.matching(to, requirement.spec, strict=True)
            # what run-time packages ask of each other is all that anybody says of them: nobody documents such pairs
            firm = requirement.is_exact or knowledge.products[product].role is knowledge.products[to].role is Role.LEAF
            basis = Basis.OBSERVED if firm and kind is Kind.NEEDS else Basis.INFERRED
            asked = _normal(extra) if is_asked else ""
            compiled = from_source(knowledge, product, number, to, requirement.marker) & ~of_mask
            for edge in stated if compiled else ():
                if edge.to == to and (edge.devices or not edge.of_mask >> number & 1):
                    compiled &= ~edge.of_mask  # who speaks of builds for a device knows better
            bound = [(of_mask, cells, cells), (compiled, cells, cells)]
            bound += [(mask & ~of_mask & ~compiled, cells & here, cells & here) for mask, here in equal]
            bound += [(of_other_kinds(knowledge, product, number, to), cells, 0)] if "+" not in spec else []
            # people have read more than an extra, which seldom bounds from above
            judged = reduce(or_, (edge.of_mask for edge in stated if edge.to == to), 0) if kind is not Kind.NEEDS else 0
            told = [(mask & judged, bad, 0) for mask, bad, _ in bound] if kind is Kind.CONSTRAINS else []
            bound = [(mask & ~judged, bad, good) for mask, bad, good in bound] + told
            bound = [(mask, bad, good) for mask, bad, good in bound if mask and bad]
            if not bound:
                continue
            key = f"{product}-{release.version}-requires-{to}"
            while key in knowledge.claims:
                key += "-too"
            at = f"Requires-Dist of the extra {extra}" if extra else "Requires-Dist"
            source = knowledge.index_source(release, at)
            asking, asked_for = f"{product}=={release.version}", (f"{to}{requirement.spec}",)
            claim = Claim(id=key, kind=kind, of=asking, to=asked_for, sources=("index",))
            knowledge.claims[key] = SourcedClaim(claim, product, (source,), ClaimOrigin.INDEX)
            for mask, forbidden, supported in bound:
                yield KnowledgeEdge(
                    key,
                    kind,
                    product,
                    mask,
                    to,
                    to_mask,
                    spec,
                    forbidden,
                    supported,
                    basis,
                    in_metadata=kind is not Kind.VERIFIED,
                    extra=asked,
                )


def outside_requirements(knowledge: Knowledge) -> Iterator[tuple[str, int, str, int]]:
    """Yield what listed elements of a product require always on some platforms, and that is no product: there a chain ends."""
    for product, elements in knowledge.elements.items():
        found: dict[tuple[str, int], int] = {}
        for number, element in enumerate(elements):
            for requirement in filter(None, map(required_always, element.listed.requires if element.listed else ())):
                name = requirement.name
                if name not in knowledge.distributions and (cells := knowledge.grid.marker_cells(requirement.marker)):
                    found[name, cells] = found.get((name, cells), 0) | 1 << number
        yield from ((product, mask, name, cells) for (name, cells), mask in found.items())


def shared_imports(knowledge: Knowledge) -> tuple[KnowledgeEdge, ...]:
    """Return what follows from equal import names: two products deny each other, and what installs one denies the other.

    Two that speak of each other have said how they go together.
    """
    told = {frozenset((edge.of, edge.to)) for edge in knowledge.edges}
    heads = [head for head in knowledge.products.values() if head.import_name and head.distribution]
    pairs = [pair for pair in permutations(heads, 2) if pair[0].import_name == pair[1].import_name]
    return tuple(edge for one, other in pairs for edge in _denials(knowledge, one, other, told))


def _denials(knowledge: Knowledge, one: ProductHead, other: ProductHead, told: set[frozenset[str]]) -> Iterator[KnowledgeEdge]:
    """Yield that a product, and whatever installs it, denies another one of the same import name."""
    both = f"install the same Python package, {one.import_name}: the later overwrites the other"
    every = (1 << len(knowledge.elements[other.id])) - 1

    def denied(edge: KnowledgeEdge, reason: str) -> KnowledgeEdge:
        key = f"{edge.claim}-not-{other.id}"
        known = knowledge.claims.get(edge.claim)
        claim = Claim(
            id=key, kind=Kind.BREAKS, of=known.claim.of if known else edge.of, to=(other.id,), basis=Basis.OBSERVED,
            reason=reason, sources=("index",),
        )  # fmt: skip
        cited = known.sources if known else knowledge.cited(one.id, ("index",)) + knowledge.cited(other.id, ("index",))
        knowledge.claims[key] = SourcedClaim(claim, edge.of, cited, ClaimOrigin.INDEX)
        return edge._replace(
            claim=key, kind=Kind.BREAKS, to=other.id, to_mask=every, spec=ANY_VERSION, supported_on=0,
            basis=Basis.OBSERVED, in_metadata=False, unlisted=0,
        )  # fmt: skip

    if frozenset((one.id, other.id)) not in told and one.id < other.id:
        own = (1 << len(knowledge.elements[one.id])) - 1
        pair = KnowledgeEdge(
            one.id, Kind.BREAKS, one.id, own, other.id, every, ANY_VERSION, knowledge.grid.all, 0, Basis.OBSERVED
        )  # fmt: skip
        yield denied(pair, f"{one.distribution} and {other.distribution} {both}")
    for edge in knowledge.edges:
        installs = edge.kind is Kind.NEEDS or (edge.kind is Kind.CONSTRAINS and one.automatic)
        if edge.to == one.id and installs and edge.of != other.id and edge.basis is not Basis.INFERRED:
            name = knowledge.products[edge.of].label or edge.of
            yield denied(edge, f"{name} installs {one.distribution}; it and {other.distribution} {both}")
