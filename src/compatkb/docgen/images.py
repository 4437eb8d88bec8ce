"""Container images as of a day: the tags that a document listed and what the data hold of them; tables, commands to run."""

import re
from datetime import date
from urllib.parse import quote

from compatkb.core.record import NamedTuple
from compatkb.core.vocabulary import Role
from compatkb.docgen.arguments import YES_NO, RegionArgument, RegionContext, RegionKind
from compatkb.errors import UsageError
from compatkb.output.images import run_command
from compatkb.output.writers import Block, Code, Inline, Paragraph, Span, Table, plain
from compatkb.request.lookup import find_product, find_versions
from compatkb.store.queries.images import (
    ColumnRecord,
    ImageRecord,
)
from compatkb.store.reader import Snapshot
from compatkb.store.records import Element

_COMMIT = re.compile(r"[0-9a-f]{40}")
_UNKNOWN = "unknown"


class ImageRow(NamedTuple):
    """A row that a document had on a day; `image` is the record of its first tag, None for what is no tag."""

    repository: str
    table: str
    tags: tuple[str, ...]
    cells: dict[str, str]
    links: dict[str, str]
    image: ImageRecord | None
    document: str


class ImageTables:
    """The tables of image tags that documents had at the end of a day, and what the data hold of them."""

    def __init__(self, facts: Snapshot, day: date) -> None:
        self.facts, self.day = facts, day

    def rows(self) -> list[ImageRow]:
        """Return what was listed at the end of a day, by repository, table and place in it.

        A tag is one image: where it stood on several rows of a table, only the first one keeps it.
        """
        known = {(image.repository, image.name): image for image in self.facts.images()}
        rows = []
        seen: set[tuple[str, str, str]] = set()
        for row in self.facts.listings():
            if not any(first <= self.day.toordinal() <= last for first, last in row.runs):
                continue
            where = (row.repository, row.table)
            tags = tuple(tag for tag in row.tags if (*where, tag) not in seen)
            if not tags:
                continue
            seen |= {(*where, tag) for tag in tags}
            image = known.get((row.repository, tags[0])) if row.lists == "tags" else None
            rows.append(ImageRow(*where, tags, row.cells, row.links, image, row.document))
        return rows

    def cell(self, row: ImageRow, column: ColumnRecord) -> Inline:
        """Return what a cell shows: the tags, what the image holds, or, where the data hold no more, what the document has."""
        if column.shows == "tags":
            pieces = [Span(tag, code=True) for tag in row.tags]
            return tuple(piece for tag in pieces for piece in (", ", tag))[1:]
        if column.shows == "built" and row.image and (built := row.image.built) and (built.on or "") <= self.day.isoformat():
            state = built.ref[:8] if built.ref and _COMMIT.fullmatch(built.ref) else built.ref
            return Span(state, built.url, topic=column.name) if state else Span(_UNKNOWN)
        if column.shows == "port":
            port = row.cells.get(column.name, "") and (self._port(row) or row.cells[column.name])
            return Span(port, code=bool(port))
        if column.product in self.facts.products and row.image and (span := self._version(row, column)):
            return span
        return _as_listed(row, column)

    def _port(self, row: ImageRow) -> str | None:
        flavour = row.image.flavour if row.image else None
        ports = (run.port for run in self.facts.runs_of(row.repository) if flavour is not None and run.flavour == flavour)
        return next((port for port in ports if port is not None), None)

    def _version(self, row: ImageRow, column: ColumnRecord) -> Span | None:
        """Return a product's version in an image as documents name it, with its page; None where no version is known."""
        assert row.image
        assert column.product
        held = [part for part in self.facts.contents_of(row.image.same) if part.product == column.product]
        exact = re.fullmatch(r"==(.+?)(\.\*)?", held[0].spec) if len(held) == 1 else None
        if not exact:
            return None
        mask = held[0].mask
        elements = self.facts.elements(column.product).of(mask)
        listed, link = row.cells.get(column.name, ""), row.links.get(column.name)
        agrees = bool(mask & (self.facts.word(column.product, listed) or 0))
        head = self.facts.product_details(column.product)
        names = _names(exact, elements, row.image.device)
        label = head.page_label.format(**names) if head.page_label else (listed if agrees else names["build"])
        pages = self._pages(column.product, elements)
        if head.page_url and not pages:
            url: str | None = head.page_url.format(**{name: quote(text, safe="") for name, text in names.items()})
        else:
            url = link if link in pages or (not pages and agrees) else next(iter(pages), None)
        return Span(label, url, topic=column.product)

    def _pages(self, product: str, elements: list[Element]) -> list[str]:
        """Return the pages of the releases of these elements that had come out, newest first."""
        known = {record.version: record.page for record in self.facts.releases_of(product)}
        out = [e for e in reversed(elements) if e.since is None or e.since <= self.day.toordinal()]
        return [page for e in out if (page := known.get(e.release))]


def _as_listed(row: ImageRow, column: ColumnRecord) -> Inline:
    """Return a cell as the document has it; a link on a part of it has a key such as `description/INC`."""
    text = row.cells.get(column.name, "")
    parts = {key.partition("/")[2]: url for key, url in row.links.items() if key.startswith(f"{column.name}/") and "/" in key}
    pieces: list[str | Span] = []
    place = 0
    for part, url in sorted(parts.items(), key=lambda pair: text.find(pair[0])):
        start = text.find(part, place)
        if start >= 0:
            pieces += [text[place:start], Span(part, url, topic=column.name)]
            place = start + len(part)
    if not pieces:
        return Span(text, row.links.get(column.name), topic=column.name)
    return tuple(piece for piece in (*pieces, text[place:]) if piece)


def _names(exact: re.Match[str], elements: list[Element], device: str) -> dict[str, str]:
    """Return how a version can be named: its series, its release, and the build that an image for a device holds."""
    builds = [e for e in elements if device in e.devices] or elements
    newest = builds[-1] if builds else None
    build = exact[1] if "+" in exact[1] or not newest else newest.version
    return {"series": exact[1], "release": newest.release if newest else exact[1], "build": build}


_FILTERS = (
    RegionArgument("repository", "the repository, as docker pull takes it; every one unless given"),
    RegionArgument("table", "only the rows of this table of the document that lists them"),
    RegionArgument("device", "only images for this device"),
    RegionArgument("flavour", "only images of this kind, such as base"),
    RegionArgument("option", "only images with this package manager inside"),
)


def chosen(asked: RegionContext) -> list[ImageRow]:
    """Return the rows that a region asks for, as they were listed; raises UsageError for what nobody ever listed."""
    rows = [row for row in ImageTables(asked.facts, asked.day).rows() if _fits(asked, row)]
    if not rows:
        _check(asked)
    return rows


def _fits(asked: RegionContext, row: ImageRow) -> bool:
    values, image = asked.values, row.image
    if values["repository"] not in ("", row.repository) or values["table"] not in ("", row.table):
        return False
    if image is None:
        return bool(values["table"]) and not asked.pins and not any(values[name] for name in ("device", "flavour", "option"))
    if any(values[name] not in ("", getattr(image, name)) for name in ("device", "flavour", "option")):
        return False
    return all(_holds(asked, image.same, name, text) for name, text in asked.pins.items())


def _holds(asked: RegionContext, image: int, name: str, text: str) -> bool:
    product = find_product(asked.facts, name)
    wanted = find_versions(asked.facts, product, text)
    return any(part.mask & wanted for part in asked.facts.contents_of(image) if part.product == product.id)


def _check(asked: RegionContext) -> None:
    """Raise UsageError where no row of any day would do, so that a misspelt filter is not an empty table."""
    listed, tags = asked.facts.listings(), asked.facts.images()
    known = {"repository": {row.repository for row in listed}, "table": {row.table for row in listed}}
    for name in ("device", "flavour", "option"):
        known[name] = {getattr(tag, name) for tag in tags} - {None}
    for name, values in known.items():
        if asked.values[name] and asked.values[name] not in values:
            raise UsageError(f"{name}={asked.values[name]}: no image is listed so; there are {', '.join(sorted(values))}")


def _age(asked: RegionContext, row: ImageRow) -> tuple[int, ...]:
    """Return what puts newer images first: the numbers of what they hold, product by product."""
    if row.image is None:
        return ()
    numbers = {part.product: part.mask.bit_length() for part in asked.facts.contents_of(row.image.same)}
    return tuple(-numbers.get(name, 0) for name, product in asked.facts.products.items() if product.role == Role.PACKAGE)


def _columns(asked: RegionContext, rows: list[ImageRow]) -> list[dict[str, ColumnRecord]]:
    """Return the columns of a table, each by repository, in their order; raises UsageError."""
    known = {row.repository: asked.facts.columns_of(row.repository) for row in rows}
    names = asked.words("columns")
    if not names:
        heads = [c.name for c in known[rows[0].repository].values() if c.shows == "tags"]
        tags = heads[0] if rows[0].image else heads[-1]
        shown = {name for row in rows for name in row.cells}
        names = [tags, *dict.fromkeys(name for columns in known.values() for name in columns if name in shown)]
    selection = []
    for name in names:
        columns = {repository: columns[name] for repository, columns in known.items() if name in columns}
        if not columns:
            there = dict.fromkeys(name for columns in known.values() for name in columns)
            raise UsageError(f"columns={name}: there is no such column; there are {', '.join(there)}")
        selection.append(columns)
    return selection


def _images(asked: RegionContext) -> list[Block]:
    rows = chosen(asked)
    if not rows:
        return [Paragraph(f"No image was listed so on {asked.day}.")]
    columns = _columns(asked, rows)
    titles = [title.strip() for title in asked.values["titles"].split(",")] if asked.values["titles"] else []
    if titles and len(titles) != len(columns):
        raise UsageError(f"titles= has {len(titles)} heads for {len(columns)} columns")
    head = tuple(titles or (next(iter(column.values())).title for column in columns))
    tables = ImageTables(asked.facts, asked.day)
    cells = [tuple(tables.cell(row, c[row.repository]) if row.repository in c else "" for c in columns) for row in rows]
    blocks: list[Block] = [Table(head, tuple(cells))]
    if asked.is_on("foot"):
        documents = ", ".join(dict.fromkeys(row.document for row in rows))
        held = f"with what the build files declare; data of {asked.facts.meta['data_date']}"
        blocks.append(Paragraph(f"As listed in {documents} on {asked.day}, {held}. No image was pulled."))
    return blocks


def _run(asked: RegionContext) -> list[Block]:
    rows = [row for row in chosen(asked) if row.image]
    if tag := asked.values["tag"]:
        rows = [row for row in rows if tag in row.tags]
    if not rows:
        raise UsageError(f"no image is listed so on {asked.day}{f' under {tag}' if tag else ''}")
    row = min(rows, key=lambda row: _age(asked, row))
    name = tag or row.tags[0]
    assert row.image
    known = [c for c in asked.facts.columns_of(row.repository).values() if c.product and c.name in row.cells]
    tables = ImageTables(asked.facts, asked.day)
    holds = [f"{column.title} {plain(tables.cell(row, column))}" for column in known]
    shown = Paragraph(f"Holds {', '.join(holds)}, by what its build files declare; listed on {asked.day} in {row.document}.")
    runs = asked.facts.runs_for(row.image)
    notes = [Paragraph(run.note) for run in runs if run.note]
    return [Code(run_command(row.image, name, runs), "sh"), *notes, shown]


IMAGES = {
    "images": RegionKind(
        "a table of the image tags that a document listed at the end of the day, with what they hold",
        _images,
        *_FILTERS,
        RegionArgument("columns", "the columns, separated by commas; those of the document unless given"),
        RegionArgument("titles", "the heads of the columns, separated by commas; those of the document unless given"),
        RegionArgument("foot", "whether a line below says where and when they were listed", "no", choices=YES_NO),
        pins=True,
    ),
    "run": RegionKind(
        "the command that runs the newest image that fits, and what it holds",
        _run,
        *_FILTERS,
        RegionArgument("tag", "the tag; the newest that fits unless given"),
        pins=True,
    ),
}
