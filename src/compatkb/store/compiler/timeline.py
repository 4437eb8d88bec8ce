"""Rows of the snapshot about the timeline: whose events they are, and the events with dates, disputes and sources."""

from collections.abc import Iterator

from compatkb.authoring.citation import dumps
from compatkb.authoring.knowledge_base import Knowledge
from compatkb.authoring.timeline import date_events
from compatkb.schema import Dispute, TimelineFile
from compatkb.store.compiler.platform_sets import Row
from compatkb.store.compiler.provenance import cited
from compatkb.store.records import picked


def vendors(knowledge: Knowledge) -> Iterator[Row]:
    """Yield those whose events there are, in the order of the data."""
    file = knowledge.files.timeline
    for position, vendor in enumerate(file.vendor if file else ()):
        yield {"id": vendor.id, "position": position, "name": vendor.name}


def events(knowledge: Knowledge) -> Iterator[Row]:
    """Yield the events, oldest first."""
    file = knowledge.files.timeline
    if file is None:
        return
    for position, dated in enumerate(date_events(knowledge, [])):
        event = dated.event
        yield {
            **picked(event, "id kind title note"),
            "position": position,
            "vendor": event.who,
            **picked(dated, "product version precision basis"),
            "first": dated.first.toordinal(),
            "last": dated.last.toordinal(),
            "announced": event.announced.toordinal() if event.announced else None,
            "disputes": dumps([_dispute(file, dispute) for dispute in file.dispute if event.id in dispute.of]),
            "sources": dumps(cited(dated.sources)),
        }


def _dispute(file: TimelineFile, dispute: Dispute) -> Row:
    return {
        **picked(dispute, "id about positions decision reason"),
        "decided": dispute.decided.isoformat(),
        "sources": cited(file.source[name] for name in dispute.sources),
    }
