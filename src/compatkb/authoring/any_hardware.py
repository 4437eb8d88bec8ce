"""Devices that any hardware which offers them will do for: a wheel for a CPU runs on every family of CPUs.

What instruction sets a release needs is a claim of its own, and denies as before.
"""

from dataclasses import replace

from compatkb.authoring.knowledge_base import ClaimOrigin, Knowledge, KnowledgeEdge, SourcedClaim
from compatkb.core.vocabulary import ANY_VERSION
from compatkb.schema import Basis, Claim, Kind

_HARDWARE = "hardware"


def support_any_hardware(knowledge: Knowledge) -> None:
    """Add for each such device that whatever brings it works on all hardware that offers it."""
    if not {"device", _HARDWARE} <= knowledge.products.keys():
        return
    for device in (element.release for element in knowledge.elements["device"] if element.release.any_hardware):
        offering = sum(1 << n for n, e in enumerate(knowledge.elements[_HARDWARE]) if device.version in e.release.devices)
        cited = tuple(knowledge.sources["device", name] for name in device.sources if ("device", name) in knowledge.sources)
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
