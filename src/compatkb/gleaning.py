"""Versions that a pasted text names: those that readings tell, and those beside the names of packages."""

import json
import re
from typing import Any, NamedTuple

from compatkb.pasted import Pasted, plain
from compatkb.snapshot.read import Snapshot

_NEXT = re.compile(r"(?:==|[ =:-]+v?|\n ?version: )([0-9][0-9a-z+_-]{0,20}(?:\.[0-9a-z+_-]{1,30}){1,8})(?![0-9a-z+])")
_WISH = re.compile(r"(?:requires|depends on|requirement|needs|install|found for|matching|satisfies|uninstall) $")
_SAID = re.compile(r"(?:you have|installed|uninstalled|found existing installation:) $")
_BEFORE = re.compile(r"[0-9a-z._/-]\Z")
_WHEEL = re.compile(r"-(?:cp|py|pp)[0-9].*|\.dist.info.*|\.(?:whl|tar|zip|egg).*|-none-.*")
SLOTS, SAYS, INSTALLED, LISTED, WISHED = range(5)
"""How a version was told, the most telling way first."""


class Read(NamedTuple):
    """A version that a text names."""

    product: str
    version: str
    line: int
    how: int


def guide(facts: Snapshot, kind: str) -> list[dict[str, Any]]:
    """Return the records of a kind of guide, in the order of the data."""
    return [json.loads(row["body"]) for row in facts.rows("select body from guide where kind = ? order by position", kind)]


def read_versions(facts: Snapshot, pasted: Pasted, told: tuple[Read, ...] = ()) -> tuple[Read, ...]:
    """Return for each product the version that the text tells best, in rank order; `told` was learnt from symptoms."""
    found = [*told, *_says(facts, pasted), *_named(facts, pasted)]
    best: dict[str, Read] = {}
    for read in found:
        if read.product in facts.products and (read.product not in best or read.how < best[read.product].how):
            best[read.product] = read
    return tuple(best[product] for product in facts.products if product in best)


def shape(facts: Snapshot, product: str, text: str) -> str:
    """Return a version as people write it: 311 and 3.11.7 are 3.11 for what goes by minor versions."""
    if facts.products[product].scheme == "minor" and (short := re.match(r"(\d)(?:(\d{1,2})t?$|\.(\d{1,2}))", text)):
        return f"{short[1]}.{short[2] or short[3]}"
    return text


def _says(facts: Snapshot, pasted: Pasted) -> list[Read]:
    found = []
    for record in guide(facts, "reading"):
        if (hit := pasted.find(record["pattern"])) is None:
            continue
        if record["product"]:
            found.append(Read(record["product"], record["version"], hit.line, SAYS))
        for name, value in hit.slots:
            if name in facts.products:
                found.append(Read(name, shape(facts, name, value), hit.line, SAYS))
    return found


def _named(facts: Snapshot, pasted: Pasted) -> list[Read]:
    """Return the versions that stand behind the names of packages, as installers, lists and file names write them."""
    found = []
    text = pasted.plain
    for product in facts.products.values():
        if product.distribution is None:
            continue
        for name in _spellings(facts, product.id):
            for at in pasted.places(name):
                after = _NEXT.match(text, at + len(name), at + len(name) + 120)
                before = text[max(0, at - 40) : at]
                if after is None or (_BEFORE.search(before) and not before.endswith("/")):
                    continue
                version = _WHEEL.sub("", after[1]).rstrip(".-_+")
                wish = after[0].startswith("==") and _WISH.search(before)
                how = WISHED if wish else INSTALLED if _SAID.search(before) else LISTED
                found.append(Read(product.id, version, pasted.line_at(at)[0], how))
    return found


def _spellings(facts: Snapshot, product: str) -> tuple[str, ...]:
    rows = facts.rows("select distinct distribution from element where product = ? and distribution is not null", product)
    names = {facts.products[product].distribution, *(row["distribution"] for row in rows)}
    spelt = {re.sub(r"[-_.]", sign, plain(name)) for name in names if name for sign in "-_"}
    return tuple(sorted(spelt))
