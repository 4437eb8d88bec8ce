"""Rows of the snapshot about sets of elements: which of them have what in common.

A question about a set (what is on offer for a device on a day?) is a few bit operations over these rows, however many
elements there are; an element itself is read when an answer shows it.
"""

import re
from collections.abc import Iterable, Mapping

from compatkb.snapshot.cells import Row

COLUMNS = ("devices", "installable", "stage", "only_with", "since", "yank_after", "yank_by", "eol")
PLACE = ("strong", "weak", "complete", "by", "floors")
"""What decides together where an element can be: elements that are one in it have the same `place`."""


def traits(elements: Iterable[Row], depths: Mapping[str, int]) -> dict[tuple[str, str, str], int]:
    """Return for each product, column and value the elements that have it; none for what is not known of an element.

    `depths` tells how many numbers of a release make the series of each product.
    """
    found: dict[tuple[str, str, str], int] = {}
    places: dict[tuple[object, ...], int] = {}
    for element in elements:
        told = {column: element[column] for column in COLUMNS if element[column] is not None}
        told["series"] = _series(element["release"], depths[element["product"]])
        told["place"] = places.setdefault(tuple(element[column] for column in PLACE), len(places))
        for column, value in told.items():
            key = (element["product"], column, str(value))
            found[key] = found.get(key, 0) | 1 << element["idx"]
    return found


def _series(release: str, depth: int) -> str:
    """Return the series that a release belongs to; one without numbers is a series of its own."""
    numbers = re.match(r"\d+(\.\d+)*", release)
    return ".".join(numbers[0].split(".")[:depth]) if numbers else release
