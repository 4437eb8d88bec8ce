"""Rules on commands that run images, compared with the text and tables of the same document."""

import re
from collections.abc import Iterator, Sequence

from compatkb.check.document import CheckContext
from compatkb.check.lookups import Lookups, lookups
from compatkb.check.markdown.code_blocks import commands, program
from compatkb.check.markdown.rows import RowFacts, TagMention, read_rows, tags_in
from compatkb.check.markdown.text import PAGES, MarkdownPage
from compatkb.check.rules import CheckRule
from compatkb.core.findings import Finding, Severity
from compatkb.parsers.commands.tools import ContainerRun, container_run
from compatkb.parsers.images import repository_name
from compatkb.parsers.statement import Word

FILE = CheckRule("command-file", Severity.INFO, "a command changes a file that nothing in the document makes or names")
PORT = CheckRule("command-port", Severity.INFO, "a command publishes another port than the table gives for the image")
NAME = CheckRule(
    "command-name", Severity.INFO, "a command names an image tag or a service that the tables do not have", optional=True
)

_PLAIN = re.compile(r"[A-Za-z_][\w.-]*")
_PUBLISH = re.compile(r"(?:[\d.]+:)?(?P<host>\d+):(?P<inside>\d+)(?:/\w+)?")


Command = Sequence[Word]


@PAGES.rule(FILE, PORT, NAME)
def check(page: MarkdownPage, context: CheckContext) -> Iterator[Finding]:
    """Yield commands that the text or a table of the same page contradicts."""
    page_commands = list(commands(page))
    data = lookups(context.facts)
    rows = list(read_rows(page, data))
    yield from _files(page, page_commands)
    for command in page_commands:
        if run := container_run(command):
            yield from _port(page, run, rows)
            yield from _tag(page, run, rows, data)
    yield from _services(page, page_commands)


# -- files ---------------------------------------------------------------------------------------------------------------


def _files(page: MarkdownPage, page_commands: list[Command]) -> Iterator[Finding]:
    """Yield files whose mode or owner a command changes, beside others that the document makes, but that it never names."""
    text = page.document.text
    changing = [command for command in page_commands if program(command) in ("chmod", "chown") and len(command) > 3]
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


# -- images and services -------------------------------------------------------------------------------------------------


def _image(page: MarkdownPage, run: ContainerRun) -> TagMention | None:
    if run.image is None:
        return None
    text = run.image.raw.strip("\"'")
    repository, colon, tag = text.rpartition(":")
    end = page.document.span(run.image)[0] + run.image.raw.index(text) + len(text)
    return TagMention(tag, repository_name(repository), end - len(tag), end) if colon and "/" in repository and tag else None


def _port(page: MarkdownPage, run: ContainerRun, rows: list[RowFacts]) -> Iterator[Finding]:
    image = _image(page, run)
    row = next((row for row in rows if image and any(tag.name == image.name for tag in row.tags)), None)
    if image is None or row is None:
        return
    for number, head in enumerate(row.table.head):
        cell = row.table.cell(row.row, number)
        if cell is None or not re.search(r"\bports?\b", head.text, re.IGNORECASE) or not cell.text.strip().isdigit():
            continue
        words = [word for name, word in run.options if name in ("-p", "--publish")]
        ports = [(word, match["inside"]) for word in words if (match := _PUBLISH.fullmatch(word.value))]
        if ports and cell.text.strip() not in [inside for _, inside in ports]:
            word, inside = ports[0]
            line = page.document.place(cell.start).line
            message = f"{image.name} serves port {cell.text.strip()} by the table on line {line}, not {inside}"
            yield page.document.finding(PORT, *page.document.span(word), message, subject=word.raw)


def _tag(page: MarkdownPage, run: ContainerRun, rows: list[RowFacts], data: Lookups) -> Iterator[Finding]:
    """Yield a tag that no table of the document has, where tables have others of its repository."""
    image = _image(page, run)
    listed = [tag.name for row in rows for tag in row.tags]
    if image is None or image.name in listed or "$" in image.name or "<" in image.name:
        return
    tags = [name for name in listed if any(other.repository == image.repository for other in data.images.get(name, ()))]
    if len(tags) >= 3:
        message = f"no table of this document has the tag {image.name}"
        yield page.document.finding(NAME, image.start, image.end, message, subject=image.name)


def _services(page: MarkdownPage, page_commands: list[Command]) -> Iterator[Finding]:
    """Yield services of compose commands that the document's table of services does not have."""
    services = {
        tag.name
        for table in page.tables
        if table.head and re.search(r"\bservices?\b", table.head[0].text, re.IGNORECASE)
        for row in table.rows
        if row.cells
        for tag in tags_in(row.cells[0])
    }
    if not services:
        return
    for command in page_commands:
        words = [word.value for word in command]
        if words[:2] != ["docker", "compose"] and words[:1] != ["docker-compose"]:
            continue
        verb = next((n for n, word in enumerate(words) if word in ("build", "run", "up", "pull", "push")), None)
        for word in command[verb + 1 :] if verb is not None else ():
            if _PLAIN.fullmatch(word.value) and word.value not in services:
                message = f"the table of services does not have {word.value}"
                yield page.document.finding(NAME, *page.document.span(word), message, subject=word.value)
            if words[verb or 0] == "run":
                break
