"""The statements that parsers return: typed and frozen, each with its position, group and step.

A *group* is what ends up in one environment: the requirements of an extra, a stage of a Dockerfile, a job with one
combination of its matrix, one branch of a script. A *step* is one run of an installer; what a file only declares has
the step 0, and everything of one step is chosen together.
"""

import re
from collections.abc import Iterable
from enum import StrEnum
from functools import cached_property

from compatkb.core.record import NamedTuple
from compatkb.core.text_position import Place

MAIN = ""
"""The group that a file has without naming one."""


class RequirementRole(StrEnum):
    """What a requirement is for."""

    INSTALL = "install"
    CONSTRAINT = "constraint"
    OVERRIDE = "override"  # it stands for what anything else asks of its package
    LOCKED = "locked"
    BUILD = "build"


class Requirement(NamedTuple):
    """A package that is asked for; `specifier` is PEP 440 whatever the file's own notation."""

    place: Place
    text: str
    name: str  # normalised
    group: str = MAIN
    step: int = 0
    derived: bool = False
    specifier: str = ""
    extras: tuple[str, ...] = ()
    marker: str | None = None
    url: str | None = None  # a direct reference instead of a version
    hashed: bool = False
    role: RequirementRole = RequirementRole.INSTALL
    tool: str = "pip"
    only_index: str | None = None  # the one index that may serve it: an address, or the name of an IndexUse
    unknown: bool = False  # the version is there, but only a run would tell it
    lost: str | None = None  # what a shell takes for a redirection although a bound was meant


class IndexUse(NamedTuple):
    """An index that installers are told to ask; `style` is index-url, extra-index-url, find-links or named."""

    place: Place
    text: str
    url: str
    style: str
    group: str = MAIN
    step: int = 0
    derived: bool = False
    name: str | None = None
    explicit: bool = False  # asked for the packages that name it alone
    of_pip: bool = False  # a setting of `uv pip`, which neither `uv lock` nor `uv sync` reads
    of_tool: str = ""  # the one tool that reads it: a variable of pip's is nothing to uv


class ImageUse(NamedTuple):
    """A container image that is used; `unknown` where its tag depends on what only a run would tell."""

    place: Place
    text: str
    repository: str
    group: str = MAIN
    step: int = 0
    derived: bool = False
    tag: str | None = None
    digest: str | None = None
    unknown: bool = False


class PythonUse(NamedTuple):
    """A Python: one that is run (`runs`), or the range that a project declares."""

    place: Place
    text: str
    specifier: str
    group: str = MAIN
    step: int = 0
    derived: bool = False
    runs: bool = False


class SystemUse(NamedTuple):
    """The operating system on which a group runs, as the file names it: `ubuntu-22.04`."""

    place: Place
    text: str
    name: str
    group: str = MAIN
    step: int = 0
    derived: bool = False


class SystemPackage(NamedTuple):
    """A package of the operating system."""

    place: Place
    text: str
    name: str
    group: str = MAIN
    step: int = 0
    derived: bool = False
    version: str | None = None
    tool: str = "apt"


class Include(NamedTuple):
    """Another file that is read in this place: requirements, or constraints."""

    place: Place
    text: str
    path: str
    group: str = MAIN
    step: int = 0
    derived: bool = False
    role: RequirementRole = RequirementRole.INSTALL


class Action(NamedTuple):
    """A step that installs nothing from a list: `uninstall`, `copy`, `run`, `sync`; or one that does, with its flags."""

    place: Place
    text: str
    verb: str
    group: str = MAIN
    step: int = 0
    derived: bool = False
    words: tuple[str, ...] = ()
    tool: str = ""


Statement = Requirement | IndexUse | ImageUse | PythonUse | SystemUse | SystemPackage | Include | Action
"""One thing that a file says; `text` is how it is written there, `derived` where variables took part in it."""


class Group(NamedTuple):
    """An environment: what it is called, and the groups whose statements it holds too."""

    name: str
    kind: str  # file, extra, group, stage, job, branch, environment, service
    label: str = ""
    based_on: tuple[str, ...] = ()


class ParseProblem(NamedTuple):
    """A place that could not be read."""

    place: Place
    message: str
    is_refused: bool = False  # installers refuse the file for it


class Word(NamedTuple):
    """A word with its variables filled in; `raw` is how it is written, `open` where its value is not known."""

    value: str
    raw: str
    place: Place
    open: bool = False
    derived: bool = False
    inside: Place | None = None  # behind its opening quote
    redirected: str | None = None  # what follows without a gap and redirects: `a>=1` is the word a, redirected to `=1`


MOST_CALLS = 5000
"""More commands of one file are not kept."""


class ParsedFile:
    """What one file says; statements in the order of their steps and places. `kind` is the format."""

    def __init__(self, path: str, kind: str) -> None:
        self.path, self.kind = path, kind
        self.statements: list[Statement] = []
        self.groups = {MAIN: Group(MAIN, "file")}
        self.problems: list[ParseProblem] = []
        self.unread = 0  # characters of a file that is too long to be read
        self.calls: list[tuple[Word, ...]] = []  # the commands that are run, whatever they do
        self.channels: tuple[str, ...] = ()  # of conda, as the file names them

    def members(self, group: str) -> tuple[str, ...]:
        """Return a group and all that it is based on, itself first; each once, even where they name each other."""
        members: dict[str, None] = {}
        queue = [group]
        while queue:
            name = queue.pop(0)
            if name not in members and name in self.groups:
                members[name] = None
                queue += self.groups[name].based_on
        return tuple(members)

    @cached_property
    def words(self) -> dict[Place, tuple[tuple[Word, ...], int]]:
        """The command and the number in it of the word at a place, behind its quote or before; asked once the file is read."""
        positions: dict[Place, tuple[tuple[Word, ...], int]] = {}
        for words in self.calls:
            for number, word in enumerate(words):
                positions.setdefault(word.place, (words, number))
                if word.inside:
                    positions.setdefault(word.inside, (words, number))
        return positions

    @cached_property
    def steps(self) -> dict[tuple[str, int], list[Statement]]:
        """The statements by group and step; asked once the file is read."""
        statements_by_step: dict[tuple[str, int], list[Statement]] = {}
        for statement in self.statements:
            statements_by_step.setdefault((statement.group, statement.step), []).append(statement)
        return statements_by_step

    def add(self, *statements: Statement) -> None:
        """Add what the file states."""
        self.statements += statements

    def call(self, words: Iterable[Word]) -> None:
        """Note a command that is run, unless there are many already."""
        if len(self.calls) < MOST_CALLS:
            self.calls.append(tuple(words))

    def problem(self, place: Place, message: str, *, is_refused: bool = False) -> None:
        """Note a place that cannot be read, unless there are many already."""
        if len(self.problems) < 20:
            self.problems.append(ParseProblem(place, message, is_refused))

    def invalid(self, place: Place, text: str, why: str) -> None:
        """Note a text that is no requirement, with the reason for which installers refuse it where that is known."""
        self.problem(place, f"invalid requirement: {text[:80]!r}{why and f'; {why}'}", is_refused=bool(why))


_REFERENCE = re.compile(
    r"(?P<repository>(?:[A-Za-z0-9.-]+(?::\d+)?/)?[a-z0-9][a-z0-9._-]*(?:/[a-z0-9][a-z0-9._-]*)*)"
    r"(?::(?P<tag>\w[\w.-]{0,127}))?(?:@(?P<digest>[a-z0-9+._-]+:[0-9a-fA-F]{8,}))?"
)


def repository_name(text: str) -> str:
    """Return the name of an image repository without the host and folder that clients take for granted."""
    return re.sub(r"^(?:(?:index\.|registry-1\.)?docker\.io/)?(?:library/)?", "", text)


def image_use(
    text: str, place: Place, written: str, group: str = MAIN, *, unknown: bool = False, derived: bool = False, step: int = 0
) -> ImageUse | None:
    """Return the use of the image that a reference names, None for text that is none; an unknown one keeps what is known."""
    text = text.strip().strip("\"'")
    if len(text) > 500:
        return None
    if unknown:
        head, colon, _ = text.rpartition(":")
        text = head if colon and "/" not in text[len(head) :] else text.rstrip(":@-._/")
    match = _REFERENCE.fullmatch(text)
    if not match:
        return None
    tag, digest = (None, None) if unknown else (match["tag"], match["digest"])
    return ImageUse(place, written, repository_name(match["repository"]), group, step, derived, tag, digest, unknown)
