"""Where the snapshot is: inside the installed package, or compiled from a data directory into the user's cache."""

import os
import sys
import tempfile
import zlib
from pathlib import Path

from compatkb.errors import DataError, UnavailableError
from compatkb.snapshot.schema import FORMAT

_PACKAGE = Path(__file__).resolve().parent.parent
BUILT = _PACKAGE / "_data" / "snapshot.sqlite"
CHECKOUT = _PACKAGE.parent.parent / "data"


def locate(directory: str | os.PathLike[str] | None = None) -> Path:
    """Return the snapshot file for a data directory, or for our own data where none is named.

    A data directory is compiled when its files differ from those that the cached snapshot was compiled from: sizes and
    times are compared first, contents when they differ. Raises DataError for a missing or invalid directory.
    """
    if directory is None:
        if (CHECKOUT / "products").is_dir():
            return _cached(CHECKOUT)
        if BUILT.is_file():
            return BUILT
        raise DataError(("this installation carries no data; give a data directory with --data DIR",))
    return _cached(Path(directory))


def cache_directory() -> Path:
    """Return the folder for compiled snapshots: $COMPATKB_CACHE, else the platform's cache folder."""
    if named := os.environ.get("COMPATKB_CACHE"):
        return Path(named)
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or os.path.expanduser("~\\AppData\\Local")
    elif sys.platform == "darwin":
        base = os.path.expanduser("~/Library/Caches")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(base) / "compatkb"


def data_files(directory: Path) -> list[Path]:
    """Return the files of a data directory that count, sorted."""
    found = [directory / "channels.toml", directory / "routes.toml"]
    for folder, ending in (("products", ".toml"), ("images", ".toml"), ("index", ".toml"), ("evidence", ".jsonl")):
        try:
            found += [Path(entry.path) for entry in os.scandir(directory / folder) if entry.name.endswith(ending)]
        except OSError:
            continue  # an optional folder; the loader reports a missing one that is needed
    return sorted(found)


def _cached(directory: Path) -> Path:
    if not directory.is_dir():
        raise DataError((f"{directory}: no such data directory; give one with --data DIR",))
    directory = directory.resolve()
    key = f"{zlib.crc32(os.fsencode(directory)):08x}-{FORMAT}"
    cache = cache_directory()
    snapshot, stamp_file = cache / f"{key}.sqlite", cache / f"{key}.stamp"
    stamp = _stamp(directory)
    try:
        known, _, digest = stamp_file.read_text(encoding="utf-8").rpartition("\n")
    except (OSError, UnicodeDecodeError):
        known = digest = ""
    if known == stamp and snapshot.is_file():
        return snapshot
    fresh = _digest(directory)
    if fresh == digest and known.partition("\n")[0] == stamp.partition("\n")[0] and snapshot.is_file():
        _write(stamp_file, f"{stamp}\n{fresh}".encode())
        return snapshot
    return _compiled(directory, cache, snapshot, stamp_file, f"{stamp}\n{fresh}")


def _stamp(directory: Path) -> str:
    lines = [str(directory)]
    for path in [*data_files(directory), *_compiler()]:
        try:
            state = path.stat()
        except OSError:
            continue
        lines.append(f"{path} {state.st_size} {state.st_mtime_ns}")
    return "\n".join(lines)


def _compiler() -> list[Path]:
    """Return the modules that decide what a snapshot holds: another compiler, another snapshot."""
    names = ("knowledge", "loader", "models", "platforms", "versions", "words", "snapshot/compile", "snapshot/schema")
    return [_PACKAGE / f"{name}.py" for name in names]


def _digest(directory: Path) -> str:
    import hashlib

    found = hashlib.sha256()
    for module in _compiler():
        found.update(module.read_bytes())
    for path in data_files(directory):
        try:
            content = path.read_bytes()
        except OSError:
            continue
        found.update(f"{path.relative_to(directory)}\0{len(content)}\0".encode() + content)
    return found.hexdigest()


def _compiled(directory: Path, cache: Path, snapshot: Path, stamp_file: Path, stamp: str) -> Path:
    try:
        cache.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(dir=cache, prefix="new-"))
    except OSError:
        # a cache that cannot be written costs time, not the answer
        folder = Path(tempfile.mkdtemp(prefix="compatkb-"))
        return _compile(directory, folder / "snapshot.sqlite", stamp.rpartition("\n")[2])
    try:
        made = _compile(directory, folder / "snapshot.sqlite", stamp.rpartition("\n")[2])
        os.replace(made, snapshot)
        _write(stamp_file, stamp.encode())
    except OSError as error:
        raise UnavailableError(f"{cache}: the compiled data cannot be written: {error.strerror}") from None
    finally:
        for left in folder.glob("*"):
            left.unlink()
        folder.rmdir()
    return snapshot


def compile_directory(directory: Path, target: Path) -> None:
    """Compile a data directory into the new snapshot file `target`; raises DataError."""
    _compile(directory, target, _digest(directory))


def _compile(directory: Path, target: Path, digest: str) -> Path:
    from compatkb.knowledge import build_knowledge
    from compatkb.loader import load
    from compatkb.snapshot.compile import compile_snapshot

    compile_snapshot(build_knowledge(load(directory)), target, digest)
    with open(target, "rb+") as file:
        os.fsync(file.fileno())
    return target


def _write(path: Path, content: bytes) -> None:
    handle, name = tempfile.mkstemp(dir=path.parent, prefix="new-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, path)
    except OSError:
        os.unlink(name)
        raise
