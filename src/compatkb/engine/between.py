"""What two products say of each other, looked up once and shared by every question to which it is the same."""

from collections.abc import Iterator
from functools import cached_property

from compatkb.engine.alike import Platforms
from compatkb.engine.judging import DEMANDING, Pair, judged, pair_of
from compatkb.engine.pool import Pool
from compatkb.records import STRONG, Edge

_MOST_IMAGES = 1_024
_MOST_PAIRS = 200_000
_MOST_WALKS = 6
_MOST_STEPS = 4
_SMALL = 1 << 14
"""Of so many pairs all that is known is kept; of more, what is asked for."""

_NOTHING = (0, 0, 0, 0, 0)
_DENIED, _STRONG, _WEAK, _MATTERS, _MUDDLED = range(5)
_FEW = 512
"""So many edges are quicker read for one pair of elements than sorted for all of them."""
ALLOWED, VOUCHED, KNOWN = 0, 1, 2
"""What of two products is asked for: that nothing excludes them; that something vouches for them; that a stack can rest
on them, since something vouches for them wherever something must."""
_WHATS = 3
_Place = tuple[int, int]
"""A field of a pair, and platforms."""
_Said = tuple[int, int]
"""The number of a place, and elements of which that is said."""


class Between:
    """Two products seen from the first, by its elements; sets of elements of the second one are what comes back.

    `number` stands for the platforms that a question leaves open, `cells`: equal ones have one number.
    """

    def __init__(self, pool: Pool, mine: list[Edge], back: list[Edge], sizes: tuple[int, int]) -> None:
        self._pool = pool
        self._told, self._back = mine, back
        self._mine, self._theirs = sizes
        self.is_small = self._mine * self._theirs <= _SMALL
        self.pairs: dict[tuple[int, int], Pair] = {}
        self._kinds: dict[int, tuple[tuple[int, Pair], ...]] = {}
        self._masks: dict[int, dict[int, int]] = {}  # by the number of platforms and what is asked for
        self._images: dict[int, dict[int, int]] = {}
        self._classes: dict[int, int] = {}
        self._whole: dict[tuple[int, int], list[tuple[int, int]]] = {}
        self._firm: dict[int, tuple[list[tuple[int, int]], list[tuple[int, int]]]] = {}
        self._likes: dict[tuple[int, int], dict[int, int]] = {}
        self._vouching: dict[int, tuple[int, int]] = {}
        self._beside: dict[tuple[int, int], tuple[int, int]] = {}
        self._walks = 0
        self._platforms = Platforms(mine, back)

    def pair(self, i: int, j: int) -> Pair | None:
        """Return what is known of two elements, None where one of them is not listed."""
        if not (0 <= i < self._mine and 0 <= j < self._theirs):
            return None
        known = self._kinds.get(i)
        if known is None and len(self._told) + len(self._back) <= _FEW:
            found = self._pool.one(judged(self._speaking(i, j)))
        else:
            found = next(pair for mask, pair in known or self.kinds(i) if mask >> j & 1)
        if len(self.pairs) >= _MOST_PAIRS:
            self.pairs.clear()
        self.pairs[i, j] = found
        return found

    def _speaking(self, i: int, j: int) -> list[tuple[Edge, bool]]:
        """Return the edges between two elements, and whether each names the other one."""
        found = [(edge, bool(edge.to_mask >> j & 1)) for edge in self._told if edge.of_mask >> i & 1]
        return found + [(edge, bool(edge.to_mask >> i & 1)) for edge in self._back if edge.of_mask >> j & 1]

    def mask(self, i: int, number: int, cells: int, what: int) -> int:
        """Return the elements that are allowed, vouched for or known beside element `i` on one of the platforms at least.

        A version that the data do not list is never excluded; it is judged pair by pair.
        """
        kept = self._masks.get(number * _WHATS + what)
        if kept is None:
            same = self._platforms.same(number, cells) * _WHATS + what
            kept = self._masks[number * _WHATS + what] = self._masks.setdefault(same, {})
        found = kept.get(i)
        if found is None:
            found = 0 if what == VOUCHED else 1 << self._theirs
            if not 0 <= i < self._mine:
                return 0 if what == VOUCHED else (2 << self._theirs) - 1
            if what == KNOWN or i in self._kinds:
                found |= self._good(i, cells, what)
            elif what == VOUCHED:
                for (field, where), mask in self._told_of(i):
                    found |= mask if field in (_STRONG, _WEAK) and where & cells else 0
            else:
                denied = [(where & cells, mask) for (field, where), mask in self._told_of(i) if field == _DENIED]
                if sum(1 for where, _ in denied if where and where != cells) > 1:  # together they may leave no platform
                    found |= self._good(i, cells, what)
                else:
                    found = (2 << self._theirs) - 1
                    for where, mask in denied:
                        found &= ~mask if where == cells else -1
            kept[i] = found
        return found

    def _good(self, i: int, cells: int, what: int) -> int:
        """Return what is allowed, vouched for or known beside an element, from what is known of each set."""
        found = 0
        for mask, pair in self.kinds(i):
            if what == VOUCHED:
                good = cells & (pair.strong | pair.weak)
            else:
                good = cells & (pair.known if what == KNOWN else ~pair.denied)
            if good:
                found |= mask
        return found

    def images(self, number: int, cells: int, what: int) -> dict[int, int]:
        """Return the part of `image` that has been worked out for some platforms."""
        found = self._images.get(number * _WHATS + what)
        if found is None:
            same = self._platforms.same(number, cells) * _WHATS + what
            found = self._images[number * _WHATS + what] = self._images.setdefault(same, {})
        return found

    def image(self, domain: int, number: int, cells: int, what: int) -> int:
        """Return the union of `mask` over a set of elements, or more than that; `domain` has listed elements alone."""
        kept = self._images.get(number * _WHATS + what)
        if kept is None:
            kept = self.images(number, cells, what)
        found = kept.get(domain)
        if found is None:
            found = self._union(domain, number, cells, what) if self.is_small else self._roughly(domain, number, cells, what)
            if len(kept) >= _MOST_IMAGES:
                kept.clear()
            kept[domain] = found
        return found

    def _union(self, domain: int, number: int, cells: int, what: int) -> int:
        found, every, number = 0, (2 << self._theirs) - 1, self._platforms.same(number, cells)
        if (number, what) not in self._whole and (self._walks < _MOST_WALKS or domain.bit_count() <= _MOST_STEPS):
            self._walks += 1  # a first question, or one about few elements, need not wait for all
            while domain and found != every:
                i = domain.bit_length() - 1
                found |= self.mask(i, number, cells, what)
                domain &= ~self._alike(i)
            return found
        for alike, mask in self._rectangles(number, cells, what):
            if alike & domain:
                found |= mask
                if found == every:
                    break
        return found

    def _roughly(self, domain: int, number: int, cells: int, what: int) -> int:
        """Return at least the union, edge by edge: among thousands of elements judging each of them takes too long."""
        self._pool.budget.spend(1 + (len(self._told) + len(self._back)) // 64)
        if what == VOUCHED:
            return self._rough_vouching(domain, cells)
        demands, conditions = self._demands(number, cells)
        found, left = 1 << self._theirs, domain
        for members, admitted in demands:
            if members & left:
                found |= admitted
                left &= ~members
        if left:  # of these nothing is demanded
            found = (2 << self._theirs) - 1
        for mine, theirs in conditions:
            if not mine & domain:
                found &= ~theirs
        return found

    def _rough_vouching(self, domain: int, cells: int) -> int:
        found = 0
        for edge in self._told:
            if edge.vouches & cells and edge.of_mask & domain and not edge.open:
                found |= edge.to_mask
        for edge in self._back:
            if edge.vouches & cells and edge.to_mask & domain and not edge.open:
                found |= edge.of_mask
        return found

    def _demands(self, number: int, cells: int) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
        """Return what holds on all platforms: our elements with theirs that they admit; ours that theirs need, with theirs."""
        found = self._firm.get(number)
        if found is None:
            listed = (1 << self._theirs) - 1
            ours, theirs = (
                [e for e in edges if e.kind != "verified" and not e.open and not cells & ~e.denies]
                for edges in (self._told, self._back)
            )
            demands = [(e.of_mask, listed & (~e.to_mask if e.kind == "breaks" else e.to_mask)) for e in ours]
            demands.sort(key=lambda demand: demand[1].bit_count())  # where several hold, the one that admits the least
            conditions = [(~e.to_mask if e.kind == "breaks" else e.to_mask, e.of_mask) for e in theirs]
            found = self._firm[number] = (demands, conditions)
        return found

    def vouching(self, domain: int) -> tuple[int, int]:
        """Return where some element of a set is vouched for firmly, and at all; everywhere where that takes too long."""
        if not self.is_small:
            return -1, -1
        found = self._vouching.get(domain)
        if found is None:
            firm = faint = 0
            for i in range(domain.bit_length()):
                if domain >> i & 1:
                    for _, pair in self.kinds(i):
                        firm, faint = firm | pair.strong, faint | pair.weak
            if len(self._vouching) >= _MOST_IMAGES:
                self._vouching.clear()
            found = self._vouching[domain] = (firm, firm | faint)
        return found

    def vouching_beside(self, domain: int, j: int) -> tuple[int, int]:
        """Return where an element of the second product vouches for some element of a set firmly, and at all."""
        found = self._beside.get((domain, j))
        if found is None:
            firm = faint = 0
            for i in range(domain.bit_length()):
                pair = self.pairs.get((i, j)) or self.pair(i, j) if domain >> i & 1 else None
                if pair is not None:
                    firm, faint = firm | pair.strong, faint | pair.weak
                elif domain >> i & 1:
                    return -1, -1
            if len(self._beside) >= _MOST_IMAGES:
                self._beside.clear()
            found = self._beside[domain, j] = (firm, firm | faint)
        return found

    def like(self, i: int, number: int, cells: int, what: int) -> int:
        """Return elements that have the mask of element `i`, itself included: all of them where there are few."""
        if not self.is_small:
            return self._alike(i)
        mask = self.mask(i, number, cells, what)
        number = self._platforms.same(number, cells)
        key = (number, what)
        if key not in self._likes:
            self._likes[key] = {mask: alike for alike, mask in self._rectangles(number, cells, what)}
        return self._likes[key].get(mask, 1 << i)

    def _rectangles(self, number: int, cells: int, what: int) -> list[tuple[int, int]]:
        """Return sets of elements with the mask of each member."""
        key = (number, what)
        found = self._whole.get(key)
        if found is None:
            by_mask: dict[int, int] = {}
            for i, alike in self._groups:
                mask = self.mask(i, number, cells, what)
                by_mask[mask] = by_mask.get(mask, 0) | alike
            found = self._whole[key] = [(alike, mask) for mask, alike in by_mask.items()]
            found.sort(key=lambda pair: -pair[0].bit_count())
        return found

    @cached_property
    def _groups(self) -> list[tuple[int, int]]:
        """The sets of elements of which all is said alike, each with its newest member."""
        found, left = [], (1 << self._mine) - 1
        while left:
            i = left.bit_length() - 1
            found.append((i, self._alike(i)))
            left &= ~found[-1][1]
        return found

    def _alike(self, i: int) -> int:
        """Return the elements of which all that is said is said of element `i` too, itself included."""
        found = self._classes.get(i)
        if found is None:
            found, bit = (1 << self._mine) - 1, 1 << i
            for edge in self._told:
                found &= edge.of_mask if edge.of_mask & bit else ~edge.of_mask
            for edge in self._back:
                found &= edge.to_mask if edge.to_mask & bit else ~edge.to_mask
            self._pool.budget.spend(1 + (len(self._told) + len(self._back)) // 16)
            self._classes[i] = found
        return found

    def kinds(self, i: int) -> tuple[tuple[int, Pair], ...]:
        """Return the elements of the second product in sets, each with what is known of its members beside element `i`."""
        found = self._kinds.get(i)
        if found is None:
            parts: list[tuple[int, tuple[int, ...]]] = [((1 << self._theirs) - 1, _NOTHING)]
            for (field, cells), mask in self._told_of(i):
                if not cells:
                    continue
                apart = [(known & ~mask, pair) for known, pair in parts if known & ~mask]
                parts = apart + [(known & mask, _with(pair, field, cells)) for known, pair in parts if known & mask]
            merged: dict[tuple[int, ...], int] = {}
            for known, pair in parts:
                merged[pair] = merged.get(pair, 0) | known
            found = tuple((known, self._pool.one(pair_of(*pair))) for pair, known in merged.items())
            if self.is_small:
                self._kinds[i] = found
        return found

    def _told_of(self, i: int) -> Iterator[tuple[_Place, int]]:
        """Yield what is said of element `i`: a field of a pair and platforms, and the elements on the other side."""
        places, always, rows = self._rows
        found, bit = always.copy(), 1 << i
        for members, named, others in rows:
            for number, mask in named if members & bit else others:
                found[number] |= mask
        return ((place, mask) for place, mask in zip(places, found, strict=True) if mask)

    @cached_property
    def _rows(self) -> tuple[list[_Place], list[int], list[tuple[int, list[_Said], list[_Said]]]]:
        """The places by number, and of whom each is said whatever our element; then the edges.

        For each edge whom it names or speaks of, what of them, what of the rest. What it comes to for two elements is in
        `judged`.
        """
        listed = (1 << self._theirs) - 1
        numbers: dict[_Place, int] = {}
        always: dict[int, int] = {}
        rows: list[tuple[int, list[_Said], list[_Said]]] = []

        def at(field: int, cells: int) -> int:
            return numbers.setdefault((field, cells), len(numbers))

        for edge in self._told:
            named = edge.to_mask & listed
            if edge.open:
                far = listed if edge.kind in DEMANDING else named
                rows.append((edge.of_mask, [(at(_MUDDLED, edge.denies | edge.vouches), far)], []))
                continue
            said = [(at(_STRONG if edge.level == STRONG else _WEAK, edge.vouches), named)]
            if edge.kind in DEMANDING:
                said += [(at(_MATTERS, edge.denies), listed), (at(_DENIED, edge.denies), listed & ~named)]
            elif edge.kind == "breaks":
                said.append((at(_DENIED, edge.denies), named))
            rows.append((edge.of_mask, said, []))
        for edge in self._back:
            theirs, others = edge.of_mask, []
            said = [(at(_STRONG if edge.level == STRONG else _WEAK, edge.vouches), theirs)]
            if edge.open:
                said = [(at(_MUDDLED, edge.denies | edge.vouches), theirs)]
                others = said if edge.kind in DEMANDING else []
            elif edge.kind in DEMANDING:
                place = at(_MATTERS, edge.denies)
                always[place] = always.get(place, 0) | theirs
                others = [(at(_DENIED, edge.denies), theirs)]
            elif edge.kind == "breaks":
                said.append((at(_DENIED, edge.denies), theirs))
            rows.append((edge.to_mask, said, others))
        return list(numbers), [always.get(number, 0) for number in range(len(numbers))], rows


def _with(pair: tuple[int, ...], field: int, cells: int) -> tuple[int, ...]:
    """Return what is known of two elements with more of it in one field."""
    return (*pair[:field], pair[field] | cells, *pair[field + 1 :])
