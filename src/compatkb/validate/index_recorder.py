"""Fills a recorded index from the real one, through refresh's client; reports an index that does not answer."""

import math
import threading
from collections.abc import Iterable

from packaging.version import Version

from compatkb.errors import NotListedError, UnavailableError
from compatkb.refresh.index_client import TRIES, Limits, Network
from compatkb.refresh.listing import DistributionFile
from compatkb.validate.cell import ValidationCell
from compatkb.validate.index_urls import Addresses, shown
from compatkb.validate.record import Wheel, headers_of, is_own
from compatkb.validate.targets import fits, version_of


class Index:
    """The real package index, or another one by its address; `flat` where it is one page of links."""

    def __init__(self, url: str | None = None, *, flat: bool = False, seconds: float = 90.0) -> None:
        """Read an index; no answer takes much longer than `seconds`."""
        self._network = Network(url, _limits(seconds, run=math.inf), flat=flat)
        self._files: dict[tuple[str, str], DistributionFile] = {}
        self._lock = threading.Lock()

    def wheels(self, distribution: str) -> tuple[Wheel, ...] | None:
        """Return the wheels of a distribution; None where there is none of this name; raises UnavailableError."""
        try:
            listing = self._network.page(distribution, strict=False)
        except NotListedError:
            return None
        wheels = [file for file in listing.files if file.is_wheel]
        with self._lock:
            self._files.update({(distribution, file.entry.name): file for file in wheels})
        return tuple(_wheel(file) for file in wheels)

    def metadata(self, distribution: str, file: str) -> bytes | None:
        """Return the METADATA of a wheel, None where the index offers none; raises UnavailableError."""
        if (distribution, file) not in self._files:
            self.wheels(distribution)
        known = self._files.get((distribution, file))
        return None if known is None else self._network.metadata(distribution, known)


def _limits(seconds: float, run: float) -> Limits:
    """Return limits by which an answer that is tried for several times takes `seconds`."""
    return Limits(silence=min(30.0, seconds / TRIES), answer=min(120.0, seconds), run=run)


def index_error(addresses: Addresses, names: Iterable[str], seconds: float) -> str:
    """Return why an index cannot be believed about distributions, or nothing: no answer, an error, a page that is none.

    Installers are no help here: they take a page that is forbidden for one that is not there.
    """
    names = list(names)
    for url, flat in addresses.each():
        network = Network(url, _limits(min(seconds, 45.0), run=seconds), flat=flat)
        for name in names:
            try:
                network.page(name, strict=False)
            except NotListedError:
                continue
            except UnavailableError as error:
                return f"{shown(url)}: {error}" if url else str(error)
    return ""


def metadata_error(addresses: Addresses, cell: ValidationCell, seconds: float) -> str:
    """Return which wheel of a cell's pins has metadata of another version, or cannot be read; or nothing."""
    for url, flat in addresses.each():
        index = Index(url, flat=flat, seconds=seconds)
        for name, version in cell.packages:
            try:
                for wheel in index.wheels(name) or ():
                    if version_of(wheel.file) == Version(version) and fits(wheel.file, cell.python, cell.platform):
                        content = index.metadata(name, wheel.file)
                        if content is not None and not is_own(wheel.file, dict(headers_of(content))):
                            return f"{wheel.file}: its metadata are those of another version or distribution"
            except UnavailableError as error:
                return str(error)
    return ""


def _wheel(file: DistributionFile) -> Wheel:
    entry = file.entry
    uploaded = entry.uploaded.isoformat().replace("+00:00", "Z") if entry.uploaded else None
    return Wheel(entry.name, entry.requires_python, entry.yanked, entry.sha256, uploaded)
