"""The reading of a file by the reader that it deserves."""

import re
from collections.abc import Callable
from importlib import import_module

from compatkb.core.text_position import Place
from compatkb.parsers.file_types import kind_of
from compatkb.parsers.source import MOST_CHARACTERS, MOST_SHELL, SourceFile
from compatkb.parsers.statement import ParsedFile

_READERS = {
    "pyproject": "pyproject.read_pyproject",
    "setup.cfg": "setup_cfg.read_setup_cfg",
    "uv.lock": "locks.read_uv_lock",
    "poetry.lock": "locks.read_poetry_lock",
    "pdm.lock": "locks.read_pdm_lock",
    "pylock": "locks.read_pylock",
    "Pipfile": "locks.read_pipfile",
    "Pipfile.lock": "locks.read_pipfile_lock",
    "variants": "variant_files.read_variants",
    "conda-lock": "conda.read_conda_lock",
    "requirements": "requirements.read_requirements",
    "constraints": "requirements.read_constraints",
    "dockerfile": "dockerfile.read_dockerfile",
    "python-version": "requirements.read_python_version",
    "shell": "commands.dispatch.read_script",
    "notebook": "notebook.read_notebook",
    **dict.fromkeys(("compose", "github", "gitlab", "azure", "environment", "yaml", "manifest"), "yaml_files.read_trees"),
}
"""The reader of each format; its module is imported for the first file of that format, since most projects have few."""

_BY_LINES = {"requirements", "constraints", "dockerfile", "shell", "setup.cfg", "pyproject"}


def read(path: str, text: str, kind: str | None = None) -> ParsedFile:
    """Return what a file says; places that cannot be read are problems of the reading, never errors."""
    found = kind or kind_of(path) or ("shell" if re.match(r"#!.*\b(?:ba|z|da)?sh\b", text) else "")
    reading = ParsedFile(path, found)
    if len(text) > (MOST_SHELL if found in _BY_LINES else MOST_CHARACTERS):
        reading.problem(Place(1, 1), f"is too long to be read: {len(text):,} characters")
        return reading
    if found in _READERS:
        module, _, name = _READERS[found].rpartition(".")
        reader: Callable[[SourceFile, ParsedFile], None] = getattr(import_module(f"compatkb.parsers.{module}"), name)
        reader(SourceFile(path, text), reading)
    return reading
