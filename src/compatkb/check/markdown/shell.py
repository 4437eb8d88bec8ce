"""Commands in code blocks: lines joined, cut into words that keep their places."""

import re
from bisect import bisect_right
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from compatkb.check.markdown.text import CodeBlock, Page

SHELLS = (
    "",
    "sh",
    "bash",
    "shell",
    "console",
    "zsh",
    "ksh",
    "shell-session",
    "shellsession",
    "powershell",
    "ps1",
    "cmd",
    "bat",
    "batch",
)
_PROMPT = re.compile(r"\s*(?:\([\w.-]+\)\s*)?(?:[$%>#]|PS[^>]*>|C:\\[^>]*>)\s+")
_WORD = re.compile(
    r"""(?P<end>&&|\|\||[;|&\n])|(?P<comment>(?<!\S)\#[^\n]*)|(?P<word>(?:\\\r?\n|\\.|"(?:\\.|[^"\\])*"|'[^']*'|[^\s;|&"'\\]|["'\\])+)""",
    re.DOTALL,
)
_JOINS = ("\\", "`", "^")
_MOST = 20_000  # characters of a command
_MOST_COMMANDS = 5_000  # of a page


class Word(NamedTuple):
    """A word of a command without its quotes, and where it stands."""

    text: str
    start: int
    end: int


class Command(NamedTuple):
    """A command with its words; `block` is the code block that it is in."""

    words: tuple[Word, ...]
    block: CodeBlock

    @property
    def name(self) -> str:
        """The program, without its folder."""
        return self.words[0].text.rsplit("/", 1)[-1]


def commands(page: Page) -> Iterator[Command]:
    """Yield the commands in the code blocks of a page that are shell, or say nothing."""
    blocks = (block for block in page.codes if block.language in SHELLS)
    found = (command for block in blocks for places, text in _joined(block) for command in _cut(text, places, block))
    yield from islice(found, _MOST_COMMANDS)


def _joined(block: CodeBlock) -> Iterator[tuple[list[tuple[int, int]], str]]:
    """Yield lines with those that continue them, and for each line in them where it begins, here and in the document."""
    prompted = any(re.match(r"\s*\$\s", text) for _, text in block.lines)
    places: list[tuple[int, int]] = []
    whole = ""
    for offset, text in block.lines:
        if prompted and not whole and not _PROMPT.match(text):
            continue  # what the command printed
        prompt = _PROMPT.match(text) if not whole else None
        skip = prompt.end() if prompt and not text.lstrip().startswith("#") else 0
        places.append((len(whole), offset + skip))
        whole += text[skip:]
        if text.rstrip().endswith(_JOINS) and len(whole) < _MOST:
            whole = f"{whole.rstrip()[:-1]}  "
            continue
        yield places, whole
        places, whole = [], ""
    if whole:
        yield places, whole


def _cut(text: str, places: list[tuple[int, int]], block: CodeBlock) -> Iterator[Command]:
    def at(place: int) -> int:
        begin, offset = places[bisect_right(places, (place, 1 << 60)) - 1]
        return offset + place - begin

    words: list[Word] = []
    for match in _WORD.finditer(text[:_MOST]):
        if match["word"] is not None:
            words.append(Word(_bare(match["word"]), at(match.start()), at(match.end() - 1) + 1))
        elif match["end"] is not None and words:
            yield from _command(words, block)
            words = []
    yield from _command(words, block)


def _command(words: list[Word], block: CodeBlock) -> Iterator[Command]:
    while words and (words[0].text in ("sudo", "time", "exec", "env", "!", "%") or re.match(r"[A-Za-z_]\w*=", words[0].text)):
        words = words[1:]
    if words:
        yield Command(tuple(words), block)


def _bare(word: str) -> str:
    return re.sub(r"\"((?:\\.|[^\"\\])*)\"|'([^']*)'", lambda match: match[1] or match[2] or "", word)
