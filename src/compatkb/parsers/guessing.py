"""Guesses what a text is that came without the name of its file."""

import re

_COMMAND = re.compile(r"[$!%>#]? ?(?:sudo |python3? -m )?(?:pip3?|uv|conda|mamba|poetry|pdm)[ \t]")
REQUIREMENT = re.compile(
    r"(?:[A-Za-z0-9][\w.-]*+[ \t]*+(?:\[[^\]\n]*+\][ \t]*+)?(?:[=<>~!]=|[<>]|@|;|#|\\?$)|-{1,2}[a-z][\w-]*|#|\\?$)"
)
_OF_LIST = (3, 4)
"""How many of the lines of a list of requirements look like them at the least: others are addresses and paths."""
_KEYS = (
    (r"^\[(?:project|tool\.|build-system|dependency-groups)", "pyproject.toml"),
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
    return "requirements.txt" if all(map(REQUIREMENT.match, lines)) else "README.md"


def name_by_content(text: str) -> str | None:
    """Return the name of a file that holds such a text and no document, None where that is not clear."""
    if locked := re.search(r"^\[\[package(s?)\]\]", text, re.MULTILINE):
        return "pylock.toml" if locked[1] else "poetry.lock" if "content-hash" in text else "uv.lock"
    if (name := guessed_name(text)) != "README.md":
        return name if not name.endswith(".py") else None
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if "```" in text or not any("==" in line for line in lines):
        return None
    fitting = sum(REQUIREMENT.match(line) is not None for line in lines)
    return "requirements.txt" if fitting * _OF_LIST[1] >= len(lines) * _OF_LIST[0] else None
