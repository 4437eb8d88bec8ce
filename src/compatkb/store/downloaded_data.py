"""Installs newer data from a file or an address: verified, kept in the user's data folder, older ones removed.

Each store is a file named by its format, day and digest, so one is there whole or not at all, and of several the newest
counts: updates side by side cannot put an older one in its place.
"""

import hashlib
import os
import re
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import IO, NamedTuple
from urllib.parse import urlsplit

from compatkb.core.atomic_write import write_file
from compatkb.errors import DataError, UnavailableError, UsageError
from compatkb.store.cache import data_date, locate, updates, updates_directory
from compatkb.store.connection import FORMAT, connect
from compatkb.store.reader import Snapshot
from compatkb.store.tables import TABLES

FILE = f"compatkb-data-{FORMAT}.sqlite"
"""What a published store is called; beside it stands its digest, as `sha256sum` writes it."""
MOST_BYTES = 256 << 20
_KEPT = 2
_FORGOTTEN = 3600  # seconds after which nobody is writing a file any more
_SILENCE = 30.0
_CHUNK = 1 << 16
_DIGEST = re.compile(r"[0-9a-f]{64}\b")


class Update(NamedTuple):
    """What an update did: the day of the data that are used now, and whether they were taken just now."""

    data_date: str
    taken: bool


def update(source: str) -> Update:
    """Take the store at a path, at an address, or below one that ends with a slash, where it is not older than that in use.

    Raises UsageError, UnavailableError where it cannot be had or kept, DataError where it is damaged, foreign or older.
    """
    place = f"{source}{FILE}" if source.endswith("/") else source
    read = _download if "://" in place else _read
    digests = _DIGEST.findall(read(f"{place}.sha256", _CHUNK).decode("ascii", "replace").lower())
    if len(digests) != 1:
        raise DataError((f"{place}.sha256: is no SHA-256 digest as `sha256sum` writes it",))
    content = read(place, MOST_BYTES)
    if hashlib.sha256(content).hexdigest() != digests[0]:
        raise DataError((f"{place}: is not what its digest says; it is damaged or half written, so nothing was taken",))
    return _keep(place, content, digests[0])


def pack(data: str | None, target: Path) -> str:
    """Write the store of a data directory and its digest as `update` takes them; returns the day of the data."""
    content = Path(locate(data)).read_bytes()
    write_file(target, content)
    write_file(target.with_name(f"{target.name}.sha256"), f"{hashlib.sha256(content).hexdigest()}  {target.name}\n".encode())
    return data_date(os.fspath(target))


def _keep(place: str, content: bytes, digest: str) -> Update:
    folder = Path(updates_directory())
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UnavailableError(f"{folder}: cannot be made: {error.strerror}") from None
    new = folder / f"new-{digest[:16]}-{os.getpid()}"
    try:
        with new.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        day, used = _checked(place, new), data_date(locate())
        if day < used:
            raise DataError((f"{place}: has data of {day}, older than those in use, of {used}; nothing was taken",))
        target = folder / f"{FORMAT}-{day}-{digest[:16]}.sqlite"
        taken = not target.exists()
        new.replace(target)
    except OSError as error:
        raise UnavailableError(f"{folder}: cannot be written: {error.strerror}") from None
    finally:
        new.unlink(missing_ok=True)
    _forget(folder)
    return Update(data_date(locate()), taken)


def _forget(folder: Path) -> None:
    """Remove all but the newest stores, and what updates left that were killed."""
    left = [path for path in folder.glob("new-*") if path.stat().st_mtime < time.time() - _FORGOTTEN]
    for old in [*map(Path, updates(os.fspath(folder))[:-_KEPT]), *left]:
        with suppress(OSError):  # somebody else may be at it
            old.unlink()


def _checked(place: str, path: Path) -> str:
    """Return the day of a store; raises DataError where it is none of this program's format, or is damaged."""
    day = Snapshot(os.fspath(path)).meta.get("data_date", "")
    with closing(connect(os.fspath(path))) as store:
        try:
            sound = store.execute("pragma quick_check").fetchone() == ("ok",)
            there = {name for (name,) in store.execute("select name from sqlite_master where type = 'table'")}
        except sqlite3.DatabaseError:
            sound, there = False, set()
    if not sound or not set(TABLES) <= there or not re.fullmatch(r"\d{4}-\d\d-\d\d", day):
        raise DataError((f"{place}: is damaged, or no store of compatkb; nothing was taken",))
    return day


def _read(place: str, most: int) -> bytes:
    try:
        with open(place, "rb") as file:
            return _bounded(place, file, most)
    except OSError as error:
        raise UsageError(f"{place}: cannot be read: {error.strerror}") from None


def _download(place: str, most: int) -> bytes:
    from http.client import HTTPException
    from urllib.request import urlopen

    _check_address(place)
    try:
        with urlopen(place, timeout=_SILENCE) as answer:
            _check_address(answer.url)
            length = answer.headers["Content-Length"]  # without one, chunks tell where the answer ends
            return _bounded(place, answer, most, lambda content: length is None or len(content) == int(length))
    except (OSError, HTTPException, ValueError) as error:
        raise UnavailableError(f"{place}: cannot be had: {error}") from None


def _check_address(place: str) -> None:
    parts = urlsplit(place)
    if parts.scheme != "https" and not (parts.scheme == "http" and _is_here(parts.hostname or "")):
        raise UsageError(f"{place}: data are taken over https, from this machine, or from a file")


def _is_here(host: str) -> bool:
    from ipaddress import ip_address

    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _bounded(place: str, file: IO[bytes], most: int, is_whole: Callable[[bytes], bool] = bool) -> bytes:
    content = file.read(most + 1)
    if len(content) > most:
        raise DataError((f"{place}: is larger than {most:,} bytes; nothing was taken",))
    if not is_whole(content):
        raise UnavailableError(f"{place}: ended early; nothing was taken")
    return content
