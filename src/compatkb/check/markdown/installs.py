"""Install commands in code blocks: each block is an environment, judged by the rules of projects."""

from collections.abc import Iterator

from compatkb.check.document import CheckContext
from compatkb.check.markdown.code_blocks import read_code_blocks
from compatkb.check.markdown.text import PAGES, MarkdownPage
from compatkb.check.project import pairs, pins
from compatkb.check.project.checker import judged
from compatkb.check.project.environments import Project
from compatkb.check.project.queries import ProjectQueries
from compatkb.check.rules import CheckRule
from compatkb.core.findings import Finding, Severity
from compatkb.parsers.statement import ImageUse

UNPUBLISHED = CheckRule("install-unpublished", Severity.ERROR, "a command installs a version that was never published")
INDEX = CheckRule("install-index", Severity.ERROR, "a command installs a version from an index that does not carry it")
TOGETHER = CheckRule("install-together", Severity.ERROR, "a command installs versions that do not work together")
UNPINNED = CheckRule(
    "install-unpinned", Severity.WARNING, "a command leaves open a version that nothing but the pin would match"
)

_NAMED = {
    pins.UNPUBLISHED.id: UNPUBLISHED,
    pins.INDEX.id: INDEX,
    pairs.TOGETHER.id: TOGETHER,
    pairs.CONTRADICT.id: TOGETHER,
    pairs.LOOSE.id: UNPINNED,
}
"""The rules of projects that documents are judged by, and what they are called there."""


@PAGES.rule(UNPUBLISHED, INDEX, TOGETHER, UNPINNED)
def check(page: MarkdownPage, context: CheckContext) -> Iterator[Finding]:
    """Yield what is wrong with the install commands of a page."""
    reading = read_code_blocks(page)
    reading.statements = [one for one in reading.statements if not isinstance(one, ImageUse)]  # other modules judge images
    judge = ProjectQueries(context)
    for finding in judged(Project(context.facts, [(page.document, reading)]), judge):
        if rule := _NAMED.get(finding.rule):
            yield finding._replace(rule=rule.id, level=rule.level)
