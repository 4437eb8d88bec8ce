"""Which index addresses an installer is given for a cell: an index, an extra one, or a page of links."""

from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

from compatkb.validate.cell import RunContext, ValidationCell
from compatkb.validate.proofs import channel_words

DEFAULT = "default"
EXTRA = "extra-index-url"
LINKS = "find-links"


@dataclass(frozen=True)
class Addresses:
    """The main index (None for the client's own), one beside it, and a page of links beside it."""

    main: str | None = None
    extra: str | None = None
    links: str | None = None

    @property
    def pip(self) -> list[str]:
        """The options of pip."""
        words = (("--index-url", self.main), ("--extra-index-url", self.extra), ("--find-links", self.links))
        return [word for option, url in words if url for word in (option, url)]

    @property
    def uv(self) -> list[str]:
        """The options of uv; like pip, it looks for a version on every index."""
        words = (("--default-index", self.main), ("--index", self.extra), ("--find-links", self.links))
        return [word for option, url in words if url for word in (option, url)] + ["--index-strategy", "unsafe-best-match"]

    def each(self) -> Iterator[tuple[str | None, bool]]:
        """Yield every address, and whether it is a page of links."""
        yield self.main, False
        if self.extra:
            yield self.extra, False
        if self.links:
            yield self.links, True


def channel_of(context: RunContext, channel: str) -> tuple[str, str | None]:
    """Return the style of a channel and the address that answers for it, None for the client's own default."""
    style, url = "", None
    if channel != DEFAULT:
        style, url = context.channels.get(channel) or channel_words(context.data, channel) or ("", "")
    return style, context.indexes.get(channel) or url or None


def addresses_of(cell: ValidationCell, context: RunContext) -> Addresses:
    """Return the addresses for a cell."""
    style, url = channel_of(context, cell.index)
    main = context.indexes.get(DEFAULT)
    if style == EXTRA:
        return Addresses(main, extra=url)
    return Addresses(main, links=url) if style == LINKS else Addresses(url)


def shown(url: str) -> str:
    """Return an address as evidence may show it: no user, no password, no query."""
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl()
