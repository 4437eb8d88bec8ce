"""Which reader a file deserves, by its name; and the reading itself."""

import re
from collections.abc import Callable
from functools import cache
from importlib import import_module

from compatkb.places import Place
from compatkb.reading.source import MOST_CHARACTERS, MOST_SHELL, Source
from compatkb.reading.statement import Reading

_NAMED: tuple[tuple[str, str, str], ...] = (
    ("pyproject", "pyproject.toml", r"(?:.*/)?pyproject\.toml"),
    ("setup.cfg", "setup.cfg", r"(?:.*/)?setup\.cfg"),
    ("uv.lock", "uv.lock", r"(?:.*/)?uv\.lock"),
    ("poetry.lock", "poetry.lock", r"(?:.*/)?poetry\.lock"),
    ("pdm.lock", "pdm.lock", r"(?:.*/)?pdm\.lock"),
    ("pylock", "pylock", r"(?:.*/)?pylock(?:\.[^/.]+)?\.toml"),
    ("Pipfile", "Pipfile", r"(?:.*/)?Pipfile"),
    ("Pipfile.lock", "Pipfile.lock", r"(?:.*/)?Pipfile\.lock"),
    ("conda-lock", "conda-lock", r"(?:.*/)?(?:[^/]*\.)?conda-lock\.ya?ml"),
    ("constraints", "constraint", r"(?:.*/)?[^/]*constraint[^/]*\.(?:txt|in)"),
    ("requirements", "requirement", r"(?:.*/)?(?:[^/]*requirements?[^/]*|requirements/[^/]+)\.(?:txt|in)"),
    ("dockerfile", "erfile", r"(?:.*/)?(?:(?:Docker|Container)file(?:[._-][^/]*)?|[^/]*\.(?:[Dd]ockerfile|[Cc]ontainerfile))"),
    ("compose", "compose", r"(?:.*/)?(?:docker-)?compose[^/]*\.ya?ml"),
    ("github", ".y", r"(?:.*/)?\.github/(?:workflows/[^/]*|actions/.*/action)\.ya?ml|(?:.*/)?action\.ya?ml"),
    ("gitlab", "gitlab", r"(?:.*/)?[^/]*\.gitlab-ci[^/]*\.ya?ml|(?:.*/)?\.gitlab/.*\.ya?ml"),
    ("azure", "azure", r"(?:.*/)?(?:\.azure-?pipelines?/.*|azure-pipelines?[^/]*)\.ya?ml"),
    ("environment", "environment", r"(?:.*/)?[^/]*environment[^/]*\.ya?ml"),
    ("shell", "sh", r".*\.(?:sh|bash|zsh)"),
    ("notebook", ".ipynb", r".*\.ipynb"),
    ("markdown", ".m", r".*\.(?:md|markdown)"),
    ("yaml", ".y", r".*\.ya?ml"),
)
"""Format, what every path of it holds, and the pattern of its paths, which is compiled for a path that holds that."""

_READERS = {
    "pyproject": "pyproject.read_pyproject",
    "setup.cfg": "setup_cfg.read_setup_cfg",
    "uv.lock": "locks.read_uv_lock",
    "poetry.lock": "locks.read_poetry_lock",
    "pdm.lock": "locks.read_pdm_lock",
    "pylock": "locks.read_pylock",
    "Pipfile": "locks.read_pipfile",
    "Pipfile.lock": "locks.read_pipfile_lock",
    "conda-lock": "conda.read_conda_lock",
    "requirements": "requirements.read_requirements",
    "constraints": "requirements.read_constraints",
    "dockerfile": "dockerfile.read_dockerfile",
    "shell": "installers.read_script",
    "notebook": "notebook.read_notebook",
    **dict.fromkeys(("compose", "github", "gitlab", "azure", "environment", "yaml", "manifest"), "trees.read_trees"),
}
"""The reader of each format; its module is imported for the first file of that format, since most projects have few."""

_BY_LINES = {"requirements", "constraints", "dockerfile", "shell", "setup.cfg", "pyproject"}


_compiled = cache(re.compile)


def kind_of(path: str) -> str | None:
    """Return the format of a file by its path, with `/` between folders; None for files that state no versions."""
    for kind, mark, pattern in _NAMED:
        if mark in path and _compiled(pattern).fullmatch(path):
            return kind
    return None


def read(path: str, text: str, kind: str | None = None) -> Reading:
    """Return what a file says; places that cannot be read are problems of the reading, never errors."""
    found = kind or kind_of(path) or ("shell" if re.match(r"#!.*\b(?:ba|z|da)?sh\b", text) else "")
    reading = Reading(path, found)
    if len(text) > (MOST_SHELL if found in _BY_LINES else MOST_CHARACTERS):
        reading.problem(Place(1, 1), f"is too long to be read: {len(text):,} characters")
        return reading
    if found in _READERS:
        module, _, name = _READERS[found].partition(".")
        reader: Callable[[Source, Reading], None] = getattr(import_module(f"compatkb.reading.{module}"), name)
        reader(Source(path, text), reading)
    return reading
