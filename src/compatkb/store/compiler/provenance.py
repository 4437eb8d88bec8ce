"""Rows of the snapshot about where facts come from: cited documents, and what commands observed."""

from collections.abc import Iterator

from compatkb.authoring.citation import cite_text, cite_url, dumps
from compatkb.authoring.knowledge_base import Knowledge
from compatkb.schema import SourceEntry
from compatkb.store.compiler.platform_sets import Row
from compatkb.store.records import picked


def documents(knowledge: Knowledge) -> Iterator[Row]:
    """Yield every cited document once, with the last day on which someone read it; sorted."""
    sources = [*knowledge.sources.values(), *(s for file in knowledge.files.images for s in file.source.values())]
    for listed in knowledge.files.index:
        names = (release.file or f"{listed.distribution} {release.version}" for release in listed.release)
        sources += [SourceEntry(channel="default", file=name, seen=listed.seen) for name in names]
    seen: dict[tuple[str, str], str] = {}
    for source in sources:
        key = (cite_text(source), cite_url(source) or "")
        seen[key] = max(seen.get(key, ""), source.seen.isoformat())
    for (text, url), day in sorted(seen.items()):
        yield {"text": text, "url": url or None, "seen": day}


def observations(knowledge: Knowledge) -> Iterator[Row]:
    """Yield what commands observed, in the order of the evidence files."""
    for number, seen in enumerate(knowledge.files.evidence):
        yield {
            "id": number,
            **picked(seen, "level outcome python os arch device tool stubbed detail culprit fetched"),
            "packages": dumps(seen.packages),
            "missing": dumps(seen.missing),
            "needs": dumps(seen.needs),
            "unlinked": dumps(seen.unlinked),
            "channel": seen.answered or seen.index,
            "checked": seen.checked.isoformat(),
            "resolved": seen.resolved.isoformat() if seen.resolved else None,
            "vanished": " ".join(seen.vanished),
        }


def symbols(knowledge: Knowledge) -> Iterator[Row]:
    """Yield the tables of exported symbols, as they are kept."""
    for file in knowledge.files.symbols:
        yield {"product": file.product, "platform": file.platform, "content": file.content}
