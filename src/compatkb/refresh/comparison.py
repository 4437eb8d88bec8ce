"""Compares what the data hold of a distribution with what the index lists: pure."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Literal

from packaging.version import Version

from compatkb.authoring.index_requirements import bounds_of
from compatkb.core.platforms import is_of_use
from compatkb.refresh.listing import DistributionFile, IndexPage, WheelMetadata, differences, whole_seconds
from compatkb.schema import IndexFile, IndexRelease, IndexYank, SharedMetadata

Kind = Literal["unnamed", "yanked", "unyanked", "gone", "differs", "unread", "undated", "new-file", "not-checked"]


@dataclass(frozen=True)
class Note:
    """One thing to look at; `toml` is the skeleton of a record, where one is needed."""

    kind: Kind
    distribution: str
    versions: tuple[str, ...]
    message: str
    product: str | None = None
    toml: str = ""


@dataclass(frozen=True)
class RecordedDistribution:
    """A distribution with what the data say of it; `recorded` is None where there is no file of it yet."""

    distribution: str
    product: str | None
    recorded: IndexFile | None
    named: frozenset[Version]  # that product files name, so that a pre-release among them counts
    reads_requirements: bool
    reads_again: bool = False  # also of wheels whose metadata are recorded

    def known(self) -> dict[Version, IndexRelease]:
        """Return the recorded releases by version."""
        return (
            {Version(one.version): one for one in (*self.recorded.release, *_unfolded(self.recorded))} if self.recorded else {}
        )


@dataclass(frozen=True)
class Plan:
    """Which wheels' metadata to read: of each release the one that is recorded, then others that may differ."""

    releases: Mapping[Version, tuple[DistributionFile, ...]]
    wheels: Mapping[Version, tuple[DistributionFile, ...]]


def undated(subject: RecordedDistribution, listed: IndexPage) -> tuple[DistributionFile, ...]:
    """Return one file of each new release for which the page gives no upload time."""
    known = subject.known()
    undated_files = []
    for version, files in listed.releases().items():
        if version not in known and _wanted(subject, version) and all(file.entry.uploaded is None for file in files):
            undated_files.append(files[0])
    return tuple(undated_files)


def plan(subject: RecordedDistribution, listed: IndexPage, changed: Mapping[str, datetime], since: datetime) -> Plan:
    """Return the releases that belong into the data, and the wheels to read; `changed` are Last-Modified times by file.

    That is what is recorded, and every other release first uploaded at `since` or later that is no pre-release, or
    whose version a product file names.
    """
    known = subject.known()
    releases: dict[Version, tuple[DistributionFile, ...]] = {}
    wheels: dict[Version, tuple[DistributionFile, ...]] = {}
    for version, files in listed.releases().items():
        uploaded = _uploaded(files, changed)
        if version not in known and (not _wanted(subject, version) or uploaded is None or uploaded[0] < since):
            continue
        releases[version] = files
        recorded = known.get(version)
        names = {file.entry.name for file in files}
        is_read = recorded is not None and (subject.product is None or recorded.file in names) and not subject.reads_again
        if subject.reads_requirements and not is_read and (main := _main_wheel(recorded, files)):
            is_alone = version in known or subject.product is None
            wheels[version] = (main,) if is_alone else (main, *_others(main, files))
    return Plan(releases, wheels)


def _wanted(subject: RecordedDistribution, version: Version) -> bool:
    return not version.is_prerelease or version in subject.named


def _uploaded(
    files: tuple[DistributionFile, ...], changed: Mapping[str, datetime]
) -> tuple[datetime, Literal["upload", "file"]] | None:
    """Return when the first file was uploaded, in whole seconds, and how that is known."""
    if times := [file.entry.uploaded for file in files if file.entry.uploaded]:
        return whole_seconds(min(times)), "upload"
    if bounds := [changed[file.entry.name] for file in files if file.entry.name in changed]:
        return whole_seconds(min(bounds)), "file"
    return None


def _main_wheel(recorded: IndexRelease | None, files: tuple[DistributionFile, ...]) -> DistributionFile | None:
    """Return the wheel that is recorded already; else the one for Linux on x86-64 (or any platform) and the oldest Python."""
    wheels = [file for file in files if file.is_wheel]
    if recorded and recorded.file and (same := [file for file in wheels if file.entry.name == recorded.file]):
        return same[0]
    return min(wheels, key=_rank, default=None)


def _rank(file: DistributionFile) -> tuple[object, ...]:
    linux = "linux" in file.platform
    platform = 0 if file.pure or (linux and "x86_64" in file.platform) else 1 if linux else 2
    digits = "".join(c for c in file.python.partition("-")[0].split(".")[-1] if c.isdigit())
    minor = int(digits[1:] or 0)
    return (platform, not file.python.startswith(("cp", "py")), int(digits[:1] or 0), minor, file.python, file.entry.name)


def _others(main: DistributionFile, files: tuple[DistributionFile, ...]) -> tuple[DistributionFile, ...]:
    """Return wheels that may require something else: one per digest of metadata, or else one per system."""
    wheels = sorted((file for file in files if file.is_wheel), key=_rank)
    digests = all(file.entry.metadata_sha256 for file in wheels)

    def kind(file: DistributionFile) -> str:
        return (file.entry.metadata_sha256 or "") if digests else file.platform.partition("_")[0].replace("musl", "many")

    first: dict[str, DistributionFile] = {}
    for file in wheels:
        first.setdefault(kind(file), file)
    return tuple(file for which, file in first.items() if which != kind(main))


def propose(
    subject: RecordedDistribution,
    listed: IndexPage,
    planned: Plan,
    changed: Mapping[str, datetime],
    readings: Mapping[str, WheelMetadata | None],
    today: date,
) -> tuple[IndexFile, tuple[Note, ...]]:
    """Return the file of a distribution as it should be, and what people should know; nothing recorded is lost.

    `readings` are the metadata by wheel, None where they cannot be had. `seen` is today's where something differs.
    """
    known = subject.known()
    proposal = _Proposal(subject, listed, changed, today)
    release_by_version = dict(known)
    for version, files in planned.releases.items():
        main, *others = planned.wheels.get(version, (None,))
        reading = readings.get(main.entry.name) if main else None
        release_by_version[version] = proposal.release(known.get(version), version, files, reading)
        if main and reading is None and version not in known:
            proposal.note("unread", f"the index gives no metadata of {main.entry.name}", str(version))
        for other in others:
            if reading and (second := readings.get(other.entry.name)):
                proposal.compare(version, reading, second)
    listed_versions = listed.releases()
    gone = [version for version in known if version not in listed_versions]
    if gone:
        texts = (str(version) for version in sorted(gone, reverse=True))
        proposal.note("gone", "recorded, and no longer on the index; the records stay", *texts)
    for version, files in listed_versions.items():
        if version not in release_by_version and _wanted(subject, version) and _uploaded(files, changed) is None:
            proposal.note("undated", "not recorded: nothing says when it was uploaded", str(version))
    releases = tuple(release_by_version[version] for version in sorted(release_by_version, reverse=True))
    name = subject.recorded.distribution if subject.recorded else subject.distribution
    after = IndexFile(distribution=name, seen=today, release=releases)
    if subject.product is None:
        after, proposal.notes = _folded(after), []
    if subject.recorded and (after.release, after.metadata) == (subject.recorded.release, subject.recorded.metadata):
        return subject.recorded, tuple(proposal.notes)
    return after, tuple(proposal.notes)


def _folded(file: IndexFile) -> IndexFile:
    """Return the file of a distribution that is no product: what its metadata say, each once."""
    alike: dict[tuple[str, tuple[str, ...] | None], list[IndexRelease]] = {}
    for release in file.release:
        alike.setdefault((release.requires_python, bounds_of(release.requires) if release.file else None), []).append(release)
    metadata = tuple(
        SharedMetadata(
            versions=tuple(one.version for one in several),
            yanked=tuple(one.version for one in several if one.yanked),
            requires_python=python,
            requires=requires,
        )
        for (python, requires), several in alike.items()
    )
    return file.model_copy(update={"release": (), "metadata": metadata})


def _unfolded(file: IndexFile) -> Iterator[IndexRelease]:
    """Yield the releases of a distribution that is no product, without what is not kept of them."""
    for one in file.metadata:
        for version in one.versions:
            yield IndexRelease(
                version=version,
                uploaded=datetime(file.seen.year, file.seen.month, file.seen.day, tzinfo=UTC),
                yanked=IndexYank(files="all", seen=file.seen) if version in one.yanked else None,
                requires_python=one.requires_python,
                requires=one.requires or (),
                file=None if one.requires is None else version,
            )


@dataclass
class _Proposal:
    """The file of a distribution in the making, with what people should know of it."""

    subject: RecordedDistribution
    listed: IndexPage
    changed: Mapping[str, datetime]
    today: date
    notes: list[Note] = field(default_factory=list)

    def note(self, kind: Kind, message: str, *versions: str) -> None:
        """Add what people should know of some versions."""
        self.notes.append(Note(kind, self.subject.distribution, versions, message))

    def release(
        self, known: IndexRelease | None, version: Version, files: tuple[DistributionFile, ...], reading: WheelMetadata | None
    ) -> IndexRelease:
        """Return a release as it should be recorded."""
        text = known.version if known else str(version)
        uploaded = _earliest(known, _uploaded(files, self.changed))
        wheels = {key: set(platforms) for key, platforms in known.wheels.items()} if known else {}
        offered = {(file.python, file.platform) for file in files if file.is_wheel}
        lost = [f"{key} {name}" for key in wheels for name in sorted(wheels[key]) if (key, name) not in offered]
        if lost:
            message = f"wheels that are recorded, and no longer on the index, stay: {', '.join(lost)}"
            self.note("gone", message, text)
        for key, platform in offered:
            wheels.setdefault(key, set()).add(platform)
        kept = {key: {each for each in platforms if is_of_use(key, each)} for key, platforms in wheels.items()}
        wheels = {key: platforms for key, platforms in kept.items() if platforms} or wheels
        return IndexRelease(
            version=text,
            uploaded=uploaded[0],
            dated=uploaded[1],
            yanked=self._yank(known, text, files),
            requires_python=self._requires_python(known, text, files, reading),
            requires=reading.requires if reading else known.requires if known else (),
            wheels={key: tuple(sorted(wheels[key])) for key in sorted(wheels)},
            file=reading.file if reading else known.file if known else None,
        )

    def _yank(self, known: IndexRelease | None, version: str, files: tuple[DistributionFile, ...]) -> IndexYank | None:
        before = known.yanked if known else None
        reasons = [file.entry.yanked for file in files if file.entry.yanked is not None]
        if not reasons:
            if before and not self.listed.speaks_of_yanks:
                message = "recorded as yanked; the index says nothing of any yank, so the record stays"
                self.note("unyanked", message, version)
                return before
            if before:
                self.note("unyanked", "is no longer yanked", version)
            return None
        extent: Literal["all", "some"] = "all" if len(reasons) == len(files) else "some"
        reason = next((text for text in sorted(reasons, key=lambda text: (-reasons.count(text), text)) if text), "")
        wider = before is not None and before.files == "some" and extent == "all"
        seen = before.seen if before and not wider else self.today
        if before is None or wider:
            self.note("yanked", reason, version)
        return IndexYank(files=extent, reason=reason, seen=seen)

    def _requires_python(
        self, known: IndexRelease | None, version: str, files: tuple[DistributionFile, ...], reading: WheelMetadata | None
    ) -> str:
        if not self.listed.speaks_of_python:
            if known and known.requires_python:
                return known.requires_python
            return (reading.requires_python or "") if reading else ""
        specifier_by_file = {file.entry.name: file.entry.requires_python or "" for file in files}
        values = sorted(set(specifier_by_file.values()))
        if len(values) == 1:
            return values[0]
        main = _main_wheel(known, files)
        chosen = specifier_by_file[main.entry.name] if main else values[0]
        message = f"its files differ in Requires-Python: {', '.join(repr(value) for value in values)}; recorded is {chosen!r}"
        self.note("differs", message, version)
        return chosen

    def compare(self, version: Version, main: WheelMetadata, other: WheelMetadata) -> None:
        """Note where another wheel of a release requires something else than the one that is recorded."""
        more, less = differences(other, main)
        if more or less:
            parts = [
                f"{word} {', '.join(texts)}" for word, texts in (("also requires", more), ("does not require", less)) if texts
            ]
            message = f"{other.file} {' and '.join(parts)}; recorded is {main.file}"
            self.note("differs", message, str(version))


def _earliest(
    known: IndexRelease | None, listed: tuple[datetime, Literal["upload", "file"]] | None
) -> tuple[datetime, Literal["upload", "file"]]:
    """Return the earlier time; one that the index gives replaces one that only a file's date bounds."""
    if known is None:
        assert listed is not None
        return listed
    recorded = (known.uploaded, known.dated)
    if listed is None or listed[1] == "file":
        return recorded
    return listed if known.dated == "file" or listed[0] < known.uploaded else recorded
