"""Reads the operating system, its packages, variables and libraries, and the graphics through sysfs; only files are read."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path

from compatkb.core.foreign import read_bounded, safe_open
from compatkb.doctor.machine import Graphics, Node

_MOST = 64_000_000  # bytes of a package list
_SECONDS = 20
_LIBRARY = re.compile(r"lib\w+\.so\.\d+")


def architecture(name: str) -> str:
    """Return an architecture as the data name it: Linux says aarch64, macOS and Windows say arm64."""
    name = name.lower()
    return {"amd64": "x86_64", "x64": "x86_64"}.get(name, name)


def read_release(root: Path) -> tuple[str, str] | None:
    """Return ID and VERSION_ID of the distribution below a root folder."""
    for name in ("etc/os-release", "usr/lib/os-release"):
        try:
            text = read_bounded(root / name, _MOST).decode("utf-8", errors="replace")
        except OSError:
            continue
        values = dict(re.findall(r"^([A-Z_]+)=[\"']?([^\"'\n]*)[\"']?\s*$", text, re.MULTILINE))
        return (values["ID"], values.get("VERSION_ID", "")) if values.get("ID") else None
    return None


def read_packages(root: Path, names: Iterable[str]) -> tuple[tuple[str, str], ...] | None:
    """Return the packages of the system among `names` with their versions, sorted; None where no list can be read."""
    wanted = set(names)
    status = root / "var/lib/dpkg/status"
    if status.is_file():
        return _debian(status, wanted)
    if root == Path("/") and (rpm := shutil.which("rpm")):
        return _rpm(rpm, wanted)
    return None


def _debian(status: Path, wanted: set[str]) -> tuple[tuple[str, str], ...] | None:
    try:
        with safe_open(status) as file:
            text = file.read(_MOST).decode("utf-8", errors="replace")
    except OSError:
        return None
    packages = []
    for block in text.split("\n\n"):
        fields = dict(re.findall(r"^(Package|Status|Version): (.*)$", block, re.MULTILINE))
        if fields.get("Package") in wanted and fields.get("Status", "").endswith(" installed") and "Version" in fields:
            packages.append((fields["Package"], fields["Version"]))
    return tuple(sorted(packages))


def _rpm(rpm: str, wanted: set[str]) -> tuple[tuple[str, str], ...] | None:
    line = [rpm, "-q", "--qf", "%{NAME} %{VERSION}-%{RELEASE}\n", *sorted(wanted)]
    try:
        done = subprocess.run(line, capture_output=True, text=True, timeout=_SECONDS, check=False)
    except (OSError, subprocess.SubprocessError):
        return None
    rows = [row.split(" ") for row in done.stdout.splitlines()]
    return tuple(sorted((row[0], row[1]) for row in rows if len(row) == 2 and row[0] in wanted))


def read_variables(environment: Mapping[str, str], names: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Return the variables among `names` that are set, in that order."""
    return tuple((name, environment[name]) for name in names if environment.get(name))


def read_libraries(folders: Iterable[Path], names: Iterable[str]) -> tuple[str, ...]:
    """Return the paths of libraries named `names` in folders, in their order."""
    wanted = {re.sub(r"\.\d+$", "", name) for name in names}
    paths: dict[str, None] = {}
    for folder in folders:
        try:
            entries = sorted(os.listdir(folder))
        except OSError:
            continue
        paths.update((str(folder / e), None) for e in entries if _LIBRARY.fullmatch(e) and re.sub(r"\.\d+$", "", e) in wanted)
    return tuple(paths)


_DISPLAY = "0x03"  # the PCI base class of display controllers
_DEVICES = 4096


def read_graphics(sysfs: Path) -> tuple[Graphics, ...] | None:
    """Return the display devices below a sysfs, sorted by slot; None where there is no PCI bus to read."""
    bus = sysfs / "bus" / "pci" / "devices"
    try:
        slots = sorted(os.listdir(bus))[:_DEVICES]
    except OSError:
        return None
    graphics = []
    for slot in slots:
        if (_value(bus / slot / "class") or "").startswith(_DISPLAY):
            vendor, device = (_identity(bus / slot / name) for name in ("vendor", "device"))
            if vendor and device:
                graphics.append(Graphics(slot, vendor, device, _driver(bus / slot)))
    return tuple(graphics)


def read_nodes(folder: Path) -> tuple[Node, ...]:
    """Return the render nodes of a folder of device files, and whether this user may use them; none without the folder."""
    try:
        names = sorted(name for name in os.listdir(folder) if re.fullmatch(r"renderD\d+", name))
    except OSError:
        return ()
    return tuple(Node(str(folder / name), os.access(folder / name, os.R_OK | os.W_OK)) for name in names)


def _value(path: Path) -> str | None:
    try:
        with safe_open(path) as file:
            return file.read(64).decode("ascii", errors="replace").strip()
    except OSError:
        return None


def _identity(path: Path) -> str | None:
    match = re.fullmatch(r"0x([0-9a-fA-F]{4})", _value(path) or "")
    return match[1].lower() if match else None


def _driver(device: Path) -> str | None:
    try:
        return (device / "driver").readlink().name or None
    except OSError:
        return None
