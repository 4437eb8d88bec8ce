"""Fills a record from the real index, through the same bounded reader as refresh; and says which index does not answer."""

import threading
from collections.abc import Iterable

from compatkb.errors import NotListedError, UnavailableError
from compatkb.refresh.listing import Listed
from compatkb.refresh.network import Limits, Network
from compatkb.validate.addresses import Addresses, shown
from compatkb.validate.record import Wheel

_PATIENCE = Limits(silence=15.0, answer=60.0, run=300.0)


class Index:
    """The real package index, or another one by its address; `flat` where it is one page of links."""

    def __init__(self, url: str | None = None, seconds: float = 36_000.0, *, flat: bool = False) -> None:
        self._network = Network(url, Limits(run=seconds), flat=flat)
        self._files: dict[tuple[str, str], Listed] = {}
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


def silence(addresses: Addresses, names: Iterable[str]) -> str:
    """Return why an index cannot be believed about distributions, or nothing: no answer, an error, a page that is none.

    Installers are no help here: they take a page that is forbidden for one that is not there.
    """
    names = list(names)
    for url, flat in addresses.each():
        network = Network(url, _PATIENCE, flat=flat)
        for name in names:
            try:
                network.page(name, strict=False)
            except NotListedError:
                continue
            except UnavailableError as error:
                return f"{shown(url)}: {error}" if url else str(error)
    return ""


def _wheel(file: Listed) -> Wheel:
    entry = file.entry
    uploaded = entry.uploaded.isoformat().replace("+00:00", "Z") if entry.uploaded else None
    return Wheel(entry.name, entry.requires_python, entry.yanked, entry.sha256, uploaded)
