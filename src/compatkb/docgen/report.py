"""What the `docs` commands say: text, JSON, the command that mends stale documents, a table in every form."""

import shlex
from collections.abc import Callable, Sequence

from compatkb.docgen.files import MarkedFile, diff_of
from compatkb.docgen.render import Filled
from compatkb.output.document_model import Block, Table, plain, spans
from compatkb.output.json_document import document
from compatkb.output.markdown import Links, render
from compatkb.output.writers import comma_separated, hypertext, restructured
from compatkb.store.reader import Snapshot


def report_text(facts: Snapshot, documents: Sequence[MarkedFile]) -> str:
    """Return a line for each region that was rewritten, and a sum."""
    del facts
    lines = [
        f"{document.path}:{filled.region.line}: {filled.region.name}: {_change(filled)}"
        for document in documents
        for filled in document.stale
    ]
    regions = sum(len(document.regions) for document in documents)
    lines.append(f"{_number(len(documents), 'file')}, {_number(regions, 'region')}, {len(lines)} rewritten")
    return "\n".join(lines) + "\n"


def report_json(facts: Snapshot, documents: Sequence[MarkedFile]) -> str:
    """Return the files with their regions and diffs for programs."""
    files = [
        {
            "file": document.path.as_posix(),
            "regions": [
                {"name": f.region.name, "kind": f.region.kind, "line": f.region.line, "stale": f.is_stale}
                for f in document.regions
            ],
            "diff": diff_of(document),
        }
        for document in documents
    ]
    return document(facts, None, {"files": files})


def mend(documents: Sequence[MarkedFile], data: str | None, day: str | None = None) -> str:
    """Return the sentence that names what is stale and the command that mends it."""
    stale = [document for document in documents if document.stale]
    names = ", ".join(f"{document.path} ({', '.join(f.region.name for f in document.stale)})" for document in stale)
    options = [*(["--data", data] if data else []), *(["--as-of", day] if day else [])]
    words = ["compatkb", "docs", "render", *options, *(str(document.path) for document in stale)]
    return f"not up to date: {names}; run `{shlex.join(words)}`"


def _change(filled: Filled) -> str:
    before, after = (len(side.splitlines()) for side in (filled.before, filled.after))
    if not filled.before.strip():
        return f"filled with {_number(after, 'line')}"
    return f"overwritten: {_number(before, 'line')} that stood there differed from the {after} that belong there"


def _number(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _table_json(facts: Snapshot, blocks: Sequence[Block]) -> str:
    """Return the tables for programs: heads, and rows of cells with text and links."""
    tables = [
        {
            "columns": list(block.head),
            "rows": [
                [{"text": plain(cell), "links": [s.url for s in spans(cell) if s.url]} for cell in row] for row in block.rows
            ],
        }
        for block in blocks
        if isinstance(block, Table)
    ]
    return document(facts, None, {"tables": tables})


FORMS: dict[str, Callable[[Snapshot, Sequence[Block]], str]] = {
    "markdown": lambda _, blocks: render(blocks, Links()),
    "rst": lambda _, blocks: restructured(blocks),
    "html": lambda _, blocks: hypertext(blocks),
    "csv": lambda _, blocks: comma_separated(blocks),
    "json": _table_json,
}
"""What `docs table` prints, by form."""
