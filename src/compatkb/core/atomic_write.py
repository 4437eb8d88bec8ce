"""Writes files atomically: to a temporary file beside the target, flushed to disk, then renamed over it."""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from compatkb.errors import UnavailableError, UsageError


def write_file(target: Path, content: bytes) -> None:
    """Write a file; raises UsageError where the target is no file, UnavailableError where it cannot be written."""
    make_file(target, lambda new: new.write_bytes(content))


def make_file(target: Path, make: Callable[[Path], object]) -> None:
    """Have `make` write a new file, and put it in the place of `target`; raises as `write_file` does."""
    target = Path(os.path.realpath(target))  # what a link leads to is written, not the link
    if target.is_dir() or (target.exists() and not target.is_file()):
        raise UsageError(f"{target}: is no file, so nothing was written")
    with _folder_beside(target) as folder:
        new = folder / "new"
        make(new)
        with open(new, "rb+") as file:
            os.fsync(file.fileno())
        if target.exists():
            shutil.copymode(target, new)
        new.replace(target)


def write_tree(target: Path, files: Mapping[str, bytes], *, ours: str) -> None:
    """Put a folder with these files, by their paths, in the place of `target`: of nothing, or of a tree with the file `ours`.

    Raises UsageError where something else is there, UnavailableError where it cannot be written.
    """
    target = Path(os.path.realpath(target))
    if target.exists() and not target.is_dir():
        raise UsageError(f"{target}: is no folder, so nothing was written")
    with _folder_beside(target, parents=True) as folder:
        if target.is_dir() and any(target.iterdir()) and not (target / ours).is_file():
            raise UsageError(f"{target}: holds other files; name an empty folder")
        new = folder / "new"
        for name, content in files.items():
            (new / name).parent.mkdir(parents=True, exist_ok=True)
            (new / name).write_bytes(content)
        os.sync()
        _swap(target, new, folder / "old")


@contextmanager
def _folder_beside(target: Path, *, parents: bool = False) -> Iterator[Path]:
    """Make a folder beside `target` for what is to take its place, and remove it afterwards; raises UnavailableError."""
    folder = None
    try:
        if parents:
            target.parent.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(dir=target.parent, prefix=".compatkb-"))
        yield folder
    except OSError as error:
        raise UnavailableError(f"{target}: cannot be written: {error.strerror}") from None
    finally:
        if folder:
            shutil.rmtree(folder, ignore_errors=True)


def _swap(target: Path, new: Path, old: Path) -> None:
    """Put `new` in the place of a folder, which is kept as `old`; the old one comes back where that fails."""
    if target.exists():
        target.rename(old)
    try:
        new.rename(target)
    except OSError:
        if old.exists():
            old.rename(target)
        raise
