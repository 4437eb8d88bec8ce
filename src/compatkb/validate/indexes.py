"""Which index addresses answer for a cell, what their pages list, and whether they can be believed."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from packaging.version import Version

from compatkb.errors import NotListedError, UnavailableError
from compatkb.schema import Outcome
from compatkb.validate.cell import RunContext, ValidationCell
from compatkb.validate.messages import missing_names, read
from compatkb.validate.proofs import channel_words
from compatkb.validate.targets import fits

if TYPE_CHECKING:
    from compatkb.refresh.index_client import Network
    from compatkb.refresh.listing import DistributionFile

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


def client() -> ModuleType:
    """Return the module that asks indexes, whose libraries are an extra; raises UnavailableError without them."""
    try:
        from compatkb.refresh import index_client
    except ImportError:
        raise UnavailableError("reading an index needs more; run: python -m pip install 'compatkb[validate]'") from None
    return index_client


def network(url: str | None, flat: bool, seconds: float) -> "Network":
    """Return a client of an index, no answer of which takes much longer than `seconds`; raises UnavailableError."""
    module = client()
    limits = module.Limits(silence=min(30.0, seconds / module.TRIES), answer=min(120.0, seconds), run=math.inf)
    made: Network = module.Network(url, limits, flat=flat)
    return made


def page(context: RunContext, url: str | None, flat: bool, distribution: str) -> "tuple[DistributionFile, ...]":
    """Return what an index lists of a distribution, read once a run; raises NotListedError and UnavailableError."""
    key = (url, distribution)
    if key not in context.pages:
        context.pages[key] = network(url, flat, context.seconds).page(distribution, strict=False).files
    return context.pages[key]


def listed(cell: ValidationCell, context: RunContext, distribution: str) -> "list[DistributionFile]":
    """Return the wheels of a distribution that the indexes of a cell list; raises UnavailableError."""
    wheels = []
    for url, flat in addresses_of(cell, context).each():
        try:
            wheels += [file for file in page(context, url, flat, distribution) if file.is_wheel]
        except NotListedError:
            continue
        except UnavailableError as error:
            raise UnavailableError(f"{shown(url)}: {error}" if url else str(error)) from None
    return wheels


def index_error(cell: ValidationCell, context: RunContext, names: Iterable[str] = ()) -> str:
    """Return why an index cannot be believed about distributions, those of the cell unless named; or nothing.

    It gave no answer, an error, or what is no page. Installers are no help here: they take a page that is forbidden for
    one that is not there. With the user's own configuration it is for pip to know which index answers.
    """
    try:
        for name in () if context.use_pip_config else names or (name for name, _ in cell.packages):
            listed(cell, context, name)
    except UnavailableError as error:
        return str(error)
    return ""


def refusal(cell: ValidationCell, context: RunContext, text: str) -> tuple[Outcome, str]:
    """Return what an installer's refusal means: `not-checked` where it rests on a page that could not be had."""
    outcome, message = read(text)
    if outcome is Outcome.NOT_FOUND and (names := missing_names(message)) and (reason := index_error(cell, context, names)):
        return Outcome.NOT_CHECKED, reason
    return outcome, message


def metadata_error(cell: ValidationCell, context: RunContext) -> str:
    """Return which wheel of the pins has metadata of another release, or nothing: uv does not look, where pip does."""
    for url, flat in addresses_of(cell, context).each():
        index = network(url, flat, context.seconds)
        for name, version in cell.packages:
            try:
                for file in page(context, url, flat, name):
                    if file.version == Version(version) and fits(file.entry.name, cell.python, cell.platform):
                        index.reading(name, file)
            except NotListedError:
                continue
            except UnavailableError as error:
                return str(error)
    return ""
