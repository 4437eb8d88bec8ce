"""Documents in other formats, converted to Markdown to be checked; findings keep their place in the original file."""

import re
from collections.abc import Iterator

from compatkb.check.document import TextDocument
from compatkb.check.suppressions import fenced_blocks
from compatkb.core.findings import Edit, Finding
from compatkb.parsers.source import Fragment, Segment, SourceFile, TreeError

MOST_CHARACTERS = 2_000_000
"""Longer pages are read up to here."""

_GENERATED = re.compile(r"<meta\s[^>]{0,200}\bname=[\"']?generator\b|\bdocumentation_options\.js\b", re.IGNORECASE)
"""What pages have that a program made: they are mended in what they are made from."""
_LINE = re.compile(r"\bline (\d+)\b")
_OPENS = re.compile(r"<table\b", re.IGNORECASE)
_CLOSES = re.compile(r"</table\s*>", re.IGNORECASE)


def as_markdown(document: TextDocument) -> Fragment | None:
    """Return a document as Markdown that knows where each letter stands; None for one that is Markdown all through."""
    path = document.path.lower()
    if not path.endswith((".ipynb", ".html", ".htm", ".rst")):
        return _with_tables(SourceFile(path, document.text)) if _OPENS.search(document.text) else None
    source = SourceFile(path, document.text)
    if path.endswith(".ipynb"):
        return _notebook(source)
    if path.endswith(".rst"):
        from compatkb.check.markdown.rst_text import markdown_of_rst

        return Fragment(source, markdown_of_rst(source))
    if _GENERATED.search(document.text):
        return Fragment(source, [])
    from compatkb.check.markdown.html_text import markdown_of_html

    return Fragment(source, markdown_of_html(source, 0, MOST_CHARACTERS))


def _notebook(source: SourceFile) -> Fragment:
    """Return the text cells of a notebook, one after the other; those of code are read as what they install."""
    from compatkb.parsers.notebook import cells

    pieces: list[Segment] = []
    try:
        for cell in cells(source, "markdown"):
            pieces += [*cell.segments(), Segment("\n\n", cell.origin(len(cell.text)))]
    except TreeError:
        pass  # told by the reader of its code
    return Fragment(source, pieces)


def _with_tables(document: SourceFile) -> Fragment | None:
    """Return a Markdown document whose HTML tables are written as its own; None where they are all examples in code."""
    from compatkb.check.markdown.html_text import markdown_of_html

    pieces: list[Segment] = []
    at = 0
    fenced = [(document.offset(opened), document.offset(closed)) for opened, closed in fenced_blocks(document)]
    for opening in _OPENS.finditer(document.text):
        if opening.start() < at or any(start <= opening.start() < end for start, end in fenced):
            continue
        closing = _CLOSES.search(document.text, opening.end())
        if closing is None:
            break
        pieces.append(Segment(document.text[at : opening.start()], at))
        pieces += [Segment("\n\n", opening.start()), *markdown_of_html(document, opening.start(), closing.end())]
        at = closing.end()
    return Fragment(document, [*pieces, Segment(document.text[at:], at)]) if at else None


def moved(document: TextDocument, inner: TextDocument, fragment: Fragment, findings: Iterator[Finding]) -> Iterator[Finding]:
    """Yield findings about the Markdown at their places in the document; edits only where it has the same letters."""
    source = fragment.source

    def named(match: re.Match[str]) -> str:
        return f"line {source.place(min(fragment.origin(inner.offset(int(match[1]))), len(source.text))).line}"

    for finding in findings:
        finding = finding._replace(message=_LINE.sub(named, finding.message))
        if not finding.line or finding.column is None:
            yield finding._replace(edits=())
            continue
        size = len(source.text)  # marks that the file does not have may reach beyond its end
        start = min(fragment.origin(inner.offset(finding.line, finding.column)), size)
        end = start + 1
        if finding.end_column is not None:
            end = fragment.origin(max(inner.offset(finding.line, finding.end_column) - 1, 0)) + 1
        place, last = source.place(start), source.place(min(max(start, end), size))
        edits = tuple(_edit(document, inner, fragment, edit) for edit in finding.edits)
        yield finding._replace(
            line=place.line,
            column=place.column,
            end_column=last.column if last.line == place.line else None,
            edits=tuple(edit for edit in edits if edit) if all(edits) else (),
        )


def _edit(document: TextDocument, inner: TextDocument, fragment: Fragment, edit: Edit) -> Edit | None:
    start = fragment.origin(edit.start)
    end = start + edit.end - edit.start
    same = fragment.source.text == document.text and document.text[start:end] == inner.text[edit.start : edit.end]
    return Edit(start, end, edit.text) if same and re.fullmatch(r"[\w.+:/%=-]*", edit.text) else None
