"""Feeds of data/products/: which repositories `refresh` reads for the facts of a product, and what it takes from them."""

import re
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from compatkb.core.vocabulary import Kind
from compatkb.schema.base import Basis, Id, ProductId, Record, Text, When

Repo = Annotated[Text, Field(pattern=r"^[\w.-]+/[\w.-]+$")]


class BuiltFrom(Record):
    """A product that a manifest names, and the key under which it stands there."""

    product: ProductId
    key: Text


class TagFeed(Record):
    """Releases that are tags of a repository, with their days; and from a manifest at each tag what it was built with."""

    kind: Literal["tags"]
    repo: Repo
    tags: Text  # a pattern for the whole name of a tag; its group is the version
    since: Text | None = None  # the first version that counts
    named: bool = False  # only those that a manifest of another product names
    lines: dict[Text, Text] = {}  # a series that goes on beside the others: a remark on its releases
    manifest: Text | None = None
    built_with: tuple[BuiltFrom, ...] = ()


class DeviceFeed(Record):
    """PCI ids by family, with the first tag that lists each, from tables of `DEVICE(0x56A0, Family...)`."""

    kind: Literal["device-ids"]
    listed_by: ProductId  # whose releases the tags are
    repo: Repo
    tags: Text
    paths: tuple[Text, ...] = Field(min_length=1)  # where the table stood over the years
    families: tuple[Id, ...] = Field(min_length=1)


class KernelTree(Record):
    """A copy of a driver of a kernel release."""

    kernel: Text
    driver: Id
    repo: Repo
    ref: Text


class KernelFeed(Record):
    """Which driver of the kernel takes which family in which release, from the tables of the drivers."""

    kind: Literal["kernel-tables"]
    tables: dict[Id, Text]  # by driver
    headers: tuple[Text, ...]  # with the ids of each family: the one that a table includes, else the first that is there
    families: dict[Text, Id]  # by the word in the name of a macro
    begun: dict[Id, Text] = {}  # the first release that has a driver at all
    apart: tuple[Id, ...] = ()  # systems whose kernels carry other drivers than their number says, or take them elsewhere
    unless: Text | None = None  # what may serve hardware on an older kernel all the same, as the end of a sentence
    trees: tuple[KernelTree, ...] = Field(min_length=1)


class FileRead(Record):
    """A claim that a line of a file makes: `{1}` in its words is the first group of the pattern, `{of}` the release."""

    id: Id
    paths: tuple[Text, ...] = Field(min_length=1)  # where the file stood over the years: the first that is there
    line: Text  # a pattern that is looked for in each line: the first that has it
    releases: Text | None = None  # a specifier, where it is not said of all
    label: Text | None = None  # of which builds it is said
    kind: Kind
    names: tuple[Text, ...] = Field(min_length=1)  # the terms of `to`
    when: When | None = None
    basis: Basis = Basis.STATED
    reason: Text | None = None
    note: Text | None = None

    @model_validator(mode="after")
    def _readable(self) -> Self:
        try:
            groups = re.compile(self.line).groups
        except re.error as error:
            raise ValueError(f"`line`: {self.line!r} is no pattern: {error}") from None
        words = " ".join((*self.names, self.reason or "", self.note or ""))
        if beyond := [number for number in re.findall(r"\{(\d+)\}", words) if not 1 <= int(number) <= groups]:
            raise ValueError(f"{{{beyond[0]}}} is no group of `line`, which has {groups}")
        if self.kind is Kind.BREAKS and not self.reason:
            raise ValueError("`breaks` needs a `reason`")
        return self


class FileFeed(Record):
    """What lines of files say of each release: at its tag in a repository, else in its source archive on the default index."""

    kind: Literal["files"]
    repo: Repo | None = None
    tags: Text = "v?(.+)"  # a pattern for the whole name of a tag; its group is the version
    releases: Text | None = None  # a specifier, where it is not all of them
    reads: tuple[FileRead, ...] = Field(min_length=1)


Feed = Annotated[TagFeed | DeviceFeed | KernelFeed | FileFeed, Field(discriminator="kind")]
