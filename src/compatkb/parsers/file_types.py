"""Tells what a file is by its name, without importing a parser."""

import re
from functools import cache

_NAMED: tuple[tuple[str, str, str], ...] = (
    ("pyproject", "pyproject", r"(?:.*/)?pyproject(?:[._-][\w-]+)?\.toml"),
    ("setup.cfg", "setup.cfg", r"(?:.*/)?setup\.cfg"),
    ("setup.py", "setup.py", r"(?:.*/)?setup\.py"),
    ("uv.lock", "uv.lock", r"(?:.*/)?uv\.lock"),
    ("poetry.lock", "poetry.lock", r"(?:.*/)?poetry\.lock"),
    ("pylock", "pylock", r"(?:.*/)?pylock(?:\.[^/.]+)?\.toml"),
    ("python-version", ".python-version", r"(?:.*/)?\.python-version"),
    ("installer", "", r"(?:.*/)?(?:uv\.toml|\.?pip(?:\.conf|\.ini)|\.env(?:\.[\w-]+)?)"),
    ("constraints", "constraint", r"(?:.*/)?[^/]*constraint[^/]*\.(?:txt|in)"),
    ("requirements", "requirement", r"(?:.*/)?(?:[^/]*requirements?[^/]*|requirements/[^/]+)\.(?:txt|in)"),
    ("dockerfile", "erfile", r"(?:.*/)?(?:(?:Docker|Container)file(?:[._-][^/]*)?|[^/]*\.(?:[Dd]ockerfile|[Cc]ontainerfile))"),
    ("compose", "compose", r"(?:.*/)?(?:docker-)?compose[^/]*\.ya?ml"),
    ("github", ".y", r"(?:.*/)?\.github/(?:workflows/[^/]*|actions/.*/action)\.ya?ml|(?:.*/)?action\.ya?ml"),
    ("gitlab", "gitlab", r"(?:.*/)?[^/]*\.gitlab-ci[^/]*\.ya?ml|(?:.*/)?\.gitlab/.*\.ya?ml"),
    ("environment", "environment", r"(?:.*/)?[^/]*environment[^/]*\.ya?ml"),
    ("pixi", "pixi.toml", r"(?:.*/)?pixi\.toml"),
    ("devcontainer", "devcontainer", r"(?:.*/)?\.?devcontainer(?:/[^/]+)*\.json|(?:.*/)?devcontainer\.json"),
    ("makefile", "akefile", r"(?:.*/)?(?:GNU)?[Mm]akefile(?:\.[\w-]+)?"),
    ("makefile", ".mk", r".*\.mk"),
    ("batch", ".bat", r".*\.bat"),
    ("batch", ".cmd", r".*\.cmd"),
    ("shell", "sh", r".*\.(?:sh|bash|zsh)"),
    ("notebook", ".ipynb", r".*\.ipynb"),
    ("markdown", ".m", r".*\.(?:md|markdown)"),
    ("yaml", ".y", r".*\.ya?ml"),
    ("script", ".py", r".*\.py"),
)
"""Format, what every path of it holds, and the pattern of its paths, which is compiled for a path that holds that."""

_compiled = cache(re.compile)


def kind_of(path: str) -> str | None:
    """Return the format of a file by its path, with `/` between folders; None for files that state no versions."""
    for kind, mark, pattern in _NAMED:
        if mark in path and _compiled(pattern).fullmatch(path):
            return kind
    return None


_ONLY_WITH = {"script": "# /// script"}


def states_versions(path: str, text: str) -> bool:
    """Return whether a file of a name that many have, such as `train.py`, states versions: by a mark in its text."""
    return _ONLY_WITH.get(kind_of(path) or "", "") in text
