"""The data against our rules: one module per rule, run in a loop."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import date
from typing import NamedTuple, Protocol, cast

from compatkb.assembling import build_knowledge
from compatkb.errors import DataError, UsageError
from compatkb.findings import Finding, Severity
from compatkb.lint import (
    before_required,
    builds,
    contradictions,
    dates,
    end_of_life,
    exceptions,
    file_name,
    form,
    known_version,
    loops,
    names,
    reachable,
    redundant,
    redundant_claim,
    references,
    release_order,
    requirements,
    review,
    source_detail,
    sources,
    tag_contents,
    tag_spelling,
    version_form,
)
from compatkb.lint.subject import Subject
from compatkb.loader import NEEDED, Document, Loaded, Problem, files_of, parse
from compatkb.models import Observation

LOADS = "loads"
"""The rule that data which cannot be loaded break; it has no exceptions."""


class Rule(Protocol):
    """What a module of this package offers."""

    NAME: str
    LEVEL: Severity
    SUMMARY: str
    check: Callable[[Subject], Iterator[Finding]]


CHECKS = cast(
    "tuple[Rule, ...]",
    (
        form,
        file_name,
        references,
        sources,
        source_detail,
        version_form,
        names,
        dates,
        release_order,
        before_required,
        known_version,
        builds,
        requirements,
        contradictions,
        redundant,
        redundant_claim,
        end_of_life,
        tag_spelling,
        tag_contents,
        loops,
        reachable,
        review,
        exceptions,
    ),
)


class Report(NamedTuple):
    """What lint found, in the order of files and lines; whether the data could be loaded; how much exceptions accept."""

    findings: tuple[Finding, ...]
    loaded: bool
    exempted: int = 0


def lint(contents: Mapping[str, bytes], today: date, rules: Iterable[str] = ()) -> Report:
    """Run rules, all unless named, over the files of a data directory by path; raises UsageError for an unknown rule."""
    return lint_loaded(parse(contents), today, rules)


def lint_loaded(loaded: Loaded, today: date, rules: Iterable[str] = ()) -> Report:
    """Run rules over files that were read before."""
    chosen = _chosen(tuple(rules))
    missing = [name for name in NEEDED if name not in {document.path for document in loaded.documents}]
    if loaded.problems or missing:
        problems = loaded.problems or tuple(Problem(name, None, "is missing") for name in missing)
        return Report(tuple(sorted(map(_unloaded, problems), key=lambda finding: finding.order)), loaded=False)
    subject, problems = _subject(loaded.documents, loaded.evidence, today)
    found = [finding for rule in chosen for finding in rule.check(subject)]
    ran = tuple(rule.NAME for rule in chosen)
    found, exempted = exceptions.settle(subject, found, ran, tuple(rule.NAME for rule in CHECKS))
    if problems and not any(finding.level is Severity.ERROR for finding in found):
        found += map(_unloaded, problems)  # else the rules have said it, with its line
    return Report(tuple(sorted(found, key=lambda finding: finding.order)), not problems, exempted)


def _chosen(names: tuple[str, ...]) -> tuple[Rule, ...]:
    known = {rule.NAME: rule for rule in CHECKS}
    for name in names:
        if name not in known:
            raise UsageError(f"{name!r} is no rule; there are {', '.join(known)}")
    return tuple(rule for rule in CHECKS if not names or rule.NAME in names)


def _subject(
    documents: tuple[Document, ...], evidence: tuple[Observation, ...], today: date
) -> tuple[Subject, tuple[Problem, ...]]:
    files = files_of(documents, evidence)
    try:
        return Subject(documents, files, build_knowledge(files), today), ()
    except DataError as error:
        problems = []
        for text in error.problems:
            path, _, message = text.partition(": ")
            problems.append(Problem(path, None, message))
        return Subject(documents, files, None, today), tuple(problems)


def _unloaded(problem: Problem) -> Finding:
    return Finding(LOADS, Severity.ERROR, problem.path, problem.line or 0, problem.message, subject=problem.path)
