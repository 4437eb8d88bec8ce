"""What a hardware table says of some Linux distributions is inferred for those that are no older: of others nothing is known.

How old a distribution is, its glibc tells. A table that names a family of systems, or none, is about every system of it.
"""

from dataclasses import replace

from compatkb.authoring.knowledge_base import GLIBC, ClaimOrigin, Knowledge, SourcedClaim
from compatkb.schema import Basis, Claim, Kind

_HARDWARE = "hardware"


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
