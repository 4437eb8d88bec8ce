"""Every stack, not the best ones alone: combinations in the order of preference by version, up to a limit."""

from compatkb.engine.problem import Problem
from compatkb.engine.search import Search
from compatkb.records import Found


class _Listing(Search):
    """A search to which no answer makes another one needless."""

    most = 0

    def _take(self, level: int, present: tuple[tuple[str, int], ...], cells: int) -> None:
        self.raw.append((level, len(self.raw), present, cells))

    def _is_over(self, *_: int) -> bool:
        return len(self.raw) >= self.most

    def _assigned(self) -> tuple[Found, ...]:
        return tuple(self._found(level, present, cells) for level, _, present, cells in self.raw[: self.most])


def every_stack(problem: Problem, most: int, *, known_only: bool = True) -> tuple[Found, ...]:
    """Return combinations of builds that go together, each with its platforms: newest first, product by product.

    One whose platforms are known differently well comes once for each level. With `known_only` those that nothing speaks
    for are left out. Raises GaveUpError beyond the budget.
    """
    search = _Listing(problem, known_only=known_only)
    search.most = most
    return search.run()
