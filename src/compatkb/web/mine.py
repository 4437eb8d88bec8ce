"""Check mine: a pasted text as `check`, `migrate` or `diagnose` judge it, with what is said of each of its lines."""

import re
from collections.abc import Iterable, Mapping
from difflib import SequenceMatcher
from functools import partial

from compatkb.check import CheckReport, check, reads
from compatkb.check.document import CheckContext, ProjectScope, TextDocument
from compatkb.check.fixing import Judge, fixed
from compatkb.core.clock import Clock
from compatkb.core.findings import Finding, Severity
from compatkb.core.record import NamedTuple
from compatkb.errors import UsageError
from compatkb.migrate.project import migrate
from compatkb.output.findings import count_text
from compatkb.parsers.guessing import guessed_name
from compatkb.store.reader import Snapshot
from compatkb.web.screens import Part, parts_of

MOST_CHARACTERS = 200_000
ERROR = "error.txt"
KINDS_OF_TEXT = ("requirements.txt", "Dockerfile", "pyproject.toml", "environment.yml", "README.md", "install.sh", ERROR)
"""The names that the page offers."""
_SIGNS = {Severity.ERROR: "✗", Severity.WARNING: "!", Severity.INFO: "i"}
_FAILURES = (
    "Traceback (most recent call last)",
    "Error: ",
    "error: ",
    "Exception: ",
    "ERROR: ",
    "RuntimeError",
    "ImportError",
)


class MineLine(NamedTuple):
    """A line of the text with what is found on it; `tone` is that of the gravest finding."""

    number: int
    text: str
    findings: tuple[Finding, ...] = ()

    @property
    def level(self) -> str:
        """The gravest level found on it, empty for none."""
        return max((one.level for one in self.findings), key=list(Severity).index) if self.findings else ""

    @property
    def sign(self) -> str:
        """The sign of that level."""
        return _SIGNS[Severity(self.level)] if self.level else ""


class Mended(NamedTuple):
    """The text after the edits of one way: its rows, `-` and `+` for what goes and comes, and what is still found in it."""

    title: str
    rows: tuple[tuple[str, str], ...]
    text: str
    left: str


class Mine(NamedTuple):
    """What a page shows of a pasted text; for an error `screen` is what `diagnose` prints."""

    name: str
    lines: tuple[MineLine, ...]
    counts: str
    whole: tuple[Finding, ...] = ()  # about no line
    sets: tuple[tuple[str, str], ...] = ()  # places, and what mends them together
    ways: tuple[Mended, ...] = ()
    screen: tuple[Part, ...] = ()
    command: str = ""


def check_text(
    facts: Snapshot, clock: Clock, text: str, name: str = "", device: str = "", system: str = ""
) -> tuple[CheckReport, CheckContext]:
    """Return what `check` says of a text that would be in a file of that name, and in what context; raises UsageError."""
    name = name or guessed_name(text)
    if not reads(name):
        raise UsageError(f"{name!r} is no name of a file that is checked, such as requirements.txt, Dockerfile, README.md")
    if device and device not in facts.served_devices():
        raise UsageError(f"unknown device {device!r}; known: {', '.join(sorted(facts.served_devices()))}")
    if system and not facts.word("os", system):
        raise UsageError(f"unknown operating system {system!r}; see `compatkb list os`")
    asked = CheckContext(facts, clock, scope=ProjectScope(device or None, (system,) if system else ()))
    return check([TextDocument(name, text)], asked), asked


def judge_text(facts: Snapshot, clock: Clock, text: str, name: str = "", device: str = "", system: str = "") -> Mine:
    """Return what is said of a text; `name` is that of its file, `error.txt` for what a program printed.

    Without a name it is told from the text. Raises UsageError for a name or a scope that is not known, and for a long text.
    """
    text = text.replace("\r\n", "\n")
    if len(text) > MOST_CHARACTERS:
        raise UsageError(f"the text is longer than {MOST_CHARACTERS} characters; `compatkb check` reads files of any length")
    name = name or (ERROR if any(sign in text for sign in _FAILURES) and "\nFROM " not in f"\n{text}" else guessed_name(text))
    if name == ERROR:
        return _of_error(facts, clock, text)
    return _of_file(TextDocument(name, text), *check_text(facts, clock, text, name, device, system))


def _of_error(facts: Snapshot, clock: Clock, text: str) -> Mine:
    from compatkb.doctor.diagnose import diagnose
    from compatkb.output.diagnosis import diagnosis_lines, present_diagnosis

    found = diagnose(facts, text, clock)
    screen = parts_of(diagnosis_lines(present_diagnosis(facts, found, clock.day)))
    hits = {hit.line for one in found.candidates[:1] for hit in one.hits}
    first = Finding("", Severity.ERROR if found.proven else Severity.WARNING, ERROR, 0, "")
    lines = [
        MineLine(n, line, (first._replace(message=found.candidates[0].title),) if n in hits else ())
        for n, line in enumerate(text.splitlines(), 1)
    ]
    return Mine(ERROR, tuple(lines), "", screen=tuple(screen), command="compatkb diagnose error.txt")


def _of_file(document: TextDocument, report: CheckReport, asked: CheckContext) -> Mine:
    judge: Judge = partial(check, context=asked)
    by_line: dict[int, list[Finding]] = {}
    for finding in report.findings:
        by_line.setdefault(finding.line, []).append(finding)
    lines = [MineLine(n, line, tuple(by_line.get(n, ()))) for n, line in enumerate(document.text.splitlines(), 1)]
    sets: dict[tuple[str, str], list[int]] = {}
    for finding in report.findings:
        if finding.environment and finding.fix:
            sets.setdefault((finding.environment, finding.fix), []).append(finding.line)
    leaving: Judge = partial(migrate, asked=asked, device=asked.scope.device)
    ways = [
        _mended("smallest change", document, report, judge, judge),
        _mended("without what has ended", document, None, leaving, judge),
    ]
    known = {document.text}
    told = []
    if ways[0].text == document.text and (moved := _pinned(document, sets)) != document:
        after = judge([moved])
        if _weight(after) < _weight(report):  # what is mended together is written out where that is all
            ways[0] = _mended("smallest change", document, after, judge, judge, moved)
    for way in ways:
        if way.text not in known:
            known.add(way.text)
            told.append(way)
    counts = count_text(report.findings) if report.findings else "no findings"
    places = tuple(
        (f"line {', '.join(dict.fromkeys(map(str, at)))}: {environment}", fix) for (environment, fix), at in sets.items()
    )
    return Mine(
        document.path, tuple(lines), counts, tuple(by_line.get(0, ())), places, tuple(told),
        command=f"compatkb check {document.path}",
    )  # fmt: skip


def _weight(report: CheckReport) -> tuple[int, int]:
    """Return how many errors and how many findings a text has."""
    return sum(finding.level == Severity.ERROR for finding in report.findings), len(report.findings)


def _pinned(document: TextDocument, sets: Mapping[tuple[str, str], Iterable[int]]) -> TextDocument:
    """Return a text with the pins of what is mended together, in the lines that name their packages."""
    lines = document.text.splitlines(keepends=True)
    for (_, fix), at in sets.items():
        for pin in (line.split()[0] for line in fix.splitlines() if "==" in line):
            name = re.sub("[-_.]+", "[-_.]+", re.sub(r"[^\w.-].*", "", pin))
            named = re.compile(rf"(?<![\w.-]){name}(?:\s*[<>=!~]=?\s*[^\s;,\"'\\#]+,?)+", re.IGNORECASE)
            for number in at:
                lines[number - 1] = named.sub(pin, lines[number - 1])
    return TextDocument(document.path, "".join(lines))


def _mended(
    title: str,
    document: TextDocument,
    report: CheckReport | None,
    edit: Judge,
    judge: Judge,
    begun: TextDocument | None = None,
) -> Mended:
    """Return a text, or one that is begun, with every edit of one judge in place, and what the other still finds in it."""
    outcome = fixed(report or edit([document]), [begun or document], edit)
    after = outcome.documents[document.path]
    left = judge([after]).findings
    said = f"{count_text(left)} left" if left else "no findings left"
    return Mended(title, tuple(_rows(document.text, after.text)), after.text, said)


def _rows(before: str, after: str) -> Iterable[tuple[str, str]]:
    """Yield the lines of two texts, with the sign of each."""
    old, new = before.splitlines(), after.splitlines()
    for what, first, last, begin, end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if what == "equal":
            yield from ((" ", line) for line in old[first:last])
        else:
            yield from (("-", line) for line in old[first:last])
            yield from (("+", line) for line in new[begin:end])
