"""Rules on the commands of a page: what they install, judged by the rules for projects, and the files that they change.

Code blocks are read as the command parser reads them: without prompts and printed output, each block a group of its own.
"""

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from compatkb.check.document import CheckContext, TextDocument
from compatkb.check.markdown.text import PAGES, CodeBlock, MarkdownPage
from compatkb.check.project import builds, index_rules, packages, pairs, pins, resolution
from compatkb.check.project.checker import judged
from compatkb.check.project.environments import Project
from compatkb.check.project.queries import ProjectQueries, queries_of
from compatkb.check.rules import ENDED, CheckRule
from compatkb.core.findings import Finding, Severity
from compatkb.core.names import normal
from compatkb.parsers.commands.dispatch import read_shell, without_prefix
from compatkb.parsers.commands.model import CommandScope
from compatkb.parsers.registry import kind_of, read
from compatkb.parsers.source import Fragment, Segment
from compatkb.parsers.statement import Group, ImageUse, Include, ParsedFile, Requirement, Word

SHELLS = (
    "", "sh", "bash", "shell", "console", "zsh", "ksh", "shell-session", "shellsession", "powershell", "ps1", "cmd", "bat",
    "batch",
)  # fmt: skip
_FILES = {
    "dockerfile": "dockerfile", "docker": "dockerfile", "containerfile": "dockerfile", "yaml": "yaml", "yml": "yaml",
    "requirements": "requirements", "requirements.txt": "requirements", "pip-requirements": "requirements", "toml": "toml",
    "makefile": "makefile", "make": "makefile",
}  # fmt: skip
"""Languages of blocks that are files, with the format of each; of a toml block its keys tell it."""
_NOTEBOOKS = ("python", "py", "python3", "ipython", "ipython3", "jupyter")
_INLINE = re.compile(r"[!%$ ]{0,3}(?:(?:python[\d.]*|py) -m )?(?:pip[\d.]*|uv pip|uv) (?:install|add)\s")
_INSTALLS = re.compile(r"\s(?:install|add)\s")
_MAGIC = re.compile(r"\s*[!%](?:pip|uv|conda|mamba)\b")
_PIXI = re.compile(r"^[ \t]*\[(?:workspace|pypi-dependencies|feature\.|tool\.pixi)", re.MULTILINE)
_PROJECT = re.compile(r"^[ \t]*\[(?:project|tool|build-system|dependency-groups)\b", re.MULTILINE)
_ITEM = re.compile(
    r"^[ \t]*[-+*][ \t]+`?(?P<name>[A-Za-z][\w.-]*)[ \t]*={1,2}[ \t]*(?P<version>\d+(?:\.\d+)+)(?=`?[ \t]*\r?$)", re.MULTILINE
)
MOST_ITEMS = 200
MOST_FILES = 40
"""More blocks of one document are not read as files."""
_PROMPT = re.compile(r"\s*(?:\([\w.-]+\)\s*)?(?:[$%>#]|PS[^>]*>|C:\\[^>]*>)\s+")
_PROMPTED = re.compile(r"\s*\$\s")
_JOINS = ("\\", "`", "^")


def read_code_blocks(page: MarkdownPage) -> ParsedFile:
    """Return what the code blocks of a page install and run that are shell, or say nothing; read once for a page."""
    if page.reading is None:
        page.reading = ParsedFile(page.document.path, "markdown")
        for block in page.codes:
            pieces = _shell_of(block)
            if pieces:
                _read(page, page.reading, pieces, "code block")
    return page.reading


def read_inline(page: MarkdownPage) -> ParsedFile:
    """Return what install commands within sentences and cells say, each an environment of its own."""
    reading = ParsedFile(page.document.path, "markdown")
    for piece in page.everything():
        for code in piece.codes if _INSTALLS.search(piece.source) else ():
            if _INLINE.match(code.text) and page.document.text.startswith(code.text, code.start):
                _read(page, reading, [Segment(code.text, code.start)], "command")
    return reading


def read_lists(page: MarkdownPage) -> ParsedFile:
    """Return the pins that are items of lists, as many documents name what they were made with."""
    reading = ParsedFile(page.document.path, "markdown")
    blocks = [(block.lines[0][0], block.lines[-1][0] + len(block.lines[-1][1])) for block in page.codes if block.lines]
    for match in islice(_ITEM.finditer(page.document.text), MOST_ITEMS):
        if any(start <= match.start("name") < end for start, end in blocks):
            continue  # an item of another format
        group = f"item:{match.start()}"
        reading.groups[group] = Group(group, "block", "the list")
        place = page.document.place(match.start("name"))
        specifier, text = f"=={match['version']}", match[0][match.start("name") - match.start() :]
        reading.add(Requirement(place, text, normal(match["name"]), group, 1, specifier=specifier))
    return reading


def _read(page: MarkdownPage, reading: ParsedFile, pieces: list[Segment], what: str) -> None:
    place = page.document.place(pieces[0].start)
    group = f"block:{place.line}:{place.column}"
    reading.groups[group] = Group(group, "block", f"the {what} at line {place.line}")
    read_shell(Fragment(page.document, pieces), CommandScope(reading, group=group))


def read_files(page: MarkdownPage) -> Iterator[ParsedFile]:
    """Yield what the code blocks say that are whole files: Dockerfiles, YAML, requirements, TOML."""
    count = 0
    for block in page.codes:
        kind = _FILES.get(block.language)
        text = "\n".join(text for _, text in block.lines)
        if kind == "toml":
            kind = "pixi" if _PIXI.search(text) else "pyproject" if _PROJECT.search(text) else None
        if kind and block.lines and count < MOST_FILES:
            count += 1
            reading = read(page.document.path, _alone(page.document, block), kind)
            if kind == "dockerfile" and not re.search(r"^[ \t]*FROM\b", text, re.IGNORECASE | re.MULTILINE):
                continue  # a part of one, whose base is not told
            yield reading


def _alone(document: TextDocument, block: CodeBlock) -> str:
    """Return a text in which nothing but a block stands, at its places."""
    lines: list[str] = []
    for offset, text in block.lines:
        place = document.place(offset)
        lines += [""] * (place.line - 1 - len(lines))
        lines.append(" " * (place.column - 1) + text)
    return "\n".join(lines)


def _shell_of(block: CodeBlock) -> list[Segment]:
    """Return what a shell reads of a block: all of a shell's, of a notebook's the lines for the shell."""
    if block.language in _NOTEBOOKS:
        return [Segment(f"{text}\n", offset) for offset, text in block.lines if _MAGIC.match(text)]
    return list(_pieces(block)) if block.language in SHELLS and block.lines else []


def commands(page: MarkdownPage) -> Iterator[Sequence[Word]]:
    """Yield the commands of a page, without `sudo` and the like."""
    yield from filter(None, map(without_prefix, read_code_blocks(page).calls))


def program(words: Sequence[Word]) -> str:
    """Return the program that a command runs, without its folder."""
    return words[0].value.rpartition("/")[2]


def _pieces(block: CodeBlock) -> Iterator[Segment]:
    """Yield the lines of a block that are commands; behind a prompt elsewhere, the others are what commands printed."""
    prompted = any(_PROMPTED.match(text) for _, text in block.lines)
    continued = False
    for offset, text in block.lines:
        prompt = None if continued else _PROMPT.match(text)
        if prompted and not prompt and not continued:
            continue
        skipped = prompt.end() if prompt and not text.lstrip().startswith("#") else 0
        bare = text[skipped:].rstrip()
        continued = bare.endswith(_JOINS)
        yield Segment(f"{bare[:-1]}\\\n" if continued else f"{bare}\n", offset + skipped)


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
    resolution.TOGETHER.id: TOGETHER,
    pairs.CONTRADICT.id: TOGETHER,
}
"""The rules of projects that examples are judged by, and what they are called there; an example may leave out its index."""

_ALIKE = (
    pins.LOST, index_rules.INDEX, pairs.DRIFTS, pins.YANKED, ENDED, packages.STUB, packages.BUILD, packages.METADATA,
    builds.PACKAGE,
)  # fmt: skip
_FOR_COMMANDS = {**_FOR_FILES, **{rule.id: rule for rule in _ALIKE}}
"""The rules for blocks of commands, which readers paste as they are."""


@PAGES.rule(UNPUBLISHED, TOGETHER, PLATFORM, *_ALIKE, FILE)
def check(page: MarkdownPage, context: CheckContext) -> Iterator[Finding]:
    """Yield what is wrong with what a page tells to install and to change."""
    judge = queries_of(context)
    reading = read_code_blocks(page)
    reading.statements = [one for one in reading.statements if not isinstance(one, ImageUse)]  # other modules judge images
    yield from _judged(page, reading, judge, _FOR_COMMANDS, _installed_files(page, reading, judge))
    for example in (read_inline(page), *read_files(page)):
        yield from _judged(page, example, judge, _FOR_FILES)
    yield from _judged(page, read_lists(page), judge, {pins.UNPUBLISHED.id: UNPUBLISHED})
    yield from _files(page)


def _installed_files(page: MarkdownPage, reading: ParsedFile, judge: ProjectQueries) -> list[tuple[TextDocument, ParsedFile]]:
    """Return the lists of packages that the commands of a page install, read."""
    folder = posixpath.dirname(page.document.path)
    included = (one.path for one in reading.statements if isinstance(one, Include))
    paths = {
        posixpath.normpath(posixpath.join(base, path)) for path in included for base in (folder, posixpath.dirname(folder))
    }
    named = (one for one in judge.context.documents if one.path in paths) if paths else ()
    return [(one, judge.reading(one)) for one in named if kind_of(one.path) in ("requirements", "constraints")]


def _judged(
    page: MarkdownPage,
    reading: ParsedFile,
    judge: ProjectQueries,
    named: Mapping[str, CheckRule],
    files: Sequence[tuple[TextDocument, ParsedFile]] = (),
) -> Iterator[Finding]:
    """Yield what is wrong with what a page installs; in the files that it installs, what does not go with the page itself."""
    path = page.document.path
    for finding in judged(Project(judge.facts, [(page.document, reading), *files]), judge, path):
        is_aside = finding.rule == ENDED.id and not finding.fix  # what is merely old documents install on purpose
        if finding.path != path:
            if finding.rule == resolution.TOGETHER.id and path in finding.message:
                yield finding._replace(edits=())
        elif (rule := named.get(finding.rule)) and not is_aside:
            yield finding._replace(rule=rule.id)


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
