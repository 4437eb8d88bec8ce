"""Commands that run images, against the text and the tables of the same document."""

import posixpath
import re
from collections.abc import Iterator
from typing import NamedTuple

from compatkb.check.document import Asked, Rule
from compatkb.check.lookups import Known, known
from compatkb.check.markdown.rows import Facts, Named, read_rows, tags_in
from compatkb.check.markdown.shell import Command, Word, commands
from compatkb.check.markdown.text import Page
from compatkb.core.findings import Finding, Severity

PATH = Rule("command-path", Severity.WARNING, "a command or file puts something elsewhere than the text says")
FILE = Rule("command-file", Severity.WARNING, "a command changes a file that nothing in the document makes or names")
PORT = Rule("command-port", Severity.WARNING, "a command publishes another port than the table gives for the image")
NAME = Rule("command-name", Severity.WARNING, "a command names an image tag or a service that the tables do not have")
RULES = (PATH, FILE, PORT, NAME)

_PATH = re.compile(r"(?:~|/)[\w.@%+-]*(?:/[\w.@%+-]+)+")
_MOUNT = re.compile(r"[^:]+:(?P<inside>/[^:,]+)(?::[a-zA-Z,]+)?")
_IN_BLOCK = re.compile(rf"(?<![\w.$/:}}~-]){_PATH.pattern}(?![\w/])")
_PLAIN = re.compile(r"[A-Za-z_][\w.-]*")
_PUBLISH = re.compile(r"(?:[\d.]+:)?(?P<host>\d+):(?P<inside>\d+)(?:/\w+)?")
_SHARED = ("/usr", "/bin", "/sbin", "/dev", "/proc", "/sys", "/tmp", "/lib", "/opt/intel")


class Run(NamedTuple):
    """A command that runs, or pulls, an image."""

    image: Word | None
    options: dict[str, list[Word]]


def check(page: Page, asked: Asked) -> Iterator[Finding]:
    """Yield commands that the text or a table of the same page contradicts."""
    found = list(commands(page))
    data = known(asked.facts)
    rows = list(read_rows(page, data))
    yield from _paths(page, found)
    yield from _files(page, found)
    for command in found:
        run = read_run(command)
        if run:
            yield from _port(page, run, rows)
            yield from _tag(page, run, rows, data)
    yield from _services(page, found)


def read_run(command: Command) -> Run | None:
    """Return what a `docker run`, `docker pull` or the like runs; None for other commands."""
    if command.name not in ("docker", "podman", "nerdctl") or len(command.words) < 3:
        return None
    if command.words[1].text not in ("run", "pull", "create"):
        return None
    options: dict[str, list[Word]] = {}
    place = 2
    while place < len(command.words) and command.words[place].text.startswith("-"):
        word = command.words[place]
        name, mark, value = word.text.partition("=")
        place += 1
        if mark:
            options.setdefault(name, []).append(word._replace(text=value, start=word.end - len(value)))
        elif name in _VALUED and place < len(command.words):
            options.setdefault(name, []).append(command.words[place])
            place += 1
    return Run(command.words[place] if place < len(command.words) else None, options)


_VALUED = (
    "-v", "--volume", "-p", "--publish", "-e", "--env", "-w", "--workdir", "--name", "--device", "--net", "--network",
    "--mount", "-u", "--user", "--entrypoint", "--ipc", "--pid", "--cap-add", "--security-opt", "--shm-size", "-h",
    "--hostname", "--group-add", "--env-file", "--gpus", "--runtime", "-m", "--memory", "--cpus", "--cpuset-cpus", "--ulimit",
    "-l", "--label", "--platform", "--add-host", "--restart", "--cpuset-mems", "--tmpfs", "--pull", "--log-driver",
)  # fmt: skip


# -- paths and files -----------------------------------------------------------------------------------------------------


def _paths(page: Page, found: list[Command]) -> Iterator[Finding]:
    """Yield paths in commands and code blocks whose last part the text puts into another folder."""
    said: dict[str, set[str]] = {}
    for piece in page.pieces:
        for code in piece.codes:
            if _PATH.fullmatch(code.text) and _is_own(whole := _home(code.text)):
                said.setdefault(posixpath.basename(whole), set()).add(whole)
    for path in _outside(found):  # of the reader's own home the text says nothing about the container
        said.get(posixpath.basename(path), set()).discard(path)
    for start, end, text in [*_mounted(found), *_written(page)]:
        whole = _home(text)
        told = said.get(posixpath.basename(whole), set())
        if len(told) == 1 and whole not in told and _is_own(whole):
            (right,) = told
            message = f"the text says {right}, but this command uses {text}"
            yield page.document.finding(PATH, start, end, message, fix=f"write {right}, or correct the text", subject=text)


def _home(path: str) -> str:
    return posixpath.normpath("/root" + path[1:] if path.startswith("~") else path)


def _outside(found: list[Command]) -> set[str]:
    """Return the paths below a home that commands name outside of containers."""
    plain = [command for command in found if not read_run(command)]
    return {_home(word.text) for command in plain for word in command.words if word.text.startswith("~/")}


def _is_own(path: str) -> bool:
    return not path.startswith(_SHARED) and len(posixpath.basename(path)) > 3


def _mounted(found: list[Command]) -> Iterator[tuple[int, int, str]]:
    for command in found:
        run = read_run(command)
        for name in ("-v", "--volume"):
            for word in run.options.get(name, ()) if run else ():
                if match := _MOUNT.fullmatch(word.text):
                    begin = (
                        word.start + word.text.rfind(match["inside"])
                        if word.end - word.start == len(word.text)
                        else word.start
                    )
                    yield begin, begin + len(match["inside"]), match["inside"]


def _written(page: Page) -> Iterator[tuple[int, int, str]]:
    """Yield the paths in code blocks that are no shell: configuration, text."""
    for block in page.codes:
        if block.language in ("txt", "text", "conf", "config", "ini", "ssh", "ssh-config", "yaml", "yml", "toml", "sshconfig"):
            for offset, text in block.lines:
                for match in _IN_BLOCK.finditer(text):
                    yield offset + match.start(), offset + match.end(), match[0]


def _files(page: Page, found: list[Command]) -> Iterator[Finding]:
    """Yield files whose mode or owner a command changes, beside others that the document makes, but that it never names."""
    text = page.document.text
    changing = [command for command in found if command.name in ("chmod", "chown") and len(command.words) > 3]
    spans = [(command.words[0].start, command.words[-1].end) for command in changing]
    told: set[str] = set()
    for command in changing:
        names = [word for word in command.words[2:] if _PLAIN.fullmatch(word.text) and not word.text.startswith("-")]
        named = {word.text: _named(text, word.text, spans) for word in names}
        if sum(named.values()) * 2 < len(named):
            continue
        for word in names:
            if not named[word.text] and word.text not in told:
                told.add(word.text)
                message = f"nothing else in this document makes or names the file {word.text}, so {command.name} fails on it"
                yield page.document.finding(
                    FILE, word.start, word.end, message, fix="make it first, or leave it out", subject=word.text
                )


def _named(text: str, name: str, without: list[tuple[int, int]]) -> bool:
    """Return whether a text names a file anywhere but in some spans."""
    for match in re.finditer(rf"(?<![\w.-]){re.escape(name)}(?![\w-]|\.\w)", text):
        if not any(start <= match.start() < end for start, end in without):
            return True
    return False


# -- images and services -------------------------------------------------------------------------------------------------


def _image(run: Run) -> Named | None:
    if run.image is None:
        return None
    repository, colon, tag = run.image.text.rpartition(":")
    return Named(tag, repository, run.image.end - len(tag), run.image.end) if colon and "/" in repository else None


def _port(page: Page, run: Run, rows: list[Facts]) -> Iterator[Finding]:
    image = _image(run)
    row = next((row for row in rows if image and any(tag.name == image.name for tag in row.tags)), None)
    if image is None or row is None:
        return
    for number, head in enumerate(row.table.head):
        cell = row.table.cell(row.row, number)
        if cell is None or not re.search(r"\bports?\b", head.text, re.IGNORECASE) or not cell.text.strip().isdigit():
            continue
        words = [*run.options.get("-p", ()), *run.options.get("--publish", ())]
        ports = [(word, match["inside"]) for word in words if (match := _PUBLISH.fullmatch(word.text))]
        if ports and cell.text.strip() not in [inside for _, inside in ports]:
            word, inside = ports[0]
            line = page.document.place(cell.start).line
            message = f"{image.name} serves port {cell.text.strip()} by the table on line {line}, not {inside}"
            yield page.document.finding(PORT, word.start, word.end, message, subject=word.text)


def _tag(page: Page, run: Run, rows: list[Facts], data: Known) -> Iterator[Finding]:
    """Yield a tag that no table of the document has, where tables have others of its repository."""
    image = _image(run)
    listed = [tag.name for row in rows for tag in row.tags]
    if image is None or image.name in listed or "$" in image.name or "<" in image.name:
        return
    mine = [name for name in listed if any(found.repository == image.repository for found in data.images.get(name, ()))]
    if len(mine) >= 3:
        message = f"no table of this document has the tag {image.name}"
        yield page.document.finding(NAME, image.start, image.end, message, subject=image.name)


def _services(page: Page, found: list[Command]) -> Iterator[Finding]:
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
        words = [word.text for word in command.words]
        if words[:2] != ["docker", "compose"] and words[:1] != ["docker-compose"]:
            continue
        verb = next((n for n, word in enumerate(words) if word in ("build", "run", "up", "pull", "push")), None)
        for word in command.words[verb + 1 :] if verb is not None else ():
            if _PLAIN.fullmatch(word.text) and word.text not in services and not word.text.startswith("-"):
                message = f"the table of services does not have {word.text}"
                yield page.document.finding(NAME, word.start, word.end, message, subject=word.text)
            if words[verb or 0] == "run":
                break
