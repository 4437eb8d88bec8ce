"""Container images: tags, what they contain, the tables that list them, and how they are run."""

import json
from typing import Any, NamedTuple

from compatkb.store.queries.kept import kept
from compatkb.store.reader import Snapshot, read_sources
from compatkb.store.records import Sources

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
    built: ImageBuildState | None
    same: int
    runs: Runs
    note: str | None
    sources: Sources

    @property
    def reference(self) -> str:
        """The name by which the image is pulled: repository:tag."""
        return f"{self.repository}:{self.name}"


class ContentRecord(NamedTuple):
    """Something that an image contains: elements of a product, none where the data know no such one."""

    image: int
    product: str
    mask: int
    spec: str
    basis: str


class ListingRecord(NamedTuple):
    """A row of a document's table; `lists` is tags where its first tag is an image, `shown` the document."""

    repository: str
    lists: str
    table: str
    tags: tuple[str, ...]
    runs: Runs
    document: str
    cells: dict[str, str]
    links: dict[str, str]


class ColumnRecord(NamedTuple):
    """A column of a document's tables; `shows` is tags, built, port, or None for versions and plain text."""

    repository: str
    name: str
    title: str
    product: str | None
    shows: str | None


class RunRecord(NamedTuple):
    """What `docker run` needs for the images of a device and a flavour, None for any."""

    repository: str
    device: str | None
    flavour: str | None
    args: tuple[str, ...]
    command: tuple[str, ...]
    port: str | None
    note: str | None


_IMAGE = "id, repository, name, device, flavour, option, built, same, runs, note, sources"


def images(facts: Snapshot) -> tuple[ImageRecord, ...]:
    """Return every image tag, in the order of the data."""
    return tuple(map(_image, facts.select(f"select {_IMAGE} from image order by id")))


def repositories(facts: Snapshot) -> tuple[str, ...]:
    """Return the image repositories, in the order of the data."""
    return tuple(name for (name,) in facts.select("select repository from image group by repository order by min(id)"))


def images_of(facts: Snapshot, repository: str) -> tuple[ImageRecord, ...]:
    """Return the tags of a repository, in the order of the data."""
    return tuple(map(_image, facts.select(f"select {_IMAGE} from image where repository = ? order by id", repository)))


@kept
def image(facts: Snapshot, number: int) -> ImageRecord:
    """Return the image tag of a number."""
    return _image(facts.select(f"select {_IMAGE} from image where id = ?", number)[0])


def _image(row: tuple[Any, ...]) -> ImageRecord:
    return ImageRecord._make((*row[:6], _state(row[6]), row[7], read_runs(row[8]), row[9], read_sources(row[10])))


def _state(text: str | None) -> ImageBuildState | None:
    if text is None:
        return None
    built = json.loads(text)
    sources = tuple((name, url) for name, url in built["sources"])
    return ImageBuildState(built["ref"], built["on"], built["url"], built["note"], sources)


def read_runs(text: str) -> Runs:
    """Return spans of days as the snapshot keeps them."""
    return tuple((first, last) for first, last in json.loads(text))


def contents(facts: Snapshot) -> dict[int, tuple[ContentRecord, ...]]:
    """Return what each image contains, by its number."""
    found: dict[int, list[ContentRecord]] = {}
    for row in facts.select("select image, product, mask, spec, basis from content order by rowid"):
        found.setdefault(row[0], []).append(_content(row))
    return {number: tuple(parts) for number, parts in found.items()}


@kept
def contents_of(facts: Snapshot, number: int) -> tuple[ContentRecord, ...]:
    """Return what an image contains."""
    query = "select image, product, mask, spec, basis from content where image = ? order by rowid"
    return tuple(map(_content, facts.select(query, number)))


@kept
def images_with(facts: Snapshot, product: str) -> tuple[ContentRecord, ...]:
    """Return what images contain of a product."""
    query = "select image, product, mask, spec, basis from content where product = ? order by rowid"
    return tuple(map(_content, facts.select(query, product)))


def _content(row: tuple[Any, ...]) -> ContentRecord:
    number, product, mask, spec, basis = row
    return ContentRecord(number, product, int(mask, 16), spec, basis)


def listings(facts: Snapshot) -> tuple[ListingRecord, ...]:
    """Return the rows of all tables that list images, by repository, table and place in it."""
    query = (
        "select repository, lists, table_id, tags, runs, shown, cells, links from listing "
        "order by repository, table_id, position, id"
    )
    return tuple(
        ListingRecord._make(
            (*row[:3], tuple(json.loads(row[3])), read_runs(row[4]), row[5], json.loads(row[6]), json.loads(row[7]))
        )
        for row in facts.select(query)
    )


def columns_of(facts: Snapshot, repository: str) -> dict[str, ColumnRecord]:
    """Return the columns of a repository's tables by name, in their order."""
    query = "select repository, name, title, product, shows from column where repository = ? order by position"
    return {row[1]: ColumnRecord(*row) for row in facts.select(query, repository)}


def runs_for(facts: Snapshot, image: ImageRecord) -> list[RunRecord]:
    """Return what `docker run` needs for an image: the records for its device and its flavour, in the order of the file."""
    return [
        run
        for run in runs_of(facts, image.repository)
        if run.device in (None, image.device) and run.flavour in (None, image.flavour)
    ]


def runs_of(facts: Snapshot, repository: str) -> tuple[RunRecord, ...]:
    """Return what `docker run` needs for images of a repository."""
    query = "select repository, device, flavour, args, command, port, note from run where repository = ? order by id"
    return tuple(
        RunRecord._make((*row[:3], tuple(json.loads(row[3])), tuple(json.loads(row[4])), *row[5:]))
        for row in facts.select(query, repository)
    )
