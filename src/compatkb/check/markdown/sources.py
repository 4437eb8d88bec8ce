"""The Markdown of notebooks: findings keep their place in the notebook."""

import re
from collections.abc import Iterator

from compatkb.check.document import TextDocument
from compatkb.core.findings import Edit, Finding
from compatkb.parsers.notebook import cells
from compatkb.parsers.source import Fragment, Segment, SourceFile, TreeError

_LINE = re.compile(r"\bline (\d+)\b")


def markdown_of_notebook(document: TextDocument) -> Fragment:
    """Return the text cells of a notebook, one after the other; those of code are read as what they install."""
    source = SourceFile(document.path, document.text)
    pieces: list[Segment] = []
    try:
        for cell in cells(source, "markdown"):
            pieces += [*cell.segments(), Segment("\n\n", cell.origin(len(cell.text)))]
    except TreeError:
        pass  # told by the reader of its code
    return Fragment(source, pieces)


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
