"""Where a finding stands: what kind of file, and whether the file speaks of another time or is somebody else's."""

import re
from enum import StrEnum

from compatkb.parsers.file_types import kind_of


class Place(StrEnum):
    """Kinds of files by who reads them; how far rules have proved themselves is counted by these."""

    INSTALLED = "installed"  # an installer reads it, or a build of an image
    LOCK = "lock"  # of all platforms and extras at once, so what it has need not meet
    STEPS = "steps"  # scripts, pipelines, services: what runs depends on more than the file
    NOTEBOOK = "notebook"
    DOCUMENT = "document"


_LOCKS = ("uv.lock", "poetry.lock", "pdm.lock")
_STEPS = ("shell", "batch", "makefile", "github", "gitlab", "azure", "compose", "devcontainer", "yaml")
_VERSION = r"v?\d+(?:\.\d+)+"
_ANOTHER_TIME = re.compile(
    rf"(?:^|/)(?:(?:{_VERSION}|archived?[^/]*|deprecated[^/]*|retired[^/]*|legacy|obsolete|old|blogs?|_?posts|news|"
    r"release[-_ ]?notes?|releases?|versioned_docs|third[-_]?part(?:y|ies)|vendor(?:ed)?|"
    r"fixtures?|test[-_]?data|snapshots|ISSUE_TEMPLATE)/"
    r"|(?:\w+[-_.])?(?:change[-_]?log|changes|history|news|releases?|release[-_ ]?notes?)[^/]*\.(?:md|rst|html?|markdown)$)",
    re.IGNORECASE,
)


def place_of(path: str) -> Place:
    """Return what kind of file a path is, by its name."""
    kind = kind_of(path)
    if kind in _LOCKS:
        return Place.LOCK
    if kind in _STEPS:
        return Place.STEPS
    if kind == "notebook":
        return Place.NOTEBOOK
    return Place.DOCUMENT if kind in (None, "markdown") else Place.INSTALLED


def is_of_another_time(path: str) -> bool:
    """Return whether a file is a record of what was, is kept for one old version, made for tests, or copied from others."""
    return _ANOTHER_TIME.search(path) is not None
