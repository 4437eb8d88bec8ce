"""The finding: what is wrong, where, and the edit that fixes it; shared by every command that checks something."""

from enum import StrEnum

from compatkb.core.record import NamedTuple


class Severity(StrEnum):
    """How much a finding matters, from the least."""

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"

    def reaches(self, least: "Severity") -> bool:
        """Return whether this is at least `least`."""
        order = list(Severity)
        return order.index(self) >= order.index(least)


class Edit(NamedTuple):
    """A replacement that mends: `text` in the place of the characters from `start` to `end` of a text."""

    start: int
    end: int
    text: str


WAITS = "take out what uses it first"
"""What mends a finding that others have to go before; they are shown first."""


class Finding(NamedTuple):
    """One thing that is wrong; `line` and `column` count from 1, 0 where a file as a whole is meant."""

    rule: str
    level: Severity
    path: str
    line: int
    message: str
    column: int | None = None
    fix: str | None = None  # the command that mends it, or what to write
    sources: tuple[str, ...] = ()  # what the judgement rests on, as people read it
    subject: str = ""  # the record, named so that the name survives edits elsewhere in the file
    end_column: int | None = None  # past its last character, where it ends on `line`
    edits: tuple[Edit, ...] = ()  # what mends it for certain
    about: str = ""  # of findings of one rule about one thing one is shown, which names the others
    brief: str = ""  # how that one names this one
    environment: str = ""  # what stays where `fix` is a set of pins, one a line, that mends several findings together

    @property
    def order(self) -> tuple[object, ...]:
        """Return the sort key of reports: by file, then down the file."""
        return (self.path, self.line, self.column or 0, self.rule, self.message)


def worst(findings: "tuple[Finding, ...]", least: Severity) -> bool:
    """Return whether any finding is at or above `least`."""
    return any(finding.level.reaches(least) for finding in findings)
