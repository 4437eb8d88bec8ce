"""Rules on the commands of a page: what they install, judged by the rules for projects, and the files that they change."""

import re
from collections.abc import Iterator, Mapping

from compatkb.check.document import CheckContext
from compatkb.check.markdown.code_blocks import commands, program, read_code_blocks, read_files, read_inline
from compatkb.check.markdown.text import PAGES, MarkdownPage
from compatkb.check.project import pairs, pins
from compatkb.check.project.checker import judged
from compatkb.check.project.environments import Project
from compatkb.check.project.queries import ProjectQueries
from compatkb.check.rules import CheckRule
from compatkb.core.findings import Finding, Severity
from compatkb.parsers.statement import ImageUse, ParsedFile

UNPUBLISHED = CheckRule("install-unpublished", Severity.WARNING, "a command installs a version that is not on the index")
TOGETHER = CheckRule("install-together", Severity.WARNING, "a command installs versions that do not work together")
PLATFORM = CheckRule(
    "install-platform", Severity.WARNING, "a command installs a version that has nothing for its Python or system"
)
FILE = CheckRule("command-file", Severity.INFO, "a command changes a file that nothing in the document makes or names")

_PLAIN = re.compile(r"[A-Za-z_][\w.-]*")
_FOR_FILES = {
    pins.UNPUBLISHED.id: UNPUBLISHED,
    pins.PLATFORM.id: PLATFORM,
    pairs.TOGETHER.id: TOGETHER,
    pairs.CONTRADICT.id: TOGETHER,
}
"""The rules of projects that examples are judged by, and what they are called there; an example may leave out its index."""

_FOR_COMMANDS = {**_FOR_FILES, pins.LOST.id: pins.LOST}
"""The rules for blocks of commands, which readers paste as they are."""


@PAGES.rule(UNPUBLISHED, TOGETHER, PLATFORM, pins.LOST, FILE)
def check(page: MarkdownPage, context: CheckContext) -> Iterator[Finding]:
    """Yield what is wrong with what a page tells to install and to change."""
    judge = ProjectQueries(context)
    reading = read_code_blocks(page)
    reading.statements = [one for one in reading.statements if not isinstance(one, ImageUse)]  # other modules judge images
    yield from _judged(page, reading, judge, _FOR_COMMANDS)
    for example in (read_inline(page), *read_files(page)):
        yield from _judged(page, example, judge, _FOR_FILES)
    yield from _files(page)


def _judged(
    page: MarkdownPage, reading: ParsedFile, judge: ProjectQueries, named: Mapping[str, CheckRule]
) -> Iterator[Finding]:
    for finding in judged(Project(judge.facts, [(page.document, reading)]), judge):
        if rule := named.get(finding.rule):
            yield finding._replace(rule=rule.id, level=rule.level)


def _files(page: MarkdownPage) -> Iterator[Finding]:
    """Yield files whose mode or owner a command changes, beside others that the document makes, but that it never names."""
    text = page.document.text
    changing = [command for command in commands(page) if program(command) in ("chmod", "chown") and len(command) > 3]
    spans = [(page.document.span(command[0])[0], page.document.span(command[-1])[1]) for command in changing]
    seen: set[str] = set()
    for command in changing:
        words = [word for word in command[2:] if _PLAIN.fullmatch(word.value)]
        named = {word.value: _named(text, word.value, spans) for word in words}
        if sum(named.values()) * 2 < len(named):
            continue
        for word in words:
            if not named[word.value] and word.value not in seen:
                seen.add(word.value)
                message = (
                    f"nothing else in this document makes or names the file {word.value}, so {program(command)} fails on it"
                )
                place = page.document.span(word)
                yield page.document.finding(FILE, *place, message, fix="make it first, or leave it out", subject=word.value)


def _named(text: str, name: str, without: list[tuple[int, int]]) -> bool:
    """Return whether a text names a file anywhere but in some spans."""
    places = (match.start() for match in re.finditer(rf"(?<![\w.-]){re.escape(name)}(?![\w-]|\.\w)", text))
    return any(not any(start <= place < end for start, end in without) for place in places)
