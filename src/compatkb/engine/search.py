"""The search: which builds go together, on which platforms, and which of them are best there.

Depth first over the products in rank order, newest first; platforms are bits that shrink on the way down. A branch ends
where every platform that it could still serve already has an answer that is at least as good.
"""

from collections import deque

from compatkb.engine.between import ALLOWED, KNOWN, VOUCHED
from compatkb.engine.budget import gave_up
from compatkb.engine.leaves import leaf_conflicts, own_conflicts, own_levels
from compatkb.engine.narrow import narrowed
from compatkb.engine.needed import closed, may_be_needed, missed
from compatkb.engine.problem import ABSENT, JOKER, Problem
from compatkb.engine.steps import Due, Step, ordered, steps_of
from compatkb.engine.worlds import Levels
from compatkb.records import STRONG, UNKNOWN, WEAK, Found

BUDGET = 200_000
_MOST_WARNINGS = 63
_MANY = 8
_FEW = 64


class Search:
    """One run over one problem."""

    def __init__(
        self,
        problem: Problem,
        *,
        first_only: bool = False,
        best_only: bool = False,
        known_only: bool = False,
        unranked: bool = False,
        budget: int = BUDGET,
    ) -> None:
        """Prepare a search; the flags narrow what is sought.

        `first_only` stops at the first stack of any kind, `best_only` seeks one best stack and not one a platform,
        `known_only` leaves out stacks that nothing speaks for, `unranked` takes every stack for such a one: there is none
        that is known, or it does not matter.
        """
        self.problem = problem
        self.first_only = first_only
        self.best_only = best_only
        self.known_only = known_only
        self.unranked = unranked or (first_only and not known_only)
        self._sought = KNOWN if known_only else ALLOWED
        self.budget = self._limit = budget
        self.raw: list[tuple[int, int, tuple[tuple[str, int], ...], int]] = []  # level, order, chosen, cells
        self._covered: dict[int, int] = {}
        self._variables = problem.variables

    def run(self) -> tuple[Found, ...]:
        """Return for every platform the best stack, best level first; raises GaveUpError beyond the budget."""
        domains = self.problem.domains
        if unoffered := self.problem.ignored.unoffered:
            domains = {product: -1 if product in unoffered else domain for product, domain in domains.items()}
        roughly = self.best_only and self.problem.view.kept.is_first
        left = narrowed(self.problem, domains, known_only=self.known_only, roughly=roughly)
        if left is None:
            return ()
        self._certain = left.certain
        if self.first_only:  # any order will do, with features last as ever
            self._variables = ordered(self.problem, self._variables, left)
        self._plan(left.domains)
        strong, weak, unknown = left.strong, left.weak, left.unknown
        if self.unranked:
            strong, weak, unknown = 0, 0, strong | weak | unknown
        self._extend(0, (), [left.domains[p] for p in self._variables], strong, weak, unknown, 0)
        return self._assigned()

    def _plan(self, domains: dict[str, int]) -> None:
        """Look up once what every step needs: who speaks of whom, and the fewest warnings that are still to come."""
        problem, variables = self.problem, self._variables
        optional = frozenset(problem.optional) - self._certain
        self._many = len(variables) >= _MANY
        self._steps = steps_of(problem, variables, optional, known_only=self.known_only)
        self._vouching = problem.are_listed(domains)  # what is not listed may vouch for anything
        self._demanding = any(step.demanding for step in self._steps)
        self._rows = [
            own_levels(problem, step.product) if step.demanding else problem.row(step.product) for step in self._steps
        ]
        number = problem.frame.number
        numbers = {product: n for n, product in enumerate(variables)}
        self._links = [
            [
                (numbers[other], table, other not in optional, table.images(number, problem.cells, self._sought))
                for other, table in problem.partners[product].items()
            ]
            for product in (variables if self._many else ())
        ]
        self._least = [0]
        for product in reversed(variables):
            fewest = 0 if product in optional or domains[product] < 0 else problem.view.least(product, domains[product])
            self._least.append(self._least[-1] + fewest)
        self._least.reverse()

    def _extend(
        self, depth: int, chosen: tuple[tuple[str, int], ...], domains: list[int], strong: int, weak: int, unknown: int,
        warned: int,
    ) -> None:  # fmt: skip
        if depth == len(self._steps):
            self._finish(chosen, strong, weak, unknown, warned)
            return
        problem, spend = self.problem, self.problem.view.kept.budget.spend
        step = self._steps[depth]
        product = step.product
        least = self._least[depth + 1]
        hopeful = min(warned + self._least[depth], _MOST_WARNINGS)
        domain = domains[depth]
        known = 0
        joker = domain < 0  # the absence is ignored: one build that fits everything stands for it
        while True:
            if joker:
                idx, joker, domain = JOKER, False, 0
            elif domain:
                idx = domain.bit_length() - 1
                domain ^= 1 << idx
            elif step.optional and domain == 0:
                idx, domain = ABSENT, -1
            else:
                return
            if len(self.raw) > known:  # since the last look here
                known = len(self.raw)
                if self._is_over(strong, weak, unknown, hopeful):
                    return
            self.budget -= 1
            if self.budget < 0:
                raise gave_up(self._limit, "its limit")
            spend(1)
            if idx == ABSENT:
                self._go_without(step, chosen, domains, strong, weak, unknown, warned)
                return
            if step.optional and not may_be_needed(problem, self._steps, step, chosen, domains):
                domain = 0
                continue
            count = min(warned + problem.view.warnings(product, idx), _MOST_WARNINGS)
            hoped = min(count + least, _MOST_WARNINGS)
            if hoped > hopeful and self._covered and not self._could_improve(strong, weak, unknown, hoped):
                continue
            now = (*chosen, (product, idx))
            s, w, u = self._attached(step, now, *self._beside(step, idx, chosen, strong, weak, unknown))
            s, w, u = self._left_open(s, w, u, hoped)
            if not s | w | u:
                continue
            left = domains if idx < 0 or not step.later else self._ahead(step, depth, idx, domains)
            if not left:
                domain = self._unlike(step, idx, domain, domains)
                continue
            if step.ahead:
                s, w, u = self._left_open(*self._foreseen(step, now, left, s, w, u), hoped)
                if not s | w | u:
                    continue
            if step.vouchers is None or not self._vouching or self._can_be_vouched(step, depth, idx, chosen, left, s | w):
                self._extend(depth + 1, now, left, s, w, u, count)

    def _go_without(
        self, step: Step, chosen: tuple[tuple[str, int], ...], domains: list[int], strong: int, weak: int, unknown: int,
        warned: int,
    ) -> None:  # fmt: skip
        """Extend the branch in which a product stays away."""
        there, now = ~missed(self.problem, step.product, chosen), (*chosen, (step.product, ABSENT))
        s, w, u = self._attached(step, now, strong & there, weak & there, unknown & there)
        if s | w | u:
            self._extend(step.number + 1, now, domains, s, w, u, warned)

    def _beside(
        self, step: Step, idx: int, chosen: tuple[tuple[str, int], ...], strong: int, weak: int, unknown: int
    ) -> tuple[int, int, int]:
        """Return the platforms that are left beside what is chosen."""
        levels = self._rows[step.number].get(idx) or self._level(step, idx)
        usable = strong | weak
        s = strong & levels.strong
        w = usable & (levels.strong | levels.weak) & ~s
        u = (usable | unknown) & (levels.strong | levels.weak | levels.unknown) & ~s & ~w
        for n, table in step.earlier:
            other = chosen[n][1]
            if other < 0 or idx < 0:
                continue
            pair = table.pairs.get((idx, other)) or self.problem.pair(step.product, idx, chosen[n][0], other)
            known, faint = pair.known, pair.faint
            u = (u | ((s | w) & pair.vague)) & ~pair.denied
            w = (w | (s & faint)) & known
            s &= known & ~faint
            if not s | w | u:
                break
        return s, w, u

    def _level(self, step: Step, idx: int) -> Levels:
        """Return the platforms of an element, without those on which it excludes itself."""
        levels = self.problem.levels(step.product, idx)
        if step.demanding:
            bad = own_conflicts(self.problem, step.product, idx)
            levels = Levels(levels.strong & ~bad, levels.weak & ~bad, levels.unknown & ~bad)
            self._rows[step.number][idx] = levels = self.problem.view.kept.one(levels)
        return levels

    def _ahead(self, step: Step, depth: int, idx: int, domains: list[int]) -> list[int]:
        """Return the candidates that are left beside an element; none at all where a required product has none left."""
        number, left = self.problem.frame.number, domains.copy()
        changed = []
        for n, table, needed in step.later:
            if left[n] > 0:
                kept = left[n] & table.mask(idx, number, self.problem.cells, self._sought)
                if kept != left[n]:
                    left[n] = kept
                    if needed:
                        if not kept:
                            return []
                        changed.append(n)
        if self._many and not self._carried_on(depth, changed, left):
            return []
        return left

    def _unlike(self, step: Step, idx: int, domain: int, domains: list[int]) -> int:
        """Return the candidates that do not leave others just what an element leaves them, which was nothing."""
        number, cells = self.problem.frame.number, self.problem.cells
        alike = max(domain, 0)
        for n, table, _ in step.later:
            if domains[n] > 0 and alike:
                alike &= table.like(idx, number, cells, self._sought)
        return domain & ~alike

    def _carried_on(self, depth: int, changed: list[int], domains: list[int]) -> bool:
        """Drop what candidates that became fewer no longer admit, and so on; False where a required product has none left.

        Among few products it costs more than it saves.
        """
        number, cells = self.problem.frame.number, self.problem.cells
        queue = deque(changed)  # first come, first served: what changes often is looked at once, after the others
        waiting = set(changed)
        while queue:
            n = queue.popleft()
            waiting.discard(n)
            domain = domains[n]
            if domain >> self._steps[n].size:
                continue
            for m, table, needed, images in self._links[n]:
                if m > depth and domains[m] > 0:
                    found = images.get(domain)
                    kept = domains[m] & (table.image(domain, number, cells, self._sought) if found is None else found)
                    if kept != domains[m]:
                        domains[m] = kept
                        if needed:
                            if not kept:
                                return False
                            if m not in waiting:
                                waiting.add(m)
                                queue.append(m)
        return True

    def _can_be_vouched(
        self, step: Step, depth: int, idx: int, chosen: tuple[tuple[str, int], ...], domains: list[int], cells: int
    ) -> bool:
        """Return whether something chosen vouches for an element, or something that may still be chosen."""
        for n, table in step.vouchers or ():
            if n > depth:
                if table.mask(idx, self.problem.frame.number, self.problem.cells, VOUCHED) & domains[n]:
                    return True
            elif chosen[n][1] >= 0:
                pair = self.problem.pair(step.product, idx, *chosen[n])
                if (pair.strong | pair.weak) & cells:
                    return True
        return False

    def _could_improve(self, strong: int, weak: int, unknown: int, count: int) -> bool:
        return bool(
            self._open(strong, STRONG, count)
            or (weak and self._open(weak, WEAK, count))
            or (unknown and self._open(unknown, UNKNOWN, count))
        )

    def _left_open(self, strong: int, weak: int, unknown: int, count: int) -> tuple[int, int, int]:
        if not self._covered:
            return strong, weak, unknown
        return self._open(strong, STRONG, count), self._open(weak, WEAK, count), self._open(unknown, UNKNOWN, count)

    def _open(self, cells: int, kind: int, count: int) -> int:
        """Return the platforms that have no answer yet as good as this one could become."""
        level = kind * (_MOST_WARNINGS + 1) + count
        for known, covered in self._covered.items():
            if known <= level:
                if self.best_only:
                    return 0
                cells &= ~covered
        return cells

    def _finish(self, chosen: tuple[tuple[str, int], ...], strong: int, weak: int, unknown: int, warned: int) -> None:
        present = _present(chosen)
        whole = closed(self.problem, self._variables, present)
        if not whole:
            return
        s, w, u = strong & whole, weak & whole, unknown & whole
        bad, faint = leaf_conflicts(self.problem, present) if self._demanding else (0, 0)
        s, w, u = s & ~bad & ~faint, (w | (s & faint)) & ~bad, 0 if self.known_only else u & ~bad
        for kind, cells in ((STRONG, s), (WEAK, w), (UNKNOWN, u)):
            cells = self._open(cells, kind, warned)
            if cells:
                self._take(kind * (_MOST_WARNINGS + 1) + warned, tuple(present), cells)

    def _take(self, level: int, present: tuple[tuple[str, int], ...], cells: int) -> None:
        self._covered[level] = self._covered.get(level, 0) | cells
        self.raw.append((level, len(self.raw), present, cells))

    def _is_over(self, strong: int, weak: int, unknown: int, count: int) -> bool:
        """Return whether what was found leaves nothing to be sought here."""
        return self.first_only or not self._could_improve(strong, weak, unknown, count)

    def _attached(
        self, step: Step, chosen: tuple[tuple[str, int], ...], strong: int, weak: int, unknown: int
    ) -> tuple[int, int, int]:
        """Lower the level where nothing vouches for a member, as soon as all who could do so have been chosen."""
        for due in step.due if strong or weak else ():
            if chosen[due.number][1] >= 0:
                firm, faint = self._vouched(due, chosen)
                unknown |= (strong | weak) & ~firm & ~faint
                weak = (weak | strong & ~firm) & (firm | faint)
                strong &= firm
        return strong, weak, 0 if self.known_only else unknown

    def _foreseen(
        self, step: Step, chosen: tuple[tuple[str, int], ...], domains: list[int], strong: int, weak: int, unknown: int
    ) -> tuple[int, int, int]:
        """Lower the level where those who can vouch for a product have been chosen, and vouch for none of its candidates."""
        for due in step.ahead:
            domain = domains[due.number]
            if domain <= 0 or domain.bit_count() > _FEW:
                continue
            firm = faint = 0
            for n, table in due.others:
                idx = chosen[n][1]
                if idx >= 0:
                    more, known = table.vouching_beside(domain, idx)
                    firm, faint = firm | more, faint | known
                elif idx == JOKER:
                    firm = -1
            weak = (weak | strong & ~firm) & (firm | faint)
            strong &= firm
        return strong, weak, unknown

    def _vouched(self, due: Due, chosen: tuple[tuple[str, int], ...]) -> tuple[int, int]:
        """Return where a member is vouched for, as `Problem.vouched` does."""
        product, idx = chosen[due.number]
        if due.of_machine:
            present = [chosen[n] for n, _ in due.others if chosen[n][1] != ABSENT]
            return self.problem.vouched(product, idx, present)
        firm = faint = 0
        for n, table in due.others:
            other, number = chosen[n]
            if number >= 0:
                pair = table.pairs.get((idx, number)) or self.problem.pair(product, idx, other, number)
                firm |= pair.strong
                faint |= pair.weak
            elif number == JOKER:
                return -1, 0
        return firm, faint

    def _assigned(self) -> tuple[Found, ...]:
        """Give every platform to the best of what was found for it."""
        taken = 0
        found = []
        for level, _, chosen, cells in sorted(self.raw):
            cells &= ~taken
            taken |= cells
            if cells:
                found.append(self._found(level, chosen, cells))
        return tuple(found)

    def _found(self, level: int, chosen: tuple[tuple[str, int], ...], cells: int) -> Found:
        kind, warned = divmod(level, _MOST_WARNINGS + 1)
        return Found(self.problem.device, self.problem.route, chosen, kind, warned, cells)


def _present(chosen: tuple[tuple[str, int], ...]) -> list[tuple[str, int]]:
    """Return the members that are there."""
    return [(product, idx) for product, idx in chosen if idx != ABSENT]
