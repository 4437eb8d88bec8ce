"""Commands in code blocks: lines joined, cut into words that keep their places."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from compatkb.check.markdown_text import CodeBlock, Page

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
_JOINED = re.compile(r"[\\`^]\s*$")
_MOST = 20_000


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
    for block in page.codes:
        if block.language in SHELLS:
            for places, text in _joined(block):
                yield from _cut(text, places, block)


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
        if _JOINED.search(whole) and len(whole) < _MOST:
            whole = _JOINED.sub(" ", whole) + " "
            continue
        yield places, whole
        places, whole = [], ""
    if whole:
        yield places, whole


def _cut(text: str, places: list[tuple[int, int]], block: CodeBlock) -> Iterator[Command]:
    def at(place: int) -> int:
        begin, offset = next(pair for pair in reversed(places) if pair[0] <= place)
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
