"""Container images: tags, what they contain, the tables that list them, and how they are run."""

from typing import Annotated

from compatkb.core.memo import memoized
from compatkb.core.record import NamedTuple
from compatkb.store.queries.solver import SolverQueries
from compatkb.store.records import Sources
from compatkb.store.rows import FieldForm, Mask, SourceList, TextMap, Texts, dumps, nested, read_list

Runs = tuple[tuple[int, int], ...]
"""Spans of days as ordinals, both ends inclusive; the last one may have no end, which is the last day there is."""


class ImageBuildState(NamedTuple):
    """The state of the build files that an image was made from; `on` is an ISO day."""

    ref: str | None
    on: str | None
    url: str | None
    note: str
    sources: Sources


class ImageRecord(NamedTuple):
    """An image tag, with the days on which documents listed it; `same` is the tag whose contents it has, or itself."""

    id: int
    repository: str
    name: str
    device: str
    flavour: str | None
    option: str | None
    built: Annotated[ImageBuildState, nested(ImageBuildState)] | None
    same: int
    runs: Annotated[Runs, FieldForm("TEXT", dumps, read_list)]
    note: str | None
    sources: SourceList

    @property
    def reference(self) -> str:
        """The name by which the image is pulled: repository:tag."""
        return f"{self.repository}:{self.name}"


class ContentRecord(NamedTuple):
    """Something that an image contains: elements of a product, none where the data know no such one."""

    image: int
    product: str
    mask: Mask
    spec: str
    basis: str


class ListingRecord(NamedTuple):
    """A row of a document's table; `lists` is tags where its first tag is an image, `shown` the document."""

    repository: str
    lists: str
    table: str
    position: int
    tags: Texts
    runs: Annotated[Runs, FieldForm("TEXT", dumps, read_list)]
    document: str
    cells: TextMap
    links: TextMap


class ColumnRecord(NamedTuple):
    """A column of a document's tables; `shows` is tags, built, port, or None for versions and plain text."""

    repository: str
    name: str
    position: int
    title: str
    product: str | None
    shows: str | None


class RunRecord(NamedTuple):
    """What `docker run` needs for the images of a device and a flavour, None for any."""

    repository: str
    device: str | None
    flavour: str | None
    args: Texts
    command: Texts
    port: str | None
    note: str | None
    sources: SourceList


class ImageQueries(SolverQueries):
    """What people read of container images."""

    def images(self) -> tuple[ImageRecord, ...]:
        """Return every image tag, in the order of the data."""
        return self.records(ImageRecord, "from image order by id")

    def repositories(self) -> tuple[str, ...]:
        """Return the image repositories, in the order of the data."""
        return tuple(name for (name,) in self.select("select repository from image group by repository order by min(id)"))

    def images_of(self, repository: str) -> tuple[ImageRecord, ...]:
        """Return the tags of a repository, in the order of the data."""
        return self.records(ImageRecord, "from image where repository = ? order by id", repository)

    @memoized
    def image(self, number: int) -> ImageRecord:
        """Return the image tag of a number."""
        return self.records(ImageRecord, "from image where id = ?", number)[0]

    def contents(self) -> dict[int, tuple[ContentRecord, ...]]:
        """Return what each image contains, by its number."""
        parts_by_image: dict[int, list[ContentRecord]] = {}
        for part in self.records(ContentRecord, "from content order by rowid"):
            parts_by_image.setdefault(part.image, []).append(part)
        return {number: tuple(parts) for number, parts in parts_by_image.items()}

    @memoized
    def contents_of(self, number: int) -> tuple[ContentRecord, ...]:
        """Return what an image contains."""
        return self.records(ContentRecord, "from content where image = ? order by rowid", number)

    @memoized
    def images_with(self, product: str) -> tuple[ContentRecord, ...]:
        """Return what images contain of a product."""
        return self.records(ContentRecord, "from content where product = ? order by rowid", product)

    def listings(self) -> tuple[ListingRecord, ...]:
        """Return the rows of all tables that list images, by repository, table and place in it."""
        return self.records(ListingRecord, "from listing order by repository, [table], position, rowid")

    def columns_of(self, repository: str) -> dict[str, ColumnRecord]:
        """Return the columns of a repository's tables by name, in their order."""
        columns = self.records(ColumnRecord, "from column where repository = ? order by position", repository)
        return {column.name: column for column in columns}

    def runs_for(self, image: ImageRecord) -> list[RunRecord]:
        """Return what `docker run` needs for an image: what there is for its device and flavour, in the order of the file."""
        return [
            run
            for run in self.runs_of(image.repository)
            if run.device in (None, image.device) and run.flavour in (None, image.flavour)
        ]

    def runs_of(self, repository: str) -> tuple[RunRecord, ...]:
        """Return what `docker run` needs for images of a repository."""
        return self.records(RunRecord, "from run where repository = ? order by rowid", repository)
