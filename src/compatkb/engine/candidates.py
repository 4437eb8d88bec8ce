"""The elements of products that are candidates for a device on a day, and properties of each: yanked, ended, age."""

from collections.abc import Iterable
from functools import reduce
from operator import or_

from compatkb.core.memo import memoized
from compatkb.core.record import NamedTuple
from compatkb.core.vocabulary import Role
from compatkb.store.reader import Snapshot
from compatkb.store.records import PREVIEWS, UNBUILT, Advisory, ElementSet, PlatformSet

NEUTRAL = (0,)
"""The glibc of wheels that hold nothing compiled."""
Reason = tuple[str, ElementSet]
"""A short code for why elements cannot be in a stack, and these elements."""


class Cost(NamedTuple):
    """What candidates add to the quality of a stack, one by itself or several together."""

    flawed: PlatformSet = 0  # platforms on which one has a grave issue
    outdated: int = 0  # those that nobody asked for by name and that have ended, were yanked or are insecure
    other_kind: PlatformSet = 0  # platforms on which one was compiled for another device
    presumed: tuple[PlatformSet, ...] = ()  # for each that is: platforms where it was neither seen nor stated to be published
    age: int = 0  # series of the product that brings the device which are newer
    assumed: PlatformSet = 0  # platforms on which the product that brings the device is not sure by itself
    unsure: tuple[PlatformSet, ...] = ()  # for each companion that is named, those on which it is not sure beside that product
    warnings: int = 0

    def and_that(self, other: "Cost") -> "Cost":
        """Return the cost of both."""
        return Cost(
            self.flawed | other.flawed,
            self.outdated + other.outdated,
            self.other_kind | other.other_kind,
            self.presumed + other.presumed,
            self.age + other.age,
            self.assumed | other.assumed,
            self.unsure + other.unsure,
            self.warnings + other.warnings,
        )


def union(reasons: Iterable[Reason]) -> ElementSet:
    """Return the elements to which any of some reasons applies."""
    return reduce(or_, (elements for _, elements in reasons), 0)


class Candidates:
    """The elements of products, for a device; days are ordinals."""

    def __init__(
        self,
        facts: Snapshot,
        device: str,
        as_of: int,
        today: int,
        uploaded_until: int | None = None,
        channels: frozenset[str] | None = None,
    ) -> None:
        """`as_of` decides what exists, `today` what has ended, `uploaded_until` and `channels` what installers take."""
        self.facts, self.device, self.as_of, self.today = facts, device, as_of, today
        self._uploaded_until, self._channels = uploaded_until, channels

    def _is_unbuilt(self, product: str) -> bool:
        return self.facts.products[product].role in UNBUILT

    @memoized
    def refused(self, product: str) -> tuple[Reason, ...]:
        """Return the elements that cannot be installed for this device or on this day, by why; first what counts most."""
        role, until, elements = self.facts.products[product].role, self._uploaded_until, self.facts.elements(product)
        device, channels, is_dimension = self.device, self._channels, role == Role.DIMENSION
        of_a_device = role not in UNBUILT or is_dimension
        others = elements.where(lambda names: device not in names and (not is_dimension or names), "devices")
        absent = elements.where(lambda installable: not installable, "installable")
        far = elements.where(lambda names: names and channels.isdisjoint(names), "channels") if channels is not None else 0
        last = until if until is not None and role not in (Role.DIMENSION, Role.FEATURE) else None

        def staged(stage: str) -> ElementSet:
            return elements.where(lambda own: own == stage, "stage")

        return (
            ("device", others if of_a_device else 0),
            ("source-only", absent and absent & staged("source-only")),
            ("tag-only", absent and absent & staged("tag-only")),
            ("no-build", absent),
            ("not-yet", elements.where(lambda since: since is not None and since > self.as_of, "since")),
            # or it may be: the day is not known
            ("too-new", elements.where(lambda by, since: (by or since or 0) > last, "by", "since") if last is not None else 0),
            ("from-source", far and far & staged("from-source")),
            ("elsewhere", far),
        )

    @memoized
    def offers(self, product: str) -> ElementSet:
        """Return the elements that can be installed for this device and were out on this day."""
        return (1 << self.facts.sizes[product]) - 1 & ~union(self.refused(product))

    @memoized
    def yanked(self, product: str) -> ElementSet:
        """Return the elements that were yanked by this day."""
        return self.facts.elements(product).where(lambda by: by is not None and by <= self.as_of, "yank_by")

    @memoized
    def _maybe_yanked(self, product: str) -> ElementSet:
        elements, as_of = self.facts.elements(product), self.as_of
        return elements.where(lambda after, by: by is not None and (after or 0) <= as_of, "yank_after", "yank_by")

    @memoized
    def _ended(self, product: str) -> ElementSet:
        return self.facts.elements(product).where(lambda eol: eol is not None and eol < self.today, "eol")

    @memoized
    def foreign(self, product: str) -> ElementSet:
        """Return the builds for devices that no route serves: they are there for those who pin them."""
        return self.facts.elements(product).where(bool, "foreign")

    @memoized
    def refusing(self, product: str, patch: str) -> ElementSet:
        """Return the elements whose Requires-Python excludes a patch release of Python."""
        from compatkb.core.versions import admits_python  # most questions name no patch release

        return self.facts.elements(product).where(lambda spec: spec and not admits_python(spec, patch), "requires_python")

    @memoized
    def presumed(self, product: str, idx: int) -> PlatformSet:
        """Return the platforms of those families and architectures for which no wheel of a build was seen or stated.

        A wheel that holds nothing compiled is for every platform, wherever it was seen.
        """
        if self._is_unbuilt(product):
            return 0
        element = self.facts.elements(product)[idx]
        if not element.published:
            return self.facts.all_platforms
        seen = [cells for cells in self.facts.blocks if cells & element.certain]
        left = self.facts.all_platforms & ~reduce(or_, seen) if seen else 0
        for floor in self.facts.floors(element) if left & element.inferred else ():
            left &= ~floor.inferred if floor.glibc == NEUTRAL else left
        return left

    @memoized
    def outdated(self, product: str) -> ElementSet:
        """Return the elements that have ended, were yanked or are known to be insecure."""
        if self._is_unbuilt(product):
            return 0
        elements = self._ended(product) | self._maybe_yanked(product)
        for advisory in self._advice(product):
            elements |= advisory.mask if advisory.kind in ("security", "vulnerability") and not advisory.to else 0
        return elements

    def cost(self, product: str, idx: int, *, is_named: bool, is_leading: bool) -> Cost:
        """Return what an element costs a stack; what is `is_named` in the request may be outdated, what leads has an age.

        Grave issues are left to `Context.flawed`, which knows the hardware; what is assumed, and how presumed a companion is
        beside what brings the device, to the search.
        """
        presumed = self.presumed(product, idx) if product not in self.facts.companions else 0
        return Cost(
            outdated=int(not is_named and bool(self.outdated(product) >> idx & 1)),
            # where the indexes are given, those for the device itself are out of reach
            other_kind=0 if self._channels is not None else self.facts.elements(product)[idx].foreign_cells,
            presumed=(presumed,) if presumed else (),
            age=self._age(product, idx) if is_leading else 0,
            warnings=self.warnings(product, idx),
        )

    @memoized
    def _age(self, product: str, idx: int) -> int:
        """Return how many series of a product are newer than that of an element."""
        groups = self.facts.series(product)
        return len(groups) - 1 - next(n for n, mask in enumerate(groups) if mask >> idx & 1)

    @memoized
    def only_beside(self, product: str) -> tuple[tuple[frozenset[str], ElementSet], ...]:
        """Return the elements that are of use only beside other products, by those products."""
        by_products = self.facts.elements(product).groups("only_with")
        return tuple((others, elements) for (others,), elements in by_products.items() if others)

    @memoized
    def warnings(self, product: str, idx: int) -> int:
        """Return how many warnings an element carries by itself."""
        return sum(mask >> idx & 1 for mask in self._warned(product)) if idx >= 0 else 0

    @memoized
    def faults(self, product: str, idx: int) -> int:
        """Return how many warnings an element carries that are no published advisory: these tell of use, not of the build."""
        published = (a.mask for a in self._advice(product) if a.kind == "vulnerability" and not a.to)
        return self.warnings(product, idx) - sum(mask >> idx & 1 for mask in published) if idx >= 0 else 0

    @memoized
    def _warned(self, product: str) -> tuple[ElementSet, ...]:
        """Return the elements that carry a warning, for each kind of warning; what others need ends with these."""
        role = self.facts.products[product].role
        if role == Role.DIMENSION:
            return ()
        return (
            self._maybe_yanked(product),
            0 if role == Role.LEAF else self._ended(product),
            self.facts.elements(product).where(PREVIEWS.__contains__, "stage"),
            *(advisory.mask for advisory in self._advice(product) if not advisory.to and advisory.kind != "known-issue"),
        )

    def advisories(self, product: str, idx: int) -> list[Advisory]:
        """Return the advisories on an element, those about its neighbours too."""
        return [advisory for advisory in self._advice(product) if advisory.mask >> idx & 1]

    @memoized
    def _advice(self, product: str) -> tuple[Advisory, ...]:
        """Return the advisories on some elements of a product that concern this device and day."""
        concerning = (a for a in self.facts.advisories_of(product) if a.since <= self.as_of and a.kind != "reported")
        return tuple(a for a in concerning if not a.devices or self.device in a.devices)
