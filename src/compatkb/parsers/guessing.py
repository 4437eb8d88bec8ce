"""Guesses what a text is that came without the name of its file."""

import re

_COMMAND = re.compile(r"[$!%>#]? ?(?:sudo |python3? -m )?(?:pip3?|uv|conda|mamba|poetry|pdm)[ \t]")
REQUIREMENT = re.compile(
    r"(?:[A-Za-z0-9][\w.-]*+[ \t]*+(?:\[[^\]\n]*+\][ \t]*+)?(?:[=<>~!]=|[<>]|@|;|#|\\?$)|-{1,2}[a-z][\w-]*|#|\\?$)"
)
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
