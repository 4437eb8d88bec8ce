"""Rows of the snapshot about sets of elements: which of them have what in common.

A question about a set (what is on offer for a device on a day?) is a few bit operations over these rows, however many
elements there are; an element itself is read when an answer shows it.
"""

from collections.abc import Iterable, Iterator

from compatkb.snapshot.cells import Row

COLUMNS = ("devices", "installable", "stage", "only_with", "since", "yank_after", "yank_by", "eol")
PLACE = ("strong", "weak", "complete", "by", "floors")
"""What decides together where an element can be: elements that are one in it have the same `place`."""


def traits(elements: Iterable[Row]) -> Iterator[Row]:
    """Yield for each product, column and value the elements that have it; none for what is not known of an element."""
    found: dict[tuple[str, str, str], int] = {}
    places: dict[tuple[object, ...], int] = {}
    for element in elements:
        told = {column: element[column] for column in COLUMNS if element[column] is not None}
        told["place"] = places.setdefault(tuple(element[column] for column in PLACE), len(places))
        for column, value in told.items():
            key = (element["product"], column, str(value))
            found[key] = found.get(key, 0) | 1 << element["idx"]
    for (product, column, value), mask in found.items():
        yield {"product": product, "column": column, "value": value, "mask": f"{mask:x}"}
