"""Rows about disagreements: each side with its sources, the decision, and what it concerns."""

from collections.abc import Iterator

from compatkb.authoring.citation import cited
from compatkb.authoring.disputes import disputes_of, platforms_of
from compatkb.authoring.knowledge_base import Knowledge
from compatkb.schema import OPEN, Dispute, SourceEntry, When
from compatkb.store.queries.disputes import ConcernedRecord, DisputeRecord, PositionRecord
from compatkb.store.rows import record_of


def disputes(knowledge: Knowledge) -> Iterator[DisputeRecord]:
    """Yield disagreements and their decisions."""
    for kind, name, dispute, sources in disputes_of(knowledge.files):
        positions = tuple(_positions(knowledge, dispute, sources))
        held = next((side.text for side in positions if side.claim == dispute.decision), dispute.decision)
        yield record_of(
            DisputeRecord,
            dispute,
            dispute.when or When(),
            kind=kind,
            owner=name,
            days=tuple(day.isoformat() for day in dispute.days),
            positions=positions,
            holds=None if dispute.decision == OPEN else held,
            decided=dispute.decided.isoformat(),
        )


def _positions(knowledge: Knowledge, dispute: Dispute, sources: dict[str, SourceEntry]) -> Iterator[PositionRecord]:
    """Yield what each side says: in words, or by its claim."""
    if dispute.positions:
        for text, source in zip(dispute.positions, dispute.sources, strict=True):
            yield PositionRecord(text, None, cited([sources[source]]))
        return
    for name in dispute.claims:
        claim, said_by = knowledge.claims[name].claim, knowledge.claims[name].sources
        basis = "" if claim.basis == "stated" else f" [{claim.basis}]"
        yield PositionRecord(f"{claim.of} {claim.kind} {' or '.join(claim.to)}{basis}", name, cited(said_by))


def concerned(knowledge: Knowledge) -> Iterator[ConcernedRecord]:
    """Yield whom each dispute concerns: claims, elements of a product on some platforms, image tags, channels, events."""
    for kind, name, dispute, _ in disputes_of(knowledge.files):
        for claim in dispute.claims:
            for term in (knowledge.claims[claim].claim.of, *knowledge.claims[claim].claim.to):
                product, mask = knowledge.mask(term)
                yield ConcernedRecord(dispute.id, claim, product, mask, (), (), 0)
        when = dispute.when or When()
        place = (when.device, when.hardware, platforms_of(knowledge, dispute))
        for thing in dispute.of:
            product, mask = f"{name}:{thing}" if name else thing, 0
            if kind in ("product", "feature"):
                product, mask = knowledge.mask(thing)
            yield ConcernedRecord(dispute.id, None, product, mask, *place)
