"""Every record has a source; a source names the file and the place in it, and is read again in time."""

import re
from collections.abc import Iterator
from datetime import date

from compatkb.authoring.knowledge_base import split_term
from compatkb.authoring.lint.subject import LintProblem, LintSubject, walk
from compatkb.core.text_position import Where
from compatkb.schema import Basis, Channel, Claim, IndexFile, Kind, ProductFile, SourceEntry

DAYS = 180
"""After this many days a thread, a page, an index and an open list count as unread; a file at a tag or commit stays."""

_MOVING = re.compile(r"(?:main|master|head|trunk|dev|devel|develop|nightly|latest|refs/heads/.*|release/.*)", re.IGNORECASE)
_PACKED = (".whl", ".tar.gz", ".zip")


def sources(subject: LintSubject) -> Iterator[LintProblem]:
    """Yield undefined and unused sources, and records without one; the models see to most of the latter."""
    for document in subject.documents:
        defined = getattr(document.record, "source", None)
        if defined is None:
            continue
        cited: set[str] = set()
        for where, record in walk(document.record):
            names = getattr(record, "sources", None)
            if names is None:
                continue
            cited.update(names)
            for number, name in enumerate(names):
                if name not in defined:
                    yield LintProblem(document, (*where, "sources", number), f"source {name} is not defined in this file")
            if not names and isinstance(record, Channel) and not record.note:
                yield LintProblem(document, where, "a channel without sources needs a `note` that says why")
        for name in defined:
            if name not in cited:
                yield LintProblem(document, ("source", name), f"source {name} is cited by no record")


def source_detail(subject: LintSubject) -> Iterator[LintProblem]:
    """Yield sources that another reader could not find, or not find unchanged."""
    channels = {channel.id for channel in subject.files.channels.channel}
    for document in subject.documents:
        defined: dict[str, SourceEntry] = getattr(document.record, "source", {})
        for name, source in defined.items():
            for message in _wrong(source, channels):
                yield LintProblem(document, ("source", name), message)


def _wrong(source: SourceEntry, channels: set[str]) -> Iterator[str]:
    kinds = [source.path, source.thread, source.url, source.file]
    if sum(kind is not None for kind in kinds) != 1:
        yield "names more than one document: give a file, a thread, a page or a file of an index"
        return
    if source.repo and not re.fullmatch(r"[\w.-]+/[\w.-]+", source.repo):
        yield f"repo {source.repo!r} is not owner/name"
    if isinstance(source.at, int) and source.at < 1:
        yield "lines count from 1"
    if source.path:
        if _MOVING.fullmatch(source.ref or ""):
            yield f"ref {source.ref!r} moves: name a tag or a commit"
        if source.path.startswith("/") or ".." in source.path.split("/"):
            yield f"path {source.path!r} is not a path inside the repository"
        if source.at is None:
            yield 'gives no line or heading in `at`; where the file as a whole says it, write at = "whole file"'
    elif source.thread:
        if not re.fullmatch(r"(issues|pull|discussions|releases/tag)/\S+", source.thread):
            yield f"thread {source.thread!r} is not like issues/1 or pull/1"
    elif source.url:
        if not source.url.startswith("https://"):
            yield "the address does not begin with https://"
        if source.at is None:
            yield "gives no heading of the page in `at`"
    else:
        if source.channel not in channels:
            yield f"channel {source.channel} is not in channels.toml"
        packed = (source.file or "").endswith(_PACKED)
        if packed and not re.fullmatch(r"[0-9a-f]{64}", source.sha256 or ""):
            yield "gives no digest of the file in `sha256`"
        if not packed and source.at is None:
            yield "is no single file, so `at` has to say what was looked at"


def reach(subject: LintSubject) -> Iterator[LintProblem]:
    """Yield claims and builds that say more than the kind of their sources can, and are not called inferred."""
    packages = {name for name, file in subject.by_id.items() if file.product.distribution}
    for document, file in subject.products:
        for number, claim in enumerate(file.claim):
            cited = [file.source[name] for name in claim.sources if name in file.source]
            if claim.basis is not Basis.INFERRED and cited and (message := _beyond(claim, cited, packages)):
                yield LintProblem(document, ("claim", number), f"{message}; `basis` is inferred, or another source says it")
        for number, release in enumerate(file.release):
            for n, build in enumerate(release.build):
                listed = all(_is_list(file.source[name]) for name in build.sources if name in file.source)
                if len(build.devices) > 1 and listed and not build.note:
                    message = "a list of files does not say for which devices a build is: say in `note` whence that is known"
                    yield LintProblem(document, ("release", number, "build", n), message)


def _beyond(claim: Claim, cited: list[SourceEntry], packages: set[str]) -> str | None:
    terms = [split_term(term) for term in claim.to]
    places = [str(source.at or "") for source in cited]
    if all(map(_is_list, cited)) and (others := sorted(name for name, _ in terms if name in packages)):
        return f"a list of files says nothing of {others[0]}"
    if claim.kind is Kind.VERIFIED or not any(specifier for _, specifier in terms):
        return None
    if all(re.search(r"\bextra \w+$", place) for place in places):
        return "what an extra asks for denies nothing without it"
    return "what was tested denies nothing else" if all("tested with" in place for place in places) else None


def _is_list(source: SourceEntry) -> bool:
    return bool(source.file) and not (source.file or "").endswith(_PACKED)


def review(subject: LintSubject) -> Iterator[LintProblem]:
    """Yield one problem per file with something overdue, at the one that was read longest ago."""
    for document in subject.documents:
        overdue: list[tuple[date, Where, str]] = []
        record = document.record
        defined: dict[str, SourceEntry] = getattr(record, "source", {})
        overdue += [(s.seen, ("source", n), f"source {n}") for n, s in defined.items() if s.path is None]
        if isinstance(record, IndexFile):
            overdue.append((record.seen, ("seen",), "the index"))
        if isinstance(record, ProductFile):
            scopes = enumerate(record.product.complete)
            overdue += [(c.until, ("product", "complete", n), f"the list of {c.of}") for n, c in scopes if not c.ended]
        overdue = sorted((item for item in overdue if (subject.today - item[0]).days > DAYS), key=lambda item: item[0])
        if overdue:
            day, where, what = overdue[0]
            more = f", and {len(overdue) - 1} more of this file" if len(overdue) > 1 else ""
            message = f"{what} was last read on {day}, more than {DAYS} days ago{more}"
            fix = "compatkb refresh" if isinstance(record, IndexFile) else None
            yield LintProblem(document, where, message, fix)
