"""Declares the rules and the registries by which checkers name theirs; the code of each rule is in `markdown` or `project`."""

import re
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Generic, TypeVar

from compatkb.core.findings import Severity
from compatkb.core.record import NamedTuple
from compatkb.errors import UnavailableError
from compatkb.parsers.registry import kind_of

Check = TypeVar("Check", bound=Callable[..., object])
_PACKAGE = Path(__file__).parent.parent
_PAGES = (_PACKAGE / "_data" / "check.md", _PACKAGE.parent.parent / "docs" / "check.md")


class FileRole(StrEnum):
    """Kinds of files by who reads them; how far rules have proved themselves is counted by these."""

    INSTALLED = "installed"  # an installer reads it, or a build of an image
    LOCK = "lock"  # of all platforms and extras at once, so what it has need not meet
    STEPS = "steps"  # scripts, services: what runs depends on more than the file
    PIPELINE = "pipeline"  # what runs is tested there, on purpose, and a pipeline that fails says so itself
    NOTEBOOK = "notebook"
    DOCUMENT = "document"


_LOCKS = ("uv.lock", "poetry.lock")
_STEPS = ("shell", "batch", "makefile", "compose", "devcontainer", "yaml")
_PIPELINES = ("github", "gitlab")
_VERSION = r"v?\d+(?:\.\d+)+"
_GONE = "deprecated|legacy|obsolete|outdated|unmaintained|unused|old|bak|backups?|attic|graveyard|orig"
_PASSED_OVER = (
    rf"(?:^|/)(?:(?:{_VERSION}|archived?[^/]*|(?:[^/]*[-_.])?(?:{_GONE})(?:[-_.][^/]*)?|deprecated[^/]*|retired[^/]*|blogs?|_?posts|news|"
    r"release[-_ ]?notes?|releases?|versioned_docs|third[-_]?part(?:y|ies)|vendor(?:ed)?|"
    r"torchhub|"
    r"wandb/(?:offline-)?run-[^/]*|mlruns|"  # what trackers of experiments record of a run
    r"_*fixtures?_*|test[-_]?(?:data|files|resources|assets)|snapshots|ISSUE_TEMPLATE|"
    r"tests?/(?:[^/]+/)*(?:data|files|resources|assets|inputs|projects|samples|cases))/"
    rf"|(?:[^/]*[-_.])?(?:{_GONE})(?:[-_.][^/]*)?$"
    r"|(?<=/)[\w.-]+[-_](?:main|master)/"  # an unpacked archive of another repository
    r"|(?:\w+[-_.])?(?:change[-_]?log|changes|history|news|releases?|release[-_ ]?notes?)[^/]*\.(?:md|markdown)$"
    r"|[^/]*\{\{|(?:^|/)(?:cookiecutters?|scaffolds?)/|[^/]*\.(?:j2|jinja2?|tmpl|tpl|template|mustache)$)"
)
"""Compiled for the first finding."""


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
    return re.search(_PASSED_OVER, inside, re.IGNORECASE) is not None


class CheckRule(NamedTuple):
    """A rule that files of users are checked against; `docs/check.md` has a heading for each."""

    id: str
    level: Severity
    summary: str
    optional: bool = False  # off unless the settings give it a level
    off_in: tuple[FileRole, ...] = ()  # places where it is off unless the settings give it a level

    def is_on(self, path: str) -> bool:
        """Return whether the rule speaks of a file by itself: where it was seldom wrong and mostly useful."""
        return not self.optional and (not self.off_in or place_of(path) not in self.off_in)


ENDED = CheckRule(
    "end-of-life",
    Severity.WARNING,
    "a version, or what an image holds, is out of support or soon will be",
    off_in=(FileRole.LOCK, FileRole.PIPELINE),
)
UNLISTED = CheckRule("image-tag-unlisted", Severity.WARNING, "an image tag that no listing known to the data ever had")


class Registry(Generic[Check]):
    """The checks of one kind of subject; a new check is a function with `@registry.rule(RULE)` in any imported module."""

    def __init__(self) -> None:
        self.checks: list[Check] = []
        self.rules: list[CheckRule] = []

    def rule(self, *rules: CheckRule) -> Callable[[Check], Check]:
        """Return what registers a check, with the rules that it reports."""

        def register(check: Check) -> Check:
            self.checks.append(check)
            self.rules += [rule for rule in rules if rule not in self.rules]
            return check

        return register


def explanation(rule: CheckRule) -> str:
    """Return what docs/check.md says of a rule: what, why, an example, how to mend it; raises UnavailableError without it."""
    path = next((path for path in _PAGES if path.exists()), None)
    if path is None:
        raise UnavailableError("this installation lacks docs/check.md, which describes the rules")
    section = path.read_text("utf-8").partition(f"\n### `{rule.id}`\n")[2].partition("\n##")[0]
    return f"{rule.id} ({rule.level}): {rule.summary}\n\n{section.strip().replace('**', '')}\n"
