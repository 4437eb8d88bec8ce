"""What one product says of another one, to a device and some hardware."""

from compatkb.records import Edge
from compatkb.snapshot.read import Snapshot


class Context:
    """Whom edges are asked about: a device, and the hardware that is pinned."""

    __slots__ = ("device", "facts", "hardware")

    def __init__(self, facts: Snapshot, device: str, hardware: int) -> None:
        self.facts, self.device, self.hardware = facts, device, hardware

    def holds(self, edge: Edge) -> bool:
        """Return whether an edge speaks of this device and hardware."""
        if edge.devices and self.device not in edge.devices:
            return False
        if not edge.hardware:
            return True
        return bool(edge.hardware & self.hardware) and not (edge.kind == "verified" and self.in_part(edge))

    def in_part(self, edge: Edge) -> bool:
        """Return whether what is said of a feature concerns only some of the hardware pinned: of the rest nothing is known."""
        rest = edge.hardware and self.hardware & ~edge.hardware
        return bool(rest) and self.facts.products[edge.of].role == "feature"

    def said(self, of: str, to: str) -> "Said":
        """Return what one product says of another one."""
        held = (edge for edge in self.facts.edges(of, to) if self.holds(edge))
        return Said([edge._replace(open=True) if self.in_part(edge) else edge for edge in held])


class Said:
    """What one product says of another one, by its elements; each is looked up when somebody asks for it."""

    def __init__(self, edges: list[Edge]) -> None:
        self.edges = edges
        self._by_element: dict[int, tuple[Edge, ...]] = {}

    def by(self, idx: int) -> tuple[Edge, ...]:
        """Return the edges of an element."""
        if not self.edges:
            return ()
        found = self._by_element.get(idx)
        if found is None:
            found = self._by_element[idx] = tuple([edge for edge in self.edges if edge.of_mask >> idx & 1])
        return found
