"""Generated text in reStructuredText, HTML and CSV."""

import csv
import io
import re
from collections.abc import Iterable
from html import escape

from compatkb.output.document_model import Block, Bullets, Code, Inline, Span, Table, plain, spans

_LIST = r"[-+=.#:•‣⁃](?:\s|$)|\.\.(?:\s|$)|\(?(?:#|\d+|[A-Za-z]|[ivxlcdm]+|[IVXLCDM]+)[.)](?:\s|$)"
_OPTION = r"(?:--?|/|\+)[A-Za-z0-9]|:[^:\s][^:]*:(?:\s|$)|>>>"
_RULE = r"(?P<sign>[!-/:-@\[-`{-~])(?P=sign)*\s*$"
_BEGINNING = rf"^(?={_LIST}|{_OPTION}|{_RULE})"
"""What a line of reStructuredText may not begin with if it is text: items of lists, options and fields, one sign alone."""


def restructured(blocks: Iterable[Block]) -> str:
    """Return blocks in reStructuredText; links stand where they are used."""
    return "\n".join(_restructured(block) for block in blocks)


def _restructured(block: Block) -> str:
    if isinstance(block, Table):
        lines = [".. list-table::", "   :header-rows: 1", ""]
        for row in (block.head, *block.rows):
            cells = [_rst_inline(text) for text in row]
            lines += [f"{'   * -' if not number else '     -'} {text}".rstrip() for number, text in enumerate(cells)]
        return "\n".join(lines) + "\n"
    if isinstance(block, Code):
        body = "".join(f"   {line}".rstrip() + "\n" for line in block.text.rstrip().splitlines())
        return f".. code-block:: {block.language}\n\n{body}"
    if isinstance(block, Bullets):
        return "".join(f"- {_rst_inline(item)}\n" for item in block.items)
    return _rst_inline(block.text) + "\n"


def _rst_inline(text: Inline) -> str:
    """Return a text in one line; pieces that touch are parted by an escaped blank, which shows nothing."""
    shown = ""
    before = False
    for span in spans(text):
        piece = _rst_span(span)
        marked = bool(span.code or span.url)
        touches = shown and not shown[-1].isspace() and not span.text[:1].isspace() and (marked or before)
        shown += ("\\ " if touches else "") + piece
        before = marked
    return shown.strip()


def _rst_span(span: Span) -> str:
    text = _one_line(span.text)
    if span.url:
        target = re.sub(r"[<>\s`\\]", lambda match: f"%{ord(match[0]):02X}", span.url)
        return f"`{_rst_escaped(text)} <{target.removesuffix('_') + '%5F' * target.endswith('_')}>`__"
    if span.code:
        shown = text.replace("`", "").strip()
        return f"``{shown}``" if shown else ""
    return _rst_escaped(text)


def _rst_escaped(text: str) -> str:
    return re.sub(rf"[\\*`|]|_(?!\w)|(?<=\w)_(?=\W|$)|:(?=:\s*$)|{_BEGINNING}", lambda match: "\\" + match[0], text)


def hypertext(blocks: Iterable[Block]) -> str:
    """Return blocks in HTML; column heads carry their scope."""
    return "".join(_hypertext(block) for block in blocks)


def _hypertext(block: Block) -> str:
    if isinstance(block, Table):
        lines = ["<table>", "<thead>"]
        lines.append("<tr>" + "".join(f'<th scope="col">{_html_inline(text)}</th>' for text in block.head) + "</tr>")
        lines += ["</thead>", "<tbody>"]
        lines += ["<tr>" + "".join(f"<td>{_html_inline(text)}</td>" for text in row) + "</tr>" for row in block.rows]
        return "\n".join([*lines, "</tbody>", "</table>"]) + "\n"
    if isinstance(block, Code):
        return (
            f'<pre><code class="language-{escape(block.language)}">{escape(_printable(block.text.rstrip()))}\n</code></pre>\n'
        )
    if isinstance(block, Bullets):
        return "<ul>\n" + "".join(f"<li>{_html_inline(item)}</li>\n" for item in block.items) + "</ul>\n"
    return f"<p>{_html_inline(block.text)}</p>\n"


def _html_inline(text: Inline) -> str:
    shown = ""
    for span in spans(text):
        piece = escape(_printable(" ".join(span.text.split("\n"))))
        piece = f"<code>{piece}</code>" if span.code else piece
        shown += f'<a href="{escape(span.url)}">{piece}</a>' if span.url else piece
    return shown


def comma_separated(blocks: Iterable[Block]) -> str:
    """Return the tables alone, as CSV (RFC 4180, but with plain line ends); a blank line stands between two."""
    out = []
    for block in blocks:
        if isinstance(block, Table):
            text = io.StringIO()
            writer = csv.writer(text, lineterminator="\n")
            writer.writerows([block.head, *([_one_line(plain(cell)) for cell in row] for row in block.rows)])
            out.append(text.getvalue())
    return "\n".join(out)


def _one_line(text: str) -> str:
    return _printable(" ".join(text.split("\n")))


def _printable(text: str) -> str:
    return "".join(mark if mark.isprintable() or mark in "\n\t" else "" for mark in text)
