"""Texts as agents paste them: whole files, lines of them, hunks of a diff, comments with code blocks; what they state."""

import re
from collections.abc import Iterator

from compatkb.check.document import TextDocument
from compatkb.check.markdown.code_blocks import read_code_blocks, read_files, read_inline
from compatkb.check.markdown.sources import as_markdown
from compatkb.check.markdown.text import CodeBlock, read_page
from compatkb.parsers.file_types import kind_of
from compatkb.parsers.registry import read
from compatkb.parsers.statement import ParsedFile, Requirement

_COMMAND = re.compile(r"[$!%>#]? ?(?:sudo |python3? -m )?(?:pip3?|uv|conda|mamba|poetry|pdm)[ \t]")
_REQUIREMENT = re.compile(
    r"(?:[A-Za-z0-9][\w.-]*+[ \t]*+(?:\[[^\]\n]*+\][ \t]*+)?(?:[=<>~!]=|[<>]|@|;|#|\\?$)|-{1,2}[a-z][\w-]*|#|\\?$)"
)
_EMBEDDED = re.compile(r"\b(?:uv pip|pip3?|conda|mamba) (?:install|create)[ \t][^\n\"'`()]+")
_LOOSE = ("", "diff", "patch", "suggestion", "txt", "text", "plaintext", "ini", "none")
"""Languages of code blocks that may hold requirements."""
_KEYS = (
    (r"^\[(?:project|tool\.|build-system|dependency-groups)", "pyproject.toml"),
    (r"^\[packages\]", "Pipfile"),
    (r"^\[(?:workspace|pypi-dependencies)", "pixi.toml"),
    (r"^\[options", "setup.cfg"),
    (r"^jobs:", ".github/workflows/a.yml"),
    (r"^services:", "compose.yaml"),
    (r"^dependencies:", "environment.yml"),
    (r"^\{\s*\"(?:cells|nbformat|metadata)\"", "a.ipynb"),
    (r"^(?:FROM|RUN)\s", "Dockerfile"),
    (r"^(?:from|import) \w|^# /// script", "setup.py"),
)
"""What stands in files of some kinds and in no others, with a name of that kind."""


def new_side(text: str) -> str:
    """Return a hunk of a diff as it reads after the change, each line in its place; any other text as it is."""
    lines = text.splitlines()
    heads = ("diff ", "index ", "--- ", "+++ ", "@@", "\\ ")
    if not any(line.startswith("+") for line in lines):
        return text
    if not all(not line or line[0] in "+- \t" or line.startswith(heads) for line in lines):
        return text
    return "\n".join("" if line.startswith(("-", *heads)) else line[1:] for line in lines) + "\n"


def guessed_name(text: str) -> str:
    """Return the name of a file that may hold a text: commands are those of a shell, lines of pins are requirements."""
    for pattern, name in _KEYS if "```" not in text else ():
        if re.search(pattern, text, re.MULTILINE):
            return name
    lines = [line.strip() for line in text.splitlines()]
    if any(map(_COMMAND.match, lines)) and "```" not in text and not any(line.startswith("# ") for line in lines[:1]):
        return "install.sh"
    return "requirements.txt" if all(map(_REQUIREMENT.match, lines)) else "README.md"


def readings(document: TextDocument) -> Iterator[ParsedFile]:
    """Yield what a document states; of one that states no requirement the install commands that stand in it anywhere."""
    parsed_files = list(_readings(document))
    if not any(isinstance(statement, Requirement) for reading in parsed_files for statement in reading.statements):
        commands = [match[0].strip() for match in _EMBEDDED.finditer(document.text)]
        parsed_files = [read(f"{document.path}.sh", "\n".join(commands), "shell")]
    yield from parsed_files


def _readings(document: TextDocument) -> Iterator[ParsedFile]:
    """Yield what a document states: of Markdown its commands and the code blocks that are files or lines of them."""
    if kind_of(document.path) not in (None, "markdown"):
        yield read(document.path, document.text)
        return
    fragment = as_markdown(document)
    page = read_page(TextDocument(document.path, fragment.text) if fragment else document)
    yield read_code_blocks(page)
    yield read_inline(page)
    yield from read_files(page)
    for block in page.codes:
        if lines := _requirements(block):
            yield read(document.path, lines, "requirements")


def _requirements(block: CodeBlock) -> str:
    """Return the requirements that a code block consists of; empty where it holds something else."""
    text = new_side("\n".join(text for _, text in block.lines))
    return text if block.language in _LOOSE and all(_REQUIREMENT.match(line.strip()) for line in text.splitlines()) else ""
