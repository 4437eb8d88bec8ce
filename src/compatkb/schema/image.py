"""Records of data/images/: tags, their contents, and which document listed them when."""

from datetime import date, datetime
from typing import Literal, Self

from pydantic import Field, model_validator

from compatkb.schema.base import Basis, DeviceId, Dispute, Id, ProductId, Reasoned, Record, SourceEntry, Sources, Term, Text


class Contained(Reasoned):
    """One thing that an image holds."""

    is_: Term
    basis: Basis = Basis.STATED
    note: Text | None = None
    sources: Sources


class Built(Record):
    """The state of the build files that an image was made from, as far as it can be told: always an inference."""

    ref: Text | None = None  # a tag or a commit; none where no state of the build files fits
    on: date | None = None  # the day of that state
    note: Text
    sources: Sources


class Tag(Record):
    """A container image tag."""

    name: Text
    device: DeviceId
    flavour: Id | None = None
    option: Text | None = None  # the package manager inside: pip or idp
    contains: tuple[Contained, ...] = ()
    same_as: Text | None = None
    built: Built | None = None
    note: Text | None = None
    sources: Sources


class Revision(Record):
    """One revision of the document that lists tags; several may share a day, so `n` orders them."""

    n: int
    commit: Text
    at: datetime


class ListingEntry(Record):
    """A row of a tag table, and the runs of revisions (first and last, inclusive) in which it stood so."""

    tags: tuple[Text, ...] = Field(min_length=1)
    lists: Literal["tags", "services"] = "tags"  # services of the build files may share a name with a tag
    table: Id
    order: int
    runs: tuple[tuple[int, int], ...] = Field(min_length=1)
    cells: dict[str, str] = {}
    links: dict[str, str] = {}


class ColumnEntry(Record):
    """A column of the tag tables: its head, and the product of whose versions it speaks."""

    id: Id
    title: Text
    product: ProductId | None = None
    shows: Literal["tags", "built", "port"] | None = None  # what it has that is neither a version nor only listed


class RunEntry(Record):
    """Arguments of `docker run` that images of a device or flavour need, the command that they run, and their port.

    {pwd} stands for the current folder, {video} and {render} for the numbers of these groups of the host.
    """

    device: DeviceId | None = None
    flavour: Id | None = None
    args: tuple[Text, ...] = Field(min_length=1)
    command: tuple[Text, ...] = ()  # what the image is to run, where it does not run the right thing by itself
    port: Text | None = None
    note: Text | None = None
    sources: Sources


class Repository(Record):
    """The head of an image file."""

    id: Id
    name: Text  # as `docker pull` takes it
    names: tuple[Text, ...] = ()  # other repositories that carry the same tags
    document: Text  # path of the document that lists the tags
    repo: Text  # repository of that document
    other_tables: tuple[Id, ...] = ()  # tables of that document whose rows name no tags
    built_page: Text | None = None  # where the build files of a state are: {ref} stands for it
    note: Text | None = None

    @model_validator(mode="after")
    def _fillable(self) -> Self:
        try:
            (self.built_page or "").format(ref="")
        except (KeyError, IndexError, ValueError):
            raise ValueError("in `built-page` only {ref} can stand in braces") from None
        return self


class ImageFile(Record):
    """A file of data/images/."""

    repository: Repository
    source: dict[Id, SourceEntry]
    revision: tuple[Revision, ...] = ()
    column: tuple[ColumnEntry, ...] = ()
    run: tuple[RunEntry, ...] = ()
    tag: tuple[Tag, ...] = ()
    listing: tuple[ListingEntry, ...] = ()
    dispute: tuple[Dispute, ...] = ()

    def same_tag(self, tag: Tag) -> Tag:
        """Return the tag whose contents a tag has, itself where it names no other or one that is not there."""
        tags = {other.name: other for other in self.tag}
        for _ in self.tag:
            if tag.contains or tag.same_as is None:
                break
            tag = tags.get(tag.same_as, tag)
        return tag
