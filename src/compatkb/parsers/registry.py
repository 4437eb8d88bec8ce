"""Tells what a file is by its name, without importing a parser, and maps each kind to its parser."""

import re
from collections.abc import Callable
from functools import cache
from importlib import import_module

from compatkb.parsers.source import MOST_CHARACTERS, MOST_SHELL, SourceFile
from compatkb.parsers.statement import ParsedFile

_NAMED: tuple[tuple[str, str, str], ...] = (
    ("pyproject", "pyproject", r"(?:.*/)?pyproject(?:[._-][\w-]+)?\.toml"),
    ("setup.cfg", "setup.cfg", r"(?:.*/)?setup\.cfg"),
    ("setup.py", "setup.py", r"(?:.*/)?setup\.py"),
    ("uv.lock", "uv.lock", r"(?:.*/)?uv\.lock"),
    ("poetry.lock", "poetry.lock", r"(?:.*/)?poetry\.lock"),
    ("pylock", "pylock", r"(?:.*/)?pylock(?:\.[^/.]+)?\.toml"),
    ("python-version", ".python-version", r"(?:.*/)?\.python-version"),
    ("installer", "", r"(?:.*/)?(?:uv\.toml|\.?pip(?:\.conf|\.ini)|\.env(?:\.[\w-]+)?)"),
    ("constraints", "constraint", r"(?:.*/)?(?:[^/]*constraint[^/]*|constraints?/[^/]+)\.(?:txt|in)"),
    ("requirements", "requirement", r"(?:.*/)?(?:[^/]*requirements?[^/]*|requirements/[^/]+)\.(?:txt|in)"),
    ("dockerfile", "erfile", r"(?:.*/)?(?:(?:Docker|Container)file[^/]*|[^/]*\.(?:[Dd]ockerfile|[Cc]ontainerfile))"),
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
    ("batch", ".ps1", r".*\.ps1"),
    ("shell", "sh", r".*\.(?:sh|bash|zsh)"),
    ("notebook", ".ipynb", r".*\.ipynb"),
    ("markdown", ".m", r".*\.(?:md|markdown)"),
    ("yaml", ".y", r".*\.ya?ml"),
    ("script", ".py", r".*\.py"),
)
"""Format, what every path of it holds, and the pattern of its paths, which is compiled for a path that holds that."""

_compiled = cache(re.compile)
_told: dict[str, str] = {}
"""The formats of files whose names tell none: by what is in them, or by the commands that read them."""


def kind_of(path: str) -> str | None:
    """Return the format of a file by its path, with `/` between folders; None for files that state no versions."""
    if path in _told:
        return _told[path]
    for kind, mark, pattern in _NAMED:
        if mark in path and _compiled(pattern).fullmatch(path):
            return kind
    return None


def tell_by_content(path: str, text: str) -> None:
    """Let a file have the format that its text is of, whatever its name; nothing where that is not clear."""
    from compatkb.parsers.guessing import name_by_content

    if kind := kind_of(name_by_content(text) or ""):
        tell_kind(path, kind)


def tell_kind(path: str, kind: str) -> None:
    """Let a file have a format, whatever its name."""
    _told[path] = kind


_ONLY_WITH = {"script": "# /// script"}


def states_versions(path: str, text: str) -> bool:
    """Return whether a file of a name that many have, such as `train.py`, states versions: by a mark in its text."""
    return _ONLY_WITH.get(kind_of(path) or "", "") in text


_READERS = {
    "pyproject": "pyproject.read_pyproject",
    "setup.cfg": "setuptools_files.read_setup_cfg",
    "setup.py": "setuptools_files.read_setup_script",
    **dict.fromkeys(("uv.lock", "poetry.lock", "pylock"), "locks.read_lock"),
    **dict.fromkeys(("requirements", "constraints"), "requirements.read_requirements"),
    "dockerfile": "dockerfile.read_dockerfile",
    "python-version": "requirements.read_python_version",
    "shell": "commands.dispatch.read_script",
    "notebook": "scripts.read_notebook",
    "script": "pyproject.read_script_metadata",
    "pixi": "pyproject.read_pixi",
    "devcontainer": "yaml_files.read_devcontainer",
    "makefile": "scripts.read_makefile",
    "batch": "scripts.read_batch",
    **dict.fromkeys(("compose", "github", "gitlab", "environment", "yaml"), "yaml_files.read_trees"),
}
"""The reader of each format; its module is imported for the first file of that format, since most projects have few."""

_BY_LINES = (
    "requirements", "constraints", "dockerfile", "shell", "setup.cfg", "setup.py", "pyproject", "script", "pixi", "makefile",
    "batch",
)  # fmt: skip


def read(path: str, text: str, kind: str | None = None) -> ParsedFile:
    """Return what a file says; places that cannot be read are problems of the reading, never errors."""
    file_kind = kind or kind_of(path) or ("shell" if re.match(r"#!.*\b(?:ba|z|da)?sh\b", text) else "")
    reading = ParsedFile(path, file_kind)
    if len(text) > (MOST_SHELL if file_kind in _BY_LINES else MOST_CHARACTERS):
        reading.unread = len(text)
        return reading
    if file_kind in _READERS:
        module, _, name = _READERS[file_kind].rpartition(".")
        reader: Callable[[SourceFile, ParsedFile], None] = getattr(import_module(f"compatkb.parsers.{module}"), name)
        reader(SourceFile(path, text), reading)
    return reading
