"""The same made-up problems for resolvelib and for a SAT solver."""

import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from made_up import MadeUp


class Demand(NamedTuple):
    """Releases of a product that someone admits."""

    product: int
    mask: int


class Candidate(NamedTuple):
    """One release."""

    product: int
    release: int


def by_resolvelib(problem: MadeUp, limit: float) -> dict[str, Any]:
    """Return the time of one solution, newest first, from a plain provider."""
    from resolvelib import AbstractProvider, BaseReporter, Resolver

    rows: dict[int, list[tuple[int, int, int]]] = {}
    for relation in problem.relations:
        rows.setdefault(relation.of, []).extend((mask, relation.to, admitted) for mask, admitted in relation.rectangles)

    class Provider(AbstractProvider):  # type: ignore[type-arg]
        def identify(self, requirement_or_candidate: Any) -> int:
            return int(requirement_or_candidate.product)

        def get_preference(self, identifier: int, *_: object, **__: object) -> int:
            return identifier

        def find_matches(
            self,
            identifier: int,
            requirements: Mapping[int, Iterator[Demand]],
            incompatibilities: Mapping[int, Iterator[Candidate]],
        ) -> list[Candidate]:
            mask = (1 << problem.releases) - 1
            for demand in requirements[identifier]:
                mask &= demand.mask
            bad = {candidate.release for candidate in incompatibilities[identifier]}
            return [Candidate(identifier, n) for n in reversed(range(problem.releases)) if mask >> n & 1 and n not in bad]

        def is_satisfied_by(self, requirement: Demand, candidate: Candidate) -> bool:
            return bool(requirement.mask >> candidate.release & 1)

        def get_dependencies(self, candidate: Candidate) -> Sequence[Demand]:
            found = (row for row in rows.get(candidate.product, ()) if row[0] >> candidate.release & 1)
            return [Demand(to, admitted) for _, to, admitted in found]

    every = [Demand(n, (1 << problem.releases) - 1) for n in range(problem.products)]
    return {"best": _within(limit, lambda: Resolver(Provider(), BaseReporter()).resolve(every, max_rounds=10**7))}


def by_sat(problem: MadeUp, limit: float) -> dict[str, Any]:
    """Return the time to load the clauses, and of the best stack: newest first, product by product, under assumptions."""
    from pysat.solvers import Cadical153

    start = time.process_time()
    size = problem.releases
    solver = Cadical153()

    def at_least(product: int, release: int) -> int:  # the order encoding: product is of this release or a newer one
        return product * (size + 1) + release + 1

    for product in range(problem.products):
        solver.add_clause([at_least(product, 0)])
        solver.add_clause([-at_least(product, size)])
        for release in range(size):
            solver.add_clause([at_least(product, release), -at_least(product, release + 1)])
    for relation in problem.relations:
        for mask, admitted in relation.rectangles:
            for low, high in _runs(mask, size):
                for first, last in _runs(~admitted & ((1 << size) - 1), size):
                    solver.add_clause([
                        -at_least(relation.of, low), at_least(relation.of, high),
                        -at_least(relation.to, first), at_least(relation.to, last),
                    ])  # fmt: skip
    loaded = time.process_time() - start
    fixed: list[int] = []

    def newest() -> None:
        for product in range(problem.products):
            low, high = 0, size
            while high - low > 1:
                middle = (low + high) // 2
                if solver.solve(assumptions=[*fixed, at_least(product, middle)]):
                    low = middle
                else:
                    high = middle
            fixed.extend((at_least(product, low), -at_least(product, low + 1)))

    return {"load": round(loaded * 1000, 1), "best": _within(limit, newest)}


def _runs(mask: int, size: int) -> Iterator[tuple[int, int]]:
    """Yield the runs of ones as first and one past the last."""
    mask &= (1 << size) - 1
    while mask:
        first = (mask & -mask).bit_length() - 1
        rest = mask >> first
        last = first + (~rest & (rest + 1)).bit_length() - 1
        yield first, last
        mask = mask >> last << last


def _within(limit: float, call: Callable[[], object]) -> float | None:
    def over(*_: object) -> None:
        raise TimeoutError

    signal.signal(signal.SIGVTALRM, over)
    start = time.process_time()
    signal.setitimer(signal.ITIMER_VIRTUAL, limit)
    try:
        call()
    except TimeoutError:
        return None
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return round((time.process_time() - start) * 1000, 1)


PEERS: dict[str, Callable[[MadeUp, float], dict[str, Any]]] = {"resolvelib": by_resolvelib, "python-sat": by_sat}
