"""Turns observations into edges: only those that could have made the observation fail, on its platform.

A resolution proves what wheel metadata say, and those are read from the index already, so it vouches for nothing more.
A gate that lets a version pass proves the gate alone. An import or run vouches for every two builds that it loaded
together, on that Python, system, architecture and device, unless a run of the same builds then failed. A failure denies
nothing until its culprit is a claim; missing symbols deny, as `symbol_evidence` says. What an address said that is none of
the channel's own speaks for nothing here.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import combinations, groupby

from compatkb.authoring.disputes import open_claims
from compatkb.authoring.knowledge_base import (
    ClaimOrigin,
    Knowledge,
    KnowledgeEdge,
    KnowledgeElement,
    KnowledgeFloor,
    SourcedClaim,
    split_term,
)
from compatkb.authoring.refusals import ASKED, refusal_edges, refusals
from compatkb.core.memo import memoized
from compatkb.schema import Basis, Claim, Kind, Level, Observation, Outcome, SourceEntry, When

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
        yield from ((edge, bool(edge.to_mask >> to & 1)) for edge in self._of_build(one, of, other))
        yield from ((edge, bool(edge.to_mask >> of & 1)) for edge in self._of_build(other, to, one))

    @memoized
    def _of_build(self, product: str, number: int, other: str) -> list[KnowledgeEdge]:
        return [edge for edge in self._edges[product, other] if edge.of_mask >> number & 1]


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


def add_observations(knowledge: Knowledge) -> None:
    """Add to the knowledge base what its evidence vouches for."""
    newest: dict[tuple[object, ...], Observation] = {}
    for observation in sorted(knowledge.files.evidence, key=lambda o: o.checked):
        if observation.outcome is not Outcome.NOT_CHECKED and is_of_channel(knowledge, observation):
            newest[observation.question] = observation
    asked = [(o, tuple(elements_of(knowledge, o))) for o in newest.values() if o.level in ASKED]
    knowledge.edges += list(refusal_edges(knowledge, refusals(knowledge, asked)))
    broken = {_builds(o) for o in newest.values() if o.level is Level.RUN and o.outcome is Outcome.FAILED_RUN}
    for number, observation in enumerate(newest.values()):
        if observation.outcome is Outcome.OK:
            seen = list(elements_of(knowledge, observation))
            cells = cells_of(knowledge, observation)
            if observation.level in (Level.PUBLISHED, Level.IMPORT, Level.RUN):
                for element, _ in seen:
                    element.floors = _with_seen(element.floors, cells, observation.tools.get("glibc"))
            if observation.level in (Level.IMPORT, Level.RUN) and _builds(observation) not in broken:
                knowledge.edges += _vouches(knowledge, observation, number, seen, cells)
    linked = [o for o in newest.values() if o.level is Level.SYMBOLS]
    knowledge.edges += symbol_edges(knowledge, [(o, list(elements_of(knowledge, o))) for o in linked])


def _with_seen(floors: list[KnowledgeFloor], cells: int, glibc: str | None) -> list[KnowledgeFloor]:
    """Return floors with a wheel seen on some platforms: one that is listed there, or else one for the glibc it ran on.

    That a wheel is there says nothing of the glibc that it needs.
    """
    listed = [
        floor._replace(seen=floor.seen | (floor.guessed & cells)) if floor.guessed & cells else floor for floor in floors
    ]
    for floor in listed:
        cells &= ~floor.seen
    return [*listed, KnowledgeFloor(glibc, False, cells, 0)] if cells else listed


def is_of_channel(knowledge: Knowledge, observation: Observation) -> bool:
    """Return whether the channel itself answered, or one of its mirrors."""
    if not observation.answered:
        return True
    own = [c for c in knowledge.files.channels.channel if c.id == observation.index]
    return observation.answered.rstrip("/") in {url.rstrip("/") for c in own for url in (c.url or "", *c.mirrors.values())}


def _builds(observation: Observation) -> tuple[object, ...]:
    """Return what was loaded together, and where: builds that import and then fail to work vouch for nothing."""
    packages = tuple(sorted(observation.packages.items()))
    return (packages, observation.python, observation.platform, observation.device, observation.index)


def _vouches(
    knowledge: Knowledge, observation: Observation, number: int, seen: list[tuple[KnowledgeElement, int]], cells: int
) -> Iterator[KnowledgeEdge]:
    for (one, i), (other, j) in combinations(seen, 2):
        key = f"observed-{number}-{one.product}-{other.product}"
        to = f"{other.product}=={other.version}"
        claim = Claim(id=key, kind=Kind.VERIFIED, of=f"{one.product}=={one.version}", to=(to,), sources=("index",))
        source = SourceEntry(
            channel=observation.index,
            file=f"{observation.level} of {one.product} {one.version} with {other.product} {other.version}",
            at=f"Python {observation.python}, {observation.os}, {observation.device}",
            seen=observation.checked,
        )
        knowledge.claims[key] = SourcedClaim(claim, one.product, (source,), ClaimOrigin.EVIDENCE)
        yield KnowledgeEdge(
            claim=key,
            kind=Kind.VERIFIED,
            of=one.product,
            of_mask=1 << i,
            to=other.product,
            to_mask=1 << j,
            spec=f"=={other.version}",
            forbidden_on=0,
            supported_on=cells,
            basis=Basis.OBSERVED,
            devices=frozenset((observation.device,)),
        )


def cells_of(knowledge: Knowledge, observation: Observation) -> int:
    """Return the platform of an observation: its system and the families around it, but no sibling."""
    systems = knowledge.grid.widened((observation.os,))
    return knowledge.grid.cells(systems, (observation.arch,), (observation.python,), members=False)


def elements_of(knowledge: Knowledge, observation: Observation) -> Iterator[tuple[KnowledgeElement, int]]:
    """Yield the builds that an observation names, with their numbers; what the data do not know is left out."""
    for name, texts in sorted(observation.packages.items()):
        for text in texts.split():
            if build := knowledge.build(name, text, on_default=observation.index == "default"):
                yield build
