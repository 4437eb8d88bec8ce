"""The errors that compatkb raises on purpose, one exit code per kind; every other exception is a bug."""

from typing import ClassVar

UNKNOWN = 7
"""The exit code where the data cannot tell."""


class CompatkbError(Exception):
    """Base of every deliberate error; `str()` is the one line that the user sees."""

    exit_code: ClassVar[int] = 2


class UsageError(CompatkbError):
    """The words of a call are wrong; the message says which and what would be right."""

    exit_code = 2


class NewerError(UsageError):
    """What was asked about is newer than the data, which therefore cannot tell."""

    exit_code = UNKNOWN


class ProblemsError(CompatkbError):
    """Base of the errors that carry every problem that was found, not only the first."""

    def __init__(self, problems: "tuple[str, ...]") -> None:
        super().__init__(problems)
        self.problems = problems

    def __str__(self) -> str:
        return "\n".join(self.problems)


class WordsError(ProblemsError, UsageError):
    """Several words of a call are wrong; each problem names one of them."""


class DataError(ProblemsError):
    """The data directory is missing or invalid."""

    exit_code = 3


class DocumentError(ProblemsError):
    """The markers of a document are wrong, or what they ask for; each problem names file and line."""

    exit_code = 2


class StaleError(CompatkbError):
    """A generated file or region is not what the data make of it now."""

    exit_code = 4


class UnavailableError(CompatkbError):
    """Something outside is needed and not to be had: disk, interpreter, network."""

    exit_code = 5


class NotListedError(UnavailableError):
    """An index answered, and has nothing of that name."""


class NoRequirementsError(CompatkbError):
    """An answer is none that a requirements file can install."""

    exit_code = 1


class UntoldError(NoRequirementsError):
    """The data cannot tell what a requirements file could install."""

    exit_code = UNKNOWN


class GaveUpError(CompatkbError):
    """The search ended at its budget without an answer."""

    exit_code = 6
