"""Rows about image tags and their contents."""

from collections.abc import Iterator
from datetime import UTC, date, timedelta

from compatkb.authoring.knowledge_base import Knowledge, cited, split_term
from compatkb.schema import ImageFile, ListingEntry, Tag
from compatkb.store.queries.images import (
    ColumnRecord,
    ContentRecord,
    ImageBuildState,
    ImageRecord,
    ListingRecord,
    RunRecord,
    Runs,
)
from compatkb.store.rows import record_of


def images(knowledge: Knowledge) -> Iterator[ImageRecord]:
    """Yield image tags with the days on which they were listed."""
    numbered = list(enumerate((f, t) for f in knowledge.files.images for t in f.tag))
    same = {(file.repository.id, tag.name): number for number, (file, tag) in numbered}
    for number, (file, tag) in numbered:
        when = {revision.n: revision.at.date() for revision in file.revision}
        order = sorted(when)
        runs = []
        for listing in file.listing:
            if listing.lists == "tags" and tag.name in listing.tags:
                for first, last in listing.runs:
                    later = [n for n in order if n > last]
                    end = when[later[0]] - timedelta(days=1) if later else date.max
                    runs.append((when[first].toordinal(), max(end, when[last]).toordinal()))
        yield record_of(
            ImageRecord,
            tag,
            id=number,
            repository=file.repository.name,
            built=_built(file, tag),
            same=same[file.repository.id, file.same_tag(tag).name],
            runs=tuple(sorted(runs)),
            sources=cited(file.source[s] for s in tag.sources),
        )


def _built(file: ImageFile, tag: Tag) -> ImageBuildState | None:
    built = file.same_tag(tag).built
    if built is None:
        return None
    page = file.repository.built_page
    url = page.format(ref=built.ref) if page and built.ref else None
    day = built.on.isoformat() if built.on else None
    return ImageBuildState(built.ref, day, url, built.note, cited(file.source[s] for s in built.sources))


def listings(knowledge: Knowledge) -> Iterator[ListingRecord]:
    """Yield rows of tag tables, each with the days on whose end it stood so."""
    for file in knowledge.files.images:
        for listing in file.listing:
            yield record_of(
                ListingRecord,
                listing,
                repository=file.repository.name,
                position=listing.order,
                runs=_days(file, listing),
                document=f"{file.repository.repo} {file.repository.document}",
            )


def _days(file: ImageFile, listing: ListingEntry) -> Runs:
    """Return first and last days of a row; what another revision of the same day replaced is left out."""
    when = {revision.n: revision.at.astimezone(UTC).date() for revision in file.revision}
    days = []
    for first, last in listing.runs:
        later = [n for n in sorted(when) if n > last]
        end = when[later[0]] - timedelta(days=1) if later else date.max
        if when[first] <= end:
            days.append((when[first].toordinal(), end.toordinal()))
    return tuple(sorted(days))


def columns(knowledge: Knowledge) -> Iterator[ColumnRecord]:
    """Yield the columns of tag tables."""
    for file in knowledge.files.images:
        for position, column in enumerate(file.column):
            yield record_of(ColumnRecord, column, repository=file.repository.name, name=column.id, position=position)


def runs(knowledge: Knowledge) -> Iterator[RunRecord]:
    """Yield what `docker run` needs for some images."""
    for file in knowledge.files.images:
        for run in file.run:
            sources = cited(file.source[s] for s in run.sources)
            yield record_of(RunRecord, run, repository=file.repository.name, sources=sources)


def contents(knowledge: Knowledge) -> Iterator[ContentRecord]:
    """Yield what image tags hold; a tag that is the same as another holds what that one does."""
    for number, (file, tag) in enumerate((f, t) for f in knowledge.files.images for t in f.tag):
        for contained in file.same_tag(tag).contains:
            product, spec = split_term(contained.is_)
            mask = knowledge.matching(product, spec) if product in knowledge.products else 0
            yield ContentRecord(number, product, mask, spec, str(contained.basis))
