"""Typed queries: SQL stands in the store alone, and what they return is what the tables hold."""

import ast
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT

from compatkb.store.queries import claims, disputes, images, products, provenance
from compatkb.store.reader import Snapshot

SOURCE = ROOT / "src" / "compatkb"
STORE = "store/"
SELECT = re.compile(r"\s*select\s+\S.*\sfrom\s", re.IGNORECASE | re.DOTALL)


def queries(text: str) -> Iterator[int]:
    """Yield the lines of a module on which an SQL query begins."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and SELECT.match(node.value):
            yield node.lineno


def test_sql_stands_in_the_store_alone() -> None:
    """Who wants to know something of the snapshot asks a typed query, so that its tables can change in one place."""
    found = {
        path.relative_to(SOURCE).as_posix(): lines
        for path in sorted(SOURCE.rglob("*.py"))
        if not path.relative_to(SOURCE).as_posix().startswith(STORE)
        and (lines := list(queries(path.read_text(encoding="utf-8"))))
    }
    assert found == {}


def test_a_query_is_recognised(tmp_path: Path) -> None:
    """The rule above sees queries as they are written, and no sentence that begins with the word."""
    assert list(queries('x = 1\nrows("select id from name where a = ?")\n')) == [2]
    assert list(queries('"""Select the newest one."""\nx = "select a row"\n')) == []


EVERY: dict[str, Callable[[Snapshot], Any]] = {
    "release": products.releases,
    "channel": products.channels,
    "product": products.every_product_details,
    "claim": claims.every_claim,
    "citation": claims.citations,
    "edge": claims.every_edge,
    "install": claims.installs,
    "feature": claims.features,
    "statement": claims.statements,
    "image": images.images,
    "listing": images.listings,
    "dispute": disputes.dispute_records,
    "concerned": disputes.concerned_records,
    "document": provenance.documents,
    "observation": provenance.observations,
    "reading": provenance.readings,
}


@pytest.mark.parametrize("table", EVERY)
def test_a_query_returns_every_row(facts: Snapshot, table: str) -> None:
    """A query that returns all records of a kind leaves out none."""
    rows = "edge where extra = ''" if table == "edge" else table
    ((count,),) = facts.select(f"select count(*) from {rows}")
    assert len(EVERY[table](facts)) == count > 0


def test_one_record_is_that_of_the_list(facts: Snapshot) -> None:
    """What is asked for by its key is the record that the list has; what is not there is None, or a KeyError."""
    listed = products.releases_of(facts, "torch")
    assert products.release(facts, "torch", listed[0].version) == listed[0]
    assert products.release(facts, "torch", "0.0.0.0") is None
    assert products.details_of(facts, "torch", 3) == products.element_details(facts, "torch")[3]
    assert products.details_of(facts, "torch", 10**6) is None
    name, claim = next(iter(claims.every_claim(facts).items()))
    assert claims.claim(facts, name) == claim
    with pytest.raises(KeyError):
        claims.claim(facts, "no such claim")
    with pytest.raises(KeyError):
        products.product_details(facts, "no such product")
    tag = images.images(facts)[5]
    assert images.image(facts, tag.id) == tag
    assert tag in images.images_of(facts, tag.repository)
    held = images.contents(facts)
    number = next(iter(held))
    assert images.contents_of(facts, number) == held[number]
    assert all(part in images.images_with(facts, part.product) for part in held[number])


def test_edges_of_pairs_are_all_edges(facts: Snapshot) -> None:
    """The edges between each two products are together every edge, each once."""
    pairs = [edge for of in facts.products for to in facts.targets_of(of) for edge in facts.edges(of, to)]
    assert sorted(pairs) == sorted(claims.every_edge(facts))


def test_elements_of_a_set_are_those_of_its_bits(facts: Snapshot) -> None:
    """An element stands at its number, and a set names the elements of its bits; bits beyond the last one name none."""
    elements = facts.elements("torch")
    assert [element.idx for element in elements] == list(range(facts.sizes["torch"]))
    assert elements.of(0b1010 | 1 << 10**4) == [elements[1], elements[3]]
    assert elements.of(0) == []
