"""Where a finding stands: what kind of file, and which files are not judged."""

import re
from enum import StrEnum

from compatkb.parsers.file_types import kind_of


class FileRole(StrEnum):
    """Kinds of files by who reads them; how far rules have proved themselves is counted by these."""

    INSTALLED = "installed"  # an installer reads it, or a build of an image
    LOCK = "lock"  # of all platforms and extras at once, so what it has need not meet
    STEPS = "steps"  # scripts, services: what runs depends on more than the file
    PIPELINE = "pipeline"  # what runs is tested there, on purpose, and a pipeline that fails says so itself
    NOTEBOOK = "notebook"
    DOCUMENT = "document"


_LOCKS = ("uv.lock", "poetry.lock", "pdm.lock")
_STEPS = ("shell", "batch", "makefile", "compose", "devcontainer", "yaml")
_PIPELINES = ("github", "gitlab", "azure")
_VERSION = r"v?\d+(?:\.\d+)+"
_GONE = "deprecated|legacy|obsolete|outdated|unmaintained|unused|old|bak|backups?|attic|graveyard|orig"
_PASSED_OVER = re.compile(
    rf"(?:^|/)(?:(?:{_VERSION}|archived?[^/]*|(?:[^/]*[-_.])?(?:{_GONE})(?:[-_.][^/]*)?|deprecated[^/]*|retired[^/]*|blogs?|_?posts|news|"
    r"release[-_ ]?notes?|releases?|versioned_docs|third[-_]?part(?:y|ies)|vendor(?:ed)?|"
    r"torchhub|"
    r"wandb/(?:offline-)?run-[^/]*|mlruns|"  # what trackers of experiments record of a run
    r"_*fixtures?_*|test[-_]?(?:data|files|resources|assets)|snapshots|ISSUE_TEMPLATE|"
    r"tests?/(?:[^/]+/)*(?:data|files|resources|assets|inputs|projects|samples|cases))/"
    rf"|(?:[^/]*[-_.])?(?:{_GONE})(?:[-_.][^/]*)?$"
    r"|(?<=/)[\w.-]+[-_](?:main|master)/"  # an unpacked archive of another repository
    r"|(?:\w+[-_.])?(?:change[-_]?log|changes|history|news|releases?|release[-_ ]?notes?)[^/]*\.(?:md|rst|html?|markdown)$"
    r"|[^/]*\{\{|(?:^|/)(?:cookiecutters?|scaffolds?)/|[^/]*\.(?:j2|jinja2?|tmpl|tpl|template|mustache)$)",
    re.IGNORECASE,
)


def place_of(path: str) -> FileRole:
    """Return what kind of file a path is, by its name."""
    kind = kind_of(path)
    if kind in _LOCKS:
        return FileRole.LOCK
    if kind in _STEPS:
        return FileRole.STEPS
    if kind in _PIPELINES:
        return FileRole.PIPELINE
    if kind == "notebook":
        return FileRole.NOTEBOOK
    return FileRole.DOCUMENT if kind in (None, "markdown") else FileRole.INSTALLED


def is_passed_over(path: str) -> bool:
    """Return whether a file is a record of what was, kept for one old version, made for tests, a copy, or to be filled in."""
    inside = path.rpartition("/")[2] if re.match(r"/|\w:", path) else path  # where it lies on a machine says nothing
    return _PASSED_OVER.search(inside) is not None
