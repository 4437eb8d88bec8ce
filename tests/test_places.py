"""Places in TOML: every key and item that the standard parser finds, and none else, at its line and column."""

import json
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import ROOT, parted
from hypothesis import example, given
from hypothesis import strategies as st

from compatkb.core.text_position import Place, Places, Where, quoted

TRICKY = '''\
# [not.a.table]
title = "a # no comment, [x] = 1"
"quoted key" = 'single # too'
a.b . "c d" = 1  # a remark
day = 2026-11-21T10:00:00Z
number = 1_000.5e-3
text = """
[fake]
fake = "]"
"""
raw = \'\'\'
[[fake]]\'\'\'
nested = [[1, 2], [
    3,
], { x = 1, y = [ "}" ] }]

[table]
inline = { a.b = 1, c = [ { d = 2 }, { d = 3 } ] }

[[list]]
name = "one"
[list.sub]
value = true

[[list]]
name = "two"
  [[list.inner]]
  n = 1
  [[list.inner]]
  n = 2
'''


def paths(value: object, where: Where = ()) -> Iterator[Where]:
    """Yield the place of every key and item inside a value."""
    inner: Iterator[tuple[int | str, object]]
    if isinstance(value, dict):
        inner = iter(value.items())
    elif isinstance(value, list):
        inner = iter(enumerate(value))
    else:
        return
    for key, item in inner:
        yield (*where, key)
        yield from paths(item, (*where, key))


def test_tricky_text() -> None:
    """Strings, comments, dotted keys, nested arrays and tables in lists are read as the standard parser reads them."""
    places = Places(TRICKY)
    assert set(places.of) == set(paths(tomllib.loads(TRICKY)))
    lines = TRICKY.splitlines()
    assert [lines[place.line - 1][place.column - 1 :][:3] for place in places.comments] == ["# [", "# a"]
    assert lines[places.of["nested", 2, "y"].line - 1] == '], { x = 1, y = [ "}" ] }]'
    assert places.of["table", "inline", "c", 1, "d"] == Place(18, 40)
    assert lines[places.of["list", 1, "inner", 1, "n"].line - 1] == "  n = 2"
    assert places.of["list", 0, "sub", "value"].line == 23


def test_nearest() -> None:
    """What is not there has the place of the nearest thing around it, at last the start of the file."""
    places = Places(TRICKY)
    assert places.nearest(("list", 1, "inner", 0, "missing")) == places.of["list", 1, "inner", 0]
    assert places.nearest(("missing",)) == Place(1, 1)
    assert Places("").nearest(("a", 0)) == Place(1, 1)


@pytest.mark.parametrize("folder", parted(["products", "images", "index", "."], ["images", "."]))
def test_data(folder: str) -> None:
    """In every data file each key and item has a place, and a key stands in its line."""
    for path in sorted(Path(ROOT / "data" / folder).glob("*.toml")):
        text = path.read_text(encoding="utf-8")
        places = Places(text)
        assert set(places.of) == set(paths(tomllib.loads(text))), path
        lines = text.splitlines()
        for where, place in places.of.items():
            if isinstance(where[-1], str):
                assert where[-1] in lines[place.line - 1], (path, where)


@given(st.text(st.characters(exclude_categories=["Cs"])))
@example('"\\\n\t\x00\x7f\u2028é')
def test_quoted_text_reads_back(text: str) -> None:
    """A quoted text is the same text for a parser of TOML and for one of JSON."""
    assert tomllib.loads(f"a = {quoted(text)}") == {"a": text}
    assert json.loads(quoted(text)) == text
