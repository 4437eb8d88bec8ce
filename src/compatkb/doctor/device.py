"""Decides which device and which system a pasted text is about, before any cause is weighed."""

import re
from collections import defaultdict
from collections.abc import Collection

from compatkb.core.vocabulary import ShownBy
from compatkb.doctor.error_text import ErrorText, plain
from compatkb.doctor.version_extraction import SAYS, Read
from compatkb.store.queries.products import releases_of, served_devices
from compatkb.store.queries.provenance import guide_records, needs_graphics
from compatkb.store.reader import Snapshot

UNKNOWN = "unknown"
LINUX, WINDOWS = "linux", "windows"
_LAYER = "wsl"  # a Linux on Windows: texts name both
_MODEL = re.compile(r"(?=.*[0-9])[a-z].{3,}|.{8,}")  # a750 or "lunar lake"; shorter names are also those of other makers
_WORD = re.compile(r"[a-z0-9]")

Shown = dict[str, dict[str, int]]
"""Values by the kind of evidence for them, each with a line."""


def device_of(facts: Snapshot, pasted: ErrorText) -> Read | None:
    """Return the device that a text is about, None where it does not tell, or names two without saying which one counts.

    The kinds of evidence are asked in the order of `ShownBy`. One that names a single device decides; where one names several,
    the weaker kinds decide among those, and at last that only one of them, or none, is served by a release of the data.
    What is installed may be the fault: a build that we serve decides nothing beside a mention of another device.
    """
    shown = _shown(facts, pasted, "device")
    for device, line in _graphics(facts, pasted).items():
        shown[ShownBy.MACHINE].setdefault(device, line)
    left: dict[str, int] = {}
    for kind in ShownBy:
        left = _among(left, shown[kind]) or left or shown[kind]
        if len(left) == 1:
            break
    served = _among(left, served_devices(facts))
    decided = left if len(left) == 1 or not served else served
    if len(decided) > 1 and served:
        return None
    weak = kind in (ShownBy.BUILD, ShownBy.MENTION)
    if weak and served and set(shown[ShownBy.MENTION]) - set(decided):
        return None
    return next((Read("device", device, line, SAYS) for device, line in decided.items()), None)


def system_of(facts: Snapshot, pasted: ErrorText) -> Read | None:
    """Return the system that a text is about, None where it tells none, or several kinds of one by equal evidence.

    The kinds of evidence are asked as for the device: what an index has for one system decides nothing beside a mention of
    another. Of the systems of the kind that is decided, the first in the data counts.
    """
    shown = _shown(facts, pasted, "os")
    order = {record["version"]: n for n, record in enumerate(guide_records(facts, "reading"))}
    lines = {system: line for kind in reversed(ShownBy) for system, line in shown[kind].items()}
    left: set[str] = set()
    for kind in ShownBy:
        families = {facts.family(system) for system in shown[kind]}
        left = left & families or left or families
        if len(left) == 1:
            break
    if any(system.startswith(_LAYER) for system in lines):
        left = {LINUX}
    if len(left) != 1 or (kind is ShownBy.BUILD and {facts.family(system) for system in shown[ShownBy.MENTION]} - left):
        return None
    system = min((name for name in lines if facts.family(name) in left), key=order.__getitem__)
    return Read("os", system, lines[system], SAYS)


def _shown(facts: Snapshot, pasted: ErrorText, product: str) -> Shown:
    shown: Shown = defaultdict(dict)
    for record in guide_records(facts, "reading"):
        if record["product"] != product:
            continue
        if hits := [hit for hit in map(pasted.find_word, record["patterns"]) if hit]:
            shown[record["shown_by"]].setdefault(record["version"], hits[0].line)
    return shown


def _among(lines: dict[str, int], devices: Collection[str]) -> dict[str, int]:
    return {device: line for device, line in lines.items() if device in devices}


def _graphics(facts: Snapshot, pasted: ErrorText) -> dict[str, int]:
    """Return the devices of the GPUs that a text names as the data name them, each with a line."""
    lines: dict[str, int] = {}
    releases = releases_of(facts, "hardware")
    graphic = {device for device in {d for release in releases for d in release.devices} if needs_graphics(facts, device)}
    for release in releases:
        device = next(iter(release.devices), "")
        if device not in graphic or device in lines:
            continue
        names = (*release.aliases, release.version.replace("-", " "), *((release.name,) if release.name else ()))
        for name in filter(_MODEL.fullmatch, map(plain, names)):
            for at in pasted.places(name):
                if not _WORD.search(pasted.plain[at - 1 : at]) and not _WORD.match(pasted.plain, at + len(name)):
                    lines.setdefault(device, pasted.line_at(at)[0])
    return lines
