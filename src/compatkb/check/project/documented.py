"""What documents of a project say of its files: which of them are installed by a command that names an index."""

import posixpath
import re
from collections.abc import Iterable

from compatkb.check.document import TextDocument
from compatkb.parsers.file_types import kind_of

_INSTALLED = re.compile(r"(?<!\S)(?:-r\s*|--requirements?[= ]\s*)[\"']?([^\s\"'`]+)")
_INDEX = re.compile(r"--(?:extra-|default-)?index(?:-url)?(?![-\w])|--find-links\b|--torch-backend\b|(?<!\S)-[fi]\s")
_CONTINUED = re.compile(r"\\\r?\n")
_COMMAND = re.compile(r"^[ \t]*#.*\b(?:install|compile|sync)\b.*", re.MULTILINE)
_OF_A_MACHINE = re.compile(r"^[ \t-]*(?:[\w.-]+[ \t]*@[ \t]*)?file:///(?!\$)", re.MULTILINE)
_LISTS = ("requirements", "constraints", "environment")
_FROZEN = re.compile(r"(?:^|[-_.])(?:frozen|freeze|lock)(?:[-_.]|$)", re.IGNORECASE)


def files_with_an_index(documents: Iterable[TextDocument]) -> frozenset[str]:
    """Return the names, without folders, of the files that a command in one of these documents installs from an index."""
    found: set[str] = set()
    for document in documents:
        if kind_of(document.path) not in (None, "markdown") or "-r" not in document.text:
            continue
        for line in _CONTINUED.sub(" ", document.text).splitlines():
            if "-r" in line and _INDEX.search(line):
                found.update(posixpath.basename(name) for name in _INSTALLED.findall(line))
    return frozenset(found)


def names_its_index(text: str) -> bool:
    """Return whether a comment of a file has the command that makes or installs it, with an index or a backend of torch."""
    return any(_INDEX.search(line) for line in _COMMAND.findall(text))


def is_of_a_machine(text: str) -> bool:
    """Return whether a list has what lies in a folder of the machine that it was made on, so no other one can install it."""
    return _OF_A_MACHINE.search(text) is not None


def is_frozen(path: str) -> bool:
    """Return whether a file is named for what was once installed: frozen-requirements.txt, requirements.lock.txt."""
    return _FROZEN.search(posixpath.basename(path)) is not None and kind_of(path) in _LISTS
