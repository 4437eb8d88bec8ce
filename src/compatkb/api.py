"""The Python interface: the engine of the command line, with types; docs/python.md shows it."""

import os
from collections.abc import Callable, Iterable, Mapping
from datetime import date, datetime
from functools import wraps
from threading import RLock
from time import process_time
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar

from compatkb.core.clock import Clock, current_day
from compatkb.engine.answer import Answer
from compatkb.engine.answer import resolve as answer_of
from compatkb.engine.stacks import Stack, SupportLink
from compatkb.errors import DataError, UnavailableError, UsageError
from compatkb.request.lookup import find_product
from compatkb.request.parser import make_request, parse_day
from compatkb.store.cache import locate
from compatkb.store.connection import DatabaseError
from compatkb.store.queries.products import ReleaseRecord
from compatkb.store.reader import Snapshot
from compatkb.store.records import Product, Request

if TYPE_CHECKING:  # what reads files and texts is imported when it is asked
    from compatkb.check import CheckReport
    from compatkb.doctor.diagnose import Diagnosis
    from compatkb.output.json_types import AnswerJson

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")
_MOST_LINES = 10


class ShownAnswer(Answer):
    """What compatkb says to a request; `stacks` best first. Its `repr` is the beginning of its first screen."""

    _base: "KnowledgeBase | None" = None

    def to_dict(self) -> "AnswerJson":
        """Return the answer as `compatkb resolve --format json` prints it; docs/json.md describes it."""
        return self._knowing().payload(self)

    def _knowing(self) -> "KnowledgeBase":
        if self._base is None:
            raise UsageError("this answer was made by hand; those that a KnowledgeBase returns can show themselves")
        return self._base

    def __reduce__(self) -> str | tuple[object, ...]:
        raise UsageError("an answer cannot be pickled; keep what its to_dict() returns")

    def __hash__(self) -> int:
        """Return the number of what was asked: stacks hold what has none."""
        return hash(self.request)

    def __repr__(self) -> str:
        """Return at most ten lines for people."""
        lines = [super().__repr__()] if self._base is None else self._base.screen(self).splitlines()
        return "\n".join(lines if len(lines) <= _MOST_LINES else [*lines[: _MOST_LINES - 1], "..."])

    def _repr_html_(self) -> str:
        """Return the whole first screen, as notebooks show it."""
        from html import escape

        return f"<pre>{escape(self._knowing().screen(self))}</pre>"


def _alone(
    method: Callable[Concatenate["KnowledgeBase", Arguments], Result],
) -> Callable[Concatenate["KnowledgeBase", Arguments], Result]:
    """Let one thread at a time ask, since questions share what they look up; name what cannot be read as errors do."""

    @wraps(method)
    def asked(self: "KnowledgeBase", /, *arguments: Arguments.args, **options: Arguments.kwargs) -> Result:
        with self._lock:
            try:
                return method(self, *arguments, **options)
            except DatabaseError as error:
                raise DataError((f"the data cannot be read: {error}",)) from None
            except OSError as error:
                raise UnavailableError(f"{error.filename}: cannot be read: {error.strerror}") from None

    return asked


class KnowledgeBase:
    """A compiled knowledge base to ask; usable from several threads, whose questions share what they look up.

    >>> KnowledgeBase().resolve({"torch": "2.4"}, device="xpu").verdict
    'does-not-work'
    """

    def __init__(self, data: str | os.PathLike[str] | None = None) -> None:
        """Open a data directory, or our own data; raises DataError where it is missing or invalid."""
        if data is not None and not isinstance(data, str | os.PathLike):
            raise UsageError(f"{data!r} is no data directory; give its path")
        self.facts = Snapshot(locate(data))
        self._lock = RLock()

    @property
    def data_date(self) -> date:
        """The newest day on which something in the data was seen."""
        return date.fromisoformat(self.facts.meta["data_date"])

    @_alone
    def request(
        self,
        versions: Mapping[str, str] | str | None = None,
        words: Iterable[str] = (),
        *more: str,
        device: str | None = None,
        as_of: date | str | None = None,
        needs: Iterable[str] = (),
        route: str | None = None,
    ) -> Request:
        """Return a request: version words by product or words as on the command line, and features needed.

        `("torch==2.8", "xpu")` and `({"torch": "2.8"}, ["xpu"])` are both well; a word alone need be in no list.
        Raises UsageError for what the data do not know; `as_of` is the day of the data unless given, `route` any.
        """
        named = versions if isinstance(versions, Mapping) else {}
        first = () if isinstance(versions, Mapping) or versions is None else (versions,)
        pins = [(find_product(self.facts, _text(name)).id, _version(name, text)) for name, text in named.items()]
        asked = tuple(_text(word) for word in (*first, *_several(words), *more))
        devices = () if device is None else (_text(device),)
        wanted = tuple(map(_text, _several(needs)))
        clock = Clock(current_day(), _day(as_of))
        return make_request(self.facts, pins, asked, devices, clock, wanted, None if route is None else _text(route))

    @_alone
    def resolve(
        self,
        versions: Mapping[str, str] | str | None = None,
        words: Iterable[str] = (),
        *more: str,
        device: str | None = None,
        as_of: date | str | None = None,
        needs: Iterable[str] = (),
        route: str | None = None,
        seconds: float | None = None,
    ) -> ShownAnswer:
        """Return the answer to a request; raises UsageError, or GaveUpError when the search exceeds its budget.

        The request is what `request` takes: `resolve("torch==2.8", "xpu")`, or `resolve({"torch": "2.8"}, device="xpu")`.
        The budget is a number of steps, and `seconds` of processor time where they are given.
        """
        request = self.request(versions, words, *more, device=device, as_of=as_of, needs=needs, route=route)
        if seconds is None:
            return self._own(answer_of(self.facts, request))
        if not isinstance(seconds, int | float) or not seconds >= 0:
            raise UsageError(f"{seconds!r} is no number of seconds")
        end = process_time() + seconds
        return self._own(answer_of(self.facts, request, lambda: process_time() > end))

    @_alone
    def explain(
        self,
        versions: Mapping[str, str] | str | None = None,
        words: Iterable[str] = (),
        *more: str,
        device: str | None = None,
        as_of: date | str | None = None,
    ) -> ShownAnswer:
        """Return whether versions go together: pins such as `torch==2.8.0`, and where they run (`B580`, `py3.12`, `xpu`).

        Raises UsageError for words that the data do not know, GaveUpError when the search exceeds its budget.
        """
        if not versions and not words and not more:
            raise UsageError("name what should work together: pins, and where they run")
        return self._own(answer_of(self.facts, self.request(versions, words, *more, device=device, as_of=as_of)))

    def _own(self, found: Answer) -> ShownAnswer:
        """Return an answer that can show itself, and that works out what vouches for its stacks alone, too."""

        def guarded(stack: Stack) -> Stack:
            return stack._replace(trace=lambda: self._trace(stack))

        stacks = tuple(map(guarded, found.stacks))
        near = tuple(each._replace(stack=guarded(each.stack)) for each in found.nearest)
        beside = tuple(each._replace(stack=guarded(each.stack)) for each in found.beside)
        answer = ShownAnswer(*found._replace(stacks=stacks, nearest=near, beside=beside))
        answer._base = self
        return answer

    @_alone
    def _trace(self, stack: Stack) -> tuple[SupportLink, ...]:
        return stack.trace()

    @_alone
    def payload(self, answer: Answer) -> "AnswerJson":
        """Return an answer as `compatkb resolve --format json` prints it."""
        from json import loads

        from compatkb.output.payload import answer_json
        from compatkb.output.presenter import present

        plain: AnswerJson = loads(answer_json(present(self.facts, _of(Answer, answer))))  # text and numbers alone
        return plain

    @_alone
    def screen(self, answer: Answer) -> str:
        """Return an answer as `compatkb resolve` prints it."""
        from compatkb.output.presenter import present
        from compatkb.output.text import answer_text

        return answer_text(present(self.facts, _of(Answer, answer)))

    @_alone
    def reasons(self, answer: Answer) -> tuple[str, ...]:
        """Return why an answer is a no, a sentence each; empty for any other."""
        from compatkb.output.presenter import present

        return tuple(cause.message for cause in present(self.facts, _of(Answer, answer)).causes)

    @_alone
    def commands(self, stack: Stack) -> tuple[str, ...]:
        """Return the commands that install a stack, in their order, quoted for a POSIX shell; empty where none can."""
        from compatkb.output.commands import pip_commands
        from compatkb.output.presenter import present_stack

        return tuple(pip_commands(present_stack(self.facts, _of(Stack, stack), self.request())))

    @_alone
    def check(self, *paths: str | os.PathLike[str], as_of: date | str | None = None) -> "CheckReport":
        """Return what is wrong with pins in files, and in files below folders, as `compatkb check` without settings.

        Raises UsageError for a file that is not there or that nothing reads, UnavailableError for one that cannot be read.
        """
        from compatkb.check import check, files, reads
        from compatkb.check.config import Settings
        from compatkb.check.document import CheckContext, TextDocument

        settings = Settings(os.curdir)
        read = [files.read(path) for path in files.find([_path(path) for path in paths or (".",)], reads, settings)]
        documents = [item for item in read if isinstance(item, TextDocument)]
        context = CheckContext(self.facts, Clock(current_day(), _day(as_of)))
        return check(documents, context, settings, unread=[item for item in read if not isinstance(item, TextDocument)])

    def assert_compatible(self, *paths: str | os.PathLike[str], as_of: date | str | None = None) -> None:
        """Raise AssertionError with what is wrong where a check of files finds an error; for tests of projects."""
        from compatkb.core.findings import Severity
        from compatkb.output.findings import findings_text

        errors = tuple(finding for finding in self.check(*paths, as_of=as_of).findings if finding.level is Severity.ERROR)
        if errors:
            raise AssertionError(findings_text(errors))

    @_alone
    def diagnose(self, text: str) -> "Diagnosis":
        """Return what may be behind an error that a program printed, the likeliest cause first."""
        from compatkb.doctor.diagnose import diagnose

        return diagnose(self.facts, _text(text), Clock(current_day()))

    @_alone
    def product(self, name: str) -> Product:
        """Return a product by id, distribution, import name or alias; raises UsageError for one that the data do not know."""
        return find_product(self.facts, _text(name))

    @_alone
    def releases(self, name: str) -> tuple[ReleaseRecord, ...]:
        """Return the releases of a product, newest first, with days and sources; raises UsageError as `product` does."""
        return self.facts.releases_of(self.product(name).id)

    @_alone
    def matrix(self, name: str, *, device: str | None = None, as_of: date | str | None = None) -> str:
        """Return as text which releases have wheels for which Pythons; raises UsageError for a product without wheels."""
        from compatkb.output import python_matrix
        from compatkb.output.screen import text_of

        day = Clock(current_day(), _day(as_of)).day
        table = python_matrix.python_matrix(self.facts, self.product(name), day, device)
        return text_of(python_matrix.matrix_lines(table, everything=True))

    @_alone
    def timeline(self, *vendors: str, as_of: date | str | None = None) -> str:
        """Return the events of some vendors, or of all, in order of time as text; raises UsageError."""
        from compatkb.output import timeline

        day = Clock(current_day(), _day(as_of)).day
        from compatkb.output.screen import text_of

        return text_of(timeline.text(timeline.select(self.facts, day, vendors=vendors)))


def _text(value: object) -> str:
    """Return what has to be text; raises UsageError for anything else."""
    if not isinstance(value, str):
        raise UsageError(f"{value!r} is no text; write it in quotes")
    return value


def _version(product: object, value: object) -> str:
    if not isinstance(value, str):
        raise UsageError(f"the version of {product} is text, not {value!r}: 2.10 and '2.10' are two things")
    return value


def _several(words: object) -> tuple[object, ...]:
    """Return a word alone, or each of several; raises UsageError for what is neither."""
    if isinstance(words, str):
        return (words,)
    if not isinstance(words, Iterable):
        raise UsageError(f"{words!r} is no word, and no list of words")
    return tuple(words)


def _path(value: object) -> str:
    if not isinstance(value, str | os.PathLike):
        raise UsageError(f"{value!r} is no path")
    return str(os.fspath(value))


def _day(value: object) -> date | None:
    """Return a day that is a date or text; raises UsageError for anything else."""
    if value is None or (isinstance(value, date) and not isinstance(value, datetime)):
        return value
    return value.date() if isinstance(value, datetime) else parse_day(_text(value))


def _of(kind: type[Result], value: object) -> Result:
    if not isinstance(value, kind):
        raise UsageError(f"this takes what an answer holds, not {type(value).__name__}")
    return value
