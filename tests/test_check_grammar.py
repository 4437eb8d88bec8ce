"""Tables and links of the reviewer's parser against markdown-it as it comes: same tables, same cells, right places."""

import pytest
from conftest import examples
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from compatkb.check.document import TextDocument
from compatkb.check.markdown.text import MarkdownPage, read_page

STOCK = MarkdownIt("commonmark").enable("table")
TEXTS = ("a", "b c", " ", "`", "`x`", "\\", "[l]", "[m](u)", "*e*", "é", "&amp;")
BLOCKS = ("\n", "\n", "> ", "- ", "8. ", "    ", "\t")
TABLES = ("|", "|", "|", "-", "---", ":-", "-:", "\\|")
PARTS = st.sampled_from(TEXTS + BLOCKS + TABLES)


def page(text: str) -> MarkdownPage:
    return read_page(TextDocument("a.md", text))


def stock_tables(text: str) -> list[list[list[str]]]:
    """Return the cells of each table of a text as markdown-it cuts them."""
    tables: list[list[list[str]]] = []
    tokens = STOCK.parse(text)
    for number, token in enumerate(tokens):
        if token.type == "table_open":
            tables.append([])
        elif token.type == "tr_open":
            tables[-1].append([])
        elif token.type in ("th_open", "td_open"):
            tables[-1][-1].append(tokens[number + 1].content)
    return tables


@settings(max_examples=examples(2000))
@given(st.lists(PARTS, max_size=40).map("".join))
@example("```")
@example("```\n\n")
@example("- a|\n    ---")
@example("a\n\n|b|\n|-|\n8. c")
def test_tables_are_those_of_the_parser(text: str) -> None:
    """Tables begin and end where markdown-it has them, and their cells are cut alike."""
    found = page(text)
    wanted = stock_tables(text)
    assert len(found.tables) == len(wanted)
    for table, rows in zip(found.tables, wanted, strict=True):
        assert len(table.rows) + 1 == len(rows)
        for cells, right in zip([table.head, *(row.cells for row in table.rows)], rows, strict=True):
            mine = [found.document.text[cell.start : cell.end].replace("\\|", "|") for cell in cells][: len(right)]
            assert mine + [""] * (len(right) - len(mine)) == right


@pytest.mark.long
@settings(max_examples=examples(2000))
@given(st.lists(PARTS, max_size=30).map("".join))
def test_places_are_those_of_the_text(text: str) -> None:
    """Links and code spans begin and end in the text where they say, whatever surrounds them."""
    found = page(f"{text}\n\n[l]: https://example.org\n")
    for piece in found.everything():
        assert 0 <= piece.start <= piece.end <= len(found.document.text)
        for code in piece.codes:
            stands = found.document.text[code.start : code.end]
            if "\n" not in stands:
                assert stands == code.text
        for link in piece.links:
            assert found.document.text[link.start] == "["


@pytest.mark.parametrize(
    ("text", "links"),
    [
        ("| a |\n|---|\n| [x][l] |\n", [("x", "L", "[x][l]")]),
        ("> - one [x](u) and\n>   two [l]\n", [("x", None, "[x](u)"), ("l", "L", "[l]")]),
        ("# Head [l]\n", [("l", "L", "[l]")]),
        ("`[l]` \\[l] [*x*][l]", [("x", "L", "[*x*][l]")]),
    ],
)
def test_links_are_found_where_they_stand(text: str, links: list[tuple[str, str | None, str]]) -> None:
    """Links keep text, label and place in cells, quotes, lists and headings; what only looks like one is none."""
    found = page(f"{text}\n\n[l]: https://example.org\n")
    body = found.document.text
    got = [(link.text, link.label, body[link.start : link.end]) for piece in found.everything() for link in piece.links]
    assert got == links


def test_definitions_have_their_targets() -> None:
    """A definition knows where its target stands; the second of a label does not count."""
    found = page("[a]: <https://one.example> 'title'\n> [b]:\n> https://two.example\n\n[A]: https://three.example\n")
    body = found.document.text
    assert [(d.text, body[d.target_start : d.target_end]) for d in found.definitions] == [
        ("a", "https://one.example"),
        ("b", "https://two.example"),
    ]


def test_code_blocks_keep_the_places_of_their_lines() -> None:
    """Lines of fenced and indented code, in lists too, are found where they stand."""
    found = page("1. Do\n\n   ```sh\n   pip install a \\\n     b\n   ```\n\ntext\n\n    indented\n")
    for block in found.codes:
        for offset, text in block.lines:
            assert found.document.text[offset : offset + len(text)] == text
    assert [block.language for block in found.codes] == ["sh", ""]
