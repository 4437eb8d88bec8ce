"""What the engine keeps of a knowledge base between questions."""

from compatkb.engine.between import Between
from compatkb.engine.ignored import Blocker
from compatkb.engine.pool import Pool
from compatkb.engine.said import Context, Said
from compatkb.snapshot.read import Snapshot


class Kept(Pool):
    """What the engine keeps of one knowledge base between questions; forgotten as a whole when it has grown."""

    def __init__(self, facts: Snapshot) -> None:
        super().__init__()
        self.facts = facts
        self.views: dict[tuple[str, int, int], object] = {}
        self.leaf_numbers: dict[frozenset[Blocker], int] = {}  # of ignored claims about leaves
        self.frames = self.questions = 0
        self.nearest: dict[object, object] = {}
        self.blockers: dict[tuple[str, ...], object] = {}  # what can exclude stacks of some variables
        self.most_nearest = 32_768  # then they are forgotten; who asks for all there is may raise it
        self._said: dict[tuple[str, str, str, int], Said] = {}
        self._between: dict[tuple[str, str, str, int], Between | None] = {}
        self._moods: dict[tuple[str, str], tuple[bool, bool]] = {}

    @property
    def is_first(self) -> bool:
        """Whether this is the first question: what pays only when more are asked is not looked up for it."""
        return self.questions <= 1

    def said(self, of: str, to: str, device: str, hardware: int) -> Said:
        """Return what one product says of another one to a device and hardware."""
        by_device, by_hardware = self._mood(of, to)
        key = (of, to, device if by_device else "", hardware if by_hardware else 0)
        found = self._said.get(key)
        if found is None:
            found = self._said[key] = Context(self.facts, device, hardware).said(of, to)
        return found

    def between(self, p: str, q: str, device: str, hardware: int) -> Between | None:
        """Return what two products say of each other; None where they say nothing."""
        mine, theirs = self._mood(p, q), self._mood(q, p)
        key = (p, q, device if mine[0] or theirs[0] else "", hardware if mine[1] or theirs[1] else 0)
        if key not in self._between:
            silent = not self.facts.edges(p, q) and not self.facts.edges(q, p)
            told = (self.said(p, q, device, hardware).edges, self.said(q, p, device, hardware).edges)
            sizes = (self.facts.sizes[p], self.facts.sizes[q])
            self._between[key] = None if silent else Between(self, *told, sizes)
        return self._between[key]

    def _mood(self, of: str, to: str) -> tuple[bool, bool]:
        """Return whether what one product says of another depends on the device, and on the hardware."""
        found = self._moods.get((of, to))
        if found is None:
            edges = self.facts.edges(of, to)
            found = self._moods[of, to] = (any(e.devices for e in edges), any(e.hardware for e in edges))
        return found
