"""What documents of a project say of its files: which of them are installed by a command that names an index."""

import posixpath
import re
from collections.abc import Iterable

from compatkb.check.document import TextDocument
from compatkb.parsers.file_types import kind_of

_INSTALLED = re.compile(r"(?<!\S)(?:-r\s*|--requirements?[= ]\s*)[\"']?([^\s\"'`]+)")
_INDEX = re.compile(r"--(?:extra-)?index(?:-url)?\b|--find-links\b|--torch-backend\b|(?<!\S)-[fi]\s")
_CONTINUED = re.compile(r"\\\r?\n")


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
