"""Rows about disagreements: each side with its sources, the decision, and what it concerns."""

from collections.abc import Iterator

from compatkb.authoring.citation import dumps
from compatkb.authoring.disputes import disputes_of, platforms_of
from compatkb.authoring.knowledge_base import Knowledge
from compatkb.schema import Dispute, SourceEntry, When
from compatkb.store.compiler.platform_sets import Interned, Row
from compatkb.store.compiler.provenance import cited
from compatkb.store.records import picked


def disputes(knowledge: Knowledge) -> Iterator[Row]:
    """Yield disagreements and their decisions."""
    for kind, name, dispute, sources in disputes_of(knowledge.files):
        positions = _positions(knowledge, dispute, sources)
        holds = next((p["text"] for p in positions if p["claim"] == dispute.decision), dispute.decision)
        yield {
            **picked(dispute, "id about day decision reason"),
            "kind": kind,
            "owner": name,
            "days": " ".join(day.isoformat() for day in dispute.days),
            "columns": " ".join(dispute.columns),
            "positions": dumps(positions),
            "holds": holds,
            "decided": dispute.decided.isoformat(),
        }


def _positions(knowledge: Knowledge, dispute: Dispute, sources: dict[str, SourceEntry]) -> list[Row]:
    """Return what each side says: in words, or by its claim."""
    if dispute.positions:
        pairs = zip(dispute.positions, dispute.sources, strict=True)
        return [{"text": text, "claim": None, "sources": cited([sources[source]])} for text, source in pairs]
    positions = []
    for name in dispute.claims:
        claim, said_by = knowledge.claims[name].claim, knowledge.claims[name].sources
        basis = "" if claim.basis == "stated" else f" [{claim.basis}]"
        text = f"{claim.of} {claim.kind} {' or '.join(claim.to)}{basis}"
        positions.append({"text": text, "claim": name, "sources": cited(said_by)})
    return positions


def concerned(knowledge: Knowledge, cells: Interned) -> Iterator[Row]:
    """Yield whom each dispute concerns: claims, elements of a product on some platforms, image tags, channels."""
    for kind, name, dispute, _ in disputes_of(knowledge.files):
        head = {"dispute": dispute.id, "claim": None, "mask": "0", "devices": "", "hardware": "", "cells": cells.id(0)}
        for claim in dispute.claims:
            for term in (knowledge.claims[claim].claim.of, *knowledge.claims[claim].claim.to):
                product, mask = knowledge.mask(term)
                yield {**head, "claim": claim, "name": product, "mask": f"{mask:x}"}
        when = dispute.when or When()
        words = {"devices": " ".join(when.device), "hardware": " ".join(when.hardware)}
        more = {**words, "cells": cells.id(platforms_of(knowledge, dispute))}
        for thing in dispute.of:
            if kind in ("product", "feature"):
                product, mask = knowledge.mask(thing)
                yield {**head, "name": product, "mask": f"{mask:x}", **more}
            else:
                yield {**head, "name": f"{name}:{thing}" if name else thing, **more}
