"""Checks citations: the cited file exists at its ref, and the cited place is there and names what it is cited for."""

import re
from collections.abc import Container, Iterable, Iterator
from pathlib import Path

from compatkb.authoring.knowledge_base import split_term
from compatkb.authoring.lint.subject import walk
from compatkb.authoring.loader import DataDocument
from compatkb.core.clones import clone_bare, git, objects
from compatkb.core.findings import Finding, Severity
from compatkb.core.record import NamedTuple
from compatkb.core.text_position import Places
from compatkb.errors import UsageError
from compatkb.schema import Record, SourceEntry

NAME = "cited-place"
NEAR = 12
"""How many lines around a cited line may name what it is cited for: a table row and its head, a command over lines."""

_NUMBER = re.compile(r"(?<!\d)\d++(?:\.\d++)+")


class CitationReport(NamedTuple):
    """What reading the cited files showed: findings, how many citations were read, and how many not, by repository."""

    findings: tuple[Finding, ...]
    read: int
    absent: dict[str, int]


class _Citation(NamedTuple):
    path: str
    line: int
    name: str
    source: SourceEntry
    versions: frozenset[str]  # one of which has to be named, unless there is none
    instead: frozenset[str]  # what will do as well: the Pythons of wheels


def read_sources(
    documents: Iterable[DataDocument], clones: Path, *, fetch: bool, changed: Container[tuple[str, int]] | None = None
) -> CitationReport:
    """Look up the cited files in `clones`/owner/name, which `fetch` fills; of `changed` documents and lines alone, if given.

    Raises UnavailableError without git.
    """
    by_repo: dict[str, list[_Citation]] = {}
    for citation in (citation for document in documents for citation in _citations(document)):
        if changed is None or (citation.path, citation.line) in changed:
            by_repo.setdefault(citation.source.repo or "", []).append(citation)
    findings: list[Finding] = []
    read, absent = 0, {}
    for repo, citations in sorted(by_repo.items()):
        clone = clones / repo
        if not clone.is_dir() and not (fetch and clone_bare(repo, clone)):
            absent[repo] = len(citations)
            continue
        texts = _contents(clone, {citation.source for citation in citations}, fetch=fetch)
        read += len(citations)
        findings += (finding for citation in citations for finding in _check(citation, texts))
    return CitationReport(tuple(sorted(findings, key=lambda finding: finding.order)), read, absent)


def lines_since(directory: Path, commit: str) -> frozenset[tuple[str, int]]:
    """Return the lines, by path in a data directory, that a commit does not have; raises UsageError where git knows none."""
    output = git(directory, "diff", "--unified=0", "--relative", "--no-prefix", "--end-of-options", commit, "--", ".")
    if output is None:
        raise UsageError(
            f"{commit!r} is no commit that the repository of {directory} has; a shallow clone has to fetch it first"
        )
    lines: set[tuple[str, int]] = set()
    path = ""
    for line in output.decode(errors="replace").splitlines():
        if line.startswith("+++ "):
            path = line[4:]
        elif hunk := re.match(r"@@ \S+ \+(\d+)(?:,(\d+))? @@", line):
            first, many = int(hunk[1]), int(hunk[2] or 1)
            lines.update((path, number) for number in range(first, first + many))
    return frozenset(lines)


def _citations(document: DataDocument) -> Iterator[_Citation]:
    defined: dict[str, SourceEntry] = getattr(document.record, "source", {})
    versions: dict[str, set[str]] = {}
    pythons: dict[str, set[str]] = {}
    for _, record in walk(document.record):
        for name in getattr(record, "sources", None) or ():
            versions.setdefault(name, set()).update(_versions(record))
            pythons.setdefault(name, set()).update(getattr(record, "python", ()))
    places = Places(document.text)
    for name, source in defined.items():
        if source.repo and source.path:
            line = places.first(document.candidates(("source", name))).line
            named = (frozenset(by_source.get(name, ())) for by_source in (versions, pythons))
            yield _Citation(document.path, line, name, source, *named)


def _versions(record: Record) -> Iterator[str]:
    """Yield the versions that a record is about: its own and those of exact terms; bounds are concluded."""
    for name in ("version", "of", "to", "is_"):
        value = getattr(record, name, None)
        for text in (value,) if isinstance(value, str) else value or ():
            specifier = split_term(text)[1] if re.match(r"[a-z]", text) else f"=={text}"
            if specifier.startswith("=="):
                yield from _NUMBER.findall(specifier)


def _check(citation: _Citation, texts: dict[SourceEntry, str | None]) -> Iterator[Finding]:
    source = citation.source
    text = texts.get(source)
    if text is None:
        missing = f"{source.ref} has no {source.path}" if source in texts else f"{source.repo} has no {source.ref}"
        yield _finding(citation, Severity.ERROR, missing)
        return
    lines = text.splitlines()
    if isinstance(source.at, int):
        if source.at > len(lines):
            yield _finding(citation, Severity.ERROR, f"{source.path} has {len(lines)} lines, and line {source.at} is cited")
            return
        lines = lines[max(0, source.at - 1 - NEAR) : source.at + NEAR]
    elif source.at != "whole file" and not _has(text, source.at or ""):
        yield _finding(citation, Severity.ERROR, f"{source.path} has no words “{source.at}”")
    near = "\n".join([source.ref or "", source.path or "", *lines])  # what stands at the tag of a release is about it
    if citation.versions and not any(_names(near, word) for word in citation.versions | citation.instead):
        shown = ", ".join(sorted(citation.versions)[:5])
        yield _finding(citation, Severity.WARNING, f"{source.path} names none of {shown} at the cited place")


def _has(text: str, heading: str) -> bool:
    """Return whether a text has all words of a heading; marks of the markup and the end of lines do not count."""
    plain = set(re.findall(r"\w+", text.lower()))
    return plain.issuperset(re.findall(r"\w+", heading.lower()))


def _names(text: str, number: str) -> bool:
    """Return whether a number stands in a text, in full, with further parts, or as file names and digits of tags have it."""
    spelt = {number, number.removesuffix(".0"), number.replace(".", ""), number.replace(".", "_"), number.replace(".", "-")}
    return any(re.search(rf"(?<![\d.]){re.escape(form)}(?!\d)", text) for form in spelt)


def _finding(citation: _Citation, level: Severity, message: str) -> Finding:
    named = f"{citation.path.removesuffix('.toml')} source {citation.name}"
    return Finding(NAME, level, citation.path, citation.line, message, subject=named)


def _contents(clone: Path, sources: set[SourceEntry], *, fetch: bool) -> dict[SourceEntry, str | None]:
    """Return the texts of cited files whose ref the clone has; None where the ref has no such file."""
    refs = sorted({source.ref or "" for source in sources})
    known = {ref for ref, content in zip(refs, objects(clone, [f"{ref}^{{commit}}" for ref in refs]), strict=True) if content}
    if fetch:
        lacking = (ref for ref in refs if ref not in known)
        known |= {ref for ref in lacking if git(clone, "fetch", "--quiet", "--end-of-options", "origin", ref) is not None}
    ordered = [source for source in sources if source.ref in known]
    found = objects(clone, [f"{source.ref}:{source.path}" for source in ordered])
    return {s: None if text is None else text.decode(errors="replace") for s, text in zip(ordered, found, strict=True)}
