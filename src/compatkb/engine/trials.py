"""One question asked again and again, with some of its blockers in force: which of them exclude every stack."""

from collections.abc import Sequence
from functools import cached_property

from compatkb.engine.between import ALLOWED
from compatkb.engine.blockers import matters_of
from compatkb.engine.ignored import Blocker
from compatkb.engine.leaves import conflicting, demanded, leaf_rows, own_conflicts
from compatkb.engine.problem import Problem
from compatkb.engine.search import Search
from compatkb.engine.worlds import ALL_SAID, PLATFORM, SAID, WHEELS
from compatkb.records import Found

_MOST_EXPLANATIONS = 3


class Trials:
    """One question asked again and again, each time with some of its blockers in force and the rest ignored."""

    def __init__(self, problem: Problem, blockers: list[Blocker]) -> None:
        matters = matters_of(problem)
        self._problem, self._matters, self._kept, self._far = problem, matters, matters.kept, matters.far
        self._every = matters.ignored.also(blocker for blocker in blockers if blocker[0] == "offer")
        self._bringing = [blocker for blocker in matters.led[problem.route.provider] if problem.would_bring(blocker[2])]
        machine = ((product, domain) for product in self._kept if (domain := problem.domains[product]))
        self._is_plain = all(problem.reach(p, domain, ALL_SAID)[0] == problem.cells for p, domain in machine)
        self._blockers = blockers
        self._bits = {blocker: 1 << n for n, blocker in enumerate(blockers)}
        self._free: list[int] = []  # sets that exclude not every stack: none of their parts does
        self._excluding = [(1 << len(blockers)) - 1]  # the question has no answer, so all of them together do

    def is_hopeless(self) -> bool:
        """Return whether there would be no stack if all blockers were ignored."""
        return not self._problem.cells or (not self._is_plain and self.blocked(()))

    def excludes(self, blocker: Blocker) -> bool | None:
        """Return whether one blocker alone excludes every stack, None where that takes a trial.

        It does not where it leaves one build a platform, or one pair: nothing else is in their way. Else it does, unless
        there might be a stack without a product that nobody asked for.
        """
        problem, (kind, *about) = self._problem, blocker
        if not self._is_plain:
            return None
        if not self._far.isdisjoint(about):
            return False if about[0] in self._far or self._admits(*about) else None
        if kind == "offer":
            brought = any(led[2] == about[0] for led in self._bringing)
            free: bool | None = brought and self._brought.domains[about[0]] != 0
        else:
            free = self._leaves_something(kind, about)
        if free is None:
            return None
        if free:
            return False
        return True if all(product in problem.required for product in about if product not in PLATFORM) else None

    def _leaves_something(self, kind: str, about: list[str]) -> bool | None:
        """Return whether wheels or a claim alone leave the products any candidates; None where that is not looked up."""
        problem = self._problem
        domains = [problem.domains[product] for product in about if product not in PLATFORM]
        if not all(domains):
            return True  # whatever fits stands for what nobody offers
        if not all(map(problem.lists, about, domains)):
            return None
        if kind == "platform":
            return any(problem.reach(about[0], domains[0], ALL_SAID))
        if about[1] in SAID:
            return any(problem.reach(about[0], domains[0], WHEELS | ALL_SAID & ~SAID[about[1]]))
        table = problem.between(*about)
        if table is None or not table.is_small:
            return None
        return bool(table.image(domains[0], problem.frame.number, problem.cells, ALLOWED) & domains[1])

    def _admits(self, product: str, leaf: str) -> bool:
        """Return whether some candidate of a product demands no more of a leaf than one version of it meets."""
        problem = self._problem
        domain = problem.domains[product]
        if not problem.lists(product, domain):
            return True
        idx = domain.bit_length() - 1
        if not own_conflicts(problem, product, idx):
            return True
        rows = leaf_rows(problem, [(product, idx)]).get(leaf, [])
        return all(admitted for _, admitted, _ in demanded(rows))

    @cached_property
    def _brought(self) -> Problem:
        """The question with all ignored, so that what the provider would bring along can be brought."""
        products = frozenset(blocker[2] for blocker in self._bringing)
        return self._problem.ignoring(self._every, products, self._problem.variables, leafless=True)

    def blocked(self, active: Sequence[Blocker]) -> bool:
        """Return whether some blockers alone exclude every stack."""
        bits = sum([self._bits[blocker] for blocker in active])
        for free in self._free:
            if not bits & ~free:
                return False
        for known in self._excluding:
            if not known & ~bits:
                return True
        if (finder := self._problem.facts.finder) is not None:
            blocked, free = bool(finder.is_blocked(self._problem, self._every.blockers.difference(active))), bits
        else:
            trial = self._trial(frozenset(active))
            found = Search(trial, first_only=True).run()
            blocked, free = not found, bits | (self._harmless(trial, found[0], active) if found else 0)
        if blocked:
            self._excluding.append(bits)
        else:
            self._free.append(free)
        return blocked

    def irreducible(self) -> list[Blocker]:
        """Return blockers that exclude every stack, and no part of which does; earlier ones are kept in preference.

        It is the explanation that QuickXplain finds (Junker 2004): the last of the fewest first ones that exclude every
        stack is part of it, then the last of the fewest before it that do so together with that one, and so on. What
        explained a question before, about the same products, often explains this one.
        """
        before = self._matters.explanations
        is_known = any(self._bits.keys() >= set(blockers) and self.blocked(blockers) for blockers in before)
        chosen, end = 0, len(self._blockers)
        while end := self._fewest(chosen, end, is_known=is_known):
            chosen |= 1 << end - 1
            end -= 1
        found = self._named(chosen)
        self._matters.explanations = [found, *(blockers for blockers in before if blockers != found)][:_MOST_EXPLANATIONS]
        return found

    def _fewest(self, chosen: int, end: int, *, is_known: bool) -> int:
        """Return how many of the first blockers it takes beside chosen ones to exclude every stack; with `end` they do.

        Where an explanation `is_known`, its last part is mostly the one that is sought.
        """
        few, many = -1, end  # with `few` of them there are stacks, with `many` there are none
        while True:
            for free in self._free:
                if not chosen & ~free:
                    missing = ~(free | chosen)
                    few = max(few, (missing & -missing).bit_length() - 1)
            for known in self._excluding:
                if not known & ~(chosen | (1 << many) - 1):
                    many = (known & ~chosen).bit_length()
            if many - few < 2:
                return many
            probe = many - 1 if is_known else (few + many) // 2
            is_known = False
            self.blocked(self._named(chosen | (1 << probe) - 1))

    def _named(self, bits: int) -> list[Blocker]:
        return [blocker for n, blocker in enumerate(self._blockers) if bits >> n & 1]

    def _harmless(self, trial: Problem, found: Found, active: Sequence[Blocker]) -> int:
        """Return the claims about leaves that do not exclude the stack that a trial found either."""
        if len(trial.variables) < len(self._problem.variables) or self._every.leaves.issubset(active):
            return 0  # what else is in the stack was not looked for; or there is nothing to learn
        present = [(product, idx) for product, idx in found.chosen if idx >= 0]
        bad = conflicting(self._problem, present, found.cells)
        return sum([self._bits[blocker] for blocker in self._every.leaves if bad.isdisjoint(blocker)])

    def _trial(self, active: frozenset[Blocker]) -> Problem:
        """Return the question with some blockers in force.

        It is about the variables that these can matter to; of any other one, every candidate will do, or its absence.
        Whether a product that nobody asked for has to be there depends on all others, and so does what waives a pin.
        """
        problem, about = self._problem, {product for _, *products in active for product in products}
        leafless = about.isdisjoint(self._far)
        variables = problem.variables
        if leafless and about.isdisjoint(problem.optional):
            about.update(self._kept)
            variables = tuple([product for product in variables if product in about])
        brought = frozenset([blocker[2] for blocker in self._bringing if blocker not in active])
        return problem.ignoring(self._every.without(active), brought, variables, leafless=leafless)


def alone(groups: list[list[Blocker]], trials: Trials) -> Blocker | None:
    """Return the first blocker that excludes every stack by itself; what can be told without a trial spares one."""
    for group in groups:
        unsure, sure = [], None
        for blocker in group:
            excludes = trials.excludes(blocker)
            if excludes:
                sure = blocker
                break
            if excludes is None:
                unsure.append(blocker)
        found = _first_of(unsure, trials) or sure
        if found:
            return found
    return None


def _first_of(blockers: list[Blocker], trials: Trials) -> Blocker | None:
    """Return the first of some blockers that excludes every stack by itself: one of a set that excludes none does not."""
    if not blockers or not trials.blocked(blockers):
        return None
    if len(blockers) == 1:
        return blockers[0]
    half = len(blockers) // 2
    return _first_of(blockers[:half], trials) or _first_of(blockers[half:], trials)
