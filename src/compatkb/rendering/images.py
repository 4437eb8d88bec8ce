"""Image tags that contain a stack, as far as their repository declares it."""

import json
from datetime import date
from typing import Any

from compatkb.engine.stacks import Stack
from compatkb.records import Element
from compatkb.rendering import disputes
from compatkb.snapshot.read import Snapshot


def images_of(facts: Snapshot, stack: Stack, as_of: int) -> list[dict[str, Any]]:
    """Return the tags that declare every package that the stack is about and nothing that its route leaves out."""
    wanted = {e.product: e for e in stack.packages if e.product in stack.requested}
    wanted = {p: e for p, e in wanted.items() if facts.products[p].role == "package"}
    holding: dict[int, dict[str, str]] = {}
    for product, element in wanted.items():
        series = next(mask for mask in facts.series(product) if mask >> element.idx & 1)
        same = sum(1 << e.idx for e in facts.elements(product).of(series) if _alike(e, element))
        for held in facts.rows("select distinct mask from content where product = ?", product):
            if int(held["mask"], 16) & same:
                query = "select image, basis from content where product = ? and mask = ?"
                for row in facts.rows(query, product, held["mask"]):
                    holding.setdefault(row["image"], {})[product] = row["basis"]
    apart = next(route.without for route in facts.routes if route.id == stack.route) if holding else ()
    others = {row["image"] for product in apart for row in facts.rows("select image from content where product = ?", product)}
    families = {family for system in stack.os for family in (system, *facts.wider.get(system, ()))}
    found = []
    for number, bases in sorted(holding.items()):
        if len(bases) < len(wanted) or number in others:
            continue
        row = facts.rows("select repository, name, device, runs from image where id = ?", number)[0]
        runs = [run for run in json.loads(row["runs"]) if run[0] <= as_of]
        if row["device"] != stack.device or not runs or not _runs_on(facts, number, families):
            continue
        found.append(
            {
                "image": f"{row['repository']}:{row['name']}",
                "basis": "inferred" if "inferred" in bases.values() else "stated",
                "first_listed": date.fromordinal(runs[0][0]).isoformat(),
                "listed": any(run[1] >= as_of for run in runs),
                "disputes": disputes.of_name(facts, f"{row['repository']}:{row['name']}"),
            }
        )
    return found


def _runs_on(facts: Snapshot, image: int, families: set[str]) -> bool:
    """Return whether an image holds a system of one of these families, or does not say which one it holds."""
    rows = facts.rows("select mask from content where image = ? and product = 'os'", image)
    held = [e.version for row in rows for e in facts.elements("os").of(int(row["mask"], 16))]
    return not held or any(families & {system, *facts.wider.get(system, ())} for system in held)


def _alike(one: Element, other: Element) -> bool:
    """Return whether two builds are one maker's work of one release for the same devices: 2.3.0 and 2.3.0+cpu."""
    return (one.release, one.maker, one.devices) == (other.release, other.maker, other.devices)
