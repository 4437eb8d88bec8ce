"""One refresh: reads the data, asks the index, proposes changes, and replaces files atomically."""

import contextlib
import os
import queue
import tempfile
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime
from functools import partial
from pathlib import Path
from typing import Protocol, TypeVar

from packaging.utils import canonicalize_name

from compatkb.authoring.canonical import text_of
from compatkb.authoring.index_requirements import worth_recording
from compatkb.authoring.loader import Files
from compatkb.core.text_position import unified
from compatkb.core.versions import Scheme
from compatkb.errors import CompatkbError, NotListedError, UnavailableError, UsageError
from compatkb.refresh.comparison import Note, Plan, RecordedDistribution, plan, propose, undated
from compatkb.refresh.listing import DistributionFile, IndexPage, WheelMetadata
from compatkb.refresh.proposals import named_versions, unnamed, yanked
from compatkb.refresh.source_files import PACKED, in_archive, joined, reads, rules_of
from compatkb.schema import CollectedFile, FileFeed, IndexFile, ProductFile, Role
from compatkb.schema.collected import FileRow

Count = Callable[[str, int, int], None]
A = TypeVar("A")
B = TypeVar("B")
PATIENCE = 300.0
MOST_FAILURES = 20
_CHANNEL = "default"


class IndexClient(Protocol):
    """What a run asks of an index; `network.Network` is the real one. All raise UnavailableError."""

    def page(self, distribution: str) -> IndexPage:
        """Return what the index lists of a distribution."""

    def last_modified(self, file: DistributionFile) -> datetime | None:
        """Return when a file last changed, None where nothing says so."""

    def reading(self, distribution: str, file: DistributionFile) -> WheelMetadata | None:
        """Return what a wheel's metadata say, None where they cannot be had without the wheel."""

    def archive(self, file: DistributionFile) -> bytes:
        """Return a source archive."""


@dataclass(frozen=True)
class FileChange:
    """A file with its text before (empty where there is none) and after."""

    path: Path
    before: str
    after: str

    def diff(self, directory: Path) -> str:
        """Return the unified diff, with paths as seen from the folder around the data directory; empty without change."""
        name = f"{directory.name}/{self.path.relative_to(directory).as_posix()}"
        old = f"a/{name}" if self.before else os.devnull
        return unified(self.before, self.after, old, f"b/{name}")


@dataclass(frozen=True)
class RefreshOutcome:
    """Files that would change, by name; files of which only the day of the last look would move; and what to decide."""

    changes: tuple[FileChange, ...]
    looked_at: tuple[FileChange, ...]
    notes: tuple[Note, ...]


def select(files: Files, only: Iterable[str], *, requirements: bool) -> tuple[RecordedDistribution, ...]:
    """Return the distributions to ask for, by name: those with a file, runtimes, and those with a build on the default index.

    `only` are product ids, aliases or distributions; raises UsageError for one that is not among them. Requires-Dist is
    read for a new file, and where the file has such metadata already, or with `requirements`; that of a recorded wheel is
    read again only then, since a file of an index never changes.
    """
    recorded = {str(canonicalize_name(file.distribution)): file for file in files.index}
    owners: dict[str, list[ProductFile]] = {}
    for file in files.products:
        for name in _distributions(file):
            owners.setdefault(name, []).append(file)
        if file.product.distribution and (own := str(canonicalize_name(file.product.distribution))) in recorded:
            owners.setdefault(own, [])
            owners[own] += [] if file in owners[own] else [file]
    names = sorted({*recorded, *owners})
    if wanted := list(only):
        called = {
            name: {name, *(w for f in owners.get(name, ()) for w in (f.product.id, *f.product.aliases))} for name in names
        }
        chosen: set[str] = set()
        for word in wanted:
            matching = [name for name in names if word in called[name] or str(canonicalize_name(word)) == name]
            if not matching:
                raise UsageError(f"{word!r} has nothing on the default index in these data; there are: {', '.join(names)}")
            chosen.update(matching)
        names = sorted(chosen)
    subjects = []
    for name in names:
        known = recorded.get(name)
        reads = requirements or known is None or not known.release or any(release.file for release in known.release)
        named = frozenset(version for owner in owners.get(name, ()) for version in named_versions(owner))
        product = owners[name][0].product.id if owners.get(name) else None
        subjects.append(RecordedDistribution(name, product, known, named, reads, requirements))
    return tuple(subjects)


def _distributions(file: ProductFile) -> set[str]:
    """Return the names under which a product is on the default index: of builds there or to be listed, or of a runtime."""
    builds = [build for release in file.release for build in release.build if _CHANNEL in build.channels]
    names = {build.distribution or file.product.distribution for build in builds}
    names |= {file.product.distribution} if file.product.role is Role.LEAF or file.listed else set()
    return {str(canonicalize_name(name)) for name in names if name}


def refresh(
    files: Files,
    directory: Path,
    subjects: tuple[RecordedDistribution, ...],
    index: IndexClient,
    today: date,
    *,
    since: datetime | None = None,
    jobs: int = 4,
    say: Callable[[str], None] = lambda _: None,
    count: Count = lambda *_: None,
) -> RefreshOutcome:
    """Return what the index has that the data lack. Raises UnavailableError with every failure, one a line.

    `count` gets what is being read, how much of it is done, and of how much.

    Releases first uploaded before `since` are left out unless they are recorded; unless given, that is the oldest upload
    recorded of the distribution, and of one without a file the oldest that any file of data/index/ records.
    """
    oldest = {str(canonicalize_name(f.distribution)): min(r.uploaded for r in f.release) for f in files.index if f.release}
    if since is None and not oldest:
        raise UsageError("data/index/ records nothing yet, so say with --since from which day on releases count")
    names = [subject.distribution for subject in subjects]
    listings = dict(zip(names, gather(partial(_page, index), subjects, jobs, partial(count, "pages")), strict=True))
    say(f"{len(listings)} pages read, with {sum(len(page.files) for page in listings.values())} files")
    dates: list[DistributionFile] = [file for subject in subjects for file in undated(subject, listings[subject.distribution])]
    if dates:
        say(f"{len(dates)} releases without an upload time: asking when their files last changed")
    moments = gather(index.last_modified, dates, jobs, partial(count, "dates"))
    changed = {file.entry.name: moment for file, moment in zip(dates, moments, strict=True) if moment}
    start = {name: since or oldest.get(name) or min(oldest.values()) for name in names}
    plans = {name: plan(s, listings[name], changed, start[name]) for name, s in zip(names, subjects, strict=True)}
    wheels = [(name, wheel) for name, planned in plans.items() for group in planned.wheels.values() for wheel in group]
    say(f"reading the metadata of {len(wheels)} wheels")
    metadata = gather(lambda item: index.reading(*item), wheels, jobs, partial(count, "wheels"))
    products = {str(canonicalize_name(f.product.distribution)) for f in files.products if f.product.distribution}
    extras = products | {f.product.id for f in files.products}
    extras |= {extra for f in files.products for release in f.release for build in release.build for extra in build.extras}
    readings = {
        wheel.entry.name: _kept(reading, products, extras) for (_, wheel), reading in zip(wheels, metadata, strict=True)
    }
    if missing := sum(reading is None for reading in metadata):
        say(f"the metadata of {missing} wheels cannot be had without the wheels; what is recorded of them stays unchecked")
    outcome = _outcome(files, directory, subjects, listings, plans, changed, readings, today)
    read = _archives(files, directory, subjects, listings, index, today, jobs, partial(count, "archives"))
    return replace(outcome, changes=(*outcome.changes, *read))


def _archives(
    files: Files,
    directory: Path,
    subjects: Iterable[RecordedDistribution],
    listings: Mapping[str, IndexPage],
    index: IndexClient,
    today: date,
    jobs: int,
    count: Callable[[int, int], None],
) -> Iterator[FileChange]:
    """Yield the files of data/collected/ that get what source archives say which were not read for the same so far.

    An archive never changes, so what was read stays.
    """
    products = {file.product.id: file for file in files.products}
    known = {file.product: file for file in files.collected}
    for subject in subjects:
        name = subject.product or ""
        for feed in products[name].feed if name in products else ():
            if not isinstance(feed, FileFeed) or feed.repo:
                continue
            before = known.get(name) or CollectedFile(product=name, seen=today)
            others = tuple(read for read in before.files if read.repo)
            rows = [row for read in before.files if not read.repo and read.rules == rules_of(feed) for row in read.rows]
            there = {row.version for row in rows}
            lacking = [
                file
                for file in listings[subject.distribution].files
                if file.entry.name.endswith(PACKED) and not file.version.is_prerelease
                if str(file.version) not in there and reads(feed, str(file.version))
            ]
            if not lacking:
                continue

            def read(file: DistributionFile, feed: FileFeed = feed) -> FileRow:
                return in_archive(feed, str(file.version), file.entry.name, index.archive(file))

            rows += gather(read, lacking, jobs, count)
            after = before.model_copy(
                update={"seen": today, "files": (*others, *filter(None, [joined(feed, rows, Scheme.PEP440)]))}
            )
            path = directory / "collected" / f"{name}.toml"
            yield FileChange(path, text_of(known[name]) if name in known else "", text_of(after))


def _kept(reading: WheelMetadata | None, products: Collection[str], extras: Collection[str]) -> WheelMetadata | None:
    """Return what an index file keeps of the metadata of a wheel."""
    return replace(reading, requires=worth_recording(reading.requires, products, extras)) if reading else None


def _outcome(
    files: Files,
    directory: Path,
    subjects: tuple[RecordedDistribution, ...],
    listings: Mapping[str, IndexPage],
    plans: Mapping[str, Plan],
    changed: Mapping[str, datetime],
    readings: Mapping[str, WheelMetadata | None],
    today: date,
) -> RefreshOutcome:
    changes: list[FileChange] = []
    looked_at: list[FileChange] = []
    notes: list[Note] = []
    products = {file.product.id: file for file in files.products}
    for subject in subjects:
        name = subject.distribution
        after, new_notes = propose(subject, listings[name], plans[name], changed, readings, today)
        path = directory / "index" / f"{subject.recorded.distribution if subject.recorded else name}.toml"
        before = text_of(subject.recorded) if subject.recorded else ""
        if text_of(after) != before:
            changes.append(FileChange(path, before, text_of(after)))
        elif after.seen < today:
            looked_at.append(FileChange(path, before, text_of(after.model_copy(update={"seen": today}))))
        owner = products.get(subject.product or "")
        if subject.recorded is None:
            notes.append(Note("new-file", name, (), "has no file yet; it would get one", subject.product))
        notes += _decisions(subject, owner, after, new_notes, products.values(), today)
    return RefreshOutcome(tuple(changes), tuple(looked_at), tuple(notes))


def _decisions(
    subject: RecordedDistribution,
    owner: ProductFile | None,
    after: IndexFile,
    new_notes: tuple[Note, ...],
    products: Iterable[ProductFile],
    today: date,
) -> list[Note]:
    notes: list[Note] = []
    known = subject.recorded
    before = frozenset(release.version for release in known.release) if known else frozenset()
    if owner:
        notes += unnamed(owner, after, before if known else None, today)
    for note in new_notes:
        if note.kind != "yanked":
            notes.append(note)
        elif owner:
            last = known.seen if known and set(note.versions) <= before else None
            decision = yanked(note, owner, products, last, today)
            notes += [decision] if decision else []
    return notes


def _page(index: IndexClient, subject: RecordedDistribution) -> IndexPage:
    """Return what the index lists of a distribution: nothing where it has none, if that is what the data hold of a product."""
    try:
        return index.page(subject.distribution)
    except NotListedError:
        if subject.product and subject.recorded and not subject.known():
            return IndexPage(subject.distribution, (), speaks_of_python=True, speaks_of_yanks=True)
        raise


def gather(
    work: Callable[[A], B],
    items: Iterable[A],
    jobs: int,
    count: Callable[[int, int], None] = lambda *_: None,
    *,
    patience: float = PATIENCE,
) -> list[B]:
    """Return the results of `work`, in order. Raises one UnavailableError with what failed, one failure a line.

    `count` gets how many there are, of how many.

    `patience` is how many seconds may pass without any result. The threads are daemons: one that hangs in a trickling
    answer does not keep the process from ending.
    """
    todo = list(items)
    waiting: queue.SimpleQueue[int] = queue.SimpleQueue()
    for number in range(len(todo)):
        waiting.put(number)
    done: queue.SimpleQueue[tuple[int, B | None, BaseException | None]] = queue.SimpleQueue()

    def worker() -> None:
        while True:
            try:
                number = waiting.get_nowait()
            except queue.Empty:
                return
            try:
                done.put((number, work(todo[number]), None))
            except BaseException as error:  # handed to the caller
                done.put((number, None, error))

    for _ in range(min(jobs, len(todo))):
        threading.Thread(target=worker, daemon=True).start()
    results: dict[int, B] = {}
    failed: dict[int, str] = {}
    for place in range(1, len(todo) + 1):
        try:
            number, result, error = done.get(timeout=patience)
        except queue.Empty:
            raise UnavailableError(f"the index gave no whole answer for {patience:g} seconds") from None
        if isinstance(error, CompatkbError):
            failed[number] = str(error)
        elif error is not None:
            raise error
        else:
            results[number] = result  # type: ignore[assignment]  # without an error there is a result
        count(place, len(todo))
    if failed:
        lines = [failed[number] for number in sorted(failed)]
        more = [f"and {len(lines) - MOST_FAILURES} more"] if len(lines) > MOST_FAILURES else []
        raise UnavailableError("\n".join(lines[:MOST_FAILURES] + more))
    return [results[number] for number in range(len(todo))]


def write(changes: Iterable[FileChange]) -> None:
    """Replace files by their new text; each appears whole or not at all. Raises UnavailableError."""
    ready: list[tuple[str, Path]] = []
    path = Path()
    try:
        for change in changes:
            path = change.path
            path.parent.mkdir(exist_ok=True)
            handle, name = tempfile.mkstemp(dir=path.parent, prefix=".new-")
            ready.append((name, path))
            with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
                file.write(change.after)
                file.flush()
                os.fsync(file.fileno())
            Path(name).chmod(path.stat().st_mode & 0o777 if path.exists() else 0o644)
        while ready:
            name, path = ready[0]
            Path(name).replace(path)
            ready.pop(0)
    except OSError as error:
        raise UnavailableError(f"{path}: cannot be written: {error.strerror}") from None
    finally:
        for name, _ in ready:
            with contextlib.suppress(OSError):
                Path(name).unlink()
