"""The errors that compatkb raises on purpose, one exit code per kind; every other exception is a bug."""

from typing import ClassVar


class CompatkbError(Exception):
    """Base of every deliberate error; `str()` is the one line that the user sees."""

    exit_code: ClassVar[int] = 2


class UsageError(CompatkbError):
    """The words of a call are wrong; the message says which and what would be right."""

    exit_code = 2


class DataError(CompatkbError):
    """The data directory is missing or invalid; carries every problem that was found, not only the first."""

    exit_code = 3

    def __init__(self, problems: "tuple[str, ...]") -> None:
        super().__init__(problems)
        self.problems = problems

    def __str__(self) -> str:
        return "\n".join(self.problems)


class UnavailableError(CompatkbError):
    """Something outside is needed and not to be had: disk, interpreter, network."""

    exit_code = 5


class GaveUpError(CompatkbError):
    """The search ended at its budget without an answer."""

    exit_code = 6
