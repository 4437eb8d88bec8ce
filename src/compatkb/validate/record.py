"""A recorded index: its pages and the wheel metadata that resolution reads, so that real pip can be asked again.

A folder with a file for each distribution, one line of JSON a wheel, sorted by name. No address is kept: they are derived
from the names when the record is served. Of METADATA all fields that resolution reads are kept and no other.
"""

import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace
from email.parser import BytesHeaderParser
from pathlib import Path
from typing import Protocol

from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename
from packaging.version import InvalidVersion, Version

from compatkb.core.atomic_write import write_file
from compatkb.errors import DataError, UnavailableError

FIELDS = ("Metadata-Version", "Name", "Version", "Requires-Python", "Requires-Dist", "Provides-Extra", "Dynamic")
"""The fields that resolution reads; without Provides-Extra an extra is dropped in silence, and answers flip."""


@dataclass(frozen=True)
class Wheel:
    """A line of a record; `headers` are None where nobody has read the metadata yet."""

    file: str
    requires_python: str | None = None
    yanked: str | None = None  # the reason, maybe empty
    sha256: str | None = None
    uploaded: str | None = None  # ISO 8601, UTC
    headers: tuple[tuple[str, str], ...] | None = None

    @property
    def text(self) -> str | None:
        """The METADATA as it is served."""
        return None if self.headers is None else "".join(f"{name}: {value}\n" for name, value in self.headers)


class Upstream(Protocol):
    """Where a record is filled from."""

    def wheels(self, distribution: str) -> tuple[Wheel, ...] | None:
        """Return the wheels of a distribution; None where there is none of this name; raises UnavailableError."""

    def metadata(self, distribution: str, file: str) -> bytes | None:
        """Return the METADATA of a wheel, None where the index offers none; raises UnavailableError."""


class RecordedIndex:
    """A recorded index, filled from `upstream` as it is asked where one is given; safe to use from several threads."""

    def __init__(self, folder: Path, upstream: Upstream | None = None) -> None:
        self.folder, self._upstream = folder, upstream
        self._pages: dict[str, dict[str, Wheel] | None] = {}
        self._changed: set[str] = set()
        self._locks: dict[str, threading.Lock] = {}
        self._lock = threading.Lock()

    def page(self, distribution: str) -> list[Wheel] | None:
        """Return the wheels of a distribution; None where the index has none of this name.

        Raises LookupError where the record does not tell and nothing fills it, UnavailableError where upstream fails.
        """
        name = str(canonicalize_name(distribution))
        with self._locked(name):
            page = self._page(name)
            return None if page is None else list(page.values())

    def metadata(self, distribution: str, file: str) -> str | None:
        """Return the METADATA of a wheel as it is served; None where the index offers none.

        Raises LookupError where the record does not tell and nothing fills it, UnavailableError where upstream fails.
        """
        name = str(canonicalize_name(distribution))
        with self._locked(name):
            page = self._page(name)
            wheel = (page or {}).get(file)
            if page is None or wheel is None:
                raise LookupError(f"{file} is not in the record")
            if wheel.headers is None:
                if self._upstream is None:
                    raise LookupError(f"the metadata of {file} are not in the record")
                content = self._upstream.metadata(name, file)
                wheel = page[file] = replace(wheel, headers=() if content is None else headers_of(content))
                self._changed.add(name)
            if wheel.headers and not is_own(file, dict(wheel.headers)):
                raise UnavailableError(f"{file}: its metadata are those of another version or distribution")
            return wheel.text or None

    def save(self) -> int:
        """Write what was filled in; returns how many files changed."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with self._lock:
            changed, self._changed = sorted(self._changed), set()
        for name in changed:
            with self._locked(name):
                page = self._pages[name]
                lines = [line_of(wheel) for _, wheel in sorted((page or {}).items())]
                write_file(self.folder / f"{name}.jsonl", "".join(f"{line}\n" for line in lines).encode())
        return len(changed)

    def _locked(self, name: str) -> threading.Lock:
        with self._lock:
            return self._locks.setdefault(name, threading.Lock())

    def _page(self, name: str) -> dict[str, Wheel] | None:
        if name not in self._pages:
            path = self.folder / f"{name}.jsonl"
            if path.is_file():
                wheels = read_page(path)
                self._pages[name] = {wheel.file: wheel for wheel in wheels} or None
            elif self._upstream is None:
                raise LookupError(f"{name} is not in the record")
            else:
                upstream_wheels = self._upstream.wheels(name)
                self._pages[name] = {wheel.file: wheel for wheel in upstream_wheels} if upstream_wheels else None
                self._changed.add(name)
        return self._pages[name]


def read_page(path: Path) -> list[Wheel]:
    """Return the wheels of a recorded page; an empty file says that the index has none of this name; raises DataError."""
    wheels = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        try:
            content = json.loads(line)
            headers = content.pop("headers", None)
            pairs = None if headers is None else tuple((str(name), str(value)) for name, value in headers)
            wheels.append(Wheel(**content, headers=pairs))
        except (ValueError, TypeError) as error:
            raise DataError((f"{path}:{number}: is no line of a record: {error}",)) from None
    return wheels


def line_of(wheel: Wheel) -> str:
    """Return a wheel as one line of JSON; what is not known is left out."""
    content = {name: value for name, value in vars(wheel).items() if value is not None}
    return json.dumps(content, ensure_ascii=False)


def is_own(file: str, headers: Mapping[str, str]) -> bool:
    """Return whether metadata name the distribution and version that the wheel's name has; not every installer looks."""
    try:
        name, version, _, _ = parse_wheel_filename(file)
        header_version = Version(headers.get("Version", ""))
    except (InvalidWheelFilename, InvalidVersion):
        return False
    return canonicalize_name(headers.get("Name", "")) == name and header_version == version


def headers_of(content: bytes) -> tuple[tuple[str, str], ...]:
    """Return the fields of a METADATA file that resolution reads, in its order; raises UnavailableError."""
    try:
        message = BytesHeaderParser().parsebytes(content)
    except (ValueError, LookupError) as error:
        raise UnavailableError(f"metadata that cannot be read: {error}") from None
    return tuple((name, " ".join(str(value).split())) for name, value in message.items() if name in FIELDS)
