"""Records of data/index/, data/channels.toml and data/routes.toml: where builds are, and the routes to a device."""

from datetime import date, datetime
from typing import Literal

from pydantic import Field

from compatkb.schema.base import DeviceId, Dispute, HardwareId, Id, ProductId, Record, SourceEntry, Term, Text


class IndexYank(Record):
    """A withdrawal as the index shows it; `seen` is the first day on which it was seen."""

    files: Literal["all", "some"]
    reason: str = ""
    seen: date


class IndexRelease(Record):
    """What the index says of one version; wheels map a Python tag to platform tags."""

    version: Text
    uploaded: datetime  # of the first file
    dated: Literal["upload", "file"] = "upload"  # `file`: no upload time was to be had, so the file's last change; not later
    yanked: IndexYank | None = None
    requires_python: str = ""
    requires: tuple[Text, ...] = ()
    wheels: dict[str, tuple[Text, ...]] = {}
    file: Text | None = None  # the wheel whose metadata was read


class SharedMetadata(Record):
    """What the metadata of some releases say, newest first; `requires` is None where no wheel has any to read."""

    versions: tuple[Text, ...]
    yanked: tuple[Text, ...] = ()
    requires_python: str = ""
    requires: tuple[Text, ...] | None = None


class IndexFile(Record):
    """A file of data/index/: what the default index says of one distribution; of one that is no product `metadata` alone."""

    distribution: Text
    seen: date
    release: tuple[IndexRelease, ...] = ()
    metadata: tuple[SharedMetadata, ...] = ()


class Channel(Record):
    """A package index, a repository from which builds are compiled, or a registry of images that hold them."""

    id: Id
    of: Term | None = None  # there is one for each listed release of these: its id ends with the version, {of} stands for it
    name: Text
    url: Text | None = None  # none for the client's own default
    style: Literal["default", "index-url", "extra-index-url", "find-links", "source", "image"]
    commands: tuple[Text, ...] = ()  # of `source`: what compiles a build; of `image`: what runs it; {release}, {os}, {PRODUCT}
    os: tuple[Id, ...] = ()  # whose names can stand for {os}; on others there are no commands
    mirrors: dict[str, Text] = {}
    hardware: tuple[HardwareId, ...] = ()
    instead: Id | None = None  # the index that replaced this one, which makers name no more
    note: Text | None = None
    sources: tuple[Id, ...] = ()


class ChannelFile(Record):
    """data/channels.toml."""

    channel: tuple[Channel, ...]
    source: dict[Id, SourceEntry] = {}
    dispute: tuple[Dispute, ...] = ()


class RouteEntry(Record):
    """A way to reach a device: which product brings it, and which are left out."""

    id: Id
    name: Text
    rank: int  # today's preference: small first
    device: tuple[DeviceId, ...] = Field(min_length=1)
    provider: ProductId
    on_request: bool = False  # taken only where its device, or what is for its device alone, is asked for
    with_: tuple[ProductId, ...] = ()
    without: tuple[ProductId, ...] = ()
    note: Text | None = None


class RouteFile(Record):
    """data/routes.toml."""

    route: tuple[RouteEntry, ...]
