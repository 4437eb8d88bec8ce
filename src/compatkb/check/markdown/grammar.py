"""The Markdown parser: markdown-it, with positions kept and each table as one token.

markdown-it gives every cell three tokens of its own and no column; a table of a million cells would need gigabytes. Here a
table is one token with its lines, found by the same rules, and `markdown_text` cuts its rows. markdown-it is imported with the
first document: most checks read none.
"""

import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import StateBlock
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token

_DELIMITER = re.compile(r"[-:|][-:|\s][-:|\s]*")
_COLUMN = re.compile(r":?-+:?")
_PIPE = re.compile(r"\\?\|")  # a backslash before a pipe escapes it, whatever stands before that


def columns_of(delimiter: str) -> int:
    """Return how many columns the line below a table's head declares; 0 where it is none."""
    if not _DELIMITER.fullmatch(delimiter) or re.match(r"-\s", delimiter):
        return 0
    parts = [part.strip() for part in delimiter.split("|")]
    if any(not part for part in parts[1:-1]):
        return 0
    columns = [part for part in parts if part]
    return len(columns) if all(_COLUMN.fullmatch(part) for part in columns) else 0


def cut(row: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of each cell of a row without outer white space; an empty first or last one is no cell."""
    pipes = [match.start() for match in _PIPE.finditer(row) if row[match.start()] == "|"]
    spans = list(zip([0, *(pipe + 1 for pipe in pipes)], [*pipes, len(row)], strict=True))
    if spans and spans[0][0] == spans[0][1]:
        spans = spans[1:]
    if spans and spans[-1][0] == spans[-1][1]:
        spans = spans[:-1]
    yield from spans


def _line(state: "StateBlock", line: int) -> str:
    return state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]]


def _table(state: "StateBlock", first: int, last: int, silent: bool) -> bool:
    if first + 2 > last or state.sCount[first + 1] < state.blkIndent or state.is_code_block(first + 1):
        return False
    head = _line(state, first).strip()
    columns = columns_of(_line(state, first + 1))
    if not columns or "|" not in head or state.is_code_block(first) or columns != sum(1 for _ in cut(head)):
        return False
    if silent:
        return True
    ends = state.md.block.ruler.getRules("blockquote")
    outer, state.parentType = state.parentType, "table"  # a list ends a table whatever its first number, a paragraph not
    line = first + 2
    while line < last and state.sCount[line] >= state.blkIndent and _line(state, line).strip():
        if state.is_code_block(line) or any(rule(state, line, last, True) for rule in ends):
            break
        line += 1
    state.parentType = outer
    token = state.push("table", "table", 0)
    token.map = [first, line]
    token.meta["columns"] = [_column(state, number) for number in range(first, line)]
    state.line = line
    return True


def _column(state: "StateBlock", line: int) -> int:
    """Return how many characters of a line, marks of quotes and lists among them, stand before its content."""
    start = state.bMarks[line] + state.tShift[line]
    return start - state.src.rfind("\n", 0, start) - 1


def _placed(rule: "Callable[[StateInline, bool], bool]") -> "Callable[[StateInline, bool], bool]":
    """Return a rule that notes at its token where in the source it stood."""

    def placed(state: "StateInline", silent: bool) -> bool:
        start, count = state.pos, len(state.tokens)
        is_match = rule(state, silent)
        if is_match and not silent:
            for token in state.tokens[count:]:
                if token.type not in ("text", "link_close"):
                    token.meta.setdefault("span", (start, state.pos))
        return is_match

    return placed


@cache
def _parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt
    from markdown_it.rules_inline import autolink, backtick, html_inline, image, link

    marked = {"link": link, "image": image, "backticks": backtick, "autolink": autolink, "html_inline": html_inline}
    parser = MarkdownIt("commonmark", {"store_labels": True, "maxNesting": 20})
    parser.enable("table")
    parser.block.ruler.at("table", _table, {"alt": ["paragraph", "reference"]})
    parser.disable(["inline", "text_join"])
    for name, rule in marked.items():
        parser.inline.ruler.at(name, _placed(rule))
    return parser


def blocks(text: str) -> "tuple[list[Token], dict[str, Any]]":
    """Return the block tokens of a text, its inline content unread; and its link definitions under `references`."""
    environment: dict[str, Any] = {}
    return _parser().parse(text, environment), environment


def spans(text: str, environment: dict[str, Any]) -> "list[Token]":
    """Return the inline tokens of a text; links, images, code and HTML have their place as `meta["span"]`."""
    tokens: list[Token] = []
    parser = _parser()
    parser.inline.parse(text, parser, environment, tokens)
    return tokens


def label_key(label: str) -> str:
    """Return the key under which a link's label is defined: case and white space do not count."""
    from markdown_it.common.utils import normalizeReference

    return normalizeReference(label)
