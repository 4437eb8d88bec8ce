"""Records of the guides: symptoms and their causes, applications, machines, and what to write for what has ended."""

import re
from datetime import date
from enum import StrEnum
from typing import Annotated, Self

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from pydantic import AfterValidator, Field, model_validator

from compatkb.core.vocabulary import ShownBy
from compatkb.schema.base import (
    Basis,
    DeviceId,
    HardwareId,
    Id,
    ProductId,
    Reasoned,
    Record,
    SourceEntry,
    Sources,
    SystemId,
    Text,
)
from compatkb.schema.timeline import Line

SLOT = re.compile(r"\{([a-z0-9_.-]*)\}")
ANY, REQUIREMENT = "_", "requirement"
"""Slots that stand for any version, and for a requirement as installers print it."""


def _pattern(text: str) -> str:
    first = SLOT.split(text.split("*", maxsplit=1)[0])[0].strip()
    if len(first) < 3:
        raise ValueError("a pattern begins with at least three characters that are written out")
    if text.count("*") > 3:
        raise ValueError("a pattern has at most three gaps")
    if re.search(r"\}\s?\{", text):
        raise ValueError("something that is written out stands between two slots")
    if re.search(r"[{}]", SLOT.sub("", text)):
        raise ValueError("a slot is a product id between braces")
    return text


def _specifier(text: str) -> str:
    SpecifierSet(text)
    return text


Pattern = Annotated[Line, AfterValidator(_pattern)]
"""One line of output, case ignored: `*` is a gap, `{torch}` a version of that product."""


class CauseKind(StrEnum):
    """What has to change where a cause holds."""

    VERSION = "version"  # versions that do not go together
    INDEX = "index"  # where packages come from
    RUNTIME = "runtime"  # libraries beside the packages, of a generation of their own
    MACHINE = "machine"  # no version of a package: system libraries, permissions, hardware
    CODE = "code"  # the program that asks
    LIBRARY = "library"  # releases of packages that no stack holds


class CauseEntry(Record):
    """A cause that symptoms name."""

    id: Id
    kind: CauseKind
    title: Line
    why: Line
    do: tuple[Line, ...] = ()  # whatever the device and the system
    confirm: Line | None = None  # what to run or look at, and which outcome refutes the cause
    avoid: Line | None = None  # what people are about to do, and why it does not help
    refuted: tuple[Pattern, ...] = ()  # one of these in the same text, and it is not this
    unless_free: bool = False  # it is not this where the text says that more memory was free than it asked for
    unless_elsewhere: bool = False  # it is less likely where what was asked for is on an index that the text does not name
    unless_build: DeviceId | None = None  # it is not this where the torch of the text is a build for this device
    other_build: DeviceId | None = None  # it holds as well where a package is for other devices, and torch is for this one
    needs_build: DeviceId | None = None  # it is not this where a package that the text lists is a build for other devices
    update: tuple[ProductId, ...] = ()  # parts of a machine whose newest release is the way out where the text has an older
    do_for: dict[Id, tuple[Line, ...]] = {}  # by device, system or `container`: not said to texts about another
    ask: tuple[Text, ...] = ()  # words of a request for a working stack, where the text names no versions
    device: DeviceId | None = None  # what it is about, whatever the text tells
    newest: bool = False  # the way out is a newer release: what is installed is not kept
    generations: bool = False  # which release brings the libraries that the text asks for is part of what to do
    denied: bool = False  # it holds as well where the data deny that the versions in the text work together
    blames: bool = False  # the package in which a traceback ends is what has to change
    works_elsewhere: bool = False  # it holds as well where the text names another release that works
    blamed: bool = False  # it holds as well where the text says with which release it began
    sources: Sources

    @model_validator(mode="after")
    def _has_steps(self) -> Self:
        if not self.do and not self.do_for:
            raise ValueError("do and do-for are empty: a cause says what to do")
        return self


class Weight(Record):
    """How much a symptom speaks for a cause."""

    cause: Id
    weight: int = Field(ge=1, le=10)


class Symptom(Record):
    """What a program prints, and what that speaks for."""

    id: Id
    patterns: tuple[Pattern, ...] = Field(min_length=1)  # any of them
    causes: tuple[Weight, ...] = Field(min_length=1)
    beside: tuple[Pattern, ...] = ()  # it counts only where one of these is in the same text
    unless: tuple[Pattern, ...] = ()  # one of these in the same text explains it away
    though_free: int | None = None  # it counts only where the text asked for so many GiB at once, and more were free
    two_of: ProductId | None = None  # it counts only where the text lists two packages that bring the folder of this one
    devices: tuple[Text, ...] = ()  # it counts only where the text is about one of these; `unknown`: where it does not tell
    note: Line | None = None
    sources: Sources


class Reading(Record):
    """Patterns from which something about the machine or the request follows; of two systems the first in the file counts."""

    patterns: tuple[Pattern, ...] = Field(min_length=1)  # any of them
    product: ProductId | None = None
    version: Text | None = None
    shown_by: ShownBy | None = None  # of a device or a system
    sources: Sources

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if (self.product is not None) is not (self.shown_by is not None):
            raise ValueError("a reading of the device or the system, and no other, says what it is shown by")
        return self


class SymptomFile(Record):
    """data/symptoms.toml."""

    source: dict[Id, SourceEntry] = {}
    cause: tuple[CauseEntry, ...] = ()
    symptom: tuple[Symptom, ...] = ()
    reading: tuple[Reading, ...] = ()

    @model_validator(mode="after")
    def _whole(self) -> Self:
        known = {cause.id for cause in self.cause}
        named = {weight.cause for symptom in self.symptom for weight in symptom.causes}
        if named - known:
            raise ValueError(f"{', '.join(sorted(named - known))}: no such cause in this file")
        unnamed = (
            known
            - named
            - {cause.id for cause in self.cause if cause.denied or cause.works_elsewhere or cause.other_build or cause.blamed}
        )
        if unnamed:
            raise ValueError(f"{', '.join(sorted(unnamed))}: no symptom names this cause")
        return self

    @property
    def products(self) -> frozenset[str]:
        """The products that patterns, readings and requests name."""
        patterns = [p for s in self.symptom for p in (*s.patterns, *s.beside, *s.unless)]
        patterns += [pattern for cause in self.cause for pattern in cause.refuted]
        patterns += [pattern for reading in self.reading for pattern in reading.patterns]
        slots = {name for pattern in patterns for name in SLOT.findall(pattern)} - {ANY, REQUIREMENT}
        asked = {re.split(r"[=<>!~]", word)[0] for cause in self.cause for word in cause.ask}
        updated = {product for cause in self.cause for product in cause.update}
        return frozenset(slots | asked | updated | {reading.product for reading in self.reading if reading.product})


def _requirement(text: str) -> str:
    Requirement(text)
    return text


class Served(StrEnum):
    """Whether an application runs on Intel GPUs."""

    YES = "yes"
    PARTLY = "partly"  # by a part of it, by what has ended, or not by torch
    NO = "no"


class ApplicationState(StrEnum):
    """Whether somebody works on it."""

    ACTIVE = "active"  # nothing that was read says otherwise
    ENDED = "ended"
    ARCHIVED = "archived"


class ApplicationEntry(Record):
    """What the README, the requirements or a source file of an application say at one ref."""

    id: Id
    name: Line
    aliases: tuple[Text, ...] = ()
    repo: Text
    xpu: Served
    by: tuple[Line, ...] = ()  # what drives the GPU: native xpu, IPEX, SYCL, OpenVINO, Vulkan
    since: Line | None = None
    install: Line | None = None
    update: Line | None = None  # how it is brought up to date, with the torch that it installs for itself
    requires: tuple[Annotated[Text, AfterValidator(_requirement)], ...] = ()  # PEP 508, of the packages that matter here
    state: ApplicationState
    ended: Annotated[Text, Field(pattern=r"^\d{4}(-\d\d(-\d\d)?)?$")] | None = None  # as exactly as it was told
    about: Line | None = None  # what it is, where it is no program over torch
    last: Text | None = None  # its last release, where it has ended
    instead: tuple[Line, ...] = ()  # what does its work today
    note: Line | None = None
    sources: Sources

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if bool(self.by) is (self.xpu is Served.NO):
            raise ValueError("`by` says what drives the GPU, and is empty where nothing does")
        if (self.ended is None) is not (self.state is ApplicationState.ACTIVE):
            raise ValueError("an application that is not active says when it `ended`, another has none")
        return self


class ApplicationFile(Record):
    """data/applications.toml."""

    source: dict[Id, SourceEntry] = {}
    application: tuple[ApplicationEntry, ...] = Field(min_length=1)


class StubEntry(Record):
    """A name that only looks like a package: no index has it, or what it has refuses to be installed."""

    name: Text
    instead: Text
    until: Text | None = None  # the newest Python for which there is something all the same
    sources: Sources


class BuildEntry(Record):
    """A package whose archive imports another one while it is built, and does not say so in its build requirements."""

    name: Text
    imports: Text  # the package that has to be there
    pages: tuple[Text, ...] = ()  # parts of the addresses of pages that have wheels of it
    sources: Sources


class MetadataEntry(Record):
    """That newer pips pass over releases whose metadata hold what is no requirement."""

    since_pip: Text  # the first pip that does
    sources: Sources


class ClashEntry(Record):
    """Releases of a package that do not import beside those of another, which their metadata admit."""

    name: Text
    versions: Annotated[Text, AfterValidator(_specifier)]
    other: Text
    breaks: Annotated[Text, Field(pattern=r"^(>=|<)[0-9.]+$")]
    """The releases of the other one beside which it fails, though its metadata admit them."""
    reason: Line
    sources: Sources


class ClashClaim(Record):
    """A claim of a product that is such a clash: what breaks at import beside a release that metadata admit."""

    id: Id


class CompanionEntry(Record):
    """What old releases of a package ask for exactly of another, which the data list no more."""

    name: Text
    requires: Text
    rows: tuple[tuple[Text, Text], ...]  # the release, and that of the other
    sources: Sources


class OutlivedEntry(Record):
    """Old releases of a package, which the data list no more: the newest Python that any of them has a wheel for."""

    name: Text
    versions: Annotated[Text, AfterValidator(_specifier)]
    python: Text
    sources: Sources


class UnwheeledEntry(Record):
    """Packages without a wheel or an archive for the system of images whose tags hold a word."""

    names: tuple[Text, ...]
    word: Text
    reason: Line
    sources: Sources


class ManagedPython(Record):
    """Systems whose own Python is marked as managed by their package manager, so that pip and uv install nothing into it."""

    systems: tuple[Text, ...]
    sources: Sources


class GoneImage(Record):
    """Images that a registry has no more."""

    repository: Text
    tags: tuple[Text, ...] = ()
    versions: tuple[Text, ...] = ()  # what tags begin with, up to the first dash; without these and tags: the whole repository
    reason: Line
    sources: Sources


class HeadEntry(Record):
    """A repository whose main branch has the version after the newest release of its package."""

    name: Text
    repository: Text  # owner and name
    sources: Sources


class PlainImage(Record):
    """Images of a repository with a system, and with no Python or settings of installers that the system has not."""

    repository: Text
    sources: Sources


class IndexList(Record):
    """All packages that the indexes of one maker can have, by the list from which they are filled."""

    address: Text  # what their addresses begin with
    names: tuple[Text, ...]
    sources: Sources


class CondaList(Record):
    """All releases of a package of conda on some channels."""

    name: Text
    channels: tuple[Text, ...] = ()  # none: whatever the channel
    versions: tuple[Text, ...]
    sources: Sources


class CondaClash(Record):
    """Releases of a package of conda that do not import beside those of another, which conda takes unless it is bounded."""

    name: Text
    channel: Text  # whose builds they are
    versions: Annotated[Text, AfterValidator(_specifier)]
    other: Text
    below: Text  # the first release of the other one beside which they fail
    others: tuple[Text, ...] = ()  # names that keep it away
    reason: Line
    sources: Sources


class PackagesFile(Record):
    """data/packages.toml: what is known of packages and images that are no products."""

    source: dict[Id, SourceEntry] = {}
    stub: tuple[StubEntry, ...] = ()
    isolated_build: tuple[BuildEntry, ...] = ()
    refused_metadata: tuple[MetadataEntry, ...] = ()
    clash: tuple[ClashEntry, ...] = ()
    clash_claim: tuple[ClashClaim, ...] = ()
    companion: tuple[CompanionEntry, ...] = ()
    outlived: tuple[OutlivedEntry, ...] = ()
    unwheeled: tuple[UnwheeledEntry, ...] = ()
    managed_python: tuple[ManagedPython, ...] = ()
    gone_image: tuple[GoneImage, ...] = ()
    plain_image: tuple[PlainImage, ...] = ()
    head: tuple[HeadEntry, ...] = ()
    index_list: tuple[IndexList, ...] = ()
    conda_list: tuple[CondaList, ...] = ()
    conda_clash: tuple[CondaClash, ...] = ()


PciId = Annotated[str, Field(pattern=r"^[0-9a-f]{4}$")]


class GraphicsEntry(Record):
    """GPUs that are told by their PCI device ids."""

    id: Id
    name: Line
    vendor: PciId
    hardware: HardwareId | None = None  # the value of hardware that they are; none where no table of the makers names them
    ids: tuple[PciId, ...] = ()  # none: every display device of the vendor that no other record names
    note: Line | None = None
    sources: Sources


class Component(Record):
    """A part of a GPU's user-space driver, by the names of its packages on systems."""

    id: Id
    name: Line
    packages: tuple[Text, ...] = Field(min_length=1)
    needed: bool = False  # without it no program finds the GPU
    sources: Sources


class BaseImage(Record):
    """A container image to install into: its system, its Pythons, and the commands that add Python and a GPU's driver."""

    id: Id
    os: Id  # a value of os; the family, where the image fits wherever any system of it does
    image: Text  # {python} is the minor
    python: tuple[Text, ...] = Field(min_length=1)  # minors, newest first
    setup: tuple[Text, ...] = ()  # commands of root that install Python, where the image has none
    driver: tuple[Text, ...] = ()  # commands of root that install the GPU's user-space driver; none where no source says which
    note: Line | None = None
    sources: Sources


class Variable(Record):
    """A variable of the environment that decides which libraries or devices programs get."""

    name: Text
    means: Line
    hides: bool = False  # can keep devices from programs
    sources: Sources


class Generation(Record):
    """The oneAPI releases that bring a generation of a library."""

    library: Text  # as its file is named on Linux, without directories
    product: ProductId
    version: Text  # a series
    basis: Text = "stated"
    note: Line | None = None
    sources: Sources


class System(Record):
    """A distribution as /etc/os-release names it; `linux` stands for one that is not known."""

    id: Text
    form: Text  # the name in the data; {version} is VERSION_ID, {major} and {minor} its parts
    names: tuple[Pattern, ...] = ()  # by which texts tell it without a version
    steps: dict[Id, Line] = {}  # what installs something there: what `{driver}` in the steps of causes stands for
    sources: Sources


class Carried(Record):
    """What a system carried on a day: packages of the driver by the products of the data, and its kernel."""

    system: SystemId
    archive: Text  # of the system itself, or one that is added: ppa:owner/name
    packages: dict[ProductId, Text] = {}
    kernel: Text | None = None
    kernel_package: Text | None = None  # which brings it, where it is not the default
    names: tuple[Text, ...] = ()  # of the packages
    on: date | None = None
    note: Line | None = None
    sources: Sources


class MachineFile(Record):
    """data/machine.toml."""

    source: dict[Id, SourceEntry] = {}
    graphics: tuple[GraphicsEntry, ...] = ()
    component: tuple[Component, ...] = ()
    variable: tuple[Variable, ...] = ()
    generation: tuple[Generation, ...] = ()
    system: tuple[System, ...] = ()
    base_image: tuple[BaseImage, ...] = ()
    carried: tuple[Carried, ...] = ()


Name = Annotated[str, Field(pattern=r"^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*$")]
"""A dotted name of Python."""
DottedName = Annotated[str, Field(pattern=r"^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*(\.\*)?$")]
"""A dotted name, or `name.*` for each of `members` below it."""


class SourcedEntry(Reasoned):
    """What the records share that say what replaces something."""

    basis: Basis = Basis.STATED
    note: Line | None = None
    sources: Sources


class ModuleEntry(Record):
    """A module that a product brings: who imports it needs that product."""

    name: Name
    product: Id
    sources: Sources


class Replacement(SourcedEntry):
    """Names that a product brings, and what replaces them; without `instead` and `how` no source names anything."""

    id: Id
    product: Id  # that brings them
    names: tuple[DottedName, ...] = Field(min_length=1)
    members: tuple[Name, ...] = ()  # what `*` stands for
    instead: DottedName | None = None
    how: Line | None = None  # what to do where writing another name is not enough
    device: Id | None = None  # the one device that it is about
    mechanical: bool = False  # the other name does the same, so a program may write it
    before: tuple[Line, ...] = ()  # what the other takes first
    defaults: dict[Name, Line] = {}  # what is to be written where it is not given, to keep its meaning

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if self.mechanical and (not self.instead or self.basis is not Basis.STATED):
            raise ValueError("only what a source states may be written by a program, and it needs `instead`")
        if any(name.endswith(".*") for name in self.names) != bool(self.members):
            raise ValueError("`members` and names that end in `.*` go together")
        return self


class ArgumentEntry(Record):
    """A call that takes a value: the function, the argument's name, and its position where it may be given by that."""

    call: Name
    name: Name
    position: int | None = None


class ValueEntry(SourcedEntry):
    """A value that only a product understands, and what to pass instead on a device; `instead` is absent to pass none."""

    id: Id
    product: Id
    value: Line
    arguments: tuple[ArgumentEntry, ...] = Field(min_length=1)
    options: tuple[Line, ...] = ()  # how options of programs that take it end
    device: Id | None = None
    instead: Line | None = None
    how: Line | None = None
    mechanical: bool = False

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if self.mechanical and (not self.instead or self.basis is not Basis.STATED):
            raise ValueError("only what a source states may be written by a program, and it needs `instead`")
        return self


class Launcher(SourcedEntry):
    """A command that a product brings, and the one to use instead."""

    id: Id
    product: Id
    names: tuple[Line, ...] = Field(min_length=1)  # programs, or modules that Python runs
    device: Id | None = None
    instead: Line | None = None
    how: Line | None = None


class MigrationFile(Record):
    """data/migration.toml."""

    source: dict[Id, SourceEntry] = {}
    module: tuple[ModuleEntry, ...] = ()
    replacement: tuple[Replacement, ...] = ()
    value: tuple[ValueEntry, ...] = ()
    launcher: tuple[Launcher, ...] = ()
