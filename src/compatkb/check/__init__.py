"""Other people's files against our data: checkers of documents and of repositories, run in a loop."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Generic, NamedTuple, TypeVar, cast

from compatkb.check import baseline, files, migration_rules, suppressions
from compatkb.check.config import Settings
from compatkb.check.document import Asked, Checker, Document, RepositoryChecker
from compatkb.check.rules import Rule
from compatkb.core.findings import Finding
from compatkb.parsers.file_types import kind_of

C_co = TypeVar("C_co", covariant=True)


class Family(NamedTuple, Generic[C_co]):
    """Rules for files of some names; `checker` imports them, for the first such file or for a list of all rules."""

    reads: Callable[[str], bool]
    checker: Callable[[], C_co]


def _is_markdown(path: str) -> bool:
    return path.lower().endswith((".md", ".markdown", ".mdown", ".mkd"))


def _states_versions(path: str) -> bool:
    return kind_of(path) not in (None, "markdown")


def _markdown() -> Checker:
    from compatkb.check.markdown import checker as markdown

    return cast("Checker", markdown)


def _repository() -> RepositoryChecker:
    from compatkb.check.project import checker as repository

    return cast("RepositoryChecker", repository)


CHECKERS: tuple[Family[Checker], ...] = (Family(_is_markdown, _markdown),)
"""What looks at one document at a time."""

REPOSITORY_CHECKERS: tuple[Family[RepositoryChecker], ...] = (Family(_states_versions, _repository),)
"""What looks at all documents together."""


@cache
def rules() -> tuple[Rule, ...]:
    """Return every rule, in the order in which the documents list them."""
    several = [*(one.checker().RULES for one in CHECKERS), *(one.checker().RULES for one in REPOSITORY_CHECKERS)]
    return tuple(dict.fromkeys(rule for own in (*several, files.RULES, suppressions.RULES) for rule in own))


@cache
def rules_by_id() -> Mapping[str, Rule]:
    """Return every rule that comments and settings may name, those of `migrate` too."""
    return {rule.id: rule for rule in (*rules(), *migration_rules.RULES)}


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
    return any(family.reads(path) for family in (*CHECKERS, *REPOSITORY_CHECKERS))


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
        for family in CHECKERS:
            if family.reads(document.path):
                found += family.checker().check(document, asked)
    for several in REPOSITORY_CHECKERS:
        if mine := tuple(document for document in by_path.values() if several.reads(document.path)):
            found += several.checker().check(mine, asked)
    return finished(found, by_path, settings, known, frozenset(rule.id for rule in migration_rules.RULES))


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
        kept, count = suppressions.settle(document, by_path[path], lambda name: name in rules_by_id(), others)
        left += kept
        accepted += count
    return left, accepted


def _levelled(finding: Finding, settings: Settings) -> Finding:
    level = settings.levels.get(finding.rule)
    return finding._replace(level=level) if level else finding
