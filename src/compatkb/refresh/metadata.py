"""The METADATA of a wheel, to what it requires."""

from dataclasses import dataclass

from packaging.metadata import parse_email
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from compatkb.core.versions import specifier
from compatkb.errors import UnavailableError
from compatkb.refresh.listing import DistributionFile, check_text, shown

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
