"""Throws damaged and random files at every reader: no traceback, no hang, no statement outside of its file.

`python tests/fuzz_readers.py COUNT` mutates small samples with a seed of its own; with atheris installed,
`python tests/fuzz_readers.py --atheris COUNT` lets it guide the mutations by coverage. Both print what they did.
"""

import contextlib
import importlib
import pkgutil
import random
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from compatkb.parsers.registry import read
from compatkb.parsers.statement import ParsedFile

MOST_SECONDS = 5
MOST_BYTES = 500_000_000

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


def from_bytes(content: bytes) -> tuple[str, str]:
    """Return the path and text that bytes stand for: the first names the reader."""
    names = list(SAMPLES)
    return names[content[0] % len(names)] if content else names[0], content[1:].decode("utf-8", "replace")


def with_seed(count: int, seed: int) -> None:
    """Examine `count` mutated samples; print how long the slowest took."""
    chance = random.Random(seed)
    names = list(SAMPLES)
    slowest = (0.0, "")
    begun = time.monotonic()
    for number in range(count):
        name = names[number % len(names)]
        text = mutated(SAMPLES[name], chance)
        started = time.monotonic()
        try:
            examine(name, text)
        except BaseException:
            print(f"{name}: {text!r}", file=sys.stderr)
            raise
        taken = time.monotonic() - started
        assert taken < MOST_SECONDS, f"{taken:.1f} s: {name}: {text!r}"
        slowest = max(slowest, (taken, name))
    print(f"{count} inputs, seed {seed}: {time.monotonic() - begun:.0f} s, slowest {slowest[0]:.3f} s ({slowest[1]})")


def with_atheris(count: int) -> None:
    """Let atheris choose `count` inputs by what they reach; it exits the process at the end."""
    import atheris

    for name in [name for name in sys.modules if name.startswith("compatkb.parsers")]:
        del sys.modules[name]
    with atheris.instrument_imports(include=["compatkb.parsers"], enable_loader_override=False):
        package = importlib.import_module("compatkb.parsers")
        for module in pkgutil.iter_modules(package.__path__):
            importlib.import_module(f"compatkb.parsers.{module.name}")
    again = sys.modules["compatkb.parsers.registry"]

    globals()["read"] = again.read

    def one(content: bytes) -> None:
        path, text = from_bytes(content)
        examine(path, text)

    _setup(atheris.Setup, count, one)
    atheris.Fuzz()


def _setup(setup: Callable[..., object], count: int, one: Callable[[bytes], None]) -> None:
    corpus = Path(tempfile.mkdtemp())
    for number, text in enumerate(SAMPLES.values()):
        (corpus / str(number)).write_bytes(bytes([number]) + text.encode())
    limits = [f"-timeout={MOST_SECONDS}", f"-rss_limit_mb={MOST_BYTES // 1_000_000}", "-max_len=4096"]
    setup([sys.argv[0], f"-runs={count}", *limits, str(corpus)], one)


if __name__ == "__main__":
    with contextlib.suppress(ValueError):
        resource.setrlimit(resource.RLIMIT_DATA, (MOST_BYTES * 4, MOST_BYTES * 4))
    arguments = sys.argv[1:]
    if arguments[:1] == ["--atheris"]:
        with_atheris(int(arguments[1]))
    else:
        with_seed(int(arguments[0]), int(arguments[1]) if len(arguments) > 1 else 1)
