"""Commands that run images, against the text and the tables of the same document."""

import posixpath
import re
from collections.abc import Iterator, Sequence

from compatkb.check.document import CheckContext
from compatkb.check.lookups import Lookups, lookups
from compatkb.check.markdown.code_blocks import commands, program, span
from compatkb.check.markdown.rows import RowFacts, TagMention, read_rows, tags_in
from compatkb.check.markdown.text import PAGES, MarkdownPage
from compatkb.check.rules import CheckRule
from compatkb.core.findings import Finding, Severity
from compatkb.parsers.commands.tools import ContainerRun, container_run
from compatkb.parsers.images import repository_name
from compatkb.parsers.statement import Word

PATH = CheckRule("command-path", Severity.INFO, "a command or file puts something elsewhere than the text says", optional=True)
FILE = CheckRule("command-file", Severity.INFO, "a command changes a file that nothing in the document makes or names")
PORT = CheckRule("command-port", Severity.INFO, "a command publishes another port than the table gives for the image")
NAME = CheckRule(
    "command-name", Severity.INFO, "a command names an image tag or a service that the tables do not have", optional=True
)

_PATH = re.compile(r"(?:~|/)[\w.@%+-]*(?:/[\w.@%+-]+)+")
_MOUNT = re.compile(r"[^:]+:(?P<inside>/[^:,]+)(?::[a-zA-Z,]+)?")
_IN_BLOCK = re.compile(rf"(?<![\w.$/:}}~-]){_PATH.pattern}(?![\w/])")
_PLAIN = re.compile(r"[A-Za-z_][\w.-]*")
_PUBLISH = re.compile(r"(?:[\d.]+:)?(?P<host>\d+):(?P<inside>\d+)(?:/\w+)?")
_PLACEHOLDER = re.compile(r"(?:/root)?/(?:path|your|my)(?:[/_-]|$)")
_SHARED = ("/usr", "/bin", "/sbin", "/dev", "/proc", "/sys", "/tmp", "/lib", "/opt/intel")


Command = Sequence[Word]


@PAGES.rule(PATH, FILE, PORT, NAME)
def check(page: MarkdownPage, context: CheckContext) -> Iterator[Finding]:
    """Yield commands that the text or a table of the same page contradicts."""
    found = list(commands(page))
    data = lookups(context.facts)
    rows = list(read_rows(page, data))
    yield from _paths(page, found)
    yield from _files(page, found)
    for command in found:
        if run := container_run(command):
            yield from _port(page, run, rows)
            yield from _tag(page, run, rows, data)
    yield from _services(page, found)


# -- paths and files -----------------------------------------------------------------------------------------------------


def _paths(page: MarkdownPage, found: list[Command]) -> Iterator[Finding]:
    """Yield paths in commands and code blocks whose last part the text puts into another folder."""
    used = [*_mounted(page, found), *_written(page)]
    stated: dict[str, set[str]] = {}
    for piece in page.pieces if used else ():
        for code in piece.codes:
            if _PATH.fullmatch(code.text) and _is_own(whole := _home(code.text)):
                stated.setdefault(posixpath.basename(whole), set()).add(whole)
    for path in _outside(found):  # of the reader's own home the text says nothing about the container
        stated.get(posixpath.basename(path), set()).discard(path)
    for start, end, text in used:
        whole = _home(text)
        paths = stated.get(posixpath.basename(whole), set())
        if len(paths) == 1 and _is_own(whole) and not _is_another(whole, *paths):
            (right,) = paths
            message = f"the text says {right}, but this command uses {text}"
            yield page.document.finding(PATH, start, end, message, fix=f"write {right}, or correct the text", subject=text)


def _home(path: str) -> str:
    return posixpath.normpath("/root" + path[1:] if path.startswith("~") else path)


def _is_another(path: str, stated: str) -> bool:
    """Return whether a path is the one that the text states, or that of another user or tool."""
    folders = [posixpath.split(posixpath.dirname(one)) for one in (path, stated)]
    of_tools = folders[0][0] == folders[1][0] and all(name.startswith(".") for _, name in folders)
    return path == stated or _below_home(path) == _below_home(stated) or of_tools


def _below_home(path: str) -> str:
    """Return a path without the name of the user whose home it is in."""
    return re.sub(r"^/(?:root|home/[^/]+)(?=/)", "~", path)


def _outside(found: list[Command]) -> set[str]:
    """Return the paths below a home that commands name outside of containers, and what they mount into them."""
    runs = [run for command in found if (run := container_run(command))]
    mounts = [word.raw.replace('"', "") for run in runs for name, word in run.options if name in ("-v", "--volume")]
    mounted = {re.sub(r"^\$(?:HOME|\{HOME\})", "~", mount).partition(":")[0] for mount in mounts}
    plain = [command for command in found if not container_run(command)]
    named = {word.value for command in plain for word in command if word.value.startswith("~/")}
    return {_home(path) for path in mounted | named}


def _is_own(path: str) -> bool:
    return not path.startswith(_SHARED) and not _PLACEHOLDER.match(path) and len(posixpath.basename(path)) > 3


def _mounted(page: MarkdownPage, found: list[Command]) -> Iterator[tuple[int, int, str]]:
    for command in found:
        run = container_run(command)
        for name, word in run.options if run else ():
            text = word.raw.rstrip("\"'")
            if name in ("-v", "--volume") and (match := _MOUNT.fullmatch(text)):
                start = span(page.document, word)[0] + match.start("inside")
                yield start, start + len(match["inside"]), match["inside"]


def _written(page: MarkdownPage) -> Iterator[tuple[int, int, str]]:
    """Yield the paths in code blocks that are no shell: configuration, text."""
    for block in page.codes:
        if block.language in ("txt", "text", "conf", "config", "ini", "ssh", "ssh-config", "yaml", "yml", "toml", "sshconfig"):
            for offset, text in block.lines:
                for match in _IN_BLOCK.finditer(text):
                    yield offset + match.start(), offset + match.end(), match[0]


def _files(page: MarkdownPage, found: list[Command]) -> Iterator[Finding]:
    """Yield files whose mode or owner a command changes, beside others that the document makes, but that it never names."""
    text = page.document.text
    changing = [command for command in found if program(command) in ("chmod", "chown") and len(command) > 3]
    spans = [(span(page.document, command[0])[0], span(page.document, command[-1])[1]) for command in changing]
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
                place = span(page.document, word)
                yield page.document.finding(FILE, *place, message, fix="make it first, or leave it out", subject=word.value)


def _named(text: str, name: str, without: list[tuple[int, int]]) -> bool:
    """Return whether a text names a file anywhere but in some spans."""
    for match in re.finditer(rf"(?<![\w.-]){re.escape(name)}(?![\w-]|\.\w)", text):
        if not any(start <= match.start() < end for start, end in without):
            return True
    return False


# -- images and services -------------------------------------------------------------------------------------------------


def _image(page: MarkdownPage, run: ContainerRun) -> TagMention | None:
    if run.image is None:
        return None
    text = run.image.raw.strip("\"'")
    repository, colon, tag = text.rpartition(":")
    end = span(page.document, run.image)[0] + run.image.raw.index(text) + len(text)
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
            yield page.document.finding(PORT, *span(page.document, word), message, subject=word.raw)


def _tag(page: MarkdownPage, run: ContainerRun, rows: list[RowFacts], data: Lookups) -> Iterator[Finding]:
    """Yield a tag that no table of the document has, where tables have others of its repository."""
    image = _image(page, run)
    listed = [tag.name for row in rows for tag in row.tags]
    if image is None or image.name in listed or "$" in image.name or "<" in image.name:
        return
    mine = [name for name in listed if any(found.repository == image.repository for found in data.images.get(name, ()))]
    if len(mine) >= 3:
        message = f"no table of this document has the tag {image.name}"
        yield page.document.finding(NAME, image.start, image.end, message, subject=image.name)


def _services(page: MarkdownPage, found: list[Command]) -> Iterator[Finding]:
    """Yield services of compose commands that the document's table of services does not have."""
    services = {
        tag.name
        for table in page.tables
        if table.head and re.search(r"\bservices?\b", table.head[0].text, re.IGNORECASE)
        for row in table.rows
        for tag in tags_in(row.cells[0])
        if row.cells
    }
    if not services:
        return
    for command in found:
        words = [word.value for word in command]
        if words[:2] != ["docker", "compose"] and words[:1] != ["docker-compose"]:
            continue
        verb = next((n for n, word in enumerate(words) if word in ("build", "run", "up", "pull", "push")), None)
        for word in command[verb + 1 :] if verb is not None else ():
            if _PLAIN.fullmatch(word.value) and word.value not in services:
                message = f"the table of services does not have {word.value}"
                yield page.document.finding(NAME, *span(page.document, word), message, subject=word.value)
            if words[verb or 0] == "run":
                break
