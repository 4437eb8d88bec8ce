"""Rows of the snapshot about features: their heads, and what is said of them as people read it."""

from collections.abc import Iterator

from compatkb.authoring.citation import cite
from compatkb.authoring.feature_products import claim_id
from compatkb.authoring.knowledge_base import Knowledge, split_term
from compatkb.schema import Feature, When
from compatkb.store.queries.claims import FeatureRecord, FeatureSuccessor, StatementRecord
from compatkb.store.rows import record_of


def features(knowledge: Knowledge) -> Iterator[FeatureRecord]:
    """Yield one record a feature."""
    for file in knowledge.files.features:
        feature = file.feature
        yield record_of(
            FeatureRecord,
            feature,
            needs=tuple(brought.product for brought in feature.needs),
            replaced_by=_successor(knowledge, feature),
            sources=cite(knowledge, feature.id, tuple(s for brought in feature.needs for s in brought.sources)),
        )


def _successor(knowledge: Knowledge, feature: Feature) -> FeatureSuccessor | None:
    instead = feature.replaced_by
    if instead is None:
        return None
    sources = cite(knowledge, feature.id, instead.sources)
    return FeatureSuccessor(instead.feature, str(instead.basis), instead.note, sources)


def statements(knowledge: Knowledge) -> Iterator[StatementRecord]:
    """Yield one record a statement, in the order of its file.

    Its elements are those of which it really speaks: what is said of a device is not said of builds for another one.
    """
    masks = {edge.claim: edge.to_mask for edge in knowledge.edges}
    for file in knowledge.files.features:
        for position, statement in enumerate(file.statement):
            name = claim_id(file, statement.id)
            product, spec = split_term(statement.of)
            when, claim = statement.when or When(), knowledge.claims[name].claim
            yield record_of(
                StatementRecord,
                when,
                claim,
                claim=name,
                feature=file.feature.id,
                position=position,
                product=product,
                spec=spec,
                mask=masks.get(name, 0) & _made_for(knowledge, product, when),
                status=str(statement.status),
                basis=str(statement.basis),
            )


def _made_for(knowledge: Knowledge, product: str, when: When) -> int:
    """Return the elements of a product that are for one of the devices of a condition."""
    if not when.device:
        return -1
    elements = knowledge.elements.get(product, [])
    fits = (n for n, e in enumerate(elements) if e.build is None or set(e.build.devices) & set(when.device))
    return sum(1 << n for n in fits)
