"""Records of data/collected/, which `refresh` alone writes from git repositories.

Which repositories it reads stands in the product file whose facts they give, as feeds (`schema.feed`). What was read lies
in the file of that product, a row a fact, with the repository, the commit that was its newest, and the place in each.
"""

from datetime import date
from typing import Annotated, Literal

from pydantic import Field

from compatkb.schema.base import Id, ProductId, Record, Text
from compatkb.schema.families import FamilyRow
from compatkb.schema.feed import Repo

PciId = Annotated[str, Field(pattern=r"^[0-9a-f]{4}$")]


class TagRow(FamilyRow):
    """A tag: its version, the committer's day, and version and line of what a manifest names, in the order of its family."""

    cells = ("version", "on", "built")

    version: Text
    on: date
    built: tuple[tuple[Text, int] | tuple[()], ...] = ()  # nothing where the manifest names no version
    tag: Text | None = None  # where it is not the version


class TagsRead(Record):
    """The releases of a product that are tags."""

    repo: Repo
    head: Text
    path: Text | None = None
    built_with: tuple[ProductId, ...] = ()
    rows: tuple[TagRow, ...] = Field(min_length=1)


class DeviceRow(FamilyRow):
    """A PCI id: the first tag that lists it, by day, and the line there."""

    cells = ("id", "first", "on", "at")

    id: PciId
    first: Text
    on: date
    at: int
    path: Text | None = None  # where it is not that of the family
    name: Text | None = None
    lowest: Text | None = None  # the lowest version that lists it, where an older branch got it later
    last: Text | None = None  # the last version that lists it, where the newest does not
    lacking: int = 0  # versions between the first and the last that lack it: branches cut before


class DevicesRead(Record):
    """PCI ids of one family, by the name that a product has for it whose releases list them."""

    family: Id
    listed_by: ProductId
    repo: Repo
    head: Text
    path: Text
    rows: tuple[DeviceRow, ...] = Field(min_length=1)


class KernelRow(FamilyRow):
    """A family in the table of a driver: whether it is taken by default, the line, and its ids where they were read."""

    cells = ("family", "by", "at", "ids")

    family: Id
    by: Literal["default", "force-probe"]
    at: int
    ids: tuple[PciId, ...] = ()


class KernelRead(Record):
    """The table of a driver in a kernel release; a family that it does not have is not taken by that driver."""

    kernel: Text
    driver: Id
    repo: Repo
    ref: Text
    path: Text
    rows: tuple[KernelRow, ...] = ()


class FileRow(FamilyRow):
    """A release: its tag or the source archive that was read, and path, line and groups of each read that found something."""

    cells = ("version", "ref")

    version: Text
    ref: Text
    sha256: Text | None = None  # of an archive
    found: dict[Id, tuple[Text, int, tuple[str, ...]]] = {}


class FilesRead(Record):
    """What files say of releases; `rules` is the digest of what was looked for."""

    repo: Repo | None = None
    rules: Text
    rows: tuple[FileRow, ...] = Field(min_length=1)


class CollectedFile(Record):
    """A file of data/collected/: what the feeds of one product gave."""

    product: ProductId
    seen: date
    tags: tuple[TagsRead, ...] = ()
    devices: tuple[DevicesRead, ...] = ()
    kernels: tuple[KernelRead, ...] = ()
    files: tuple[FilesRead, ...] = ()
