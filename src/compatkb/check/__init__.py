"""Checks other people's files against our data: documents and projects, each by its own checker."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from importlib import import_module
from typing import Any

from compatkb.check import files, migration_rules, suppressions
from compatkb.check.config import Settings
from compatkb.check.document import CheckContext, TextDocument
from compatkb.check.rules import ENDED, CheckRule, FileRole, is_passed_over, place_of
from compatkb.core.findings import Finding, Severity
from compatkb.core.foreign import shown
from compatkb.core.names import normal
from compatkb.core.record import NamedTuple
from compatkb.parsers.registry import kind_of

_BEFORE_A_RUN = (files.UNREADABLE.id, "pin-platform")
"""What is told of a pipeline although its run fails for it: nothing else of its environment is judged then."""


class CheckerFamily(NamedTuple):
    """Rules for files of some names; `checker` imports them, for the first such file or for a list of all rules."""

    reads: Callable[[str], bool]
    checker: Callable[[], Any]  # a module with RULES and check, which yields findings in any order


def _states_versions(path: str) -> bool:
    return kind_of(path) not in (None, "markdown")


_DOCUMENTS = (".md", ".markdown", ".mdown", ".mkd", ".ipynb")
_BUILDS = ("compose", "dockerfile", "markdown")
CHECKERS = (
    CheckerFamily(lambda path: path.lower().endswith(_DOCUMENTS), lambda: import_module("compatkb.check.markdown.checker")),
)
"""What looks at one document at a time: check(document, context)."""

REPOSITORY_CHECKERS = (
    CheckerFamily(_states_versions, lambda: import_module("compatkb.check.project.checker")),
    CheckerFamily(lambda path: kind_of(path) in _BUILDS, lambda: import_module("compatkb.check.tree")),
)
"""What looks at all documents together: check(documents, context)."""


@cache
def rules() -> tuple[CheckRule, ...]:
    """Return every rule, in the order in which the documents list them."""
    several = (one.checker().RULES for one in (*CHECKERS, *REPOSITORY_CHECKERS))
    return tuple(dict.fromkeys(rule for own in (*several, files.RULES, suppressions.RULES) for rule in own))


@cache
def rules_by_id() -> Mapping[str, CheckRule]:
    """Return every rule that comments and settings may name, those of `migrate` too."""
    return {rule.id: rule for rule in (*rules(), *migration_rules.RULES)}


class CheckReport(NamedTuple):
    """What a check found, in the order of files and lines, and how much of it does not count."""

    findings: tuple[Finding, ...]
    documents: Mapping[str, TextDocument]  # by path
    every: tuple[Finding, ...] = ()  # one for each place, as a baseline keeps them
    in_part: int = 0  # of these, which were too long to be judged as a whole
    accepted: int = 0  # by comments
    recorded: int = 0  # to the baseline
    outdated: int = 0  # of the baseline, there no more

    def line(self, finding: Finding) -> str:
        """Return the text of the line that a finding is on; empty where it is about a file as a whole."""
        document = self.documents.get(finding.path)
        return document.line(finding.line) if document else ""


def reads(path: str) -> bool:
    """Return whether any checker reads files of this name."""
    return any(family.reads(path) for family in (*CHECKERS, *REPOSITORY_CHECKERS))


def check(
    documents: Iterable[TextDocument],
    context: CheckContext,
    settings: Settings | None = None,
    recorded: "Counter[suppressions.BaselineEntry] | None" = None,
    unread: Iterable[Finding] = (),
) -> CheckReport:
    """Return what is wrong with documents; `unread` are findings about files that are none, `recorded` is the baseline."""
    settings = settings or Settings()
    by_path = {document.path: document for document in documents}
    context = context._replace(documents=tuple(by_path.values()))
    findings = list(unread)
    for document in by_path.values():
        for family in CHECKERS:
            if family.reads(document.path):
                findings += family.checker().check(document, context)
    for several in REPOSITORY_CHECKERS:
        matching = tuple(document for document in by_path.values() if several.reads(document.path))
        if any(kind_of(document.path) != "markdown" for document in matching):
            findings += several.checker().check(matching, context)
    copies = _copies(by_path.values(), context)
    findings = [finding for finding in findings if not finding.path.startswith(copies)]
    findings = [_printable(finding) for finding in findings]
    return make_report(findings, by_path, settings, recorded, frozenset(rule.id for rule in migration_rules.RULES))


_MANIFESTS = ("pyproject.toml", "setup.py")
_DECLARED = re.compile(r"""^[ \t]*name[ \t]*=[ \t]*["']([\w.-]+)["']""", re.MULTILINE)


def _copies(documents: Iterable[TextDocument], context: CheckContext) -> tuple[str, ...]:
    """Return the folders that are copies of packages of the data, as their names say and the manifest of a package in them."""
    folders = []
    for document in documents:
        folder, _, name = document.path.rpartition("/")
        if folder and name in _MANIFESTS and _is_copy(folder, document, context):
            folders.append(f"{folder}/")
    return tuple(folders)


def _is_copy(folder: str, manifest: TextDocument, context: CheckContext) -> bool:
    """Return whether a folder is named as a package of the data, or after the one that its manifest declares."""
    name = normal(folder.rpartition("/")[2])
    after = [declared for declared in _DECLARED.findall(manifest.text) if name.startswith(f"{normal(declared)}-")]
    products = map(context.facts.product, (name, *after))
    return any(product.distribution for product in products if product)


def make_report(
    findings: list[Finding],
    by_path: Mapping[str, TextDocument],
    settings: Settings,
    recorded: "Counter[suppressions.BaselineEntry] | None",
    others: frozenset[str],
) -> CheckReport:
    """Return what was found as a report: without what comments, settings and the baseline accept.

    `others` are the rules that were not asked.
    """
    left, accepted = _unsuppressed(findings, by_path, others)
    counting = (_levelled(finding, settings) for finding in left if _counts(finding, settings))
    every = tuple(sorted(dict.fromkeys(counting), key=lambda finding: finding.order))
    in_part = len({finding.path for finding in left if finding.rule == files.UNREAD.id})
    report = CheckReport(folded(every), by_path, every, in_part, accepted)
    if recorded is None:
        return report
    fresh, old, outdated = suppressions.compare_with_baseline(every, report.line, recorded)
    return report._replace(findings=folded(fresh), recorded=old, outdated=outdated)


def _unsuppressed(
    findings: list[Finding], documents: Mapping[str, TextDocument], others: frozenset[str]
) -> tuple[list[Finding], int]:
    """Return the findings that no comment accepts, and how many are accepted."""
    by_path: dict[str, list[Finding]] = {path: [] for path in documents}
    left: list[Finding] = []
    for finding in findings:
        by_path.get(finding.path, left).append(finding)
    accepted = 0
    for path, document in documents.items():
        remaining, count = suppressions.apply_suppressions(document, by_path[path], lambda name: name in rules_by_id(), others)
        left += remaining
        accepted += count
    return left, accepted


def _counts(finding: Finding, settings: Settings) -> bool:
    """Return whether a finding is one that the settings ask for, or by themselves that rules have proved themselves with."""
    rule = rules_by_id()[finding.rule]
    if settings.ignored(finding.path, rule.id):
        return False
    if rule in migration_rules.RULES:
        return True
    fails_itself = place_of(finding.path) is FileRole.PIPELINE and rule.id not in _BEFORE_A_RUN
    is_certain = finding.level is Severity.ERROR and not fails_itself
    is_on = rule.id in settings.levels or rule.is_on(finding.path) or is_certain
    return is_on and not is_passed_over(finding.path)


def _printable(finding: Finding) -> Finding:
    """Return a finding whose words, some of which stand in foreign files, can be printed."""
    message, fix = shown(finding.message), finding.fix
    if fix and not fix.isprintable():
        fix = "\n".join(map(shown, fix.split("\n")))
    return finding if (message, fix) == (finding.message, finding.fix) else finding._replace(message=message, fix=fix)


def _levelled(finding: Finding, settings: Settings) -> Finding:
    """Return a finding at the level that the settings give its rule; by itself an error is what is refused for certain."""
    level = settings.levels.get(finding.rule)
    return finding._replace(level=level) if level else finding


_MOST_PLACES = 5


def folded(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return findings in the order of reports; of those of one rule about one thing the gravest, which names the others.

    The end of life of a pin stands with what else is at least as wrong with it, unless it stands alone somewhere.
    """
    groups: dict[object, list[Finding]] = {}
    for finding in sorted(dict.fromkeys(findings), key=lambda one: one.order):
        groups.setdefault((finding.rule, finding.about) if finding.about else finding, []).append(finding)
    firsts = [_first(several) for several in groups.values() if several[0].rule != ENDED.id]
    at_place = {(one.path, one.line, one.column): number for number, one in reversed(list(enumerate(firsts)))}

    def host(ended: Finding) -> int | None:
        number = at_place.get((ended.path, ended.line, ended.column))
        is_pin = kind_of(ended.path) not in (None, "markdown")
        return number if is_pin and number is not None and firsts[number].level.reaches(ended.level) else None

    for several in (several for several in groups.values() if several[0].rule == ENDED.id):
        if alone := [one for one in several if host(one) is None]:
            firsts.append(_first(several, alone))
        elif (number := host(several[0])) is not None:
            one, ended = firsts[number], several[0]
            sources = tuple(dict.fromkeys((*one.sources, *ended.sources)))
            firsts[number] = one._replace(message=f"{one.message}; {ended.message}", sources=sources)
    return tuple(sorted(firsts, key=lambda one: one.order))


def _first(several: list[Finding], among: Iterable[Finding] | None = None) -> Finding:
    """Return the gravest of several findings, with the places of the others."""
    first = max(among or several, key=lambda one: list(Severity).index(one.level))
    others = (one for one in several if (one.brief, *one.order[:3]) != (first.brief, *first.order[:3]))
    named = list(dict.fromkeys(_named(one, first) for one in others))
    more = f" and {len(named) - _MOST_PLACES} more" if len(named) > _MOST_PLACES else ""
    return first._replace(message=f"{first.message}; also {', '.join(named[:_MOST_PLACES])}{more}") if named else first


def _named(one: Finding, first: Finding) -> str:
    place = f"line {one.line}" if one.path == first.path else f"{one.path}:{one.line}"
    return f"{one.brief} ({place})" if one.brief else place
