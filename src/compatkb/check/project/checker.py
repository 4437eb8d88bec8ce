"""Checks a project: reads all files that state versions and judges what is installed together."""

import posixpath
import re
from collections.abc import Collection, Iterable, Iterator

from compatkb.check.document import CheckContext, TextDocument, mended
from compatkb.check.files import UNREAD, UNREADABLE
from compatkb.check.project import builds, index_rules, issues, metadata, packages, pairs, pins, resolution
from compatkb.check.project.documented import files_with_an_index, is_frozen, is_never_started, is_of_a_machine
from compatkb.check.project.environments import MOST_STATEMENTS, LocatedStatement, Project
from compatkb.check.project.install_plan import ENVIRONMENTS, SETTINGS, install_plans, is_supported
from compatkb.check.project.queries import ProjectQueries, queries_of
from compatkb.check.rules import CheckRule, FileRole
from compatkb.core.findings import Finding, Severity
from compatkb.parsers.statement import Include, ParsedFile, Requirement

_ANY_PURPOSE = "yaml"
"""The kind of files that may be data or templates: what of them is not read is no finding."""
_MOST_UNREADABLE = 3
"""More lines than these that are none of a file's kind: it is of another kind, such as a list that conda has exported."""
_OTHER_LIST = re.compile(r"(?:^|[-_.])(?:apt|apk|brew|conda|mamba|system|npm|julia|r)[-_.]", re.IGNORECASE)
_PACKAGE = re.compile(r"^[ \t]*[\w.-]+[ \t]*[=<>~!]", re.MULTILINE)
_NAME = re.compile(r"[A-Za-z][\w-]*")
_LABEL = re.compile(r"\+[\w.]+")

TOPICS = (builds, index_rules, issues, metadata, packages, pairs, pins)
"""The modules whose checks are in the registries of install plans once they are imported; a new one is named here."""

RULES: tuple[CheckRule, ...] = (*SETTINGS.rules, *ENVIRONMENTS.rules)


def check(documents: tuple[TextDocument, ...], context: CheckContext) -> Iterator[Finding]:
    """Yield what is wrong with a project."""
    queries = queries_of(context)
    readings = [(document, queries.reading(document)) for document in documents]
    for document, reading in readings:
        if reading.kind != _ANY_PURPOSE and not _is_of_others(document, reading):
            told = sorted(reading.problems, key=lambda one: not one.is_refused)
            for problem in told[:1] if len(told) <= max(_MOST_UNREADABLE, len(reading.statements) // 2) else ():
                others = f"; {len(reading.problems) - 1} more in this file" if len(reading.problems) > 1 else ""
                finding = document.finding(UNREADABLE, *_line(document, problem.place.line), f"{problem.message}{others}")
                level = Severity.ERROR if problem.is_refused else finding.level
                yield finding._replace(column=problem.place.column, level=level)
    yield from _too_long(readings)
    project = Project(context.facts, readings, files_with_an_index(context.documents))
    yield from _no_files(project)
    for document, more in project.unjudged():
        if project.read[document.path][1].kind == _ANY_PURPOSE:
            continue
        yield document.finding(UNREAD, 0, 0, f"has more environments than are judged; {more} are left out")
    yield from _verified(list(judged(project, queries)), readings, queries)
    if project.is_exhausted:
        yield documents[0].finding(UNREAD, 0, 0, f"there are more than {MOST_STATEMENTS:,} statements; the rest is not judged")
    if queries.is_exhausted:
        yield documents[0].finding(UNREAD, 0, 0, "there are more different combinations of versions than are judged")


def _is_of_others(document: TextDocument, reading: ParsedFile) -> bool:
    """Return whether a file that is named as pip names its lists is none: a text, or a list of another package manager."""
    is_list = reading.kind in ("requirements", "constraints")
    has_any = any(isinstance(one, Requirement | Include) for one in reading.statements) or _PACKAGE.search(document.text)
    return is_list and (not has_any or _OTHER_LIST.search(posixpath.basename(reading.path)) is not None)


def _no_files(project: Project) -> Iterator[Finding]:
    """Yield options that take a file and are given the name of a package."""
    for document, reading in project.read.values():
        for one in reading.statements:
            is_name = isinstance(one, Include) and _NAME.fullmatch(one.path) and project.product(one.path.lower(), "pip")
            if isinstance(one, Include) and is_name and project.target(document.path, one.path, reading) is None:
                message = f"-r takes a file, and {one.path} is a package"
                finding = document.finding(UNREADABLE, *LocatedStatement(document, one).span, message, fix="leave out -r")
                yield finding._replace(level=Severity.ERROR)


def _too_long(readings: list[tuple[TextDocument, ParsedFile]]) -> Iterator[Finding]:
    """Yield files that are too long to be read, as one finding: most are bundles, dumps and outputs."""
    long = [(document, reading) for document, reading in readings if reading.unread]
    if long:
        more = f"; so are {len(long) - 1} more files" if len(long) > 1 else ""
        message = f"is too long to be read: {long[0][1].unread:,} characters{more}"
        yield long[0][0].finding(UNREAD, 0, 0, message)


def judged(
    project: Project, queries: ProjectQueries, path: str | None = None, changed: Collection[str] = ()
) -> Iterator[Finding]:
    """Yield what is wrong with the environments of some files, or of one and all that it includes; each finding once.

    With `changed`, what is wrong with those that one of these files is part of.
    """
    findings: dict[Finding, None] = {}
    documents = (document for document, _ in project.read.values())
    unjudged = frozenset(one.path for one in documents if is_of_a_machine(one.text) or is_never_started(one))
    for environment in project.environments(path):
        if changed and environment.paths.isdisjoint(changed):
            continue
        for check_environment in ENVIRONMENTS.checks:
            findings.update(dict.fromkeys(check_environment(environment, queries)))
        if not environment.requirements and not environment.images:
            continue
        for plan in install_plans(environment, queries):
            if not is_supported(plan, queries):
                continue
            for check_setting in SETTINGS.checks:
                findings.update(dict.fromkeys(check_setting(plan, queries)))
    counting = (f for f in findings if f.path not in unjudged and not _is_of_a_record(f, project))
    yield from _without_moving(_drifts_once(counting))


def _verified(
    findings: list[Finding], readings: list[tuple[TextDocument, ParsedFile]], queries: ProjectQueries
) -> Iterator[Finding]:
    """Yield findings, those of a file without edits where the file would still have findings about its pins with them."""
    told = {(one.path, one.line, one.rule) for one in findings if not one.edits}
    mending: dict[str, list[Finding]] = {}
    for finding in findings:
        if finding.edits and finding.environment:
            mending.setdefault(finding.path, []).append(finding)
    if not mending:
        yield from findings
        return
    after = []
    for document, reading in readings:
        if document.path in mending:
            text, _ = mended(document, mending[document.path])
            changed = TextDocument(document.path, text, document.encoding, document.head)
            after.append((changed, queries.reading(changed)))
        else:
            after.append((document, reading))
    project = Project(queries.facts, after, files_with_an_index(queries.context.documents))
    pinned = {rule.id for rule in (*pairs.RULES, pins.UNPUBLISHED, pins.PLATFORM, index_rules.INDEX)}
    left = {
        one.path
        for one in judged(project, queries, changed=mending)
        if one.rule in pinned and (one.path, one.line, one.rule) not in told
    }
    yield from (one._replace(edits=()) if one.path in left and one.environment else one for one in findings)


def _is_of_a_record(finding: Finding, project: Project) -> bool:
    """Return whether a finding is in a list of what was once installed, which nothing installs."""
    is_off = any(rule.id == finding.rule and FileRole.NOTEBOOK in rule.off_in for rule in RULES)
    return is_off and is_frozen(finding.path) and finding.path not in project.borrowed


def _drifts_once(findings: Iterable[Finding]) -> Iterator[Finding]:
    """Yield findings, of one requirement that drifts the first one alone, whatever else the file is installed with.

    Of one that does not go with another, too, whatever else is said of the two.
    """
    places: set[tuple[object, ...]] = set()
    for finding in sorted(findings, key=lambda one: one.rule == resolution.TOGETHER.id and one.level is not Severity.ERROR):
        pair = _LABEL.sub("", finding.message.partition(" (")[0]) if finding.rule == resolution.TOGETHER.id else ""
        place = (finding.path, finding.line, finding.column, pair)
        if (finding.rule != pairs.DRIFTS.id and not pair) or place not in places:
            yield finding
        if finding.rule == pairs.DRIFTS.id or pair:
            places.add(place)


def _without_moving(findings: Iterable[Finding]) -> Iterator[Finding]:
    """Yield findings without the index of a pin that cannot stay, since it does not work with another one."""
    findings = list(findings)
    moving = {(one.path, one.line) for one in findings if one.rule == resolution.TOGETHER.id and one.level is Severity.ERROR}
    yield from (one for one in findings if one.rule != index_rules.INDEX.id or (one.path, one.line) not in moving)


def _line(document: TextDocument, line: int) -> tuple[int, int]:
    start = document.offset(line)
    return start, start + len(document.line(line))
