"""Code blocks as the command parser reads them: prompts and printed output left out, each block a group of its own."""

import re
from collections.abc import Iterator, Sequence

from compatkb.check.document import TextDocument
from compatkb.check.markdown.text import CodeBlock, MarkdownPage
from compatkb.parsers.commands.dispatch import read_shell, without_prefix
from compatkb.parsers.commands.model import CommandScope
from compatkb.parsers.source import Fragment, Segment
from compatkb.parsers.statement import Group, ParsedFile, Word

SHELLS = (
    "", "sh", "bash", "shell", "console", "zsh", "ksh", "shell-session", "shellsession", "powershell", "ps1", "cmd", "bat",
    "batch",
)  # fmt: skip
_PROMPT = re.compile(r"\s*(?:\([\w.-]+\)\s*)?(?:[$%>#]|PS[^>]*>|C:\\[^>]*>)\s+")
_PROMPTED = re.compile(r"\s*\$\s")
_JOINS = ("\\", "`", "^")


def read_code_blocks(page: MarkdownPage) -> ParsedFile:
    """Return what the code blocks of a page install and run that are shell, or say nothing; read once for a page."""
    if page.reading is None:
        page.reading = ParsedFile(page.document.path, "markdown")
        for block in page.codes:
            if block.language in SHELLS and block.lines:
                line = page.document.place(block.lines[0][0]).line
                group = f"block:{line}"
                page.reading.groups[group] = Group(group, "block", f"the code block at line {line}")
                read_shell(Fragment(page.document, _pieces(block)), CommandScope(page.reading, group=group))
    return page.reading


def commands(page: MarkdownPage) -> Iterator[Sequence[Word]]:
    """Yield the commands of a page, without `sudo` and the like."""
    yield from filter(None, map(without_prefix, read_code_blocks(page).calls))


def program(words: Sequence[Word]) -> str:
    """Return the program that a command runs, without its folder."""
    return words[0].value.rpartition("/")[2]


def span(document: TextDocument, word: Word) -> tuple[int, int]:
    """Return where a word stands, with its quotes."""
    start = document.offset(*word.place)
    return start, start + len(word.raw)


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
