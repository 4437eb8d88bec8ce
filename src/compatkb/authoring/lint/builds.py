"""Rules on builds: each is on the index that its record names, complete lists are complete, index files can be read."""

import re
from collections.abc import Iterator
from functools import lru_cache, partial, reduce
from operator import or_

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import InvalidSdistFilename, InvalidWheelFilename, canonicalize_name, parse_wheel_filename

from compatkb.authoring.build_kinds import builds_of
from compatkb.authoring.knowledge_base import Knowledge
from compatkb.authoring.lint.subject import LintProblem, LintSubject, problems_of
from compatkb.core.text_position import Where
from compatkb.core.versions import Key, Scheme, admits, parse
from compatkb.schema import Basis, Build, IndexFile, IndexRelease, ProductFile, Stage

_NOT_INSTALLED = (Stage.SOURCE_ONLY, Stage.TAG_ONLY)
_PYTHON = re.compile(r"(?:(?:py|cp|pp)\d+(?:_\d+)?t?\.?)+(?<!\.)(?:-abi3)?")
_ONE = r"(?:manylinux|musllinux|linux|macosx|win)[a-z0-9_]*+"
_PLATFORM = re.compile(rf"any|{_ONE}(?:\.{_ONE})*")


def builds(subject: LintSubject) -> Iterator[LintProblem]:
    """Yield builds that cannot be as recorded, and releases of the index that a complete list lacks."""
    index = {str(canonicalize_name(file.distribution)): file for _, file in subject.index}
    for document, file in subject.products:
        listed = index.get(str(canonicalize_name(file.product.distribution or "")))
        unproven = _unproven(subject.knowledge, file.product.id) if subject.knowledge else {}
        for number, release in enumerate(file.release):
            for position, build in enumerate(release.build):
                where = ("release", number, "build", position)
                for key, message in _build(build, release.version, listed):
                    yield LintProblem(document, (*where, *key), message)
                if device := unproven.get(build.version):
                    message = f"no claim says on which hardware for {device} it runs; what is taken to be so is `inferred`"
                    yield LintProblem(document, where, message)
        if subject.knowledge and listed:
            for number, message in _missing(subject.knowledge, file, listed):
                yield LintProblem(document, ("product", "complete", number), message)
    yield from problems_of(subject.products, partial(_variants, [channel.id for channel in subject.files.channels.channel]))


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


def _unproven(knowledge: Knowledge, product: str) -> dict[str, str]:
    """Return the builds for a device that this product brings of which no claim names hardware with it, each with the device.

    Wheels alone would make an answer say that they work.
    """
    served = {device for route in knowledge.files.routes.route if route.provider == product for device in route.device}
    offered = {device for element in knowledge.elements.get("hardware", ()) for device in element.release.devices}
    named = [edge for edge in knowledge.edges if edge.of == product and edge.to == "hardware" and edge.supported_on]
    unproven = {}
    for device in sorted(served & offered):
        proven = reduce(or_, (edge.of_mask for edge in named if not edge.devices or device in edge.devices), 0)
        for number, element in enumerate(knowledge.elements[product]):
            build = element.build
            is_seen = build and device in build.devices and any(row.basis is not Basis.INFERRED for row in build.wheels)
            if is_seen and not proven >> number & 1:
                unproven[element.version] = device
    return unproven


def _variants(channels: list[str], file: ProductFile) -> Iterator[tuple[Where, str]]:
    """Yield variants with wheels on no known index."""
    for number, release in enumerate(file.release):
        for position, row in enumerate(release.variant):
            alone = release.model_copy(update={"build": (), "variant": (row,)})
            for build in builds_of(file.product, alone, channels):
                if build.wheels and not build.channels:
                    message = f"{build.version}: wheels without a channel that carries them"
                    yield ("release", number, "variant", position), message


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


def requirements(subject: LintSubject) -> Iterator[LintProblem]:
    """Yield what no installer could read."""
    for document, file in subject.index:
        for number, release in enumerate(file.release):
            for key, message in _wrong(file, release):
                yield LintProblem(document, ("release", number, *key), message)


def _wrong(file: IndexFile, release: IndexRelease) -> Iterator[tuple[Where, str]]:
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
            same = name == canonicalize_name(file.distribution) and version == _key(release.version)
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
