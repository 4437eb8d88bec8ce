"""The level `symbols`: whether a build's libraries find in another build the symbols that they leave undefined.

Nothing is installed or run: the symbol tables of one wheel a platform are read by ranges. What a wheel for one Python
lacks, its siblings of the same release lack too, since torch's own symbols do not depend on the Python. A cell of one
build alone tells what it needs of the machine: libraries that it does not bring, and versions of glibc and libstdc++.
"""

import gzip
import json
import math
import re
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Container, Iterable
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from packaging.utils import parse_wheel_filename
from packaging.version import Version

from compatkb.core.atomic_write import write_file
from compatkb.core.platforms import target
from compatkb.errors import NotListedError, UnavailableError
from compatkb.refresh.binaries import read_binary
from compatkb.refresh.index_client import Limits, Network
from compatkb.refresh.listing import DistributionFile
from compatkb.schema import Observation, Outcome
from compatkb.schema.evidence import ExportedSymbols, LinkedLibraries
from compatkb.validate.cell import RunContext, ValidationCell
from compatkb.validate.indexes import LINKS, channel_of, page
from compatkb.validate.proofs import ProvenProduct, belongs, exports_of, links_of, subjects_of

_FORMAT = 2
"""Raised when files of the cache would be read differently."""
_MOST_OF_A_WHEEL = 4 << 30
_LIBRARY = re.compile(r".*\.(?:so(?:\.[\d.]+)?|pyd|dll|dylib)")
_BUNDLED = re.compile(r"[^/]+\.libs/.*|.*/\.dylibs/.*")


@dataclass(frozen=True)
class Library:
    """A library of a wheel, by its path; of its symbols those of the product that it is read for."""

    path: str
    soname: str
    needed: tuple[str, ...]
    exported: tuple[str, ...]
    undefined: tuple[str, ...]
    versions: tuple[str, ...]


@dataclass(frozen=True)
class WheelSymbols:
    """What the libraries of a wheel say, and what it took to read them."""

    file: str
    libraries: tuple[Library, ...]
    bundled: tuple[str, ...]  # names of libraries that it brings and that were not read
    size: int  # bytes fetched
    seconds: float

    @property
    def exported(self) -> frozenset[str]:
        """The symbols that any of its libraries exports."""
        return frozenset(name for library in self.libraries for name in library.exported)

    @property
    def sonames(self) -> frozenset[str]:
        """The names by which its libraries can be needed."""
        read = (name for library in self.libraries for name in (library.soname, library.path.rpartition("/")[2]))
        return frozenset((*read, *self.bundled))

    def offered(self, exports: ExportedSymbols) -> frozenset[str]:
        """Return its symbols, and the names of those libraries that others need by name."""
        return self.exported | {name for name in self.sonames if exports.is_library(name)}


def wheel_for(
    context: RunContext, index: str | None, flat: bool, distribution: str, version: str, platform: str
) -> DistributionFile:
    """Return the wheel of a release that stands for a platform, the first by name; raises NotListedError.

    One for every platform stands for those that have none of their own.
    """
    files = [file for file in page(context, index, flat, distribution) if file.is_wheel and file.version == Version(version)]
    candidates = [f for f in files if _is_for(f.platform, platform)] or [f for f in files if f.pure]
    if not candidates:
        raise NotListedError(f"no wheel of {distribution} {version} for {platform}")
    return min(candidates, key=lambda file: (file.python.endswith("t"), file.entry.name))


def _is_for(tags: str, platform: str) -> bool:
    """Return whether a wheel's tags name a system and architecture; one for several architectures of macOS is left out."""
    targets = (target(tag) for tag in tags.split("."))
    return platform in {f"{tag_target.os}-{tag_target.arch}" for tag_target in targets if tag_target}


def read_wheel(
    index: str | None, file: DistributionFile, exports: ExportedSymbols, wanted: Iterable[str], cache: Path, folder: Path
) -> WheelSymbols:
    """Return the symbols of a wheel's libraries whose path a pattern of `wanted` matches (all where there is none).

    What was read before for the same symbols comes from `cache`; libraries are unpacked one by one in `folder`. Raises
    UnavailableError.
    """
    patterns, begun, size = tuple(wanted), time.monotonic(), 0
    asked = sha256(repr((_FORMAT, exports.product, exports.namespaces, exports.names, patterns)).encode()).hexdigest()
    cache_file = cache / "symbols" / f"{file.entry.name}.{asked[:16]}.json.gz"
    if cache_file.is_file():
        return _load(cache_file)
    libraries: list[Library] = []
    bundled: set[str] = set()

    def is_read(path: str) -> bool:
        if not _LIBRARY.fullmatch(path):
            return False
        if _BUNDLED.fullmatch(path) or (patterns and not any(fnmatchcase(path, pattern) for pattern in patterns)):
            bundled.add(path.rpartition("/")[2])
            return False
        return True

    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix="symbols-") as name:
        network = Network(index, Limits(run=math.inf, answer=600))
        for path, unpacked, fetched in network.unpacked(file, is_read, Path(name), _MOST_OF_A_WHEEL):
            size = fetched
            binary = read_binary(unpacked, path)
            if binary:
                exported = sorted(symbol for symbol in binary.exported if belongs(symbol, exports))
                undefined = sorted(symbol for symbol in binary.undefined if belongs(symbol, exports))
                needed, versions = binary.needed, tuple(sorted(binary.versions))
                libraries.append(Library(path, binary.soname, needed, tuple(exported), tuple(undefined), versions))
    libraries.sort(key=lambda library: library.path)
    symbols = WheelSymbols(file.entry.name, tuple(libraries), tuple(sorted(bundled)), size, round(time.monotonic() - begun, 1))
    cache_file.parent.mkdir(parents=True, exist_ok=True)
    write_file(cache_file, gzip.compress(json.dumps(asdict(symbols)).encode(), mtime=0))
    return symbols


@lru_cache(maxsize=8)
def _load(path: Path) -> WheelSymbols:
    try:
        content = json.loads(gzip.decompress(path.read_bytes()))
        libraries = tuple(Library(*map(_tupled, each.values())) for each in content.pop("libraries"))
        return WheelSymbols(libraries=libraries, bundled=tuple(content.pop("bundled")), **content)
    except (OSError, EOFError, ValueError, TypeError, KeyError) as error:
        raise UnavailableError(f"{path}: is damaged ({error}); remove it, and the wheel is read again") from None


def _tupled(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


_NAMED = 3
_GLIBC = "GLIBC"
_VERSIONED = re.compile(r"(GLIBC|GLIBCXX|CXXABI)_(\d+(?:\.\d+)*)")
_locks: dict[str, threading.Lock] = defaultdict(threading.Lock)
_unread: dict[str, str] = {}


def check(cell: ValidationCell, context: RunContext) -> Observation:
    """Read what the builds of a cell export and leave undefined, and return what is missing."""
    builds = subjects_of(context.data, cell.packages)
    pair = next(
        (
            (build, links, other)
            for build in builds
            if (links := links_of(context.data, build[2].product))
            for other in builds
            if other[2].product == links.against
        ),
        None,
    )
    try:
        if pair and (exports := exports_of(context.data, pair[1].against)):
            consumer = symbols_of(cell, context, pair[0], exports)
            return _linked(cell, context, consumer, pair[1], _offered(cell, context, pair[2], exports), exports)
        if len(builds) == 1:
            own = links_of(context.data, builds[0][2].product)
            if exports := exports_of(context.data, own.against if own else builds[0][2].product):
                return _alone(cell, context, symbols_of(cell, context, builds[0], exports), own)
    except NotListedError as error:
        return cell.observed(Outcome.NOT_FOUND, context.today, str(error))
    except UnavailableError as error:
        return cell.observed(Outcome.NOT_CHECKED, context.today, str(error))
    return cell.observed(Outcome.NOT_CHECKED, context.today, "no build of this cell is known to link another one of it")


def symbols_of(
    cell: ValidationCell, context: RunContext, build: tuple[str, str, ProvenProduct], exports: ExportedSymbols
) -> WheelSymbols:
    """Return what the wheel of a build says of a product's symbols; raises NotListedError and UnavailableError."""
    style, index = channel_of(context, cell.index)
    name, version, subject = build
    file = wheel_for(context, index, style == LINKS, name, version, cell.platform)
    wanted = exports.libraries if subject.product == exports.product else ()
    with _locks[file.entry.name]:
        if reason := _unread.get(file.entry.name):
            raise UnavailableError(reason)  # it is megabytes, and many cells ask for it
        try:
            return read_wheel(index, file, exports, wanted, context.cache, context.folder)
        except UnavailableError as error:
            _unread[file.entry.name] = str(error)
            raise


def _offered(
    cell: ValidationCell, context: RunContext, build: tuple[str, str, ProvenProduct], exports: ExportedSymbols
) -> Container[str]:
    """Return the symbols and libraries of a provider, whose wheel is large: it is read once, and kept in the cache."""
    wheel = symbols_of(cell, context, build, exports)
    if not wheel.exported:
        raise UnavailableError(f"{wheel.file}: none of its libraries could be read")
    return wheel.offered(exports)


def missing(consumer: WheelSymbols, offered: Container[str], exports: ExportedSymbols) -> tuple[tuple[Library, str], ...]:
    """Return each symbol and library name that no wheel has, with the libraries that need it; telling ones first.

    C names come before mangled ones and short before long ones: they are what people search for.
    """
    own, brought = consumer.exported, consumer.sonames
    unresolved = []
    for library in consumer.libraries:
        libraries = [name for name in library.needed if name not in brought and exports.is_library(name)]
        wanted = (*libraries, *(name for name in library.undefined if name not in own))
        unresolved += [(library, name) for name in wanted if name not in offered]
    return tuple(sorted(unresolved, key=lambda item: (item[1].startswith(("_Z", "?")), len(item[1]), item[1], item[0].path)))


def _linked(
    cell: ValidationCell,
    context: RunContext,
    consumer: WheelSymbols,
    links: LinkedLibraries,
    offered: Container[str],
    exports: ExportedSymbols,
) -> Observation:
    if not any(library.undefined for library in consumer.libraries):
        reason = f"{consumer.file}: no library of it needs a symbol of {exports.product}"
        return cell.observed(Outcome.NOT_CHECKED, context.today, reason, unlinked=(exports.product,))
    unresolved = missing(consumer, offered, exports)
    needed = [item for item in unresolved if not any(fnmatchcase(item[0].path, pattern) for pattern in links.optional)]
    names = tuple(dict.fromkeys(name for _, name in needed or unresolved))
    if not unresolved:
        return cell.observed(Outcome.LINKS, context.today)
    library, first = (needed or unresolved)[0]
    detail = f"{library.path} needs {first}"
    if not needed:
        return cell.observed(Outcome.LINKS, context.today, f"{detail}; the package imports without it", missing=names[:_NAMED])
    return cell.observed(Outcome.MISSING_SYMBOL, context.today, detail, missing=names[:_NAMED])


def _alone(cell: ValidationCell, context: RunContext, wheel: WheelSymbols, own: LinkedLibraries | None) -> Observation:
    """Return what a wheel needs of the machine, and whether its tag promises a glibc that is older than it needs."""
    foreign = {name for library in wheel.libraries for name in library.needed} - wheel.sonames
    newest = newest_versions(version for library in wheel.libraries for version in library.versions)
    needs = (*sorted(foreign), *(f"{name}_{version}" for name, version in sorted(newest.items())))
    tags = [target(tag.platform) for tag in parse_wheel_filename(wheel.file)[3]]
    promised = min((Version(tag.glibc) for tag in tags if tag and tag.glibc), default=None)
    real = newest.get(_GLIBC)
    unlinked = (own.against,) if own and not any(library.undefined for library in wheel.libraries) else ()
    more = {"needs": needs, "fetched": wheel.size, "unlinked": unlinked}
    if promised and real and real > promised:
        detail = f"{wheel.file}: needs glibc {real}, its tag promises {promised}"
        return cell.observed(Outcome.CONFLICT, context.today, detail, **more)
    return cell.observed(Outcome.LINKS, context.today, wheel.file, **more)


def newest_versions(names: Iterable[str]) -> dict[str, Version]:
    """Return the newest version of glibc, libstdc++ and its ABI among names such as GLIBC_2.28."""
    newest: dict[str, Version] = {}
    for match in filter(None, map(_VERSIONED.fullmatch, names)):
        version = Version(match[2])
        newest[match[1]] = max(newest.get(match[1], version), version)
    return newest
