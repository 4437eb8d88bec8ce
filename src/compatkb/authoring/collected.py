"""Adds what the feeds of products gave to their product files: releases, what these were built with, and minimums; pure.

What a person wrote of a release stays; the file of data/collected/ adds its day. Of graphics the ids are added whose name
in the driver is that of their hardware.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from itertools import groupby
from typing import NamedTuple

from compatkb.core.names import word_key
from compatkb.core.versions import Scheme, parse
from compatkb.schema import Claim, CollectedFile, Kind, MachineFile, ProductFile, Release, SourceEntry, TagsRead
from compatkb.schema.collected import DeviceRow, DevicesRead, TagRow
from compatkb.schema.guides import GraphicsEntry
from compatkb.schema.product import Moment


class _Additions(NamedTuple):
    """What is added to one product file."""

    releases: dict[str, Release]
    claims: list[Claim]
    sources: dict[str, SourceEntry]


class _Listed(NamedTuple):
    """An id of graphics, with where it was read."""

    read: DevicesRead
    row: DeviceRow
    seen: date

    @property
    def least(self) -> str:
        """The lowest release that lists it."""
        return self.row.lowest or self.row.first


def with_collected(
    products: Iterable[ProductFile], machine: MachineFile | None, collected: Iterable[CollectedFile]
) -> tuple[tuple[ProductFile, ...], MachineFile | None]:
    """Return product files and the machine with what collected files add to them; what has no product file is left out."""
    known = {file.product.id: file for file in products}
    added: dict[str, _Additions] = defaultdict(lambda: _Additions({}, [], {}))
    for file in collected:
        for tags in file.tags:
            _add_tags(file.product, tags, file.seen, added)
        devices = {row.id: _Listed(read, row, file.seen) for read in file.devices for row in read.rows}
        if machine and devices and file.product in known:
            machine = _with_ids(machine, devices, known[file.product])
            _add_minimums(file.product, machine.graphics, devices, added[file.product])
    return tuple(_joined(file, added.get(name)) for name, file in known.items()), machine


def _joined(file: ProductFile, added: _Additions | None) -> ProductFile:
    if added is None:
        return file
    written = {release.version: release for release in file.release}
    releases = [_dated(release, added.releases.get(release.version)) for release in file.release]
    releases += [release for version, release in added.releases.items() if version not in written]
    if file.product.scheme is not Scheme.LISTED:
        releases.sort(key=lambda release: _order(file.product.scheme, release.version), reverse=True)
    return file.model_copy(
        update={
            "release": tuple(releases),
            "claim": (*file.claim, *added.claims),
            "source": {**file.source, **added.sources},
        }
    )


def _order(scheme: Scheme, version: str) -> tuple[bool, object]:
    try:
        return True, parse(scheme, version)
    except ValueError:  # what stands there is refused elsewhere
        return False, ()


def _dated(release: Release, collected: Release | None) -> Release:
    """Return a release as people wrote it, with the day that was collected where they gave none."""
    if collected is None or release.released is not None:
        return release
    return release.model_copy(update={"released": collected.released})


# -- tags ---------------------------------------------------------------------------------------------------------------


def _add_tags(product: str, tags: TagsRead, seen: date, added: dict[str, _Additions]) -> None:
    own = added[product]
    for row in tags.rows:
        ref = row.tag or row.version
        if tags.path:
            line = next((cell[1] for cell in row.built if cell), "whole file")
            source = SourceEntry(repo=tags.repo, ref=ref, path=tags.path, at=line, seen=seen)
        else:
            source = SourceEntry(url=f"https://github.com/{tags.repo}/tree/{ref}", at="the tag", seen=seen)
        name = f"tag-{product}-{row.version}"
        own.sources[name] = source
        released = Moment(on=row.on, basis="tag-commit", sources=(name,))
        own.releases[row.version] = Release(version=row.version, released=released, sources=(name,))
    for number, component in enumerate(tags.built_with):
        _add_component(product, tags, number, component, seen, added)


def _add_component(
    product: str, tags: TagsRead, number: int, component: str, seen: date, added: dict[str, _Additions]
) -> None:
    """Add the claims that releases were built with versions of a component, and the versions that no repository gave."""
    own, other = added[product], added[component]
    for version, rows in _runs(tags, number):
        names = []
        for row in rows if len(rows) == 1 else (rows[0], rows[-1]):
            name = f"manifest-{row.version}-{component}"
            line = row.built[number][1:]
            own.sources[name] = SourceEntry(
                repo=tags.repo, ref=row.tag or row.version, path=tags.path, at=line[0] if line else None, seen=seen
            )
            names.append(name)
        newest, oldest = rows[0].version, rows[-1].version
        spec = f"=={newest}" if newest == oldest else f">={oldest},<={newest}"
        own.claims.append(
            Claim(
                id=f"{product}-{newest}-built-with-{component}",
                kind=Kind.VERIFIED,
                of=f"{product}{spec}",
                to=(f"{component}=={version}",),
                sources=tuple(names),
            )
        )
        if version not in other.releases:
            other.sources[names[0]] = own.sources[names[0]]
            other.releases[version] = Release(version=version, sources=(names[0],))


def _runs(tags: TagsRead, number: int) -> Iterator[tuple[str, list[TagRow]]]:
    """Yield versions of a component with the releases, newest first, that follow each other and were built with it."""

    def version(row: TagRow) -> str:
        cell = row.built[number] if number < len(row.built) else ()
        return cell[0] if cell else ""

    for known, rows in groupby(tags.rows, version):
        if known:
            yield known, list(rows)


# -- devices ------------------------------------------------------------------------------------------------------------


def _with_ids(machine: MachineFile, devices: Mapping[str, _Listed], hardware: ProductFile) -> MachineFile:
    """Return the machine with the ids that have the name of their hardware in the driver, beside those that were written."""
    values = {word_key(name): release.version for release in hardware.release for name in release.aliases}
    named: dict[str, list[str]] = defaultdict(list)
    for device, listed in devices.items():
        if listed.row.name and (value := values.get(word_key(listed.row.name))):
            named[value].append(device)
    written = {device for entry in machine.graphics for device in entry.ids}
    graphics = []
    for entry in machine.graphics:
        more = [device for device in named.get(entry.hardware or "", ()) if device not in written]
        graphics.append(entry.model_copy(update={"ids": tuple(sorted({*entry.ids, *more}))}) if more else entry)
    return machine.model_copy(update={"graphics": tuple(graphics)})


def _add_minimums(product: str, graphics: Iterable[GraphicsEntry], devices: Mapping[str, _Listed], added: _Additions) -> None:
    """Add that hardware needs the first release of the driver that lists one of its ids."""
    by_hardware: dict[str, list[_Listed]] = defaultdict(list)
    for entry in graphics:
        if entry.hardware:
            by_hardware[entry.hardware] += (devices[device] for device in entry.ids if device in devices)
    for hardware, listed in by_hardware.items():
        if not listed:
            continue
        read, row, seen = first = min(listed, key=lambda each: parse(Scheme.DOTTED, each.least))
        name = f"listed-{row.first}-{row.id}"
        added.sources[name] = SourceEntry(repo=read.repo, ref=row.first, path=row.path or read.path, at=row.at, seen=seen)
        added.claims.append(
            Claim(
                id=f"{hardware}-listed-{read.listed_by}",
                kind=Kind.NEEDS,
                of=f"{product}=={hardware}",
                to=(f"{read.listed_by}>={first.least}",),
                note="The first release that lists a card of it.",
                sources=(name,),
            )
        )
