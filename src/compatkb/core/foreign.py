"""Foreign bytes: the one way in for files that others wrote, and the ways out for text that others wrote."""

import errno
import os
import re
import stat
from functools import cache
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:  # every answer prints by `shown`, few open files
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

_UNSHOWN = frozenset(("Cc", "Cf", "Cs", "Zl", "Zp"))
"""Categories of Unicode that change how a line looks, or cannot be written: controls, marks of direction, surrogates."""


DEEPEST = 100
LONGEST_PATH = 3500
"""Folders within folders, and bytes of a folder's path, beyond which nothing is looked for: systems end at 4,096."""


def is_inside(path: "Path | str", root: "Path") -> bool:
    """Return whether a path, its links followed, is in a folder."""
    from pathlib import Path

    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(root))  # which, unlike `resolve`, bears circles


def safe_open(path: "Path | str", root: "Path | None" = None) -> BinaryIO:
    """Return a regular file opened for reading; with `root` only one that lies in this folder when links are followed.

    Raises OSError, its `strerror` saying why not: pipes, sockets and devices are never waited for.
    """
    if root is not None and not is_inside(path, root):
        raise OSError(errno.EPERM, "leads out of the folder that is checked", str(path))
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    try:
        mode = os.fstat(handle).st_mode
        if not stat.S_ISREG(mode):
            reason = os.strerror(errno.EISDIR) if stat.S_ISDIR(mode) else "is no regular file"
            raise OSError(errno.EISDIR if stat.S_ISDIR(mode) else errno.EINVAL, reason, str(path))
        return os.fdopen(handle, "rb")
    except BaseException:
        os.close(handle)
        raise


def walk(folder: "Path", enters: "Callable[[Path, str], bool]") -> "Iterator[Path]":
    """Return what is below a folder and no folder, folder by folder, by name; `enters` is asked about each by parent and name.

    Links to folders are not followed. Folders that cannot be read, or are nested deeper than anybody's work, are passed over.
    """
    folders = [(folder, 0)]
    while folders:
        parent, depth = folders.pop()
        try:
            with os.scandir(parent) as found:
                entries = sorted(found, key=lambda entry: entry.name)
        except OSError:
            continue
        inner = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
        if depth < DEEPEST and len(os.fsencode(parent)) < LONGEST_PATH:
            folders += [(parent / name, depth + 1) for name in reversed(inner) if enters(parent, name)]
        files = (parent / entry.name for entry in entries if not entry.is_dir(follow_symlinks=False))
        for path in files:
            if not path.is_symlink() or not os.path.isdir(path):  # noqa: PTH112  # Path.is_dir raises where it may not look
                yield path


def read_bounded(path: "Path | str", most: int, root: "Path | None" = None) -> bytes:
    """Return the content of a regular file; raises OSError as `safe_open` does, or EFBIG for more than `most` bytes."""
    with safe_open(path, root) as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise OSError(errno.EFBIG, f"is larger than {most:,} bytes", str(path))
    return content


def shown(text: str) -> str:
    """Return a foreign text that stays in its line and does no harm: what does not print, but for tabs, is escaped."""
    if text.isprintable():
        return text
    import unicodedata

    return "".join(_escaped(mark) if unicodedata.category(mark) in _UNSHOWN else mark for mark in text)


def lines_shown(text: str) -> str:
    """Return a text of several lines, each as `shown` returns it; what ends them stays."""
    return "\n".join(map(shown, text.split("\n")))


def _escaped(mark: str) -> str:
    return mark if mark == "\t" else mark.encode("unicode_escape").decode("ascii")


_SHORTEST = 3  # letters of a name that is replaced wherever it stands: shorter ones are parts of words


@cache
def _rules() -> tuple[tuple[re.Pattern[str], str], ...]:
    """Return home folders, addresses with passwords, tokens, secrets and mail, each with what stands for it."""
    return (
        (re.compile(r"(?i)(/home/|/users/|[a-z]:[\\/]users[\\/])[^/\\\s'\":,)]+"), r"\1USER"),
        (re.compile(r"(?i)\b([a-z][a-z0-9+.-]{1,20}://)[^/@\s'\"]{1,200}@"), r"\1"),
        (re.compile(r"\b(?:hf|ghp|gho|ghs|glpat|github_pat|sk)[_-][A-Za-z0-9_-]{16,255}\b"), "TOKEN"),
        (
            re.compile(r"(?i)\b([\w-]{0,40}(?:token|password|secret|api_?key)[\w-]{0,20})\s?[=:]\s?[^\s'\",;]{4,200}"),
            r"\1=SECRET",
        ),
        (re.compile(r"\b[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}\b"), "MAIL"),
    )


def redacted(text: str, names: "Mapping[str, str]") -> str:
    """Return a text without the given names (what stands for each beside it), home folders, addresses and secrets."""
    for pattern, stands in _rules():
        text = pattern.sub(stands, text)
    for name in sorted((name for name in names if len(name) >= _SHORTEST), key=len, reverse=True):
        text = re.sub(rf"(?<![A-Za-z0-9]){re.escape(name)}(?![A-Za-z0-9])", names[name], text)
    return text
