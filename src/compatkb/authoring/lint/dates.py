"""Dates are in a possible order (release before withdrawal and end of life), none is in the future, and ends are given."""

from collections.abc import Iterator
from datetime import date
from functools import partial
from itertools import pairwise

from compatkb.authoring.lint.subject import LintProblem, LintSubject, problems_of, walk
from compatkb.core.text_position import Where
from compatkb.core.versions import Scheme
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
    Role,
    SourceEntry,
    Yank,
)


def dates(subject: LintSubject) -> Iterator[LintProblem]:
    """Yield days in the future, bounds that cross, and lives that end before they begin."""
    today = subject.today
    for document in subject.documents:
        for where, record in walk(document.record):
            for key, message in _alone(record, today):
                yield LintProblem(document, (*where, *key), message)
    yield from problems_of(subject.products, partial(_product, subject))
    yield from problems_of(subject.index, _index)
    yield from problems_of(subject.images, _revisions)
    for seen in subject.seen:
        if seen.observation.checked > today:
            yield LintProblem(seen, (), f"checked {seen.observation.checked} lies after today, {today}")


_PAST: dict[type[Record], tuple[str, ...]] = {
    SourceEntry: ("seen",),
    IndexFile: ("seen",),
    Moment: ("on", "after", "by"),
    Yank: ("by",),
    Dispute: ("decided",),
    EventEntry: ("announced",),
    Complete: ("until",),
    AdvisoryEntry: ("since",),
}
"""The days of records that cannot lie in the future."""


def _alone(record: Record, today: date) -> Iterator[tuple[Where, str]]:
    """Yield what a record alone shows to be wrong."""
    late: list[tuple[str, date | None]] = [(name, getattr(record, name)) for name in _PAST.get(type(record), ())]
    if isinstance(record, Moment | Yank) and record.after and record.by and record.after > record.by:
        yield ("by",), f"after {record.after} and by {record.by} cannot both be"
    if isinstance(record, Dispute) and record.day == "released":
        late += (("days", day) for day in record.days)
    if isinstance(record, EventEntry):
        yield from _event(record, today)
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


def _product(subject: LintSubject, file: ProductFile) -> Iterator[tuple[Where, str]]:
    elements = subject.knowledge.elements[file.product.id] if subject.knowledge else ()
    listed = {element.release.version: element.published for element in elements if element.published}
    for number, release in enumerate(file.release):
        for key, message in _life(file, release, listed.get(release.version)):
            yield ("release", number, *key), message
    for number, scope in enumerate(file.product.complete):
        read = [file.source[s].seen for s in scope.sources if s in file.source]
        if read and scope.until > max(read):
            message = f"complete until {scope.until}, and its sources were last read on {max(read)}"
            yield ("product", "complete", number, "until"), message


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


def end_of_life(subject: LintSubject) -> Iterator[LintProblem]:
    """Yield what lacks both: a product none of whose releases has an end of life, else each release that has none."""
    yield from problems_of(subject.products, _end)


def _end(file: ProductFile) -> Iterator[tuple[Where, str]]:
    head = file.product
    if head.eol or not _has_lives(file):
        if head.eol_note or (head.eol and head.eol_rule):
            message = "`eol-note` or `eol-rule` explains an absence, and there is an end of life, or nothing that ends"
            key = "eol-note" if head.eol_note else "eol-rule"
            yield ("product", key), message
        return
    some = any(release.eol for release in file.release)
    if not some and not head.eol_note and not head.eol_rule:
        message = f"no end of life is known of any {head.id}: give `eol` or `eol-rule`, or say why in `eol-note`"
        yield ("product",), message
    if some and head.eol_note:
        message = "some releases have an end of life, so `eol-note` belongs to the releases that have none"
        yield ("product", "eol-note"), message
    if some and head.eol_rule and not head.eol_rule.published:
        message = "`eol-rule` says that no end of life is published, and some releases have one"
        yield ("product", "eol-rule"), message
    for number, release in enumerate(file.release):
        if some and not release.eol and not release.eol_note:
            message = f"{release.version} has no end of life: give `eol`, or say in `eol-note` why there is none"
            yield ("release", number), message
        if release.eol_note and (release.eol or not some):
            message = "`eol-note` explains an absence" + ("" if release.eol else " that the product explains for all")
            yield ("release", number, "eol-note"), message


def _has_lives(file: ProductFile) -> bool:
    """Return whether versions of a product go out of support: what is only named by others, or is no software, does not."""
    if not file.release:
        return False
    if any(release.eol for release in file.release):
        return True
    return file.product.role is not Role.LEAF and file.product.scheme is not Scheme.LISTED
