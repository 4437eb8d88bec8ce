"""Installs newer data from a file or an address: signed, verified, kept in the user's data folder, older ones removed.

Beside a store `NAME.sqlite` stands its statement `NAME.sqlite.signed`: format, day, time, size and SHA-256 of the store, a
line each, and last an Ed25519 signature (RFC 8032) of the lines before it. It is verified before the store is read at all.

Each store is a file named by its format, day, time and digest, so one is there whole or not at all, and of several the newest
counts: updates side by side cannot put an older one in its place.
"""

import base64
import hashlib
import os
import re
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing, suppress
from datetime import UTC, date, datetime
from pathlib import Path
from typing import IO
from urllib.parse import urlsplit

from compatkb.core.atomic_write import write_file
from compatkb.core.clock import later
from compatkb.core.foreign import safe_open
from compatkb.core.record import NamedTuple
from compatkb.errors import DataError, UnavailableError, UsageError
from compatkb.store.cache import data_date, locate, updates, updates_directory
from compatkb.store.connection import FORMAT, connect
from compatkb.store.tables import TABLES

FILE = f"compatkb-data-{FORMAT}.sqlite"
"""What a published store is called."""
SIGNED = ".signed"
"""What is added to its name for that of its statement."""
KEYS = Path(__file__).with_name("data_keys.pem")
"""The public keys, any of which may have signed; `docs/refresh.md` says how one takes the place of another."""
MOST_BYTES = 256 << 20
_KEPT = 2
_FORGOTTEN = 3600  # seconds after which nobody is writing a file any more
_SILENCE = 30.0
_MOST_STATEMENT = 4096
_LIKE = "%Y%m%dT%H%M%SZ"
_STATEMENT = re.compile(
    r"compatkb-data 1\nformat ([0-9]{1,6})\nday ([0-9]{4}-[0-9]{2}-[0-9]{2})\nmade ([0-9]{8}T[0-9]{6}Z)\n"
    r"size ([0-9]{1,12})\nsha256 ([0-9a-f]{64})\n"
)
_SIGNATURE = re.compile(rb"(?:signature ([A-Za-z0-9+/=]{88})\n)?")


class Update(NamedTuple):
    """What an update did: the day of the data that are used now, and whether they were taken just now."""

    data_date: str
    taken: bool


class PackStatement(NamedTuple):
    """What is signed of a store: its format, the day of its data, when it was made, its size and SHA-256."""

    format: str
    day: date
    made: str
    size: int
    digest: str

    def __str__(self) -> str:
        """The lines that are signed."""
        lines = ("compatkb-data 1", f"format {self.format}", f"day {self.day}", f"made {self.made}", f"size {self.size}")
        return "".join(f"{line}\n" for line in (*lines, f"sha256 {self.digest}"))


def update(source: str, today: date, prove: Callable[[str], object]) -> Update:
    """Take the store at a path, at an address, or below one that ends with a slash, where it is newer than that in use.

    `prove` asks a store, given its path, what any must be able to answer, and raises what keeps it from doing so.
    Raises UsageError, UnavailableError where it cannot be had or kept, DataError where no key that is trusted signed it, and
    where it is cut, damaged, foreign, older or of a day to come.
    """
    place = f"{source}{FILE}" if source.endswith("/") else source
    read = _download if "://" in place else _read
    statement = _verified(place, read(f"{place}{SIGNED}", _MOST_STATEMENT))
    _check_age(place, statement, today)
    content = read(place, min(statement.size, MOST_BYTES))
    if len(content) != statement.size or hashlib.sha256(content).hexdigest() != statement.digest:
        raise DataError((f"{place}: is not the store that was signed; it is cut, damaged or another, so nothing was taken",))
    return _keep(place, content, statement, prove)


def pack(data: str | None, target: Path, now: datetime, key: Path | None) -> str:
    """Write the store of a data directory and its statement as `update` takes them, signed where a private key is given.

    Returns the day of the data; raises UsageError for a file that is no unencrypted Ed25519 key in PEM.
    """
    store = locate(data)
    content, day = Path(store).read_bytes(), date.fromisoformat(data_date(store))
    made, digest = now.astimezone(UTC).strftime(_LIKE), hashlib.sha256(content).hexdigest()
    statement = PackStatement(FORMAT, day, made, len(content), digest)
    signed = str(statement).encode()
    if key:
        signed += b"signature " + base64.b64encode(_signature(signed, key)) + b"\n"
    write_file(target, content)
    write_file(target.with_name(f"{target.name}{SIGNED}"), signed)
    return str(day)


def _signature(text: bytes, key: Path) -> bytes:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        private = load_pem_private_key(_read(os.fspath(key), _MOST_STATEMENT), password=None)
    except (ValueError, TypeError) as error:
        raise UsageError(f"{key}: is no private key in PEM without a password: {error}") from None
    if not isinstance(private, Ed25519PrivateKey):
        raise UsageError(f"{key}: is no Ed25519 key")
    return private.sign(text)


def _verified(place: str, content: bytes) -> PackStatement:
    """Return a statement that one of our keys signed; raises DataError."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    text = _STATEMENT.match(content.decode("ascii", "replace"))
    signature = text and _SIGNATURE.fullmatch(content, text.end())
    if not text or not signature:
        raise DataError((f"{place}{SIGNED}: is no statement of compatkb about a store; nothing was taken",))
    if not signature[1]:
        raise DataError((f"{place}{SIGNED}: is not signed; nothing was taken",))
    for pem in re.findall(rb"-----BEGIN PUBLIC KEY-----.*?-----END PUBLIC KEY-----", KEYS.read_bytes(), re.DOTALL):
        key = load_pem_public_key(pem)
        with suppress(InvalidSignature, ValueError):
            if isinstance(key, Ed25519PublicKey):
                key.verify(base64.b64decode(signature[1], validate=True), content[: text.end()])
                return _statement(place, text)
    raise DataError((f"{place}{SIGNED}: is signed by no key that this program trusts; nothing was taken",))


def _statement(place: str, text: re.Match[str]) -> PackStatement:
    try:
        datetime.strptime(text[3], _LIKE).replace(tzinfo=UTC)
        return PackStatement(text[1], date.fromisoformat(text[2]), text[3], int(text[4]), text[5])
    except ValueError:
        raise DataError((f"{place}{SIGNED}: names a day that is none; nothing was taken",)) from None


def _check_age(place: str, statement: PackStatement, today: date) -> None:
    """Raise DataError for a store of another format, of a day to come, or older than what is used, as a replay is."""
    if statement.format != FORMAT:
        raise DataError((f"{place}: has format {statement.format}, this program reads {FORMAT}; nothing was taken",))
    if max(statement.day.isoformat().replace("-", ""), statement.made[:8]) > f"{later(today, 1):%Y%m%d}":
        raise DataError((f"{place}: has data of {statement.day}, a day to come; nothing was taken",))
    used = locate()
    taken = re.fullmatch(r"\d+-(\d{4}-\d\d-\d\d)-(\d{8}T\d{6}Z)-[0-9a-f]{16}\.sqlite", Path(used).name)
    day, made = (taken[1], taken[2]) if taken else (data_date(used), "")
    if (str(statement.day), statement.made) < (day, made):
        raise DataError((f"{place}: has data of {statement.day}, older than those in use, of {day}; nothing was taken",))


def _keep(place: str, content: bytes, statement: PackStatement, prove: Callable[[str], object]) -> Update:
    folder = Path(updates_directory())
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UnavailableError(f"{folder}: cannot be made: {error.strerror}") from None
    new = folder / f"new-{statement.digest[:16]}-{os.getpid()}"
    try:
        with new.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        _check(place, new, statement.day)
        try:
            prove(os.fspath(new))
        except Exception as error:  # whatever a store makes the program do, it is not put in the place of one that answers
            raise DataError((f"{place}: does not answer: {type(error).__name__}: {error}; nothing was taken",)) from None
        target = folder / f"{FORMAT}-{statement.day}-{statement.made}-{statement.digest[:16]}.sqlite"
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


def _check(place: str, path: Path, day: date) -> None:
    """Raise DataError for a store that is damaged, holds more or less than tables, or says another day than its statement."""
    with closing(connect(os.fspath(path))) as store:
        try:
            kinds = {kind for (kind,) in store.execute("select distinct type from sqlite_master")}
            there = {name for (name,) in store.execute("select name from sqlite_master where type = 'table'")}
            sound = kinds <= {"table", "index"} and set(TABLES) <= there
            sound = sound and store.execute("pragma quick_check").fetchone() == ("ok",)
            known = dict(store.execute("select key, value from meta")) if sound else {}
        except sqlite3.DatabaseError:
            known = {}
    if (known.get("format"), known.get("data_date")) != (FORMAT, str(day)):
        raise DataError((f"{place}: is damaged, or no store of compatkb; nothing was taken",))


def _read(place: str, most: int) -> bytes:
    try:
        with safe_open(Path(place)) as file:
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
