"""Lints the data: runs one function per rule."""

from collections.abc import Callable, Iterable, Mapping
from datetime import date

from compatkb.authoring.build_knowledge import resolve
from compatkb.authoring.disputes import claiming
from compatkb.authoring.knowledge_base import Knowledge
from compatkb.authoring.lint import (
    builds,
    contradictions,
    dates,
    files,
    names,
    order,
    redundant,
    references,
    sources,
    versions,
)
from compatkb.authoring.lint.subject import LintProblem, LintSubject, SeenObservation
from compatkb.authoring.loader import NEEDED, TIMELINE, DataDocument, DataProblem, Loaded, LoadProblem, files_of, parse
from compatkb.core.findings import Finding, Severity
from compatkb.core.record import NamedTuple
from compatkb.core.text_position import Places
from compatkb.errors import UsageError
from compatkb.schema import FeatureFile

LOADS = "loads"
"""The rule that data which cannot be loaded break; it has no files."""


class LintRule(NamedTuple):
    """A rule: what breaks it, how much that matters, and what finds it."""

    name: str
    summary: str
    check: Callable[[LintSubject], Iterable[LintProblem]]
    level: Severity = Severity.ERROR


CHECKS = (
    LintRule("form", "a file differs from its canonical form, or holds a comment that the form would lose", files.form),
    LintRule("file-name", "a file is not named by its id", files.file_name),
    LintRule(
        "references",
        "a record names a product, channel, device, platform, claim, tag or revision that does not exist",
        references.references,
    ),
    LintRule("sources", "a cited source is not defined, a defined one is not cited, or a record has none", sources.sources),
    LintRule("source-detail", "a source does not say exactly where to look", sources.source_detail),
    LintRule(
        "source-reach", "a claim or a build says more than the kind of its sources can, and is not inferred", sources.reach
    ),
    LintRule(
        "versions",
        "a version cannot be read in its product's scheme, stands twice, or belongs to another release",
        versions.versions,
    ),
    LintRule("names", "an id, alias or tag means two things", names.names),
    LintRule("dates", "two days stand in an order that cannot be", dates.dates),
    LintRule(
        "release-order",
        "a release is older than a lower one of its series, or a series begins before a lower one",
        order.release_order,
    ),
    LintRule(
        "before-required", "a release or image is older than the only versions that it can be with", order.before_required
    ),
    LintRule("known-version", "a term names no release that the data or the index know", versions.known_version),
    LintRule(
        "builds",
        "a build contradicts its stage or the index file, no claim names hardware with it, or a complete list lacks a release",
        builds.builds,
    ),
    LintRule("requirements", "a line of an index file cannot be read as packaging standards have it", builds.requirements),
    LintRule(
        "contradiction", "two claims cannot both hold, and no dispute says which one does", contradictions.contradictions
    ),
    LintRule(
        "evidence-contradicts",
        "a command saw fail what a claim says works, or saw work what a claim denies, and nobody decided",
        contradictions.evidence,
    ),
    LintRule("redundant", "a value repeats what another record or the index already says", redundant.redundant),
    LintRule(
        "redundant-claim",
        "a claim repeats another claim, or a requirement that the index file holds",
        redundant.redundant_claim,
    ),
    LintRule("end-of-life", "a release has neither an end of life nor an explanation why none is known", dates.end_of_life),
    LintRule(
        "tag-spelling", "a part of an image tag is nearly, but not quite, a word that other tags have", names.tag_spelling
    ),
    LintRule(
        "tag-contents",
        "a tag carries a version that nothing in it has, or a word that speaks against its record",
        names.tag_contents,
    ),
    LintRule(
        "loop",
        "a chain of replacements, wider values or requirements leads back to its start",
        references.loops,
    ),
    LintRule(
        "unreachable",
        "no record leads from a route or an image to a product, so no answer can show it",
        references.reachable,
        Severity.WARNING,
    ),
    LintRule(
        "known-issues",
        "a known issue stands twice, has a range that its product cannot read, or a cure that does not lead out of it",
        versions.issues,
    ),
    LintRule("review", "a source that can change was last read long ago", sources.review, Severity.WARNING),
    LintRule(
        files.EXCEPTIONS, "an exception has expired, lasts too long, names no rule, or excepts nothing any more", lambda _: ()
    ),  # shows when the others have run
)
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
    found = _once(subject.finding(rule.name, rule.level, problem) for rule in chosen for problem in rule.check(subject))
    ran = tuple(rule.name for rule in chosen)
    findings, idle = files.apply_exceptions(subject, found, ran, tuple(rule.name for rule in CHECKS))
    exempted = len(found) - len(findings)
    if files.EXCEPTIONS in ran:
        findings += (subject.finding(files.EXCEPTIONS, Severity.ERROR, problem) for problem in idle)
    paths = {finding.path for finding in findings if finding.level is Severity.ERROR}
    findings += (_unloaded(problem) for problem in problems if problem.path not in paths)  # else rules said it, and why
    return LintReport(tuple(sorted(findings, key=lambda finding: finding.order)), not problems, exempted)


def _once(findings: Iterable[Finding]) -> list[Finding]:
    """Return findings without those that repeat another at its place: what a family says, it says of every row."""
    first: dict[tuple[object, ...], Finding] = {}
    for finding in findings:
        first.setdefault((finding.rule, finding.path, finding.line, finding.column, finding.message), finding)
    return list(first.values())


def _chosen(names: tuple[str, ...]) -> tuple[LintRule, ...]:
    known = {rule.name: rule for rule in CHECKS}
    for name in names:
        if name not in known:
            raise UsageError(f"{name!r} is no rule; there are {', '.join(known)}")
    return tuple(rule for rule in CHECKS if not names or rule.name in names)


def _subject(
    documents: tuple[DataDocument, ...], seen: tuple[SeenObservation, ...], today: date
) -> tuple[LintSubject, tuple[LoadProblem, ...]]:
    """Return what rules look at, and why the data do not resolve where they do not.

    Where it is features, the timeline or disputes that do not, rules see the knowledge as far as it resolves.
    """
    files = files_of(documents, tuple(line.observation for line in seen))
    knowledge, problems = resolve(files)
    partly = knowledge is not None and all(map(_is_apart, problems)) and _knows_disputed_claims(knowledge)
    by_path = {document.path: document for document in documents}
    located = tuple(_located(problem, by_path.get(problem.path)) for problem in problems)
    return LintSubject(documents, files, knowledge if partly else None, today, seen), located


def _is_apart(problem: DataProblem) -> bool:
    """Return whether what products, releases and claims say can be judged in spite of a problem."""
    is_dispute = problem.record is not None and problem.record[0] == "dispute"
    return is_dispute or problem.path == TIMELINE or problem.path.startswith("features/")


def _knows_disputed_claims(knowledge: Knowledge) -> bool:
    """Return whether each side of every dispute is there: without one, what the other contradicts cannot be told."""
    disputes = (dispute for file in claiming(knowledge.files) for dispute in file.dispute)
    return all(claim in knowledge.claims for dispute in disputes for claim in dispute.claims)


def _located(problem: DataProblem, document: DataDocument | None) -> LoadProblem:
    """Return a problem with the line of its record, where that is there."""
    if document is None or problem.record is None:
        return LoadProblem(problem.path, None, problem.text)
    kind, name = problem.record
    if isinstance(document.record, FeatureFile) and kind == "claim":
        kind, name = "statement", name.removeprefix(f"{document.record.feature.id}-")
    records = enumerate(getattr(document.record, kind, ()))
    named = (number for number, each in records if name in (getattr(each, key, None) for key in ("id", "version", "name")))
    place = Places(document.text).first(document.candidates((kind, next(named, name))))
    return LoadProblem(problem.path, place.line, problem.text)


def _unloaded(problem: LoadProblem) -> Finding:
    return Finding(LOADS, Severity.ERROR, problem.path, problem.line or 0, problem.message, subject=problem.path)
