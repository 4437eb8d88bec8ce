"""How a question reaches an index: a record on the loopback interface, filled as it is asked or not; or the real one."""

import atexit
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from compatkb.errors import UnavailableError
from compatkb.validate.cell import Cell, Workshop
from compatkb.validate.record import Record
from compatkb.validate.serving import Server, Visit

DEFAULT = "default"
EXTRA = "extra-index-url"

_servers: dict[str, Server] = {}
_lock = threading.Lock()


@dataclass(frozen=True)
class Indexes:
    """What an installer is told: the main index (None for its own default), and another one beside it."""

    main: str | None
    extra: str | None = None
    visit: Visit | None = None

    @property
    def lacking(self) -> str:
        """Why the answer may rest on a page that could not be had, or nothing."""
        return self.visit.lacking[0] if self.visit and self.visit.lacking else ""

    @property
    def recorded(self) -> str:
        """The digest of all that the record gave, empty where the real index answered."""
        return self.visit.digest if self.visit else ""


@contextmanager
def indexes(cell: Cell, workshop: Workshop) -> Iterator[Indexes]:
    """Return the indexes for a cell."""
    style, _ = workshop.channels.get(cell.index, ("", ""))
    beside = style == EXTRA
    if workshop.live or workshop.download:  # what a record serves is hollow
        url = workshop.indexes.get(cell.index) or workshop.channels.get(cell.index, ("", ""))[1] or None
        yield Indexes(workshop.indexes.get(DEFAULT), url) if beside else Indexes(url)
        return
    with _server(workshop).visit() as visit:
        own = visit.url(cell.index)
        yield Indexes(visit.url(DEFAULT), own, visit) if beside else Indexes(own, None, visit)


def record_for(workshop: Workshop, channel: str) -> Record:
    """Return the record of a channel that this process shares; raises LookupError for an unknown channel."""
    return _server(workshop).records[channel]


def _record(workshop: Workshop, channel: str) -> Record:
    """Return the record of a channel: the one that was named; else one of today, which the real index fills."""
    if workshop.record:
        return Record(workshop.record / channel)
    try:
        from compatkb.validate.upstream import Index
    except ImportError:
        raise UnavailableError("reading an index needs more; run: python -m pip install 'compatkb[validate]'") from None
    url = workshop.indexes.get(channel) or workshop.channels.get(channel, ("", ""))[1] or None
    return Record(workshop.cache / "record" / f"{workshop.today}" / channel, Index(url))


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
