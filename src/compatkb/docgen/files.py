"""Files with regions on disk: which ones, read and written whole, compared as a diff; what the `docs` commands say of them."""

import difflib
import os
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import NamedTuple

from compatkb.core.atomic_write import write_file
from compatkb.docgen.regions import HYPERTEXT, MARKDOWN, RESTRUCTURED
from compatkb.docgen.render import Filled, fill
from compatkb.errors import DocumentError, UnavailableError, UsageError
from compatkb.output.json_document import document
from compatkb.store.reader import Snapshot

USUAL = ("README.md", "docs")
FORMS = {".md": MARKDOWN, ".rst": RESTRUCTURED, ".html": HYPERTEXT}
"""The form of a file by the end of its name; others are Markdown."""
_BOM = b"\xef\xbb\xbf"


class MarkedFile(NamedTuple):
    """A file as it is and as it should be, with its regions."""

    path: Path
    before: bytes
    after: bytes
    regions: list[Filled]

    @property
    def stale(self) -> list[Filled]:
        """The regions that hold something else than they should."""
        return [filled for filled in self.regions if filled.is_stale]


def find_files(names: Iterable[str]) -> list[Path]:
    """Return the files named and those of the folders that can hold regions, once each; raises UsageError for missing ones.

    Without names: README.md and the folder docs/ below the working directory, as far as they exist.
    """
    named = [Path(name) for name in names]
    if not named:
        named = [path for path in map(Path, USUAL) if path.exists()]
        if not named:
            raise UsageError(f"there is neither {' nor '.join(USUAL)} here; name the files")
    files_by_path: dict[str, Path] = {}
    for path in named:
        if not path.exists():
            raise UsageError(f"{path}: no such file")
        for file in _below(path) if path.is_dir() else [path]:
            files_by_path.setdefault(os.path.realpath(file), file)
    return list(files_by_path.values())


def _below(folder: Path) -> Iterator[Path]:
    for root, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield from (Path(root, name) for name in sorted(files) if name.endswith(tuple(FORMS)))


def read_documents(facts: Snapshot, paths: Iterable[Path], day: date | None = None) -> list[MarkedFile]:
    """Return the documents with their regions filled; raises DocumentError with all that is wrong in all of them."""
    problems: list[str] = []
    documents = []
    for path in paths:
        before = _content(path, str(path))
        head = _BOM if before.startswith(_BOM) else b""
        try:
            text = _decoded(before, str(path))
        except DocumentError as error:
            problems += error.problems
            continue
        after, regions, wrong = fill(facts, text, FORMS.get(path.suffix.lower(), MARKDOWN), day)
        problems += [f"{path}:{problem.line}: {problem.message}" for problem in wrong]
        documents.append(MarkedFile(path, before, head + after.encode("utf-8"), regions))
    if problems:
        raise DocumentError(tuple(problems))
    return documents


def read_text(name: str) -> str:
    """Return the text of one file; raises UsageError, UnavailableError or DocumentError."""
    path = Path(name)
    if not path.is_file():
        raise UsageError(f"{name}: no such file")
    return _decoded(_content(path, name), name)


def _content(path: Path, name: str) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise UnavailableError(f"{name}: cannot be read: {error.strerror}") from None


def _decoded(content: bytes, name: str) -> str:
    try:
        return content.removeprefix(_BOM).decode("utf-8")
    except UnicodeDecodeError as error:
        raise DocumentError((f"{name}:{error.object[: error.start].count(10) + 1}: is not UTF-8",)) from None


def write_document(document: MarkedFile) -> None:
    """Write a document as it should be, whole or not at all; a link stays a link, and the mode of the file is kept."""
    write_file(document.path, document.after)


def diff_of(document: MarkedFile) -> str:
    """Return what changes as a unified diff, empty where nothing does; line ends stay as the file has them."""
    before, after = (re.findall(r"[^\n]*\n|[^\n]+", side.decode("utf-8")) for side in (document.before, document.after))
    name = document.path.as_posix()
    lines = difflib.unified_diff(before, after, name, f"{name} (generated)")
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


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
