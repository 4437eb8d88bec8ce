"""Reads out of a pasted text which machine it is about: device and system, GPU, kernel and compute runtime.

`lspci`, `xpu-smi`, `clinfo`, torch, Python, Windows and people write them each in another way; what a name or a number
means is looked up in the data.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterator
from functools import cached_property
from itertools import islice
from typing import Any

from compatkb.core.memo import memoized
from compatkb.core.vocabulary import ShownBy
from compatkb.doctor.error_text import ErrorText, PatternMatch, plain
from compatkb.doctor.questions import KnownData
from compatkb.doctor.version_extraction import DRIVER, RUNTIME, SAYS, Read
from compatkb.engine.known_issues import HARDWARE
from compatkb.store.reader import Snapshot
from compatkb.store.records import Product

UNKNOWN = "unknown"
LINUX, WINDOWS = "linux", "windows"
OF_SYSTEM = {"linux-kernel": LINUX, "kernel-driver": LINUX, "compute-runtime": LINUX, "windows-driver": WINDOWS}
"""Parts of a machine that one kind of system has."""
_LAYER = "wsl"  # a Linux on Windows: texts name both
_MODEL = re.compile(r"(?=.*[0-9])[a-z].{3,}|.{8,}")  # a750 or "lunar lake"; shorter names are also those of other makers
_WORD = re.compile(r"[a-z0-9]")
_TRADE = re.compile(r"\((?:r|tm|c)\)|[®™©]")
_TOKEN = re.compile(r"(?<![a-z0-9])(?!release\b)[a-z0-9]+")
_TOKENS = 7  # of a name at the most: suse linux enterprise server 15 sp 7
_PCI = re.compile(r"8086[:\s]+(?:0x)?([0-9a-f]{4})(?![0-9a-f])|\b0x([0-9a-f]{4})\b|_0x([0-9a-f]{4})_|&dev_([0-9a-f]{4})")
_KERNEL = re.compile(
    r"(?:linux(?:-image-|-| version | (?!release)[a-z0-9_.-]{1,40} )|kernel(?: version| release)?[: =|*`]{1,6}(?:linux )?"
    r"|uname -[a-z]{1,3}\s{1,8})(\d\.\d{1,2})(?:\.\d{1,3})?(?=[-.+, \n)|`]|$)"
    r"|(?<![\d.])(\d\.\d{1,2})(?:\.\d{1,3})?(?:-\d{1,6})?"
    r"(?:-generic|-oem|-lowlatency|-pve|-amd64|\.fc\d\d|(?: latest)? (?:linux )?kernel\b)"
)
_BUILD = re.compile(r"(?<![\d.])1\.\d{1,2}\.(\d{5})(?![\d.])")  # as Level Zero prints it
_WINDOWS = re.compile(DRIVER.pattern + r"|driver[^\n\d]{0,20}101\.(\d{4})(?!\d)")
_MOST = 64  # PCI ids that are looked up
_FEW = 4  # versions of one part
_WIDE = 2  # a name of words that more families than these have, such as Intel Graphics, means none of them

Shown = dict[str, dict[str, int]]
"""Values by the kind of evidence for them, each with a line."""


class MachineReader(KnownData):
    """Reads which machine one text is about."""

    def __init__(self, facts: Snapshot, pasted: ErrorText) -> None:
        super().__init__(facts)
        self.pasted = pasted

    def device(self) -> Read | None:
        """Return the device that a text is about, None where it does not tell, or names two without saying which one counts.

        The kinds of evidence are asked in the order of `ShownBy`. One that names a single device decides; where one names
        several, the weaker kinds decide among those, and at last that only one of them, or none, is served by a release of the
        data. What is installed may be the fault: a build that we serve decides nothing beside a mention of another device.
        """
        shown = self._devices
        left: dict[str, int] = {}
        for kind in ShownBy:
            left = _among(left, shown[kind]) or left or shown[kind]
            if len(left) == 1:
                break
        served = _among(left, self.facts.served_devices())
        decided = left if len(left) == 1 or not served else served
        if len(decided) > 1 and served:
            return None
        weak = kind in (ShownBy.BUILD, ShownBy.MENTION)
        if weak and served and set(shown[ShownBy.MENTION]) - set(decided):
            return None
        return next((Read("device", device, line, SAYS) for device, line in decided.items()), None)

    @cached_property
    def _devices(self) -> Shown:
        shown = self._shown("device")
        for device, line in self._graphics().items():
            shown[ShownBy.MACHINE].setdefault(device, line)
        return shown

    def devices(self) -> set[str]:
        """Return every device of which a text shows anything at all."""
        return {device for devices in self._devices.values() for device in devices}

    def system(self) -> Read | None:
        """Return the system that a text is about, None where it tells none, or several kinds of one by equal evidence.

        The kinds of evidence are asked as for the device: what an index has for one system decides nothing beside a mention of
        another. Of the systems of the kind that is decided, the first in the data counts.
        """
        shown = self._shown("os")
        for name, at in self._distributions().items():
            shown[ShownBy.MACHINE].setdefault(name, self.pasted.line_at(at)[0])
        order = {record["version"]: n for n, record in enumerate(self.facts.guide_records("reading"))}
        lines = {system: line for kind in reversed(ShownBy) for system, line in shown[kind].items()}
        left: set[str] = set()
        for kind in ShownBy:
            families = {self.facts.family(system) for system in shown[kind]}
            left = left & families or left or families
            if len(left) == 1:
                break
        if any(system.startswith(_LAYER) for system in lines):
            left = {LINUX}
        if len(left) != 1 or (
            kind is ShownBy.BUILD and {self.facts.family(system) for system in shown[ShownBy.MENTION]} - left
        ):
            return None
        meant = [name for name in lines if self.facts.family(name) in left]
        system = min(meant, key=lambda name: (name in self.facts.families, not name.startswith(_LAYER), order.get(name, 0)))
        return Read("os", system, lines[system], SAYS)

    def _distributions(self) -> dict[str, int]:
        """Return the releases of distributions that a text names, as words of a question name them; the closest ones alone."""
        product = self.facts.products.get("os")
        found = {} if product is None else self._named(product)
        linux = {name: at for name, at in found.items() if self.facts.family(name) == LINUX != name}
        wider = {other for name in linux for other in self.facts.wider.get(name, ())}
        return {name: at for name, at in linux.items() if name not in wider and not name.startswith(_LAYER)}

    def _shown(self, product: str) -> Shown:
        shown: Shown = defaultdict(dict)
        for record in self.facts.guide_records("reading"):
            if record["product"] != product:
                continue
            if hit := next(self._hits(record), None):
                shown[record["shown_by"]].setdefault(record["version"], hit.line)
        return shown

    def _graphics(self) -> dict[str, int]:
        """Return the devices of the GPUs that a text names as the data name them, each with a line."""
        lines: dict[str, int] = {}
        releases = self.facts.releases_of("hardware")
        graphic = {device for device in {d for release in releases for d in release.devices} if self.is_graphic(device)}
        for release in releases:
            device = next(iter(release.devices), "")
            if device not in graphic or device in lines:
                continue
            names = (*release.aliases, release.version.replace("-", " "), *((release.name,) if release.name else ()))
            for name in filter(_MODEL.fullmatch, map(plain, names)):
                for at in self.pasted.places(name):
                    if not _WORD.search(self.pasted.plain[at - 1 : at]) and not _WORD.match(self.pasted.plain, at + len(name)):
                        lines.setdefault(device, self.pasted.line_at(at)[0])
        return lines

    def hardware(self) -> tuple[Read, ...]:
        """Return the GPU families, kernels and parts of the driver that a text names."""
        return (*self._gpus(), *self._kernels(), *self._runtimes(), *self._parts())

    def implied(self, parts: tuple[Read, ...]) -> Read | None:
        """Return the system that parts of a machine are of, where nothing else tells it."""
        systems = {name: system for name, system in OF_SYSTEM.items() if name != "compute-runtime"}  # a build is of both
        told = {systems[part.product]: part.line for part in parts if part.product in systems}
        return next((Read("os", name, line, SAYS) for name, line in told.items() if len(told) == 1), None)

    def _gpus(self) -> tuple[Read, ...]:
        hardware = self.facts.products.get("hardware")
        if hardware is None:
            return ()
        found: dict[str, int] = {}
        by_id = {device: record["hardware"] for record in self.facts.guide_records("graphics") for device in record["ids"]}
        for match in islice(_PCI.finditer(self.pasted.plain), _MOST):
            if name := by_id.get(next(filter(None, match.groups()))):
                found.setdefault(name, match.start())
        return self._reads(hardware.id, found or self._named(hardware))

    def _named(self, product: Product) -> dict[str, int]:
        """Return the families of GPUs, or the systems, that a text names, each with the place of the first name.

        A name is one of the data: up to five words in a row, marks of trade left out. One word alone has a digit: `max` and
        `arc` are words of other things.
        """
        names, ends = _names(self.facts, product)
        tokens = [(m[0], m.start()) for m in _TOKEN.finditer(_TRADE.sub(lambda mark: " " * len(mark[0]), self.pasted.plain))]
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

    def _kernels(self) -> tuple[Read, ...]:
        return self._reads(
            "linux-kernel", {match[1] or match[2]: match.start() for match in _KERNEL.finditer(self.pasted.plain)}
        )

    def _runtimes(self) -> tuple[Read, ...]:
        """Return the compute runtime, by its version or by the build number that Level Zero prints."""
        found = {match[1]: match.start() for match in RUNTIME.finditer(self.pasted.plain)}
        if not found and "compute-runtime" in self.facts.products:
            tags: dict[str, list[str]] = defaultdict(list)
            for element in self.facts.elements("compute-runtime"):
                tags["".join(element.version.split(".")[2:3])].append(element.version)
            builds = [(tags.get(match[1], []), match.start()) for match in _BUILD.finditer(self.pasted.plain)]
            found = {version: at for versions, at in builds for version in (*versions[:1], *versions[-1:])}
        return self._reads("compute-runtime", found)

    def _parts(self) -> tuple[Read, ...]:
        """Return what readings say of other parts of the machine, and the driver of Windows by its number."""
        found: dict[str, dict[str, int]] = defaultdict(dict)
        for match in _WINDOWS.finditer(self.pasted.plain):
            found["windows-driver"].setdefault(match[1] or f"32.0.101.{match[2]}", self.pasted.line_at(match.start())[0])
        for record in self.facts.guide_records("reading"):
            if record["product"] not in (None, "device", "os") and (hit := next(self._hits(record), None)):
                found[record["product"]].setdefault(record["version"], hit.line)
        return tuple(
            Read(product, version, line, SAYS)
            for product, lines in found.items()
            for version, line in list(lines.items())[:_FEW]
            if product in self.facts.products
        )

    def _hits(self, record: dict[str, Any]) -> Iterator[PatternMatch]:
        foreign = record["product"] == "device" and record["version"] not in self.facts.served_devices()
        return filter(None, (self.pasted.find_word(pattern, failing=foreign) for pattern in record["patterns"]))

    def _reads(self, product: str, found: dict[str, int]) -> tuple[Read, ...]:
        if product not in self.facts.products:
            return ()
        return tuple(Read(product, name, self.pasted.line_at(at)[0], SAYS) for name, at in list(found.items())[:_FEW])


def _among(lines: dict[str, int], devices: Collection[str]) -> dict[str, int]:
    return {device: line for device, line in lines.items() if device in devices}


@memoized
def _names(facts: Snapshot, product: Product) -> tuple[dict[str, str], frozenset[str]]:
    """Return systems, or the families that have a device beside the CPU, by each name that means one alone; how names end."""
    elements, devices = facts.elements(product.id), facts.hardware_devices()
    names = {}
    told = [
        (release.version, _TOKEN.findall(plain(alias)))
        for release in facts.releases_of(product.id)
        for alias in release.aliases
    ]
    families: dict[str, set[str]] = defaultdict(set)
    for version, tokens in told:
        for token in tokens:
            families[token].add(version)
    wide = {"".join(tokens) for _, tokens in told if all(len(families[token]) > _WIDE for token in tokens)}
    for name in facts.names(product.id):
        mask = facts.word(product.id, name) or 0
        family = elements[mask.bit_length() - 1].version if mask and mask & (mask - 1) == 0 else ""
        if family and (product.id != HARDWARE or (name not in wide and devices.get(family, ())[:1] not in ((), ("cpu",)))):
            names["".join(_TOKEN.findall(name))] = family
    return names, frozenset(name[at:] for name in names for at in range(len(name)))
