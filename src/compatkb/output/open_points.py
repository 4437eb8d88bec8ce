"""What is only inferred or not known of a stack, why, and what would settle it."""

from collections.abc import Collection
from functools import cached_property, reduce
from itertools import combinations
from operator import or_

from compatkb.core.vocabulary import Certainty
from compatkb.engine.advice import FeatureSupport
from compatkb.engine.availability import GLIBC
from compatkb.engine.stacks import Stack, SupportLink
from compatkb.output.labels import HARDWARE, Names, ranges
from compatkb.output.things import Open, listed, shortened, systems_listed
from compatkb.request.lookup import is_newer, newest_known
from compatkb.store.reader import Snapshot
from compatkb.store.records import Edge, Element, PlatformSet


class OpenPoints(Names):
    """Tells what is open of one stack."""

    def __init__(self, facts: Snapshot, stack: Stack) -> None:
        super().__init__(facts)
        self.stack = stack

    @cached_property
    def open_points(self) -> tuple[Open, ...]:
        """What is only inferred or not known of a stack; empty for stacks that work."""
        if self.stack.level == Certainty.CERTAIN:
            return ()
        requested = {product for product in self.stack.requested if self.facts.products[product].role != "feature"}
        links = [link for link in self.stack.links if link.level != Certainty.CERTAIN]
        points = [Open(what, None, "importing both") for what in self._strangers()]
        points += [self._link(link) for link in links if {link.one, link.other} <= requested]
        points += [Open(what, None, "a test run there") for what in self._unnamed_parts()]
        points += self._newer(requested)
        points += self._silence(requested)
        points += self._unnamed_system()
        for element in self.stack.packages:
            if element.product in self.stack.requested and element.channels:
                points += self._wheels(element)
        points += [self._feature(offered) for offered in self.stack.features if offered.level != Certainty.CERTAIN]
        points += self._runtimes(links)
        points += self._outside()
        whole = Open(
            f"{self._name(self.stack.packages[0].product)} with all that was asked for is not documented",
            None,
            "a test run there",
        )
        return tuple(dict.fromkeys(points)) or (whole,)

    def _name(self, product: str) -> str:
        element = next((e for e in self.stack.packages if e.product == product), None)
        if element:
            return self.build(element)
        values = [self.value(product, version) for version in self.stack.known.get(product, ())]
        return shortened(values) if product == HARDWARE and values else f"{self.label(product)} {shortened(values)}".strip()

    def _link(self, link: SupportLink) -> Open:
        notes = [note.rstrip(".") for note in self._inferences(link)] if link.level == Certainty.INFERRED else []
        products = (link.one, link.other)
        machine = [p for p in products if self.facts.products[p].role == "dimension"]
        one, other = (self._name(product) for product in products)
        joint = "on" if link.other == HARDWARE else "with"
        known = self._undocumented(products)
        if link.level == Certainty.INFERRED and "," not in known:
            known = "is assumed, not documented"
        settled_by = "a test run there" if machine else "importing both"
        return Open(f"{one} {joint} {other} {known}", notes[0] if notes else None, settled_by)

    def _undocumented(self, products: Collection[str]) -> str:
        """Return that something is not documented; of hardware on which systems it is, where it is on others alone.

        Where a package is among the products, that is what its own tables say.
        """
        if HARDWARE not in products:
            return "is not documented"
        wanted = reduce(or_, (self.facts.word(HARDWARE, name) or 0 for name in self.stack.known.get(HARDWARE, ())), 0)
        named = 0
        for element in [e for e in self.stack.packages if e.product in products] or self.stack.packages:
            named |= reduce(or_, (edge.supported_on for edge in self._hardware_tables(element) if edge.to_mask & wanted), 0)
        documented = [name for n, name in enumerate(self.facts.grid["os"]) if named & self.facts.dimension_cells("os", 1 << n)]
        wider = {name for one in documented for name in self.facts.wider.get(one, ())}
        documented = [self.value("os", name) for name in documented if name not in wider]
        systems = [value for system in self.stack.os if (value := self.value("os", system)) not in documented]
        is_elsewhere = bool(documented and systems)
        return (
            f"is documented for {systems_listed(documented)}, not for {systems_listed(systems)}"
            if is_elsewhere
            else "is not documented"
        )

    def _hardware_tables(self, element: Element) -> list[Edge]:
        """Return what is said for certain of a build and hardware."""
        edges = [edge for edge in self.facts.edges(element.product, HARDWARE) if edge.of_mask >> element.idx & 1]
        return [e for e in edges if e.level == Certainty.CERTAIN and (self.stack.device in e.devices or not e.devices)]

    def _runtimes(self, links: list[SupportLink]) -> list[Open]:
        pinned = [
            link for link in links if self.facts.products[link.other].role == "leaf" and link.other not in self.stack.requested
        ]
        points = []
        for one in dict.fromkeys(link.one for link in pinned):
            names = shortened(self.label(link.other) for link in pinned if link.one == one)
            notes = [note.rstrip(".") for link in pinned if link.one == one for note in self._inferences(link)]
            what = f"the versions of {names} that {self._name(one)} requires are assumed"
            points.append(Open(what, notes[0] if notes else None, "its wheel metadata"))
        return points

    def _outside(self) -> list[Open]:
        """Return where what several packages require ends in packages that the data do not hold: nobody judged those."""
        asked, points = self._requested_packages(), []
        for element in self.stack.packages if len(asked) > 1 else ():
            rows = self.facts.outside_requirements(element.product) if element.product in asked else ()
            here = [row for row in rows if row.mask >> element.idx & 1 and row.cells & self.stack.cells(self.facts)]
            if names := sorted({row.distribution for row in here}):
                many = f"{len(names)} packages" if len(names) > 1 else "a package"
                what = f"{self.build(element)} requires {many} that these data do not have: {shortened(names)}"
                points.append(Open(what, None, "a resolution by pip"))
        return points

    def _unnamed_system(self) -> list[Open]:
        """Return of which build no hardware table names the systems of a stack whose hardware was not asked for."""
        cells = self.stack.cells(self.facts, ("os",))
        points = []
        for element in self.stack.packages if HARDWARE not in self.stack.requested else ():
            tables = reduce(or_, (edge.supported_on for edge in self._hardware_tables(element)), 0)
            if tables and cells & self.facts.unnamed_systems(tables):
                systems = systems_listed(self.value("os", system) for system in self.stack.os)
                what = f"{self.build(element)} on {systems} is not documented for any GPU"
                points.append(Open(what, None, "a test run there"))
        return points

    def _strangers(self) -> list[str]:
        """Return which packages that were asked for nobody says to go together, where of other versions somebody does.

        Each goes with a third member of the stack: that is what the answer rests on.
        """
        linked = {frozenset((link.one, link.other)) for link in self.stack.links}
        asked = self._requested_packages()
        pairs = combinations([e for e in self.stack.packages if e.product in asked], 2)
        apart = [(one, other) for one, other in pairs if frozenset((one.product, other.product)) not in linked]
        met = [
            pair for pair in apart if any(self.facts.edges(one.product, other.product) for one, other in (pair, pair[::-1]))
        ]
        return [f"{self.build(one)} with {self.build(other)} is not documented" for one, other in met]

    def _unnamed_parts(self) -> list[str]:
        """Return which runtimes of the machine that were pinned no maker of a package names, where nothing hinges on that."""
        packages = {element.product for element in self.stack.packages}
        pairs = [{link.one, link.other} for link in self.stack.links]
        pinned = [p for p in self.stack.requested if self.facts.products[p].machine == "runtime"]
        unnamed = [part for part in pinned if not any(part in pair and packages & pair for pair in pairs)]
        lead = self.label(self.stack.packages[0].product)
        return [f"{self._name(part)} with {lead} is not documented" for part in unnamed]

    def _newer(self, requested: set[str]) -> list[Open]:
        """Return the packages that were asked for in a version newer than the data."""
        own = [e for e in self.stack.packages if e.product in requested and e.idx >= self.facts.sizes[e.product]]
        newer = [e for e in own if is_newer(self.facts, self.facts.products[e.product], e.version)]
        return [
            Open(
                f"{self._name(e.product)} is newer than these data ({self.facts.meta['data_date']})",
                f"the newest known is {newest_known(self.facts, e.product)}",
                "newer data",
            )
            for e in newer
        ]

    def _silence(self, requested: set[str]) -> list[Open]:
        """Return the members of which nothing is said beside the others."""
        linked = {product for link in self.stack.links for product in (link.one, link.other)}
        members = [e.product for e in self.stack.packages if e.product in self.stack.requested]
        points = []
        for product in self.stack.requested:
            others = [self.label(p) for p in members if p != product]
            if product in requested and product not in linked and others and product != GLIBC:
                name = self._name(product)
                what = f"{listed(others)} on {name}" if product == HARDWARE else f"{name} with {listed(others)}"
                what += f" {self._undocumented([product])}"
                named = [self.facts.release(product, version) for version in self.stack.known.get(product, ())]
                notes = [known.note.rstrip(".") for known in named if known and known.note] if product == HARDWARE else []
                points.append(Open(what, notes[0] if len(named) == len(notes) == 1 else None, "a test run"))
        return points

    def _wheels(self, element: Element) -> list[Open]:
        points = []
        if element.stage == "from-source":
            is_archive = "default" in element.channels
            how = (
                "has no wheels: pip builds its source archive" if is_archive else "is on no index: it is compiled from source"
            )
            points.append(Open(f"{self.build(element)} {how}", None, "compiling it"))
        elif unseen := self._unserved(element.certain):
            known = self.facts.details_of(element.product, element.idx)
            note = known.wheels_note if known else None
            systems = systems_listed(self.value("os", system) for system in self.stack.os)
            pythons = ranges(unseen, self.facts.grid["python"])
            served = not self._unserved(element.certain | element.inferred)
            if (
                served and not note and "default" in element.channels
            ):  # people explain what they infer: it is a tag for any Python
                what = f"whether {self.build(element)} runs on Python {pythons} on {systems} is not known"
                points.append(
                    Open(what, "its wheel is for this Python and others, and its vendor does not name it", "importing it")
                )
            else:
                what = f"whether {self.build(element)} has wheels for Python {pythons} on {systems} is not known"
                points.append(Open(what, note.rstrip(".") if note and served else None, "the wheel list of the index"))
        if (
            GLIBC in self.stack.known
            and GLIBC in self.stack.requested
            and any(not floor.stated for floor in self.facts.floors(element))
        ):
            points.append(self._glibc(element))
        return points

    def _glibc(self, element: Element) -> Open:
        """Return why it is not known whether a build runs with the glibc that is pinned."""
        glibc = ", ".join(self.stack.known[GLIBC])
        floors = [floor for floor in self.facts.floors(element) if floor.glibc]
        if not floors or not all(floor.stated for floor in floors):
            what = f"whether {self.build(element)} runs with glibc {glibc} is not known"
            return Open(what, "its wheels name no glibc", "importing it there")
        least = ".".join(map(str, min(floor.glibc for floor in floors if floor.glibc)))
        what = f"whether {self.build(element)} has wheels for glibc {glibc} is not known"
        return Open(what, f"those that are known need glibc {least}", "the wheel list of the index")

    def _feature(self, offered: FeatureSupport) -> Open:
        """Return why it is not certain that a stack has a feature."""
        name = self.facts.features[offered.feature][0]
        if offered.claims:
            notes = [self.facts.claim(name).note for name in offered.claims]
            why = next((note.rstrip(".") for note in notes if note), None)
            by = listed([f"{self.label(product)} {version}" for product, version in offered.by])
            return Open(f"{name} with {by} is assumed", why, "a test run that uses it")
        members = {e.product: 1 << e.idx for e in self.stack.packages}
        about_it = [
            s for s in self.facts.statements() if s.feature == offered.feature and s.hardware and self.stack.device in s.device
        ]
        stated = [s.hardware for s in about_it if members.get(s.product, 0) & s.mask]
        named = list(dict.fromkeys(name for names in stated for name in names))
        about = listed([self.build(e) for e in self.stack.packages if e.product in self._requested_packages()])
        what = f"{name} with {about} is not documented"
        if named and HARDWARE not in self.stack.requested:
            return Open(what, f"it depends on the hardware: {listed(named, 'or')}", "naming the hardware")
        return Open(what, None, "a test run that uses it")

    def _requested_packages(self) -> set[str]:
        """Return the packages that the search was about."""
        return {product for product in self.stack.requested if self.facts.products[product].role == "package"}

    def _inferences(self, link: SupportLink) -> list[str]:
        """Return the notes of the inferred claims of a link, those that vouch before those that only deny."""
        claims = [self.facts.claim(name) for name in link.claims]
        inferred = sorted((c for c in claims if c.basis == "inferred"), key=lambda c: c.kind != "verified")
        return [c.note for c in inferred if c.note]

    def _unserved(self, served: PlatformSet) -> list[str]:
        """Return the Pythons of a stack that some platforms leave out, such as those of which wheels were seen."""
        cells = self.stack.cells(self.facts, ("os", "arch"))
        order = self.facts.grid["python"]
        wanted = {
            python: cells & self.facts.dimension_cells("python", 1 << order.index(python)) for python in self.stack.python
        }
        return [python for python, where in wanted.items() if where & ~served]
