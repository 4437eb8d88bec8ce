"""What a file states about versions: typed, frozen, each with its place, its group and its step.

A *group* is what ends up in one environment: the requirements of an extra, a stage of a Dockerfile, a job with one
combination of its matrix, one branch of a script. A *step* is one run of an installer; what a file only declares has
the step 0, and everything of one step is chosen together.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property

from compatkb.places import Place

MAIN = ""
"""The group that a file has without naming one."""


class Role(StrEnum):
    """What a requirement is for."""

    INSTALL = "install"
    CONSTRAINT = "constraint"
    LOCKED = "locked"
    BUILD = "build"


@dataclass(frozen=True, kw_only=True, slots=True)
class Statement:
    """One thing that a file says; `text` is how it is written there, `derived` where variables took part in it."""

    place: Place
    text: str
    group: str = MAIN
    step: int = 0
    derived: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Requirement(Statement):
    """A package that is asked for; `specifier` is PEP 440 whatever the file's own notation."""

    name: str  # normalised
    specifier: str = ""
    extras: tuple[str, ...] = ()
    marker: str | None = None
    url: str | None = None  # a direct reference instead of a version
    hashed: bool = False
    role: Role = Role.INSTALL
    tool: str = "pip"
    index: str | None = None  # the one index that may serve it: an address, or the name of an IndexUse
    unknown: bool = False  # the version is there, but only a run would tell it
    lost: str | None = None  # what a shell takes for a redirection although a bound was meant


@dataclass(frozen=True, kw_only=True, slots=True)
class IndexUse(Statement):
    """An index that installers are told to ask; `style` is index-url, extra-index-url, find-links or named."""

    url: str
    style: str
    name: str | None = None
    explicit: bool = False  # asked for the packages that name it alone


@dataclass(frozen=True, kw_only=True, slots=True)
class ImageUse(Statement):
    """A container image that is used; `unknown` where its tag depends on what only a run would tell."""

    repository: str
    tag: str | None = None
    digest: str | None = None
    unknown: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class PythonUse(Statement):
    """A Python: one that is run (`runs`), or the range that a project declares."""

    specifier: str
    runs: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class SystemUse(Statement):
    """The operating system on which a group runs, as the file names it: `ubuntu-22.04`."""

    name: str


@dataclass(frozen=True, kw_only=True, slots=True)
class SystemPackage(Statement):
    """A package of the operating system."""

    name: str
    version: str | None = None
    tool: str = "apt"


@dataclass(frozen=True, kw_only=True, slots=True)
class Include(Statement):
    """Another file that is read in this place: requirements, or constraints."""

    path: str
    role: Role = Role.INSTALL


@dataclass(frozen=True, kw_only=True, slots=True)
class Action(Statement):
    """A step that installs nothing from a list: `uninstall`, `copy`, `run`, `sync`; or one that does, with its flags."""

    verb: str
    words: tuple[str, ...] = ()
    tool: str = ""


@dataclass(frozen=True, slots=True)
class Group:
    """An environment: what it is called, and the groups whose statements it holds too."""

    name: str
    kind: str  # file, extra, group, stage, job, branch, environment, service
    label: str = ""
    based_on: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Problem:
    """A place that could not be read."""

    place: Place
    message: str


@dataclass(frozen=True, slots=True)
class Word:
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


@dataclass
class Reading:
    """What one file says; statements in the order of their steps and places. `kind` is the format."""

    path: str
    kind: str
    statements: list[Statement] = field(default_factory=list)
    groups: dict[str, Group] = field(default_factory=lambda: {MAIN: Group(MAIN, "file")})
    problems: list[Problem] = field(default_factory=list)
    calls: list[tuple[Word, ...]] = field(default_factory=list)  # the commands that are run, whatever they do

    def members(self, group: str) -> tuple[str, ...]:
        """Return a group and all that it is based on, itself first; each once, even where they name each other."""
        found: dict[str, None] = {}
        queue = [group]
        while queue:
            name = queue.pop(0)
            if name not in found and name in self.groups:
                found[name] = None
                queue += self.groups[name].based_on
        return tuple(found)

    @cached_property
    def words(self) -> dict[Place, tuple[tuple[Word, ...], int]]:
        """The command and the number in it of the word at a place, behind its quote or before; asked once the file is read."""
        found: dict[Place, tuple[tuple[Word, ...], int]] = {}
        for words in self.calls:
            for number, word in enumerate(words):
                found.setdefault(word.place, (words, number))
                if word.inside:
                    found.setdefault(word.inside, (words, number))
        return found

    @cached_property
    def steps(self) -> dict[tuple[str, int], list[Statement]]:
        """The statements by group and step; asked once the file is read."""
        found: dict[tuple[str, int], list[Statement]] = {}
        for statement in self.statements:
            found.setdefault((statement.group, statement.step), []).append(statement)
        return found

    def call(self, words: Iterable[Word]) -> None:
        """Note a command that is run, unless there are many already."""
        if len(self.calls) < MOST_CALLS:
            self.calls.append(tuple(words))

    def problem(self, place: Place, message: str) -> None:
        """Note a place that cannot be read, unless there are many already."""
        if len(self.problems) < 20:
            self.problems.append(Problem(place, message))
