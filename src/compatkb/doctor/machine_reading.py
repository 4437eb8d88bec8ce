"""Reads the machine out of a pasted text: its GPU by the names and PCI ids that tools print, its kernel and compute runtime.

`lspci`, `xpu-smi`, `clinfo`, torch, Python, Windows and people write them each in another way; what a name or a number
means is looked up in the data.
"""

import re
from functools import lru_cache
from itertools import islice

from compatkb.doctor.error_text import ErrorText
from compatkb.doctor.version_extraction import SAYS, Read
from compatkb.store.queries.products import hardware_devices
from compatkb.store.queries.provenance import guide_records
from compatkb.store.reader import Snapshot
from compatkb.store.records import Product

_TRADE = re.compile(r"\((?:r|tm|c)\)|[®™©]")
_TOKEN = re.compile(r"[a-z0-9]+")
_TOKENS = 5  # of a name at the most: data center gpu max 1550
_PCI = re.compile(r"8086[:\s]+(?:0x)?([0-9a-f]{4})(?![0-9a-f])|\b0x([0-9a-f]{4})\b|_0x([0-9a-f]{4})_|&dev_([0-9a-f]{4})")
_KERNEL = re.compile(
    r"(?:linux(?:-| version | [a-z0-9_.-]{1,40} )|kernel(?: version| release)?[: =|*`]{1,6}(?:linux )?"
    r"|uname -[a-z]{1,3}\s{1,8})(\d\.\d{1,2})(?:\.\d{1,3})?(?=[-.+ \n)|`]|$)"
)
_RUNTIME = re.compile(r"(?<![\d.])(2[2-9]\.\d{2}\.\d{5}(?:\.\d{1,3})?)(?![\d.])")
_BUILD = re.compile(r"(?<![\d.])1\.\d{1,2}\.(\d{5})(?![\d.])")  # as Level Zero prints it
_MOST = 64  # PCI ids that are looked up


def machine_reads(facts: Snapshot, pasted: ErrorText) -> tuple[Read, ...]:
    """Return the GPU family, the kernel and the compute runtime that a text names; of several of a kind none."""
    return tuple(read for read in (_gpu(facts, pasted), _kernel(facts, pasted), _runtime(facts, pasted)) if read)


def _gpu(facts: Snapshot, pasted: ErrorText) -> Read | None:
    hardware = facts.products.get("hardware")
    if hardware is None:
        return None
    found: dict[str, int] = {}
    by_id = {device: record["hardware"] for record in guide_records(facts, "graphics") for device in record["ids"]}
    for match in islice(_PCI.finditer(pasted.plain), _MOST):
        if name := by_id.get(next(filter(None, match.groups()))):
            found.setdefault(name, match.start())
    found = found or _named(facts, hardware, pasted)
    if len(found) != 1:
        return None
    ((name, at),) = found.items()
    return Read(hardware.id, name, pasted.line_at(at)[0], SAYS)


def _named(facts: Snapshot, hardware: Product, pasted: ErrorText) -> dict[str, int]:
    """Return the families of GPUs that a text names, each with the place of the first name.

    A name is one of the data: up to five words in a row, marks of trade left out. One word alone has a digit: `max` and `arc`
    are words of other things.
    """
    names, ends = _names(facts, hardware)
    tokens = [(m[0], m.start()) for m in _TOKEN.finditer(_TRADE.sub(lambda mark: " " * len(mark[0]), pasted.plain))]
    found: dict[str, int] = {}
    for number, (last, _) in enumerate(tokens):
        key = ""
        for token, at in reversed(tokens[max(0, number - _TOKENS + 1) : number + 1]) if last in ends else ():
            key = token + key
            if key not in ends:
                break
            if key in names and not (key == last and key.isalpha()):
                found.setdefault(names[key], at)
    return found


@lru_cache(8)
def _names(facts: Snapshot, hardware: Product) -> tuple[dict[str, str], frozenset[str]]:
    """Return the families that have a device beside the CPU, by each name that means one of them alone; how names end."""
    elements, devices = facts.elements(hardware.id), hardware_devices(facts)
    names = {}
    for name in facts.names(hardware.id):
        mask = facts.word(hardware.id, name) or 0
        family = elements[mask.bit_length() - 1].version if mask and mask & (mask - 1) == 0 else ""
        if devices.get(family, ())[:1] not in ((), ("cpu",)):
            names[name] = family
    return names, frozenset(name[at:] for name in names for at in range(len(name)))


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
