"""A source can be looked up again: it names the very file, and the place in it."""

import re
from collections.abc import Iterator

from compatkb.authoring.lint.subject import LintSubject
from compatkb.core.findings import Finding, Severity
from compatkb.schema import SourceEntry

NAME, LEVEL = "source-detail", Severity.ERROR
SUMMARY = "a source does not say exactly where to look"

_MOVING = re.compile(r"(?:main|master|head|trunk|dev|devel|develop|nightly|latest|refs/heads/.*|release/.*)", re.IGNORECASE)
_PACKED = (".whl", ".tar.gz", ".zip")


def check(subject: LintSubject) -> Iterator[Finding]:
    """Yield sources that another reader could not find, or not find unchanged."""
    channels = {channel.id for channel in subject.files.channels.channel}
    for document in subject.documents:
        defined: dict[str, SourceEntry] = getattr(document.record, "source", {})
        for name, source in defined.items():
            for message in _wrong(source, channels):
                yield subject.finding(NAME, LEVEL, document, ("source", name), message)


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
