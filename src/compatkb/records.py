"""What the engine works with: elements, edges and products as they stand in the snapshot, requests, found stacks."""

from typing import Any, NamedTuple

STRONG, WEAK, UNKNOWN = 0, 1, 2
"""How well an edge is known: stated or observed, inferred, not at all."""


UNBUILT = ("leaf", "dimension", "feature")
"""Roles of what has no builds of its own."""


class Product(NamedTuple):
    """A product's head."""

    id: str
    name: str
    role: str
    rank: int
    distribution: str | None
    import_name: str | None
    scheme: str
    series: int
    automatic: bool
    default: str | None
    platform: bool
    open: bool
    size: int  # how many elements it has


class Element(NamedTuple):
    """A build or release; dates are ordinals, platform bits are split by how well they are known."""

    product: str
    idx: int
    version: str
    release: str
    stage: str
    installable: bool
    devices: frozenset[str]
    channels: tuple[str, ...]
    only_with: frozenset[str]
    distribution: str | None
    since: int | None
    by: int | None
    yank_after: int | None
    yank_by: int | None
    yank_reason: str | None
    eol: int | None
    strong: int
    weak: int
    floors: str  # as stored; Snapshot.floors reads it
    complete: int
    maker: str | None
    extras: str  # as a requirement writes them, between its brackets


class Floor(NamedTuple):
    """Wheels of one element: the oldest glibc, whether their tags say it, and platform bits seen and inferred."""

    glibc: tuple[int, ...] | None
    stated: bool
    seen: int
    inferred: int


class Edge(NamedTuple):
    """A claim between elements; `level` is STRONG or WEAK."""

    id: int
    claim: str
    kind: str
    of: str
    of_mask: int
    to: str
    to_mask: int
    spec: str
    denies: int
    vouches: int
    level: int
    devices: frozenset[str]
    hardware: int
    open: bool
    listed: bool
    unlisted: int  # gaps between the bounds on a runtime that it leaves open


class Advisory(NamedTuple):
    """Something that users of these elements must be told."""

    product: str
    mask: int
    kind: str
    message: str
    since: int
    to: str
    to_mask: int
    devices: frozenset[str]
    cells: int  # platforms of which it speaks
    hardware: int  # hardware elements of which it speaks; 0: any
    sources: tuple[tuple[str, str | None], ...]


class Route(NamedTuple):
    """A way to reach a device."""

    id: str
    name: str
    rank: int
    devices: frozenset[str]
    provider: str
    with_: tuple[str, ...]
    without: frozenset[str]


class Event(NamedTuple):
    """An event of the timeline; days are ordinals, `first` and `last` those on which it can have happened."""

    id: str
    vendor: str
    kind: str
    title: str
    product: str | None
    version: str | None
    precision: str
    basis: str | None
    note: str | None
    first: int
    last: int
    announced: int | None
    disputes: tuple[dict[str, Any], ...]
    sources: tuple[tuple[str, str | None], ...]


class Pin(NamedTuple):
    """What the request fixed of one product: the elements that it admits.

    `text` is what the user typed. `strict` pins follow PEP 440; `exact` ones name one version, so a yanked release is
    admitted. `extra` is a version that the data do not list, for products known only through bounds.
    """

    product: str
    text: str
    mask: int
    strict: bool = False
    exact: bool = True
    extra: str | None = None
    near: int = 0  # where `mask` is empty: the elements that the version would stand beside
    beyond: bool = False  # no complete list covers this version at the as-of date, so its absence proves nothing
    need: bool = False  # a feature that the stack must have


class Request(NamedTuple):
    """What the user fixed; `as_of` is an ordinal, the end of that day in UTC."""

    pins: tuple[Pin, ...]
    bare: tuple[str, ...]  # products asked for in any version
    devices: tuple[str, ...]
    as_of: int
    route: str | None = None  # the only way to reach the device that will do; any unless given

    def pin(self, product: str) -> Pin | None:
        """Return the pin on a product, None where it is free."""
        for pin in self.pins:
            if pin.product == product:
                return pin
        return None


class Found(NamedTuple):
    """A consistent assignment and the platforms on which it is the best one of its route."""

    device: str
    route: Route
    chosen: tuple[tuple[str, int], ...]  # product, element number; in rank order
    level: int
    warnings: int
    cells: int
