"""Reads the machine out of a pasted text: its GPU by the names and PCI ids that tools print, its kernel and compute runtime.

`lspci`, `xpu-smi`, `clinfo`, torch, Python, Windows and people write them each in another way; what a name or a number
means is looked up in the data.
"""

import re

from compatkb.doctor.error_text import ErrorText
from compatkb.doctor.version_extraction import SAYS, Read, mask_of
from compatkb.store.queries.provenance import guide_records
from compatkb.store.reader import Snapshot

_GPU = re.compile(
    r"(?:arc(?:\s?\(tm\)|™)? ?(?:pro )?[ab]\d{2,3}[a-z]?"
    r"|data cent(?:er|re) gpu (?:max|flex)(?: series)?(?: \d{3,4})?"
    r"|(?:max|flex) (?:1100|1550|1450|140|170)"
    r"|core(?:\s?\(tm\)|™)? ultra (?:x?[3579]) (?:processor )?\d{3}[a-z]{1,2}"
    r"|(?:meteor|lunar|panther|arrow|nova|wildcat) lake(?:-[a-z]{1,2})?"
    r"|(?<![a-z0-9_./-])[ab]\d{3}m?(?![a-z0-9_.-]))"
)
_PCI = re.compile(r"8086[:\s]+(?:0x)?([0-9a-f]{4})(?![0-9a-f])|\b0x([0-9a-f]{4})\b|_0x([0-9a-f]{4})_|&dev_([0-9a-f]{4})")
_KERNEL = re.compile(
    r"(?:linux(?:-| version | [a-z0-9_.-]{1,40} )|kernel(?: version| release)?[: =|*`]{1,6}(?:linux )?"
    r"|uname -[a-z]{1,3}\s{1,8})(\d\.\d{1,2})(?:\.\d{1,3})?(?=[-.+ \n)|`]|$)"
)
_RUNTIME = re.compile(r"(?<![\d.])(2[2-9]\.\d{2}\.\d{5}(?:\.\d{1,3})?)(?![\d.])")
_BUILD = re.compile(r"(?<![\d.])1\.\d{1,2}\.(\d{5})(?![\d.])")  # as Level Zero prints it
_MOST = 64  # names of a kind that are looked up


def machine_reads(facts: Snapshot, pasted: ErrorText) -> tuple[Read, ...]:
    """Return the GPU family, the kernel and the compute runtime that a text names; of several of a kind none."""
    return tuple(read for read in (_gpu(facts, pasted), _kernel(facts, pasted), _runtime(facts, pasted)) if read)


def _gpu(facts: Snapshot, pasted: ErrorText) -> Read | None:
    hardware = facts.products.get("hardware")
    if hardware is None:
        return None
    elements = facts.elements(hardware.id)
    found: dict[str, int] = {}
    for match in list(_GPU.finditer(pasted.plain))[:_MOST]:
        mask = mask_of(facts, hardware, match[0])
        if mask and mask & (mask - 1) == 0:  # one family, not a wider word
            found.setdefault(elements[mask.bit_length() - 1].version, match.start())
    if not found:
        by_id = {device: record["hardware"] for record in guide_records(facts, "graphics") for device in record["ids"]}
        for match in list(_PCI.finditer(pasted.plain))[:_MOST]:
            name = by_id.get(next(filter(None, match.groups())))
            if name:
                found.setdefault(name, match.start())
    if len(found) != 1:
        return None
    ((name, at),) = found.items()
    return Read(hardware.id, name, pasted.line_at(at)[0], SAYS)


def _kernel(facts: Snapshot, pasted: ErrorText) -> Read | None:
    return _one(facts, pasted, "linux-kernel", {match[1]: match.start() for match in _KERNEL.finditer(pasted.plain)})


def _runtime(facts: Snapshot, pasted: ErrorText) -> Read | None:
    """Return the compute runtime, by its version or by the build number that Level Zero prints."""
    found = {match[1]: match.start() for match in _RUNTIME.finditer(pasted.plain)}
    if not found and "compute-runtime" in facts.products:
        by_build = {e.version.split(".")[2]: e.version for e in facts.elements("compute-runtime") if e.version.count(".") > 1}
        builds = ((by_build.get(match[1]), match.start()) for match in _BUILD.finditer(pasted.plain))
        found = {version: at for version, at in builds if version}
    return _one(facts, pasted, "compute-runtime", found)


def _one(facts: Snapshot, pasted: ErrorText, product: str, found: dict[str, int]) -> Read | None:
    """Return the one version of a product that a text names; of several, which are of other machines, none."""
    if product not in facts.products or len(found) != 1:
        return None
    ((version, at),) = found.items()
    return Read(product, version, pasted.line_at(at)[0], SAYS)
