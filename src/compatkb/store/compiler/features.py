"""Rows of the snapshot about features and the timeline, as people read them."""

from collections.abc import Iterator
from typing import Any

from compatkb.authoring.feature_products import claim_id
from compatkb.authoring.knowledge_base import Knowledge, cite, cited, split_term
from compatkb.authoring.timeline import date_events
from compatkb.schema import Dispute, Feature, TimelineFile, When
from compatkb.store.queries.claims import FeatureRecord, FeatureSuccessor, StatementRecord
from compatkb.store.records import Event, VendorRecord, picked
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


def vendors(knowledge: Knowledge) -> Iterator[VendorRecord]:
    """Yield those whose events there are, in the order of the data."""
    file = knowledge.files.timeline
    yield from (VendorRecord(vendor.id, vendor.name) for vendor in (file.vendor if file else ()))


def events(knowledge: Knowledge) -> Iterator[Event]:
    """Yield the events, oldest first."""
    file = knowledge.files.timeline
    if file is None:
        return
    for dated in date_events(knowledge, []):
        event = dated.event
        yield record_of(
            Event,
            dated,
            event,
            vendor=event.who,
            first=dated.first.toordinal(),
            last=dated.last.toordinal(),
            announced=event.announced.toordinal() if event.announced else None,
            disputes=[_dispute(file, dispute) for dispute in file.dispute if event.id in dispute.of],
            sources=cited(dated.sources),
        )


def _dispute(file: TimelineFile, dispute: Dispute) -> dict[str, Any]:
    return {
        **picked(dispute, "id about positions decision reason"),
        "decided": dispute.decided.isoformat(),
        "sources": cited(file.source[name] for name in dispute.sources),
    }
