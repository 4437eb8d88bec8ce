"""How a question reaches an index: a record on the loopback interface, filled as it is asked or not; or the real one."""

import atexit
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from types import ModuleType

from compatkb.errors import UnavailableError
from compatkb.validate.cell import ValidationCell, Workshop
from compatkb.validate.index_urls import DEFAULT, EXTRA, LINKS, Addresses, addresses_of, channel_of
from compatkb.validate.record import RecordedIndex
from compatkb.validate.serving import Server, Visit

_servers: dict[str, Server] = {}
_lock = threading.Lock()


@dataclass(frozen=True)
class Indexes:
    """What an installer is told, and what a record that answers gave."""

    addresses: Addresses
    visit: Visit | None = None
    silent: str = ""  # why an index is not worth asking

    @property
    def lacking(self) -> str:
        """Why a refusal may rest on something that could not be had, or nothing."""
        return self.visit.lacking[0] if self.visit and self.visit.lacking else ""

    @property
    def unread(self) -> str:
        """Why a consent may rest on a page that could not be had, or nothing."""
        return self.visit.unread[0] if self.visit and self.visit.unread else ""

    @property
    def recorded(self) -> str:
        """The digest of all that the record gave, empty where the real index answered."""
        return self.visit.digest if self.visit else ""


@contextmanager
def indexes(cell: ValidationCell, workshop: Workshop) -> Iterator[Indexes]:
    """Return the indexes for a cell."""
    if workshop.live or workshop.download:  # what a record serves is hollow
        addresses = addresses_of(cell, workshop)
        names = [name for name, _ in cell.packages]
        yield Indexes(addresses, None, "" if workshop.use_pip_config else silence(addresses, names, workshop.seconds))
        return
    with _server(workshop).visit(cell.platform if cell.tool == "pip" else "") as visit:  # uv tells what others have
        own = visit.url(cell.index)
        yield Indexes(Addresses(visit.url(DEFAULT), extra=own) if _beside(workshop, cell.index) else Addresses(own), visit)


def _beside(workshop: Workshop, channel: str) -> bool:
    """Return whether installers ask their default index too."""
    return channel_of(workshop, channel)[0] in (EXTRA, LINKS)


def records_for(workshop: Workshop, channel: str) -> list[RecordedIndex]:
    """Return the records that answer for a channel, its own first; raises LookupError for an unknown channel."""
    records = _server(workshop).records
    if channel not in records:
        raise LookupError(f"there is no record of {channel}")
    return [records[channel], *([records[DEFAULT]] if _beside(workshop, channel) else [])]


def silence(addresses: Addresses, names: Iterable[str], seconds: float) -> str:
    """Return why an index cannot be believed about distributions, or nothing; raises UnavailableError."""
    reason: str = _upstream().silence(addresses, names, seconds)
    return reason


def falsehood(addresses: Addresses, cell: ValidationCell, workshop: Workshop) -> str:
    """Return which wheel of the pins has metadata of another version, or nothing: uv does not look, where pip does."""
    reason: str = _upstream().falsehood(addresses, cell, workshop.seconds)
    return reason


def _upstream() -> ModuleType:
    try:
        from compatkb.validate import index_client
    except ImportError:
        raise UnavailableError("reading an index needs more; run: python -m pip install 'compatkb[validate]'") from None
    return index_client


def _record(workshop: Workshop, channel: str) -> RecordedIndex:
    """Return the record of a channel: the one that was named; else one of today, which the real index fills."""
    if workshop.record:
        return RecordedIndex(workshop.record / channel)
    style, url = channel_of(workshop, channel)
    other = workshop.indexes.get(channel)  # what another address answers is never taken for the channel's own words
    name = f"{channel}-{sha256(other.encode()).hexdigest()[:12]}" if other else channel
    index = _upstream().Index(url, flat=style == LINKS, seconds=workshop.seconds)
    return RecordedIndex(workshop.cache / "record" / f"{workshop.today}" / name, index)


def _server(workshop: Workshop) -> Server:
    """Return the server of this process for the records of a workshop; it ends with the process."""
    key = repr((workshop.record, workshop.cache, workshop.today, sorted(workshop.indexes.items())))
    with _lock:
        if key not in _servers:
            channels = (DEFAULT, *workshop.channels)
            server = Server({channel: _record(workshop, channel) for channel in dict.fromkeys(channels)})
            atexit.register(server.__enter__().__exit__)
            _servers[key] = server
        return _servers[key]


def prepare(workshop: Workshop) -> None:
    """Begin to serve, so that what is missing is said before the first cell; raises UnavailableError."""
    if not (workshop.live or workshop.download):
        _server(workshop)


def save() -> None:
    """Write what the records of this process gained so far."""
    with _lock:
        for server in _servers.values():
            server.save()
