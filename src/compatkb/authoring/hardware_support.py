"""Derives which hardware is supported beyond what claims state.

A wheel for a CPU runs on every family of CPUs: devices that any hardware will do for say so; what instruction sets a release
needs is a claim of its own, and denies as before. What a hardware table says of some Linux distributions is inferred for
those that are no older, which their glibc tells: of others nothing is known. A table that names a family of systems, or none,
is about every system of it.
"""

from dataclasses import replace

from compatkb.authoring.knowledge_base import GLIBC, ClaimOrigin, Knowledge, KnowledgeEdge, SourcedClaim
from compatkb.core.vocabulary import ANY_VERSION
from compatkb.schema import Basis, Claim, Kind

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
            knowledge.edges.append(replace(edge, devices=frozenset((device.version,))))


def support_newer_systems(knowledge: Knowledge) -> None:
    """Add for each table that it holds, inferred, on distributions with the glibc of the oldest one that it names or newer."""
    grid, ages = knowledge.grid, {system: mask.bit_length() for system, mask in knowledge.implied.get(GLIBC, {}).items()}
    families = {system: grid.widened((system,))[1:] for system in ages}
    for edge in [
        e for e in knowledge.edges if e.to == _HARDWARE and e.kind is Kind.VERIFIED and e.basis is not Basis.INFERRED
    ]:
        named = [system for system in ages if edge.supported_on & grid.cells((system,), members=False)]
        newer = [
            system
            for system, age in ages.items()
            if system not in named and any(age >= ages[one] and families[system] == families[one] for one in named)
        ]
        if not newer:
            continue
        cited = knowledge.claims[edge.claim]
        names = ", ".join(_names(knowledge, named))
        claim = Claim(
            id=f"{edge.claim}-newer-systems",
            kind=Kind.VERIFIED,
            of=cited.claim.of,
            to=cited.claim.to,
            basis=Basis.INFERRED,
            note=f"documented for {names}; a newer distribution is taken to be alike",
            sources=cited.claim.sources,
        )
        knowledge.claims[claim.id] = SourcedClaim(claim, cited.product, cited.sources, ClaimOrigin.INDEX)
        when = cited.claim.when
        cells = grid.cells(newer, (when and when.arch) or None, (when and when.python) or None, members=False)
        knowledge.edges.append(replace(edge, claim=claim.id, forbidden_on=0, supported_on=cells, basis=Basis.INFERRED))


def _names(knowledge: Knowledge, systems: list[str]) -> list[str]:
    """Return systems as people call them, in the order of the data."""
    return [e.release.name or e.version for e in knowledge.elements["os"] if e.version in systems]
