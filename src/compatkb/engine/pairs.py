"""Two elements together: what is known of them, and who says it."""

from collections.abc import Mapping

from compatkb.engine.between import Between
from compatkb.engine.ignored import Ignored
from compatkb.engine.judging import NO_PAIR, Pair, judged
from compatkb.engine.view import View
from compatkb.records import Edge


class Pairs:
    """What some facts say of two elements together; one beyond those of a product is its version that is `unlisted`."""

    def __init__(self, view: View, unlisted: Mapping[str, str], ignored: Ignored) -> None:
        self.facts, self.view, self._unlisted, self.ignored = view.facts, view, unlisted, ignored

    def inside(self, edge: Edge, idx: int) -> bool:
        """Return whether an edge's target names an element, or the unlisted version that a request pins."""
        if idx < self.facts.sizes[edge.to]:
            return bool(edge.to_mask >> idx & 1)
        from compatkb.versions import Scheme, admits  # only for versions that the data do not list

        scheme = Scheme(self.facts.products[edge.to].scheme)
        version = self._unlisted[edge.to]
        return any(spec == "any version" or admits(scheme, spec, version) for spec in edge.spec.split(" or "))

    def pair(self, p: str, i: int, q: str, j: int) -> Pair:
        """Return what is known of two elements together."""
        table = self.between(p, q)
        if table is None or i < 0 or j < 0:
            return NO_PAIR
        found = table.pairs.get((i, j))
        if found is None:
            found = table.pair(i, j) or judged(self.speaking(p, i, q, j))
        return found

    def between(self, p: str, q: str) -> Between | None:
        """Return what two products say of each other; None where they say nothing, or it is ignored."""
        if (p, q) in self.ignored.silent:
            return None
        return self.view.between(p, q)

    def speaking(self, p: str, i: int, q: str, j: int) -> list[tuple[Edge, bool]]:
        """Return the edges between two elements, and whether each names the other one."""
        if i < 0 or j < 0 or (p, q) in self.ignored.silent:
            return []
        found = [(edge, self.inside(edge, j)) for edge in self.view.says(p, i, q)]
        return found + [(edge, self.inside(edge, i)) for edge in self.view.says(q, j, p)]
