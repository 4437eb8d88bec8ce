"""Regions about container images: tables of tags, and the commands that run them."""

import json
import shlex

from compatkb.asking import find_product, find_versions
from compatkb.docs.asking import YES_NO, Argument, Kind, Question
from compatkb.docs.listed import Column, Listed, cell_of, columns_of, rows_on
from compatkb.errors import UsageError
from compatkb.rendering.blocks import Block, Code, Inline, Paragraph, Table, plain
from compatkb.snapshot.read import Fields, Snapshot

ORDERS = LISTED, NEWEST, NAME = ("listed", "newest", "name")
_FILTERS = (
    Argument("repository", "the repository, as docker pull takes it; every one unless given"),
    Argument("table", "only the rows of this table of the document that lists them"),
    Argument("device", "only images for this device"),
    Argument("flavour", "only images of this kind, such as base"),
    Argument("option", "only images with this package manager inside"),
)


def chosen(asked: Question) -> list[Listed]:
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


def _fits(asked: Question, row: Listed) -> bool:
    values, image = asked.values, row.image
    if values["repository"] not in ("", row.repository) or values["table"] not in ("", row.table):
        return False
    if image is None:
        return bool(values["table"]) and not asked.pins and not any(values[name] for name in ("device", "flavour", "option"))
    if any(values[name] not in ("", image[name]) for name in ("device", "flavour", "option")):
        return False
    return all(_holds(asked, image["same"], name, text) for name, text in asked.pins.items())


def _holds(asked: Question, image: int, name: str, text: str) -> bool:
    product = find_product(asked.facts, name)
    wanted = find_versions(asked.facts, product, text)
    rows = asked.facts.rows("select mask from content where image = ? and product = ?", image, product.id)
    return any(int(row["mask"], 16) & wanted for row in rows)


def _check(asked: Question) -> None:
    """Raise UsageError where no row of any day would do, so that a misspelt filter is not an empty table."""
    known: dict[str, set[str]] = {
        "repository": {row["repository"] for row in asked.facts.rows("select repository from listing")},
        "table": {row["table_id"] for row in asked.facts.rows("select table_id from listing")},
    }
    for name in ("device", "flavour", "option"):
        known[name] = {row[name] for row in asked.facts.rows(f"select {name} from image where {name} is not null")}
    for name, values in known.items():
        if asked.values[name] and asked.values[name] not in values:
            raise UsageError(f"{name}={asked.values[name]}: no image is listed so; there are {', '.join(sorted(values))}")


def _age(asked: Question, row: Listed) -> tuple[int, ...]:
    """Return what puts newer images first: the numbers of what they hold, product by product."""
    if row.image is None:
        return ()
    held = asked.facts.rows("select product, mask from content where image = ?", row.image["same"])
    found = {part["product"]: int(part["mask"], 16).bit_length() for part in held}
    return tuple(-found.get(name, 0) for name, product in asked.facts.products.items() if product.role == "package")


def _columns(asked: Question, rows: list[Listed]) -> list[dict[str, Column]]:
    """Return the columns of a table, each by repository, in their order; raises UsageError."""
    known = {row.repository: columns_of(asked.facts, row.repository) for row in rows}
    names = asked.words("columns")
    if not names:
        heads = [c.name for c in known[rows[0].repository].values() if c.shows == "tags"]
        tags = heads[0] if rows[0].image else heads[-1]
        shown = {name for row in rows for name in row.cells}
        names = [tags, *dict.fromkeys(name for columns in known.values() for name in columns if name in shown)]
    found = []
    for name in names:
        columns = {repository: columns[name] for repository, columns in known.items() if name in columns}
        if not columns:
            there = dict.fromkeys(name for columns in known.values() for name in columns)
            raise UsageError(f"columns={name}: there is no such column; there are {', '.join(there)}")
        found.append(columns)
    return found


def _images(asked: Question) -> list[Block]:
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
    return [*blocks, *_sources(asked, rows)] if asked.is_on("foot") else blocks


def _cell(asked: Question, row: Listed, column: dict[str, Column]) -> Inline:
    return cell_of(asked.facts, row, column[row.repository], asked.day) if row.repository in column else ""


def _sources(asked: Question, rows: list[Listed]) -> list[Block]:
    documents = ", ".join(dict.fromkeys(row.document for row in rows))
    return [
        Paragraph(
            f"As listed in {documents} on {asked.day}, with what the build files declare; data of "
            f"{asked.facts.meta['data_date']}. No image was pulled."
        )
    ]


def _run(asked: Question) -> list[Block]:
    rows = [row for row in chosen(asked) if row.image]
    if tag := asked.values["tag"]:
        rows = [row for row in rows if tag in row.tags]
    if not rows:
        raise UsageError(f"no image is listed so on {asked.day}{f' under {tag}' if tag else ''}")
    row = min(rows, key=lambda row: _age(asked, row))
    name = tag or row.tags[0]
    assert row.image
    holds = [f"{column.title} {plain(cell_of(asked.facts, row, column, asked.day))}" for column in _known(asked, row)]
    shown = Paragraph(f"Holds {', '.join(holds)}, by what its build files declare; listed on {asked.day} in {row.document}.")
    return [Code(run_command(asked.facts, row.image, name), "sh"), shown]


def _known(asked: Question, row: Listed) -> list[Column]:
    return [c for c in columns_of(asked.facts, row.repository).values() if c.product and c.name in row.cells]


def run_command(facts: Snapshot, image: Fields, tag: str) -> str:
    """Return the command that runs an image, with the arguments that its device and flavour need."""
    found: list[str] = []
    for run in facts.rows("select * from run where repository = ? order by id", image["repository"]):
        if run["device"] in (None, image["device"]) and run["flavour"] in (None, image["flavour"]):
            found += json.loads(run["args"])
    lines: list[list[str]] = []
    for word in found:  # an option and its value share a line
        if word.startswith("-") or not lines:
            lines.append([word])
        else:
            lines[-1].append(word)
    parts = ["docker run -it --rm", *(shlex.join(words) for words in lines), shlex.quote(f"{image['repository']}:{tag}")]
    return " \\\n    ".join(parts) if lines else " ".join(parts)


IMAGES = {
    "images": Kind(
        "a table of the image tags that a document listed at the end of the day, with what they hold",
        _images,
        (
            *_FILTERS,
            Argument("columns", "the columns, separated by commas; those of the document unless given"),
            Argument("titles", "the heads of the columns, separated by commas; those of the document unless given"),
            Argument(
                "sort",
                "listed: as in the document; newest: newest versions first; name",
                LISTED,
                choices=ORDERS,
            ),
            Argument("foot", "whether a line below says where and when they were listed", "no", choices=YES_NO),
        ),
        pins=True,
    ),
    "run": Kind(
        "the command that runs the newest image that fits, and what it holds",
        _run,
        (*_FILTERS, Argument("tag", "the tag; the newest that fits unless given")),
        pins=True,
    ),
}
