"""Adds the releases that index files list to their product files, with builds for the default index; pure.

`[[listed]]` of a product says what the builds are of all that nobody wrote down. Where a product has none, a release inside a
scope that it calls complete is born as the one before it was, for the same devices. Such a release, and one that came out
after the last that was `reviewed`, is new, not reviewed: an advisory says so until a person has looked at it.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from compatkb.authoring.families import filled
from compatkb.core.versions import Scheme, admits
from compatkb.schema import (
    AdvisoryEntry,
    Basis,
    Build,
    IndexFile,
    IndexRelease,
    Listed,
    ProductFile,
    Release,
    Role,
    SourceEntry,
    Stage,
)

DEFAULT = "default"
UNREVIEWED: Final = "unreviewed"
_MESSAGE = "new, not reviewed: what is said of it was read from the package index alone"


def with_listed(products: Iterable[ProductFile], index: Iterable[IndexFile]) -> tuple[ProductFile, ...]:
    """Return product files with the releases of their index files that they do not write down themselves."""
    listings = {str(canonicalize_name(file.distribution)): file for file in index}
    return tuple(
        _joined(file, listing)
        if file.product.scheme is Scheme.PEP440
        and file.product.role is not Role.LEAF
        and (listing := listings.get(str(canonicalize_name(file.product.distribution or ""))))
        else file
        for file in products
    )


def in_scope(file: ProductFile, version: str) -> bool:
    """Return whether a product calls its releases on the default index complete around a version."""
    for scope in file.product.complete:
        name = re.match(r"[a-z0-9][a-z0-9_-]*", scope.of)
        here = scope.what == "release" and not scope.device and scope.channel in (None, DEFAULT)
        if here and name and name[0] == file.product.id and admits(file.product.scheme, scope.of[name.end() :], version):
            return True
    return False


def unreviewed(file: ProductFile) -> frozenset[Version]:
    """Return the versions of a product that came from its feed, and that nobody has looked at."""
    return frozenset(Version(a.of.partition("===")[2]) for a in file.advisory if a.kind == UNREVIEWED and "===" in a.of)


def family_of(file: ProductFile, entry: IndexRelease) -> Listed | None:
    """Return the family of a release that nobody wrote down: one that is `source-only` of what has no wheel."""
    alike = (family for family in file.listed if (family.stage is not Stage.SOURCE_ONLY) == bool(entry.wheels))
    return next((family for family in alike if admits(file.product.scheme, family.releases or "", entry.version)), None)


def born_as(file: ProductFile, version: str) -> Build | None:
    """Return the default build of a release as that of the one before it, None where there is none."""
    builds = dict(_default_builds(file))
    older = max((each for each in builds if each < Version(version)), default=None)
    return _born(builds[older], version) if older else None


def _joined(file: ProductFile, listing: IndexFile) -> ProductFile:
    try:
        releases = {Version(release.version): release for release in file.release}
        written = {Version(build.version) for release in file.release for build in release.build if DEFAULT in build.channels}
        listed = {Version(release.version): release for release in listing.release}
    except InvalidVersion:  # what stands there is refused elsewhere
        return file
    sources, advisories = dict(file.source), list(file.advisory)
    for version, entry in listed.items():
        family = family_of(file, entry)
        if version in written or (family is None and not (in_scope(file, entry.version) and version not in releases)):
            continue
        new = family is None
        if family:
            build = _build_of(family, entry.version)
            reviewed = listed.get(Version(family.reviewed)) if family.reviewed else None
            new = family.reviewed is not None and (reviewed is None or entry.uploaded > reviewed.uploaded)
        elif born := born_as(file, entry.version):
            build = born
        else:
            continue
        if new:
            name = build.sources[0] if family else f"index-{entry.version}"
            if not family:
                file_name = entry.file or f"{listing.distribution} {entry.version}"
                sources[name] = SourceEntry(channel=DEFAULT, file=file_name, seen=listing.seen)
            of, day = f"{file.product.id}==={entry.version}", entry.uploaded.date()
            advisories.append(AdvisoryEntry(of=of, kind=UNREVIEWED, message=_MESSAGE, since=day, sources=(name,)))
        known = releases.get(version) or Release(version=entry.version, sources=build.sources)
        releases[version] = known.model_copy(update={"build": (*known.build, build)})
    return file.model_copy(
        update={
            "release": tuple(releases[version] for version in sorted(releases, reverse=True)),
            "source": sources,
            "advisory": tuple(advisories),
        }
    )


def _default_builds(file: ProductFile) -> Iterator[tuple[Version, Build]]:
    return ((Version(b.version), b) for release in file.release for b in release.build if DEFAULT in b.channels)


def _build_of(family: Listed, version: str) -> Build:
    said = family.model_dump(exclude={"releases", "reviewed"}) | {"version": version, "channels": (DEFAULT,)}
    return Build.model_validate(said | ({"note": filled(family.note, version)} if family.note else {}))


def _born(before: Build, version: str) -> Build:
    """Return a build that is for what the one before it was for; its labels are not known."""
    cites = (f"index-{version}",)
    kinds = tuple(
        kind.model_copy(update={"label": None, "basis": Basis.INFERRED, "note": "As the release before it.", "sources": cites})
        for kind in before.compiled_for
    )
    return Build(
        version=version,
        channels=(DEFAULT,),
        devices=before.devices,
        distribution=before.distribution,
        extras=before.extras,
        only_with=before.only_with,
        stage=before.stage,
        compiled_for=kinds,
        sources=cites,
    )
