"""Finds the files to check, reads them as text, and writes them back as they were."""

import errno
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from compatkb.check.config import Settings
from compatkb.check.document import TextDocument
from compatkb.check.rules import CheckRule, FileRole
from compatkb.core import foreign
from compatkb.core.findings import Finding, Severity
from compatkb.errors import UnavailableError, UsageError
from compatkb.parsers.registry import kind_of, tell_by_content, tell_kind

UNREADABLE = CheckRule(
    "unreadable",
    Severity.WARNING,
    "a file is no text, is too large, or is not what its name says",
    off_in=(FileRole.STEPS, FileRole.PIPELINE, FileRole.NOTEBOOK, FileRole.DOCUMENT),
)
UNREAD = CheckRule("unread", Severity.INFO, "a file or project is too long to be judged as a whole", optional=True)
RULES = (UNREADABLE, UNREAD)

_LISTED = re.compile(r"(?<!\S)(?:-r|--requirements?)[= \t]+[\"']?([A-Za-z][\w./-]*\.(?:txt|in|pip|list))(?=[\"'\s]|$)")
_WITH_LISTS = ("dockerfile", "shell", "makefile", "github", "gitlab", "requirements", "batch")
_MOST_ABOVE = 2
"""As many folders above a file may hold what it names."""
MOST_BYTES = 20_000_000
_HIDDEN = (".github", ".gitlab", ".circleci", ".ci", ".devcontainer", ".docker", ".binder")
_LEFT_OUT = ("node_modules", "__pycache__", "site-packages")
_ENVIRONMENT = ("pyvenv.cfg", "conda-meta", "Lib/site-packages", "bin/activate")
"""What a folder of an environment has, whatever it is called."""
_MADE = {"build": ("lib", "lib.*", "bdist.*", "temp.*", "CMakeCache.txt"), "dist": ("*.whl", "*.tar.gz", "*.js")}
"""What a folder of these names has where a build has made it; others are somebody's own."""
_MARKS = (
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe\x00\x00", "utf-32-le"),
    (b"\x00\x00\xfe\xff", "utf-32-be"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)


def find(
    names: Iterable[str], reads: Callable[[str], bool], settings: Settings, passed: "Counter[str] | None" = None
) -> list[Path]:
    """Return the files that are named and those below folders that something `reads`, sorted, once each.

    Others below folders are counted in `passed`, by their ending or name.
    A file that is named is read for what is in it where its name tells nothing. Raises UsageError for one that is not there or
    that nothing reads.
    """
    paths: dict[str, Path] = {}
    for name in names:
        path = Path(name)
        if path.is_dir():
            for file in _below(path, settings):
                if not os.path.exists(file):  # noqa: PTH110  # Path.exists raises where a folder may not be entered
                    continue  # a link into what was not checked out, as a submodule
                if file.is_symlink() and not foreign.is_inside(file, path):
                    if passed is not None:
                        passed["link that leads out"] += 1
                    continue
                if reads(shown(file)):
                    paths.setdefault(os.path.realpath(file), file)
                elif passed is not None:
                    passed[file.suffix or file.name] += 1
        elif not path.exists():
            raise UsageError(f"{name}: no such file")
        elif not (reads(shown(path)) or _reads_content(path, reads)):
            raise UsageError(f"{name}: nothing here reads files of this name or content; docs/check.md lists what is read")
        else:
            paths.setdefault(os.path.realpath(path), path)
    return sorted(paths.values(), key=shown)


def lists_beside(documents: Iterable[TextDocument], paths: Iterable[Path], reads: Callable[[str], bool]) -> list[Path]:
    """Return the files that commands among some files read as requirements although their names tell nothing."""
    folders = {shown(path): path.parent for path in paths}
    known, found = set(folders), {}
    for document in documents:
        for name in _LISTED.findall(document.text) if kind_of(document.path) in _WITH_LISTS else ():
            for folder in (folders[document.path], *folders[document.path].parents[:_MOST_ABOVE]):
                path = folder / name
                if path.is_file() and not path.is_symlink():
                    if shown(path) not in known and not reads(shown(path)):
                        tell_kind(shown(path), "requirements")
                        found[shown(path)] = path
                    break
    return list(found.values())


def _reads_content(path: Path, reads: Callable[[str], bool]) -> bool:
    """Return whether something reads a file of that content, whatever its name."""
    document = read(path)
    if isinstance(document, TextDocument):
        tell_by_content(shown(path), document.text)
    return reads(shown(path))


def shown(path: Path) -> str:
    """Return a path as findings name it: from the working directory where it is below that, with slashes, and printable."""
    relative = os.path.relpath(path)
    return foreign.shown(Path(path if Path(relative).parts[:1] == (os.pardir,) else relative).as_posix())


def _below(folder: Path, settings: Settings) -> Iterator[Path]:
    found = foreign.walk(folder, lambda parent, name: not _skipped(parent, name, settings))
    return (path for path in found if not settings.leaves_out(_inside(path, settings)))


def _skipped(parent: Path, name: str, settings: Settings) -> bool:
    path = parent / name
    hidden = name.startswith(".") and name not in _HIDDEN
    made = any(next(path.glob(pattern), None) is not None for pattern in _MADE.get(name, ()))
    is_environment = any((path / mark).exists() for mark in _ENVIRONMENT)
    return hidden or name in _LEFT_OUT or made or is_environment or settings.leaves_out(_inside(path, settings))


def is_left_out(path: Path, settings: Settings) -> bool:
    """Return whether a file would not be found below a folder, by the names in its path from the working directory."""
    hidden = any(part.startswith(".") and part not in (*_HIDDEN, os.pardir) for part in path.parts[:-1])
    return hidden or any(part in _LEFT_OUT for part in path.parts) or settings.leaves_out(_inside(path, settings))


def _inside(path: Path, settings: Settings) -> str:
    """Return a path as patterns of the settings see it: from the folder of the settings."""
    return Path(os.path.relpath(path, settings.folder or ".")).as_posix()


def read(path: Path) -> TextDocument | Finding:
    """Return a file as a document, or why it is none; raises UnavailableError where it cannot be read."""
    name = shown(path)
    try:
        content = foreign.read_bounded(path, MOST_BYTES)
    except OSError as error:
        if error.errno == errno.EFBIG:
            return _unreadable(name, f"is larger than {MOST_BYTES // 1_000_000} MB, so it was not read")
        if error.errno == errno.EINVAL:
            return _unreadable(name, f"{error.strerror}, so it was not read")
        raise UnavailableError(f"{name}: cannot be read: {error.strerror}") from None
    return document_of(name, content)


def document_of(name: str, content: bytes) -> TextDocument | Finding:
    """Return the content of a file as a document, or why it is none."""
    head, encoding = next(((m, e) for m, e in _MARKS if content.startswith(m)), (b"", "utf-8"))
    body = content[len(head) :]
    try:
        return TextDocument(name, body.decode(encoding), encoding, head)
    except UnicodeDecodeError as error:
        line = body[: error.start].count(b"\n") + 1
        return _unreadable(name, f"is not {encoding.upper()} text, so it was not read", line)


def write(path: Path, document: TextDocument, text: str) -> None:
    """Write a document with another text, with its encoding and mark, whole or not at all."""
    from compatkb.core.atomic_write import write_file

    write_file(path, document.head + text.encode(document.encoding))


def _unreadable(path: str, message: str, line: int = 0) -> Finding:
    return Finding(UNREADABLE.id, UNREADABLE.level, path, line, message)
