"""Rows of image tables as of a day: which tags a document listed, and what the knowledge base holds of them."""

import re
from datetime import date
from typing import NamedTuple
from urllib.parse import quote

from compatkb.output.document_model import Inline, Span
from compatkb.store.queries.disputes import disputes_about
from compatkb.store.queries.images import ColumnRecord, ImageRecord, contents_of, images, listings, runs_of
from compatkb.store.queries.products import product_details, releases_of
from compatkb.store.reader import Snapshot
from compatkb.store.records import Element, Sources

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


class CellReason(NamedTuple):
    """Why a cell is as it is, where it is not what the document has; sources are text and address."""

    text: str
    sources: Sources


def rows_on(facts: Snapshot, day: date) -> list[ImageRow]:
    """Return what was listed at the end of a day, by repository, table and place in it.

    A tag is one image: where it stood on several rows of a table, only the first one keeps it.
    """
    known = {(image.repository, image.name): image for image in images(facts)}
    rows = []
    seen: set[tuple[str, str, str]] = set()
    for row in listings(facts):
        if not any(first <= day.toordinal() <= last for first, last in row.runs):
            continue
        where = (row.repository, row.table)
        tags = tuple(tag for tag in row.tags if (*where, tag) not in seen)
        if not tags:
            continue
        seen |= {(*where, tag) for tag in tags}
        image = known.get((row.repository, tags[0])) if row.lists == "tags" else None
        rows.append(ImageRow(*where, tags, row.cells, row.links, image, row.document))
    return rows


def cell_of(facts: Snapshot, row: ImageRow, column: ColumnRecord, day: date) -> Inline:
    """Return what a cell shows: the tags, what the image holds, or, where the data hold no more, what the document has."""
    if column.shows == "tags":
        pieces = [Span(tag, code=True) for tag in row.tags]
        return tuple(piece for tag in pieces for piece in (", ", tag))[1:]
    if column.shows == "built" and row.image and (built := row.image.built) and (built.on or "") <= day.isoformat():
        state = built.ref[:8] if built.ref and _COMMIT.fullmatch(built.ref) else built.ref
        return Span(state, built.url, topic=column.name) if state else Span(_UNKNOWN)
    if column.shows == "port":
        port = row.cells.get(column.name, "") and (_port(facts, row) or row.cells[column.name])
        return Span(port, code=bool(port))
    if column.product in facts.products and row.image and (span := _version(facts, row, column, day)):
        return span
    return _as_listed(row, column)


def _port(facts: Snapshot, row: ImageRow) -> str | None:
    flavour = row.image.flavour if row.image else None
    ports = (run.port for run in runs_of(facts, row.repository) if flavour is not None and run.flavour == flavour)
    return next((port for port in ports if port is not None), None)


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


def _version(facts: Snapshot, row: ImageRow, column: ColumnRecord, day: date) -> Span | None:
    """Return a product's version in an image as documents name it, with its page; None where no version is known."""
    assert row.image
    assert column.product
    held = [part for part in contents_of(facts, row.image.same) if part.product == column.product]
    exact = re.fullmatch(r"==(.+?)(\.\*)?", held[0].spec) if len(held) == 1 else None
    if not exact:
        return None
    mask = held[0].mask
    elements = facts.elements(column.product).of(mask)
    listed, link = row.cells.get(column.name, ""), row.links.get(column.name)
    agrees = bool(mask & (facts.word(column.product, listed) or 0))
    head = product_details(facts, column.product)
    names = _names(exact, elements, row.image.device)
    label = head.page_label.format(**names) if head.page_label else (listed if agrees else names["build"])
    pages = _pages(facts, column.product, elements, day)
    if head.page_url and not pages:
        url: str | None = head.page_url.format(**{name: quote(text, safe="") for name, text in names.items()})
    else:
        url = link if link in pages or (not pages and agrees) else next(iter(pages), None)
    return Span(label, url, topic=column.product)


def _names(exact: re.Match[str], elements: list[Element], device: str) -> dict[str, str]:
    """Return how a version can be named: its series, its release, and the build that an image for a device holds."""
    builds = [e for e in elements if device in e.devices] or elements
    newest = builds[-1] if builds else None
    build = exact[1] if "+" in exact[1] or not newest else newest.version
    return {"series": exact[1], "release": newest.release if newest else exact[1], "build": build}


def _pages(facts: Snapshot, product: str, elements: list[Element], day: date) -> list[str]:
    """Return the pages of the releases of these elements that had come out, newest first."""
    known = {record.version: record.page for record in releases_of(facts, product)}
    out = [e for e in reversed(elements) if e.since is None or e.since <= day.toordinal()]
    return [page for e in out if (page := known.get(e.release))]


def reason_of(facts: Snapshot, row: ImageRow, column: ColumnRecord) -> CellReason | None:
    """Return why a cell is not as the document has it: a dispute about this column, or how its state was found."""
    for dispute in disputes_about(facts, [f"{row.repository}:{tag}" for tag in row.tags]):
        if column.name in dispute.columns:
            cited = tuple(source for position in dispute.positions for source in position.sources)
            return CellReason(f"{dispute.about}: {dispute.decision}. {dispute.reason}", cited)
    if column.shows == "built" and row.image and (built := row.image.built):
        return CellReason(built.note, built.sources)
    return None
