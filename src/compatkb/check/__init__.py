"""Other people's files against our data: checkers of documents and of repositories, run in a loop."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import NamedTuple, cast

from compatkb.check import baseline, files, ignores, markdown, migration, repository
from compatkb.check.document import Asked, Checker, Document, RepositoryChecker, Rule
from compatkb.check.settings import Settings
from compatkb.findings import Finding

CHECKERS = cast("tuple[Checker, ...]", (markdown,))
"""What looks at one document at a time."""

REPOSITORY_CHECKERS = cast("tuple[RepositoryChecker, ...]", (repository,))
"""What looks at all documents together."""

RULES: tuple[Rule, ...] = (
    *(rule for checker in CHECKERS for rule in checker.RULES),
    *(rule for several in REPOSITORY_CHECKERS for rule in several.RULES),
    *files.RULES,
    *ignores.RULES,
)
"""Every rule, in the order in which the documents list them."""

BY_ID: Mapping[str, Rule] = {rule.id: rule for rule in (*RULES, *migration.RULES)}
"""Every rule that comments and settings may name, those of `migrate` too."""


class Report(NamedTuple):
    """What a check found, in the order of files and lines, and how much of it does not count."""

    findings: tuple[Finding, ...]
    documents: Mapping[str, Document]  # by path
    accepted: int = 0  # by comments
    known: int = 0  # to the baseline
    gone: int = 0  # of the baseline, there no more

    def line(self, finding: Finding) -> str:
        """Return the text of the line that a finding is on; empty where it is about a file as a whole."""
        document = self.documents.get(finding.path)
        return document.line(finding.line) if document else ""


def reads(path: str) -> bool:
    """Return whether any checker reads files of this name."""
    return any(checker.reads(path) for checker in CHECKERS) or any(several.reads(path) for several in REPOSITORY_CHECKERS)


def check(
    documents: Iterable[Document],
    asked: Asked,
    settings: Settings | None = None,
    known: "Counter[baseline.Known] | None" = None,
    unread: Iterable[Finding] = (),
) -> Report:
    """Return what is wrong with documents; `unread` are findings about files that are none, `known` is the baseline."""
    settings = settings or Settings()
    by_path = {document.path: document for document in documents}
    found = list(unread)
    for document in by_path.values():
        for checker in CHECKERS:
            if checker.reads(document.path):
                found += checker.check(document, asked)
    for several in REPOSITORY_CHECKERS:
        if mine := tuple(document for document in by_path.values() if several.reads(document.path)):
            found += several.check(mine, asked)
    return finished(found, by_path, settings, known, frozenset(rule.id for rule in migration.RULES))


def finished(
    found: list[Finding],
    by_path: Mapping[str, Document],
    settings: Settings,
    known: "Counter[baseline.Known] | None",
    others: frozenset[str],
) -> Report:
    """Return what was found as a report: without what comments, settings and the baseline accept.

    `others` are the rules that were not asked.
    """
    left, accepted = _settled(found, by_path, others)
    counting = [_levelled(f, settings) for f in left if not settings.ignored(f.path, f.rule)]
    report = Report(tuple(sorted(set(counting), key=lambda finding: finding.order)), by_path, accepted)
    if known is None:
        return report
    fresh, old, gone = baseline.beyond(report.findings, report.line, known)
    return report._replace(findings=tuple(fresh), known=old, gone=gone)


def _settled(found: list[Finding], documents: Mapping[str, Document], others: frozenset[str]) -> tuple[list[Finding], int]:
    """Return the findings that no comment accepts, and how many are accepted."""
    by_path: dict[str, list[Finding]] = {path: [] for path in documents}
    left: list[Finding] = []
    for finding in found:
        by_path.get(finding.path, left).append(finding)
    accepted = 0
    for path, document in documents.items():
        kept, count = ignores.settle(document, by_path[path], BY_ID.__contains__, others)
        left += kept
        accepted += count
    return left, accepted


def _levelled(finding: Finding, settings: Settings) -> Finding:
    level = settings.levels.get(finding.rule)
    return replace(finding, level=level) if level else finding
