"""How a question reaches an index: a record served on the loopback interface, filled on demand or not, or the real one."""

import atexit
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from types import ModuleType

from compatkb.errors import UnavailableError
from compatkb.validate.cell import RunContext, ValidationCell
from compatkb.validate.index_urls import DEFAULT, EXTRA, LINKS, Addresses, addresses_of, channel_of
from compatkb.validate.record import RecordedIndex
from compatkb.validate.serving import IndexSession, Server

_servers: dict[str, Server] = {}
_lock = threading.Lock()


@dataclass(frozen=True)
class Indexes:
    """What an installer is told, and what a record that answers gave."""

    addresses: Addresses
    visit: IndexSession | None = None
    silent: str = ""  # why an index is not worth asking

    @property
    def missing(self) -> str:
        """Why a refusal may rest on something that could not be had, or nothing."""
        return self.visit.missing[0] if self.visit and self.visit.missing else ""

    @property
    def unread(self) -> str:
        """Why a consent may rest on a page that could not be had, or nothing."""
        return self.visit.unread[0] if self.visit and self.visit.unread else ""

    @property
    def recorded(self) -> str:
        """The digest of all that the record gave, empty where the real index answered."""
        return self.visit.digest if self.visit else ""


@contextmanager
def indexes(cell: ValidationCell, context: RunContext) -> Iterator[Indexes]:
    """Return the indexes for a cell."""
    if context.live or context.download:  # what a record serves is hollow
        addresses = addresses_of(cell, context)
        names = [name for name, _ in cell.packages]
        yield Indexes(addresses, None, "" if context.use_pip_config else index_error(addresses, names, context.seconds))
        return
    with _server(context).visit(cell.platform if cell.tool == "pip" else "") as visit:  # uv tells what others have
        own = visit.url(cell.index)
        yield Indexes(Addresses(visit.url(DEFAULT), extra=own) if _beside(context, cell.index) else Addresses(own), visit)


def _beside(context: RunContext, channel: str) -> bool:
    """Return whether installers ask their default index too."""
    return channel_of(context, channel)[0] in (EXTRA, LINKS)


def records_for(context: RunContext, channel: str) -> list[RecordedIndex]:
    """Return the records that answer for a channel, its own first; raises LookupError for an unknown channel."""
    records = _server(context).records
    if channel not in records:
        raise LookupError(f"there is no record of {channel}")
    return [records[channel], *([records[DEFAULT]] if _beside(context, channel) else [])]


def index_error(addresses: Addresses, names: Iterable[str], seconds: float) -> str:
    """Return why an index cannot be believed about distributions, or nothing; raises UnavailableError."""
    reason: str = _upstream().index_error(addresses, names, seconds)
    return reason


def metadata_error(addresses: Addresses, cell: ValidationCell, context: RunContext) -> str:
    """Return which wheel of the pins has metadata of another version, or nothing: uv does not look, where pip does."""
    reason: str = _upstream().metadata_error(addresses, cell, context.seconds)
    return reason


def _upstream() -> ModuleType:
    try:
        from compatkb.validate import index_recorder
    except ImportError:
        raise UnavailableError("reading an index needs more; run: python -m pip install 'compatkb[validate]'") from None
    return index_recorder


def _record(context: RunContext, channel: str) -> RecordedIndex:
    """Return the record of a channel: the one that was named; else one of today, which the real index fills."""
    if context.record:
        return RecordedIndex(context.record / channel)
    style, url = channel_of(context, channel)
    other = context.indexes.get(channel)  # what another address answers is never taken for the channel's own words
    name = f"{channel}-{sha256(other.encode()).hexdigest()[:12]}" if other else channel
    index = _upstream().Index(url, flat=style == LINKS, seconds=context.seconds)
    return RecordedIndex(context.cache / "record" / f"{context.today}" / name, index)


def _server(context: RunContext) -> Server:
    """Return the server of this process for the records of a context; it ends with the process."""
    key = repr((context.record, context.cache, context.today, sorted(context.indexes.items())))
    with _lock:
        if key not in _servers:
            channels = (DEFAULT, *context.channels)
            server = Server({channel: _record(context, channel) for channel in dict.fromkeys(channels)})
            _servers[key] = server.__enter__()
        return _servers[key]


@atexit.register
def close() -> None:
    """End the servers of this process."""
    with _lock:
        while _servers:
            _servers.popitem()[1].__exit__()


def prepare(context: RunContext) -> None:
    """Begin to serve, so that what is missing is said before the first cell; raises UnavailableError."""
    if not (context.live or context.download):
        _server(context)


def save() -> None:
    """Write what the records of this process gained so far."""
    with _lock:
        for server in _servers.values():
            server.save()
