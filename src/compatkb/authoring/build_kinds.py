"""Matches builds by device: a build compiled against a product works only with that product's builds for the same device.

A build is for one device, on some platforms maybe for another one (`compiled-for`), and a label tells builds for one
device apart. From `built-with` of a product follow edges that no curator writes: beside a build of another device
nothing works, and what metadata say of a release vouches only for the builds with the same label.
"""

import re
from collections.abc import Iterable, Iterator, Mapping

from compatkb.authoring.knowledge_base import ClaimOrigin, Knowledge, KnowledgeEdge, KnowledgeElement, SourcedClaim
from compatkb.authoring.loader import DataProblem
from compatkb.core.memo import memoized
from compatkb.core.record import NamedTuple
from compatkb.schema import Build, BuiltWith, Claim, Kind, ProductHead, Release, Stage, Variant

DEVICE = "device"


class BuildKind(NamedTuple):
    """What a build was compiled for."""

    device: str
    label: str  # the device itself where builds for it need no telling apart; empty where nobody knows it


def builds_of(product: ProductHead, release: Release, channels: Iterable[str]) -> tuple[Build, ...]:
    """Return the builds of a release: those that are written out, then one for each label of its variants."""
    known = frozenset(channels)
    return (*release.build, *(_build(product, release, row, label, known) for row in release.variant for label in row.labels))


def _build(product: ProductHead, release: Release, row: Variant, label: str, known: frozenset[str]) -> Build:
    derived = (product.variant_channel or "").format(label=label)
    return Build(
        version=f"{release.version}+{label}",
        channels=row.channels or ((derived,) if derived in known else ()),
        devices=(row.device,),
        wheels=row.wheels,
        note=row.note,
        sources=row.sources,
    )


def runs_on(knowledge: Knowledge, device: str) -> tuple[str, ...]:
    """Return the devices on which a build for `device` is of use: itself, unless the data name others."""
    release = _device(knowledge, device)
    return release.runs_on if release and release.runs_on else (device,)


def is_foreign(knowledge: Knowledge, element: KnowledgeElement) -> bool:
    """Return whether a build is for devices that no route serves."""
    return element.build is not None and knowledge.served_devices.isdisjoint(element.build.devices)


def devices_on_request(knowledge: Knowledge) -> tuple[str, ...]:
    """Return the devices that routes serve on request alone."""
    routes = knowledge.files.routes.route
    usual = {device for route in routes if not route.on_request for device in route.device}
    return tuple(dict.fromkeys(d for route in routes for d in route.device if d not in usual))


def own_kind(knowledge: Knowledge, element: KnowledgeElement) -> BuildKind | None:
    """Return the kind of a build where nothing else is said; None for what is no build, or is for several devices."""
    if element.build is None or len(element.build.devices) != 1:
        return None
    device = element.build.devices[0]
    release = _device(knowledge, device)
    return BuildKind(device, element.version.partition("+")[2] if release and release.runs_on else device)


def other_kinds(knowledge: Knowledge, element: KnowledgeElement) -> list[tuple[BuildKind, int]]:
    """Return the kinds of a build on the platforms on which it is not of its own kind."""
    rows = element.build.compiled_for if element.build else ()
    return [(BuildKind(row.device, row.label or ""), knowledge.grid.cells(row.os, row.arch)) for row in rows]


def of_one_release(knowledge: Knowledge, product: str, number: int, to: str) -> int:
    """Return for which elements the metadata of one speak to `to`: also for its variants, where they are built with that."""
    elements = knowledge.elements[product]
    head, mask = knowledge.products[product], 1 << number
    if head.built_with is None or head.built_with.product != to:
        return mask
    release = elements[number].release
    return mask | sum(
        1 << n for n, e in enumerate(elements) if e.release is release and n != number and _labelled(knowledge, e)
    )


def of_other_kinds(knowledge: Knowledge, product: str, number: int, to: str) -> int:
    """Return the maker's other builds of the release of an element of which its metadata do not speak to `to`.

    What is built with another product is built with one release of it, whatever devices its builds are for. So metadata
    deny other releases to all of them, and vouch for none.
    """
    elements = knowledge.elements[product]
    if (built := knowledge.products[product].built_with) is None or built.product != to:
        return 0
    release = elements[number].release
    same = (n for n, e in enumerate(elements) if e.release is release and e.build and e.build.maker is None)
    return sum(1 << n for n in same) & ~of_one_release(knowledge, product, number, to)


def equal_builds(knowledge: Knowledge, product: str, number: int) -> list[tuple[int, int]]:
    """Return the maker's other builds of a release for the device that an element is for on some platforms, with these.

    They require the same. The default index has a build for Linux without the label that it has on the maker's own index;
    what has another label is built for another release of the same toolkit, from the same source.
    """
    equal, element = list[tuple[int, int]](), knowledge.elements[product][number]
    for kind, cells in other_kinds(knowledge, element):
        same = [
            n
            for n, other in enumerate(knowledge.elements[product])
            if other is not element
            and other.release is element.release
            and other.build
            and other.build.maker is None
            and (own := own_kind(knowledge, other))
            and own.device == kind.device
        ]
        equal += [(sum(1 << n for n in same), cells)] if same else []
    return equal


def from_source(knowledge: Knowledge, product: str, number: int, to: str, marker: str) -> int:
    """Return the builds of the release of an element that are compiled from its source, and require the same of `to`.

    That is so of what has no builds for one device: of torch and the like each device has a requirement of its own. Of
    builds for a device that is served on request alone metadata say nothing. Where the builds of an index are for several
    devices, by platform, what they require on every platform the builds for other devices require, too.
    """
    elements, own = knowledge.elements[product], own_kind(knowledge, knowledge.elements[product][number])
    is_everywhere = "platform" not in marker and "os_name" not in marker
    others = [kind for kind, _ in other_kinds(knowledge, elements[number]) if own and kind.device != own.device]
    same = [n for n in _for_common_devices(knowledge, product).get(id(elements[number].release), ()) if n != number]
    if not (others and is_everywhere):
        same = [n for n in same if (build := elements[n].build) and build.stage is Stage.FROM_SOURCE]
    return sum(1 << n for n in same) if same and not any(own_kind(knowledge, e) for e in knowledge.elements[to]) else 0


@memoized
def _for_common_devices(knowledge: Knowledge, product: str) -> dict[int, list[int]]:
    """Return the builds for devices that are not served on request alone, by the identity of their release."""
    requested = set(devices_on_request(knowledge))
    builds: dict[int, list[int]] = {}
    for number, element in enumerate(knowledge.elements[product]):
        if element.build and not requested.issuperset(element.build.devices):
            builds.setdefault(id(element.release), []).append(number)
    return builds


def _labelled(knowledge: Knowledge, element: KnowledgeElement) -> bool:
    kind = own_kind(knowledge, element)
    return bool(kind and kind.label != kind.device and element.build and element.build.maker is None)


@memoized
def _device(knowledge: Knowledge, name: str) -> Release | None:
    elements = knowledge.elements.get(DEVICE, [])
    return next((element.release for element in elements if element.version == name), None)


# -- edges --------------------------------------------------------------------------------------------------------


def keep_kinds_apart(knowledge: Knowledge, problems: list[DataProblem]) -> None:
    """Add the edges that follow from what products are built with, and split those that vouch by the kinds of builds."""
    foreign = {
        product: sum(1 << n for n, element in enumerate(elements) if is_foreign(knowledge, element))
        for product, elements in knowledge.elements.items()
    }
    devices = set(devices_on_request(knowledge))
    requested = {
        product: sum(1 << n for n, e in enumerate(elements) if e.build and devices.issuperset(e.build.devices))
        for product, elements in knowledge.elements.items()
    }
    knowledge.edges = [
        new
        for edge in knowledge.edges
        for new in _unlabelled(knowledge, edge, foreign[edge.to], requested[edge.to] if not edge.devices else 0)
    ]
    for product in knowledge.products.values():
        if (built_with := product.built_with) is None:
            continue
        if built_with.product not in knowledge.products:
            message = f"built-with: {built_with.product} is no product"
            problems.append(DataProblem(f"products/{product.id}.toml", None, message))
            continue
        pair = _Pair(knowledge, product.id, built_with.product)
        knowledge.edges = [new for edge in knowledge.edges for new in pair.split(edge)]
        knowledge.edges += _kept_apart(knowledge, product, built_with, pair, problems)


def _unlabelled(knowledge: Knowledge, edge: KnowledgeEdge, foreign: int, requested: int) -> Iterator[KnowledgeEdge]:
    """Yield an edge that vouches for builds of devices that no route serves only where people name their label.

    Who says that a release works had no other builds in mind than those that there are for a device that we serve, and
    metadata none for a device that is served on request alone. What a product is built with has a rule of its own.
    """
    built = knowledge.products[edge.of].built_with
    people = knowledge.claims[edge.claim].origin is ClaimOrigin.PEOPLE
    named = edge.to_mask & ~requested & ~(foreign if people else 0)
    for spec in edge.spec.split(" or "):
        named |= edge.to_mask & knowledge.matching(edge.to, spec) if "+" in spec else 0
    if not edge.supported_on or named == edge.to_mask or (built and built.product == edge.to):
        yield edge
        return
    if edge.forbidden_on:
        yield edge._replace(supported_on=0)
    if named:
        yield edge._replace(to_mask=named, forbidden_on=0)


class _Kinds:
    """The elements of a product by their kinds, on each platform."""

    def __init__(self, knowledge: Knowledge, product: str) -> None:
        self.elements = [(own_kind(knowledge, e), other_kinds(knowledge, e)) for e in knowledge.elements[product]]
        self._at: dict[int, dict[BuildKind | None, int]] = {}
        self.places = {cells for _, others in self.elements for _, cells in others}
        self.alike = {e.version: e.release.alike for e in knowledge.elements.get(DEVICE, [])}

    def kind(self, number: int, region: int) -> BuildKind | None:
        """Return the kind of an element on a region of platforms on which no kind changes."""
        own, others = self.elements[number]
        return next((kind for kind, cells in others if cells & region), own)

    def at(self, region: int) -> Mapping[BuildKind | None, int]:
        """Return the elements of each kind on such a region."""
        if region in self._at:
            return self._at[region]
        mask_by_kind = self._at[region] = {}
        for number in range(len(self.elements)):
            kind = self.kind(number, region)
            mask_by_kind[kind] = mask_by_kind.get(kind, 0) | 1 << number
        return mask_by_kind

    def excluded(self, kind: BuildKind | None, there: Mapping[BuildKind | None, int]) -> int:
        """Return which of the elements by their kinds do not go with a kind; one that nobody knows goes with all."""
        return sum(mask for other, mask in there.items() if kind and other and not self._go_together(kind, other))

    def _go_together(self, one: BuildKind, other: BuildKind) -> bool:
        parts = {self._part(one), self._part(other)} - {""}
        return one.device == other.device and len(parts) <= 1

    @memoized
    def _part(self, kind: BuildKind) -> str:
        """Return the part of a label in which builds have to agree, empty where there is none."""
        match = re.fullmatch(self.alike.get(kind.device) or "()", kind.label)
        return match[1] if match else ""


class _Pair:
    """A product and the one that it is built with, by kinds, on the parts into which their platforms cut the grid."""

    def __init__(self, knowledge: Knowledge, of: str, to: str) -> None:
        self.products = (of, to)
        self.of, self.to = _Kinds(knowledge, of), _Kinds(knowledge, to)
        self.regions = [knowledge.grid.all]
        for place in (*self.of.places, *self.to.places):
            self.regions = [part for region in self.regions for part in (region & place, region & ~place) if part]

    def split(self, edge: KnowledgeEdge) -> Iterator[KnowledgeEdge]:
        """Yield an edge that vouches for builds of one kind alone; where it does not, what it denies and then each kind.

        What a build for several devices is vouched for with has any kind: it holds nothing for one of them.
        """
        if (edge.of, edge.to) != self.products or not edge.supported_on:
            yield edge
            return
        cells_by_pair: dict[tuple[int, int], int] = {}
        for region in self.regions:
            cells, there = edge.supported_on & region, self.to.at(region)
            for kind, mask in self.of.at(region).items():
                alike = -1 if kind is None else there.get(kind, 0) if kind.label else 0
                if cells and mask & edge.of_mask and (named := edge.to_mask & alike):
                    pair = (mask & edge.of_mask, named)
                    cells_by_pair[pair] = cells_by_pair.get(pair, 0) | cells
        if cells_by_pair == {(edge.of_mask, edge.to_mask): edge.supported_on}:
            yield edge
            return
        if edge.forbidden_on:
            yield edge._replace(supported_on=0)
        for (of_mask, to_mask), cells in cells_by_pair.items():
            yield edge._replace(of_mask=of_mask, to_mask=to_mask, forbidden_on=0, supported_on=cells)

    def excluded(self) -> dict[tuple[int, ...], int]:
        """Return the elements of a product by those of the other one that do not go with them, for each region."""
        excluded: list[dict[BuildKind | None, int]] = []
        for region in self.regions:
            there = self.to.at(region)
            excluded.append({kind: self.of.excluded(kind, there) for kind in self.of.at(region)})
        mask_by_key: dict[tuple[int, ...], int] = {}
        for number in range(len(self.of.elements)):
            kinds = [self.of.kind(number, region) for region in self.regions]
            key = tuple(by_kind[kind] for by_kind, kind in zip(excluded, kinds, strict=True))
            mask_by_key[key] = mask_by_key.get(key, 0) | 1 << number
        return mask_by_key


def _kept_apart(
    knowledge: Knowledge, product: ProductHead, built_with: BuiltWith, pair: _Pair, problems: list[DataProblem]
) -> Iterator[KnowledgeEdge]:
    """Yield what no build of a product goes with: builds for another device, everywhere first, then where else."""
    claim = Claim(
        id=f"{product.id}-kind", kind=Kind.CONSTRAINS, of=product.id, to=(built_with.product,), basis=built_with.basis,
        reason=built_with.reason, note=built_with.note, sources=built_with.sources,
    )  # fmt: skip
    wrong = [f"source {name} is not defined" for name in built_with.sources if (product.id, name) not in knowledge.sources]
    if claim.id in knowledge.claims:
        wrong.insert(0, f"the id {claim.id} is used by a claim")
    problems += (DataProblem(f"products/{product.id}.toml", None, f"built-with: {message}") for message in wrong)
    knowledge.claims[claim.id] = SourcedClaim(claim, product.id, knowledge.cited(product.id, built_with.sources))
    every = (1 << len(pair.to.elements)) - 1
    for excluded, of_mask in pair.excluded().items():
        always = every
        for mask in excluded:
            always &= mask
        cells_by_mask = {always: knowledge.grid.all}
        for region, mask in zip(pair.regions, excluded, strict=True):
            cells_by_mask[mask & ~always] = cells_by_mask.get(mask & ~always, 0) | region
        for mask, cells in cells_by_mask.items():  # no version is asked for, so the specifier is empty
            if mask:
                yield KnowledgeEdge(
                    claim.id, claim.kind, product.id, of_mask, built_with.product, every & ~mask, "", cells, 0, claim.basis
                )
