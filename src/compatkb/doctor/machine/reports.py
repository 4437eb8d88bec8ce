"""Reports of other machines: the JSON of `pip inspect`, and what a collect_env script printed."""

import json
import re
from typing import Any

from compatkb.doctor.error_text import ErrorText
from compatkb.doctor.machine import Graphics, Installed, Machine
from compatkb.doctor.machine.system import architecture
from compatkb.doctor.machine_reading import MachineReader
from compatkb.doctor.version_extraction import INSTALLED, LISTED, SAYS, VersionReader, minor
from compatkb.errors import UsageError
from compatkb.store.reader import Snapshot

_FAMILIES = {"linux": "linux", "win32": "windows", "darwin": "macos"}
_LINE, _MUCH = 500, 1_000_000
_INTEL = "8086"
_SEEN = {"True": True, "False": False}
_LABELLED = {"Intel OpenCL ICD version": "intel-opencl-icd", "Level Zero version": "intel-level-zero-gpu"}
"""How collect_env of IPEX labels the versions of driver packages, and the names of those packages."""


def read_report(facts: Snapshot, text: str, origin: str) -> Machine:
    """Return the machine that a report tells of; raises UsageError where it is neither of the two kinds."""
    if text.lstrip().startswith("{"):
        return _inspected(text, origin)
    reader = VersionReader(facts, ErrorText(text))
    reads = [read for read in reader.versions() if read.how in (SAYS, INSTALLED, LISTED)]
    packages = [
        Installed(distribution, _spelt(text, read.line, read.version))
        for read in reads
        if (distribution := facts.distribution(read.product, read.version))
    ]
    named = {read.product: read.version for read in reads if facts.products[read.product].distribution is None}
    if not packages and "python version" not in reader.pasted.plain:
        raise UsageError(f"{origin}: is neither JSON of `pip inspect` nor what a collect_env script prints")
    return _collected(text, origin, packages, named.get("python"), _drivers(facts, text))


def _inspected(text: str, origin: str) -> Machine:
    try:
        content = json.loads(text)
        environment = content["environment"]
        held = [entry["metadata"] for entry in content["installed"]]
        packages = tuple(sorted(Installed(str(m["name"]), str(m["version"])) for m in held))
        values = {name: str(environment.get(name) or "") for name in _MARKERS}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise UsageError(f"{origin}: is JSON, but not what `pip inspect` prints") from None
    return Machine(
        origin=origin,
        python=values["python_version"] or None,
        system=_FAMILIES.get(values["sys_platform"]),
        kernel=values["platform_release"] or None,
        arch=architecture(values["platform_machine"]) or None,
        packages=packages,
        patch=values["python_full_version"] or None,
    )


_MARKERS = ("python_version", "python_full_version", "sys_platform", "platform_release", "platform_machine")


def _collected(
    text: str, origin: str, packages: list[Installed], python: str | None, drivers: tuple[tuple[str, str], ...] | None
) -> Machine:
    system = _value(text, r"OS") or ""
    platform = _value(text, r"Python platform") or ""
    glibc = re.search(r"glibc-?(\d+\.\d+)", _value(text, r"Libc version") or platform)
    kernel = re.match(r"Linux-([\w.-]+?)-(?:x86_64|aarch64)", platform)
    return Machine(
        origin=origin,
        python=minor(python) if python else None,
        system=_family(system, platform),
        release=_release(system),
        kernel=kernel[1] if kernel else None,
        arch=_architecture(system + platform),
        glibc=glibc[1] if glibc else None,
        packages=tuple(packages),
        graphics=_graphics(text),
        drivers=drivers,
        sees_gpu=_SEEN.get(_value(text, r"Is XPU available") or ""),
        whole=False,
        patch=patch[0] if (patch := re.match(r"\d+\.\d+\.\d+", _value(text, r"Python version") or "")) else None,
    )


def _value(text: str, name: str) -> str | None:
    match = re.search(rf"^{name}[ \t]{{0,40}}:[ \t]{{0,40}}(\S.{{0,{_LINE}}})$", text, re.MULTILINE)
    return match[1].strip() if match else None


def _spelt(text: str, line: int, version: str) -> str:
    """Return a version in the case in which the text has it."""
    shown = text.split("\n")[line - 1] if line else ""
    at = shown.lower().find(version)
    return shown[at : at + len(version)] if at >= 0 else version


def _family(system: str, platform: str) -> str | None:
    text = f"{system} {platform}".lower()
    for word, family in (("windows", "windows"), ("macos", "macos"), ("mac osx", "macos"), ("linux", "linux")):
        if word in text:
            return family
    return "linux" if re.search(r"\((x86_64|aarch64)\)", system) else None


def _release(system: str) -> tuple[str, str] | None:
    match = re.match(r"([A-Za-z]+)[A-Za-z /()]{0,60}?(\d+(?:\.\d+)?)", system)
    return (match[1].lower(), match[2]) if match and "windows" not in system.lower() else None


def _architecture(text: str) -> str | None:
    match = re.search(r"x86_64|aarch64|arm64|AMD64|64-bit", text)
    return None if match is None else "x86_64" if match[0] == "64-bit" else architecture(match[0])


def _graphics(text: str) -> tuple[Graphics, ...] | None:
    """Return the GPUs that a report names: by device id where it has them, else by the names of what is onboard."""
    text = text[:_MUCH]
    ids = re.findall(r"device_id=0x([0-9A-Fa-f]{3,4})\b", text) or re.findall(r"Graphics \[0x([0-9A-Fa-f]{4})\]", text)
    if ids:
        return tuple(Graphics(str(n), _INTEL, device.lower().zfill(4)) for n, device in enumerate(ids))
    names = re.findall(r"^[ \t]{0,20}\* (Intel\(R\) \S.{0,80}?)[ \t]*$", text, re.MULTILINE)
    names = names or re.findall(r"DeviceProperties\(name='(Intel[^'\n]{1,80})'", text)
    return tuple(Graphics(str(n), "", "", None, name) for n, name in enumerate(names)) or None


def _drivers(facts: Snapshot, text: str) -> tuple[tuple[str, str], ...] | None:
    drivers: list[Any] = re.findall(
        r"^[ \t]{0,20}\* ([a-z][a-z0-9._+-]{2,60}):[ \t]{1,40}(\d\S{0,80})[ \t]*$", text, re.MULTILINE
    )
    for label, package in _LABELLED.items():
        version = _value(text, label)
        drivers += [(package, version)] if version and version[0].isdigit() else []
    named = {name for name, _ in drivers}
    parts = MachineReader(facts, ErrorText(text[:_MUCH])).hardware()
    drivers += [
        (r.product, r.version) for r in parts if r.product in ("compute-runtime", "windows-driver") and r.product not in named
    ]
    return tuple(sorted(drivers)) or None
