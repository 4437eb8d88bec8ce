"""Regions about container images: tables of tags, and the commands that run them."""

from compatkb.core.vocabulary import Role
from compatkb.docgen.arguments import YES_NO, RegionArgument, RegionContext, region_kind
from compatkb.docgen.image_rows import ImageRow, cell_of, rows_on
from compatkb.errors import UsageError
from compatkb.output.document_model import Block, Code, Inline, Paragraph, Table, plain
from compatkb.output.images import run_command
from compatkb.request.lookup import find_product, find_versions
from compatkb.store.queries.images import ColumnRecord, columns_of, contents_of, images, listings, runs_for

ORDERS = LISTED, NEWEST, NAME = ("listed", "newest", "name")
_FILTERS = (
    RegionArgument("repository", "the repository, as docker pull takes it; every one unless given"),
    RegionArgument("table", "only the rows of this table of the document that lists them"),
    RegionArgument("device", "only images for this device"),
    RegionArgument("flavour", "only images of this kind, such as base"),
    RegionArgument("option", "only images with this package manager inside"),
)


def chosen(asked: RegionContext) -> list[ImageRow]:
    """Return the rows that a region asks for, in the order that it wants; raises UsageError for what nobody ever listed."""
    rows = [row for row in rows_on(asked.facts, asked.day) if _fits(asked, row)]
    if not rows:
        _check(asked)
    order = asked.values.get("sort", LISTED)
    if order == NAME:
        rows.sort(key=lambda row: row.tags)
    elif order == NEWEST:
        rows.sort(key=lambda row: _age(asked, row))
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
    return any(part.mask & wanted for part in contents_of(asked.facts, image) if part.product == product.id)


def _check(asked: RegionContext) -> None:
    """Raise UsageError where no row of any day would do, so that a misspelt filter is not an empty table."""
    listed, tags = listings(asked.facts), images(asked.facts)
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
    numbers = {part.product: part.mask.bit_length() for part in contents_of(asked.facts, row.image.same)}
    return tuple(-numbers.get(name, 0) for name, product in asked.facts.products.items() if product.role == Role.PACKAGE)


def _columns(asked: RegionContext, rows: list[ImageRow]) -> list[dict[str, ColumnRecord]]:
    """Return the columns of a table, each by repository, in their order; raises UsageError."""
    known = {row.repository: columns_of(asked.facts, row.repository) for row in rows}
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
    cells = [tuple(_cell(asked, row, column) for column in columns) for row in rows]
    blocks: list[Block] = [Table(head, tuple(cells))]
    if asked.is_on("foot"):
        documents = ", ".join(dict.fromkeys(row.document for row in rows))
        held = f"with what the build files declare; data of {asked.facts.meta['data_date']}"
        blocks.append(Paragraph(f"As listed in {documents} on {asked.day}, {held}. No image was pulled."))
    return blocks


def _cell(asked: RegionContext, row: ImageRow, column: dict[str, ColumnRecord]) -> Inline:
    return cell_of(asked.facts, row, column[row.repository], asked.day) if row.repository in column else ""


def _run(asked: RegionContext) -> list[Block]:
    rows = [row for row in chosen(asked) if row.image]
    if tag := asked.values["tag"]:
        rows = [row for row in rows if tag in row.tags]
    if not rows:
        raise UsageError(f"no image is listed so on {asked.day}{f' under {tag}' if tag else ''}")
    row = min(rows, key=lambda row: _age(asked, row))
    name = tag or row.tags[0]
    assert row.image
    known = [c for c in columns_of(asked.facts, row.repository).values() if c.product and c.name in row.cells]
    holds = [f"{column.title} {plain(cell_of(asked.facts, row, column, asked.day))}" for column in known]
    shown = Paragraph(f"Holds {', '.join(holds)}, by what its build files declare; listed on {asked.day} in {row.document}.")
    notes = [Paragraph(run.note) for run in runs_for(asked.facts, row.image) if run.note]
    return [Code(run_command(asked.facts, row.image, name), "sh"), *notes, shown]


IMAGES = {
    "images": region_kind(
        "a table of the image tags that a document listed at the end of the day, with what they hold",
        _images,
        *_FILTERS,
        RegionArgument("columns", "the columns, separated by commas; those of the document unless given"),
        RegionArgument("titles", "the heads of the columns, separated by commas; those of the document unless given"),
        RegionArgument("sort", "listed: as in the document; newest: newest versions first; name", LISTED, choices=ORDERS),
        RegionArgument("foot", "whether a line below says where and when they were listed", "no", choices=YES_NO),
        pins=True,
    ),
    "run": region_kind(
        "the command that runs the newest image that fits, and what it holds",
        _run,
        *_FILTERS,
        RegionArgument("tag", "the tag; the newest that fits unless given"),
        pins=True,
    ),
}
