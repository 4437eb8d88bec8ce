"""Rows of the snapshot about elements: builds and releases, their platforms, dates and words."""

import re
from collections.abc import Iterator

from packaging.version import Version

from compatkb.authoring.build_kinds import devices_on_request, is_foreign, other_kinds, own_kind, runs_on
from compatkb.authoring.knowledge_base import Knowledge, KnowledgeElement, cited, end_of_life, first_day
from compatkb.core.names import word_key
from compatkb.core.versions import Scheme
from compatkb.core.vocabulary import FOREVER
from compatkb.schema import Basis, IndexRelease, ProductHead, Role, Stage, Status
from compatkb.store.queries.products import ElementDetails
from compatkb.store.queries.solver import series_name
from compatkb.store.records import CellsRecord, Element, ModelPattern, Sources, VersionWord
from compatkb.store.rows import dumps


class Interned:
    """Platform masks, each stored once."""

    def __init__(self) -> None:
        self._ids: dict[int, int] = {}

    def id(self, mask: int) -> int:
        """Return the number of a mask, a new one at its first sight."""
        return self._ids.setdefault(mask, len(self._ids))

    def records(self) -> Iterator[CellsRecord]:
        """Yield the masks that there are when the first is asked for."""
        yield from (CellsRecord(number, mask) for mask, number in self._ids.items())


def elements(knowledge: Knowledge, cells: Interned) -> Iterator[Element]:
    """Yield builds and releases, oldest first."""
    ended = _wheel_scopes(knowledge)
    seen = {file.distribution: file.seen for file in knowledge.files.index}
    for product, elements in knowledge.elements.items():
        head = knowledge.products[product]
        listed = seen.get(head.distribution or "")
        entries = {id(element.release): element.listed for element in reversed(elements) if element.listed}
        for number, element in enumerate(elements):
            build = element.build
            certain = inferred = 0
            for floor in element.floors:
                certain |= floor.seen
                inferred |= floor.guessed
            is_listed = build is None and bool(element.floors)
            if head.role not in (Role.PACKAGE, Role.COMPANION) and not is_listed:
                certain = knowledge.grid.all
            since, by = first_day(element)
            eol = end_of_life(head, element.release)
            complete = max(
                [ended.get((product, number), 0)]
                + ([FOREVER] if build and build.wheels_complete else [])
                + ([listed.toordinal()] if listed and (is_listed or (element.listed and element.listed.wheels)) else [])
            )
            own, others = own_kind(knowledge, element), other_kinds(knowledge, element)
            foreign = 0
            for _, where in others:
                foreign |= where
            yank_after, yank_by, yank_reason = _yank(entries.get(id(element.release)), element)
            yield Element(
                product=product,
                idx=number,
                version=element.version,
                release=element.release.version,
                stage=_stage(head.role, element),
                installable=_installable(head.role, element),
                devices=frozenset(_devices(knowledge, head, element)),
                channels=build.channels if build else (),
                only_with=frozenset(build.only_with if build else ()),
                distribution=(build.distribution if build else None) or head.distribution,
                since=since.toordinal() if since else None,
                by=by.toordinal() if by else None,
                yank_after=yank_after,
                yank_by=yank_by,
                yank_reason=yank_reason,
                eol=eol.end.toordinal() if eol else None,
                certain=certain,
                inferred=inferred & ~certain,
                floors=dumps([[f.glibc, f.inferred, cells.id(f.seen), cells.id(f.guessed)] for f in element.floors]),
                complete=complete,
                maker=build.maker if build else None,
                extras=",".join(build.extras if build else ()),
                foreign=is_foreign(knowledge, element),
                foreign_cells=foreign,
                kind=(own.label or own.device) if own else " ".join(build.devices if build else ()),
                kinds=dumps([[kind.device, kind.label, cells.id(where)] for kind, where in others]),
                published=_published(element),
                requires_python=_requires_python(element),
            )


def details(knowledge: Knowledge) -> Iterator[ElementDetails]:
    """Yield the remarks on builds and releases, oldest first."""
    for product, elements in knowledge.elements.items():
        head = knowledge.products[product]
        ordered = head.scheme in (Scheme.PEP440, Scheme.DOTTED)  # a listed value is a series by itself
        for number, element in enumerate(elements):
            build = element.build
            wheels_note = next((w.note for w in build.wheels if w.note and w.basis is Basis.INFERRED), None) if build else None
            sources = _element_sources(knowledge, product, element)
            series = series_name(element.release.version, head.series) if ordered else element.release.version
            yield ElementDetails(product, number, series, wheels_note, build.note if build else None, sources)


def _devices(knowledge: Knowledge, head: ProductHead, element: KnowledgeElement) -> tuple[str, ...]:
    """Return the devices on which an element is of use."""
    if element.build is None:
        return element.release.devices
    if head.own_devices:
        return element.build.devices
    named = [name for device in element.build.devices for name in runs_on(knowledge, device)]
    return tuple(dict.fromkeys((*named, *(devices_on_request(knowledge) if _is_pure(element) else ()))))


def _is_pure(element: KnowledgeElement) -> bool:
    """Return whether a build is of Python code alone: it denies no device, and nothing vouches for it where none is named."""
    return element.listed is not None and set(element.listed.wheels.values()) == {("any",)}


def _published(element: KnowledgeElement) -> bool:
    """Return whether a wheel of a build was seen or stated."""
    rows = element.build.wheels if element.build else ()
    return element.listed is not None or any(row.basis is not Basis.INFERRED for row in rows)


def _requires_python(element: KnowledgeElement) -> str:
    """Return what the index says of the release; of builds by other makers it says nothing."""
    entry = element.listed if element.build and element.build.maker else element.published
    return entry.requires_python if entry else ""


def _element_sources(knowledge: Knowledge, product: str, element: KnowledgeElement) -> Sources:
    known = [knowledge.sources[product, s] for s in element.release.sources if (product, s) in knowledge.sources]
    if element.build:
        names = [*element.build.sources, *(s for row in element.build.wheels for s in row.sources)]
        known = [knowledge.sources[product, s] for s in dict.fromkeys(names) if (product, s) in knowledge.sources]
    if element.listed:
        known.insert(0, knowledge.index_source(element.listed))
    return tuple(dict.fromkeys(cited(known)))


def _stage(role: Role, element: KnowledgeElement) -> Stage:
    if role is Role.FEATURE:  # its elements are named for how far it has come
        return {Status.BETA: Stage.PREVIEW, Status.PROTOTYPE: Stage.PROTOTYPE}.get(Status(element.version), Stage.STABLE)
    return element.build.stage if element.build else Stage.STABLE


def _installable(role: Role, element: KnowledgeElement) -> bool:
    if element.build is None:
        return role not in (Role.PACKAGE, Role.COMPANION)
    return element.build.stage not in (Stage.SOURCE_ONLY, Stage.TAG_ONLY) and bool(element.build.channels)


def _yank(listed: IndexRelease | None, element: KnowledgeElement) -> tuple[int | None, int | None, str | None]:
    """Return between which days a build was withdrawn, and why: that of a release is that of all its builds."""
    known = element.release.yanked
    if not listed or not listed.yanked or listed.yanked.files != "all":
        return (None, None, None)
    after = known.after if known and known.after else listed.uploaded.date()
    by = min(known.by, listed.yanked.seen) if known else listed.yanked.seen
    return (after.toordinal(), by.toordinal(), listed.yanked.reason)


def _wheel_scopes(knowledge: Knowledge) -> dict[tuple[str, int], int]:
    until_by_element: dict[tuple[str, int], int] = {}
    for product in knowledge.products.values():
        for scope in product.complete:
            if scope.what != "wheel":
                continue
            of, mask = knowledge.mask(scope.of)
            until = FOREVER if scope.ended else scope.until.toordinal()
            for number, element in enumerate(knowledge.elements[of]):
                on_channel = scope.channel is None or (element.build and scope.channel in element.build.channels)
                if mask >> number & 1 and on_channel:
                    until_by_element[of, number] = max(until, until_by_element.get((of, number), 0))
    return until_by_element


def models(knowledge: Knowledge) -> Iterator[ModelPattern]:
    """Yield patterns of names, as `word_key` has them, that stand for an element beside its words."""
    for product, elements in knowledge.elements.items():
        for number, element in enumerate(elements):
            for pattern in element.release.models:
                yield ModelPattern(product, pattern, 1 << number)


def words(knowledge: Knowledge) -> Iterator[VersionWord]:
    """Yield every version word that a request can use without a specifier parser: series, releases, builds, aliases."""
    for product, elements in knowledge.elements.items():
        head = knowledge.products[product]
        loose: dict[str, int] = {}
        strict: dict[str, int] = {}
        wide = {element.release.version: element.release for element in elements}
        identities = _pci_ids(knowledge) if product == "hardware" else {}
        for number, element in enumerate(elements):
            bit = 1 << number
            release = element.release
            names = {
                release.version,
                element.version,
                *release.aliases,
                *(element.build.aliases if element.build else ()),
            }
            if head.scheme is Scheme.LISTED:
                names |= {release.name} if release.name else set()
                names |= identities.get(release.version, set())
                for whole in () if head.platform else release.part_of:  # every name of a family takes in its members
                    names |= {whole, *wide[whole].aliases, wide[whole].name or whole}
                for name in names:
                    loose[word_key(name)] = loose.get(word_key(name), 0) | bit
                continue
            if head.scheme is Scheme.PEP440:
                known = Version(element.version)
                names |= {str(known), known.public}
                for name in {str(known), known.public}:
                    strict[name] = strict.get(name, 0) | bit
            for name in names:
                for word in {name.lower(), *(_series(name) if name in (release.version, *release.aliases) else ())}:
                    loose[word] = loose.get(word, 0) | bit
        for alias, series in head.series_aliases.items():
            if series in loose:
                loose.setdefault(alias, loose[series])
        for is_strict, table in ((False, loose), (True, strict)):
            for word, mask in sorted(table.items()):
                yield VersionWord(product, word, is_strict, mask)


def _pci_ids(knowledge: Knowledge) -> dict[str, set[str]]:
    """Return the PCI ids of hardware as tools print them: 8086:56a0 and 0x56a0."""
    ids_by_hardware: dict[str, set[str]] = {}
    for record in knowledge.files.machine.graphics if knowledge.files.machine else ():
        if record.hardware:
            ids_by_hardware.setdefault(record.hardware, set()).update(
                name for number in record.ids for name in (f"{record.vendor}:{number}", f"0x{number}")
            )
    return ids_by_hardware


def _series(release: str) -> list[str]:
    """Return the series words of a release: 2.4.1 is of series 2.4 and 2."""
    numbers = re.match(r"\d+(\.\d+)*", release)
    parts = numbers[0].split(".") if numbers else []
    return [".".join(parts[:n]) for n in range(1, len(parts))]
