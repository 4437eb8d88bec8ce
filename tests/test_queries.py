"""Typed queries: SQL stands in the store alone, and what they return is what the tables hold."""

import ast
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest
from source_code import MODULES, nodes_of, place_of

from compatkb.store.reader import Snapshot

STORE = "store/"
SELECT = re.compile(r"\s*select\s+\S.*\sfrom\s", re.IGNORECASE | re.DOTALL)


def queries(nodes: Iterable[ast.AST]) -> Iterator[int]:
    """Yield the lines of a module on which an SQL query begins."""
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and SELECT.match(node.value):
            yield node.lineno


def test_sql_stands_in_the_store_alone() -> None:
    """Who wants to know something of the snapshot asks a typed query, so that its tables can change in one place."""
    elsewhere = (path for path in MODULES if not place_of(path).startswith(STORE))
    assert {place_of(path): lines for path in elsewhere if (lines := [*queries(nodes_of(path))])} == {}


def test_a_query_is_recognised() -> None:
    """The rule above sees queries as they are written, and no sentence that begins with the word."""
    for text, lines in (
        ('x = 1\nrows("select id from name where a = ?")\n', [2]),
        ('"""Select the newest one."""\nx = "select a row"\n', []),
    ):
        assert list(queries(ast.walk(ast.parse(text)))) == lines


EVERY: dict[str, Callable[[Snapshot], Any]] = {
    "release": lambda facts: facts.releases(),
    "channel": lambda facts: facts.channels,
    "product": lambda facts: facts.every_product_details(),
    "claim": lambda facts: facts.every_claim(),
    "citation": lambda facts: facts.every_citation(),
    "edge": lambda facts: facts.every_edge(),
    "install": lambda facts: facts.installs,
    "feature": lambda facts: facts.feature_records(),
    "statement": lambda facts: facts.statements(),
    "image": lambda facts: facts.images(),
    "listing": lambda facts: facts.listings(),
    "dispute": lambda facts: facts.dispute_records(),
    "concerned": lambda facts: facts.concerned_records(),
    "observation": lambda facts: facts.observations(),
}


@pytest.mark.parametrize("table", EVERY)
def test_a_query_returns_every_row(facts: Snapshot, table: str) -> None:
    """A query that returns all records of a kind leaves out none."""
    rows = "sum(json_extract([rows], '$[0]')) from edge where extra = ''" if table == "edge" else f"count(*) from {table}"
    ((count,),) = facts.select(f"select {rows}")
    assert len(EVERY[table](facts)) == count > 0


def test_one_record_is_that_of_the_list(facts: Snapshot) -> None:
    """What is asked for by its key is the record that the list has; what is not there is None, or a KeyError."""
    listed = facts.releases_of("torch")
    assert facts.release("torch", listed[0].version) == listed[0]
    assert facts.release("torch", "0.0.0.0") is None
    assert facts.details_of("torch", 3) == facts.element_details("torch")[3]
    assert facts.details_of("torch", 10**6) is None
    name, claim = next(iter(facts.every_claim().items()))
    assert facts.claim(name) == claim
    with pytest.raises(KeyError):
        facts.claim("no such claim")
    with pytest.raises(KeyError):
        facts.product_details("no such product")
    tag = facts.images()[5]
    assert facts.image(tag.id) == tag
    assert tag in facts.images_of(tag.repository)
    held = facts.contents()
    number = next(iter(held))
    assert facts.contents_of(number) == held[number]
    assert all(part in facts.images_with(part.product) for part in held[number])


def test_edges_of_pairs_are_all_edges(facts: Snapshot) -> None:
    """The edges between each two products are together every edge, each once."""
    pairs = [edge for of in facts.products for to in facts.targets_of(of) for edge in facts.edges(of, to)]
    assert sorted(pairs) == sorted(facts.every_edge())


def test_elements_of_a_set_are_those_of_its_bits(facts: Snapshot) -> None:
    """An element stands at its number, and a set names the elements of its bits; bits beyond the last one name none."""
    elements = facts.elements("torch")
    assert [element.idx for element in elements] == list(range(facts.sizes["torch"]))
    assert elements.of(0b1010 | 1 << 10**4) == [elements[1], elements[3]]
    assert elements.of(0) == []
