"""What an index file holds can be read: requirements, Python bounds, wheel tags, file names."""

import re
from collections.abc import Iterator
from functools import lru_cache

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import InvalidSdistFilename, InvalidWheelFilename, canonicalize_name, parse_wheel_filename

from compatkb.authoring.lint.subject import LintSubject
from compatkb.core.findings import Finding, Severity
from compatkb.core.versions import Scheme, parse
from compatkb.schema import IndexFile, IndexRelease

NAME, LEVEL = "requirements", Severity.ERROR
SUMMARY = "a line of an index file cannot be read as packaging standards have it"

_PYTHON = re.compile(r"(?:(?:py|cp|pp)\d+(?:_\d+)?t?\.?)+(?<!\.)(?:-abi3)?")
_ONE = r"(?:manylinux|musllinux|linux|macosx|win)[a-z0-9_]*+"
_PLATFORM = re.compile(rf"any|{_ONE}(?:\.{_ONE})*")


def check(subject: LintSubject) -> Iterator[Finding]:
    """Yield what no installer could read."""
    for document, file in subject.index:
        for number, release in enumerate(file.release):
            for key, message in _wrong(file, release):
                yield subject.finding(NAME, LEVEL, document, ("release", number, *key), message)


def _wrong(file: IndexFile, release: IndexRelease) -> Iterator[tuple[tuple[str | int, ...], str]]:
    for number, text in enumerate(release.requires):
        if problem := _unreadable(text):
            yield ("requires", number), f"invalid requirement {text!r}: {problem}"
    try:
        SpecifierSet(release.requires_python)
    except InvalidSpecifier:
        yield ("requires-python",), f"{release.requires_python!r} is no specifier"
    for tag, platforms in release.wheels.items():
        if not _PYTHON.fullmatch(tag):
            yield ("wheels", tag), f"{tag!r} is no Python tag such as cp or py with digits"
        for number, platform in enumerate(platforms):
            if not _PLATFORM.fullmatch(platform):
                yield ("wheels", tag, number), f"{platform!r} is no platform tag"
    if release.file:
        try:
            name, version, _, _ = parse_wheel_filename(release.file)
            same = name == canonicalize_name(file.distribution) and version == parse(Scheme.PEP440, release.version)
        except (InvalidWheelFilename, InvalidSdistFilename, ValueError):
            same = False
        if not same:
            yield ("file",), f"{release.file} is no wheel of {file.distribution} {release.version}"


@lru_cache(maxsize=16384)  # releases say the same again and again
def _unreadable(text: str) -> str | None:
    """Return why a requirement cannot be read, None where it can."""
    try:
        Requirement(text)
    except InvalidRequirement as error:
        return str(error).splitlines()[0]
    return None
