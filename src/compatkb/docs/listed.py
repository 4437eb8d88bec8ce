"""Rows of image tables as of a day: which tags a document listed, and what the knowledge base holds of them."""

import json
import re
from collections.abc import Iterable
from datetime import date
from typing import Any, NamedTuple
from urllib.parse import quote

from compatkb.records import Element
from compatkb.rendering import disputes
from compatkb.rendering.blocks import Inline, Span
from compatkb.snapshot.read import Fields, Snapshot

Content = dict[str, Any]
_COMMIT = re.compile(r"[0-9a-f]{40}")
_UNKNOWN = "unknown"


class Column(NamedTuple):
    """A column of the tables of one repository; `shows` is tags, built, port, or None for versions and plain text."""

    name: str
    title: str
    product: str | None
    shows: str | None


class Listed(NamedTuple):
    """A row that a document had on a day; `image` is the record of its first tag, None for what is no tag."""

    repository: str
    table: str
    tags: tuple[str, ...]
    cells: dict[str, str]
    links: dict[str, str]
    image: Fields | None
    document: str


class Reason(NamedTuple):
    """Why a cell is as it is, where it is not what the document has; sources are text and address."""

    text: str
    sources: tuple[tuple[str, str | None], ...]


def columns_of(facts: Snapshot, repository: str) -> dict[str, Column]:
    """Return the columns of a repository's tables by name, in their order."""
    rows = facts.rows("select * from column where repository = ? order by position", repository)
    return {row["name"]: Column(row["name"], row["title"], row["product"], row["shows"]) for row in rows}


def rows_on(facts: Snapshot, day: date) -> list[Listed]:
    """Return what was listed at the end of a day, by repository, table and place in it.

    A tag is one image: where it stood on several rows of a table, only the first one keeps it.
    """
    images = {(row["repository"], row["name"]): row for row in facts.rows("select * from image")}
    found = []
    seen: set[tuple[str, str, str]] = set()
    for row in facts.rows("select * from listing order by repository, table_id, position, id"):
        if not any(first <= day.toordinal() <= last for first, last in json.loads(row["runs"])):
            continue
        where = (row["repository"], row["table_id"])
        tags = tuple(tag for tag in json.loads(row["tags"]) if (*where, tag) not in seen)
        if not tags:
            continue
        seen |= {(*where, tag) for tag in tags}
        image = images.get((row["repository"], tags[0])) if row["lists"] == "tags" else None
        cells, links = json.loads(row["cells"]), json.loads(row["links"])
        found.append(Listed(*where, tags, cells, links, image, row["shown"]))
    return found


def cell_of(facts: Snapshot, row: Listed, column: Column, day: date) -> Inline:
    """Return what a cell shows: the tags, what the image holds, or, where the data hold no more, what the document has."""
    if column.shows == "tags":
        pieces = [Span(tag, code=True) for tag in row.tags]
        return tuple(piece for tag in pieces for piece in (", ", tag))[1:]
    if column.shows == "built" and row.image and (built := built_of(row.image)) and (built["on"] or "") <= day.isoformat():
        return Span(_state(built["ref"]), built["url"], topic=column.name) if built["ref"] else Span(_UNKNOWN)
    if column.shows == "port":
        port = row.cells.get(column.name, "") and (_port(facts, row) or row.cells[column.name])
        return Span(port, code=bool(port))
    if column.product in facts.products and row.image and (span := _version(facts, row, column, day)):
        return span
    return _as_listed(row, column)


def built_of(image: Fields) -> Content | None:
    """Return the state of the build files that an image was made from, as far as the data tell."""
    built: Content | None = json.loads(image["built"]) if image["built"] else None
    return built


def _state(ref: str) -> str:
    return ref[:8] if _COMMIT.fullmatch(ref) else ref


def _port(facts: Snapshot, row: Listed) -> str | None:
    flavour = row.image["flavour"] if row.image else None
    rows = facts.rows(
        "select port from run where repository = ? and flavour = ? and port is not null", row.repository, flavour
    )
    return rows[0]["port"] if rows else None


def _as_listed(row: Listed, column: Column) -> Inline:
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


def _version(facts: Snapshot, row: Listed, column: Column, day: date) -> Span | None:
    """Return a product's version in an image as documents name it, with its page; None where no version is known."""
    assert row.image
    assert column.product
    query = "select spec, mask from content where image = ? and product = ? order by rowid"
    held = facts.rows(query, row.image["same"], column.product)
    exact = re.fullmatch(r"==(.+?)(\.\*)?", held[0]["spec"]) if len(held) == 1 else None
    if not exact:
        return None
    mask = int(held[0]["mask"], 16)
    elements = facts.elements(column.product).of(mask)
    listed, link = row.cells.get(column.name, ""), row.links.get(column.name)
    agrees = bool(mask & (facts.word(column.product, listed) or 0))
    head = facts.rows("select page_label, page_url from product where id = ?", column.product)[0]
    names = _names(exact, elements, row.image["device"])
    label = head["page_label"].format(**names) if head["page_label"] else (listed if agrees else names["build"])
    pages = _pages(facts, column.product, elements, day)
    if head["page_url"] and not pages:
        url: str | None = head["page_url"].format(**{name: quote(text, safe="") for name, text in names.items()})
    else:
        url = link if link in pages or (not pages and agrees) else next(iter(pages), None)
    return Span(label, url, topic=column.product)


def _names(exact: re.Match[str], elements: list[Element], device: str) -> dict[str, str]:
    """Return how a version can be named: its series, its release, and the build that an image for a device holds."""
    mine = [e for e in elements if device in e.devices] or elements
    newest = mine[-1] if mine else None
    build = exact[1] if "+" in exact[1] or not newest else newest.version
    return {"series": exact[1], "release": newest.release if newest else exact[1], "build": build}


def _pages(facts: Snapshot, product: str, elements: list[Element], day: date) -> list[str]:
    """Return the pages of the releases of these elements that had come out, newest first."""
    known = {row["version"]: row["page"] for row in facts.rows("select version, page from release where product = ?", product)}
    out = [e for e in reversed(elements) if e.since is None or e.since <= day.toordinal()]
    return [page for e in out if (page := known.get(e.release))]


def reason_of(facts: Snapshot, row: Listed, column: Column) -> Reason | None:
    """Return why a cell is not as the document has it: a dispute about this column, or how its state was found."""
    for dispute in _disputes(facts, row):
        if column.name in dispute["columns"].split():
            cited = tuple((s[0], s[1]) for position in json.loads(dispute["positions"]) for s in position["sources"])
            return Reason(f"{dispute['about']}: {dispute['decision']}. {dispute['reason']}", cited)
    if column.shows == "built" and row.image and (built := built_of(row.image)):
        return Reason(built["note"], tuple((text, url) for text, url in built["sources"]))
    return None


def _disputes(facts: Snapshot, row: Listed) -> Iterable[Fields]:
    ids = dict.fromkeys(d["id"] for tag in row.tags for d in disputes.of_name(facts, f"{row.repository}:{tag}"))
    for name in ids:
        yield from facts.rows("select * from dispute where id = ?", name)
