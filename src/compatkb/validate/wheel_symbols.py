"""Which symbols of one product a wheel exports and leaves undefined: read by ranges once, then from the cache."""

import gzip
import json
import math
import re
import tempfile
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from packaging.version import Version

from compatkb.core.atomic_write import write_file
from compatkb.core.platforms import target
from compatkb.errors import NotListedError, UnavailableError
from compatkb.refresh.binaries import read_binary
from compatkb.refresh.index_client import Limits, Network
from compatkb.refresh.listing import DistributionFile
from compatkb.schema.evidence import ExportedSymbols
from compatkb.validate.cell import RunContext
from compatkb.validate.indexes import page
from compatkb.validate.proofs import belongs

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
