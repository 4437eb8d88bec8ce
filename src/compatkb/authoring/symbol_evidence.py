"""Derives from symbols which builds cannot be loaded beside each other; what they link to is only a hint.

Missing symbols deny two builds on their system and architecture, on every Python: one wheel stands for its siblings. Where
one demands another release anyway, or is known to break, the two are not denied again.
Where nothing is missing and nobody says a word of the two, they are likely at most. A denial stands beside a claim by
which the two work, and the rule `evidence-contradicts` then asks a person which of the two is wrong.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import combinations, groupby

from compatkb.authoring.disputes import open_claims
from compatkb.authoring.knowledge_base import ClaimOrigin, Knowledge, KnowledgeEdge, KnowledgeElement, SourcedClaim, split_term
from compatkb.core.memo import memoized
from compatkb.schema import Basis, Claim, Kind, Observation, Outcome, SourceEntry, When

_UNTRIED = "No symbol is missing; whether what is loaded works was not tried."
_LIBRARY_ENDINGS = (".dll", ".dylib", ".so")

Seen = tuple[Observation, list[tuple[KnowledgeElement, int]]]
"""An observation with the builds that it names."""


def symbol_edges(knowledge: Knowledge, observed: Iterable[Seen]) -> list[KnowledgeEdge]:
    """Return what observations of two builds each deny and hint at; adds the claims to the knowledge base."""
    known = _OtherEdges(knowledge)
    denied: dict[tuple[str, int, str, str, str], dict[str, list[tuple[int, Observation]]]] = defaultdict(dict)
    beside: dict[tuple[str, int, str], set[int]] = defaultdict(set)
    linked: dict[tuple[str, int, str], dict[int, int]] = defaultdict(dict)
    seen_on: dict[tuple[str, int, str], dict[tuple[int, str], Observation]] = defaultdict(dict)
    for observation, builds in observed:
        cells = knowledge.grid.cells((observation.os,), (observation.arch,))
        ranked = sorted(builds, key=lambda build: knowledge.products[build[0].product].rank)
        pairs = [(base.product, to, one.product, of) for (base, to), (one, of) in combinations(ranked, 2)]
        for base, to, one, of in (pair for pair in pairs if pair[0] != pair[2]):
            pair = (one, of, base)
            beside[pair].add(to)
            if observation.outcome is Outcome.MISSING_SYMBOL:
                if cells & ~known.excluded(*pair, to):
                    key = (*pair, observation.os, observation.missing[0])
                    denied[key].setdefault(observation.arch, []).append((to, observation))
            elif observation.outcome is Outcome.LINKS and not observation.missing and known.are_silent(*pair, to):
                linked[pair][to] = linked[pair].get(to, 0) | cells
                seen_on[pair][to, observation.platform] = observation
    edges = [
        _denial(knowledge, key, arch, group, sorted(beside[key[:3]]))
        for key, by_arch in sorted(denied.items())
        for arch, group in sorted(by_arch.items())
    ]
    for pair, masks in sorted(linked.items()):
        by_cells: dict[int, list[int]] = defaultdict(list)
        for to, cells in masks.items():
            by_cells[cells].append(to)
        edges += [
            _hint(knowledge, pair, cells, sorted(group), sorted(beside[pair]), min(seen_on[pair].items())[1])
            for cells, group in sorted(by_cells.items())
        ]
    return edges


class _OtherEdges:
    """What edges say of two builds before symbols are asked, whatever the device."""

    def __init__(self, knowledge: Knowledge) -> None:
        self._edges: dict[tuple[str, str], list[KnowledgeEdge]] = defaultdict(list)
        skipped = open_claims(knowledge.files)
        for edge in knowledge.edges:
            if not edge.devices and not edge.hardware and edge.claim not in skipped:
                self._edges[edge.of, edge.to].append(edge)
        claims = knowledge.claims.items()
        self._of_releases = {name for name, cited in claims if all(split_term(term)[1] for term in cited.claim.to)}

    @memoized
    def excluded(self, one: str, of: int, other: str, to: int) -> int:
        """Return on which platforms one of two builds demands another release than that of the other, or breaks it."""
        cells = 0
        for edge, named in self._between(one, of, other, to):
            demands = edge.kind in (Kind.NEEDS, Kind.CONSTRAINS) and edge.claim in self._of_releases
            cells |= edge.forbidden_on if (demands and not named) or (edge.kind is Kind.BREAKS and named) else 0
        return cells

    @memoized
    def are_silent(self, one: str, of: int, other: str, to: int) -> bool:
        """Return whether no edge denies or supports two builds on any platform."""
        return not any(
            edge.supported_on
            if named and edge.kind is not Kind.BREAKS
            else edge.forbidden_on and named == (edge.kind is Kind.BREAKS)
            for edge, named in self._between(one, of, other, to)
        )

    def _between(self, one: str, of: int, other: str, to: int) -> Iterator[tuple[KnowledgeEdge, bool]]:
        for edge in self._edges[one, other]:
            if edge.of_mask >> of & 1:
                yield edge, bool(edge.to_mask >> to & 1)
        for edge in self._edges[other, one]:
            if edge.of_mask >> to & 1:
                yield edge, bool(edge.to_mask >> of & 1)


def _denial(
    knowledge: Knowledge,
    key: tuple[str, int, str, str, str],
    arch: str,
    denials: list[tuple[int, Observation]],
    beside: list[int],
) -> KnowledgeEdge:
    one, of, other, system, symbol = key
    numbers = sorted(to for to, _ in denials)
    verb = "bring" if symbol.endswith(_LIBRARY_ENDINGS) or ".so." in symbol else "export"
    does = "does" if len(numbers) == 1 else "do"
    others = _named(knowledge, other, numbers, beside)
    reason = f"{_named(knowledge, one, [of], [of])} needs `{symbol}`, which {others} {does} not {verb}"
    newest = max(denials, key=lambda item: item[1].checked)[1]
    when = When(os=(system,), arch=(arch,))
    return _edge(knowledge, (one, of), (other, numbers), newest, knowledge.grid.cells(when.os, when.arch), reason, when)


def _hint(
    knowledge: Knowledge,
    key: tuple[str, int, str],
    cells: int,
    numbers: list[int],
    beside: list[int],
    observation: Observation,
) -> KnowledgeEdge:
    one, of, other = key
    others = _named(knowledge, other, numbers, beside)
    reason = f"{_named(knowledge, one, [of], [of])} finds all symbols that it needs in {others}"
    return _edge(knowledge, (one, of), (other, numbers), observation, cells, reason)


def _edge(
    knowledge: Knowledge,
    build: tuple[str, int],
    others: tuple[str, list[int]],
    observation: Observation,
    cells: int,
    reason: str,
    when: When | None = None,
) -> KnowledgeEdge:
    """Return a denial where it is said when that holds, else a hint; adds its claim to the knowledge base."""
    (product, of), (other, numbers) = build, others
    version = knowledge.elements[product][of].version
    versions = [knowledge.elements[other][number].version for number in numbers]
    specs = [f"=={each}" for each in versions]
    kind, basis, verb = (Kind.BREAKS, Basis.OBSERVED, "lacks") if when else (Kind.VERIFIED, Basis.INFERRED, "links")
    place = f"-{observation.os}-{observation.arch}" if when else ""
    claim_id = _unused(knowledge, f"{product}-{version}-{verb}-{other}-{versions[0]}{place}")
    file = f"symbols of {product} {version} and of {other} {versions[0]}{' and others' if versions[1:] else ''}"
    source = SourceEntry(
        channel=observation.index, file=file, at=f"{observation.os}, {observation.arch}", seen=observation.checked
    )
    claim = Claim(
        id=claim_id,
        kind=kind,
        of=f"{product}=={version}",
        to=tuple(f"{other}{spec}" for spec in specs),
        basis=basis,
        reason=reason,
        when=when,
        note=None if when else _UNTRIED,
        sources=("index",),
    )
    knowledge.claims[claim_id] = SourcedClaim(claim, product, (source,), ClaimOrigin.EVIDENCE)
    mask = sum(1 << number for number in numbers)
    forbidden, supported = (cells, 0) if when else (0, cells)
    return KnowledgeEdge(claim_id, kind, product, 1 << of, other, mask, " or ".join(specs), forbidden, supported, basis)


def _unused(knowledge: Knowledge, name: str) -> str:
    candidate, number = name, 2
    while candidate in knowledge.claims:
        candidate, number = f"{name}-{number}", number + 1
    return candidate


def _named(knowledge: Knowledge, product: str, numbers: list[int], beside: list[int]) -> str:
    """Return builds in words, as ranges of those that are consecutive among what was looked at beside the same build."""
    versions = [knowledge.elements[product][number].version for number in beside]
    places = [beside.index(number) for number in numbers]
    runs = [[place for _, place in group] for _, group in groupby(enumerate(places), lambda item: item[1] - item[0])]
    ranges = [versions[run[0]] if len(run) == 1 else f"{versions[run[0]]} to {versions[run[-1]]}" for run in runs]
    head = knowledge.products[product]
    return f"{head.label or head.id} {' and '.join(ranges)}"
