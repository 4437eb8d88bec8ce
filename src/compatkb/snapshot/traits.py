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


def traits(elements: Iterable[Row]) -> dict[tuple[str, str, str], int]:
    """Return for each product, column and value the elements that have it; none for what is not known of an element."""
    found: dict[tuple[str, str, str], int] = {}
    places: dict[tuple[object, ...], int] = {}
    for element in elements:
        told = {column: element[column] for column in COLUMNS if element[column] is not None}
        told["place"] = places.setdefault(tuple(element[column] for column in PLACE), len(places))
        for column, value in told.items():
            key = (element["product"], column, str(value))
            found[key] = found.get(key, 0) | 1 << element["idx"]
    return found


def series(elements: Iterable[Row], depths: Mapping[str, int]) -> dict[str, list[int]]:
    """Return for each product the number of the series of each element, oldest element first; series are numbered from 0.

    `depths` tells how many numbers of a release make the series of each product.
    """
    names: dict[str, dict[str, int]] = {}
    found: dict[str, list[int]] = {}
    for element in elements:
        known = names.setdefault(element["product"], {})
        name = _series(element["release"], depths[element["product"]])
        found.setdefault(element["product"], []).append(known.setdefault(name, len(known)))
    return found


def _series(release: str, depth: int) -> str:
    """Return the series that a release belongs to; one without numbers is a series of its own."""
    numbers = re.match(r"\d+(\.\d+)*", release)
    return ".".join(numbers[0].split(".")[:depth]) if numbers else release
