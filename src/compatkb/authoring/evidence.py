"""Turns observations into edges: only those that could have made the observation fail, on its platform.

A resolution proves what wheel metadata say, and those are read from the index already, so it vouches for nothing more.
A gate that lets a version pass proves the gate alone. An import or run vouches for every two builds that it loaded
together, on that Python, system, architecture and device, unless a run of the same builds then failed. A failure denies
nothing until its culprit is a claim; missing symbols deny, as `symbol_evidence` says. What an address said that is none of
the channel's own speaks for nothing here.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

from compatkb.authoring.knowledge_base import (
    ClaimOrigin,
    Knowledge,
    KnowledgeEdge,
    KnowledgeElement,
    KnowledgeFloor,
    SourcedClaim,
)
from compatkb.authoring.symbol_evidence import symbol_edges
from compatkb.schema import Basis, Claim, Kind, Level, Observation, Outcome, SourceEntry


def add_observations(knowledge: Knowledge) -> None:
    """Add to the knowledge base what its evidence vouches for."""
    newest: dict[tuple[object, ...], Observation] = {}
    for observation in sorted(knowledge.files.evidence, key=lambda o: o.checked):
        if observation.outcome is not Outcome.NOT_CHECKED and is_of_channel(knowledge, observation):
            newest[observation.question] = observation
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
        replace(floor, seen=floor.seen | (floor.guessed & cells)) if floor.guessed & cells else floor for floor in floors
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
