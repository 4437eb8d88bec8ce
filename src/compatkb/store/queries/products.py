"""Products as people read them: heads, names, releases, builds, channels, routes."""

from collections.abc import Callable
from functools import cached_property
from typing import Annotated, Any

from compatkb.core.memo import memoized
from compatkb.core.record import NamedTuple
from compatkb.core.vocabulary import Role
from compatkb.store.queries.solver import SolverQueries
from compatkb.store.records import Element, Sources, Successor
from compatkb.store.rows import Json, SourceList, TextMap, Texts, Words, nested


class SupportRule(NamedTuple):
    """How long releases are supported, where no day is known; where none is `published`, what was read instead."""

    says: str
    published: bool
    sources: Sources


class ProductDetails(NamedTuple):
    """What a product says of itself beside its head."""

    id: str
    homepage: str | None
    page_label: str | None
    page_url: str | None
    eol: str | None
    eol_rule: Annotated[SupportRule, nested(SupportRule)] | None
    replaced_by: Annotated[Successor, nested(Successor)] | None
    replaced_by_record: Annotated[dict[str, Any], Json] | None  # as its file has it
    note: str | None


class ReleaseRecord(NamedTuple):
    """A release as its file has it; days are ISO text, and `released` may be two of them around a slash."""

    product: str
    version: str
    position: int
    name: str | None
    aliases: Texts
    part_of: Words
    devices: Words
    track: str | None
    released: str | None
    basis: str | None
    eol: str | None
    eol_precision: str | None
    eol_note: str | None  # why it has none
    eol_sources: SourceList
    page: str | None
    needs: str | None
    proof: str | None
    note: str | None
    sources: SourceList


class ElementDetails(NamedTuple):
    """Remarks on a build or release, and its sources."""

    product: str
    idx: int
    series: str
    wheels_note: str | None
    note: str | None
    sources: SourceList


class ChannelRecord(NamedTuple):
    """A package index; `style` is how clients are told of it. `commands` compile what a repository has the source of."""

    id: str
    name: str
    url: str | None
    style: str
    mirrors: TextMap
    hardware: Words
    note: str | None
    commands: Texts
    os: Words
    instead: str | None  # the index that replaced it

    @property
    def is_index(self) -> bool:
        """Return whether installers can ask it: a repository of sources and a registry of images is none."""
        return self.style not in ("source", "image")

    @property
    def addresses(self) -> tuple[str, ...]:
        """Its own address and those of its mirrors; none for the index that clients ask by themselves."""
        return tuple(url for url in (self.url, *self.mirrors.values()) if url)


class ProductQueries(SolverQueries):
    """What people read of products: heads, names, releases, builds, channels, routes."""

    def product_details(self, product: str) -> ProductDetails:
        """Return what a product says of itself; raises KeyError for an unknown one."""
        for details in self.records(ProductDetails, "from product_details where id = ?", product):
            return details
        raise KeyError(product)

    def every_product_details(self) -> dict[str, ProductDetails]:
        """Return what all products say of themselves, in rank order."""
        return {details.id: details for details in self.records(ProductDetails, "from product_details order by rowid")}

    def replacements(self) -> dict[str, Successor]:
        """Return what takes the place of each product that has ended, in rank order."""
        known = self.every_product_details()
        return {product: details.replaced_by for product, details in known.items() if details.replaced_by}

    def homepages(self) -> dict[str, str]:
        """Return the home pages of products, for those that have one."""
        return dict(self.select("select id, homepage from product_details where homepage is not null"))

    @cached_property
    def keys_by_product(self) -> dict[str, tuple[str, ...]]:
        """The keys of the names by which each product is found, sorted."""
        names_by_product: dict[str, list[str]] = {}
        for name, product in self.select("select name, product from name order by name"):
            names_by_product.setdefault(product, []).append(name)
        return {product: tuple(names) for product, names in names_by_product.items()}

    def releases(self) -> tuple[ReleaseRecord, ...]:
        """Return the releases of all products, those of one as its file has them."""
        return self.records(ReleaseRecord, "from release order by product, position")

    @memoized
    def releases_of(self, product: str) -> tuple[ReleaseRecord, ...]:
        """Return the releases of a product, as its file has them."""
        return self.records(ReleaseRecord, "from release where product = ? order by position", product)

    @memoized
    def release(self, product: str, version: str) -> ReleaseRecord | None:
        """Return one release, None where the file has no such one."""
        records = self.records(ReleaseRecord, "from release where product = ? and version = ?", product, version)
        return records[0] if records else None

    def element_details(self, product: str) -> tuple[ElementDetails, ...]:
        """Return the remarks on each element of a product, oldest first."""
        return self.records(ElementDetails, "from element_details where product = ? order by idx", product)

    def series_of(self, product: str) -> dict[str, str]:
        """Return the series of each release of a product."""
        details = self.element_details(product)
        return {element.release: more.series for element, more in zip(self.elements(product), details, strict=True)}

    def is_build(self, element: Element) -> bool:
        """Return whether an element is a build; the others are releases that have none."""
        return self.products[element.product].role in (Role.PACKAGE, Role.COMPANION) and bool(element.devices)

    @memoized
    def details_of(self, product: str, idx: int) -> ElementDetails | None:
        """Return the remarks on one element, None where there is no such one."""
        records = self.records(ElementDetails, "from element_details where product = ? and idx = ?", product, idx)
        return records[0] if records else None

    def element_sources(self, element: Element) -> Sources:
        """Return the sources of a build or release."""
        known = self.details_of(element.product, element.idx)
        return known.sources if known else ()

    def distributions(self) -> tuple[tuple[str, str], ...]:
        """Return the products with each name under which builds of theirs are installed."""
        elements = self.records(Element, "from element order by rowid")
        return tuple(dict.fromkeys((element.product, element.distribution) for element in elements if element.distribution))

    def hardware_devices(self) -> dict[str, tuple[str, ...]]:
        """Return the devices that each family of hardware offers, the usual one first."""
        rows = self.select("select version, devices from release where product = 'hardware' order by position")
        return {version: tuple(devices.split()) for version, devices in rows}

    @cached_property
    def channels(self) -> tuple[ChannelRecord, ...]:
        """The package indexes, in the order of the data."""
        return self.records(ChannelRecord, "from channel order by rowid")

    @cached_property
    def indexes(self) -> dict[str, ChannelRecord]:
        """The channels that installers can ask, by id."""
        return {channel.id: channel for channel in self.channels if channel.is_index}

    def served_devices(self) -> tuple[str, ...]:
        """Return the devices that a route reaches, those of preferred routes first."""
        return tuple(dict.fromkeys(device for route in self.routes for device in route.devices))

    def unasked_devices(self, fits: Callable[[str], bool] = bool, own: str | None = None) -> tuple[str, ...]:
        """Return the devices to take where nobody names one: `own` or those that fit, else all.

        A device that is served on request alone is taken where no other one fits.
        """
        usual = tuple(dict.fromkeys(device for route in self.routes if not route.on_request for device in route.devices))
        fitting = [device for device in self.served_devices() if fits(device)]
        if own in fitting:
            return (str(own),)
        return tuple(device for device in fitting if device in usual) or tuple(fitting) or usual
