"""Locates the snapshot: in the installed package, or compiled from a data directory into the user's cache.

This runs before every answer, so it reads sizes and times with `os` alone; what compiles is imported when it must.
"""

import contextlib
import os
import sys
from typing import TYPE_CHECKING

from compatkb.errors import DataError, UnavailableError, UsageError
from compatkb.store.connection import FORMAT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from compatkb.authoring.loader import Files

    Progress = Callable[[], contextlib.AbstractContextManager[Callable[[str, int, int], None]]]

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILT = os.path.join(_PACKAGE, "_data", "snapshot.sqlite")
CHECKOUT = os.path.join(os.path.dirname(os.path.dirname(_PACKAGE)), "data")

BUILTIN = "builtin"
"""Names the data that came with the program, whatever was taken since."""

_COMPILER = ("core", "authoring", "schema", "store", "store/compiler", "store/queries")
"""The folders of modules that decide what a snapshot holds: another compiler, another snapshot."""

_SUM = ".sum"
"""What is added to the name of a file of the cache for that of its size, time and checksum."""
_KEPT = 4  # without the cache every command would compile for seconds; what is parsed saves half of that after an edit
_UNUSED = 30 * 86_400
"""Seconds after which what nobody reads of the cache goes; who reads it once more compiles for seconds."""
_KILLED = 3_600
"""Seconds after which a run is no more that left a folder."""
_SINGLE = (
    "applications.toml",
    "channels.toml",
    "exceptions.toml",
    "machine.toml",
    "migration.toml",
    "packages.toml",
    "routes.toml",
    "symptoms.toml",
    "timeline.toml",
)


def locate(directory: str | os.PathLike[str] | None = None, progress: "Progress | None" = None) -> str:
    """Return the snapshot file for a data directory, or for our own data where none is named.

    Our own are those of a checkout, else what an update took where that is not older than what came with the program;
    BUILTIN leaves updates out.

    A data directory is compiled when sizes or times of its files differ from those of every cached snapshot; `progress` is
    told how far that has come. Raises DataError for a missing or invalid directory.
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
    """Return the stores in a folder that this program reads, by the day of their data and the time at which they were made."""
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return []
    return [os.path.join(folder, name) for name in names if name.startswith(f"{FORMAT}-") and name.endswith(".sqlite")]


def _day_of(path: str) -> str:
    """Return the day that the name of a taken store has: FORMAT-YYYY-MM-DD-TIME-DIGEST.sqlite."""
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
    return os.environ.get("COMPATKB_CACHE") or user_folder("user_cache_dir")


def updates_directory() -> str:
    """Return the folder for data that are newer than the program: $COMPATKB_UPDATES, else the platform's data folder."""
    return os.environ.get("COMPATKB_UPDATES") or user_folder("user_data_dir")


def user_folder(kind: str) -> str:
    """Return a folder of ours, by the function of platformdirs that finds its place."""
    if sys.platform == "linux":  # as the XDG specification has it; to import platformdirs takes a tenth of an answer
        name = kind.removeprefix("user_").removesuffix("_dir")
        usual = {"cache": ".cache", "data": ".local/share", "config": ".config"}[name]
        base = os.environ.get(f"XDG_{name.upper()}_HOME", "").strip()
        return os.path.join(base if os.path.isabs(base) else os.path.expanduser(f"~/{usual}"), "compatkb")
    import platformdirs

    folder: str = getattr(platformdirs, kind)("compatkb", appauthor=False)
    return folder


def data_files(directory: str) -> list[str]:
    """Return the files of a data directory that count, sorted."""
    paths = [os.path.join(directory, name) for name in _SINGLE]
    for folder, ending in (
        ("products", ".toml"),
        ("images", ".toml"),
        ("features", ".toml"),
        ("issues", ".toml"),
        ("index", ".toml"),
        ("collected", ".toml"),
        ("evidence", ".jsonl"),
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
    """Return the snapshot of the state in which a directory is now."""
    if not os.path.isdir(directory):
        raise DataError((f"{directory}: no such data directory; give one with --data DIR",))
    import zlib

    directory = os.path.realpath(directory)
    key = os.path.join(cache_directory(), f"{zlib.crc32(os.fsencode(directory)):08x}-{FORMAT}")
    snapshot = f"{key}-{_state(directory)}.sqlite"
    return snapshot if _is_whole(snapshot) else _compiled(directory, key, snapshot, progress)


def _is_whole(path: str, *, trusting: bool = True) -> bool:
    """Return whether a file of the cache is as it was written: by its size and time, by its checksum where they differ.

    Who does not trust them has the checksum taken in any case.
    """
    try:
        with open(f"{path}{_SUM}", encoding="ascii") as file:
            size, when, checksum = (int(word) for word in file.read(100).split())
        state = os.stat(path)
        if trusting and (state.st_size, state.st_mtime_ns) == (size, when):
            return True
        is_whole = state.st_size == size and _checksum(path) == checksum
    except (OSError, ValueError):
        return False
    if is_whole and state.st_mtime_ns != when:
        _seal(path)
    return is_whole


def _seal(path: str) -> None:
    """Keep size, time and checksum of a file beside it, where that can be written."""
    with contextlib.suppress(OSError):
        text = f"{os.stat(path).st_size} {os.stat(path).st_mtime_ns} {_checksum(path)}"
        with open(f"{path}{_SUM}", "w", encoding="ascii") as file:
            file.write(text)


def _checksum(path: str) -> int:
    from zlib import crc32

    checksum = 0
    with open(path, "rb") as file:
        while part := file.read(1 << 20):
            checksum = crc32(part, checksum)
    return checksum


def remove_damaged() -> list[str]:
    """Remove the stores of cache and updates that are not as they were written; returns their paths."""
    import glob
    import hashlib

    sealed = [path.removesuffix(_SUM) for path in glob.glob(f"{glob.escape(cache_directory())}/*.sqlite{_SUM}")]
    damaged = [path for path in sealed if not _is_whole(path, trusting=False)]
    for path in updates(updates_directory()):
        with contextlib.suppress(OSError), open(path, "rb") as file:
            if not path.endswith(f"-{hashlib.file_digest(file, 'sha256').hexdigest()[:16]}.sqlite"):
                damaged.append(path)
    damaged = [path for path in damaged if os.path.exists(path)]  # not what another process has removed since
    for path in damaged:
        _remove(path)
    return [path for path in damaged if not os.path.exists(path)]


def _remove(path: str) -> None:
    for name in (f"{path}{_SUM}", path):
        with contextlib.suppress(OSError):  # somebody else may be at it
            os.unlink(name)


@contextlib.contextmanager
def _alone(path: str, directory: str) -> "Iterator[None]":
    """Wait until no other process has the lock file, where the system and the file system have locks; raises OSError.

    The file names the data directory, so that what belongs to it can be removed when that is gone.
    """
    with open(path, "ab") as file:
        try:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX)
        except (ImportError, OSError):
            pass  # each compiles for itself then, as is right, if slow
        if file.tell() == 0:
            file.write(os.fsencode(directory))
            file.flush()
        yield


def _state(directory: str) -> str:
    """Return what tells the state of a directory and of the compiler from others: a checksum of sizes and times."""
    from zlib import adler32, crc32  # hashlib takes 5 ms to import

    lines = [directory]
    for path in [*data_files(directory), *compiler_files()]:
        try:
            state = os.stat(path)
        except OSError:
            continue
        lines.append(f"{path} {state.st_size} {state.st_mtime_ns} {state.st_ino}")
    text = os.fsencode("\n".join(lines))
    return f"{crc32(text):08x}{adler32(text):08x}"


def compiler_files() -> list[str]:
    """Return the paths of the modules that decide what a snapshot holds."""
    paths: list[str] = []
    for name in _COMPILER:
        with os.scandir(os.path.join(_PACKAGE, name)) as entries:
            paths += sorted(entry.path for entry in entries if entry.name.endswith(".py"))
    return paths


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


def _compiled(directory: str, key: str, snapshot: str, progress: "Progress | None") -> str:
    """Return the snapshot of what the directory holds; kept in the cache, for this run alone where nothing can be kept.

    Of processes that start at once one compiles, the others wait for it.
    """
    import atexit
    import shutil
    import tempfile

    cache = os.path.dirname(key)
    try:
        os.makedirs(cache, exist_ok=True)
        with _alone(f"{key}.lock", directory):
            if _is_whole(snapshot):
                return snapshot
            return _kept(directory, key, snapshot, progress)
    except (OSError, UnavailableError, UsageError):
        pass  # a cache that cannot be written costs time at every start, not the answer
    try:
        folder = tempfile.mkdtemp(prefix="compatkb-")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        _compile(directory, os.path.join(folder, "snapshot.sqlite"), progress)
        return os.path.join(folder, "snapshot.sqlite")
    except OSError as error:
        raise UnavailableError(f"the data cannot be compiled, neither in {cache} nor in {folder}: {error.strerror}") from None


def _kept(directory: str, key: str, snapshot: str, progress: "Progress | None") -> str:
    """Compile a directory into the cache, whose lock is held; remove what killed runs left, and old snapshots."""
    import glob
    import shutil
    import tempfile

    for left in glob.glob(f"{glob.escape(key)}.new-*"):
        shutil.rmtree(left, ignore_errors=True)
    _forget(os.path.dirname(key))
    folder = tempfile.mkdtemp(dir=os.path.dirname(key), prefix=f"{os.path.basename(key)}.new-")
    try:
        _compile(directory, os.path.join(folder, "new"), progress, f"{key}.parsed")
        os.replace(os.path.join(folder, "new"), snapshot)
        _seal(snapshot)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    with contextlib.suppress(OSError):  # a few stay, since others may be about to open them
        for path in sorted(glob.glob(f"{glob.escape(key)}-*.sqlite"), key=os.path.getmtime)[:-_KEPT]:
            _remove(path)
    return snapshot


def _forget(cache: str) -> None:
    """Remove what belongs to data directories that are gone or were not asked for weeks, and folders of killed runs."""
    import re
    import shutil
    import time

    groups: dict[str, list[os.DirEntry[str]]] = {}
    with os.scandir(cache) as entries:
        for entry in entries:
            if ours := re.match(r"[0-9a-f]{8}-\d+(?=[.-])|(?=new-)", entry.name):
                groups.setdefault(ours[0], []).append(entry)
    for key, files in groups.items():
        with contextlib.suppress(OSError):  # somebody else may be at it
            ages = {each.path: time.time() - max(each.stat().st_mtime, each.stat().st_atime) for each in files}
            goes = min(ages.values()) > _UNUSED or _is_gone(os.path.join(cache, f"{key}.lock"))
            for each in files:
                if each.is_dir(follow_symlinks=False):
                    if ages[each.path] > _KILLED:
                        shutil.rmtree(each.path, ignore_errors=True)
                elif goes:
                    os.unlink(each.path)


def _is_gone(lock: str) -> bool:
    """Return whether a lock file names a data directory that is there no more."""
    try:
        with open(lock, "rb") as file:
            directory = file.read()
    except OSError:
        return False
    return bool(directory) and not os.path.isdir(directory)


def _compile(directory: str, target: str, progress: "Progress | None" = None, parsed: str | None = None) -> None:
    """Compile a directory into a file; what is parsed is taken from the file `parsed` where it is there, and kept in it."""
    import gc

    collecting = gc.isenabled()
    gc.disable()  # hundreds of thousands of records that all stay: to look for circles among them takes a tenth of the time
    try:
        _write(directory, target, progress, parsed)
    finally:
        gc.freeze()  # as old: a look for what is young would go through all of them, to free them before the process ends
        gc.unfreeze()
        if collecting:
            gc.enable()


def _write(directory: str, target: str, progress: "Progress | None", parsed: str | None) -> None:
    import errno
    import sqlite3
    from pathlib import Path

    from compatkb.authoring.build_knowledge import build_knowledge
    from compatkb.authoring.evidence import add_observations
    from compatkb.store.compiler.compile import compile_snapshot

    files, digest = _loaded(Path(directory), parsed)
    knowledge = build_knowledge(files)
    add_observations(knowledge)
    try:
        with progress() if progress else contextlib.nullcontext() as count:
            compile_snapshot(knowledge, Path(target), digest, count)
    except sqlite3.OperationalError as error:  # the disk is full, or fails
        raise OSError(errno.EIO, str(error), target) from None
    with open(target, "rb+") as file:
        os.fsync(file.fileno())


def _loaded(directory: "Path", parsed: str | None) -> "tuple[Files, str]":
    """Return the records of a data directory and its digest; its text and what was kept of it need no memory from then on."""
    from pathlib import Path

    from compatkb.authoring.loader import KeptValues, load, read
    from compatkb.core.atomic_write import write_file

    contents = read(directory)
    kept = KeptValues(Path(parsed).read_text("utf-8") if parsed and _is_whole(parsed) else "")
    files = load(directory, contents, kept)
    if parsed:
        write_file(Path(parsed), str(kept).encode())
        _seal(parsed)
    return files, _digest(contents)
