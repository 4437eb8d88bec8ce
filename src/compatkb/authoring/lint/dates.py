"""Days stand in an order that can be: out before withdrawn, before its end, and nothing read tomorrow."""

from collections.abc import Iterator
from datetime import date
from itertools import pairwise

from compatkb.authoring.lint.subject import LintSubject, walk
from compatkb.core.findings import Finding, Severity
from compatkb.core.toml_positions import Where
from compatkb.schema import (
    AdvisoryEntry,
    Complete,
    Dispute,
    EventEntry,
    ImageFile,
    IndexFile,
    IndexRelease,
    Moment,
    ProductFile,
    Record,
    Release,
    SourceEntry,
    Yank,
)

NAME, LEVEL = "dates", Severity.ERROR
SUMMARY = "two days stand in an order that cannot be"


def check(subject: LintSubject) -> Iterator[Finding]:
    """Yield days in the future, bounds that cross, and lives that end before they begin."""
    today = subject.today
    for document in subject.documents:
        for where, record in walk(document.record):
            for key, message in _alone(record, today):
                yield subject.finding(NAME, LEVEL, document, (*where, *key), message)
        if isinstance(document.record, ProductFile):
            listed = _uploads(subject, document.record)
            for number, release in enumerate(document.record.release):
                for key, message in _life(document.record, release, listed.get(release.version)):
                    yield subject.finding(NAME, LEVEL, document, ("release", number, *key), message)
            for number, scope in enumerate(document.record.product.complete):
                read = [document.record.source[s].seen for s in scope.sources if s in document.record.source]
                if read and scope.until > max(read):
                    message = f"complete until {scope.until}, and its sources were last read on {max(read)}"
                    yield subject.finding(NAME, LEVEL, document, ("product", "complete", number, "until"), message)
        if isinstance(document.record, IndexFile):
            for where, message in _index(document.record):
                yield subject.finding(NAME, LEVEL, document, where, message)
        if isinstance(document.record, ImageFile):
            for where, message in _revisions(document.record):
                yield subject.finding(NAME, LEVEL, document, where, message)
    for seen in subject.seen:
        if seen.observation.checked > today:
            message = f"checked {seen.observation.checked} lies after today, {today}"
            yield subject.finding_at(NAME, LEVEL, seen, message)


def _alone(record: Record, today: date) -> Iterator[tuple[Where, str]]:
    """Yield what a record alone shows to be wrong."""
    late: tuple[tuple[str, date | None], ...] = ()
    if isinstance(record, SourceEntry | IndexFile):
        late = (("seen", record.seen),)
    elif isinstance(record, Moment):
        late = (("on", record.on), ("after", record.after), ("by", record.by))
        if record.after and record.by and record.after > record.by:
            yield ("by",), f"after {record.after} and by {record.by} cannot both be"
    elif isinstance(record, Yank):
        late = (("by", record.by),)
        if record.after and record.after > record.by:
            yield ("by",), f"after {record.after} and by {record.by} cannot both be"
    elif isinstance(record, Dispute):
        late = (("decided", record.decided),)
        if record.day == "released":
            late += tuple(("days", day) for day in record.days)
    elif isinstance(record, EventEntry):
        late = (("announced", record.announced),)
        yield from _event(record, today)
    elif isinstance(record, Complete):
        late = (("until", record.until),)
    elif isinstance(record, AdvisoryEntry):
        late = (("since", record.since),)
    for name, day in late:
        if day and day > today:
            yield (name,), f"{name} {day} lies after today, {today}"


def _event(event: EventEntry, today: date) -> Iterator[tuple[Where, str]]:
    """Yield what is wrong with an event that has a date of its own."""
    if not event.dated:
        return
    first, last = event.span
    key = "on" if event.on else "after"
    if event.announced and event.announced > last:
        yield ("announced",), f"announced on {event.announced}, after it happened by {last}"
    if first > today and not event.announced:
        yield (key,), f"lies after today, {today}: give the day in `announced` from which on it was planned"


def _uploads(subject: LintSubject, file: ProductFile) -> dict[str, IndexRelease]:
    if not subject.knowledge:
        return {}
    elements = subject.knowledge.elements[file.product.id]
    return {element.release.version: element.published for element in elements if element.published}


def _life(file: ProductFile, release: Release, listed: IndexRelease | None) -> Iterator[tuple[Where, str]]:
    first = None
    if release.released:
        first = release.released.on or release.released.after
    elif listed:
        first = listed.uploaded.date()
    end = release.eol or file.product.eol
    if first and end and end.last_day < first:
        yield ("eol",), f"out of support on {end.last_day}, before it came out on {first}"
    if first and release.yanked and release.yanked.by < first:
        yield ("yanked",), f"withdrawn by {release.yanked.by}, before it came out on {first}"
    for number, build in enumerate(release.build):
        own = (build.released.on or build.released.by) if build.released else None
        if own and end and end.last_day < own:
            yield ("build", number, "released"), f"came out on {own}, after the release went out of support on {end.last_day}"


def _index(file: IndexFile) -> Iterator[tuple[Where, str]]:
    for number, release in enumerate(file.release):
        where: Where = ("release", number)
        uploaded = release.uploaded.date()
        if uploaded > file.seen:
            yield (*where, "uploaded"), f"uploaded on {uploaded}, after the index was read on {file.seen}"
        if release.yanked and not uploaded <= release.yanked.seen <= file.seen:
            message = f"seen as withdrawn on {release.yanked.seen}, not between {uploaded} and {file.seen}"
            yield (*where, "yanked"), message


def _revisions(file: ImageFile) -> Iterator[tuple[Where, str]]:
    last = max((source.seen for source in file.source.values()), default=None)
    ordered = sorted(enumerate(file.revision), key=lambda pair: pair[1].n)
    for (_, before), (number, after) in pairwise(ordered):
        if after.at < before.at:
            yield ("revision", number, "at"), f"revision {after.n} is older than revision {before.n}"
    for number, revision in enumerate(file.revision):
        if last and revision.at.date() > last:
            yield ("revision", number, "at"), f"revision {revision.n} is of a day after the sources were read"
    for number, listing in enumerate(file.listing):
        for position, ((_, end), (start, _)) in enumerate(pairwise(listing.runs)):
            if start <= end:
                yield ("listing", number, "runs", position + 1), "runs overlap or stand in another order"
