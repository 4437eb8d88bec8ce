"""Rules on install commands in code blocks and sentences: each is an environment, judged by the rules for projects."""

from collections.abc import Iterator, Mapping

from compatkb.check.document import CheckContext
from compatkb.check.markdown.code_blocks import read_code_blocks, read_files, read_inline
from compatkb.check.markdown.text import PAGES, MarkdownPage
from compatkb.check.project import pairs, pins
from compatkb.check.project.checker import judged
from compatkb.check.project.environments import Project
from compatkb.check.project.queries import ProjectQueries
from compatkb.check.rules import CheckRule
from compatkb.core.findings import Finding, Severity
from compatkb.parsers.statement import ImageUse, ParsedFile

UNPUBLISHED = CheckRule("install-unpublished", Severity.WARNING, "a command installs a version that is not on the index")
INDEX = CheckRule(
    "install-index", Severity.WARNING, "a command installs a version from an index that does not carry it", optional=True
)
TOGETHER = CheckRule("install-together", Severity.WARNING, "a command installs versions that do not work together")
UNPINNED = CheckRule(
    "install-unpinned", Severity.WARNING, "a command leaves open a version that nothing but the pin would match", optional=True
)

PLATFORM = CheckRule(
    "install-platform", Severity.WARNING, "a command installs a version that has nothing for its Python or system"
)

_FOR_FILES = {
    pins.UNPUBLISHED.id: UNPUBLISHED,
    pins.PLATFORM.id: PLATFORM,
    pairs.TOGETHER.id: TOGETHER,
    pairs.CONTRADICT.id: TOGETHER,
}
"""The rules of projects that examples are judged by, and what they are called there; an example may leave out its index."""

_FOR_COMMANDS = {**_FOR_FILES, pins.INDEX.id: INDEX, pairs.LOOSE.id: UNPINNED, pins.LOST.id: pins.LOST}
"""The rules for blocks of commands, which readers paste as they are."""


@PAGES.rule(UNPUBLISHED, INDEX, TOGETHER, UNPINNED, PLATFORM, pins.LOST)
def check(page: MarkdownPage, context: CheckContext) -> Iterator[Finding]:
    """Yield what is wrong with what a page tells to install."""
    judge = ProjectQueries(context)
    reading = read_code_blocks(page)
    reading.statements = [one for one in reading.statements if not isinstance(one, ImageUse)]  # other modules judge images
    yield from _judged(page, reading, judge, _FOR_COMMANDS)
    for example in (read_inline(page), *read_files(page)):
        yield from _judged(page, example, judge, _FOR_FILES)


def _judged(
    page: MarkdownPage, reading: ParsedFile, judge: ProjectQueries, named: Mapping[str, CheckRule]
) -> Iterator[Finding]:
    for finding in judged(Project(judge.facts, [(page.document, reading)]), judge):
        if rule := named.get(finding.rule):
            yield finding._replace(rule=rule.id, level=rule.level)
