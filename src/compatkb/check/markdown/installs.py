"""Install commands in code blocks: each block is an environment, judged by the rules of projects."""

from collections.abc import Iterator

from compatkb.check.document import Asked
from compatkb.check.markdown.code_blocks import read_code_blocks
from compatkb.check.markdown.text import PAGES, Page
from compatkb.check.project import pairs, pins
from compatkb.check.project.checker import judged
from compatkb.check.project.environments import World
from compatkb.check.project.queries import Judge
from compatkb.check.rules import Rule
from compatkb.core.findings import Finding, Severity
from compatkb.parsers.statement import ImageUse

UNPUBLISHED = Rule("install-unpublished", Severity.ERROR, "a command installs a version that was never published")
INDEX = Rule("install-index", Severity.ERROR, "a command installs a version from an index that does not carry it")
TOGETHER = Rule("install-together", Severity.ERROR, "a command installs versions that do not work together")
UNPINNED = Rule("install-unpinned", Severity.WARNING, "a command leaves open a version that nothing but the pin would match")

_NAMED = {
    pins.UNPUBLISHED.id: UNPUBLISHED,
    pins.INDEX.id: INDEX,
    pairs.TOGETHER.id: TOGETHER,
    pairs.CONTRADICT.id: TOGETHER,
    pairs.LOOSE.id: UNPINNED,
}
"""The rules of projects that documents are judged by, and what they are called there."""


@PAGES.rule(UNPUBLISHED, INDEX, TOGETHER, UNPINNED)
def check(page: Page, asked: Asked) -> Iterator[Finding]:
    """Yield what is wrong with the install commands of a page."""
    reading = read_code_blocks(page)
    reading.statements = [one for one in reading.statements if not isinstance(one, ImageUse)]  # other modules judge images
    judge = Judge(asked)
    for finding in judged(World(asked.facts, [(page.document, reading)]), judge):
        if rule := _NAMED.get(finding.rule):
            yield finding._replace(rule=rule.id, level=rule.level)
