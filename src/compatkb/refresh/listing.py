"""What an index page lists of a distribution, validated; the names of its wheels parsed, and their METADATA."""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from packaging.metadata import parse_email
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import InvalidSdistFilename, InvalidWheelFilename, canonicalize_name, parse_sdist_filename
from packaging.utils import parse_wheel_filename as parse_wheel
from packaging.version import InvalidVersion, Version

from compatkb.core.platforms import STABLE_ABI
from compatkb.core.versions import specifier
from compatkb.errors import NotListedError, UnavailableError

LONGEST_NAME = 300
LONGEST_TEXT = 2000
MOST_FILES = 50_000
_DIRECTIONS = frozenset(["LRE", "LRO", "RLE", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"])


@dataclass(frozen=True)
class RawFile:
    """A file as a page lists it, unchecked; None where the page says nothing."""

    name: str
    url: str
    requires_python: str | None
    yanked: str | None  # the reason, maybe empty
    uploaded: datetime | None
    has_metadata: bool | None
    metadata_sha256: str | None
    sha256: str | None = None


@dataclass(frozen=True)
class DistributionFile:
    """A wheel or source distribution of one version."""

    entry: RawFile
    version: Version
    python: str = ""  # the Python tag; of a free-threaded wheel its ABI tag, of one for the stable ABI both; of a source none
    platform: str = ""
    pure: bool = False  # for every platform

    @property
    def is_wheel(self) -> bool:
        """Return whether this is a wheel."""
        return bool(self.python)


@dataclass(frozen=True)
class IndexPage:
    """What a page lists: wheels and source distributions; and what the page speaks of at all."""

    distribution: str
    files: tuple[DistributionFile, ...]
    speaks_of_python: bool
    speaks_of_yanks: bool

    def releases(self) -> dict[Version, tuple[DistributionFile, ...]]:
        """Return the files of each version, sorted by name."""
        files_by_version: dict[Version, list[DistributionFile]] = {}
        for file in sorted(self.files, key=lambda file: file.entry.name):
            files_by_version.setdefault(file.version, []).append(file)
        return {version: tuple(files) for version, files in files_by_version.items()}


class _UnreadableNameError(UnavailableError):
    """The name of a file has no version."""


def listing(distribution: str, entries: Iterable[RawFile], *, always_tells_yanks: bool, strict: bool = True) -> IndexPage:
    """Return what a page lists; raises UnavailableError on a page that is not to be trusted.

    Unless `strict`, a file that is not to be trusted is passed over, as installers do.

    Wheels and source distributions must carry the name of the distribution and a PEP 440 version: one without a readable
    version is passed over, as installers do, as long as there is another; so are other kinds of files.
    """
    files: dict[str, DistributionFile] = {}
    python = yanks = False
    unread: UnavailableError | None = None
    for number, entry in enumerate(entries, 1):
        if number > MOST_FILES:
            raise UnavailableError(f"{distribution}: its page lists more than {MOST_FILES} files; it is not read")
        try:
            file = _listed(distribution, entry)
        except _UnreadableNameError as error:
            unread = error
            continue
        except UnavailableError:
            if strict:
                raise
            continue
        if file is None:
            continue
        if files.setdefault(entry.name, file) != file:
            raise UnavailableError(f"{distribution}: its page lists {entry.name} twice, and differently")
        python = python or entry.requires_python is not None
        yanks = yanks or entry.yanked is not None
    if not files and unread and strict:
        raise unread
    if not files:
        raise NotListedError(f"{distribution}: its page lists no wheel and no source distribution")
    return IndexPage(distribution, tuple(files.values()), python, yanks or always_tells_yanks)


def _listed(distribution: str, entry: RawFile) -> DistributionFile | None:
    name = entry.name
    if len(name) > LONGEST_NAME or not name.isprintable() or not name.isascii() or "/" in name or "\\" in name:
        raise UnavailableError(f"{distribution}: its page lists a file with an absurd name, {shown(name)}")
    try:
        if name.endswith(".whl"):
            project, version, _, _ = parse_wheel(name)
            python, abi, platform = name.removesuffix(".whl").split("-")[-3:]
            if re.fullmatch(r"cp\d+t", abi):
                python = abi
            elif abi == STABLE_ABI:
                python = f"{python}-{abi}"
            file = DistributionFile(entry, version, python, platform, platform == "any")
        elif name.endswith((".tar.gz", ".zip")):
            project, version = parse_sdist_filename(name)
            file = DistributionFile(entry, version)
        else:
            return None
    except (InvalidWheelFilename, InvalidSdistFilename, InvalidVersion) as error:
        raise _UnreadableNameError(
            f"{distribution}: {shown(name)} has no readable name and version: {shown(str(error))}"
        ) from None
    if project != canonicalize_name(distribution):
        raise UnavailableError(f"{distribution}: its page lists {shown(name)}, a file of another distribution")
    if entry.yanked is not None:
        check_text(f"{distribution}: the reason for which {name} was yanked", entry.yanked)
    if entry.requires_python is not None:
        check_text(f"{distribution}: Requires-Python of {name}", entry.requires_python)
        try:
            specifier(entry.requires_python)
        except ValueError as error:
            raise UnavailableError(f"{distribution}: Requires-Python of {name}: {shown(str(error))}") from None
    return file


def check_text(where: str, text: str) -> None:
    """Raise UnavailableError for text that is too long, or that has characters that control a terminal or a display."""
    if len(text) > LONGEST_TEXT:
        raise UnavailableError(f"{where} has {len(text)} characters; more than {LONGEST_TEXT} are not read")
    for character in text:
        if unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp") or unicodedata.bidirectional(character) in _DIRECTIONS:
            raise UnavailableError(f"{where} has the control character U+{ord(character):04X}")


def upload_time(text: str) -> datetime:
    """Return an ISO 8601 time as UTC in whole seconds; raises ValueError."""
    return whole_seconds(datetime.fromisoformat(text))


def whole_seconds(moment: datetime) -> datetime:
    """Return a time as UTC in whole seconds; one without a zone counts as UTC, as the simple API demands."""
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC).replace(microsecond=0)


def shown(text: str) -> str:
    """Return text from outside in a form that is safe to print, cut where it is long."""
    return ascii(text if len(text) <= 80 else text[:77] + "...")


MOST_REQUIREMENTS = 2000


@dataclass(frozen=True)
class WheelMetadata:
    """What the metadata of one wheel say: Requires-Dist as written and in their order, and Requires-Python."""

    file: str
    requires: tuple[str, ...]
    requires_python: str | None


def read_metadata(distribution: str, file: DistributionFile, content: bytes) -> WheelMetadata:
    """Return what a wheel requires; raises UnavailableError where the metadata are not those of the wheel."""
    name = file.entry.name
    try:
        raw, _ = parse_email(content)
        version = Version(raw.get("version", ""))
    except (InvalidVersion, ValueError, LookupError, RecursionError):
        raise UnavailableError(f"{name}: its metadata name no PEP 440 version") from None
    if canonicalize_name(raw.get("name", "")) != canonicalize_name(distribution) or version.public != file.version.public:
        release = shown(f"{raw.get('name', '')} {version}")
        raise UnavailableError(f"{name}: its metadata are those of {release}")
    requires = tuple(" ".join(text.split()) for text in raw.get("requires_dist", ()))
    if len(requires) > MOST_REQUIREMENTS:
        raise UnavailableError(f"{name}: has {len(requires)} requirements; more than {MOST_REQUIREMENTS} are not read")
    for text in requires:
        check_text(f"{name}: Requires-Dist", text)
    python = raw.get("requires_python")
    if python is not None:
        check_text(f"{name}: Requires-Python", python)
        try:
            specifier(python)
        except ValueError as error:
            raise UnavailableError(f"{name}: Requires-Python: {shown(str(error))}") from None
    return WheelMetadata(name, requires, python)


def differences(one: WheelMetadata, other: WheelMetadata) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return what only `one` requires, and what only `other` does; spelling and order do not count."""
    left, right = ({_plain(text): text for text in reading.requires} for reading in (one, other))
    return (
        tuple(text for plain, text in left.items() if plain not in right),
        tuple(text for plain, text in right.items() if plain not in left),
    )


def _plain(text: str) -> str:
    try:
        requirement = Requirement(text)
    except InvalidRequirement:
        return text
    requirement.name = str(canonicalize_name(requirement.name))
    return str(requirement)
