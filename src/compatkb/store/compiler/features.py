"""Rows of the snapshot about features: their heads, and what is said of them as people read it."""

import json
from collections.abc import Iterator

from compatkb.authoring.citation import cite, dumps
from compatkb.authoring.feature_products import claim_id
from compatkb.authoring.knowledge_base import Knowledge, split_term
from compatkb.schema import Feature, When
from compatkb.store.compiler.platform_sets import Row
from compatkb.store.records import picked


def features(knowledge: Knowledge) -> Iterator[Row]:
    """Yield one row a feature."""
    for file in knowledge.files.features:
        feature = file.feature
        yield {
            **picked(feature, "id name product note"),
            "needs": " ".join(brought.product for brought in feature.needs),
            "replaced_by": _successor(knowledge, feature),
            "aliases": dumps(feature.aliases),
            "sources": cite(knowledge, feature.id, tuple(s for brought in feature.needs for s in brought.sources)),
        }


def _successor(knowledge: Knowledge, feature: Feature) -> str | None:
    instead = feature.replaced_by
    if instead is None:
        return None
    cited = json.loads(cite(knowledge, feature.id, instead.sources))
    return dumps({"feature": instead.feature, "basis": str(instead.basis), "note": instead.note, "sources": cited})


def statements(knowledge: Knowledge) -> Iterator[Row]:
    """Yield one row a statement, in the order of its file; conditions are words between spaces.

    Its elements are those of which it really speaks: what is said of a device is not said of builds for another one.
    """
    masks = {edge.claim: edge.to_mask for edge in knowledge.edges}
    for file in knowledge.files.features:
        for position, statement in enumerate(file.statement):
            claim = claim_id(file, statement.id)
            product, spec = split_term(statement.of)
            when = statement.when or When()
            yield {
                "claim": claim,
                "feature": file.feature.id,
                "position": position,
                "product": product,
                "spec": spec,
                "mask": f"{masks.get(claim, 0) & _made_for(knowledge, product, when):x}",
                "status": str(statement.status),
                **{name: " ".join(getattr(when, name)) for name in ("device", "os", "arch", "python", "hardware")},
                "basis": str(statement.basis),
            }


def _made_for(knowledge: Knowledge, product: str, when: When) -> int:
    """Return the elements of a product that are for one of the devices of a condition."""
    if not when.device:
        return -1
    elements = knowledge.elements.get(product, [])
    fits = (n for n, e in enumerate(elements) if e.build is None or set(e.build.devices) & set(when.device))
    return sum(1 << n for n in fits)
