"""A build is where its record says, and a list that is called complete is."""

from collections.abc import Iterator

from packaging.utils import canonicalize_name

from compatkb.authoring.build_kinds import builds_of
from compatkb.authoring.knowledge_base import Knowledge
from compatkb.authoring.lint.subject import LintSubject
from compatkb.core.findings import Finding, Severity
from compatkb.core.toml_positions import Where
from compatkb.core.versions import Key, Scheme, admits, parse
from compatkb.schema import Basis, Build, IndexFile, ProductFile, Stage

NAME, LEVEL = "builds", Severity.ERROR
SUMMARY = "a build contradicts its stage or the index file, or a release is missing from a list that is called complete"

_NOT_INSTALLED = (Stage.SOURCE_ONLY, Stage.TAG_ONLY)


def check(subject: LintSubject) -> Iterator[Finding]:
    """Yield builds that cannot be as recorded, and releases of the index that a complete list lacks."""
    index = {str(canonicalize_name(file.distribution)): file for _, file in subject.index}
    for document, file in subject.products:
        listed = index.get(str(canonicalize_name(file.product.distribution or "")))
        for number, release in enumerate(file.release):
            for position, build in enumerate(release.build):
                where = ("release", number, "build", position)
                for key, message in _build(build, release.version, listed):
                    yield subject.finding(NAME, LEVEL, document, (*where, *key), message)
        for place, message in _variants(subject, file):
            yield subject.finding(NAME, LEVEL, document, place, message)
        if subject.knowledge and listed:
            for number, message in _missing(subject.knowledge, file, listed):
                yield subject.finding(NAME, LEVEL, document, ("product", "complete", number), message)


def _build(build: Build, release: str, listed: IndexFile | None) -> Iterator[tuple[Where, str]]:
    if build.stage in _NOT_INSTALLED and build.wheels:
        yield ("wheels",), f"{build.stage} means that there are no wheels, and the build has some"
    if build.stage is Stage.FROM_SOURCE and any(row.basis is not Basis.INFERRED for row in build.wheels):
        yield ("wheels",), "from-source means that nobody published wheels; where it may be compiled is inferred"
    if build.stage is Stage.TAG_ONLY and build.channels:
        yield ("channels",), f"{build.stage} means that nothing was published, and the build has a channel"
    if build.wheels and not build.channels:
        yield ("wheels",), "wheels without a channel that carries them"
    if "default" in build.channels and listed and build.distribution is None:
        known = {_key(entry.version) for entry in listed.release}
        if not {_key(release), _key(build.version)} & known:
            yield ("channels",), f"the index file of {listed.distribution} lists no {release}"


def _variants(subject: LintSubject, file: ProductFile) -> Iterator[tuple[Where, str]]:
    """Yield variants with wheels on no known index."""
    channels = [channel.id for channel in subject.files.channels.channel]
    for number, release in enumerate(file.release):
        for position, row in enumerate(release.variant):
            alone = release.model_copy(update={"build": (), "variant": (row,)})
            for build in builds_of(file.product, alone, channels):
                if build.wheels and not build.channels:
                    yield (
                        ("release", number, "variant", position),
                        f"{build.version}: wheels without a channel that carries them",
                    )


def _key(text: str) -> Key | None:
    try:
        return parse(Scheme.PEP440, text)
    except ValueError:
        return None


def _missing(knowledge: Knowledge, file: ProductFile, listed: IndexFile) -> Iterator[tuple[int, str]]:
    """Yield the complete lists of releases that lack one of the index."""
    head = file.product
    known = {_key(release.version) for release in file.release} | {_key(e.version) for e in knowledge.elements[head.id]}
    for number, scope in enumerate(head.complete):
        spec = scope.of[len(head.id) :].strip()
        if scope.what != "release" or not scope.of.startswith(head.id):
            continue
        for entry in listed.release:
            if _key(entry.version) is None or _key(entry.version) in known:
                continue
            if entry.uploaded.date() <= scope.until and admits(head.scheme, spec, entry.version):
                yield number, f"called complete, and lacks {entry.version}, which the index file lists"
