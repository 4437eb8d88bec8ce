"""Records of data/products/: a product, its releases and builds, and what it says of others."""

import re
from datetime import date
from enum import StrEnum
from typing import Annotated, Literal, Self

from packaging.specifiers import SpecifierSet
from packaging.version import Version
from pydantic import Field, model_validator

from compatkb.core.versions import Scheme
from compatkb.core.vocabulary import Kind, Role
from compatkb.schema.base import (
    ArchId,
    Basis,
    ChannelId,
    DeviceId,
    Dispute,
    Id,
    ProductId,
    PythonText,
    Reasoned,
    Record,
    SourceEntry,
    Sources,
    SystemId,
    Term,
    Text,
    When,
)
from compatkb.schema.feed import Feed
from compatkb.schema.timeline import last_day


class Stage(StrEnum):
    """How far a build has come; the last two cannot be installed.

    What is compiled `from-source` has a channel with the commands that do it, and platforms on which they may do.
    """

    STABLE = "stable"
    PREVIEW = "preview"
    PROTOTYPE = "prototype"
    FROM_SOURCE = "from-source"
    SOURCE_ONLY = "source-only"
    TAG_ONLY = "tag-only"


class Moment(Record):
    """A date, or the bounds of one; days are inclusive."""

    on: date | None = None
    after: date | None = None
    by: date | None = None
    basis: Text | None = None  # tag-commit, first-upload, announcement, documentation ...
    note: Text | None = None
    sources: Sources

    @model_validator(mode="after")
    def _bounded(self) -> Self:
        if (self.on is None) == (self.after is None and self.by is None):
            raise ValueError("give either `on`, or bounds `after` and `by`")
        return self


class EndOfLife(Record):
    """The last supported day; of a month, quarter or year that alone is known any day of it."""

    last_day: date
    precision: Literal["day", "month", "quarter", "year"] = "day"
    note: Text | None = None
    sources: Sources

    @property
    def end(self) -> date:
        """The last day on which it can be supported: nothing has ended before its month or year has."""
        if self.precision == "day":
            return self.last_day
        months = {"month": 1, "quarter": 3, "year": 12}[self.precision]
        begun = (self.last_day.month - 1) // months * months
        return last_day(self.last_day.replace(month=begun + 1, day=1), self.precision)


class EndRule(Record):
    """How long releases are supported, where their maker gives a rule and no day, or that no end of life is published."""

    says: Text  # a sentence that people read
    published: bool = True  # false where the sources are what was read, and give neither an end nor a rule
    sources: Sources


class Yank(Record):
    """A withdrawal that people know more closely than the index file does."""

    after: date | None = None
    by: date
    reason: Text | None = None
    sources: Sources


class WheelsPart(Record):
    """What a family says of the wheels of its builds, or a row of its own: together they are `Wheels`."""

    os: tuple[SystemId, ...] = ()
    arch: tuple[ArchId, ...] = ("x86_64",)
    python: tuple[PythonText, ...] = ()
    glibc: Annotated[Text, Field(pattern=r"^\d+(\.\d+)*$")] | None = None  # the oldest glibc that the platform tag admits
    glibc_inferred: bool = False  # true where no tag says it
    basis: Basis = Basis.STATED
    note: Text | None = None
    sources: tuple[Id, ...] = ()


class Wheels(WheelsPart, Reasoned):
    """Platforms for which a build has wheels; every combination of os, arch and python counts."""

    os: tuple[SystemId, ...] = Field(min_length=1)
    python: tuple[PythonText, ...] = Field(min_length=1)
    sources: Sources


class CompiledForPart(Record):
    """What a family says of builds that are of another kind on some platforms, or a row of its own."""

    device: DeviceId | None = None
    label: Text | None = None  # the local label that the same code has on an index of its own
    os: tuple[SystemId, ...] = ()
    arch: tuple[ArchId, ...] = ()
    basis: Basis = Basis.STATED
    note: Text | None = None
    sources: tuple[Id, ...] = ()


class CompiledFor(CompiledForPart, Reasoned):
    """Platforms on which a build is of another kind than its `devices` say: every combination of os and arch counts."""

    device: DeviceId
    os: tuple[SystemId, ...] = Field(min_length=1)
    arch: tuple[ArchId, ...] = Field(min_length=1)
    sources: Sources


class BuildPart(Record):
    """What builds of a family share, or one of them has of its own."""

    aliases: tuple[Text, ...] = ()  # other spellings, as people type them
    maker: Text | None = None  # who built it, where that is not the product's own maker
    distribution: Text | None = None  # where it is published under another name than the product's
    extras: tuple[Id, ...] = ()  # without which its requirements are not installed
    channels: tuple[ChannelId, ...] = ()  # indexes that carry it; `default` is the client's own
    devices: tuple[DeviceId, ...] = ()
    compiled_for: tuple[CompiledForPart, ...] = ()  # where it is of another kind
    stage: Stage = Stage.STABLE
    only_with: tuple[ProductId, ...] = ()  # products without which this build has no use
    released: Moment | None = None  # where it differs from the release
    wheels: tuple[WheelsPart, ...] = ()  # on reachable indexes data/index/ says it
    wheels_complete: bool = False  # true where the list of wheels is known to be whole
    note: Text | None = None
    sources: tuple[Id, ...] = ()


class Build(BuildPart):
    """An installable form of a release."""

    version: Text
    devices: tuple[DeviceId, ...] = Field(min_length=1)
    compiled_for: tuple[CompiledFor, ...] = ()
    wheels: tuple[Wheels, ...] = ()
    sources: Sources


class Listed(BuildPart):
    """The builds of all releases that the index file lists and nobody wrote down; of `source-only`, those without a wheel."""

    releases: Text | None = None  # a specifier, where it is not all of them
    label: Text | None = None  # of builds on other indexes that have it
    reviewed: Text | None = None  # what was uploaded after this release is new, not reviewed
    devices: tuple[DeviceId, ...] = Field(min_length=1)
    sources: Sources

    @model_validator(mode="after")
    def _readable(self) -> Self:
        for name, read, text in (("releases", SpecifierSet, self.releases or ""), ("reviewed", Version, self.reviewed or "0")):
            try:
                read(text)
            except ValueError:
                raise ValueError(f"`{name}`: {text!r} names no versions") from None
        return self


class VariantPart(Record):
    """What variants of a family share, or one of them has of its own."""

    device: DeviceId | None = None
    labels: tuple[Annotated[Text, Field(pattern=r"^[a-z0-9]+(\.[a-z0-9]+)*$")], ...] = ()
    channels: tuple[ChannelId, ...] = ()  # where `variant-channel` of the product does not lead to them
    wheels: tuple[WheelsPart, ...] = ()
    note: Text | None = None
    sources: tuple[Id, ...] = ()


class Variant(VariantPart):
    """Builds of a release that differ in their local label alone: one for each label."""

    device: DeviceId
    labels: tuple[Annotated[Text, Field(pattern=r"^[a-z0-9]+(\.[a-z0-9]+)*$")], ...] = Field(min_length=1)
    wheels: tuple[Wheels, ...] = ()
    sources: Sources


class BuiltWith(Reasoned):
    """The product against which all builds of this one are compiled: each goes with those of its own kind alone."""

    product: ProductId
    basis: Basis = Basis.STATED
    reason: Text  # a sentence that people read
    note: Text | None = None
    sources: Sources


class OwnDevices(Record):
    """That builds run on the devices that they are for and on no other, whatever a device says in `runs-on`."""

    note: Text | None = None
    sources: Sources


class PageTemplate(Record):
    """How documents name a version, and the page that they link; {release}, {build} and {series} stand for the version."""

    label: Text
    url: Text | None = None
    sources: Sources

    @model_validator(mode="after")
    def _fillable(self) -> Self:
        for text in (self.label, self.url or ""):
            try:
                text.format(release="", build="", series="")
            except (KeyError, IndexError, ValueError):
                raise ValueError(f"{text!r}: only {{release}}, {{build}} and {{series}} can stand in braces") from None
        return self


class ReleaseEntry(Record):
    """One version of a product, as files say it; its builds are rows of families."""

    version: Text
    name: Text | None = None
    aliases: tuple[Text, ...] = ()
    models: tuple[Text, ...] = ()  # hardware: patterns of the model numbers that a rule gives it, in small letters, unspaced
    part_of: tuple[Text, ...] = ()  # listed products: the wider values that this one belongs to
    devices: tuple[DeviceId, ...] = ()  # hardware: the devices that it offers
    apart: bool = False  # systems: a family of which the rest of the wider one tells nothing, having other drivers
    chips_of: Text | None = None  # hardware: the value with whose chips this one is made
    systems: tuple[Text, ...] = ()  # architectures: the families of systems that have it under this name
    usual_on: tuple[Text, ...] = ()  # architectures: the families of which a request means it that names none
    same_as: Text | None = None  # architectures: the name that it has on other systems
    needs: Text | None = None  # devices: what a machine needs beside packages, where no version of it is known
    proof: Text | None = None  # devices: the expression of Python that is true where a program can use it
    runs_on: tuple[DeviceId, ...] = ()  # devices: those on which builds for this one run as well
    any_hardware: bool = False  # devices: builds for it run on all hardware that offers it
    alike: Text | None = None  # devices: the part of a label, as a group of a pattern, in which builds must agree
    released: Moment | None = None
    eol: EndOfLife | None = None
    eol_note: Text | None = None  # why it has no end of life here, where others of its product have one
    yanked: Yank | None = None
    track: Text | None = None  # drivers: lts, production, rolling
    page: Text | None = None  # where the product's own rule for its pages does not lead to it
    note: Text | None = None
    sources: Sources

    @model_validator(mode="after")
    def _readable(self) -> Self:
        try:
            groups = re.compile(self.alike or "()").groups
        except re.error as error:
            raise ValueError(f"`alike`: {error}") from None
        for pattern in self.models:
            try:
                re.compile(pattern)
            except re.error as error:
                raise ValueError(f"`models`: {error}") from None
        if groups != 1:
            raise ValueError("`alike` needs one group: the part of a label in which builds must agree")
        return self


class Release(ReleaseEntry):
    """One version of a product with its builds."""

    variant: tuple[Variant, ...] = ()  # builds by their labels, in short
    build: tuple[Build, ...] = ()


class Claim(Reasoned):
    """What one product's versions say of another's: the only relation."""

    id: Id
    kind: Kind
    of: Term
    to: tuple[Term, ...] = Field(min_length=1)  # of one product: any of these; of several: all together
    when: When | None = None
    basis: Basis = Basis.STATED
    reason: Text | None = None  # a sentence that people read; needed for `breaks`
    note: Text | None = None
    sources: Sources

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if self.kind is Kind.BREAKS and not self.reason:
            raise ValueError("`breaks` needs a `reason`")
        return self


class Complete(Record):
    """A scope inside which a missing release or wheel proves that there is none."""

    what: Literal["release", "wheel"]
    of: Term
    channel: ChannelId | None = None
    device: tuple[DeviceId, ...] = ()
    until: date
    ended: bool = False  # closed for good: later as-of dates are covered too
    note: Text | None = None
    sources: Sources


class InstallEntry(Record):
    """An installation that one plain command cannot do."""

    of: Term
    steps: tuple[tuple[ProductId, ...], ...] = Field(min_length=1)
    waives: tuple[Text, ...] = ()  # "torch==2.6.0+xpu: intel-sycl-rt==2025.0.2": a pin that the vendor says to ignore
    note: Text | None = None
    sources: Sources


class AdvisoryEntry(Record):
    """Something that a user of these versions must be told."""

    of: Term
    kind: Literal["security", "vulnerability", "reported", "driver", "device", "known-issue", "unreviewed"]
    """`security`: nobody mends what is insecure. `vulnerability`: one published advisory (`CVE-…: what; fixed in 2.6.0.`).

    `reported`: one that somebody else published and the policy of the maker does not count: shown and found, no warning."""
    message: Text
    since: date
    to: tuple[Term, ...] = ()  # only beside these
    when: When | None = None
    sources: Sources


class ReplacedOn(Record):
    """In which versions a product takes the place of an ended one on a further device."""

    device: Id
    version: Text
    by: Text | None = None  # the part of it that does the work
    sources: Sources


class ReplacedBy(Record):
    """What to use instead of an ended product."""

    product: ProductId
    version: Text
    device: DeviceId | None = None
    by: Text | None = None
    also: tuple[ReplacedOn, ...] = ()
    sources: Sources


class ProductHead(Record):
    """The head of a product file."""

    id: Id
    name: Text
    label: Text | None = None  # the name in sentences, where that is not the id: IPEX, driver
    role: Role
    scheme: Scheme
    rank: int  # order in stacks, commands and the comparison of newest: small first
    distribution: Text | None = None
    import_name: Text | None = None
    built_with: BuiltWith | None = None
    own_devices: OwnDevices | None = None
    variant_channel: Text | None = None  # the index of a variant: {label} stands for its label
    automatic: bool = False  # installed by the requirements of others; commands never name it
    aliases: tuple[Text, ...] = ()
    series: int = 2  # how many leading numbers make a series
    series_aliases: dict[str, Text] = {}
    default: Text | None = None  # a dimension's value where a request names none
    platform: bool = False  # a dimension of the platform grid: python, os or arch
    shown: bool = False  # a dimension beyond the platform of which a stack says what is known: hardware, driver, toolkit
    machine: Literal["system", "runtime"] | None = None
    """A part of the machine below the packages: it is what it is. What demands another version denies a stack, and nobody has
    to name it; versions that are not listed are compared by range. The `system` (kernel, firmware, C library) keeps its
    interface; a `runtime` is what packages were built against, so that one older than these is no more than likely to do."""
    homepage: Text | None = None
    page: PageTemplate | None = None
    replaced_by: ReplacedBy | None = None
    eol: EndOfLife | None = None
    eol_rule: EndRule | None = None  # how long releases are supported, or that nobody publishes it, where no day is known
    eol_note: Text | None = None  # why releases have no end of life here, where they have none and no source says so
    complete: tuple[Complete, ...] = ()
    note: Text | None = None


class ProductFile(Record):
    """What a file of data/products/ says, record by record; `families` has the form in which it is written."""

    product: ProductHead
    feed: tuple[Feed, ...] = ()
    source: dict[Id, SourceEntry] = {}
    release: tuple[Release, ...] = ()
    listed: tuple[Listed, ...] = ()
    claim: tuple[Claim, ...] = ()
    dispute: tuple[Dispute, ...] = ()
    install: tuple[InstallEntry, ...] = ()
    advisory: tuple[AdvisoryEntry, ...] = ()
