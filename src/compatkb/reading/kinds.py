"""Which reader a file deserves, by its name; and the reading itself."""

import re
from collections.abc import Callable
from functools import cache
from importlib import import_module

from compatkb.places import Place
from compatkb.reading.source import MOST_CHARACTERS, MOST_SHELL, Source
from compatkb.reading.statement import Reading

_NAMED: tuple[tuple[str, str], ...] = (
    ("pyproject", r"(?:.*/)?pyproject\.toml"),
    ("setup.cfg", r"(?:.*/)?setup\.cfg"),
    ("uv.lock", r"(?:.*/)?uv\.lock"),
    ("poetry.lock", r"(?:.*/)?poetry\.lock"),
    ("pdm.lock", r"(?:.*/)?pdm\.lock"),
    ("pylock", r"(?:.*/)?pylock(?:\.[^/.]+)?\.toml"),
    ("Pipfile", r"(?:.*/)?Pipfile"),
    ("Pipfile.lock", r"(?:.*/)?Pipfile\.lock"),
    ("conda-lock", r"(?:.*/)?(?:[^/]*\.)?conda-lock\.ya?ml"),
    ("constraints", r"(?:.*/)?[^/]*constraint[^/]*\.(?:txt|in)"),
    ("requirements", r"(?:.*/)?(?:[^/]*requirements?[^/]*|requirements/[^/]+)\.(?:txt|in)"),
    ("dockerfile", r"(?:.*/)?(?:(?:Docker|Container)file(?:[._-][^/]*)?|[^/]*\.(?:[Dd]ockerfile|[Cc]ontainerfile))"),
    ("compose", r"(?:.*/)?(?:docker-)?compose[^/]*\.ya?ml"),
    ("github", r"(?:.*/)?\.github/(?:workflows/[^/]*|actions/.*/action)\.ya?ml|(?:.*/)?action\.ya?ml"),
    ("gitlab", r"(?:.*/)?[^/]*\.gitlab-ci[^/]*\.ya?ml|(?:.*/)?\.gitlab/.*\.ya?ml"),
    ("azure", r"(?:.*/)?(?:\.azure-?pipelines?/.*|azure-pipelines?[^/]*)\.ya?ml"),
    ("environment", r"(?:.*/)?[^/]*environment[^/]*\.ya?ml"),
    ("shell", r".*\.(?:sh|bash|zsh)"),
    ("notebook", r".*\.ipynb"),
    ("markdown", r".*\.(?:md|markdown)"),
    ("yaml", r".*\.ya?ml"),
)

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
"""Compiles a pattern when it is first asked for: of most projects the first ones decide."""


def kind_of(path: str) -> str | None:
    """Return the format of a file by its path, with `/` between folders; None for files that state no versions."""
    for kind, pattern in _NAMED:
        if _compiled(pattern).fullmatch(path):
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
