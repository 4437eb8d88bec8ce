"""The checker of projects: reads all files of kinds that state versions, and judges what is installed together."""

from collections.abc import Iterator

from compatkb.check.document import Asked, Document
from compatkb.check.files import UNREADABLE
from compatkb.check.project import machine, metadata, pairs, pins  # noqa: F401 - they register
from compatkb.check.project.environments import World
from compatkb.check.project.install_plan import ENVIRONMENTS, PROJECTS, SETTINGS, Setting, is_judged, settings_of
from compatkb.check.project.queries import Judge
from compatkb.check.rules import Rule
from compatkb.core.findings import Finding
from compatkb.parsers.registry import read

RULES: tuple[Rule, ...] = (*SETTINGS.rules, *ENVIRONMENTS.rules, *PROJECTS.rules)


def check(documents: tuple[Document, ...], asked: Asked) -> Iterator[Finding]:
    """Yield what is wrong with a project."""
    readings = [(document, read(document.path, document.text)) for document in documents]
    judge = Judge(asked)
    for document, reading in readings:
        if reading.kind not in ("yaml", "manifest"):  # files of any purpose, some of which are templates
            for problem in reading.problems:
                told = document.finding(UNREADABLE, *_line(document, problem.place.line), problem.message)
                yield told._replace(column=problem.place.column)
    world = World(asked.facts, readings)
    for document, more in world.unjudged():
        yield document.finding(UNREADABLE, 0, 0, f"has more environments than are judged; {more} are left out")
    yield from judged(world, judge)
    if judge.is_exhausted:
        yield documents[0].finding(UNREADABLE, 0, 0, "there are more different combinations of versions than are judged")


def judged(world: World, judge: Judge) -> Iterator[Finding]:
    """Yield what is wrong with the environments of some files, each finding once."""
    settings: list[Setting] = []
    found: dict[Finding, None] = {}
    for environment in world.environments():
        if environment.images or environment.includes:
            for check_environment in ENVIRONMENTS.checks:
                found.update(dict.fromkeys(check_environment(environment, judge)))
        if not environment.wishes and not environment.images:
            continue
        for setting in settings_of(environment, judge):
            if not is_judged(setting, judge):
                continue
            settings.append(setting)
            for check_setting in SETTINGS.checks:
                found.update(dict.fromkeys(check_setting(setting, judge)))
    for check_project in PROJECTS.checks:
        found.update(dict.fromkeys(check_project(settings, judge)))
    yield from found


def _line(document: Document, line: int) -> tuple[int, int]:
    start = document.offset(line)
    return start, start + len(document.line(line))
