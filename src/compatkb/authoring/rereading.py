"""Compares what living documents say now with what was read of them; moves the day of what still stands.

A file at the tag of a release does not change. One that is cited at a commit of a branch may: what is cited of it is
compared with the newest commit that the clone has.
"""

import re
import tomllib
from collections.abc import Iterable, Iterator
from datetime import date
from pathlib import Path

from compatkb.authoring.loader import DataDocument
from compatkb.core.clones import clone_bare, commit_of, git, objects, tags
from compatkb.core.findings import Finding, Severity
from compatkb.core.record import NamedTuple
from compatkb.core.text_position import Places
from compatkb.errors import UnavailableError
from compatkb.schema import SourceEntry

NAME = "reread"
_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_LONGEST = 90


class Rereading(NamedTuple):
    """What changed, moved or went, which sources still stand, and how many were not read, by repository."""

    findings: tuple[Finding, ...]
    standing: frozenset[SourceEntry]
    absent: dict[str, int]


class _Cited(NamedTuple):
    path: str
    line: int
    name: str
    source: SourceEntry


def reread(documents: Iterable[DataDocument], clones: Path, due: date, *, fetch: bool) -> Rereading:
    """Read anew the files that were last read on the day `due` or before, in `clones`/owner/name, which `fetch` fills.

    Raises UnavailableError without git.
    """
    by_repo: dict[str, list[_Cited]] = {}
    for cited in (cited for document in documents for cited in _cited(document, due)):
        by_repo.setdefault(cited.source.repo or "", []).append(cited)
    findings: list[Finding] = []
    standing: set[SourceEntry] = set()
    absent: dict[str, int] = {}
    for repo, cites in sorted(by_repo.items()):
        is_there = (clones / repo).is_dir() or (fetch and clone_bare(repo, clones / repo))
        if not is_there or (commit := commit_of(clones / repo)) is None:
            absent[repo] = len(cites)
            continue
        document = _Repository(clones / repo, commit)
        for cited in cites:
            if cited.source.ref in document.fixed:
                continue
            if found := document.compared(cited.source):
                named = f"{cited.path.removesuffix('.toml')} source {cited.name}"
                findings.append(Finding(NAME, found[0], cited.path, cited.line, found[1], subject=named))
            else:
                standing.add(cited.source)
    return Rereading(tuple(sorted(findings, key=lambda finding: finding.order)), frozenset(standing), absent)


def confirmed(document: DataDocument, standing: frozenset[SourceEntry], day: date) -> str:
    """Return the text of a data file in which the sources that still stand were seen on a day."""
    places = Places(document.text)
    numbers = {
        places.first((where,)).line
        for name, source in getattr(document.record, "source", {}).items()
        if source in standing
        for where in document.candidates(("source", name))
    }
    lines = document.text.splitlines(keepends=True)
    for number in numbers:
        lines[number - 1] = re.sub(r"\{[^{}]*\}", lambda table: _seen(table[0], standing, day), lines[number - 1])
    return "".join(lines)


def _seen(table: str, standing: frozenset[SourceEntry], day: date) -> str:
    try:
        source = SourceEntry.model_validate(tomllib.loads(f"source = {table}")["source"])
    except ValueError:  # another table of the line, or braces within a text
        return table
    if source not in standing:
        return table
    return re.sub(r"\bseen = \d{4}-\d\d-\d\d", f"seen = {day}", table)


def _cited(document: DataDocument, due: date) -> Iterator[_Cited]:
    if document.path.startswith("collected/"):  # a collector reads these
        return
    places: Places | None = None
    for name, source in getattr(document.record, "source", {}).items():
        if source.repo and source.path and source.seen <= due:
            places = places or Places(document.text)
            yield _Cited(document.path, places.first(document.candidates(("source", name))).line, name, source)


class _Repository:
    """A clone, and its newest commit."""

    def __init__(self, clone: Path, commit: str) -> None:
        self._clone = clone
        self._commit = commit
        self.fixed = {tag.name for tag in tags(clone)}
        listed = (git(clone, "ls-tree", "-r", "--name-only", "-z", commit) or b"").decode(errors="replace")
        self._paths = [path for path in listed.split("\0") if path]

    def compared(self, source: SourceEntry) -> tuple[Severity, str] | None:
        """Return how much the place that a source cites differs now, and in what; None where it still stands."""
        old, path = f"{source.ref}:{source.path}", source.path or ""
        content = next(objects(self._clone, [old]))
        if content is None:
            return Severity.ERROR, f"gone: {source.repo} has no {source.path} at {source.ref} any more"
        before = content.decode(errors="replace").splitlines()
        first, end = _passage(before, source.at)
        passage = [line.strip() for line in before[first:end]]
        if path not in self._paths:
            return self._moved(path, passage)
        for start, many, now in self._hunks(old, f"{self._commit}:{path}"):
            inside = first < start < end if not many else start < end and start + many > first
            if inside or (first, end) == (0, len(before)):
                was = " / ".join(line for line in passage if line) or "nothing"
                return Severity.WARNING, f"changed: {path} said {_short(was)}, and now {_short(now)}; read it again"
        return None

    def _moved(self, path: str, passage: list[str]) -> tuple[Severity, str]:
        """Return where a file that is gone went: one of the same name that has what is cited."""
        name = path.rsplit("/", 1)[-1]
        alike = [other for other in self._paths if other.rsplit("/", 1)[-1] == name]
        for other, content in zip(alike, objects(self._clone, [f"{self._commit}:{other}" for other in alike]), strict=True):
            lines = {line.strip() for line in (content or b"").decode(errors="replace").splitlines()}
            if lines.issuperset(passage):
                return Severity.WARNING, f"moved: {path} is {other} now, and says the same; cite it"
        return Severity.WARNING, f"gone: {path} is not in the newest commit; look whether what was read of it still holds"

    def _hunks(self, old: str, new: str) -> Iterator[tuple[int, int, str]]:
        """Yield what differs between two files: the first line from 0 and the number of lines that went, and what came."""
        output = git(self._clone, "diff", "--unified=0", "--no-color", "--text", "--ignore-space-at-eol", old, new)
        if output is None:
            raise UnavailableError(f"git cannot compare {old} with {new}")
        lines = output.decode(errors="replace").splitlines()
        for number, line in enumerate(lines):
            if hunk := _HUNK.match(line):
                many = int(hunk[2] or 1)
                added = [text[1:].strip() for text in lines[number + 1 + many :][: int(hunk[4] or 1)] if text.startswith("+")]
                # A hunk that only adds stands behind the line that it names.
                yield int(hunk[1]) - (1 if many else 0), many, " / ".join(filter(None, added)) or "nothing"


def _passage(lines: list[str], at: int | str | None) -> tuple[int, int]:
    """Return the lines that a place means, from 0 and past the last: a line, a section up to the next heading, or all."""
    if isinstance(at, int):
        return at - 1, at
    words = set(re.findall(r"\w+", (at or "").lower()))
    if at in (None, "whole file") or not words:
        return 0, len(lines)
    start = next((n for n, line in enumerate(lines) if words.issubset(re.findall(r"\w+", line.lower()))), None)
    if start is None:
        return 0, len(lines)
    rest = range(start + 1, len(lines))
    return start, next((n for n in rest if re.match("#" if n == start + 1 else r"#|[=\-~^]{4,}$", lines[n])), len(lines))


def _short(text: str) -> str:
    return f"“{text}”" if len(text) <= _LONGEST else f"“{text[:_LONGEST].rstrip()} …”"
