"""The Python interface: the engine of the command line, with types; docs/python.md shows it."""

import os
from collections.abc import Mapping, Sequence
from datetime import date
from time import process_time
from typing import TYPE_CHECKING

from compatkb.core.clock import Clock, current_day
from compatkb.engine.answer import Answer
from compatkb.engine.answer import resolve as answer_of
from compatkb.engine.stacks import Stack
from compatkb.errors import UsageError
from compatkb.request.lookup import find_product
from compatkb.request.parser import make_request
from compatkb.store.cache import locate
from compatkb.store.queries.products import ReleaseRecord, releases_of
from compatkb.store.reader import Snapshot
from compatkb.store.records import Product, Request

if TYPE_CHECKING:  # what reads files and texts is imported when it is asked
    from compatkb.check import CheckReport
    from compatkb.doctor.diagnose import Diagnosis


class KnowledgeBase:
    """A compiled knowledge base to ask; questions of one thread share what they look up.

    >>> KnowledgeBase().resolve({"torch": "2.4"}, device="xpu").verdict
    'does-not-work'
    """

    def __init__(self, data: str | os.PathLike[str] | None = None) -> None:
        """Open a data directory, or our own data; raises DataError where it is missing or invalid."""
        self.facts = Snapshot(locate(data))

    @property
    def data_date(self) -> date:
        """The newest day on which something in the data was seen."""
        return date.fromisoformat(self.facts.meta["data_date"])

    def request(
        self,
        versions: Mapping[str, str] | None = None,
        words: Sequence[str] = (),
        *,
        device: str | None = None,
        as_of: date | None = None,
        needs: Sequence[str] = (),
        route: str | None = None,
    ) -> Request:
        """Return a request: version words by product, words as on the command line, and features needed.

        Raises UsageError for what the data do not know; `as_of` is the day of the data unless given, `route` any.
        """
        options = [(find_product(self.facts, name).id, text) for name, text in (versions or {}).items()]
        clock = Clock(current_day(), as_of)
        return make_request(self.facts, options, words, (device,) if device else (), clock, needs, route)

    def resolve(
        self,
        versions: Mapping[str, str] | None = None,
        words: Sequence[str] = (),
        *,
        device: str | None = None,
        as_of: date | None = None,
        needs: Sequence[str] = (),
        route: str | None = None,
        seconds: float | None = None,
    ) -> Answer:
        """Return the answer to a request; raises UsageError, or GaveUpError when the search exceeds its budget.

        The budget is a number of steps, and `seconds` of processor time where they are given.
        """
        request = self.request(versions, words, device=device, as_of=as_of, needs=needs, route=route)
        if seconds is None:
            return answer_of(self.facts, request)
        end = process_time() + seconds
        return answer_of(self.facts, request, lambda: process_time() > end)

    def explain(self, *words: str, device: str | None = None, as_of: date | None = None) -> Answer:
        """Return whether versions go together: pins such as `torch==2.8.0`, and where they run (`B580`, `py3.12`, `xpu`).

        Raises UsageError for words that the data do not know, GaveUpError when the search exceeds its budget.
        """
        if not words:
            raise UsageError("name what should work together: pins, and where they run")
        return answer_of(self.facts, self.request(words=words, device=device, as_of=as_of))

    def reasons(self, answer: Answer) -> tuple[str, ...]:
        """Return why an answer is a no, a sentence each; empty for any other."""
        from compatkb.output.presenter import present

        return tuple(cause.message for cause in present(self.facts, answer).causes)

    def commands(self, stack: Stack) -> tuple[str, ...]:
        """Return the commands that install a stack, in their order, quoted for a POSIX shell; empty where none can."""
        from compatkb.output.commands import pip_commands
        from compatkb.output.presenter import present_stack

        return tuple(pip_commands(present_stack(self.facts, stack, self.request())))

    def check(self, *paths: str | os.PathLike[str], as_of: date | None = None) -> "CheckReport":
        """Return what is wrong with pins in files, and in files below folders, as `compatkb check` without settings.

        Raises UsageError for a file that is not there or that nothing reads, UnavailableError for one that cannot be read.
        """
        from compatkb.check import check, files, reads
        from compatkb.check.config import Settings
        from compatkb.check.document import CheckContext, TextDocument

        settings = Settings(os.curdir)
        read = [files.read(path) for path in files.find([os.fspath(path) for path in paths or (".",)], reads, settings)]
        documents = [item for item in read if isinstance(item, TextDocument)]
        context = CheckContext(self.facts, Clock(current_day(), as_of))
        return check(documents, context, settings, unread=[item for item in read if not isinstance(item, TextDocument)])

    def assert_compatible(self, *paths: str | os.PathLike[str], as_of: date | None = None) -> None:
        """Raise AssertionError with what is wrong where a check of files finds an error; for tests of projects."""
        from compatkb.core.findings import Severity
        from compatkb.output.findings import findings_text

        errors = tuple(finding for finding in self.check(*paths, as_of=as_of).findings if finding.level is Severity.ERROR)
        if errors:
            raise AssertionError(findings_text(errors))

    def diagnose(self, text: str) -> "Diagnosis":
        """Return what may be behind an error that a program printed, the likeliest cause first."""
        from compatkb.doctor.diagnose import diagnose

        return diagnose(self.facts, text, Clock(current_day()))

    def product(self, name: str) -> Product:
        """Return a product by id, distribution, import name or alias; raises UsageError for one that the data do not know."""
        return find_product(self.facts, name)

    def releases(self, name: str) -> tuple[ReleaseRecord, ...]:
        """Return the releases of a product, newest first, with days and sources; raises UsageError as `product` does."""
        return releases_of(self.facts, self.product(name).id)

    def matrix(self, name: str, *, device: str | None = None, as_of: date | None = None) -> str:
        """Return as text which releases have wheels for which Pythons; raises UsageError for a product without wheels."""
        from compatkb.output import python_matrix
        from compatkb.output.screen import text_of

        day = Clock(current_day(), as_of).day
        table = python_matrix.python_matrix(self.facts, self.product(name), day, device)
        return text_of(python_matrix.matrix_lines(table))

    def timeline(self, *vendors: str, as_of: date | None = None) -> str:
        """Return the events of some vendors, or of all, in order of time as text; raises UsageError."""
        from compatkb.output import timeline

        day = Clock(current_day(), as_of).day
        return timeline.text(timeline.select(self.facts, day, vendors=vendors))
