"""What takes the place of products that have ended: the best stack without them."""

import json
from collections.abc import Iterable, Sequence
from datetime import date
from typing import NamedTuple

from compatkb.asking import make_request
from compatkb.engine.answer import best_stacks
from compatkb.engine.stacks import Stack
from compatkb.errors import CompatkbError
from compatkb.snapshot.read import Snapshot

_WORKS = ("works", "works-with-warnings", "likely")


class Instead(NamedTuple):
    """The products that have ended, and a stack that does without them."""

    ended: tuple[str, ...]
    stack: Stack


def instead_of(
    facts: Snapshot,
    products: Iterable[str],
    options: Sequence[tuple[str, str]],
    devices: Sequence[str],
    day: date,
) -> Instead | None:
    """Return the best stack in place of ended products, where the data name what replaces them on these devices.

    `options` are version words of what stays, such as the system; the first of them are given up last.
    """
    heads = facts.rows("select id, replaced_by from product where replaced_by is not null")
    known = {row["id"]: json.loads(row["replaced_by"]) for row in heads}
    ended = tuple(product for product in facts.products if product in known and product in set(products))
    fitting = [name for name in ended if known[name]["device"] is None or not devices or known[name]["device"] in devices]
    if not fitting:
        return None
    words = tuple(dict.fromkeys(known[name]["product"] + known[name]["version"] for name in fitting))
    kept = [option for option in options if option[0] not in ended]
    asked = [device for device in dict.fromkeys(known[name]["device"] for name in fitting) if device] or list(devices)
    for number in range(len(kept), -1, -1):
        try:
            stacks = best_stacks(facts, make_request(facts, kept[:number], words, asked, day))
        except CompatkbError:
            continue
        for stack in stacks:
            if stack.verdict in _WORKS and not {e.product for e in stack.packages} & set(ended):
                return Instead(ended, stack)
    return None
