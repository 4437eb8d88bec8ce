"""What all readers of published tables share: names of versions, and the numbers of cited documents."""

from collections.abc import Iterator
from datetime import date
from typing import Any

from compatkb.core.vocabulary import Role
from compatkb.store.queries.disputes import read_disagreements, standings
from compatkb.store.reader import Snapshot, series_name
from compatkb.store.records import Element, Sources

Row = dict[str, Any]
Tables = dict[str, list[Row]]

FEATURE = "feature"
"""The role under which the engine keeps features; nothing that is published shows them as products."""


def element_id(element: Element) -> str:
    """Return the name of a build or release: product==version."""
    return f"{element.product}=={element.version}"


def is_build(facts: Snapshot, element: Element) -> bool:
    """Return whether an element is a build; the others are releases that have none."""
    return facts.products[element.product].role in (Role.PACKAGE, Role.COMPANION) and bool(element.devices)


def series_of(facts: Snapshot, product: str) -> dict[str, str]:
    """Return the series of each release of a product; a listed value is a series by itself."""
    head = facts.products[product]
    names = dict.fromkeys(element.release for element in facts.elements(product))
    return {name: series_name(name, head.series) if head.scheme in ("pep440", "dotted") else name for name in names}


def day_of(ordinal: int | None) -> str | None:
    """Return the ISO date of a proleptic ordinal, None where there is none."""
    return date.fromordinal(ordinal).isoformat() if ordinal else None


class Reader:
    """A snapshot that is being read for publication; `numbers` are those of the documents cited so far."""

    def __init__(self, facts: Snapshot) -> None:
        """Read nothing yet."""
        self.facts = facts
        self.products = [product.id for product in facts.products.values() if product.role != FEATURE]
        self.numbers: dict[tuple[str, str | None], int] = {}
        self.disputes = read_disagreements(facts)
        self.standing = standings(self.disputes)

    def known(self, product: str | None) -> str | None:
        """Return a product if the data have it."""
        return product if product in self.products else None

    def cite(self, owner: str, key: object, sources: Sources) -> Iterator[Row]:
        """Yield the rows that tie a record to its documents, each once."""
        yield from ({owner: key, "position": n, "source": s} for n, s in enumerate(self.sources(sources)))

    def sources(self, sources: Sources) -> list[int]:
        """Return the numbers of documents, each once."""
        return [self.numbers.setdefault(source, len(self.numbers) + 1) for source in dict.fromkeys(sources)]

    def named(self, product: str, mask: int) -> Iterator[Row]:
        """Yield the versions in a mask, newest first."""
        if product not in self.products:
            return
        for element in reversed(self.facts.elements(product)):
            if mask >> element.idx & 1:
                build = element_id(element) if is_build(self.facts, element) else None
                yield {"product": product, "release": f"{product}=={element.release}", "build": build}
