"""Texts with their regions filled, and the files that hold them: which ones, read and written whole, compared and reported."""

import os
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from markdown_it import MarkdownIt

from compatkb.core.atomic_write import write_file
from compatkb.core.foreign import is_inside, read_bounded, walk
from compatkb.core.record import NamedTuple
from compatkb.core.text_position import unified
from compatkb.docgen.kinds import RegionContents
from compatkb.docgen.regions import MarkerProblem, Region, find_regions
from compatkb.errors import CompatkbError, DocumentError, UnavailableError, UsageError
from compatkb.output.documents import Edition
from compatkb.output.writers import Links, render


class Filled(NamedTuple):
    """A region, what stood in it, and what it should hold."""

    region: Region
    before: str
    after: str

    @property
    def is_stale(self) -> bool:
        """Whether what stood there is not what it should hold, to the byte."""
        return self.before != self.after


USUAL = ("README.md", "docs")
_BOM = b"\xef\xbb\xbf"
_MOST_BYTES = 20_000_000


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


_SWALLOWED = (
    "region {}: its markers become text of a block above once the regions are filled; put blank lines around that block"
)


class Documents(RegionContents):
    """Fills the regions of texts and files."""

    def fill(self, text: str) -> tuple[str, list[Filled], list[MarkerProblem]]:
        """Return the text with every region filled, the regions, and all that is wrong; the rest of the text stays as it is.

        A link is defined once in a text.
        """
        regions, problems = find_regions(text)
        links = Links(_defined(text, regions))
        parts: list[str] = []
        filled: list[Filled] = []
        place = 0
        for region in regions:
            before = text[region.start : region.end]
            try:
                after = _placed(render(self.content(region.kind, region.arguments), links), region)
            except CompatkbError as error:
                problems.append(MarkerProblem(region.line, f"region {region.name}: {error}"))
                continue
            filled.append(Filled(region, before, after))
            parts += [text[place : region.start], after]
            place = region.end
        result = "".join([*parts, text[place:]])
        left = {region.name for region in find_regions(result)[0]}
        problems += [
            MarkerProblem(region.line, _SWALLOWED.format(region.name)) for region in regions if region.name not in left
        ]
        return result, filled, sorted(problems)

    def documents(self, paths: Iterable[Path]) -> list[MarkedFile]:
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
            after, regions, wrong = self.fill(text)
            problems += [f"{path}:{problem.line}: {problem.message}" for problem in wrong]
            documents.append(MarkedFile(path, before, head + after.encode("utf-8"), regions))
        if problems:
            raise DocumentError(tuple(problems))
        return documents


def _defined(text: str, regions: list[Region]) -> Mapping[str, str]:
    """Return the link definitions that stand outside the regions: targets by label."""
    if "]:" not in text:
        return {}
    places = [0, *(place for region in regions for place in (region.start, region.end)), len(text)]
    by_hand = "".join(text[start:end] for start, end in zip(places[::2], places[1::2], strict=True))
    known: dict[str, dict[str, dict[str, str]]] = {}
    MarkdownIt("commonmark").disable("inline").parse(by_hand, known)
    return {label: reference["href"] for label, reference in known.get("references", {}).items()}


def _placed(content: str, region: Region) -> str:
    """Return the lines of a region as they stand in the file: blank ones around, indented and ended as its marker is."""
    lines = ["", *re.split(r"\r\n?|\n", content.strip("\r\n")), ""]
    return "".join((region.indent + line if line else "") + region.newline for line in lines)


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
    paths = (path for path in walk(folder, lambda _, name: not name.startswith(".")) if path.suffix == ".md")
    return (path for path in paths if not path.is_symlink() or is_inside(path, folder))


def _content(path: Path, name: str) -> bytes:
    try:
        return read_bounded(path, _MOST_BYTES)
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
    name = document.path.as_posix()
    return unified(document.before.decode("utf-8"), document.after.decode("utf-8"), name, f"{name} (generated)")


def report_text(documents: Sequence[MarkedFile]) -> str:
    """Return a line for each region that was rewritten, and a sum."""
    lines = [
        f"{document.path}:{filled.region.line}: {filled.region.name}: {_change(filled)}"
        for document in documents
        for filled in document.stale
    ]
    regions = sum(len(document.regions) for document in documents)
    lines.append(f"{_number(len(documents), 'file')}, {_number(regions, 'region')}, {len(lines)} rewritten")
    return "\n".join(lines) + "\n"


def report_json(data_date: str, documents: Sequence[MarkedFile]) -> str:
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
    return Edition(data_date).document({"files": files})


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
