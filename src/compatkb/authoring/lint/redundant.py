"""Nothing is written that can be derived or that another claim or the index says: copies go stale."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from compatkb.authoring.feature_products import claim_id
from compatkb.authoring.knowledge_base import KnowledgeEdge
from compatkb.authoring.lint.subject import LintProblem, LintSubject, version_word, walk
from compatkb.authoring.loader import DataDocument
from compatkb.core.names import word_key
from compatkb.core.text_position import Where
from compatkb.core.versions import Scheme
from compatkb.schema import Basis, Claim, Dispute, IndexRelease, Kind, ProductFile, Record, Release, Role, SourceEntry, Tag


def redundant(subject: LintSubject) -> Iterator[LintProblem]:
    """Yield values that equal the derived ones, and list items that repeat another."""
    for document in subject.documents:
        for where, record in walk(document.record):
            for name, info in type(record).model_fields.items():
                value = getattr(record, name)
                if (
                    not _may_repeat(record, name)
                    and isinstance(value, tuple)
                    and value
                    and all(isinstance(item, str) for item in value)
                ):
                    for number in _repeated([str(item) for item in value]):
                        here = (*where, info.alias or name, number)
                        yield LintProblem(document, here, f"{value[number]} stands twice in one list")
            if isinstance(record, Tag) and record.same_as and record.contains:
                message = f"contents come from {record.same_as}: drop them, or drop `same-as`"
                yield LintProblem(document, (*where, "contains"), message)
        for place, message in _sources(document):
            yield LintProblem(document, place, message)
    for document, feature in subject.features:
        words = {word_key(feature.feature.id), word_key(feature.feature.name)}
        for number, alias in enumerate(feature.feature.aliases):
            if word_key(alias) in words:
                yield LintProblem(document, ("feature", "aliases", number), f"{alias} is found without an alias")
            words.add(word_key(alias))
    for document, file in subject.products:
        listed = _listed(subject, file.product.id)
        for place, message in (*_names(file), *_releases(file, listed)):
            yield LintProblem(document, place, message)


def _sources(document: DataDocument) -> Iterator[tuple[Where, str]]:
    """Yield sources that stand where they are cited although another record cites them too."""
    defined: dict[str, SourceEntry] = getattr(document.record, "source", {})
    named = {source: name for name, source in defined.items() if name not in document.inline}
    for name, places in document.inline.items():
        if other := named.get(defined[name]):
            yield ("source", name), f"[source] has it as {other}: cite that"
        elif len(places) > 1:
            yield ("source", name), f"{len(places)} records hold this source: put it into [source] once"


def _may_repeat(record: Record, name: str) -> bool:
    """Return whether a list of a record may hold one item twice: two positions may be those of one document."""
    return isinstance(record, Dispute) and (name == "positions" or (name == "sources" and bool(record.positions)))


def _repeated(items: Sequence[str]) -> Iterator[int]:
    seen: set[str] = set()
    for number, item in enumerate(items):
        if item in seen:
            yield number
        seen.add(item)


def _listed(subject: LintSubject, product: str) -> dict[str, tuple[IndexRelease, bool]]:
    """Return what the index says of releases, and of builds, by version; and whether it is of builds."""
    entries: dict[str, tuple[IndexRelease, bool]] = {}
    for element in subject.knowledge.elements[product] if subject.knowledge else ():
        if element.published:
            entries.setdefault(element.release.version, (element.published, False))
        if element.listed and element.build:
            entries[element.version] = (element.listed, True)
    return entries


def _names(file: ProductFile) -> Iterator[tuple[Where, str]]:
    """Yield aliases that say no more than the names beside them."""
    head = file.product
    known = {word_key(name) for name in (head.id, head.distribution, head.import_name, head.name) if name}
    for number, alias in enumerate(head.aliases):
        if word_key(alias) in known:
            yield ("product", "aliases", number), f"{alias} is found without an alias"
        known.add(word_key(alias))
    listed = head.scheme is Scheme.LISTED
    for number, release in enumerate(file.release):
        words = {version_word(release.version, listed=listed)}
        if listed:
            words |= {word_key(name) for name in (release.name, *release.part_of) if name and (name == release.name)}
        for position, alias in enumerate(release.aliases):
            if (word := version_word(alias, listed=listed)) in words:
                yield ("release", number, "aliases", position), f"{alias} is found without an alias"
            words.add(word)


def _releases(file: ProductFile, listed: dict[str, tuple[IndexRelease, bool]]) -> Iterator[tuple[Where, str]]:
    head = file.product
    for number, release in enumerate(file.release):
        where: Where = ("release", number)
        entry, _ = listed.get(release.version, (None, False))
        if release.released and entry and release.released.on == entry.uploaded.date():
            yield (*where, "released"), "the index file gives the same day"
        if release.yanked and entry and entry.yanked and not _closer(release, entry):
            yield (*where, "yanked"), "the index file already says so"
        if release.eol and head.eol and release.eol.last_day == head.eol.last_day:
            yield (*where, "eol"), "the product has the same end of life"
        if head.role is Role.LEAF and entry and not (release.note or release.eol or release.released or release.aliases):
            yield where, f"the index file already lists {release.version}"
        for position, build in enumerate(release.build):
            here: Where = (*where, "build", position)
            if build.released and release.released and build.released.on and build.released.on == release.released.on:
                yield (*here, "released"), "the release has the same day"
            own, of_build = listed.get(build.version, (None, False))
            if own and of_build and any(_lists(own, system) for row in build.wheels for system in row.os):
                yield (*here, "wheels"), "the index file lists the wheels"


def _lists(entry: IndexRelease, system: str) -> bool:
    """Return whether an index has a wheel of a release for a system; where it has none, pip may compile the source."""
    platform = {"windows": "win", "macos": "macosx"}.get(system, "linux")
    return any(tag == "any" or platform in tag for tags in entry.wheels.values() for tag in tags)


def _closer(release: Release, entry: IndexRelease) -> bool:
    """Return whether people know the day of a withdrawal more closely than between upload and first sight."""
    assert release.yanked
    assert entry.yanked
    earliest = entry.uploaded.date()
    return release.yanked.by < entry.yanked.seen or (release.yanked.after or earliest) > earliest


def redundant_claim(subject: LintSubject) -> Iterator[LintProblem]:
    """Yield claims that could go without changing any answer."""
    disputed = frozenset().union(*subject.disputed)
    seen: dict[tuple[object, ...], str] = {}
    for document, file in subject.products:
        for number, claim in enumerate(file.claim):
            key = _content(claim)
            if key in seen and claim.id not in disputed:
                message = f"says the same as {seen[key]}: put the sources together"
                yield LintProblem(document, ("claim", number), message)
            seen.setdefault(key, claim.id)
    for document, feature in subject.features:
        id_by_key: dict[tuple[object, ...], str] = {}
        for number, statement in enumerate(feature.statement):
            key = (statement.of, statement.status, statement.when, statement.vendor_builds, statement.basis)
            if key in id_by_key and claim_id(feature, statement.id) not in disputed:
                message = f"says the same as {id_by_key[key]}: put the sources together"
                yield LintProblem(document, ("statement", number), message)
            id_by_key.setdefault(key, statement.id)
    if subject.knowledge is None:
        return
    written: dict[str, list[KnowledgeEdge]] = defaultdict(list)
    listed: dict[tuple[str, str], list[KnowledgeEdge]] = defaultdict(list)
    for edge in subject.knowledge.edges:
        if edge.in_metadata:
            listed[edge.of, edge.to].append(edge)
        elif edge.claim in subject.claims:
            written[edge.claim].append(edge)
    for name, edges in written.items():
        if name not in disputed and all(_covered(edge, listed[edge.of, edge.to]) for edge in edges):
            sources = subject.knowledge.claims[listed[edges[0].of, edges[0].to][0].claim].sources
            yield LintProblem(*subject.claims[name], "the index file holds this requirement, as exactly", sources=sources)


def _content(claim: Claim) -> tuple[object, ...]:
    return (claim.kind, claim.of, tuple(sorted(claim.to)), claim.when, claim.basis)


def _covered(edge: KnowledgeEdge, listed: list[KnowledgeEdge]) -> bool:
    """Return whether exact requirements of the index vouch for and deny all that a claim does, for each of its builds."""
    if edge.kind not in (Kind.NEEDS, Kind.CONSTRAINS) or not edge.of_mask:
        return False
    for number in range(edge.of_mask.bit_length()):
        bit = 1 << number
        if edge.of_mask & bit and not any(
            known.of_mask & bit
            and known.basis is Basis.OBSERVED
            and not known.to_mask & ~edge.to_mask
            and not edge.forbidden_on & ~known.forbidden_on
            for known in listed
        ):
            return False
    return True
