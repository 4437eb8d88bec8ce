"""What is only inferred or not known of a stack, why, and what would settle it."""

from functools import reduce
from itertools import combinations
from operator import or_
from typing import NamedTuple

from compatkb.core.vocabulary import Certainty
from compatkb.engine.advice import FeatureSupport
from compatkb.engine.availability import GLIBC
from compatkb.engine.stacks import Stack, SupportLink
from compatkb.output.labels import HARDWARE, build, label, listed, platform_cells, ranges, shortened, value
from compatkb.store.queries.claims import claim, statements
from compatkb.store.queries.products import details_of
from compatkb.store.reader import Snapshot
from compatkb.store.records import Edge, Element, PlatformSet


class Open(NamedTuple):
    """One point that keeps a stack from `works`."""

    what: str
    why: str | None  # on what an inference rests
    settled_by: str  # what would settle it

    @property
    def brief(self) -> str:
        """The point and what it rests on."""
        return f"{self.what}: {self.why}" if self.why else self.what

    @property
    def sentence(self) -> str:
        """All of it as a sentence."""
        return f"{self.brief}; {self.settled_by} would settle it"


def open_points(facts: Snapshot, stack: Stack) -> list[Open]:
    """Return what is only inferred or not known of a stack; empty for stacks that work."""
    if stack.level == Certainty.CERTAIN:
        return []
    requested = {product for product in stack.requested if facts.products[product].role != "feature"}
    links = [link for link in stack.links if link.level != Certainty.CERTAIN]
    points = [Open(what, None, "importing both") for what in strangers(facts, stack)]
    points += [_link(facts, stack, link) for link in links if {link.one, link.other} <= requested]
    points += _silence(facts, stack, requested)
    points += _unnamed_system(facts, stack)
    for element in stack.packages:
        if element.product in stack.requested and element.channels:
            points += _wheels(facts, stack, element)
    points += [_feature(facts, stack, offered) for offered in stack.features if offered.level != Certainty.CERTAIN]
    points += _runtimes(facts, stack, links)
    return list(dict.fromkeys(points))


def unsettled(facts: Snapshot, stack: Stack) -> list[str]:
    """Return the open points of a stack as sentences."""
    return [point.sentence for point in open_points(facts, stack)]


def _name(facts: Snapshot, stack: Stack, product: str) -> str:
    element = next((e for e in stack.packages if e.product == product), None)
    if element:
        return build(facts, element)
    values = [value(facts, product, version) for version in stack.known.get(product, ())]
    return shortened(values) if product == HARDWARE and values else f"{label(facts, product)} {shortened(values)}".strip()


def _link(facts: Snapshot, stack: Stack, link: SupportLink) -> Open:
    notes = [note.rstrip(".") for note in _inferences(facts, link)] if link.level == Certainty.INFERRED else []
    machine = [p for p in (link.one, link.other) if facts.products[p].role == "dimension"]
    one, other = (_name(facts, stack, product) for product in (link.one, link.other))
    joint = "on" if link.other == HARDWARE else "with"
    known = "is inferred" if link.level == Certainty.INFERRED else _undocumented(facts, stack, machine)
    settled_by = "a run there" if machine else "importing both"
    return Open(f"{one} {joint} {other} {known}", notes[0] if notes else None, settled_by)


def _undocumented(facts: Snapshot, stack: Stack, products: list[str]) -> str:
    """Return that something is not documented; of hardware on which systems it is, where it is on others alone."""
    if HARDWARE not in products:
        return "is not documented"
    wanted = reduce(or_, (facts.word(HARDWARE, name) or 0 for name in stack.known.get(HARDWARE, ())), 0)
    named = 0
    for element in stack.packages:
        named |= reduce(
            or_, (edge.supported_on for edge in _hardware_tables(facts, stack, element) if edge.to_mask & wanted), 0
        )
    documented = [name for n, name in enumerate(facts.grid["os"]) if named & facts.dimension_cells("os", 1 << n)]
    wider = {name for one in documented for name in facts.wider.get(one, ())}
    documented = [value(facts, "os", name) for name in documented if name not in wider]
    systems = listed([value(facts, "os", system) for system in stack.os])
    return f"is documented for {listed(documented)}, not for {systems}" if documented else "is not documented"


def _hardware_tables(facts: Snapshot, stack: Stack, element: Element) -> list[Edge]:
    """Return what is said for certain of a build and hardware."""
    edges = [edge for edge in facts.edges(element.product, HARDWARE) if edge.of_mask >> element.idx & 1]
    return [e for e in edges if e.level == Certainty.CERTAIN and (stack.device in e.devices or not e.devices)]


def _runtimes(facts: Snapshot, stack: Stack, links: list[SupportLink]) -> list[Open]:
    pinned = [link for link in links if facts.products[link.other].role == "leaf" and link.other not in stack.requested]
    points = []
    for one in dict.fromkeys(link.one for link in pinned):
        names = shortened(label(facts, link.other) for link in pinned if link.one == one)
        notes = [note.rstrip(".") for link in pinned if link.one == one for note in _inferences(facts, link)]
        what = f"the versions of {names} that {_name(facts, stack, one)} requires are inferred"
        points.append(Open(what, notes[0] if notes else None, "its wheel metadata"))
    return points


def _unnamed_system(facts: Snapshot, stack: Stack) -> list[Open]:
    """Return of which build no hardware table names the systems of a stack whose hardware was not asked for."""
    cells = platform_cells(facts, stack, ("os",))
    points = []
    for element in stack.packages if HARDWARE not in stack.requested else ():
        tables = reduce(or_, (edge.supported_on for edge in _hardware_tables(facts, stack, element)), 0)
        if tables and cells & facts.unnamed_systems(tables):
            systems = listed([value(facts, "os", system) for system in stack.os])
            what = f"no hardware table of {build(facts, element)} names {systems}"
            points.append(Open(what, None, "a statement of its maker or a run there"))
    return points


def strangers(facts: Snapshot, stack: Stack) -> list[str]:
    """Return of which packages that were asked for nobody says that they go together, where of other versions somebody does.

    Each goes with a third member of the stack: that is what the answer rests on.
    """
    linked = {frozenset((link.one, link.other)) for link in stack.links}
    asked = requested_packages(facts, stack)
    pairs = combinations([e for e in stack.packages if e.product in asked], 2)
    apart = [(one, other) for one, other in pairs if frozenset((one.product, other.product)) not in linked]
    met = [pair for pair in apart if any(facts.edges(one.product, other.product) for one, other in (pair, pair[::-1]))]
    return [f"nobody says that {build(facts, one)} and {build(facts, other)} go together" for one, other in met]


def _silence(facts: Snapshot, stack: Stack, requested: set[str]) -> list[Open]:
    """Return the members of which nothing is said beside the others."""
    linked = {product for link in stack.links for product in (link.one, link.other)}
    members = [e.product for e in stack.packages if e.product in stack.requested]
    points = []
    for product in stack.requested:
        others = [label(facts, p) for p in members if p != product]
        if product in requested and product not in linked and others and product != GLIBC:
            name = _name(facts, stack, product)
            what = f"{listed(others)} on {name}" if product == HARDWARE else f"{name} with {listed(others)}"
            what += f" {_undocumented(facts, stack, [product])}"
            points.append(Open(what, None, "a statement of its maker or a run"))
    return points


def _wheels(facts: Snapshot, stack: Stack, element: Element) -> list[Open]:
    points = []
    if element.stage == "from-source":
        is_archive = "default" in element.channels
        how = "has no wheels: pip builds its source archive" if is_archive else "is on no index: it is compiled from source"
        points.append(Open(f"{build(facts, element)} {how}", None, "compiling it"))
    elif unseen := _unserved(facts, element.certain, stack):
        known = details_of(facts, element.product, element.idx)
        note = known.wheels_note if known else None
        systems = listed([value(facts, "os", system) for system in stack.os])
        pythons = ranges(unseen, facts.grid["python"])
        served = not _unserved(facts, element.certain | element.inferred, stack)
        if served and not note and "default" in element.channels:  # people explain what they infer: it is a tag for any Python
            what = f"whether {build(facts, element)} runs on Python {pythons} on {systems} is not known"
            points.append(Open(what, "its wheel is for this Python and others, and its makers do not name it", "importing it"))
        else:
            what = f"whether {build(facts, element)} has wheels for Python {pythons} on {systems} is not known"
            points.append(Open(what, note.rstrip(".") if note else None, "a look at the index"))
    if GLIBC in stack.known and GLIBC in stack.requested and any(not floor.stated for floor in facts.floors(element)):
        points.append(_glibc(facts, stack, element))
    return points


def _glibc(facts: Snapshot, stack: Stack, element: Element) -> Open:
    """Return why it is not known whether a build runs with the glibc that is pinned."""
    glibc = ", ".join(stack.known[GLIBC])
    floors = [floor for floor in facts.floors(element) if floor.glibc]
    if not floors or not all(floor.stated for floor in floors):
        what = f"whether {build(facts, element)} runs with glibc {glibc} is not known"
        return Open(what, "its wheels name no glibc", "importing it there")
    least = ".".join(map(str, min(floor.glibc for floor in floors if floor.glibc)))
    what = f"whether {build(facts, element)} has wheels for glibc {glibc} is not known"
    return Open(what, f"those that are known need glibc {least}", "a look at the index")


def _feature(facts: Snapshot, stack: Stack, offered: FeatureSupport) -> Open:
    """Return why it is not certain that a stack has a feature."""
    name = facts.features[offered.feature][0]
    if offered.claims:
        notes = [claim(facts, name).note for name in offered.claims]
        why = next((note.rstrip(".") for note in notes if note), None)
        by = listed([f"{label(facts, product)} {version}" for product, version in offered.by])
        return Open(f"{name} with {by} is inferred", why, "a run that uses it")
    members = {e.product: 1 << e.idx for e in stack.packages}
    about_it = [s for s in statements(facts) if s.feature == offered.feature and s.hardware and stack.device in s.device]
    stated = [s.hardware for s in about_it if members.get(s.product, 0) & s.mask]
    named = list(dict.fromkeys(name for names in stated for name in names))
    about = listed([build(facts, e) for e in stack.packages if e.product in requested_packages(facts, stack)])
    what = f"{name} with {about} is not documented"
    if named and HARDWARE not in stack.requested:
        return Open(what, f"it depends on the hardware: {listed(named, 'or')}", "naming the hardware")
    return Open(what, None, "a statement of its makers or a run that uses it")


def requested_packages(facts: Snapshot, stack: Stack) -> set[str]:
    """Return the packages that the search was about."""
    return {product for product in stack.requested if facts.products[product].role == "package"}


def _inferences(facts: Snapshot, link: SupportLink) -> list[str]:
    """Return the notes of the inferred claims of a link, those that vouch before those that only deny."""
    claims = [claim(facts, name) for name in link.claims]
    inferred = sorted((c for c in claims if c.basis == "inferred"), key=lambda c: c.kind != "verified")
    return [c.note for c in inferred if c.note]


def _unserved(facts: Snapshot, served: PlatformSet, stack: Stack) -> list[str]:
    """Return the Pythons of a stack that some platforms leave out, such as those of which wheels were seen."""
    cells = platform_cells(facts, stack, ("os", "arch"))
    order = facts.grid["python"]
    wanted = {python: cells & facts.dimension_cells("python", 1 << order.index(python)) for python in stack.python}
    return [python for python, where in wanted.items() if where & ~served]
