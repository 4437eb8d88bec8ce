"""Locates the snapshot: in the installed package, or compiled from a data directory into the user's cache.

This runs before every answer, so it reads sizes and times with `os` alone; what compiles is imported when it must.
"""

import os
import sys
from typing import TYPE_CHECKING

from compatkb.errors import DataError, UnavailableError, UsageError
from compatkb.store.connection import FORMAT

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from contextlib import AbstractContextManager
    from pathlib import Path

    Progress = Callable[[], AbstractContextManager[Callable[[str, int, int], None]]]

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILT = os.path.join(_PACKAGE, "_data", "snapshot.sqlite")
CHECKOUT = os.path.join(os.path.dirname(os.path.dirname(_PACKAGE)), "data")

BUILTIN = "builtin"
"""Names the data that came with the program, whatever was taken since."""

_COMPILER = ("core", "authoring", "schema", "store", "store/compiler", "store/queries")
"""The folders of modules that decide what a snapshot holds: another compiler, another snapshot."""

_KEPT = 4
_SINGLE = (
    "channels.toml",
    "exceptions.toml",
    "machine.toml",
    "migration.toml",
    "routes.toml",
    "symptoms.toml",
    "timeline.toml",
)


def locate(directory: str | os.PathLike[str] | None = None, progress: "Progress | None" = None) -> str:
    """Return the snapshot file for a data directory, or for our own data where none is named.

    Our own are those of a checkout, else what an update took where that is not older than what came with the program;
    BUILTIN leaves updates out.

    A data directory is compiled when its files differ from those that the cached snapshot was compiled from: sizes and
    times are compared first, contents when they differ; `progress` is told how far that has come. Raises DataError for a
    missing or invalid directory.
    """
    if directory is not None and directory != BUILTIN:
        return _cached(os.fspath(directory), progress)
    if os.path.isdir(os.path.join(CHECKOUT, "products")):
        return _cached(CHECKOUT, progress)
    if directory is None and (newer := _updated()):
        return newer
    if os.path.isfile(BUILT):
        return BUILT
    raise DataError(("this installation carries no data; give a data directory with --data DIR",))


def _updated() -> str | None:
    """Return the newest store that an update took, None where there is none, or one that is older than what came along."""
    stores = updates(updates_directory())
    if not stores or (os.path.isfile(BUILT) and data_date(BUILT) > _day_of(stores[-1])):
        return None
    return stores[-1]


def updates(folder: str) -> list[str]:
    """Return the stores in a folder that this program reads, by the day of their data, and those of one day as they came."""
    try:
        with os.scandir(folder) as entries:
            stores = [entry for entry in entries if entry.name.startswith(f"{FORMAT}-") and entry.name.endswith(".sqlite")]
            dated_paths = [(_day_of(entry.path), entry.stat().st_mtime_ns, entry.path) for entry in stores]
    except OSError:
        return []
    return [path for _, _, path in sorted(dated_paths)]


def _day_of(path: str) -> str:
    """Return the day that the name of a taken store has: FORMAT-YYYY-MM-DD-DIGEST.sqlite."""
    return os.path.basename(path).partition("-")[2][:10]


def data_date(path: str) -> str:
    """Return the day of the data in a snapshot file, as ISO text; raises DataError where it is none of our format."""
    from compatkb.store.reader import Snapshot

    return Snapshot(path).meta["data_date"]


def data_directory(directory: str | os.PathLike[str] | None = None) -> "Path":
    """Return the data directory that is named, or our own; raises DataError where this installation has only a snapshot."""
    from pathlib import Path

    if directory is not None and directory != BUILTIN:
        return Path(directory)
    if not os.path.isdir(os.path.join(CHECKOUT, "products")):
        raise DataError(("this installation carries compiled data only; name a data directory with --data DIR",))
    return Path(CHECKOUT)


def cache_directory() -> str:
    """Return the folder for compiled snapshots: $COMPATKB_CACHE, else the platform's cache folder."""
    return os.environ.get("COMPATKB_CACHE") or _folder("Library/Caches", "XDG_CACHE_HOME", ".cache", "")


def updates_directory() -> str:
    """Return the folder for data that are newer than the program: $COMPATKB_UPDATES, else in the platform's data folder."""
    home = ("Library/Application Support", "XDG_DATA_HOME", ".local/share", "data")
    return os.environ.get("COMPATKB_UPDATES") or _folder(*home)


def _folder(mac: str, variable: str, elsewhere: str, below: str) -> str:
    """Return a folder of the user: on Windows there is one for caches and data, so the latter stand `below`."""
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or os.path.expanduser("~\\AppData\\Local")
        return os.path.join(base, "compatkb", below) if below else os.path.join(base, "compatkb")
    if sys.platform == "darwin":
        return os.path.join(os.path.expanduser(f"~/{mac}"), "compatkb")
    return os.path.join(os.environ.get(variable) or os.path.expanduser(f"~/{elsewhere}"), "compatkb")


def data_files(directory: str) -> list[str]:
    """Return the files of a data directory that count, sorted."""
    paths = [os.path.join(directory, name) for name in _SINGLE]
    for folder, ending in (
        ("products", ".toml"),
        ("images", ".toml"),
        ("features", ".toml"),
        ("index", ".toml"),
        ("evidence", ".jsonl"),
        ("symbols", ".xz"),
    ):
        try:
            with os.scandir(os.path.join(directory, folder)) as entries:
                paths += [entry.path for entry in entries if entry.name.endswith(ending)]
        except OSError:
            continue  # an optional folder; the loader reports a missing one that is needed
    return sorted(paths)


def compile_directory(directory: str | os.PathLike[str], target: str | os.PathLike[str]) -> None:
    """Compile a data directory into the new snapshot file `target`; raises DataError."""
    _compile(os.path.abspath(directory), os.fspath(target))


def _cached(directory: str, progress: "Progress | None") -> str:
    if not os.path.isdir(directory):
        raise DataError((f"{directory}: no such data directory; give one with --data DIR",))
    directory = os.path.realpath(directory)
    import zlib

    cache = cache_directory()
    key = os.path.join(cache, f"{zlib.crc32(os.fsencode(directory)):08x}-{FORMAT}")
    stamp_file = f"{key}.stamp"
    stamp = _stamp(directory)
    try:
        with open(stamp_file, encoding="utf-8", errors="surrogateescape") as file:
            known, _, digest = file.read().rpartition("\n")
    except (OSError, UnicodeDecodeError):
        known = digest = ""
    if known == stamp and os.path.isfile(snapshot := _named(key, digest)):
        return snapshot
    return _compiled(directory, cache, key, stamp, progress)


def _named(key: str, digest: str) -> str:
    """Return the snapshot of a content: one file each, so that processes side by side never take one for another."""
    return f"{key}-{digest[:16]}.sqlite"


def _stamp(directory: str) -> str:
    lines = [directory]
    for path in [*data_files(directory), *compiler_files()]:
        try:
            state = os.stat(path)
        except OSError:
            continue
        lines.append(f"{path} {state.st_size} {state.st_mtime_ns} {state.st_ino}")
    return "\n".join(lines)


def compiler_files() -> list[str]:
    """Return the paths of the modules that decide what a snapshot holds."""
    paths: list[str] = []
    for name in _COMPILER:
        with os.scandir(os.path.join(_PACKAGE, name)) as entries:
            paths += sorted(entry.path for entry in entries if entry.name.endswith(".py"))
    return paths


def _contents(directory: str) -> dict[str, bytes]:
    """Return the data files by their path in the directory, without those that cannot be read: the loader tells of them."""
    import contextlib

    contents = {}
    for path in data_files(directory):
        if os.path.isfile(path):  # reading a pipe or a device would not end
            with contextlib.suppress(OSError), open(path, "rb") as file:
                contents[os.path.relpath(path, directory).replace(os.sep, "/")] = file.read()
    return contents


def _digest(contents: "Mapping[str, bytes]") -> str:
    """Return the SHA-256 of data files and of what compiles them."""
    import hashlib

    digest = hashlib.sha256()
    for path in compiler_files():
        with open(path, "rb") as file:
            content = file.read()
        digest.update(os.path.relpath(path, _PACKAGE).encode() + f"\0{len(content)}\0".encode() + content)
    for name, content in sorted(contents.items()):
        digest.update(os.fsencode(name) + f"\0{len(content)}\0".encode() + content)
    return digest.hexdigest()


def _compiled(directory: str, cache: str, key: str, stamp: str, progress: "Progress | None") -> str:
    """Return the snapshot of what the directory holds; kept in the cache, for this run alone where nothing can be kept."""
    import atexit
    import shutil
    import tempfile
    from pathlib import Path

    from compatkb.core.atomic_write import write_file

    folder = None
    try:
        os.makedirs(cache, exist_ok=True)
        digest = _digest(_contents(directory))
        if not os.path.isfile(_named(key, digest)):
            folder = tempfile.mkdtemp(dir=cache, prefix="new-")
            new = os.path.join(folder, "snapshot.sqlite")
            digest = _compile(directory, new, progress, Path(f"{key}.parsed"))  # of what was read this time
            os.replace(new, _named(key, digest))
            _forget(key)
        write_file(Path(f"{key}.stamp"), f"{stamp}\n{digest}".encode(errors="surrogateescape"))
        return _named(key, digest)
    except (OSError, UnavailableError, UsageError):
        pass  # a cache that cannot be written costs time at every start, not the answer
    finally:
        if folder:
            shutil.rmtree(folder, ignore_errors=True)
    try:
        folder = tempfile.mkdtemp(prefix="compatkb-")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        snapshot = os.path.join(folder, "snapshot.sqlite")
        _compile(directory, snapshot, progress)
        return snapshot
    except OSError as error:
        raise UnavailableError(f"the data cannot be compiled, neither in {cache} nor in {folder}: {error.strerror}") from None


def _forget(key: str) -> None:
    """Remove all but the newest snapshots of a directory; a few stay, since others may be about to open them."""
    import contextlib
    import glob

    with contextlib.suppress(OSError):  # somebody else may be at it
        for path in sorted(glob.glob(f"{glob.escape(key)}-*.sqlite"), key=os.path.getmtime)[:-_KEPT]:
            os.unlink(path)


def _compile(directory: str, target: str, progress: "Progress | None" = None, parsed: "Path | None" = None) -> str:
    """Compile a directory into a file; returns the digest of what was read. What was parsed is kept in the file `parsed`."""
    import errno
    import sqlite3
    from contextlib import nullcontext
    from pathlib import Path

    from compatkb.authoring.build_knowledge import build_knowledge
    from compatkb.authoring.evidence import add_observations
    from compatkb.authoring.loader import KeptValues, load, read
    from compatkb.core.atomic_write import write_file
    from compatkb.store.compiler.compile import compile_snapshot

    contents = read(Path(directory))
    digest = _digest(contents)
    kept = KeptValues(parsed.read_text("utf-8") if parsed and parsed.is_file() else "")
    knowledge = build_knowledge(load(Path(directory), contents, kept))
    add_observations(knowledge)
    if parsed:
        write_file(parsed, str(kept).encode())
    try:
        with progress() if progress else nullcontext() as count:
            compile_snapshot(knowledge, Path(target), digest, count)
    except sqlite3.OperationalError as error:  # the disk is full, or fails
        raise OSError(errno.EIO, str(error), target) from None
    with open(target, "rb+") as file:
        os.fsync(file.fileno())
    return digest
