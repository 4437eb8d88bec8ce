"""Versions can be parsed, occur once, are in the right place, and are known where they are named."""

import re
from collections.abc import Iterable, Iterator

from packaging.version import Version

from compatkb.authoring.knowledge_base import Knowledge, split_term
from compatkb.authoring.lint.subject import LintProblem, LintSubject, known_terms, problems_of, sources_of
from compatkb.core.text_position import Where
from compatkb.core.versions import Key, Scheme, admits, matches, parse
from compatkb.schema import IndexFile, IndexRelease, IssueEntry, IssueFile, Kind, ProductFile, Release


def versions(subject: LintSubject) -> Iterator[LintProblem]:
    """Yield versions that are unreadable, doubled, or in the wrong place."""
    yield from problems_of(subject.products, _product)
    yield from problems_of(subject.products, _builds)
    yield from problems_of(subject.index, _index)


def _releases(scheme: Scheme, releases: Iterable[Release | IndexRelease]) -> Iterator[tuple[int, Key | None, str]]:
    """Yield the number and the key of each release, None where it has none, and what is wrong with its version."""
    seen: dict[Key, str] = {}
    for number, release in enumerate(releases):
        try:
            key = parse(scheme, release.version)
        except ValueError as error:
            yield number, None, str(error)
            continue
        yield number, key, f"{release.version} is the same version as {seen[key]} above" if key in seen else ""
        seen.setdefault(key, release.version)


def _product(file: ProductFile) -> Iterator[tuple[Where, str]]:
    for number, key, problem in _releases(file.product.scheme, file.release):
        release = file.release[number]
        if problem:
            yield ("release", number, "version"), problem
        if key is not None and file.product.scheme is Scheme.LISTED and release.name and not _same_numbers(release):
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
            is_relabelled = build.maker is not None and build.note is not None  # its maker names it after another release
            if isinstance(key, Version) and isinstance(own, Version) and key.release != own.release and not is_relabelled:
                yield where, f"{build.version} is no build of {release.version}; if its maker calls it so, say it in `note`"
        written = {build.version for build in release.build}
        for position, row in enumerate(release.variant):
            for place, label in enumerate(row.labels):
                if (version := f"{release.version}+{label}") in written:
                    yield ("release", number, "variant", position, "labels", place), f"{version} stands twice"
                written.add(version)


def _index(file: IndexFile) -> Iterator[tuple[Where, str]]:
    above: Version | None = None
    for number, key, problem in _releases(Scheme.PEP440, file.release):
        where = ("release", number, "version")
        if problem:
            yield where, problem
        if isinstance(key, Version):
            if above is not None and key > above:
                yield where, f"{file.release[number].version} stands below {above}: newest first"
            above = key


def known_version(subject: LintSubject) -> Iterator[LintProblem]:
    """Yield terms that name nothing: a slip, or a release that is missing."""
    knowledge = subject.knowledge
    if knowledge is None:
        return
    for document, where, term, record in known_terms(subject):
        product, spec = split_term(term)
        try:
            known = _known(knowledge, product, spec)
        except ValueError as error:
            yield LintProblem(document, where, f"{term}: {error}")
            continue
        if not known:
            sources = sources_of(document.record, getattr(record, "sources", ()))
            yield LintProblem(document, where, f"{term} names no known release of {product}", sources=sources)
    for document, file in subject.products:
        if (other := file.product.replaced_by) and other.product in knowledge.products:
            try:
                known = _known(knowledge, other.product, other.version)
            except ValueError:
                known = False
            if not known:
                message = f"{other.product}{other.version} names no known release"
                yield LintProblem(document, ("product", "replaced-by"), message)
    for edge in knowledge.edges:
        if not edge.in_metadata or edge.kind is not Kind.NEEDS or "==" not in edge.spec:
            continue
        if not _listed(knowledge, edge.to, edge.to_mask) and (place := subject.requirement(edge)):
            message = f"{place.version} requires {edge.to}{edge.spec}, which names no known release"
            yield LintProblem(place.document, place.where, message)


def _known(knowledge: Knowledge, product: str, spec: str) -> bool:
    return not spec or _listed(knowledge, product, knowledge.matching(product, spec))


def _listed(knowledge: Knowledge, product: str, mask: int) -> bool:
    """Return whether any of these releases is more than the echo of a pin."""
    return not all(element.echo for element in knowledge.of_mask(product, mask))


def issues(subject: LintSubject) -> Iterator[LintProblem]:
    """Yield ids that stand twice, ranges that their product cannot read, and cures inside the range that they cure."""
    seen: dict[str, str] = {}
    for document, file in subject.of(IssueFile):
        for number, issue in enumerate(file.issue):
            if issue.id in seen:
                yield LintProblem(document, ("issue", number, "id"), f"{issue.id} is there twice, also in {seen[issue.id]}")
            seen[issue.id] = document.path
            for key, message in _wrong(issue, subject):
                yield LintProblem(document, ("issue", number, *key), message)


def _wrong(issue: IssueEntry, subject: LintSubject) -> Iterator[tuple[tuple[str | int, ...], str]]:
    ranges = {}
    for number, condition in enumerate(issue.where):
        if condition.product in subject.by_id and condition.range is not None:
            ranges[condition.product] = condition.range
            if not _reads(subject, condition.product, condition.range):
                yield ("where", number, "range"), f"{condition.range!r} is no range of {condition.product}"
    for number, cure in enumerate(issue.cures):
        product, spec = split_term(cure.to) if cure.to else ("", "")
        if cure.to and product not in subject.by_id:
            yield ("cures", number, "to"), f"{product} is no product"
        elif cure.to and not _reads(subject, product, spec):
            yield ("cures", number, "to"), f"{spec!r} is no range of {product}"
        elif cure.to and product in ranges and (both := _in_both(subject, product, spec, ranges[product])):
            yield ("cures", number, "to"), f"{product} {both} is in {cure.to} and has the issue ({ranges[product]})"


def _reads(subject: LintSubject, product: str, spec: str) -> bool:
    scheme = subject.by_id[product].product.scheme
    sample = {Scheme.PEP440: "1", Scheme.DOTTED: "1", Scheme.MINOR: "3.12", Scheme.LISTED: "x"}[scheme]
    try:
        _names(scheme, spec, sample)
    except ValueError:
        return False
    return True


def _names(scheme: Scheme, spec: str, version: str) -> bool:
    return matches(spec, version) if scheme is Scheme.PEP440 else admits(scheme, spec, version)


def _in_both(subject: LintSubject, product: str, cure: str, affected: str) -> str | None:
    """Return the newest release that both a cure and the range of its issue name."""
    file = subject.by_id[product]
    versions = [release.version for release in file.release]
    scheme = file.product.scheme
    return next((v for v in reversed(versions) if _names(scheme, cure, v) and _names(scheme, affected, v)), None)
