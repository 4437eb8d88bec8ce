"""Reads small members of a remote wheel, such as its metadata, by HTTP ranges without downloading the wheel."""

import io
import re
import shutil
import struct
import zipfile
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from packaging.utils import canonicalize_name

from compatkb.errors import UnavailableError
from compatkb.refresh.listing import shown

MOST_METADATA = 4 << 20
MOST_OF_A_MEMBER = 1 << 20
MOST_OF_A_WHEEL = 24 << 20
TAIL = 1 << 16
_KEPT_PARTS = 4
_BLOCK = 1 << 20
_METADATA = re.compile(r"([^/]+)-[^/-]+\.dist-info/METADATA")


class RangeFile(io.RawIOBase):
    """A file of `size` bytes whose end is known, and whose other parts `fetch(start, end)` brings; end is exclusive.

    At least `chunk` bytes are fetched at a time, `most` in all; the tail and the newest few parts are kept.
    """

    def __init__(
        self,
        size: int,
        tail: bytes,
        fetch: Callable[[int, int], bytes],
        *,
        chunk: int = TAIL,
        most: int = MOST_OF_A_WHEEL,
    ) -> None:
        super().__init__()
        self._size = size
        self._fetch = fetch
        self._tail = (size - len(tail), tail)
        self._parts: deque[tuple[int, bytes]] = deque(maxlen=_KEPT_PARTS)
        self._chunk, self._most = chunk, most
        self._place = 0
        self.fetched = 0
        """How many bytes were fetched so far."""

    def seekable(self) -> bool:
        """Return True."""
        return True

    def readable(self) -> bool:
        """Return True."""
        return True

    def tell(self) -> int:
        """Return the position in bytes from the start."""
        return self._place

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Move and return the new position; raises OSError for one before the start."""
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._place, io.SEEK_END: self._size}[whence]
        if base + offset < 0:
            raise OSError("position before the start")
        self._place = base + offset
        return self._place

    def read(self, size: int = -1) -> bytes:
        """Return `size` bytes, or what there is up to the end; raises OSError when too much of the file is asked for."""
        end = self._size if size < 0 else min(self._size, self._place + size)
        if end <= self._place:
            return b""
        start, part = self._covering(self._place, end)
        content = part[self._place - start : end - start]
        self._place = end
        return content

    def _covering(self, start: int, end: int) -> tuple[int, bytes]:
        for place, part in (self._tail, *self._parts):
            if place <= start and end <= place + len(part):
                return place, part
        wanted = min(self._size, max(end, start + self._chunk))
        self.fetched += wanted - start
        if self.fetched > self._most:
            raise OSError("too much of the wheel is needed")
        self._parts.append((start, self._fetch(start, wanted)))
        return self._parts[-1]


def wheel_metadata(name: str, distribution: str, file: RangeFile) -> bytes:
    """Return the METADATA of a wheel; raises UnavailableError where the file is no wheel of the distribution."""
    with _opened(name, file) as wheel:
        wanted = canonicalize_name(distribution)
        matches = [(info, _METADATA.fullmatch(info.filename)) for info in wheel.infolist()]
        members = [info for info, match in matches if match and canonicalize_name(match[1]) == wanted]
        if len(members) != 1:
            raise UnavailableError(f"{name}: has {len(members)} METADATA files of {distribution}, not one")
        return _member(name, wheel, members[0], "its METADATA", MOST_METADATA)


def wheel_members(name: str, file: RangeFile, wanted: Iterable[str]) -> dict[str, bytes]:
    """Return the members of a wheel that it has, by their path in it; raises UnavailableError where one cannot be read."""
    with _opened(name, file) as wheel:
        there = {info.filename: info for info in wheel.infolist()}
        members = [there[path] for path in wanted if path in there]
        return {info.filename: _member(name, wheel, info, info.filename, MOST_OF_A_MEMBER) for info in members}


def unpack_members(name: str, file: RangeFile, wanted: Callable[[str], bool], folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield the path of each wanted member and a file in `folder` that holds it until the next one is asked for.

    Members are streamed, so none is held in memory. Raises UnavailableError where one cannot be read.
    """
    with _opened(name, file) as wheel:
        for info in sorted(wheel.infolist(), key=lambda info: info.header_offset):
            if wanted(info.filename):
                target = folder / "member"
                with wheel.open(info) as content, target.open("wb") as unpacked:
                    shutil.copyfileobj(content, unpacked, _BLOCK)
                yield info.filename, target


@contextmanager
def _opened(name: str, file: RangeFile) -> Iterator[zipfile.ZipFile]:
    try:
        with zipfile.ZipFile(file) as wheel:
            yield wheel
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, RuntimeError, OverflowError, struct.error) as error:
        raise UnavailableError(f"{name}: cannot be read as a wheel: {shown(str(error))}") from None


def _member(name: str, wheel: zipfile.ZipFile, info: zipfile.ZipInfo, what: str, most: int) -> bytes:
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise UnavailableError(f"{name}: is compressed in a way that wheels are not")
    with wheel.open(info) as content:
        body = content.read(most + 1)
    if len(body) > most:
        raise UnavailableError(f"{name}: {what} is larger than {most} bytes")
    return body
