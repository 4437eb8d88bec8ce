"""The search: depth first over the products of a question, newest candidates first, keeping the best stack of each platform.

A partial assignment has the platforms on which it still stands, by how well it is supported there (`Support`), and a `Cost`.
Adding a member only ever takes platforms away or lowers their support, and only ever adds to the cost; so a platform on which
a stack at least as good was found already is dropped at once.
"""

from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from functools import reduce
from itertools import chain
from operator import or_

from compatkb.core.record import NamedTuple
from compatkb.core.vocabulary import Certainty, Role
from compatkb.engine.availability import GLIBC, Support
from compatkb.engine.candidates import Cost
from compatkb.engine.narrowing import is_listed, narrowed
from compatkb.engine.preference import FLAWLESS, Quality, preference, quality_of
from compatkb.engine.problem import ABSENT, PLACEHOLDER, Member, Problem
from compatkb.engine.runtime_pins import inferred_pins, runtime_conflicts
from compatkb.store.records import EVERY, ElementSet, PlatformSet, newest_first


class Found(NamedTuple):
    """A consistent assignment, and the platforms on which it is the best one of its problem."""

    problem: Problem
    chosen: tuple[Member, ...]  # in rank order
    quality: Quality
    platforms: PlatformSet


class Aim(Enum):
    """What a search is to find."""

    FIRST = 1  # any stack: whether there is one
    BEST = 2  # what is best, on the platforms where it is
    EVERY = 3  # what is best on each platform


class Search:
    """One run over one problem."""

    def __init__(
        self, problem: Problem, aim: Aim, worst: Certainty = Certainty.UNKNOWN, bar: tuple[int, ...] | None = None
    ) -> None:
        """Look for stacks whose support is no worse than `worst`, and whose preference is not behind `bar`.

        With UNKNOWN every stack counts as one that nothing supports: it is only asked whether nothing excludes it.
        """
        self.problem, self.aim, self.worst, self._bar = problem, aim, worst, bar
        self._found: list[tuple[Quality, int, tuple[Member, ...], PlatformSet]] = []
        self._covered: dict[Quality, PlatformSet] = {}

    def run(self) -> tuple[Found, ...]:
        """Return what was found, best first; each platform belongs to the best stack for it. Raises GaveUpError."""
        problem = self.problem
        if self._bar and preference(problem, FLAWLESS) > self._bar:
            return ()
        domains, everywhere = narrowed(problem, self.worst)
        if not domains:
            return ()
        self._domains = domains
        self._order = self._ordered()
        self._optional = frozenset(problem.optional)
        depths = {product: depth for depth, product in enumerate(self._order)}
        self._complete_at: list[list[str]] = [[] for _ in self._order]  # whose witnesses are all chosen at this depth
        for product in self._order:
            if product not in (problem.route.provider, GLIBC):
                last = max([depths[product], *(depths[other] for other in self._witnesses(product))])
                self._complete_at[last].append(product)
        self._settled_at: list[list[str]] = [[] for _ in self._order]  # whose need is known at this depth
        for product in self._optional:
            needing = [other for other in self._order if product in problem.context.needs(other)]
            self._settled_at[max(depths[other] for other in (product, *needing))].append(product)
        self._earlier = {
            product: [(other, table) for other, table in problem.partners[product].items() if depths[other] < depths[product]]
            for product in self._order
        }
        support = Support(everywhere, 0, 0) if self.worst < Certainty.UNKNOWN else Support(0, 0, everywhere)
        self._extend(0, {}, self._left_open(support, Cost()), Cost())
        return self._assigned()

    def _witnesses(self, product: str) -> list[str]:
        """Return the products that can support the candidates of one, in a stack that holds both.

        How well the provider does on a runtime of the machine is judged whether or not the two speak of each other.
        """
        problem, roles = self.problem, self.problem.facts.products
        others = [one for one in problem.partners[product] if roles[one].machine or problem.is_witness(one, product)]
        return [*others, problem.route.provider] if roles[product].machine else others

    def _ordered(self) -> tuple[str, ...]:
        """Return the products in rank order, so that ties go to the newest; those without a choice first, which rule out most.

        Where any stack will do, those with the fewest candidates come first, and optional ones after those that need them.
        """
        roles, domains = self.problem.facts.products, self._domains
        led_to = {product: place for place, product in enumerate(self.problem.optional, 1)}

        def place(product: str) -> tuple[bool, int, int]:
            size = domains[product].bit_count()
            if self.aim is Aim.FIRST:
                return roles[product].role == Role.FEATURE, led_to.get(product, 0), size
            return False, product in led_to or size > 1, 0

        return tuple(sorted(self.problem.variables, key=place))

    def _candidates(self, product: str, chosen: dict[str, int], platforms: PlatformSet) -> Iterable[int]:
        """Return the candidates that those chosen before and some platforms admit, newest first; last that it stays away."""
        if product in self._optional and not self._may_be_needed(product, chosen, platforms):
            return [ABSENT]
        if product in self.problem.placeholders:
            return [PLACEHOLDER, ABSENT] if product in self._optional else [PLACEHOLDER]
        domain = self._admitted(product, chosen, platforms)
        if domain & (domain - 1) and is_listed(self.problem, product, domain):
            domain, _ = self.problem.placed(product, domain, platforms)
        return chain(newest_first(domain), (ABSENT,) if product in self._optional else ())

    def _admitted(self, product: str, chosen: dict[str, int], platforms: PlatformSet) -> ElementSet:
        """Return the candidates of a product that no member chosen so far excludes on all of some platforms."""
        domain, known_only = self._domains[product], self.worst < Certainty.UNKNOWN
        for other in self.problem.partners[product]:
            if domain and chosen.get(other, ABSENT) >= 0:
                domain &= self.problem.partners[other][product].allowed(chosen[other], platforms, known_only=known_only)
        return domain

    def _may_be_needed(self, product: str, chosen: dict[str, int], platforms: PlatformSet) -> bool:
        """Return whether a product chosen before needs an optional one, or one that is still to be chosen may."""
        context = self.problem.context
        needing = [other for other in self._order if other != product and product in context.needs(other)]
        return any(
            context.needed(other, chosen[other], product)
            if other in chosen
            else context.needing(other, product, 0) & self._admitted(other, chosen, platforms)
            for other in needing
        )

    def _needed(self, product: str, chosen: dict[str, int]) -> PlatformSet:
        """Return where one of those chosen needs an optional product."""
        needed = self.problem.context.needed
        return reduce(or_, (needed(other, idx, product) for other, idx in chosen.items() if idx >= 0 and other != product), 0)

    def _extend(self, depth: int, chosen: dict[str, int], support: Support, cost: Cost) -> None:
        """Try every candidate of the next product beside those chosen so far, newest first, and what follows from it.

        `support` and `cost` are those of the members chosen. Each step only takes platforms away and only adds to the cost, so
        a branch ends where `_is_beaten` says so: before a candidate is looked at closely, when the others have been heard, at
        the end.
        """
        if depth == len(self._order):
            self._finish(chosen, support, cost)
            return
        product, problem = self._order[depth], self.problem
        totals: dict[Cost, Cost | None] = {}  # by the cost of a candidate; None where that is beaten
        for idx in self._candidates(product, chosen, support.anywhere):
            problem.budget.spend(1)
            is_weighed = self.aim is not Aim.FIRST and idx >= 0
            dearer = self._dearer(totals, problem.cost(product, idx) if is_weighed else Cost(), cost, support)
            if dearer is not None and is_weighed:  # what it costs beside others only adds to what it costs by itself
                dearer = self._dearer(totals, self._cost(product, idx, chosen), cost, support)
            if dearer is None:
                continue
            extended = {**chosen, product: idx}
            if idx == ABSENT:
                left = support.limited_to(~self.problem.missing(product, list(chosen.items())))
            else:
                left = self._beside(product, idx, chosen, support)
                for absent in [other for other in self._optional if chosen.get(other) == ABSENT]:
                    left = left.limited_to(~self.problem.missing(absent, [(product, idx)]))
            if self._is_beaten(left, dearer):
                continue
            for due in self._complete_at[depth]:
                left = self._vouched(due, extended, left)
            for due in self._settled_at[depth]:
                if extended[due] != ABSENT:
                    left = left.limited_to(self._needed(due, extended))
            left = self._left_open(left, dearer)
            if left.anywhere and idx >= 0:
                left = left.limited_to(~runtime_conflicts(problem, tuple(extended.items()), firm_only=True))
            if left.anywhere and not self._lacks_any(depth, extended, left.anywhere):
                before = len(self._found)
                self._extend(depth + 1, extended, left, dearer)
                if len(self._found) > before:
                    if self.aim is Aim.FIRST or self._is_beaten(support, cost):
                        return
                    totals.clear()

    def _dearer(self, totals: dict[Cost, Cost | None], own: Cost, cost: Cost, support: Support) -> Cost | None:
        """Return the cost of some members and a candidate, None where that is beaten; `totals` keeps it."""
        if own not in totals:
            total = cost.and_that(own)
            totals[own] = None if self._is_beaten(support, total) else total
        return totals[own]

    def _cost(self, product: str, idx: int, chosen: Mapping[str, int]) -> Cost:
        """Return what a candidate costs a stack beside those chosen before.

        What brings the device counts by itself, beside the hardware alone, and its companions beside it: other words of a
        question lower what is known of the whole, which decides nothing among those.
        """
        problem, provider = self.problem, self.problem.route.provider
        every, cost = problem.facts.all_platforms, problem.cost(product, idx)
        if product == provider:
            cost = cost._replace(assumed=every & ~self._sure(idx))
        lead = idx if product == provider else chosen.get(provider, ABSENT)
        for companion in problem.facts.companions:
            number = idx if companion == product else chosen.get(companion, ABSENT)
            if product in (companion, provider) and min(number, lead) >= 0:
                presumed, unsure = self._doubts(companion, number, lead)
                cost = cost._replace(presumed=cost.presumed + presumed, unsure=cost.unsure + unsure)
        return cost

    def _doubts(self, companion: str, number: int, lead: int) -> tuple[tuple[PlatformSet, ...], tuple[PlatformSet, ...]]:
        """Return what a companion that is named adds to what is presumed and unsure: it is to be the one that comes unnamed.

        That of a presumed release may be presumed; what is made for the release counts twice as much as what is certain.
        """
        problem, provider = self.problem, self.problem.route.provider
        every, candidates = problem.facts.all_platforms, problem.context.candidates
        is_listed = lead < problem.facts.sizes[provider]
        made = problem.made_for(companion, provider, lead) if is_listed else 0
        sure = problem.support(companion, number).certain & problem.relation(companion, number, provider, lead).certain
        presumed = candidates.presumed(companion, number) if number < problem.facts.sizes[companion] else 0
        presumed &= ~candidates.presumed(provider, lead) if is_listed else EVERY
        unsure = (every & ~sure, *(() if made >> number & 1 else (every, every)))
        return (presumed,) if presumed else (), tuple(filter(None, unsure))

    def _sure(self, idx: int) -> PlatformSet:
        """Return the platforms on which a candidate for what brings the device is sure beside the hardware alone."""
        problem, lead = self.problem, (self.problem.route.provider, idx)
        sure = problem.support(*lead).certain & ~inferred_pins(problem, (lead,))
        if "hardware" in problem.pins:
            gpus = problem.facts.elements("hardware").of(self._domains["hardware"])
            sure &= reduce(or_, (problem.vouched("hardware", gpu.idx, [lead])[0] for gpu in gpus), 0)
        return sure

    def _lacks_any(self, depth: int, chosen: dict[str, int], platforms: PlatformSet) -> bool:
        """Return whether a product that has to be there, and is still to be chosen, has no candidate beside those chosen."""
        left = (product for product in self._order[depth + 1 :] if product not in self.problem.placeholders)
        return any(
            product not in self._optional or not platforms & ~self._needed(product, chosen)
            for product in left
            if not self._admitted(product, chosen, platforms)
        )

    def _is_beaten(self, support: Support, cost: Cost) -> bool:
        """Return whether nothing that can become of members with this support and cost is better than what was found."""
        certain, inferred, unknown = support
        if not self._covered and not self._bar:
            return not certain | inferred | unknown
        level = Certainty.CERTAIN if certain else Certainty.INFERRED if inferred else Certainty.UNKNOWN
        platforms = certain | inferred | unknown
        return not self._uncovered(quality_of(level, cost, platforms), platforms)

    def _uncovered(self, quality: Quality, platforms: PlatformSet) -> PlatformSet:
        """Return those of some platforms on which nothing was found that is at least as good."""
        if self._bar and preference(self.problem, quality) > self._bar:
            return 0
        for known, covered in self._covered.items():
            if known <= quality:
                platforms &= 0 if self.aim is Aim.BEST and known < quality else ~covered
        return platforms

    def _beside(self, product: str, idx: int, chosen: dict[str, int], support: Support) -> Support:
        """Return where a member stands beside those chosen before."""
        own = self.problem.support(product, idx)
        certain = support.certain & own.certain
        inferred = (support.certain | support.inferred) & (own.certain | own.inferred) & ~certain
        unknown = support.anywhere & own.anywhere & ~certain & ~inferred
        for other, table in self._earlier[product] if idx >= 0 else ():
            number = chosen[other]
            if number < 0:
                continue
            relation = table.relation(idx, number) or self.problem.relation(product, idx, other, number)
            unknown = (unknown | ((certain | inferred) & relation.unknown)) & ~relation.denied
            usable = ~relation.denied & ~relation.unknown
            inferred = (inferred | (certain & relation.doubtful)) & usable
            certain &= usable & ~relation.doubtful
            if not certain | inferred | unknown:
                break
        return Support(certain, inferred, unknown)

    def _vouched(self, product: str, chosen: dict[str, int], support: Support) -> Support:
        """Lower the support of a stack to that of one of its members by the others."""
        if chosen[product] < 0 or not support.certain | support.inferred:
            return support
        present = [(other, number) for other, number in chosen.items() if number != ABSENT]
        return support.vouched(*self.problem.vouched(product, chosen[product], present))

    def _parts(self, support: Support, cost: Cost) -> Iterator[tuple[Quality, PlatformSet]]:
        """Yield platforms by how good a stack is there; those that are not looked for are left out."""
        for level, platforms in enumerate(support[: self.worst + 1]):
            for part in _alike(platforms, cost):
                yield quality_of(level, cost, part), part

    def _left_open(self, support: Support, cost: Cost) -> Support:
        """Return the support on the platforms on which no stack at least as good was found yet."""
        if not self._covered and not self._bar:
            return Support(*(platforms if level <= self.worst else 0 for level, platforms in enumerate(support)))
        left = [0, 0, 0]
        for quality, platforms in self._parts(support, cost):
            left[quality.level] |= self._uncovered(quality, platforms)
        return Support(*left)

    def _finish(self, chosen: dict[str, int], support: Support, cost: Cost) -> None:
        problem = self.problem
        present = tuple([(product, chosen[product]) for product in problem.variables if chosen[product] != ABSENT])
        conflicting, doubtful = runtime_conflicts(problem, present), inferred_pins(problem, present)
        certain, inferred, unknown = support.limited_to(problem.complete(present) & ~conflicting)
        support = Support(certain & ~doubtful, inferred | (certain & doubtful), unknown)
        for quality, platforms in self._parts(self._left_open(support, cost), cost):
            self._covered[quality] = self._covered.get(quality, 0) | platforms
            self._found.append((quality, len(self._found), present, platforms))

    def _assigned(self) -> tuple[Found, ...]:
        """Give every platform to the best of what was found for it."""
        taken, assignments, problem = 0, [], self.problem
        for quality, _, chosen, platforms in sorted(self._found):
            left = platforms & ~taken
            taken |= platforms
            if left:
                assignments.append(Found(problem, chosen, quality, left))
        return tuple(assignments)


def _alike(platforms: PlatformSet, cost: Cost) -> list[PlatformSet]:
    """Return some platforms cut into parts on each of which the cost is the same."""
    parts = [platforms] if platforms else []
    for where in (cost.flawed, cost.other_kind, cost.assumed, *cost.presumed, *cost.unsure):
        if where:
            parts = [part for whole in parts for part in (whole & ~where, whole & where) if part]
    return parts
