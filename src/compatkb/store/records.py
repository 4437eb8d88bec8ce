"""The records that the engine works with: products, elements and edges of the snapshot, and requests."""

from collections.abc import Callable, Iterator, Mapping
from itertools import repeat
from typing import Annotated, Any, TypeAlias

from compatkb.core.record import NamedTuple
from compatkb.core.vocabulary import Certainty, Kind, Role
from compatkb.store.rows import INTERNED, FieldForm, Json, Mask, SourceList, Words, WordSet

Sources = tuple[tuple[str, str | None], ...]
"""Where facts come from: text, and address where there is one."""

UNBUILT = (Role.LEAF, Role.DIMENSION, Role.FEATURE)
"""Roles of what has no builds of its own."""

PlatformSet: TypeAlias = Annotated[int, INTERNED]
"""Platforms, a bit for each combination of Python, operating system and architecture."""
ElementSet: TypeAlias = Mask
"""Elements of one product, a bit for each from the oldest on; a bit above them stands for a version that is not listed."""
EVERY = -1
"""The set that leaves nothing out, of platforms or of elements."""


def newest_first(elements: ElementSet) -> Iterator[int]:
    """Yield the numbers of a set's elements, the newest first."""
    while elements:
        idx = elements.bit_length() - 1
        elements ^= 1 << idx
        yield idx


class MetaRecord(NamedTuple):
    """A fact about the snapshot itself: its format, the day of its data, the digest of what it was compiled from."""

    key: str
    value: str


class Name(NamedTuple):
    """A name by which a product is found, as `word_key` has it."""

    name: str
    product: str


class GridValue(NamedTuple):
    """A value of a platform dimension, by its number among the bits; for a system the `wider` ones that it is part of."""

    dimension: str
    idx: int
    value: str
    wider: Words
    systems: Words = ()  # architectures: the families of systems that have it under this name
    usual_on: Words = ()  # those of which a request means it that names none
    same_as: str = ""  # its name on other systems


class VersionWord(NamedTuple):
    """The elements that a word names; a `strict` one follows PEP 440."""

    product: str
    word: str
    strict: bool
    mask: Mask


class ModelPattern(NamedTuple):
    """The elements that a name stands for which a pattern matches."""

    product: str
    pattern: str
    mask: Mask


class CellsRecord(NamedTuple):
    """A set of platforms that records name by its number."""

    id: int
    mask: Annotated[int, FieldForm("BLOB", lambda mask: mask.to_bytes((mask.bit_length() + 7) // 8), int.from_bytes)]


class Product(NamedTuple):
    """A product's head."""

    id: str
    name: str
    role: Role
    rank: int
    distribution: str | None
    import_name: str | None
    scheme: str
    series: int
    automatic: bool
    default: str | None
    platform: bool
    machine: str | None  # a part of the machine below the packages: `system` or `runtime`
    size: int  # how many elements it has
    label: str  # its name in sentences
    shown: bool  # a stack says what is known of it, beyond the platform


PREVIEWS = ("preview", "prototype")
"""Stages of what its makers do not yet call stable."""


class Element(NamedTuple):
    """A build or release; dates are ordinals, platform bits are split by how well they are known."""

    product: str
    idx: int
    version: str
    release: str
    stage: str
    installable: bool
    devices: WordSet
    channels: Words
    only_with: WordSet
    distribution: str | None
    since: int | None
    by: int | None
    yank_after: int | None
    yank_by: int | None
    yank_reason: str | None
    eol: int | None
    certain: PlatformSet
    inferred: PlatformSet
    floors: str  # as stored; Snapshot.floors reads it
    complete: int
    maker: str | None
    extras: str  # as a requirement writes them, between its brackets
    foreign: bool = False  # for a device that no route serves: there for those who pin it
    foreign_cells: PlatformSet = 0  # platforms on which it was compiled for another device than its own
    kind: str = ""  # what it was compiled for: its label, or where it needs none its device
    kinds: str = ""  # as stored; Snapshot.kinds reads it
    published: bool = True  # whether a wheel of it was seen or stated, not only inferred
    requires_python: str = ""  # of the release on the index; empty where none is known

    @classmethod
    def packed_by(cls) -> tuple[str, ...]:
        """Return the fields whose values elements of one row share."""
        return ("product",)

    @property
    def is_preview(self) -> bool:
        """Whether its makers do not yet call it stable."""
        return self.stage in PREVIEWS

    def is_yanked(self, day: int) -> bool:
        """Return whether its index has yanked it by a day."""
        return self.yank_by is not None and self.yank_by <= day

    def has_ended(self, today: int) -> bool:
        """Return whether its end of life has come: the last supported day is before this one, as ordinals."""
        return self.eol is not None and self.eol < today

    def may_be_yanked(self, as_of: int) -> bool:
        """Return whether it was yanked by a day, or may have been, where only bounds of the day are known."""
        return self.yank_by is not None and (self.yank_after or 0) <= as_of


class Elements:
    """The elements of a product, oldest first; most of them are never looked at as a whole."""

    def __init__(self, size: int, columns: list[Any], readers: Mapping[int, Callable[[Any], Any]]) -> None:
        """Hold so many elements, their columns as they are kept (a list, or the value that all have) and what reads these."""
        self._size, self._columns, self._readers = size, columns, readers
        self._made: dict[int, Element] = {}
        self._groups: dict[tuple[str, ...], dict[tuple[Any, ...], ElementSet]] = {}

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, idx: int) -> Element:
        if idx in self._made:
            return self._made[idx]
        place = range(self._size)[idx]
        if place not in self._made:
            values = [column[place] if type(column) is list else column for column in self._columns]
            for each, read in self._readers.items():
                values[each] = read(values[each])
            self._made[place] = Element(*values)
        return self._made[place]

    def __iter__(self) -> Iterator[Element]:
        return map(self.__getitem__, range(self._size))

    def where(self, good: Callable[..., object], *names: str) -> ElementSet:
        """Return the elements of whose values in some columns something is true."""
        return sum(elements for values, elements in self.groups(*names).items() if good(*values))

    def groups(self, *names: str) -> dict[tuple[Any, ...], ElementSet]:
        """Return the elements by their values in some columns, in the order of the oldest of each."""
        if names not in self._groups:
            places = [Element._fields.index(name) for name in names]
            columns, readers = [self._columns[place] for place in places], [self._readers.get(place) for place in places]
            masks = dict[tuple[Any, ...], ElementSet]()
            if any(type(column) is list for column in columns):
                listed = (column if type(column) is list else repeat(column) for column in columns)
                for idx, values in enumerate(zip(*listed, strict=False)):
                    masks[values] = masks.get(values, 0) | 1 << idx
            else:
                masks[tuple(columns)] = (1 << self._size) - 1
            self._groups[names] = {
                tuple([read(value) if read else value for read, value in zip(readers, values, strict=True)]): elements
                for values, elements in masks.items()
            }
        return self._groups[names]

    def of(self, mask: ElementSet) -> list[Element]:
        """Return those of a set, oldest first."""
        return [self[idx] for idx in newest_first(mask & ((1 << self._size) - 1))][::-1]


class Floor(NamedTuple):
    """Wheels of one element: the oldest glibc, whether their tags say it, and platform bits seen and inferred."""

    glibc: tuple[int, ...] | None
    stated: bool
    seen: PlatformSet
    inferred: PlatformSet


class Compiled(NamedTuple):
    """What a build was compiled for on some platforms; the label is empty where nobody knows it."""

    device: str
    label: str
    cells: PlatformSet


class Edge(NamedTuple):
    """A claim between elements; `level` is certain or inferred."""

    id: int
    claim: str
    kind: Kind
    of: str
    of_mask: ElementSet
    to: str
    to_mask: ElementSet
    spec: str
    forbidden_on: PlatformSet
    supported_on: PlatformSet
    level: Certainty
    devices: WordSet
    hardware: ElementSet
    open: bool
    in_metadata: bool  # an index has it as metadata, so installers read it too
    unlisted: Mask  # gaps between the bounds on a runtime that it leaves open
    stated: bool = False  # somebody says so, rather than that it was seen
    extra: str = ""  # the extra that has to be asked for; empty where it holds without
    part: int = -1  # the part of its product's elements of which alone it speaks, as `part_of` has it
    to_part: int = -1  # the part of the other product's elements of which alone it speaks

    @classmethod
    def packed_by(cls) -> tuple[str, ...]:
        """Return the fields whose values edges of one row share."""
        return ("of", "to", "extra", "part", "to_part", "hardware")


class Pair(NamedTuple):
    """A product that says something of another one where no extra is asked for, and the kinds of what it says."""

    of: str
    to: str
    kinds: WordSet


PART = 128
"""So many elements of a product, one after the other, are a part: what is said of them is read by itself."""


def whole_parts(elements: ElementSet, size: int) -> ElementSet:
    """Return all elements of the parts that hold some of a set, of a product with so many."""
    parts = range(0, size, PART)
    return sum(((1 << PART) - 1) << first for first in parts if elements >> first & ((1 << PART) - 1)) & ((1 << size) - 1)


def part_of(elements: ElementSet) -> int:
    """Return the part that holds all elements of a set, -1 where none does."""
    newest = elements.bit_length() - 1
    return newest // PART if elements > 0 and (elements & -elements).bit_length() > newest // PART * PART else -1


class Defect(NamedTuple):
    """A known issue that ends in wrong results, a crash or a hang, as far as it is one of these elements on some machine."""

    product: str
    mask: Mask
    issue: str
    devices: Words
    cells: PlatformSet  # platforms on which they have it
    hardware: Mask  # hardware elements on which alone they have it; 0: any
    beside: Annotated[list[tuple[str, str, int]], Json]  # parts of the machine with a specifier and its elements: each of them
    gpus: int = 1  # in use together, at the least


class Advisory(NamedTuple):
    """Something that users of these elements must be told."""

    product: str
    mask: Mask
    kind: str
    message: str
    since: int
    to: str
    to_mask: Mask
    devices: Words
    cells: PlatformSet  # platforms of which it speaks
    hardware: Mask  # hardware elements of which it speaks; 0: any
    sources: SourceList


class CompleteScope(NamedTuple):
    """Releases of a product whose list is whole up to a day, as an ordinal: one that it lacks does not exist."""

    product: str
    spec: str
    mask: Mask
    devices: Words  # only builds for these, none: for any
    until: int
    channel: str | None
    sources: SourceList


class Waiver(NamedTuple):
    """Elements of a product beside which an edge does not hold for some elements of its own product."""

    product: str
    mask: Mask
    edge: int
    of_mask: Mask


class OutsideRequirement(NamedTuple):
    """A distribution that metadata of these elements require on some platforms, and that no product of the data has."""

    product: str
    mask: Mask
    distribution: str
    cells: PlatformSet


class Route(NamedTuple):
    """A way to reach a device."""

    id: str
    name: str
    rank: int
    devices: Words
    provider: str
    with_: Words
    without: Words
    on_request: bool
    note: str | None


class Successor(NamedTuple):
    """What takes the place of a product: some versions of another one, on one device or on any."""

    product: str
    specifier: str
    device: str | None
    sources: Sources = ()


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
    sources: SourceList


class VendorRecord(NamedTuple):
    """Someone whose events the timeline has."""

    id: str
    name: str


class Pin(NamedTuple):
    """What the request fixed of one product: the elements that it admits.

    `text` is what the user typed. `strict` pins follow PEP 440; `exact` ones name one version, so a yanked release is
    admitted. `extra` is a version that the data do not list, for products known only through bounds.
    """

    product: str
    text: str
    mask: ElementSet
    strict: bool = False
    exact: bool = True
    extra: str | None = None
    near: ElementSet = 0  # where `mask` is empty: the elements that the version would stand beside
    beyond: str = ""  # a version that no complete list covers at the as-of date, so that its absence proves nothing
    need: bool = False  # a feature that the stack must have
    patch: str | None = None  # the patch of Python that was named (3.14.1); `mask` is its minor


class Request(NamedTuple):
    """What the user fixed; days are ordinals, their end in UTC."""

    pins: tuple[Pin, ...]
    bare: tuple[str, ...]  # products asked for in any version
    devices: tuple[str, ...]
    as_of: int  # what exists: the day of knowledge, unless another one was asked for
    today: int  # the clock: it decides whether an end of life has come, and nothing else
    lists_until: int  # the day that a list of releases or wheels must reach for an absence to count
    route: str | None = None  # the only way to reach the device that will do; any unless given
    extras: frozenset[tuple[str, str]] = frozenset()  # products with the extras that are asked for
    uploaded_until: int | None = None  # the last day of uploads that installers take; any unless given
    channels: frozenset[str] | None = None  # the only indexes that packages are taken from; any unless given
    names_devices: bool = False  # the devices are those that were asked for, rather than all that the pins leave

    def pin(self, product: str) -> Pin | None:
        """Return the pin on a product, None where it is free."""
        for pin in self.pins:
            if pin.product == product:
                return pin
        return None


def picked(record: object, names: str) -> dict[str, Any]:
    """Return some attributes of a record as columns of the same names; `names` stand between spaces."""
    return {name: getattr(record, name) for name in names.split()}
