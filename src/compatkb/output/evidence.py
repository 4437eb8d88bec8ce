"""What stands behind a stack: claims, sources, disputes, open points, images; each is looked up when somebody asks."""

from collections.abc import Callable, Iterable
from datetime import date
from functools import cached_property
from typing import TYPE_CHECKING

from compatkb.core.vocabulary import Certainty, Role
from compatkb.engine.stacks import Stack
from compatkb.output.disputes import DisputeFinder
from compatkb.output.labels import DEVICE, HARDWARE, SYSTEM, value_of
from compatkb.output.open_points import OpenPoints
from compatkb.output.things import BuildView, ClaimView, FirstImage, Link, listed, shortened, systems_listed
from compatkb.store.reader import Snapshot
from compatkb.store.records import Element, Sources

if TYPE_CHECKING:
    from compatkb.output.json_types import DisputeJson, StackImageJson

_FALLBACK = ("inferred", "unknown")
_BOTH = 2
_FEW = 2
"""So many systems are named."""


class Evidence(OpenPoints):
    """What is known of one stack beside its builds, on a day."""

    def __init__(self, facts: Snapshot, stack: Stack, as_of: int, build: Callable[[Element], BuildView]) -> None:
        super().__init__(facts, stack)
        self._as_of, self._build_view = as_of, build

    @cached_property
    def links(self) -> tuple[Link, ...]:
        """What vouches for each pair of members."""
        return tuple(Link(link.one, link.other, link.level, claims_of(self.facts, link.claims)) for link in self.stack.links)

    @cached_property
    def support(self) -> str:
        """The weakest basis of the stack: unknown, inferred, stated or observed."""
        if self.stack.level != Certainty.CERTAIN:
            return _FALLBACK[self.stack.level == Certainty.UNKNOWN]
        for link in self.links:
            if link.claims and "observed" not in {claim.basis for claim in link.claims}:
                return "stated"
        return "observed" if all("default" in e.channels for e in self.stack.packages if e.channels) else "stated"

    @cached_property
    def basis(self) -> str:
        """Who documents the stack for what was asked, or what its packages require of each other; one sentence."""
        facts, stack = self.facts, self.stack
        asked = {e.product: e for e in stack.packages if facts.products[e.product].role == Role.PACKAGE}
        asked = {product: e for product, e in asked.items() if product in stack.requested} or asked
        parts = []
        for link in stack.links:
            own = [asked[product] for product in (link.one, link.other) if product in asked]
            if HARDWARE in (link.one, link.other) and own and link.level == Certainty.CERTAIN:
                parts.append(f"{self.build(own[0])} {self._meant(link.claims)} {self._graphics()}")
            elif len(own) == _BOTH:
                parts += [each for each in map(self._said, claims_of(facts, link.claims)) if each][:1]
        return "; ".join(dict.fromkeys(parts)) or "its wheels are published, or documented by the vendor, for these systems"

    def _meant(self, claims: Iterable[str]) -> str:
        """Return that a build is documented for hardware, or for a part that all of it has: no table names that hardware."""
        if any(claim.to != (HARDWARE,) for claim in claims_of(self.facts, claims)):
            return "is documented for"
        return f"is for the {self.value(DEVICE, self.stack.device)} of"

    def _graphics(self) -> str:
        known = self.values(HARDWARE, self.stack.known.get(HARDWARE, ()))
        few = shortened(name.removeprefix("Intel ") for name in known)
        systems = self.values(SYSTEM, self.stack.os)
        return f"{few} on {systems_listed(systems)}" if len(systems) <= _FEW else few

    def _said(self, claim: ClaimView) -> str:
        """Return that one build requires, or was documented or run with, another one; empty for what only excludes."""
        of, to = self.term(claim.of), listed(list(map(self.term, claim.to)), "or")
        verb = {"needs": "requires", "verified": "is documented with" if claim.basis == "stated" else "was seen with"}
        return f"{of} {verb[claim.kind]} {to}" if claim.kind in verb and claim.basis != "inferred" else ""

    @property
    def unsettled(self) -> list[str]:
        """The open points as sentences."""
        return [point.sentence for point in self.open_points]

    @cached_property
    def strangers(self) -> list[str]:
        """Of which packages, and of which parts of the machine, nobody says that they go together."""
        return [*self._strangers(), *self._unnamed_parts()]

    @cached_property
    def disputes(self) -> "list[DisputeJson]":
        """The disputes that the stack rests on, open ones first."""
        return DisputeFinder(self.facts).of_stack(self.stack, self._as_of)

    @cached_property
    def sources(self) -> Sources:
        """The sources that speak for the stack: its builds, then what links them."""
        asked, sources = set(self.stack.requested), dict[tuple[str, str | None], None]()
        for element in self.stack.packages:
            if element.product in asked:
                sources.update(dict.fromkeys(self.facts.element_sources(element)))
        for link in self.stack.links:
            if link.one in asked or link.other in asked:
                for name in link.claims:
                    sources.update(dict.fromkeys(self.facts.citations(name)))
        return tuple(sources)

    @cached_property
    def brought(self) -> tuple[BuildView, ...]:
        """What the metadata of its builds bring along, whether or not anybody vouches for it there."""
        brought = self.facts.automatic_of(self.stack.packages, self.stack.cells(self.facts))
        return tuple(map(self._build_view, brought))

    @cached_property
    def brought_anywhere(self) -> tuple[BuildView, ...]:
        """The same on any platform."""
        return tuple(map(self._build_view, self.facts.automatic_of(self.stack.packages, self.facts.all_platforms)))

    @cached_property
    def for_graphics(self) -> bool:
        """Whether its device is a GPU, with a driver of its own."""
        return self.facts.needs_graphics(self.stack.device)

    @cached_property
    def bases(self) -> tuple[FirstImage, ...]:
        """The images that a Dockerfile can begin with."""
        return tuple(
            FirstImage(
                r["image"], value_of(self.facts, SYSTEM, r["os"]), tuple(r["python"]), tuple(r["setup"]), tuple(r["driver"])
            )
            for r in self.facts.guide_records("base_image")
        )

    @cached_property
    def gone(self) -> tuple[tuple[str, str], ...]:
        """The packages that will have no releases any more and that the stack does without, and why."""
        held, products = {e.product for e in self.stack.packages}, self.facts.products
        rows = []
        for product, details in self.facts.every_product_details().items():
            other, distribution = details.replaced_by, products[product].distribution
            if details.eol and distribution and other and product not in held:
                where = f" on {self.value(DEVICE, other.device)}" if other.device else ""
                why = f"ended {details.eol}; instead {self.label(other.product)} {other.specifier}{where}"
                rows.append((distribution, why))
        return tuple(rows)

    @cached_property
    def images(self) -> "list[StackImageJson]":
        """The image tags that declare every package that the stack is about and nothing that its route leaves out."""
        facts, stack = self.facts, self.stack
        wanted = {e.product: e for e in stack.packages if e.product in stack.requested}
        wanted = {p: e for p, e in wanted.items() if facts.products[p].role == Role.PACKAGE}
        holding: dict[int, dict[str, str]] = {}
        for product, element in wanted.items():
            series = next(mask for mask in facts.series(product) if mask >> element.idx & 1)
            work = (element.release, element.maker, element.devices)  # of one maker for the same devices: 2.3.0 and 2.3.0+cpu
            same = sum(1 << e.idx for e in facts.elements(product).of(series) if (e.release, e.maker, e.devices) == work)
            for part in facts.images_with(product):
                if part.mask & same:
                    holding.setdefault(part.image, {})[product] = part.basis
        apart = next(route.without for route in facts.routes if route.id == stack.route) if holding else ()
        others = {part.image for product in apart for part in facts.images_with(product)}
        families = {family for system in stack.os for family in (system, *facts.wider.get(system, ()))}
        tags: list[StackImageJson] = []
        for number, bases in sorted(holding.items()):
            if len(bases) < len(wanted) or number in others:
                continue
            tag = facts.image(number)
            runs = [run for run in tag.runs if run[0] <= self._as_of]
            if tag.device != stack.device or not runs or not self._runs_on(number, families):
                continue
            tags.append(
                {
                    "image": tag.reference,
                    "basis": "inferred" if "inferred" in bases.values() else "stated",
                    "first_listed": date.fromordinal(runs[0][0]).isoformat(),
                    "listed": any(run[1] >= self._as_of for run in runs),
                    "disputes": DisputeFinder(facts).of_name(tag.reference),
                }
            )
        return tags

    def _runs_on(self, number: int, families: set[str]) -> bool:
        """Return whether an image holds a system of one of these families, or does not say which one it holds."""
        parts = [part for part in self.facts.contents_of(number) if part.product == SYSTEM]
        held = [e.version for part in parts for e in self.facts.elements(SYSTEM).of(part.mask)]
        return not held or any(families & {system, *self.facts.wider.get(system, ())} for system in held)


def claims_of(facts: Snapshot, names: Iterable[str]) -> tuple[ClaimView, ...]:
    """Return claims by their ids."""
    disputes = DisputeFinder(facts)
    return tuple(
        ClaimView(
            r.id, r.kind, r.of_term, r.to_terms, r.condition, r.basis, r.reason, r.note, facts.citations(r.id),
            disputes.of_claims((r.id,)),
        )
        for r in (facts.claim(name) for name in names)
    )  # fmt: skip
