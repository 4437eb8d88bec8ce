"""What installers and indexes refused although the data say that it works: of each question the newest answer; pure.

A refusal denies the two builds that it blames: of its stack the pairs that no other accepted stack holds for the same Python,
platform, device and index; where all are held, those that none holds that was accepted later. Once a person has named its
`culprit`, that claim speaks in its place.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from datetime import date
from itertools import combinations

from compatkb.authoring.disputes import open_claims
from compatkb.authoring.knowledge_base import ClaimOrigin, Knowledge, KnowledgeEdge, KnowledgeElement, SourcedClaim
from compatkb.core.record import NamedTuple
from compatkb.schema import Basis, Claim, Kind, Level, Observation, Outcome, SourceEntry

ASKED = (Level.PUBLISHED, Level.RESOLVE)
REFUSED = (Outcome.CONFLICT, Outcome.NOT_FOUND)

_WHEELS_ALONE = re.compile(r"all versions of (\S+) have no wheels with a matching")
_Accepted = tuple[date, frozenset[tuple[str, int]]]
"""A day, and the builds that were accepted together on it."""

Placed = tuple[KnowledgeElement, int]
"""A build with its number among those of its product."""


class Refusal(NamedTuple):
    """An observation against the data: the claims by which its builds work together, and the pairs that it blames."""

    observation: Observation
    claims: tuple[str, ...]
    pairs: tuple[tuple[Placed, Placed], ...]


def refusals(knowledge: Knowledge, newest: Iterable[tuple[Observation, Collection[Placed]]]) -> Iterator[Refusal]:
    """Yield the refusals of what the data claim, among the newest observations of questions with the builds they name."""
    asked = [(seen, tuple(builds)) for seen, builds in newest if seen.level in ASKED]
    refused = [pair for pair in asked if pair[0].outcome in REFUSED and not pair[0].culprit and not _wheels_alone(pair[0])]
    if not refused:
        return
    accepted: dict[tuple[object, ...], list[_Accepted]] = defaultdict(list)
    for seen, builds in asked:
        if seen.level is Level.RESOLVE and seen.outcome is Outcome.OK:
            accepted[_where(seen)].append((seen.checked, _names(builds)))
    edges: dict[tuple[str, str], list[KnowledgeEdge]] = defaultdict(list)
    skipped = open_claims(knowledge.files)
    for edge in knowledge.edges:
        if edge.claim not in skipped and not edge.hardware:
            edges[edge.of, edge.to].append(edge)
    for seen, builds in refused:
        cells = _cells(knowledge, seen)
        if claims := _claimed(edges, seen, builds, cells):
            others = [(day, names) for day, names in accepted[_where(seen)] if names != _names(builds)]
            newer = [(day, names) for day, names in others if day >= seen.checked]
            yield Refusal(seen, claims, _blamed(builds, others) or _blamed(builds, newer))


def refusal_edges(knowledge: Knowledge, refused: Iterable[Refusal]) -> Iterator[KnowledgeEdge]:
    """Yield the denials of the pairs that refusals blame, on their platform alone; adds their claims to the knowledge base."""
    for number, (seen, _, pairs) in enumerate(refused):
        for (one, i), (other, j) in pairs:
            key = f"refused-{number}-{one.product}-{other.product}"
            verb = "does not find" if seen.outcome is Outcome.NOT_FOUND else "does not resolve"
            versions = f"{one.product} {one.version} with {other.product} {other.version}"
            reason = f"{seen.tool} {verb} {versions} for Python {seen.python} (asked {seen.checked})"
            of, to = f"{one.product}=={one.version}", f"{other.product}=={other.version}"
            claim = Claim(id=key, kind=Kind.BREAKS, of=of, to=(to,), basis=Basis.OBSERVED, reason=reason, sources=("index",))
            at = f"Python {seen.python}, {seen.os}, {seen.device}"
            source = SourceEntry(channel=seen.index, file=f"{seen.level} of {versions}", at=at, seen=seen.checked)
            knowledge.claims[key] = SourcedClaim(claim, one.product, (source,), ClaimOrigin.EVIDENCE)
            yield KnowledgeEdge(
                key, Kind.BREAKS, one.product, 1 << i, other.product, 1 << j, f"=={other.version}",
                _cells(knowledge, seen), 0, Basis.OBSERVED, frozenset((seen.device,)),
            )  # fmt: skip


def _wheels_alone(seen: Observation) -> bool:
    """Return whether something else than what was pinned lacks wheels: it may be compiled, which nobody asked for here."""
    match = _WHEELS_ALONE.search(seen.detail or "")
    return match is not None and match[1] not in seen.packages


def _blamed(builds: Collection[Placed], accepted: Collection[_Accepted]) -> tuple[tuple[Placed, Placed], ...]:
    return tuple(pair for pair in combinations(builds, 2) if not any(_names(pair) <= names for _, names in accepted))


def _where(seen: Observation) -> tuple[object, ...]:
    return (seen.python, seen.platform, seen.device, seen.index)


def _names(builds: Iterable[Placed]) -> frozenset[tuple[str, int]]:
    return frozenset((element.product, number) for element, number in builds)


def _cells(knowledge: Knowledge, seen: Observation) -> int:
    return knowledge.grid.cells((seen.os,), (seen.arch,), (seen.python,))


def _claimed(
    edges: dict[tuple[str, str], list[KnowledgeEdge]], seen: Observation, builds: Collection[Placed], cells: int
) -> tuple[str, ...]:
    """Return the claims that vouch for two of these builds; none where one has no wheel there, or two are denied anyway."""
    if any(not any((floor.seen | floor.guessed) & cells for floor in element.floors) for element, _ in builds):
        return ()
    claims: dict[str, None] = {}
    for (one, i), (other, j) in combinations(builds, 2):
        for (of, n), (to, m) in (((one, i), (other, j)), ((other, j), (one, i))):
            for edge in edges[of.product, to.product]:
                if edge.of_mask >> n & 1 and (not edge.devices or seen.device in edge.devices):
                    named = bool(edge.to_mask >> m & 1)
                    if edge.forbidden_on & cells and named == (edge.kind is Kind.BREAKS):
                        return ()
                    if named and edge.supported_on & cells and edge.basis is not Basis.INFERRED:
                        claims[edge.claim] = None
    return tuple(claims)
