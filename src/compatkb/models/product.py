"""Records of data/products/: a product, its releases and builds, and what it says of others."""

from datetime import date
from enum import StrEnum
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from compatkb.models.base import Basis, Id, Record, Source, Sources, Term, Text, explained
from compatkb.models.dispute import Dispute, When
from compatkb.versions import Scheme


class Role(StrEnum):
    """What a product is to a stack."""

    PACKAGE = "package"  # in a stack when it is asked for or needed
    COMPANION = "companion"  # shown where a matching build exists; never vetoes
    LEAF = "leaf"  # known only through the pins and bounds of others
    DIMENSION = "dimension"  # a property of the machine: python, os, arch, device, hardware, driver, glibc
    FEATURE = "feature"  # something that software can do; made from data/features/, never written in data/products/


class Stage(StrEnum):
    """How far a build has come; the last two cannot be installed."""

    STABLE = "stable"
    PREVIEW = "preview"
    PROTOTYPE = "prototype"
    SOURCE_ONLY = "source-only"
    TAG_ONLY = "tag-only"


class Kind(StrEnum):
    """What a claim says of its two sides."""

    NEEDS = "needs"  # present, and one of these
    CONSTRAINS = "constrains"  # if present, one of these
    VERIFIED = "verified"  # these work; others stay open
    BREAKS = "breaks"  # these do not


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
    """The last supported day."""

    last_day: date
    precision: Literal["day", "month", "quarter", "year"] = "day"
    note: Text | None = None
    sources: Sources


class Yank(Record):
    """A withdrawal that people know more closely than the index file does."""

    after: date | None = None
    by: date
    reason: Text | None = None
    sources: Sources


class Wheels(Record):
    """Platforms for which a build has wheels; every combination of os, arch and python counts."""

    os: tuple[Id, ...] = Field(min_length=1)
    arch: tuple[Id, ...] = ("x86_64",)
    python: tuple[Text, ...] = Field(min_length=1)
    glibc: Annotated[Text, Field(pattern=r"^\d+(\.\d+)*$")] | None = None  # the oldest glibc that the platform tag admits
    glibc_inferred: bool = False  # true where no tag says it
    basis: Basis = Basis.STATED
    note: Text | None = None
    sources: Sources

    _explained = model_validator(mode="after")(explained)


class Build(Record):
    """An installable form of a release."""

    version: Text
    aliases: tuple[Text, ...] = ()  # other spellings, as people type them
    maker: Text | None = None  # who built it, where that is not the product's own maker
    distribution: Text | None = None  # where it is published under another name than the product's
    extras: tuple[Id, ...] = ()  # without which its requirements are not installed
    channels: tuple[Id, ...] = ()  # indexes that carry it; `default` is the client's own
    devices: tuple[Id, ...] = Field(min_length=1)
    stage: Stage = Stage.STABLE
    only_with: tuple[Id, ...] = ()  # products without which this build has no use
    released: Moment | None = None  # where it differs from the release
    wheels: tuple[Wheels, ...] = ()  # on reachable indexes data/index/ says it
    wheels_complete: bool = False  # true where the list of wheels is known to be whole
    note: Text | None = None
    sources: Sources


class Page(Record):
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


class Release(Record):
    """One version of a product."""

    version: Text
    name: Text | None = None
    aliases: tuple[Text, ...] = ()
    part_of: tuple[Text, ...] = ()  # listed products: the wider values that this one belongs to
    devices: tuple[Id, ...] = ()  # hardware: the devices that it offers
    released: Moment | None = None
    eol: EndOfLife | None = None
    eol_note: Text | None = None  # why it has no end of life here, where others of its product have one
    yanked: Yank | None = None
    track: Text | None = None  # drivers: lts, production, rolling
    page: Text | None = None  # where the product's own rule for its pages does not lead to it
    note: Text | None = None
    sources: Sources
    build: tuple[Build, ...] = ()


class Claim(Record):
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

    _explained = model_validator(mode="after")(explained)

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if self.kind is Kind.BREAKS and not self.reason:
            raise ValueError("`breaks` needs a `reason`")
        return self


class Complete(Record):
    """A scope inside which a missing release or wheel proves that there is none."""

    what: Literal["release", "wheel"]
    of: Term
    channel: Id | None = None
    device: tuple[Id, ...] = ()
    until: date
    ended: bool = False  # closed for good: later as-of dates are covered too
    note: Text | None = None
    sources: Sources


class Install(Record):
    """An installation that one plain command cannot do."""

    of: Term
    steps: tuple[tuple[Id, ...], ...] = Field(min_length=1)
    waives: tuple[Text, ...] = ()  # "torch==2.6.0+xpu: intel-sycl-rt==2025.0.2": a pin that the vendor says to ignore
    note: Text | None = None
    sources: Sources


class Advisory(Record):
    """Something that a user of these versions must be told."""

    of: Term
    kind: Literal["security", "driver", "known-issue"]
    message: Text
    since: date
    to: tuple[Term, ...] = ()  # only beside these
    when: When | None = None
    sources: Sources


class ReplacedBy(Record):
    """What to use instead of an ended product."""

    product: Id
    version: Text
    device: Id | None = None
    sources: Sources


class Product(Record):
    """The head of a product file."""

    id: Id
    name: Text
    role: Role
    scheme: Scheme
    rank: int  # order in stacks, commands and the comparison of newest: small first
    distribution: Text | None = None
    import_name: Text | None = None
    automatic: bool = False  # installed by the requirements of others; commands never name it
    aliases: tuple[Text, ...] = ()
    series: int = 2  # how many leading numbers make a series
    series_aliases: dict[str, Text] = {}
    default: Text | None = None  # a dimension's value where a request names none
    platform: bool = False  # a dimension of the platform grid: python, os or arch
    open: bool = False  # versions that are not listed can be asked about: rules on ranges cover them
    homepage: Text | None = None
    page: Page | None = None
    replaced_by: ReplacedBy | None = None
    eol: EndOfLife | None = None
    eol_note: Text | None = None  # why releases have no end of life here, where they have none
    complete: tuple[Complete, ...] = ()
    note: Text | None = None


class ProductFile(Record):
    """A file of data/products/."""

    product: Product
    source: dict[Id, Source]
    release: tuple[Release, ...] = ()
    claim: tuple[Claim, ...] = ()
    dispute: tuple[Dispute, ...] = ()
    install: tuple[Install, ...] = ()
    advisory: tuple[Advisory, ...] = ()
