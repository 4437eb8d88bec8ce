"""The checker of projects: reads all files of kinds that state versions, and judges what is installed together."""

from collections.abc import Iterator

from compatkb.check.document import CheckContext, TextDocument
from compatkb.check.files import UNREADABLE
from compatkb.check.project import machine, metadata, pairs, pins, routing, updates  # noqa: F401 - they register
from compatkb.check.project.documented import files_with_an_index
from compatkb.check.project.environments import MOST_STATEMENTS, Project
from compatkb.check.project.install_plan import ENVIRONMENTS, PROJECTS, SETTINGS, InstallPlan, install_plans, is_supported
from compatkb.check.project.queries import ProjectQueries
from compatkb.check.rules import CheckRule
from compatkb.core.findings import Finding, Severity
from compatkb.parsers.registry import read
from compatkb.parsers.statement import ParsedFile

_ANY_PURPOSE = ("yaml", "manifest")
"""Kinds of files that may be data or templates: what of them is not read is no finding."""

RULES: tuple[CheckRule, ...] = (*SETTINGS.rules, *ENVIRONMENTS.rules, *PROJECTS.rules, *updates.RULES)


def check(documents: tuple[TextDocument, ...], context: CheckContext) -> Iterator[Finding]:
    """Yield what is wrong with a project."""
    readings = [(document, read(document.path, document.text)) for document in documents]
    queries = ProjectQueries(context)
    for document, reading in readings:
        if reading.kind not in _ANY_PURPOSE:
            for problem in reading.problems[:1]:
                others = f"; {len(reading.problems) - 1} more in this file" if len(reading.problems) > 1 else ""
                finding = document.finding(UNREADABLE, *_line(document, problem.place.line), f"{problem.message}{others}")
                yield finding._replace(column=problem.place.column)
    yield from _too_long(readings)
    project = Project(context.facts, readings, files_with_an_index(context.documents))
    for document, more in project.unjudged():
        if project.read[document.path][1].kind in _ANY_PURPOSE:
            continue
        yield document.finding(UNREADABLE, 0, 0, f"has more environments than are judged; {more} are left out")
    yield from judged(project, queries)
    yield from updates.check(project, queries)
    if project.is_exhausted:
        yield documents[0].finding(
            UNREADABLE, 0, 0, f"there are more than {MOST_STATEMENTS:,} statements; the rest is not judged"
        )
    if queries.is_exhausted:
        yield documents[0].finding(UNREADABLE, 0, 0, "there are more different combinations of versions than are judged")


def _too_long(readings: list[tuple[TextDocument, ParsedFile]]) -> Iterator[Finding]:
    """Yield files that are too long to be read, as one finding: most are bundles, dumps and outputs."""
    found = [(document, reading) for document, reading in readings if reading.unread]
    if found:
        more = f"; so are {len(found) - 1} more files" if len(found) > 1 else ""
        message = f"is too long to be read: {found[0][1].unread:,} characters{more}"
        yield found[0][0].finding(UNREADABLE, 0, 0, message)._replace(level=Severity.INFO)


def judged(project: Project, queries: ProjectQueries) -> Iterator[Finding]:
    """Yield what is wrong with the environments of some files, each finding once."""
    plans: list[InstallPlan] = []
    found: dict[Finding, None] = {}
    for environment in project.environments():
        if environment.images or environment.includes:
            for check_environment in ENVIRONMENTS.checks:
                found.update(dict.fromkeys(check_environment(environment, queries)))
        if not environment.requirements and not environment.images:
            continue
        for plan in install_plans(environment, queries):
            if not is_supported(plan, queries):
                continue
            plans.append(plan)
            for check_setting in SETTINGS.checks:
                found.update(dict.fromkeys(check_setting(plan, queries)))
    for check_project in PROJECTS.checks:
        found.update(dict.fromkeys(check_project(plans, queries)))
    yield from found


def _line(document: TextDocument, line: int) -> tuple[int, int]:
    start = document.offset(line)
    return start, start + len(document.line(line))
