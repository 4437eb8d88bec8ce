"""Which systems, and which hardware, are one to all that the form can ask about a device: they differ in name alone."""

from functools import cached_property

from compatkb.records import Edge
from compatkb.web.questions import Form


class Alike:
    """The facts that can touch an answer of the form for one device, compared column by column."""

    def __init__(self, form: Form, device: str) -> None:
        self.form, self.facts, self.device = form, form.facts, device

    @cached_property
    def products(self) -> set[str]:
        """What the form asks for, what goes with it, and all that these speak of."""
        facts = self.facts
        found = {self.form.main, *self.form.packages, *(p.id for p in facts.products.values() if p.role == "companion")}
        queue = list(found)
        while queue:
            product = queue.pop()
            for to in facts.spoken_of(product):
                edges = facts.edges(product, to)
                needed = facts.products[to].role != "package" or any(edge.kind == "needs" for edge in edges)
                if to not in found and needed and facts.products[to].role != "feature":
                    found.add(to)
                    queue.append(to)
        return found

    def _edges(self) -> list[Edge]:
        facts, products = self.facts, self.products
        every = (e for p in sorted(products) for to in facts.spoken_of(p) if to in products for e in facts.edges(p, to))
        return [edge for edge in every if not edge.devices or self.device in edge.devices]

    def systems(self) -> list[int]:
        """Return for each system of the form, and first for none, the first one that is like it, by its number."""
        facts, grid = self.facts, self.facts.grid
        masks = {mask for edge in self._edges() for mask in (edge.denies, edge.vouches)}
        masks |= {facts.dimension_cells(edge.to, edge.to_mask) for edge in self._edges() if edge.to in grid}
        for product in sorted(self.products):
            for element in facts.elements(product):
                if not element.devices or self.device in element.devices:
                    masks |= {element.strong, element.weak}
                    masks |= {mask for floor in facts.floors(element) for mask in (floor.seen, floor.inferred)}
            rows = facts.rows("select cells from concerned where claim is null and name = ?", product)
            masks |= {facts.cells(row["cells"]) for row in rows}
        masks |= {advisory.cells for advisory in facts.advisories}
        width = len(grid["arch"]) * len(grid["python"])
        first: dict[object, int] = {}
        found = [0]
        for number, system in enumerate(self.form.values("os"), 1):
            place = grid["os"].index(system) * width
            column = tuple(mask >> place & ((1 << width) - 1) for mask in sorted(masks))
            found.append(first.setdefault((column, facts.wider[system] or system), number))
        return found

    def hardware(self) -> dict[str, str]:
        """Return for each hardware of the form the first one that is like it."""
        facts, edges = self.facts, self._edges()
        special = facts.rows("select hardware from channel where hardware != ''")
        disputed = facts.rows("select hardware from concerned where hardware != ''")
        words = [set(row["hardware"].split()) for row in (*special, *disputed)]
        first: dict[object, str] = {}
        found = {}
        known = {element.version: element for element in facts.elements("hardware")}
        for name in self.form.values("hardware"):
            element = known[name]
            bit = self.form.request({"hardware": name}).pins[0].mask
            if bit != 1 << element.idx:  # a family: whoever belongs to it
                found[name] = first.setdefault(bit, name)
                continue
            told = tuple((bool(e.to == "hardware" and e.to_mask & bit), bool(e.hardware & bit)) for e in edges)
            told += tuple((bool(advisory.hardware & bit), False) for advisory in facts.advisories)
            told += tuple((name in group, False) for group in words)
            own = tuple(e.id for e in edges if e.of == "hardware" and e.of_mask & bit)
            apart = self.device not in element.devices  # then its sources are cited
            cited = (
                facts.rows("select sources from element where product = 'hardware' and idx = ?", element.idx) if apart else ()
            )
            sources = tuple(row["sources"] for row in cited)
            found[name] = first.setdefault((told, own, element.devices, sources), name)
        return found
