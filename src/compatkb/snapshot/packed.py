"""What the engine reads of elements, edges and sets of elements: JSON by product, made from the rows of the tables.

A text that is read whole is many times quicker to read than its cells one by one, and what nobody asks for stays text.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence

from compatkb.records import STRONG, WEAK
from compatkb.snapshot import schema
from compatkb.snapshot.cells import Row

ELEMENT = (
    *("version", "release", "stage", "installable", "devices", "channels", "only_with", "distribution", "since", "by"),
    *("yank_after", "yank_by", "yank_reason", "eol", "strong", "weak", "floors", "complete", "maker", "extras"),
)
"""Columns in the order in which `Snapshot` reads them."""
_MOST_DIGITS = 3_500  # of 16; `sys.set_int_max_str_digits` has the limit for 10


def chunks(elements: Iterable[Row]) -> Iterator[Row]:
    """Yield the elements of each product, oldest first, so many a row."""
    found: dict[tuple[str, int], list[list[object]]] = {}
    for element in elements:
        found.setdefault((element["product"], element["idx"] // schema.CHUNK), []).append([element[name] for name in ELEMENT])
    for (product, number), rows in found.items():
        yield {"product": product, "n": number, "elements": _text(rows)}


def relations(edges: Iterable[Row]) -> Iterator[Row]:
    """Yield what each product says of each other one, in the order in which it first speaks of them."""
    found: dict[tuple[str, str], list[list[object]]] = {}
    for edge in edges:
        found.setdefault((edge["of_product"], edge["to_product"]), []).append(_edge(edge))
    for position, ((of, to), rows) in enumerate(found.items()):
        yield {"of_product": of, "to_product": to, "position": position, "edges": _text(rows)}


def _edge(edge: Row) -> list[object]:
    """Return an edge in the order in which `Snapshot` reads it; sets of elements are numbers here, unless they are wide."""
    mine, theirs, hardware, unlisted = (_number(edge[name]) for name in ("of_mask", "to_mask", "hardware", "unlisted"))
    level = WEAK if edge["basis"] == "inferred" else STRONG
    about = (edge["id"], edge["claim"], edge["kind"], mine, theirs, edge["spec"], edge["denies"], edge["vouches"], level)
    return [*about, edge["devices"], hardware, bool(edge["open"]), bool(edge["listed"]), unlisted]


def _number(mask: str) -> int | str:
    """Return a set as a number, or where Python reads none of that many digits, with a mark before it."""
    return int(mask, 16) if len(mask) <= _MOST_DIGITS else schema.WIDE + mask


def traits(found: Mapping[tuple[str, str, str], int], series: Mapping[str, list[int]]) -> Iterator[Row]:
    """Yield the sets of elements of each product, by column and value; and the number of the series of each element."""
    rows: dict[str, dict[str, list[tuple[str, str]]]] = {}
    for (product, column, value), mask in found.items():
        rows.setdefault(product, {}).setdefault(column, []).append((value, f"{mask:x}"))
    for product, columns in rows.items():
        yield {"product": product, "traits": _text(columns), "series": _text(series[product])}


def _text(content: Sequence[object] | Mapping[str, object]) -> str:
    return json.dumps(content, ensure_ascii=False, separators=(",", ":"))
