"""Adds what the feeds of products gave to their product files: releases, what these were built with, and minimums; pure.

What a person wrote of a release stays; the file of data/collected/ adds its day. Of graphics the ids are added whose name
in the driver is that of their hardware.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import date
from itertools import groupby

from compatkb.authoring.listed import AS_BEFORE, DEFAULT
from compatkb.core.names import word_key
from compatkb.core.record import NamedTuple
from compatkb.core.versions import Scheme, parse
from compatkb.schema import Claim, CollectedFile, FileFeed, Kind, MachineFile, ProductFile, Release, SourceEntry, TagsRead
from compatkb.schema.base import When
from compatkb.schema.collected import DeviceRow, DevicesRead, FileRow, FilesRead, KernelRead, TagRow
from compatkb.schema.feed import FileRead, KernelFeed, TagFeed
from compatkb.schema.guides import GraphicsEntry
from compatkb.schema.product import Moment

_LATER = "An older kernel may have it by changes of a distribution, or by a driver package."


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
    products: Iterable[ProductFile], machine: MachineFile | None, collected: Collection[CollectedFile]
) -> tuple[tuple[ProductFile, ...], MachineFile | None]:
    """Return product files and the machine with what collected files add to them; what has no product file is left out."""
    known = {file.product.id: file for file in products}
    hardware, by_kernel = "", defaultdict[str, list[KernelSupport]](list)
    added: dict[str, _Additions] = defaultdict(lambda: _Additions({}, [], {}))
    for file in collected:
        feeds = known[file.product].feed if file.product in known else ()
        lines = {series: says for feed in feeds if isinstance(feed, TagFeed) for series, says in feed.lines.items()}
        for tags in file.tags:
            _add_tags(file.product, tags, lines, file.seen, added)
        devices = {row.id: _Listed(read, row, file.seen) for read in file.devices for row in read.rows}
        if machine and devices and file.product in known:
            machine = _with_ids(machine, devices, known[file.product])
            _add_minimums(file.product, machine.graphics, devices, added[file.product])
            hardware = file.product
    for support in kernel_supports(machine, collected) if hardware else ():
        by_kernel[support.kernel].append(support)
    for kernel, supports in by_kernel.items():
        if kernel in known:
            _add_kernels(known[kernel], supports, added[hardware], known[hardware])
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


def _add_tags(product: str, tags: TagsRead, lines: Mapping[str, str], seen: date, added: dict[str, _Additions]) -> None:
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
        note = next((says for series, says in lines.items() if row.version.startswith(f"{series}.")), None)
        own.releases[row.version] = Release(version=row.version, released=released, note=note, sources=(name,))
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


# -- lines of files ------------------------------------------------------------------------------------------------------


def with_found(products: Iterable[ProductFile], collected: Iterable[CollectedFile]) -> tuple[ProductFile, ...]:
    """Return product files with the claims that lines of files make of builds that they have.

    What people wrote that the same builds say of the same product stays in their place; what was only born goes.
    """
    read = {file.product: file for file in collected if file.files}
    return tuple(_with_found(file, read[file.product.id]) if file.product.id in read else file for file in products)


def _with_found(product: ProductFile, file: CollectedFile) -> ProductFile:
    reads = {read.id: read for feed in product.feed if isinstance(feed, FileFeed) for read in feed.reads}
    builds = {build.version for release in product.release for build in release.build}
    builds |= {release.version for release in product.release}
    born = {saying for claim in product.claim if claim.note == AS_BEFORE for saying in _sayings(claim)}
    written = {saying for claim in product.claim if claim.note != AS_BEFORE for saying in _sayings(claim)}
    added, sources = list[Claim](), dict(product.source)
    for found in file.files:
        for row in found.rows:
            for name, (path, line, groups) in row.found.items():
                if name not in reads:
                    continue
                claim = _claim_of(product.product.id, row, reads[name], groups)
                if claim.of.partition("==")[2] in builds and written.isdisjoint(_sayings(claim)):
                    added.append(claim)
                    sources[claim.sources[0]] = _place_of(found, row, path, line, file.seen)
    told = {saying for claim in added for saying in _sayings(claim)} & born
    kept = (claim for claim in product.claim if claim.note != AS_BEFORE or told.isdisjoint(_sayings(claim)))
    return product.model_copy(update={"claim": (*kept, *added), "source": sources})


def _sayings(claim: Claim) -> set[tuple[str, Kind, str]]:
    return {(claim.of, claim.kind, _product_of(term)) for term in claim.to}


def _product_of(term: str) -> str:
    return re.split(r"[<>=!~ ]", term, maxsplit=1)[0]


def _filled(text: str, said: Mapping[str, str]) -> str:
    return re.sub(r"\{(\w+)\}", lambda match: said.get(match[1], match[0]), text)


def _claim_of(product: str, row: FileRow, read: FileRead, groups: tuple[str, ...]) -> Claim:
    said = {"of": row.version, **{str(number): group for number, group in enumerate(groups, 1)}}
    words = read.model_dump(include={"kind", "when", "basis"}, exclude_none=True)
    words |= {name: _filled(text, said) for name in ("reason", "note") if (text := getattr(read, name))}
    label = f"+{read.label}" if read.label else ""
    to = tuple(_filled(text, said) for text in read.names)
    name = f"{product}-{row.version}-{read.id}"
    return Claim.model_validate(
        {**words, "id": name, "of": f"{product}=={row.version}{label}", "to": to, "sources": (f"read-{name}",)}
    )


def _place_of(found: FilesRead, row: FileRow, path: str, line: int, seen: date) -> SourceEntry:
    if found.repo:
        return SourceEntry(repo=found.repo, ref=row.ref, path=path, at=line, seen=seen)
    return SourceEntry(channel=DEFAULT, file=row.ref, sha256=row.sha256, at=f"{path}:{line}", seen=seen)


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


# -- kernels ------------------------------------------------------------------------------------------------------------


class KernelSupport(NamedTuple):
    """How a driver of the kernel takes hardware in the releases whose tables were read, the oldest first."""

    kernel: str  # the product
    driver: str
    hardware: str
    tables: tuple[tuple[str, str, SourceEntry], ...]  # release; default, force-probe or absent; place


def kernel_supports(machine: MachineFile | None, collected: Iterable[CollectedFile]) -> tuple[KernelSupport, ...]:
    """Return which drivers take which hardware, where one of its ids is in a table of theirs; by driver, then hardware."""
    ids: dict[str, set[str]] = defaultdict(set)
    for entry in machine.graphics if machine else ():
        if entry.hardware and entry.ids:
            ids[entry.hardware].update(entry.ids)
    supports = []
    for file in collected:
        families: dict[str, set[str]] = defaultdict(set)
        for read in file.kernels:
            for row in read.rows:
                families[row.family].update(row.ids)
        for driver in sorted({read.driver for read in file.kernels}):
            tables = sorted(
                (read for read in file.kernels if read.driver == driver),
                key=lambda read: _order(Scheme.DOTTED, read.kernel),
            )
            for hardware, devices in ids.items():
                taken = [_taken(read, devices, families, file.seen) for read in tables]
                if any(how != "absent" for _, how, _ in taken):
                    supports.append(KernelSupport(file.product, driver, hardware, tuple(taken)))
    return tuple(supports)


def _taken(read: KernelRead, devices: set[str], families: Mapping[str, set[str]], seen: date) -> tuple[str, str, SourceEntry]:
    """Return how a table takes some ids; where it names no ids of a family, that family has those of other releases."""
    rows = [row for row in read.rows if devices & (set(row.ids) or families[row.family])]
    row = min(rows, key=lambda row: row.by, default=None)  # default, then force-probe
    at = row.at if row else "whole file"
    source = SourceEntry(repo=read.repo, ref=read.ref, path=read.path, at=at, seen=seen)
    return read.kernel, row.by if row else "absent", source


def _add_kernels(product: ProductFile, supports: Iterable[KernelSupport], added: _Additions, hardware: ProductFile) -> None:
    """Add which release of the kernel hardware needs: the first that takes it by default, as far as tables tell.

    An older one takes it by force_probe, or with what came to it from elsewhere, which the reason names.
    """
    series = [release.version for release in reversed(product.release)]
    feeds = [feed for feed in product.feed if isinstance(feed, KernelFeed)]
    begun = {driver: release for feed in feeds for driver, release in feed.begun.items()}
    unless = next((f", {feed.unless}" for feed in feeds if feed.unless), "")
    when = next((When(not_os=feed.apart) for feed in feeds if feed.apart), None)
    names = {release.version: release.name or release.version for release in hardware.release}
    by_hardware: dict[str, list[KernelSupport]] = defaultdict(list)
    for support in supports:
        if any(how == "default" for _, how, _ in support.tables):
            by_hardware[support.hardware].append(support)
    for value, drivers in by_hardware.items():

        def first(*without: str, drivers: list[KernelSupport] = drivers) -> tuple[str, list[SourceEntry]]:
            found = (_since(each, series, begun.get(each.driver, series[0]), without) for each in drivers)
            return min(found, key=lambda since: series.index(since[0]))

        listed, (release, places) = first("absent")[0], first("absent", "force-probe")
        if release == series[0] or len(places) < 2:  # no table was read that does not have it
            continue
        how = f"lists it before {release}" if listed == release else f"takes it by default before {release}"
        forced = "" if listed == release else f" (from {listed} on by force_probe)"
        sources = [f"table-{value}-{release}-{number}" for number, _ in enumerate(places)]
        added.sources.update(zip(sources, places, strict=True))
        added.claims.append(
            Claim(
                id=f"{value}-default-{product.product.id}",
                kind=Kind.NEEDS,
                of=f"{hardware.product.id}=={value}",
                to=(f"{product.product.id}>={release}",),
                when=when,
                reason=f"{names[value]} needs kernel {release} or newer: no driver of the kernel {how}{forced}{unless}",
                note=_LATER,
                sources=tuple(sources),
            )
        )


def _since(support: KernelSupport, series: list[str], begun: str, without: tuple[str, ...]) -> tuple[str, list[SourceEntry]]:
    """Return the first series in which a driver may take hardware, so far as its tables tell, with the places that say so.

    That is the one after the last table before any that takes it where it does not: what was not read denies nothing.
    """
    first, places = begun, list[SourceEntry]()
    for release, how, there in support.tables:
        minor = ".".join(release.split(".")[:2])
        if how not in without:
            return first, [there, *places]
        if minor in series[:-1] and series.index(minor) + 1 > series.index(first):
            first, places = series[series.index(minor) + 1], [there]
    return first, places
