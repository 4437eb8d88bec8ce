"""Sources as people read them, with addresses."""

import re
from collections.abc import Iterable

from compatkb.authoring.knowledge_base import Knowledge
from compatkb.schema import SourceEntry


def cite_text(source: SourceEntry) -> str:
    """Return a source as people read it: repository, ref, path and place."""
    at = "" if source.at is None else (f":{source.at}" if isinstance(source.at, int) else f" “{source.at}”")
    if source.repo and source.path:
        return f"{source.repo} {source.ref} {source.path}{at}"
    if source.repo:
        return f"{source.repo} {source.thread}{at}"
    if source.url:
        return f"{source.url}{at}"
    return f"{source.channel} index: {source.file}{at} (seen {source.seen})"


def cite_url(source: SourceEntry) -> str | None:
    """Return the address of a source, None where it has none that is fixed."""
    if source.url:
        return source.url
    if source.repo and re.fullmatch(r"[\w.-]+/[\w.-]+", source.repo):
        if source.thread:
            return f"https://github.com/{source.repo}/{source.thread}"
        line = f"#L{source.at}" if isinstance(source.at, int) else ""
        return f"https://github.com/{source.repo}/blob/{(source.ref or '').replace('+', '%2B')}/{source.path}{line}"
    return None


_GITHUB = re.compile(r"github\.com/([\w.-]+/[\w.-]+)/(?:(?:blob|raw|tree)/[^/]+/)?(.+)")
_REVISION = re.compile(r"v?\d+(\.\d+)*|stable|latest|main|master|_sources")


def document_of(source: SourceEntry) -> tuple[str, str]:
    """Return the document of a source and who publishes it, in a form that is equal for equal ones.

    A file is one document whatever the revision and the line, a page whatever the heading and the version of the manual,
    and a package index is one as a whole. The publisher is the owner of the repository, the name of the site without
    what stands before and after it, or the index.
    """
    if source.repo and (source.path or source.thread):
        return _in_repository(source.repo, str(source.path or source.thread))
    if source.url:
        page = re.sub(r"^\w+://", "", re.split(r"[?#]", source.url)[0]).rstrip("/")
        if match := _GITHUB.fullmatch(page):
            return _in_repository(match[1], match[2])
        host, *parts = page.split("/")
        labels = host.partition(":")[0].lower().removesuffix(".github.io").split(".")
        publisher = labels[-2] if len(labels) > 1 else labels[0]
        path = "/".join(part for part in parts if not _REVISION.fullmatch(part))
        return publisher + " " + re.sub(r"(\.[A-Za-z]+)+$", "", path), publisher
    return f"index {source.channel}", f"index {source.channel}"


def _in_repository(repo: str, what: str) -> tuple[str, str]:
    return f"{repo.lower()} {what}", repo.lower().partition("/")[0]


def cited(sources: Iterable[SourceEntry]) -> tuple[tuple[str, str | None], ...]:
    """Return sources as pairs of text and address."""
    return tuple((cite_text(source), cite_url(source)) for source in sources)


def cite(knowledge: Knowledge, product: str, names: tuple[str, ...]) -> tuple[tuple[str, str | None], ...]:
    """Return sources of a product file as pairs of text and address."""
    return cited(knowledge.cited(product, names))
