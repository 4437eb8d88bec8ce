"""Markdown that says exactly what it is given, judged by a reader of Markdown."""

import re
from typing import Any
from urllib.parse import unquote

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from compatkb.output.writers import Links, Span, Table, cell, fence, render

READER = MarkdownIt("commonmark").enable("table")
TEXT = st.text(alphabet=st.characters(exclude_categories=("Cs", "Cc", "Cf", "Co", "Cn", "Zl", "Zp")), max_size=30)
MARKUP = st.text(alphabet="\\`*_[]()<>&|~$!#-+.:;'\"ab1 ", max_size=20)


def shown(markdown: str) -> list[list[str]]:
    """Return what each cell of the only table shows; fails where the text holds anything but text and line breaks."""
    rows: list[list[str]] = []
    for token in READER.parse(markdown):
        if token.type == "tr_open":
            rows.append([])
        elif token.type == "inline":
            words = []
            for inner in token.children or ():
                assert inner.type in ("text", "text_special", "html_inline"), inner
                assert inner.type != "html_inline" or inner.content == "<br>"
                words.append("\n" if inner.type == "html_inline" else inner.content)
            rows[-1].append("".join(words))
    return rows


def plain(text: str) -> str:
    """Return text with blanks as a page shows them."""
    return "\n".join(" ".join(line.split()) for line in text.strip().splitlines())


@given(st.one_of(TEXT, MARKUP))
@example("a|b")
@example("a\\|b")
@example("`a` | *b* _c_ __d__ x86_64 ~e~ [f](g) ![h] <b>i</b> &amp; $j$")
@example("<!-- compatkb:end x -->")
@example("trailing \\")
@example("_a_b_ _")
def test_cell_shows_what_it_is_given(text: str) -> None:
    """Whatever the text, the cell shows it, and neither it nor its neighbour becomes anything else."""
    assert shown(render([Table(("a", "b"), ((text, "beside"),))], Links())) == [["a", "b"], [plain(text), "beside"]]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends_become_breaks(end: str) -> None:
    """A cell has one line; line ends in the text are shown as such."""
    assert cell(f"a{end}b") == "a<br>b"
    assert shown(render([Table(("x",), ((f" a {end} b|c ",),))], Links())) == [["x"], ["a\nb|c"]]


def test_control_characters_are_dropped() -> None:
    """What cannot be shown is not written."""
    assert cell("a\x00b\x1bc\u202ed\te") == "abcd e"


def test_plain_names_stay_plain() -> None:
    """What people read in the source of a page is not cluttered: versions, specifiers, x86_64."""
    for text in ("2.3.1+cxx11.abi", "x86_64", "python 3.12, 3.13t", "manylinux_2_28"):
        assert cell(text) == text


def test_rows_are_as_wide_as_the_head() -> None:
    """A row with a missing cell is a mistake, not a shifted table."""
    with pytest.raises(ValueError, match="1 cells in a table of 2"):
        render([Table(("a", "b"), (("a",),))], Links())


@given(st.text(alphabet="`~ab\n <", max_size=40))
def test_fence_holds_its_text(text: str) -> None:
    """Whatever runs of backticks the text has, the fence ends after it."""
    tokens = READER.parse(fence(text, "text"))
    assert [token.type for token in tokens] == ["fence"]
    assert tokens[0].content.rstrip("\n") == re.sub(r"\s+\Z", "", text)
    assert tokens[0].info == "text"


WORDS = st.text(st.characters(blacklist_categories=("Cs", "Cc", "Zs", "Zl", "Zp", "Cf", "Co", "Cn")), min_size=1, max_size=8)
PAGES = st.sampled_from(["https://example.org/a", "https://example.org/b?c=1&d=<e>", "https://example.org/v2.1.0%2Bx"])


@given(st.lists(st.tuples(WORDS, PAGES, st.sampled_from(["one", "two"])), min_size=1, max_size=6))
@example([("v1", "https://example.org/a", "one"), ("V1", "https://example.org/b?c=1&d=<e>", "one")])
@example([("]: [", "https://example.org/a", "one"), ("|\\", "https://example.org/b?c=1&d=<e>", "two")])
def test_links_by_label_lead_where_they_say(links: list[tuple[str, str, str]]) -> None:
    """Any text can be a label: it is shown as it is, leads to its own target, and no label is defined twice."""
    cells = tuple(Span(text, url, topic=topic) for text, url, topic in links)
    text = render([Table(tuple(f"h{n}" for n in range(len(cells))), (cells,))], Links())
    known: dict[str, Any] = {}
    tokens = MarkdownIt("commonmark").enable("table").parse(text, known)
    assert "duplicate_refs" not in known
    found = [token for token in tokens if token.type == "inline"][len(cells) :]
    for (shown, url, _), token in zip(links, found, strict=True):
        children = token.children or []
        assert [child.type for child in (children[0], children[-1])] == ["link_open", "link_close"]
        assert "".join(child.content for child in children[1:-1]) == shown
        assert unquote(str(children[0].attrGet("href"))) == unquote(url)
