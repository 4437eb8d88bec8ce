"""The data against our rules: one module per rule, run in a loop."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import date
from importlib import import_module
from typing import NamedTuple, Protocol, cast

from compatkb.authoring.build_knowledge import build_knowledge
from compatkb.authoring.lint import exceptions
from compatkb.authoring.lint.subject import LintSubject, SeenObservation
from compatkb.authoring.loader import NEEDED, DataDocument, Files, Loaded, LoadProblem, files_of, parse
from compatkb.core.findings import Finding, Severity
from compatkb.core.toml_positions import Places, Where
from compatkb.errors import DataError, UsageError
from compatkb.schema import FeatureFile

LOADS = "loads"
"""The rule that data which cannot be loaded break; it has no exceptions."""


class LintRule(Protocol):
    """What a module of this package offers."""

    NAME: str
    LEVEL: Severity
    SUMMARY: str
    check: Callable[[LintSubject], Iterator[Finding]]


_MODULES = (
    "form file_name references sources source_detail version_form names dates release_order before_required "
    "known_version builds requirements contradictions evidence redundant redundant_claim end_of_life tag_spelling "
    "tag_contents loops reachable review exceptions"
)
CHECKS = tuple(cast("LintRule", import_module(f"{__name__}.{name}")) for name in _MODULES.split())
"""The rules, in the order in which they are listed and run."""


class LintReport(NamedTuple):
    """What lint found, in the order of files and lines; whether the data could be loaded; how much exceptions accept."""

    findings: tuple[Finding, ...]
    loaded: bool
    exempted: int = 0


def lint(contents: Mapping[str, bytes], today: date, rules: Iterable[str] = ()) -> LintReport:
    """Run rules, all unless named, over the files of a data directory by path; raises UsageError for an unknown rule."""
    lines = [
        (path, number)
        for path, content in contents.items()
        if path.endswith(".jsonl")
        for number, _ in enumerate(content.decode(errors="replace").splitlines(), 1)
    ]
    return lint_loaded(parse(contents), today, rules, lines)


def lint_loaded(loaded: Loaded, today: date, rules: Iterable[str] = (), lines: Iterable[tuple[str, int]] = ()) -> LintReport:
    """Run rules over files that were read before; `lines` are the places of its evidence, in that order."""
    chosen = _chosen(tuple(rules))
    missing = [name for name in NEEDED if name not in {document.path for document in loaded.documents}]
    if loaded.problems or missing:
        problems = loaded.problems or tuple(LoadProblem(name, None, "is missing") for name in missing)
        return LintReport(tuple(sorted(map(_unloaded, problems), key=lambda finding: finding.order)), loaded=False)
    places = tuple(lines) or tuple(("evidence", n) for n in range(1, len(loaded.evidence) + 1))
    seen = tuple(SeenObservation(*place, line) for place, line in zip(places, loaded.evidence, strict=True))
    subject, problems = _subject(loaded.documents, seen, today)
    findings = [finding for rule in chosen for finding in rule.check(subject)]
    ran = tuple(rule.NAME for rule in chosen)
    findings, exempted = exceptions.apply_exceptions(subject, findings, ran, tuple(rule.NAME for rule in CHECKS))
    paths = {finding.path for finding in findings if finding.level is Severity.ERROR}
    findings += (_unloaded(problem) for problem in problems if problem.path not in paths)  # else rules said it, and why
    return LintReport(tuple(sorted(findings, key=lambda finding: finding.order)), not problems, exempted)


def _chosen(names: tuple[str, ...]) -> tuple[LintRule, ...]:
    known = {rule.NAME: rule for rule in CHECKS}
    for name in names:
        if name not in known:
            raise UsageError(f"{name!r} is no rule; there are {', '.join(known)}")
    return tuple(rule for rule in CHECKS if not names or rule.NAME in names)


def _subject(
    documents: tuple[DataDocument, ...], seen: tuple[SeenObservation, ...], today: date
) -> tuple[LintSubject, tuple[LoadProblem, ...]]:
    """Return what rules look at, and why the data do not resolve where they do not.

    Where it is features, the timeline or what disputes concern that do not, rules see the knowledge without them.
    """
    files = files_of(documents, tuple(line.observation for line in seen))
    problems: tuple[LoadProblem, ...] = ()
    for attempt in (files, replace(files, timeline=None), replace(files, features=(), timeline=None), _plain(files)):
        try:
            return LintSubject(documents, files, build_knowledge(attempt), today, seen), problems
        except DataError as error:
            problems = problems or tuple(_problem(documents, text) for text in error.problems)
    return LintSubject(documents, files, None, today, seen), problems


def _plain(files: Files) -> Files:
    """Return files without features and timeline, and with disputes only as far as they decide between claims."""
    products = []
    for file in files.products:
        between = (dispute for dispute in file.dispute if dispute.claims)
        bare = tuple(dispute.model_copy(update={"of": (), "sources": (), "positions": ()}) for dispute in between)
        products.append(file.model_copy(update={"dispute": bare}))
    images = tuple(file.model_copy(update={"dispute": ()}) for file in files.images)
    channels = files.channels.model_copy(update={"dispute": ()})
    return replace(files, products=tuple(products), images=images, channels=channels, features=(), timeline=None)


def _problem(documents: tuple[DataDocument, ...], text: str) -> LoadProblem:
    """Return a problem of the loader with the line of the record that it names, where it names one that is there."""
    path, _, message = text.partition(": ")
    document = next((document for document in documents if document.path == path), None)
    named = re.match(r"(claim|statement|dispute|event|vendor|release|tag|source) (\S+): ", message)
    if document is None or named is None:
        return LoadProblem(path, None, message)
    kind, name = named.groups()
    where: Where = (kind, name)
    if isinstance(document.record, FeatureFile) and kind == "claim":
        kind, name = "statement", name.removeprefix(f"{document.record.feature.id}-")
    for number, record in enumerate(getattr(document.record, kind, ())):
        if name in (getattr(record, key, None) for key in ("id", "version", "name")):
            where = (kind, number)
            break
    return LoadProblem(path, Places(document.text).nearest(where).line, message)


def _unloaded(problem: LoadProblem) -> Finding:
    return Finding(LOADS, Severity.ERROR, problem.path, problem.line or 0, problem.message, subject=problem.path)
