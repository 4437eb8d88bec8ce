"""The rules that files are checked against, and the registries by which checks name the rules that they report."""

from collections.abc import Callable
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

from compatkb.check.places import FileRole, place_of
from compatkb.core.findings import Severity
from compatkb.errors import UnavailableError

Check = TypeVar("Check", bound=Callable[..., object])
_PACKAGE = Path(__file__).parent.parent
_PAGES = (_PACKAGE / "_data" / "check.md", _PACKAGE.parent.parent / "docs" / "check.md")


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

    @property
    def anchor(self) -> str:
        """Where the rule is described."""
        return f"docs/check.md#{self.id}"


ENDED = CheckRule(
    "end-of-life",
    Severity.WARNING,
    "a version, or what an image holds, is out of support or soon will be",
    off_in=(FileRole.LOCK, FileRole.PIPELINE),
)
LIBRARY_ENDED = CheckRule("end-of-life-library", Severity.INFO, "a library, such as NumPy, is out of support", optional=True)
UNLISTED = CheckRule("image-tag-unlisted", Severity.WARNING, "an image tag that no listing known to the data ever had")
GONE = CheckRule("image-tag-gone", Severity.INFO, "an image tag that is not listed any more, or not yet", optional=True)


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
