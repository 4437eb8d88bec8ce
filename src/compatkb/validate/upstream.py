"""Fills a record from the real index, through the same bounded reader as refresh."""

import threading

from compatkb.errors import UnavailableError
from compatkb.refresh.listing import Listed
from compatkb.refresh.network import Limits, Network
from compatkb.validate.record import Wheel


class Index:
    """The real package index, or another one by its address."""

    def __init__(self, url: str | None = None, seconds: float = 36_000.0) -> None:
        self._network = Network(url, Limits(run=seconds))
        self._files: dict[tuple[str, str], Listed] = {}
        self._lock = threading.Lock()

    def wheels(self, distribution: str) -> tuple[Wheel, ...] | None:
        """Return the wheels of a distribution; None where there is none of this name; raises UnavailableError."""
        try:
            listing = self._network.page(distribution, strict=False)
        except UnavailableError as error:
            if "404" in str(error) or "lists no wheel" in str(error):
                return None
            raise
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


def _wheel(file: Listed) -> Wheel:
    entry = file.entry
    uploaded = entry.uploaded.isoformat().replace("+00:00", "Z") if entry.uploaded else None
    return Wheel(entry.name, entry.requires_python, entry.yanked, entry.sha256, uploaded)
