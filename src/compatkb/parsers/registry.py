"""Maps each kind of file to its parser; a new format is registered here and in `file_types`."""

import re
from collections.abc import Callable
from importlib import import_module

from compatkb.parsers.file_types import kind_of
from compatkb.parsers.source import MOST_CHARACTERS, MOST_SHELL, SourceFile
from compatkb.parsers.statement import ParsedFile

_READERS = {
    "pyproject": "pyproject.read_pyproject",
    "setup.cfg": "setuptools_files.read_setup_cfg",
    "setup.py": "setuptools_files.read_setup_script",
    **dict.fromkeys(("uv.lock", "poetry.lock", "pylock"), "locks.read_lock"),
    **dict.fromkeys(("requirements", "constraints"), "requirements.read_requirements"),
    "dockerfile": "dockerfile.read_dockerfile",
    "python-version": "requirements.read_python_version",
    "shell": "commands.dispatch.read_script",
    "notebook": "notebook.read_notebook",
    "script": "pyproject.read_script_metadata",
    "pixi": "pixi.read_pixi",
    "devcontainer": "containers.read_devcontainer",
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
