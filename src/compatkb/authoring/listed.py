"""Adds the releases that index files list to their product files, with builds for the default index; pure.

`[[listed]]` of a product says what the builds are of all that nobody wrote down. Where a product has none, a release inside a
scope that it calls complete is born as the one before it was, for the same devices. Such a release, and one that came out
after the last that was `reviewed`, is new, not reviewed: an advisory says so until a person has looked at it.

What is newer than the newest release with builds on other indexes gets these builds as well, as inferred: those whose label
the two newest releases have, with the wheels of the newest for the Pythons of its own, and what was said of machines.
"""

import re
from collections.abc import Collection, Iterable, Iterator
from typing import Final

from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from compatkb.authoring.families import filled
from compatkb.core.versions import Scheme, admits
from compatkb.schema import (
    AdvisoryEntry,
    Basis,
    Build,
    Channel,
    ChannelFile,
    Claim,
    IndexFile,
    IndexRelease,
    Listed,
    ProductFile,
    Release,
    Role,
    SourceEntry,
    Stage,
    Wheels,
)

DEFAULT = "default"
UNREVIEWED: Final = "unreviewed"
AS_BEFORE: Final = "As the release before it."
_MESSAGE = "new, not reviewed: what is said of it was read from the package index alone"


def with_listed(products: Iterable[ProductFile], index: Iterable[IndexFile]) -> tuple[ProductFile, ...]:
    """Return product files with the releases of their index files that they do not write down themselves."""
    listings = {str(canonicalize_name(file.distribution)): file for file in index}
    files = tuple(products)
    machine = frozenset(file.product.id for file in files if file.product.scheme is not Scheme.PEP440)
    return tuple(
        _with_labels(_joined(file, listing), listing, machine)
        if file.product.scheme is Scheme.PEP440
        and file.product.role is not Role.LEAF
        and (listing := listings.get(str(canonicalize_name(file.product.distribution or ""))))
        else file
        for file in files
    )


def with_channels(file: ChannelFile, products: Iterable[ProductFile], index: Iterable[IndexFile]) -> ChannelFile:
    """Return the channels with one for each release where a record stands for all of them."""
    versions = {str(canonicalize_name(listing.distribution)): [r.version for r in listing.release] for listing in index}
    releases = {p.product.id: versions.get(str(canonicalize_name(p.product.distribution or "")), []) for p in products}
    channels: list[Channel] = []
    for channel in file.channel:
        name = re.match(r"[a-z0-9][a-z0-9_-]*", channel.of or "")
        if not channel.of or not name:
            channels.append(channel)
            continue
        for version in releases.get(name[0], ()):
            if admits(Scheme.PEP440, channel.of[name.end() :], version):
                texts = {key: text.replace("{of}", version) for key in ("name", "url") if (text := getattr(channel, key))}
                channels.append(channel.model_copy(update={"id": f"{channel.id}-{version}", "of": None, **texts}))
    return file.model_copy(update={"channel": tuple(channels)})


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
    alike = (
        family for family in file.listed if not family.label and (family.stage is not Stage.SOURCE_ONLY) == bool(entry.wheels)
    )
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
    for family in file.listed:
        for version, entry in listed.items():
            named = {build.version for build in releases[version].build} if version in releases else set()
            if (build := _build_of(family, entry.version)).version in named or not family.label or version not in releases:
                continue
            if entry.wheels and admits(file.product.scheme, family.releases or "", entry.version):
                releases[version] = releases[version].model_copy(update={"build": (*releases[version].build, build)})
    return file.model_copy(
        update={
            "release": tuple(releases[version] for version in sorted(releases, reverse=True)),
            "source": sources,
            "advisory": tuple(advisories),
        }
    )


def _with_labels(file: ProductFile, listing: IndexFile, machine: Collection[str]) -> ProductFile:
    """Return a product with the builds on other indexes of releases that are newer than those with such builds."""
    try:
        releases = {Version(release.version): release for release in file.release}
    except InvalidVersion:  # refused elsewhere
        return file
    by_label = {
        version: {_label(build) for build in release.build} - {"", *_family_labels(file, release.version)}
        for version, release in releases.items()
    }
    labelled = sorted(version for version, labels in by_label.items() if labels)
    if len(labelled) < 2:
        return file
    last, known = releases[labelled[-1]], {_label(build) for build in releases[labelled[-2]].build} & by_label[labelled[-1]]
    before = [build for build in last.build if _label(build) in known and build.stage is Stage.STABLE]
    claims, advisories, sources = list(file.claim), list(file.advisory), dict(file.source)
    for entry in listing.release:
        version = Version(entry.version)
        if version <= labelled[-1] or version.is_prerelease or version not in releases or not entry.wheels:
            continue
        name, pythons = f"index-{entry.version}", _pythons(entry)
        sources.setdefault(name, SourceEntry(channel=DEFAULT, file=entry.file or entry.version, at="files", seen=listing.seen))
        release = releases[version]
        there = {build.version for build in release.build}
        builds = [_labelled(build, last.version, entry.version, pythons, name) for build in before]
        builds = [build for build in builds if build.version not in there]
        variants = release.variant
        if version.release[:2] == labelled[-1].release[:2]:
            variants = variants or tuple(
                v.model_copy(update={"wheels": _as_before(v.wheels, pythons, name)}) for v in last.variant
            )
        releases[version] = release.model_copy(update={"build": (*release.build, *builds), "variant": variants})
        for build in builds:
            of = f"{file.product.id}=={build.version}"
            said = {(claim.kind, _subject(claim)) for claim in claims if claim.of == of}
            for claim in file.claim:
                as_before = claim.of == f"{file.product.id}=={last.version}+{_label(build)}"
                if as_before and _subject(claim) in machine and (claim.kind, _subject(claim)) not in said:
                    new = {"of": of, "id": f"{claim.id}-for-{entry.version}", "basis": Basis.INFERRED, "note": AS_BEFORE}
                    claims.append(claim.model_copy(update=new))
            day = entry.uploaded.date()
            of = f"{file.product.id}==={build.version}"
            advisories.append(AdvisoryEntry(of=of, kind=UNREVIEWED, message=_MESSAGE, since=day, sources=(name,)))
    return file.model_copy(
        update={
            "release": tuple(releases[version] for version in sorted(releases, reverse=True)),
            "claim": tuple(claims),
            "advisory": tuple(advisories),
            "source": sources,
        }
    )


def _family_labels(file: ProductFile, version: str) -> set[str]:
    """Return the labels that a release has by the families of the product."""
    return {f.label for f in file.listed if f.label and admits(file.product.scheme, f.releases or "", version)}


def _label(build: Build) -> str:
    """Return the label of a build of the maker's own that is not on the default index, empty where it has none."""
    return "" if build.maker or DEFAULT in build.channels else build.version.partition("+")[2]


def _subject(claim: Claim) -> str:
    return re.split(r"[<>=!~ ]", claim.to[0], maxsplit=1)[0]


def _pythons(entry: IndexRelease) -> tuple[str, ...]:
    """Return the Pythons of the wheels of a release, none where a wheel is for several."""
    tags = [re.fullmatch(r"cp(\d)(\d+t?)", tag) for tag in entry.wheels]
    return tuple(f"{tag[1]}.{tag[2]}" for tag in tags if tag) if all(tags) else ()


def _labelled(before: Build, last: str, version: str, pythons: tuple[str, ...], source: str) -> Build:
    own = tuple(f"{c.removesuffix(last)}{version}" if c.endswith(f"-{last}") else c for c in before.channels)
    kept = before.model_copy(
        update={"version": f"{version}+{_label(before)}", "sources": (source,), "released": None, "aliases": ()}
    )
    return kept.model_copy(update={"note": AS_BEFORE, "channels": own, "wheels": _as_before(before.wheels, pythons, source)})


def _as_before(wheels: Iterable[Wheels], pythons: tuple[str, ...], source: str) -> tuple[Wheels, ...]:
    """Return wheels as those of the release before, one row a platform, for other Pythons where these are known."""
    rows: dict[object, Wheels] = {}
    for row in wheels:
        same = rows.setdefault((row.os, row.arch, row.glibc), row)
        both = pythons or tuple(dict.fromkeys((*same.python, *row.python)))
        said = {"python": both, "basis": Basis.INFERRED, "note": AS_BEFORE, "sources": (source,)}
        rows[row.os, row.arch, row.glibc] = same.model_copy(update=said)
    return tuple(rows.values())


def _default_builds(file: ProductFile) -> Iterator[tuple[Version, Build]]:
    return ((Version(b.version), b) for release in file.release for b in release.build if DEFAULT in b.channels)


def _build_of(family: Listed, version: str) -> Build:
    said = family.model_dump(exclude={"releases", "reviewed", "label"})
    said |= {"version": f"{version}+{family.label}"} if family.label else {"version": version, "channels": (DEFAULT,)}
    return Build.model_validate(said | ({"note": filled(family.note, version)} if family.note else {}))


def _born(before: Build, version: str) -> Build:
    """Return a build that is for what the one before it was for; its labels are not known."""
    cites = (f"index-{version}",)
    kinds = tuple(
        kind.model_copy(update={"label": None, "basis": Basis.INFERRED, "note": AS_BEFORE, "sources": cites})
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
