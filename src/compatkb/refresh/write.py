"""Files of data/index/: how they differ from what is on disk, and their replacement, whole or not at all."""

import contextlib
import difflib
import os
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from compatkb.errors import UnavailableError


@dataclass(frozen=True)
class FileChange:
    """A file with its text before (empty where there is none) and after."""

    path: Path
    before: str
    after: str

    def diff(self, directory: Path) -> str:
        """Return the unified diff, with paths as seen from the folder around the data directory; empty without change."""
        name = f"{directory.name}/{self.path.relative_to(directory).as_posix()}"
        old = f"a/{name}" if self.before else os.devnull
        return "".join(
            difflib.unified_diff(self.before.splitlines(True), self.after.splitlines(True), old, f"b/{name}"),
        )


def write(changes: Iterable[FileChange]) -> None:
    """Replace files by their new text; each appears whole or not at all. Raises UnavailableError."""
    ready: list[tuple[str, Path]] = []
    path = Path()
    try:
        for change in changes:
            path = change.path
            path.parent.mkdir(exist_ok=True)
            handle, name = tempfile.mkstemp(dir=path.parent, prefix=".new-")
            ready.append((name, path))
            with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
                file.write(change.after)
                file.flush()
                os.fsync(file.fileno())
            Path(name).chmod(path.stat().st_mode & 0o777 if path.exists() else 0o644)
        while ready:
            name, path = ready[0]
            Path(name).replace(path)
            ready.pop(0)
    except OSError as error:
        raise UnavailableError(f"{path}: cannot be written: {error.strerror}") from None
    finally:
        for name, _ in ready:
            with contextlib.suppress(OSError):
                Path(name).unlink()
