"""A small file of each kind that is read, ways to damage it, and what must hold of whatever is read."""

import random
from pathlib import Path

from compatkb.parsers.registry import read
from compatkb.parsers.statement import ParsedFile

FOLDER = Path(__file__).parent / "cases" / "reading"
FILES = sorted(path for path in FOLDER.rglob("*") if path.is_file())
SAMPLES = {path.relative_to(FOLDER).as_posix(): path.read_text("utf-8") for path in FILES}
"""A small file of each kind, named as its reader expects it."""

WORDS = (
    "pip install ",
    "torch==2.5.0+xpu",
    "${{ matrix.x }}",
    "$(",
    "${",
    "<<EOF\n",
    "\\\n",
    "\\",
    "`",
    "'",
    '"',
    "\t",
    "\r\n",
    "\r",
    "\ufeff",
    "\x00",
    "\u2028",
    "\x85",
    "&a ",
    "*a",
    "<<: *a",
    "- ",
    ": ",
    "{",
    "[",
    "]",
    "}",
    "|\n  ",
    ">-\n  ",
    "[[package]]\n",
    "if x; then ",
    "else ",
    "fi\n",
    "case x in a) ",
    ";; ",
    "esac\n",
    "f() { ",
    "}\n",
    "FROM a AS b\n",
    "ARG V=1\n",
    "RUN ",
    "--hash=sha256:0",
    "; python_version<'3'",
    "-r ",
    "conda activate x\n",
    "||",
    "&&",
    "(",
    ")",
    "#",
    "\ud7ff",
    "\U0001f40d",
    "\xe9",
)
"""What mutations put in."""


def examine(path: str, text: str) -> ParsedFile:
    """Read a file and demand that every statement and problem stands in it."""
    reading = read(path, text)
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    for found in (*reading.statements, *reading.problems):
        line, column = found.place
        assert 1 <= line <= len(lines), f"{path}: line {line} of {len(lines)}: {found}"
        assert 1 <= column <= len(lines[line - 1]) + 1, f"{path}: column {column} of line {line}: {found}"
    for statement in reading.statements:
        assert statement.group in reading.groups, f"{path}: no group {statement.group!r}"
    return reading


def _letters(chance: random.Random) -> str:
    return "".join(chr(chance.choice((chance.randrange(128), chance.randrange(0xD7FF)))) for _ in range(4))


def mutated(text: str, chance: random.Random) -> str:
    """Return a text with a few cuts, repeats, swaps and insertions."""
    for _ in range(chance.randint(1, 6)):
        start, end = sorted(chance.randint(0, len(text)) for _ in range(2))
        end = min(end, start + chance.choice((1, 4, 30, 200)))
        kind = chance.randrange(6)
        if kind == 0:
            text = text[:start] + text[end:]
        elif kind == 1:
            text = text[:start] + text[start:end] * chance.choice((2, 3, 20)) + text[end:]
        elif kind == 2:
            text = text[:start] + chance.choice(WORDS) + text[start:]
        elif kind == 3:
            text = text[:start] + chance.choice(WORDS) * chance.choice((1, 5, 200)) + text[end:]
        elif kind == 4:
            text = text[:start] + _letters(chance) + text[end:]
        else:
            other = chance.choice(list(SAMPLES.values()))
            text = text[:start] + other[: chance.randint(0, len(other))] + text[end:]
        text = text[:20_000]
    return text
