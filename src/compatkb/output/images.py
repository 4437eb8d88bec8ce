"""Image tags that contain a stack, as far as their repository declares it."""

import re
import shlex
from datetime import date
from typing import Any

from compatkb.core.vocabulary import Role
from compatkb.engine.stacks import Stack
from compatkb.output import disputes
from compatkb.store.queries.images import ImageRecord, contents_of, image, images_with, runs_for
from compatkb.store.reader import Snapshot
from compatkb.store.records import Element

_HOST = {
    "{pwd}": '"$PWD"',
    "{video}": '"$(getent group video | cut -d: -f3)"',
    "{render}": '"$(getent group render | cut -d: -f3)"',
}
"""What the shell of the host puts in, by the name that the data have for it."""
_HOST_NAME = re.compile(f"({'|'.join(map(re.escape, _HOST))})")


def run_command(facts: Snapshot, image: ImageRecord, tag: str) -> str:
    """Return the command that runs an image, with what its device and flavour need; an option and its value share a line."""
    fitting = runs_for(facts, image)
    lines: list[str] = []
    for word in (word for run in fitting for word in run.args):
        if word.startswith("-") or not lines:
            lines.append(_quoted(word))
        else:
            lines[-1] += f" {_quoted(word)}"
    ran = [f"{image.repository}:{tag}", *(word for run in fitting for word in run.command)]
    last = " ".join(map(_quoted, ran))
    parts = ["docker run -it --rm", *lines, last]
    return " \\\n    ".join(parts) if lines else " ".join(parts)


def _quoted(word: str) -> str:
    pieces = (part for part in _HOST_NAME.split(word) if part)
    return "".join(_HOST.get(part) or shlex.quote(part) for part in pieces) or "''"


def images_of(facts: Snapshot, stack: Stack, as_of: int) -> list[dict[str, Any]]:
    """Return the tags that declare every package that the stack is about and nothing that its route leaves out."""
    wanted = {e.product: e for e in stack.packages if e.product in stack.requested}
    wanted = {p: e for p, e in wanted.items() if facts.products[p].role == Role.PACKAGE}
    holding: dict[int, dict[str, str]] = {}
    for product, element in wanted.items():
        series = next(mask for mask in facts.series(product) if mask >> element.idx & 1)
        same = sum(1 << e.idx for e in facts.elements(product).of(series) if _alike(e, element))
        for part in images_with(facts, product):
            if part.mask & same:
                holding.setdefault(part.image, {})[product] = part.basis
    apart = next(route.without for route in facts.routes if route.id == stack.route) if holding else ()
    others = {part.image for product in apart for part in images_with(facts, product)}
    families = {family for system in stack.os for family in (system, *facts.wider.get(system, ()))}
    tags = []
    for number, bases in sorted(holding.items()):
        if len(bases) < len(wanted) or number in others:
            continue
        tag = image(facts, number)
        runs = [run for run in tag.runs if run[0] <= as_of]
        if tag.device != stack.device or not runs or not _runs_on(facts, number, families):
            continue
        tags.append(
            {
                "image": tag.reference,
                "basis": "inferred" if "inferred" in bases.values() else "stated",
                "first_listed": date.fromordinal(runs[0][0]).isoformat(),
                "listed": any(run[1] >= as_of for run in runs),
                "disputes": disputes.of_name(facts, tag.reference),
            }
        )
    return tags


def _runs_on(facts: Snapshot, number: int, families: set[str]) -> bool:
    """Return whether an image holds a system of one of these families, or does not say which one it holds."""
    parts = [part for part in contents_of(facts, number) if part.product == "os"]
    held = [e.version for part in parts for e in facts.elements("os").of(part.mask)]
    return not held or any(families & {system, *facts.wider.get(system, ())} for system in held)


def _alike(one: Element, other: Element) -> bool:
    """Return whether two builds are one maker's work of one release for the same devices: 2.3.0 and 2.3.0+cpu."""
    return (one.release, one.maker, one.devices) == (other.release, other.maker, other.devices)
