"""What a run has finished so far: a file that grows by whole lines, so that a kill at any moment loses nothing finished."""

import fcntl
import os
from pathlib import Path
from types import TracebackType
from typing import Self

from compatkb.errors import UnavailableError
from compatkb.schema import Observation
from compatkb.validate.evidence import line_of, read_lines


class Journal:
    """The journal of one run; only one process at a time may write it."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __enter__(self) -> Self:
        """Lock the file and cut off a line that was not finished; raises UnavailableError where another run holds it."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._file = self.path.open("ab+")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._file.close()
            raise UnavailableError(f"{self.path}: another run is writing it; wait for that one or end it") from None
        self._file.seek(0)
        whole = self._file.read().rfind(b"\n") + 1
        self._file.truncate(whole)
        self.done = read_lines(self.path)
        return self

    def add(self, observation: Observation) -> None:
        """Append one observation and see it on disk."""
        self._file.write(line_of(observation).encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Close the file; it stays until its lines are in the evidence."""
        self._file.close()

    def remove(self) -> None:
        """Forget the journal: all of it is in the evidence."""
        self.path.unlink(missing_ok=True)
