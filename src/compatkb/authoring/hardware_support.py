"""Derives what claims say beyond their words: which hardware is supported, and which versions that nobody lists are left open.

A wheel for a CPU runs on every family of CPUs: devices that any hardware will do for say so; what instruction sets a release
needs is a claim of its own, and denies as before. A table says where something was verified and denies nothing: what it says
of some systems is inferred for the others of their families, where wheels, glibc and drivers decide; what it says of a chip is
inferred for other cards with that chip. A table that names a family of systems, or none, is about every system of it.

Of a runtime the data list few versions, and claims bound the rest: `numpy<2` beside `numpy>=2` cannot hold, whether or
not a numpy is listed. Between two bounds that anyone names, every version is admitted by the same ranges, so one
version of each such gap stands for all of them: bit n of an edge's `unlisted` says whether it leaves gap n open.
"""

import re
from functools import reduce
from operator import or_

from packaging.version import Version

from compatkb.authoring.knowledge_base import ClaimOrigin, Knowledge, KnowledgeEdge, SourcedClaim
from compatkb.core.versions import Listing, Scheme, parse
from compatkb.core.vocabulary import ANY_VERSION
from compatkb.schema import Basis, Claim, Kind, Role

_HARDWARE = "hardware"


def support_any_hardware(knowledge: Knowledge) -> None:
    """Add for each such device that whatever brings it works on all hardware that offers it."""
    if not {"device", _HARDWARE} <= knowledge.products.keys():
        return
    for device in (element.release for element in knowledge.elements["device"] if element.release.any_hardware):
        offering = sum(1 << n for n, e in enumerate(knowledge.elements[_HARDWARE]) if device.version in e.release.devices)
        cited = knowledge.cited("device", device.sources)
        routes = (route for route in knowledge.files.routes.route if device.version in route.device)
        for provider in dict.fromkeys(route.provider for route in routes):
            key = f"any-hardware-{device.version}-{provider}"
            claim = Claim(id=key, kind=Kind.VERIFIED, of=provider, to=(_HARDWARE,), sources=device.sources)
            knowledge.claims[key] = SourcedClaim(claim, "device", cited, ClaimOrigin.INDEX)
            every = (1 << len(knowledge.elements[provider])) - 1
            edge = KnowledgeEdge(
                key, Kind.VERIFIED, provider, every, _HARDWARE, offering, ANY_VERSION, 0, knowledge.grid.all, Basis.STATED
            )
            knowledge.edges.append(edge._replace(devices=frozenset((device.version,))))


def support_alike_hardware(knowledge: Knowledge) -> None:
    """Add for each table that it holds, inferred, for hardware with the chips of what it names and not denied."""
    elements = knowledge.elements[_HARDWARE] if _HARDWARE in knowledge.products else []
    numbers = {element.version: number for number, element in enumerate(elements)}
    alike = [(n, element, numbers[element.release.chips_of]) for n, element in enumerate(elements) if element.release.chips_of]
    denials = [e for e in knowledge.edges if e.to == _HARDWARE and e.kind is Kind.BREAKS]
    systems = {name for name, product in knowledge.products.items() if product.machine == "system"}  # these go by card
    for edge in [e for e in knowledge.edges if e.to == _HARDWARE and e.kind is Kind.VERIFIED and e.of not in systems]:
        for number, element, model in alike:
            denied = any(e.of == edge.of and e.of_mask & edge.of_mask and e.to_mask >> number & 1 for e in denials)
            if edge.to_mask >> model & 1 and not edge.to_mask >> number & 1 and not denied:
                name = elements[model].release.name or elements[model].version
                note = f"documented for {name}, whose chips these are; the cards are taken to be alike"
                term = f"{_HARDWARE}=={element.version}"
                claim = _inferred(knowledge, edge, f"{edge.claim}-on-{element.version}", note, (term,))
                spec = f"=={element.version}"
                knowledge.edges.append(edge._replace(claim=claim, to_mask=1 << number, spec=spec, basis=Basis.INFERRED))


def support_other_systems(knowledge: Knowledge) -> None:
    """Add for each table that names single systems that it holds, inferred, on all others of their families."""
    grid = knowledge.grid
    systems = {element.version: element.release for element in knowledge.elements["os"]}
    families: dict[str, frozenset[str]] = {}
    for system in (name for name, release in systems.items() if release.part_of):
        around = (name for name in grid.widened((system,)) if name in systems)
        families[system] = frozenset(name for name in around if systems[name].apart or not systems[name].part_of)
    for edge in [
        e for e in knowledge.edges if e.to == _HARDWARE and e.kind is Kind.VERIFIED and e.basis is not Basis.INFERRED
    ]:
        named = [system for system in families if edge.supported_on & grid.cells((system,), members=False)]
        when = knowledge.claims[edge.claim].claim.when
        for family in dict.fromkeys(families[system] for system in named):
            others = [system for system, around in families.items() if around == family and system not in named]
            tried = [system for system in named if families[system] == family and system not in family]
            if not others:
                continue
            names = ", ".join(_names(knowledge, tried))
            note = f"documented for {names}; other systems of the family are taken to be alike"
            claim = _inferred(knowledge, edge, f"{edge.claim}-other-{'-'.join(sorted(family))}", note)
            pythons = knowledge.pythons(when.python) if when and when.python else None
            cells = grid.cells(others, (when and when.arch) or None, pythons, members=False)
            knowledge.edges.append(edge._replace(claim=claim, forbidden_on=0, supported_on=cells, basis=Basis.INFERRED))


def _inferred(knowledge: Knowledge, edge: KnowledgeEdge, key: str, note: str, to: tuple[str, ...] = ()) -> str:
    """Add a claim that is concluded from the one that an edge is of, with its sources; return its id."""
    cited = knowledge.claims[edge.claim]
    claim = Claim(
        id=key,
        kind=Kind.VERIFIED,
        of=cited.claim.of,
        to=to or cited.claim.to,
        basis=Basis.INFERRED,
        note=note,
        sources=cited.claim.sources,
    )
    knowledge.claims[key] = SourcedClaim(claim, cited.product, cited.sources, ClaimOrigin.INDEX)
    return key


def _names(knowledge: Knowledge, systems: list[str]) -> list[str]:
    """Return systems as people call them, in the order of the data."""
    return [e.release.name or e.version for e in knowledge.elements["os"] if e.version in systems]


_BOUND = re.compile(r"\d+(?:\.\d+)*")


def mark_gaps(knowledge: Knowledge) -> None:
    """Set `unlisted` on every edge to a runtime whose versions have an order by PEP 440."""
    bounded = {
        product.id for product in knowledge.products.values() if product.role is Role.LEAF and product.scheme is Scheme.PEP440
    }
    specs: dict[str, set[str]] = {name: set() for name in bounded}
    for edge in knowledge.edges:
        if edge.to in bounded:
            specs[edge.to].add(edge.spec)
    gaps = {name: _gaps(knowledge, name, specifiers) for name, specifiers in specs.items()}
    admitted = {(name, spec): _admitted(gaps[name], spec) for name, specifiers in specs.items() for spec in specifiers}
    knowledge.edges = [
        edge._replace(unlisted=_open(edge, admitted[edge.to, edge.spec], gaps[edge.to].named("")))
        if edge.to in bounded
        else edge
        for edge in knowledge.edges
    ]


def _open(edge: KnowledgeEdge, admitted: int, every: int) -> int:
    """Return the gaps that an edge leaves open; one that breaks with every version only asks for absence."""
    if edge.kind is not Kind.BREAKS:
        return admitted
    return every if edge.spec == ANY_VERSION else every & ~admitted


def _gaps(knowledge: Knowledge, product: str, specs: set[str]) -> Listing:
    """Return one version of each gap: the bounds themselves where they are not listed, and what is beside them.

    Below the newest release that an index lists there are none; below the oldest, too, where the list is called complete. Of
    what has no release on a complete list there is none at all.
    """
    listed = {parse(Scheme.PEP440, element.version) for element in knowledge.elements[product]}
    read = {Version(element.version) for element in knowledge.elements[product] if element.listed}
    bounds = {bound for spec in specs for bound in _BOUND.findall(spec)}
    around = {version for bound in bounds for version in (bound, f"{bound}.0.0.1", _next(bound), f"{_next(bound)}.0.0.1")}
    is_whole = knowledge.lists_all_releases(product)
    versions = {Version(text) for text in {*around, "0"}} if listed or not is_whole else set[Version]()
    oldest, newest = min(read, default=None), max(read, default=None)
    gaps = [
        version
        for version in versions - listed
        if not (oldest and newest) or version > newest or (version < oldest and not is_whole)
    ]
    return Listing((n, str(version), str(version)) for n, version in enumerate(sorted(gaps)))


def _next(version: str) -> str:
    """Return where a prefix match on `version` ends."""
    *most, last = version.split(".")
    return ".".join((*most, str(int(last) + 1)))


def _admitted(gaps: Listing, spec: str) -> int:
    """Return the gaps that a specifier, or one of several, admits."""
    ways = ["" if one == ANY_VERSION else one for one in spec.split(" or ")]
    return reduce(or_, map(gaps.named, ways))
