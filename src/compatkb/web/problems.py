"""Problem documents (RFC 9457): what is wrong with a request to the API, for programs."""

from typing import NamedTuple

from compatkb.errors import CompatkbError, GaveUpError, ProblemsError, UnavailableError, UsageError


class ProblemDetails(NamedTuple):
    """A problem: the status of the response, its kind in words, what is wrong, and each thing that is."""

    status: int
    title: str
    detail: str
    problems: tuple[str, ...] = ()

    def document(self) -> dict[str, object]:
        """Return the members of the problem document."""
        members: dict[str, object] = {"type": "about:blank", "title": self.title, "status": self.status, "detail": self.detail}
        return {**members, "problems": list(self.problems)} if self.problems else members


def problem_of(error: CompatkbError) -> ProblemDetails:
    """Return the problem that an error is."""
    problems = error.problems if isinstance(error, ProblemsError) else ()
    if isinstance(error, UsageError):
        return ProblemDetails(400, "The question cannot be read", str(error), problems)
    if isinstance(error, GaveUpError):
        return ProblemDetails(503, "The search took too long", str(error), problems)
    if isinstance(error, UnavailableError):
        return ProblemDetails(503, "Something needed is not available", str(error), problems)
    return ProblemDetails(500, "The data are invalid", str(error), problems)
