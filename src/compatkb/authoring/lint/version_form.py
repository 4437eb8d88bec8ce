"""Versions can be read, stand once, and belong where they stand."""

import re
from collections.abc import Iterator

from packaging.version import Version

from compatkb.authoring.lint.subject import LintSubject
from compatkb.core.findings import Finding, Severity
from compatkb.core.toml_positions import Where
from compatkb.core.versions import Key, Scheme, parse
from compatkb.schema import Build, IndexFile, ProductFile, Release

NAME, LEVEL = "versions", Severity.ERROR
SUMMARY = "a version cannot be read in its product's scheme, stands twice, or belongs to another release"


def check(subject: LintSubject) -> Iterator[Finding]:
    """Yield versions that are unreadable, doubled, or in the wrong place."""
    for document, file in subject.products:
        for where, message in (*_product(file), *_builds(file)):
            yield subject.finding(NAME, LEVEL, document, where, message)
    for document, listed in subject.index:
        for where, message in _index(listed):
            yield subject.finding(NAME, LEVEL, document, where, message)


def _product(file: ProductFile) -> Iterator[tuple[Where, str]]:
    seen: dict[Key, str] = {}
    for number, release in enumerate(file.release):
        where = ("release", number, "version")
        try:
            key = parse(file.product.scheme, release.version)
        except ValueError as error:
            yield where, str(error)
            continue
        if key in seen:
            yield where, f"{release.version} is the same version as {seen[key]} above"
        seen.setdefault(key, release.version)
        if file.product.scheme is Scheme.LISTED and release.name and not _same_numbers(release):
            yield ("release", number, "name"), f"{release.name!r} and {release.version} carry different numbers"


def _same_numbers(release: Release) -> bool:
    """Return whether the numbers of a listed version stand in its name, where that has any."""
    named, version = (re.findall(r"\d+", text or "") for text in (release.name, release.version))
    return not named or not version or "".join(version) in "".join(named) or set(version) <= set(named)


def _builds(file: ProductFile) -> Iterator[tuple[Where, str]]:
    seen: dict[tuple[Key, str | None], str] = {}
    for number, release in enumerate(file.release):
        for position, build in enumerate(release.build):
            where = ("release", number, "build", position, "version")
            try:
                key = parse(file.product.scheme, build.version)
                own = parse(file.product.scheme, release.version)
            except ValueError as error:
                yield where, str(error)
                continue
            if (key, build.distribution) in seen:
                yield where, f"{build.version} stands twice"
            seen[key, build.distribution] = build.version
            if isinstance(key, Version) and isinstance(own, Version) and key.release != own.release and not _relabelled(build):
                yield where, f"{build.version} is no build of {release.version}; if its maker calls it so, say it in `note`"
        written = {build.version for build in release.build}
        for position, row in enumerate(release.variant):
            for place, label in enumerate(row.labels):
                if (version := f"{release.version}+{label}") in written:
                    yield ("release", number, "variant", position, "labels", place), f"{version} stands twice"
                written.add(version)


def _relabelled(build: Build) -> bool:
    """Return whether the record says that a maker labelled a build by another release."""
    return build.maker is not None and build.note is not None


def _index(file: IndexFile) -> Iterator[tuple[Where, str]]:
    seen: dict[Key, str] = {}
    above: Version | None = None
    for number, release in enumerate(file.release):
        where = ("release", number, "version")
        try:
            key = parse(Scheme.PEP440, release.version)
        except ValueError as error:
            yield where, str(error)
            continue
        if key in seen:
            yield where, f"{release.version} is the same version as {seen[key]} above"
        seen.setdefault(key, release.version)
        assert isinstance(key, Version)
        if above is not None and key > above:
            yield where, f"{release.version} stands below {above}: newest first"
        above = key
