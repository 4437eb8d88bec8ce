"""Rows of the snapshot about the timeline: whose events they are, and the events with dates, disputes and sources."""

from collections.abc import Iterator
from typing import Any

from compatkb.authoring.citation import cited
from compatkb.authoring.knowledge_base import Knowledge
from compatkb.authoring.timeline import date_events
from compatkb.schema import Dispute, TimelineFile
from compatkb.store.records import Event, VendorRecord, picked
from compatkb.store.rows import record_of


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
