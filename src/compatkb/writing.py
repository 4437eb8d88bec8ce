"""Files written whole or not at all."""

import os
import shutil
import tempfile
from pathlib import Path

from compatkb.errors import UnavailableError


def write_file(target: Path, content: bytes) -> None:
    """Replace a file by new content, on disk before the old one goes; raises UnavailableError, the old one then stays."""
    target = Path(os.path.realpath(target))  # what a link leads to is written, not the link
    name = None
    try:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=".compatkb-")
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            shutil.copymode(target, name)
        Path(name).replace(target)
    except OSError as error:
        if name:
            Path(name).unlink(missing_ok=True)
        raise UnavailableError(f"{target}: cannot be written: {error.strerror}") from None
