"""Reads and writes the evidence files, sorted and atomically: what a run adds, merging, and the journal of a run."""

import fcntl
import json
import os
from collections.abc import Iterable
from datetime import date, timedelta
from pathlib import Path
from types import TracebackType
from typing import Self

from compatkb.core.atomic_write import write_file
from compatkb.errors import DataError, UnavailableError
from compatkb.schema import Level, Observation, Outcome
from compatkb.validate.cell import cell_of


def line_of(observation: Observation) -> str:
    """Return an observation as one line of JSON: keys in the order of the model, defaults left out."""
    return json.dumps(observation.model_dump(mode="json", exclude_defaults=True), ensure_ascii=False)


def read_lines(path: Path) -> list[Observation]:
    """Return the observations of a file; a last line that was cut off is left out; raises DataError for other damage."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return []
    except (OSError, UnicodeDecodeError) as error:
        raise DataError((f"{path}: cannot be read: {error}",)) from None
    lines = text.split("\n")
    observations: list[Observation] = []
    for number, line in enumerate(lines[:-1], 1):  # what follows the last newline was never finished
        try:
            observations += Observation.model_validate_json(line).each()
        except ValueError as error:
            raise DataError((f"{path}:{number}: {str(error).splitlines()[0]}",)) from None
    return observations


def text_of(observations: Iterable[Observation]) -> str:
    """Return observations as the text of an evidence file; those that differ in the version of one package share a line."""
    by_names: dict[tuple[str, ...], list[Observation]] = {}
    for observation in observations:
        by_names.setdefault((observation.level, *observation.packages), []).append(observation)
    lines = [
        min((_sharing(group, name) for name in names), key=len) if level is Level.SYMBOLS and len(names) > 1 else group
        for (level, *names), group in by_names.items()
    ]
    ordered = sorted((o for group in lines for o in group), key=lambda o: cell_of(o).id)
    return "".join(line_of(observation) + "\n" for observation in ordered)


def _sharing(observations: Iterable[Observation], name: str) -> list[Observation]:
    """Return observations with those in one that are equal but for the version of a package."""
    versions: dict[str, list[str]] = {}
    first: dict[str, Observation] = {}
    for observation in observations:
        key = line_of(observation.model_copy(update={"packages": {**observation.packages, name: ""}}))
        versions.setdefault(key, []).append(observation.packages[name])
        first.setdefault(key, observation)
    return [o.model_copy(update={"packages": {**o.packages, name: " ".join(versions[key])}}) for key, o in first.items()]


def read_evidence(directory: Path) -> list[Observation]:
    """Return all observations of `evidence/` in a data directory."""
    return [o for path in sorted((directory / "evidence").glob("*.jsonl")) for o in read_lines(path)]


def merged(*groups: Iterable[Observation]) -> list[Observation]:
    """Return one observation a question, sorted: the newest that checked anything, of one day that of the later group.

    The culprit that somebody found stays with a failure that is seen again in the same words.
    """
    newest: dict[tuple[object, ...], Observation] = {}
    for observation in (o for group in groups for o in group):
        known = newest.get(observation.question)
        if known is None or _weight(observation) >= _weight(known):
            if known and known.culprit and not observation.culprit and _said(known) == _said(observation):
                observation = observation.model_copy(update={"culprit": known.culprit})
            newest[observation.question] = observation
    return sorted(newest.values(), key=lambda o: cell_of(o).id)


def _said(observation: Observation) -> tuple[Outcome, str]:
    return observation.outcome, observation.detail


def _weight(observation: Observation) -> tuple[bool, date]:
    return (observation.outcome is not Outcome.NOT_CHECKED, observation.checked)


def is_fresh(observation: Observation, today: date, max_age: timedelta | None) -> bool:
    """Return whether a cell need not be asked again: something was checked, not longer ago than `max_age`."""
    if observation.outcome is Outcome.NOT_CHECKED:
        return False
    return max_age is None or today - observation.checked <= max_age


def add_evidence(directory: Path, *groups: Iterable[Observation]) -> tuple[int, list[Path]]:
    """Merge observations into `evidence/` of a data directory; returns how many there are, and the files that changed.

    Each file, one a level, is written whole or not at all. Runs side by side wait for each other, so that none loses
    what another one added.
    """
    folder = directory / "evidence"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(folder, os.O_RDONLY)
    except OSError as error:
        raise UnavailableError(f"{folder}: cannot be written: {error.strerror}") from None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        observations = merged(read_evidence(directory), *groups)
        return len(observations), _write(folder, observations)
    finally:
        os.close(handle)


def _write(folder: Path, observations: Iterable[Observation]) -> list[Path]:
    by_level: dict[Level, list[Observation]] = {}
    for observation in observations:
        by_level.setdefault(observation.level, []).append(observation)
    changed = []
    for level, group in sorted(by_level.items()):
        path = folder / f"{level}.jsonl"
        text = text_of(group)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            write_file(path, text.encode())
            changed.append(path)
    return changed


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
