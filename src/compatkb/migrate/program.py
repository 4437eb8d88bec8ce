"""A Python text within its document: a whole file, or the cells of a notebook."""

import json
from collections.abc import Iterable
from itertools import pairwise

from compatkb.check.document import TextDocument
from compatkb.core.findings import Edit
from compatkb.migrate.syntax import PythonSource, SyntaxProblemError
from compatkb.parsers.notebook import cells
from compatkb.parsers.source import Fragment, Segment, SourceFile, TreeError

_PLACE = "\n\n"


class Program:
    """A Python file, or another text of Python, and where in a document it stands."""

    whole_lines = True  # a line of the text is a line of the document

    def __init__(self, document: TextDocument) -> None:
        """Raise SyntaxProblemError where there is no Python that can be read."""
        self.document = document
        self.code = PythonSource(self._text())

    def _text(self) -> str:
        return self.document.text

    def start(self, offset: int) -> int:
        """Return the offset in the document of a character of the text."""
        return offset

    def end(self, offset: int) -> int:
        """Return the offset in the document behind the last character before an offset of the text."""
        return offset

    def edits(self, edits: Iterable[Edit]) -> tuple[Edit, ...]:
        """Return edits of the text as edits of the document, none at all where one cannot be made there."""
        return tuple(edits)


class Cells(Program):
    """The code cells of a notebook, one after the other; lines that are no Python are left blank."""

    whole_lines = False

    def _text(self) -> str:
        self._source = SourceFile(self.document.path, self.document.text)
        pieces: list[Segment] = []
        try:
            parts = list(cells(self._source))
        except TreeError as error:
            raise SyntaxProblemError(error.place.line, str(error)) from None
        for cell in parts:
            shown = _python(cell.text)
            bounds = [*cell.bounds(), len(shown)]
            pieces += [Segment(shown[a:b], cell.origin(a)) for a, b in pairwise(bounds)]
            pieces.append(Segment(_PLACE, pieces[-1].start + len(pieces[-1].text) if pieces else 0))
        self._fragment = Fragment(self._source, pieces)
        return self._fragment.text

    def start(self, offset: int) -> int:
        """Return where a character of a cell stands in the file, whose line ends may be of another kind."""
        origin = self._fragment.origin(min(offset, max(0, len(self._fragment.text) - 1)))
        same = len(self._source.text) == len(self.document.text)
        return origin if same else self.document.offset(*self._source.place(origin))

    def end(self, offset: int) -> int:
        """Return where the character before an offset ends in the file, its escape included."""
        at = self.start(max(0, offset - 1))
        text = self.document.text
        return at + (6 if text[at : at + 2] == "\\u" else 2 if text[at : at + 1] == "\\" else 1)

    def edits(self, edits: Iterable[Edit]) -> tuple[Edit, ...]:
        """Return the edits with their text as JSON has it; none where one would reach beyond a string of the file."""
        json_edits: list[Edit] = []
        text = self.document.text
        for edit in edits:
            start = self.start(edit.start)
            end = start if edit.end == edit.start else self.end(edit.end)
            new = json.dumps(edit.text, ensure_ascii=False)[1:-1]
            if end < start or "\n" in text[start:end] or _decoded(text[start:end]) != self.code.text[edit.start : edit.end]:
                return ()
            json_edits.append(Edit(start, end, new))
        return tuple(json_edits)


def program_of(document: TextDocument) -> Program:
    """Return the Python of a document; raises SyntaxProblemError where there is none that can be read."""
    return Cells(document) if document.path.endswith(".ipynb") else Program(document)


def _python(cell: str) -> str:
    """Return a cell of the same length in which nothing but Python is left; an unreadable one is blank."""
    lines = cell.split("\n")
    blank = "\n".join(" " * len(line) for line in lines)
    if cell.lstrip().startswith("%%"):
        return blank
    shown = []
    continued = False
    for line in lines:
        stripped = line.lstrip()
        if continued or stripped.startswith(("!", "%", "?")) or (stripped.endswith("?") and "#" not in stripped):
            word = "pass" if len(stripped) >= 4 and not continued else "0" if stripped and not continued else ""
            indent = line[: len(line) - len(stripped)]
            shown.append((indent + word).ljust(len(line)))
            continued = line.endswith("\\")
        else:
            shown.append(line)
    text = "\n".join(shown)
    try:
        PythonSource(text)
    except SyntaxProblemError:
        return blank
    return text


def _decoded(text: str) -> str:
    try:
        return str(json.loads(f'"{text}"'))
    except ValueError:
        return text
